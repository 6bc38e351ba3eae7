/** Creates the members of the tests. Test files never share them. */
import { sql, type Updateable } from 'kysely'
import { createUser, type NewUser } from '../../src/accounts/people/users.ts'
import type { Tables } from '../../src/database/tables.ts'
import { adjustPoints, grantPoints } from '../../src/ledger/points.ts'
import { setRows } from '../harness/rows.ts'
import { type Browser, browser, type TestApp } from './harness.ts'
import { PASSWORD, PASSWORD_HASH } from './password.ts'

let count = 0
let grants = 0

export type Person = {
  id: bigint
  username: string
  password: string
  /** A browser with a session of this member. */
  signIn(): Promise<Browser>
}

/** Creates a member with a name of their own (`alice` becomes `alice7`). `points` are granted; `groups` are local. */
export async function makePerson(
  test: TestApp,
  {
    points = 0n,
    groups = [],
    username = 'alice',
    ...values
  }: Partial<NewUser> & { points?: bigint; groups?: string[] } = {},
): Promise<Person> {
  count += 1
  const name = `${username}${count}`
  const id = await createUser(test.db, {
    trust_level: 2,
    ...values,
    username: name,
    password_hash: PASSWORD_HASH,
  })
  for (const group of groups) await joinGroup(test, id, group)
  if (points > 0n) await givePoints(test, { id }, points)
  return { id, username: name, password: PASSWORD, signIn: () => signIn(test, name, PASSWORD) }
}

/** Grants points to a member, or takes some, if the amount is negative. */
export async function givePoints(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  { id: user_id }: Pick<Person, 'id'>,
  amount: bigint,
): Promise<void> {
  const grant = { user_id, amount, reference: `test:${++grants}`, reason: 'test', actor_id: null }
  await (amount > 0n ? grantPoints : adjustPoints)(db, { ...grant, now: clock.now() })
}

/** Changes columns of a member, as no act of theirs does. */
export async function changePerson(
  { db }: Pick<TestApp, 'db'>,
  { id }: Pick<Person, 'id'>,
  values: Updateable<Tables['users']>,
): Promise<void> {
  await db.updateTable('users').set(values).where('id', '=', id).execute()
}

/** Freezes a member's wallets, or ends that, as no act does. */
export async function setFrozen(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  { id }: Pick<Person, 'id'>,
  isFrozen = true,
): Promise<void> {
  const freeze = { frozen_at: clock.now(), frozen_by: id, frozen_reason: 'A test' }
  const none = { frozen_at: null, frozen_by: null, frozen_reason: null }
  await setRows({ db }, 'ledger_accounts', { user_id: id }, isFrozen ? freeze : none)
}

/** Makes the member one of the local group, which is created if need be. */
export async function joinGroup({ db }: Pick<TestApp, 'db'>, user_id: bigint, name: string): Promise<void> {
  await sql`insert into local_groups (name) values (${name}) on conflict do nothing`.execute(db)
  await sql`
    insert into user_groups (user_id, name, local_group_id)
    select ${user_id}, name, id from local_groups where lower(name) = lower(${name})`.execute(db)
}

export async function signIn(test: TestApp, username: string, password: string): Promise<Browser> {
  const client = browser(test)
  const page = await client.get('/sign-in')
  const answer = await client.submit(page, '/sign-in', { username, password })
  if (answer.status !== 303) throw new Error(`${username} could not sign in: ${answer.status}`)
  return client
}
