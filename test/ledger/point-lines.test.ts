/** Many lines of points at once: few statements, all or none, beside concurrent payments. */
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { postLines, readLines } from '../../src/accounts/points.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { anonymise } from '../../src/privacy/anonymise.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'

const now = () => test.clock.now()

const test = await useTestApp()
const merchant = await makeMerchant(test)
const actor_id = (await makePerson(test, { is_admin: true })).id
afterEach(() => expectSoundBooks(test.db))

const read = (lines: string[]) => readLines(test.db, lines.join('\n'), 10_000)
const act = (key: string) => ({ reason: 'test', actor_id, ip: null, key })
const people = (count: number) => Promise.all(Array.from({ length: count }, () => makePerson(test)))
const balances = (of: Person[]) => Promise.all(of.map(({ id }) => balanceOf(test.db, id)))
const lined = (of: Person[], amount: string) => of.map(({ username }) => `${username},${amount}`)

it('are read and posted in a few statements, however many they are', async () => {
  const members = await people(20)
  let statements = 0
  const db = openDatabase(test.deps.config.DATABASE_URL!, {
    max: 1,
    onBroken: () => {},
    onStatement: () => {
      statements += 1
    },
  })
  const text = [...lined(members, '3'), ...lined(members, '-1'), ...lined(members, '+2')].join('\n')
  const lines = await readLines(db, text.toUpperCase(), 60)
  expect(await postLines({ ...test.deps, db }, lines, act('few'))).toBe(true)
  await db.destroy()
  expect(statements).toBeLessThan(6)
  expect(new Set(await balances(members))).toEqual(new Set([4n]))
  // Each line is a journal of its own, and no balance was below zero in between.
  const { rows } = await sql<{ kind: string; n: bigint; lowest: bigint }>`
    select kind, count(*) as n, min(balance) as lowest
    from (
      select j.kind, sum(e.amount) over (partition by e.account_id order by e.id)::bigint as balance
      from journal as j join entries as e on e.journal_id = j.id join ledger_accounts as a on a.id = e.account_id
      where j.reference like 'hand:few:%' and a.kind = 'wallet'
    ) as line
    group by kind order by kind`.execute(test.db)
  expect(rows).toEqual([
    { kind: 'adjustment', n: 20n, lowest: 4n },
    { kind: 'grant', n: 40n, lowest: 3n },
  ])
})

it('move nothing when a member leaves between reading and posting', async () => {
  const [stays, leaves] = (await people(2)) as [Person, Person]
  const lines = await read(lined([stays, leaves], '5'))
  await anonymise(test.deps, { user_id: leaves.id, actor_id: null, reason: 'x', ip: null, give_up: 0n })
  await expect(postLines(test.deps, lines, act('left'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(leaves.username),
  })
  expect(await balances([stays])).toEqual([0n])
})

it('wait for a wallet without holding later ones, nor the source', async () => {
  // The statement creates and locks wallets in the order of their members' IDs.
  const members = (await people(3)).toSorted((a, b) => Number(a.id - b.id))
  await postLines(test.deps, await read(lined(members, '1')), act('wallets'))
  const [first, second, third] = members as [Person, Person, Person]
  const lines = await read(lined([third, second, first], '5'))
  const waiting = await test.db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where user_id = ${second.id} for update`.execute(tx)
    const posted = postLines(test.deps, lines, act('waits'))
    await untilBlocked(tx)
    const grant = { user_id: third.id, amount: 1n, reference: 'meanwhile', reason: 'x', actor_id: null }
    expect(await grantPoints(test.db, { ...grant, now: now() })).toBe(true)
    return { posted }
  })
  expect(await waiting.posted).toBe(true)
  expect(await balances(members)).toEqual([6n, 6n, 7n])
})

it('posted by several at once, beside transfers and grants, move points once', async () => {
  const members = await people(6)
  await grantPoints(test.db, {
    ...{ user_id: merchant.owner.id, amount: 1_000n, reference: 'float', reason: 'x', actor_id: null },
    now: now(),
  })
  const there = await read(lined(members, '10'))
  const others = await read(lined(members.toReversed(), '1'))
  const transfer = makePostTransfer(test.deps)
  const [moved] = await Promise.all([
    Promise.all(Array.from({ length: 4 }, () => postLines(test.deps, there, act('many')))),
    postLines(test.deps, others, act('others')),
    ...members.map(({ id, username }) =>
      transfer({
        app_id: merchant.id,
        order_id: `r${id}`,
        to_user_id: id,
        to_username: username,
        amount: 5n,
      }),
    ),
    ...members.map(({ id: user_id }) =>
      grantPoints(test.db, {
        ...{ user_id, amount: 1n, reference: `beside ${user_id}`, reason: 'x', actor_id: null },
        now: now(),
      }),
    ),
  ])
  expect(moved.filter(Boolean)).toHaveLength(1)
  expect(new Set(await balances(members))).toEqual(new Set([17n]))
})
