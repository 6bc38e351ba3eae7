/** The consent page: its text, its two answers, and the cases without it. spec/sign-in 1.7. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changePerson, makePerson } from '../harness/cast.ts'
import { type Browser, browser, startTestApp, type TestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  changeApp,
  exchange,
  makeParty,
  withoutWriting,
} from './relying-party.ts'

const t = messages.en

const test = await useTestApp()
const party = await makeParty(test)

async function alice(): Promise<Browser> {
  const person = await makePerson(test, {
    name: 'Alice <b>A</b>',
    email: 'alice@example.org',
    groups: ['developers'],
  })
  return person.signIn()
}

const scopesOf = async (client: Browser, scope: string) =>
  (await exchange(test, party, (await authorize(client, party, { scope })).code)).body.scope

describe('the page', () => {
  it('names application, owner, member, what is seen, and where it leads', async () => {
    const page = await (await alice()).get(authorizationUrl(party))
    expect(page.status).toBe(200)
    for (const text of [
      'Reading Club',
      'Books, every Thursday',
      `@${party.owner}`,
      'Alice &lt;b&gt;A&lt;/b&gt;',
      'a•••@example.org',
      'developers',
      '<strong>app.example</strong>',
    ]) {
      expect(page.body).toContain(text)
    }
    expect(page.body).not.toContain('alice@example.org')
    expect(page.body).toMatch(/href="\/sign-in\?return_to=%2Foauth2%2Fauth/)
  })

  it('shows the application’s description, and what the staff knows of it', async () => {
    const known = await makeParty(test)
    const set = (values: object) => changeApp(test, known, values)
    await set({
      homepage: 'https://books.example/about?a=1&b=2',
      logo_url: 'https://books.example/logo.png',
    })
    const first = await (await alice()).get(authorizationUrl(known))
    expect(first.body).toContain('href="https://books.example/about?a=1&amp;b=2"')
    expect(first.body).toContain('>books.example</a>')
    expect(first.body).toContain('src="https://books.example/logo.png"')
    expect(first.body).toContain(t.common.unreviewed)
    expect(first.body).toContain(t.identity.consent.firstUse)

    const owner = await makePerson(test)
    await set({ reviewed_at: test.clock.now(), reviewed_by: owner.id })
    await authorize(await alice(), known)
    const second = await (await alice()).get(authorizationUrl(known))
    expect(second.body).toContain(`${t.common.reviewed}</strong>`)
    expect(second.body).not.toContain(t.common.unreviewed)
    expect(second.body).toContain(t.registry.members('1', 1, false))
  })

  it('links to the owner’s forum profile, if there is one', async () => {
    const forum = await startTestApp({
      DISCOURSE_URL: 'https://forum.example',
      DISCOURSE_SECRET: 'a-secret-of-the-tests',
    })
    try {
      const owner = await makePerson(forum)
      const known = await makeParty(forum, {}, owner)
      const client = await (await makePerson(forum)).signIn()
      const local = await client.get(authorizationUrl(known))
      expect(local.body).not.toContain('https://forum.example')
      await changePerson(forum, owner, { forum_id: 7n, password_hash: null })
      const linked = await client.get(authorizationUrl(known))
      expect(linked.body).toContain(`href="https://forum.example/u/${known.owner}"`)
    } finally {
      await forum.close()
    }
  })

  it('lists every application only for an administrator who is asked', async () => {
    const text = t.consents.listEveryApp
    const shown = async (values: object, scope: string) =>
      (await (await (await makePerson(test, values)).signIn()).get(authorizationUrl(party, { scope }))).body
    expect(await shown({ is_admin: true }, 'openid apps')).toContain(text)
    expect(await shown({ is_admin: true }, 'openid')).not.toContain(text)
    expect(await shown({}, 'openid apps')).not.toContain(text)
  })

  it('writes nothing by being shown', async () => {
    const client = await alice()
    await withoutWriting(test, () => client.get(authorizationUrl(party)))
  })
})

describe('allow', () => {
  it('is remembered until the application asks for more', async () => {
    const client = await alice()
    expect(await scopesOf(client, 'openid')).toBe('openid')
    expect((await client.get(authorizationUrl(party, { scope: 'openid' }))).status).toBe(303)

    const more = await client.get(authorizationUrl(party, { scope: 'openid email' }))
    expect(more.status).toBe(200)
    const silent = await client.get(authorizationUrl(party, { scope: 'openid email', prompt: 'none' }))
    expect(answerOf(silent).error).toBe('consent_required')

    await client.submit(more, '/oauth2/consent', { decision: 'allow' })
    // Consents add up.
    expect((await client.get(authorizationUrl(party, { scope: 'email' }))).status).toBe(303)
    expect((await client.get(authorizationUrl(party, { scope: 'openid' }))).status).toBe(303)
  })

  it('counts for this application and this member only', async () => {
    const client = await alice()
    await authorize(client, party)
    const other = await makeParty(test)
    expect((await client.get(authorizationUrl(other))).status).toBe(200)
    expect((await (await alice()).get(authorizationUrl(party))).status).toBe(200)
  })

  it('prompt consent asks again', async () => {
    const client = await alice()
    await authorize(client, party)
    expect((await client.get(authorizationUrl(party, { prompt: 'consent' }))).status).toBe(200)
  })

  it('two answers at once both count', async () => {
    const client = await alice()
    const pages = await Promise.all(
      ['openid', 'email', 'profile'].map((scope) => client.get(authorizationUrl(party, { scope }))),
    )
    await Promise.all(pages.map((page) => client.submit(page, '/oauth2/consent', { decision: 'allow' })))
    const all = await client.get(authorizationUrl(party, { scope: 'openid profile email' }))
    expect(answerOf(all).code).toBeTruthy()
  })
})

describe('deny', () => {
  it('tells the application, and writes nothing', async () => {
    const client = await alice()
    const page = await client.get(authorizationUrl(party, { state: 'x y' }))
    const answer = await withoutWriting(test, () =>
      client.submit(page, '/oauth2/consent', { decision: 'deny' }),
    )
    expect(answerOf(answer)).toEqual({
      error: 'access_denied',
      error_description: 'The user refused authorization',
      state: 'x y',
      iss: test.url,
    })
  })
})

describe('the form', () => {
  it('belongs to the session it was shown to', async () => {
    const client = await alice()
    const page = await client.get(authorizationUrl(party))
    const other = await alice()
    const answer = await withoutWriting(test, () =>
      other.submit(page, '/oauth2/consent', { decision: 'allow' }),
    )
    expect(answer.status).toBe(403)
  })

  it('is checked like the request itself', async () => {
    const client = await alice()
    const page = await client.get(authorizationUrl(party))
    const form = page.form('/oauth2/consent')
    const refused = (query: string) =>
      withoutWriting(test, () => client.post('/oauth2/consent', { ...form, query, decision: 'allow' }))

    const elsewhere = form.query!.replace('app.example', 'evil.example')
    expect((await refused(elsewhere)).body).toContain('invalid_redirect_uri')
    expect((await refused('')).body).toContain('invalid_request')
    const wrong = await refused(form.query!.replace('response_type=code', 'response_type=token'))
    expect(answerOf(wrong).error).toBe('unsupported_response_type')
  })

  it.each([{ decision: 'perhaps' }, { decision: '' }])('knows two answers only: %o', async (answer) => {
    const client = await alice()
    const page = await client.get(authorizationUrl(party))
    const response = await withoutWriting(test, () => client.submit(page, '/oauth2/consent', answer))
    expect(response.status).toBe(400)
  })
})

describe('in production, what Chromium lets the form lead to', () => {
  /** A program on the member's machine may redirect to another port of it. */
  const onLoopback = (origin: string) =>
    `form-action 'self' https: ${origin} http://127.0.0.1:* http://localhost:*;`
  let production: TestApp

  beforeAll(async () => {
    production = await startTestApp({
      PUBLIC_URL: 'https://id.example.org',
    })
  })
  afterAll(() => production.close())

  it.each([
    ['https://app.example/callback', "form-action 'self' https:;"],
    ['http://127.0.0.1:5173/callback', onLoopback('http://127.0.0.1:5173')],
    ['http://localhost:5173/callback?a=b', onLoopback('http://localhost:5173')],
    ['http://[::1]:5173/callback', "form-action 'self' https: http:;"],
  ])('for %s is: %s', async (redirect_uri, expected) => {
    const app = await makeParty(production, { redirect_uris: [redirect_uri] })
    const stranger = browser(production)
    const signIn = await stranger.get((await stranger.get(authorizationUrl(app))).location!)
    expect(signIn.headers['content-security-policy']).toContain(expected)
    const client = await (await makePerson(production)).signIn()
    const page = await client.get(authorizationUrl(app))
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toContain(expected)
  })

  it('is the same where a one-time password must change first', async () => {
    const redirect_uri = 'http://127.0.0.1:5173/callback'
    const app = await makeParty(production, { redirect_uris: [redirect_uri] })
    const person = await makePerson(production)
    const client = await person.signIn()
    await changePerson(production, person, { must_change_password: true })
    const detour = await client.get(authorizationUrl(app))
    const page = await client.get(detour.location!)
    expect(page.headers['content-security-policy']).toContain(onLoopback('http://127.0.0.1:5173'))
  })

  it('no more than https, when a link names some other http address', async () => {
    const app = await makeParty(production)
    const link = authorizationUrl(app, { redirect_uri: 'http://evil.example/' })
    const page = await browser(production).get(`/sign-in?return_to=${encodeURIComponent(link)}`)
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;")
  })
})
