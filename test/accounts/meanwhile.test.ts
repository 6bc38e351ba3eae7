/** Sign-in forms of a tab whose browser has signed in meanwhile in another tab. spec/accounts 2.5. */
import { describe, expect, it } from 'vitest'
import { beginSecondStep } from '../../src/accounts/sign-in/second-step.page.ts'
import { STALE_TOKEN } from '../harness/browser.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, browser, type Page, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'

const t = messages.en.signIn
const RETURN_TO = '/account?tab=1'
const SIGN_IN = `/sign-in?return_to=${encodeURIComponent(RETURN_TO)}`
const SECOND_STEP = '/sign-in/second-factor'

const test = await useTestApp()
const alice = await makePerson(test)
const bob = await makePerson(test, { username: 'bob' })

const signInAs = (client: Browser, page: Page, { username, password }: Person, more = {}) =>
  client.submit(page, '/sign-in', { username, password, ...more })
const session = (client: Browser) => client.cookies.get('tessera_session')

/** Two tabs show the sign-in page, and one of them signs in as bob. */
async function twoTabs() {
  const client = browser(test)
  const late = await client.get(SIGN_IN)
  await signInAs(client, await client.get('/sign-in'), bob)
  return { client, late, before: session(client) }
}

describe('a form of the sign-in page after a sign-in in another tab', () => {
  it('continues as the same member, without a check of the password', async () => {
    const { client, late, before } = await twoTabs()
    const username = bob.username.toUpperCase()
    const answer = await signInAs(client, late, bob, { username, password: 'mistyped' })
    expect([answer.status, answer.location]).toEqual([303, RETURN_TO])
    expect(session(client)).toBe(before)
  })

  it('starts no session for another name, and offers to continue as the member', async () => {
    const { client, late, before } = await twoTabs()
    const answer = await signInAs(client, late, alice)
    expect(answer.status).toBe(303)
    const page = await client.get(answer.location!)
    expect([page.status, session(client)]).toEqual([200, before])
    expect(page.body).toContain(t.meanwhile(bob.username))
    expect(page.body).toContain(`href="${RETURN_TO}">${t.continueAs(bob.username)}</a>`)
    expect(page.body).toContain(`value="${alice.username}"`)
    expect((await signInAs(client, page, alice)).location).toBe(RETURN_TO)
    expect((await client.get('/')).body).toContain(alice.username)
  })

  it('offers it for a form that the page made for the earlier member', async () => {
    const client = await alice.signIn()
    const late = await client.get(SIGN_IN)
    await signInAs(client, await client.get('/sign-in'), bob)
    const answer = await signInAs(client, late, alice)
    expect((await client.get(answer.location!)).body).toContain(t.continueAs(bob.username))
  })

  it('stays refused from another site, without a token, and to a program', async () => {
    const { client, late, before } = await twoTabs()
    const fields = { ...late.form('/sign-in'), username: bob.username, password: bob.password }
    const refused = [
      await client.post('/sign-in', fields, { 'sec-fetch-site': 'cross-site' }),
      await client.post('/sign-in', { ...fields, form_token: STALE_TOKEN }),
      await client.post('/sign-in', fields, { accept: 'application/json' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
    expect(session(client)).toBe(before)
  })
})

describe('a form of the second page after a sign-in in another tab', () => {
  /** A tab waits for the second factor of `person`, and another tab signs in as bob. */
  async function waitingFor(person: Person) {
    const client = browser(test)
    const first = { user_id: person.id, amr: ['pwd'], return_to: RETURN_TO }
    client.cookies.set('tessera_sign_in', await beginSecondStep(test.deps, first))
    const late = await client.get(SECOND_STEP)
    await signInAs(client, await client.get('/sign-in'), bob)
    const before = session(client)
    const answer = await client.submit(late, SECOND_STEP, { code: '000000' })
    expect(session(client)).toBe(before)
    return { client, answer }
  }

  it('continues as the same member', async () => {
    const { answer } = await waitingFor(bob)
    expect([answer.status, answer.location]).toEqual([303, RETURN_TO])
  })

  it('offers to continue where another member was about to sign in', async () => {
    const { client, answer } = await waitingFor(alice)
    const page = await client.get(answer.location!)
    expect(page.body).toContain(`href="${RETURN_TO}">${t.continueAs(bob.username)}</a>`)
  })
})
