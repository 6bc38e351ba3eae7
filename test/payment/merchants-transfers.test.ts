/** Transfers on the merchant's pages: found again, previewed before they move points, and sent once. */
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import type { SettingName } from '../../src/core/setting-values.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { openParts } from '../../src/parts.ts'
import { transfersOfApp } from '../../src/payment/merchant/transfers.ts'
import { reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { sendTransfer } from '../../src/payment/orders/transfers.ts'
import { forgetfulSettings } from '../harness/application.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { textOf, unescaped } from '../harness/markup.ts'
import { joinTeam, makeMerchant, recipient, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { lockRows, rowsOf } from '../harness/rows.ts'
import { rowsRead } from '../harness/rows-read.ts'

const { merchantTransfers: t } = messages.en

const test = await useTestApp()
const merchant = await makeMerchant(test)
const path = `/payment/applications/${merchant.payment_id}/transfers`
afterEach(() => expectSoundBooks(test.db))

const balance = ({ id }: Person) => balanceOf(test.db, id)
const set = (name: SettingName, value: string) => setSetting(test, name, value)

async function quote(fields: Record<string, string>, by = owner) {
  return by.submit(await by.get(path), `${path}/quote`, fields)
}

await givePoints(test, merchant.owner, 1_000n)
const owner = await merchant.owner.signIn()
const alice = await makePerson(test)
const admin = await makePerson(test, { username: 'admin', is_admin: true })

describe('a transfer by hand', () => {
  it('is quoted, sent once despite repeats, and logged', async () => {
    const before = await balance(merchant.owner)
    const to_username = `@${alice.username.toUpperCase()}`
    const confirmation = await quote({ to_username, amount: '70', order_id: 'bonus-1' })
    expect(confirmation.status).toBe(200)
    const [have, left] = [before, before - 73n].map((points) => points.toLocaleString('en'))
    expect(textOf(confirmation.body)).toContain(
      `@${alice.username} ${t.orderId} bonus-1 ${t.fee} 3 ${t.need} 73 ${t.have} ${have} ${t.after} ${left} `,
    )
    expect(await balance(alice)).toBe(0n)
    const answers = await Promise.all(Array.from({ length: 5 }, () => owner.submit(confirmation, path)))
    const locations = new Set(answers.map(({ location }) => location))
    expect([...locations]).toEqual([path])
    expect(await balance(alice)).toBe(70n)
    expect(await balance(merchant.owner)).toBe(before - 73n)
    const said = t.sent('70', alice.username, '3')
    expect((await owner.get(path)).body).toContain(said)
    expect((await owner.get(path)).body).not.toContain(said)
    const entries = await rowsOf(test, 'audit_log', { action: 'transfer.send', subject: merchant.payment_id })
    expect(entries).toMatchObject([
      { actor_id: merchant.owner.id, detail: { order_id: 'bonus-1', amount: '70' } },
    ])

    // The API knows the same number.
    const to = recipientFields(alice)
    const same = await merchant.transfer({ ...to, amount: '70', order_id: 'bonus-1' })
    expect(same.body).toMatchObject({ success: true, amount: 70 })
    const other = await owner.submit(await quote({ ...to, amount: '71', order_id: 'bonus-1' }), path)
    expect(other.status).toBe(409)
    expect(other.body).toContain(t.faults.parameter_invalid)
    expect(await balance(alice)).toBe(70n)
  })

  it('says beforehand why it cannot be, and then moves nothing', async () => {
    const { faults } = t
    const to = { to_username: alice.username }
    const cases: [Record<string, string>, number, string][] = [
      [{ to_username: 'nobody-so-called', amount: '5' }, 400, faults.recipient_mismatch],
      [{ ...to, amount: '0' }, 400, faults.amount],
      [{ ...to, amount: '1', order_id: 'a b' }, 400, faults.order_id],
      [{ to_username: merchant.owner.username, amount: '5' }, 200, faults.transfer_to_self],
      [{ ...to, amount: '20001' }, 200, faults.above_maximum],
      [{ ...to, amount: '15000' }, 200, faults.insufficient_points],
    ]
    const before = await balance(alice)
    for (const [fields, status, words] of cases) {
      const page = await quote(fields)
      expect([page.status, unescaped(page.body).includes(words)], words).toEqual([status, true])
      expect(page.body).not.toContain('name="to_user_id"')
    }
    await set('points_transfer_daily_limit_tl2', '100')
    const tight = await quote({ to_username: alice.username, amount: '60' })
    expect(tight.body).toContain(t.leftToday('30'))
    expect(tight.body).toContain(faults.daily_limit_reached)
    const { form_token } = (await owner.get(path)).form('/sign-out')
    const fields = { ...recipientFields(alice), amount: '60', order_id: 'x' }
    const sent = await owner.post(path, { ...fields, form_token: form_token! })
    expect([sent.status, sent.body]).toEqual([409, expect.stringContaining(faults.daily_limit_reached)])
    await set('points_transfer_daily_limit_tl2', '')
    expect((await owner.post(path, { form_token: form_token! })).status).toBe(400)
    expect(await balance(alice)).toBe(before)
  })

  it('of many points needs a sign-in of just now, like a payment', async () => {
    await set('reauthenticate_above_points', '50')
    const fresh = await quote({ to_username: alice.username, amount: '51', order_id: 'big-1' })
    const before = await balance(alice)
    test.clock.advance(11 * 60_000)
    const stale = await owner.submit(fresh, path)
    expect(stale.body).toContain(t.signIn)
    expect(() => stale.form(path)).toThrow()
    expect(await balance(alice)).toBe(before)
    const small = await quote({ to_username: alice.username, amount: '50', order_id: 'small-1' })
    expect((await owner.submit(small, path)).status).toBe(303)
    expect(await balance(alice)).toBe(before + 50n)
    await set('reauthenticate_above_points', '0')
  })

  it('is not offered to the team, who see the list', async () => {
    const client = await (await joinTeam(test, merchant, 'manager')).signIn()
    const seen = await client.get(path)
    expect(seen.body).toContain('bonus-1')
    expect(() => seen.form(`${path}/quote`)).toThrow()
  })
})

it('transfers are found by number and name, and paged', async () => {
  const to = recipientFields(alice)
  const made: string[] = []
  for (let i = 1; i <= 30; i += 1) {
    const { body } = await merchant.transfer({ ...to, amount: '1', order_id: `many-${i}` })
    made.push(String(body.transaction_id))
  }
  const numbers = (body: string) => [...body.matchAll(/<code[^>]*>(many-\d+)<\/code>/g)].map(([, id]) => id!)
  const first = await owner.get(path)
  const older = /href="([^"]*before=\d+[^"]*)"/.exec(first.body)![1]!.replaceAll('&amp;', '&')
  await merchant.transfer({ ...to, amount: '1', order_id: 'meanwhile' })
  const second = await owner.get(older)
  expect([first, second].flatMap(({ body }) => numbers(body))).toEqual(made.map((_, i) => `many-${30 - i}`))

  await reverseTransfer(test.deps, {
    transaction_id: made[6]!,
    with_fee: true,
    reason: 'Wrong one',
    actor_id: admin.id,
    ip: '::1',
  })
  const found = async (q: string) => (await owner.get(`${path}?${new URLSearchParams({ q })}`)).body
  expect(numbers(await found('many-7'))).toEqual(['many-7'])
  expect(numbers(await found(made[6]!))).toEqual(['many-7'])
  expect(await found(made[6]!)).toContain(t.statuses.reversed)
  expect(numbers(await found(alice.username))).toHaveLength(24)
  expect(numbers(await found('100%'))).toEqual([])
  const dated = async (asked: Record<string, string>) =>
    numbers((await owner.get(`${path}?${new URLSearchParams(asked)}`)).body)
  expect(await dated({ period: 'today' })).toHaveLength(24)
  expect(await dated({ q: 'many-7', period: 'week' })).toEqual(['many-7'])
  expect(await dated({ q: 'many-7', until: '2025-01-01' })).toEqual([])
  expect(await dated({ until: '2025-01-01' })).toEqual([])
  const seller = await makeMerchant(test)
  const stranger = await seller.owner.signIn()
  const body = await stranger.get(`/payment/applications/${seller.payment_id}/transfers?q=${made[6]}`)
  expect(body.body).toContain(messages.en.lists.nothing)
})

it('are limited to a time, without reading those of other times', async () => {
  const seller = await makeMerchant(test)
  const rolledBack = new Error('rolled back')
  const reading = test.db.transaction().execute(async (tx) => {
    await sql`
      with made as (
        insert into journal (book, kind, reference, posted_at)
        select 'live', 'transfer', 'txn_' || lpad(i::text, 24, 'p'), '2025-01-01T00:00:00Z'::timestamptz + i * interval '1 hour'
        from generate_series(1, 2400) as i order by i returning id, reference, posted_at
      )
      insert into transfers (book, app_id, order_id, transaction_id, from_user_id, from_username, to_user_id, to_username, amount, fee, journal_id, paid_at, day, day_points)
      select 'live', ${seller.id}, 'gift-' || id, reference, ${seller.owner.id}, 'x', ${alice.id}, 'y', 5, 0, id, posted_at, posted_at::date, 5 from made order by id`.execute(
      tx,
    )
    await sql`analyze transfers`.execute(tx)
    const before = await rowsRead(tx, 'transfers')
    const span = { from: new Date('2025-03-01T00:00:00Z'), until: new Date('2025-03-01T20:00:00Z') }
    const page = await transfersOfApp(tx, seller.id, span)
    expect(page.rows).toHaveLength(20)
    expect(page.next).toBeUndefined()
    expect((await rowsRead(tx, 'transfers')) - before).toBeLessThan(150)
    const none = await transfersOfApp(tx, seller.id, { from: new Date('2026-01-01T00:00:00Z') })
    expect(none).toMatchObject({ rows: [], next: undefined })
    const beforeSum = await rowsRead(tx, 'transfers')
    // The last transfer is of midnight on 11 April.
    const sum = await sql<{ points: bigint }>`
      select transferred_between(${seller.id}, '2025-04-10T00:00:00Z', 'infinity') as points`.execute(tx)
    expect(sum.rows).toEqual([{ points: 125n }])
    expect((await rowsRead(tx, 'transfers')) - beforeSum).toBeLessThan(60)
    throw rolledBack
  })
  await expect(reading).rejects.toBe(rolledBack)
})

it('needs one connection only, so a crowd cannot hold them all', async () => {
  const { config, secrets, clock } = test.deps
  const db = openDatabase(config.DATABASE_URL!, { max: 1, onBroken: () => {} })
  const deps = openParts({ config, db, secrets, clock })
  const forget = forgetfulSettings(deps)
  const actor = { user_id: merchant.owner.id, ip: '::1' }
  const request = { order_id: 'lone', ...recipient(alice), amount: 1n }
  const before = await balance(alice)
  const sent = await test.db.transaction().execute(async (tx) => {
    await lockRows(tx, 'payment_apps', { id: merchant.id })
    const sending = sendTransfer(deps, merchant.payment_id, request, actor)
    await untilBlocked(tx)
    // As if it had waited longer than settings are cached.
    forget()
    return { sending }
  })
  expect(await sent.sending).toMatchObject({ status: 'completed' })
  expect(await balance(alice)).toBe(before + 1n)
  await deps.limits.share()
  await db.destroy()
})
