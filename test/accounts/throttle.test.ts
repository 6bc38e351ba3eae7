/**
 * Throttled sign-ins over two processes: concurrent guesses, honest members behind one address, and a victim at home.
 * spec/accounts 2.2.
 */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AttemptedBy,
  failAttempt,
  openAttempt,
  registerAttempt,
} from '../../src/accounts/session/throttle.ts'
import { type Db, isLockedOut, poolUse } from '../../src/database/connection.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import {
  anotherProcess,
  type Browser,
  browser,
  setSetting,
  startTestApp,
  type TestApp,
} from '../harness/harness.ts'

let test: TestApp
let other: TestApp
beforeEach(async () => {
  test = await startTestApp({ TRUST_PROXY: '127.0.0.1' })
  other = await anotherProcess(test)
})
afterEach(async () => {
  await other.close()
  await test.close()
})

const OFFICE = '203.0.113.9'
let addresses = 0
const elsewhere = () => `198.51.${Math.floor(addresses / 250)}.${++addresses % 250}`

async function trySignIn(
  person: Pick<Person, 'username' | 'password'>,
  { client = browser(test), address = elsewhere() }: { client?: Browser; address?: string } = {},
) {
  const page = await client.get('/sign-in')
  const { username, password } = person
  return client.post(
    '/sign-in',
    { ...page.form('/sign-in'), username, password },
    { 'x-forwarded-for': address },
  )
}
const guess = ({ username }: Pick<Person, 'username'>) => ({ username, password: 'a guess' })
const people = (count: number) => Promise.all(Array.from({ length: count }, () => makePerson(test)))
const statusesOf = async (answers: Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

it('sixty people behind one address sign in at once', async () => {
  const staff = await people(60)
  const statuses = await statusesOf(
    staff.map((person, n) => trySignIn(person, { address: OFFICE, client: browser(n % 2 ? test : other) })),
  )
  expect(statuses.every((status) => status === 303)).toBe(true)
})

it('two processes look at thirty guesses at once from one address', async () => {
  const victims = await people(80)
  const tries = victims.map((victim, n) =>
    trySignIn(guess(victim), { address: OFFICE, client: browser(n % 2 ? test : other) }),
  )
  const statuses = await statusesOf(tries)
  expect(statuses.filter((status) => status === 401)).toHaveLength(30)
  expect(statuses.filter((status) => status === 429)).toHaveLength(50)
})

describe('an attempt', () => {
  /** Stores a failed attempt over this connection. */
  const attempt = (db: Db, by: Partial<AttemptedBy>) => {
    const whole = { account: `member ${addresses}`, address: elsewhere(), accountMax: 1, ...by }
    return registerAttempt({ ...test.deps, db }, whole)
  }
  /** The same in another transaction. It tries again if the lock takes long, because it has stored nothing then. */
  const later = async (by: Partial<AttemptedBy>): Promise<bigint> => {
    try {
      return await attempt(test.db, by)
    } catch (error) {
      if (isLockedOut(error)) return later(by)
      throw error
    }
  }

  it.each([{ account: 'alice' }, { address: OFFICE }])(
    'waits for the commit of earlier ones of %j, and counts them',
    async (shared) => {
      await setSetting(test, 'limit_sign_in_failures_per_address', '1')
      let refused: Promise<void> | undefined
      await other.db.transaction().execute(async (tx) => {
        await attempt(tx, shared)
        refused = expect(later(shared)).rejects.toMatchObject({ code: 'too_many_attempts' })
        await Promise.race([refused, untilBlocked(tx)])
      })
      await refused
    },
  )

  it('takes no connection while another of its process waits', async () => {
    let flood: Promise<PromiseSettledResult<bigint>[]> | undefined
    await other.db.transaction().execute(async (tx) => {
      await attempt(tx, { account: 'alice' })
      flood = Promise.allSettled(Array.from({ length: 150 }, () => later({ account: 'alice' })))
      await untilBlocked(tx)
      const { open, idle } = poolUse(test.db)
      expect(open - idle).toBeLessThanOrEqual(1)
    })
    expect((await flood!).filter(({ status }) => status === 'fulfilled')).toEqual([])
  })

  it('waits ten seconds for the outcome of earlier ones', async () => {
    const alice = { account: 'alice', address: OFFICE, accountMax: 1 }
    await openAttempt(test.deps, alice)
    const impatient = openAttempt(other.deps, alice)
    test.clock.advance(10_001)
    await expect(impatient).rejects.toMatchObject({ code: 'too_many_attempts', retry_after_seconds: 1 })
  })
})

it('guesses at an account count together under all its names', async () => {
  const victim = await makePerson(test, { username: 'alice' })
  const { rows } = await sql<{ isOne: boolean }>`select lower('İ') = 'i' as "isOne"`.execute(test.db)
  const { isOne } = rows[0]!
  const dotted = { ...victim, username: victim.username.replace('i', 'İ') }
  const names = [victim, dotted, { ...victim, username: victim.username.toUpperCase() }]
  const guesses = Array.from({ length: 36 }, (_, n) =>
    trySignIn(guess(names[n % 3]!), { client: browser(n % 2 ? test : other) }),
  )
  const statuses = await statusesOf(guesses)
  expect(statuses.filter((status) => status === 401)).toHaveLength(isOne ? 10 : 20)
  // The same holds for mails that are requested in its name.
  const asked = names
    .concat(names)
    .map(({ username }) =>
      registerAttempt(test.deps, { account: `recovery of ${username}`, address: elsewhere(), accountMax: 3 }),
    )
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(isOne ? 3 : 5)
  // The lower case of the database decides, in any locale.
  const { rows: strays } = await sql`
    select from sign_in_attempts where account <> lower(account) or account = ${dotted.username.toLowerCase()}
  `.execute(test.db)
  expect(strays).toEqual([])
})

it('an attacked member gets in only from a browser of theirs', async () => {
  const victim = await makePerson(test)
  const home = browser(test)
  expect((await trySignIn(victim, { client: home })).status).toBe(303)
  const mark = [...home.cookies].find(([name]) => name.startsWith('tessera_known_'))!
  await home.submit(await home.get('/account'), '/sign-out')

  await statusesOf(Array.from({ length: 12 }, () => trySignIn(guess(victim))))
  expect((await trySignIn(victim)).status).toBe(429)
  const back = await trySignIn(victim, { client: home })
  expect(back.status).toBe(303)
  expect(String(back.headers['set-cookie'])).toMatch(
    /tessera_known_[\w-]{8}=[\w.-]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax/,
  )
  // The attack continues, and so does its delay.
  expect((await trySignIn(victim)).status).toBe(429)

  // A mark belongs to one account, cannot be made up, and does not make guesses free.
  const neighbour = await makePerson(test)
  await statusesOf(Array.from({ length: 12 }, () => trySignIn(guess(neighbour))))
  expect((await trySignIn(neighbour, { client: home })).status).toBe(429)
  const forged = browser(test)
  forged.cookies.set(mark[0], `${mark[1].split('.')[0]}.${'A'.repeat(43)}`)
  expect((await trySignIn(victim, { client: forged })).status).toBe(429)
  const stolen = () => {
    const client = browser(test)
    client.cookies.set(...mark)
    return client
  }
  const statuses = await statusesOf(
    Array.from({ length: 15 }, () => trySignIn(guess(victim), { client: stolen() })),
  )
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
})

it('two people who share a browser keep a mark each', async () => {
  const [one, two] = await people(2)
  const shared = browser(test)
  await trySignIn(one!, { client: shared })
  await trySignIn(two!, { client: shared })
  for (const person of [one!, two!]) {
    await statusesOf(Array.from({ length: 11 }, () => trySignIn(guess(person))))
    expect((await trySignIn(person, { client: shared })).status).toBe(303)
  }
})

it('a try whose process has gone counts as failed, for a while', async () => {
  const lost = { account: 'alice', address: OFFICE }
  for (let n = 0; n < 10; n += 1) await openAttempt(test.deps, lost)
  test.clock.advance(61_000)
  await openAttempt(other.deps, lost).then((id) => failAttempt(other.deps, id))
  await expect(openAttempt(other.deps, lost)).rejects.toMatchObject({ code: 'too_many_attempts' })
})

it('limits are settings, and refusals are recorded without what was typed', async () => {
  const values = { name: 'limit_sign_in_failures_per_account', value: '2' }
  const strict = await startTestApp()
  try {
    await strict.db.insertInto('site_settings').values(values).execute()
    const victim = await makePerson(strict)
    const sign = async (username: string, password: string) => {
      const client = browser(strict)
      const page = await client.get('/sign-in')
      return (await client.submit(page, '/sign-in', { username, password })).status
    }
    expect(await sign(victim.username, 'hunter2')).toBe(401)
    expect(await sign(victim.username, 'hunter2')).toBe(401)
    expect(await sign(victim.username, 'hunter2')).toBe(429)
    expect(await sign('a password in the wrong field', 'x')).toBe(401)
    const events = await strict.db.selectFrom('security_events').selectAll().orderBy('id').execute()
    expect(events.map(({ kind, user_id }) => [kind, user_id])).toEqual([
      ['sign_in_failed', victim.id],
      ['sign_in_failed', victim.id],
      ['sign_in_throttled', victim.id],
      ['sign_in_failed', null],
    ])
    const text = JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain('wrong field')
    strict.clock.advance(86_400_001)
    await deleteExpiredRows(strict.deps)
    expect(await strict.db.selectFrom('sign_in_attempts').selectAll().execute()).toEqual([])
  } finally {
    await strict.close()
  }
})

it('failures at other addresses do not prolong an account’s wait', async () => {
  const [bob, carol] = [await makePerson(test), await makePerson(test)]
  for (let i = 0; i < 10; i += 1) await trySignIn(guess(bob), { address: OFFICE })
  expect((await trySignIn(bob, { address: OFFICE })).status).toBe(429)
  test.clock.advance(31_000)
  expect((await trySignIn(guess(carol), { address: OFFICE })).status).toBe(401)
  expect((await trySignIn(bob, { address: OFFICE })).status).toBe(303)
})
