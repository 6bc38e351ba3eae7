/** The people of the tests, each made when needed and never shared between files. */
import { hashPassword } from '../src/accounts/password.ts'
import { createUser, type NewUser } from '../src/accounts/users.ts'
import { grantPoints } from '../src/ledger/post.ts'
import { type Browser, browser, type TestApp } from './harness.ts'

const PASSWORD = 'correct horse battery'
/** Hashed once a file: the cost is argon2's, not the test's. */
const passwordHash = hashPassword(PASSWORD)
let count = 0

export type Person = {
  id: bigint
  username: string
  password: string
  /** A browser in which this person has signed in. */
  signIn(): Promise<Browser>
}

/** Creates a member with a name of their own (`alice` becomes `alice7`). `points` are granted. */
export async function makePerson(
  test: TestApp,
  { points = 0n, username = 'alice', ...values }: Partial<NewUser> & { points?: bigint } = {},
): Promise<Person> {
  count += 1
  const name = `${username}${count}`
  const id = await createUser(test.db, {
    trust_level: 2,
    ...values,
    username: name,
    password_hash: await passwordHash,
  })
  if (points > 0n) {
    const reference = `test:${name}`
    await grantPoints(test.db, {
      user_id: id,
      amount: points,
      reference,
      reason: 'test',
      actor_id: null,
      now: test.clock.now(),
    })
  }
  return { id, username: name, password: PASSWORD, signIn: () => signIn(test, name, PASSWORD) }
}

export async function signIn(test: TestApp, username: string, password: string): Promise<Browser> {
  const client = browser(test)
  const page = await client.get('/sign-in')
  const answer = await client.submit(page, '/sign-in', { username, password })
  if (answer.status !== 303) throw new Error(`${username} could not sign in: ${answer.status}`)
  return client
}
