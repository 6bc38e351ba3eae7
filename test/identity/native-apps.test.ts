/** Applications on a member's own device: free loopback ports, and private-use schemes (RFC 8252). */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import {
  type Answer,
  answerOf,
  authorizationUrl,
  basic,
  changeApp,
  makeParty,
  obtainTokens,
  type Party,
  postForm,
  registerByApi,
} from './relying-party.ts'

const t = messages.en.identity

const VERIFIER = 'v'.repeat(43)
const code_challenge = createHash('sha256').update(VERIFIER).digest('base64url')
const PKCE = { code_challenge, code_challenge_method: 'S256' }
const OPEN = { token_endpoint_auth_method: 'none' as const }
const SCHEME = 'com.example.app:/callback'

let test: TestApp
let client: Browser
let loopback: Party
let native: Party

beforeAll(async () => {
  test = await startTestApp()
  client = await (await makePerson(test)).signIn()
  const redirect_uris = ['http://localhost/callback', 'http://127.0.0.1:4000/callback']
  loopback = await makeParty(test, { ...OPEN, redirect_uris })
  native = await makeParty(test, { ...OPEN, redirect_uris: [SCHEME, 'com.example.app://signed-in'] })
})
afterAll(() => test.close())

const request = (party: Party, redirect_uri: string | undefined, more = {}) =>
  client.get(authorizationUrl(party, { ...PKCE, redirect_uri, ...more }))

async function allow(party: Party, redirect_uri: string) {
  const page = await request(party, redirect_uri)
  expect(page.status).toBe(200)
  const sent = await client.submit(page, '/oauth2/consent', { decision: 'allow' })
  return answerOf(sent, redirect_uri)
}

const redeem = (party: Party, code: string | undefined, redirect_uri: string): Promise<Answer> =>
  postForm(test, '/oauth2/token', {
    grant_type: 'authorization_code',
    client_id: party.client_id,
    code,
    redirect_uri,
    code_verifier: VERIFIER,
  })

describe('the port of a loopback address', () => {
  it('is free for a public application, and the token request repeats it', async () => {
    const sent = 'http://localhost:51234/callback'
    const { code } = await allow(loopback, sent)
    for (const other of ['http://localhost/callback', 'http://localhost:51235/callback']) {
      expect((await redeem(loopback, code, other)).body.error).toBe('invalid_grant')
    }
    expect((await redeem(loopback, code, sent)).status).toBe(200)
    expect((await allow(loopback, 'http://127.0.0.1:51234/callback')).code).toBeTruthy()
  })

  it('is asked about each time', async () => {
    for (let n = 0; n < 2; n += 1) {
      const page = await request(loopback, 'http://localhost:51234/callback')
      expect(page.status).toBe(200)
      expect(page.body).toContain(t.consent.loopback)
    }
  })

  it('is as registered for a confidential application', async () => {
    const party = await makeParty(test, { redirect_uris: ['http://localhost/callback'] })
    expect((await request(party, 'http://localhost:51234/callback')).status).toBe(400)
    expect((await request(party, 'http://localhost/callback')).status).toBe(200)
  })

  it('frees nothing else', async () => {
    for (const uri of [
      'http://[::1]:51234/callback',
      'http://localhost:51234/other',
      'http://localhost:51234/callback?code=x',
      'http://localhost:51234@evil.example/callback',
      'https://localhost:51234/callback',
    ]) {
      expect([uri, (await request(loopback, uri)).status]).toEqual([uri, 400])
      expect((await redeem(loopback, 'x', uri)).body.error).toBe('invalid_redirect_uri')
    }
  })
})

describe('a private-use scheme', () => {
  it('gets the code of a public application, after a consent that names it', async () => {
    const page = await request(native, SCHEME)
    expect(page.body).toContain(t.consent.answering('com.example.app'))
    const csp = String(page.headers['content-security-policy'])
    expect(csp).toContain("form-action 'self' https: com.example.app:;")
    const { code, iss } = await allow(native, SCHEME)
    expect(iss).toBe(test.url)
    expect((await redeem(native, code, SCHEME)).status).toBe(200)
  })

  it('is asked about each time, and never without PKCE', async () => {
    await allow(native, SCHEME)
    expect((await request(native, SCHEME)).status).toBe(200)
    const silent = await request(native, SCHEME, { prompt: 'none' })
    expect(answerOf(silent, SCHEME).error).toBe('consent_required')
    const bare = await client.get(authorizationUrl(native, { redirect_uri: SCHEME }))
    expect(answerOf(bare, SCHEME).error).toBe('invalid_request')
  })

  it('lets the form of the sign-in page lead there', async () => {
    const page = await browser(test).get(authorizationUrl(native, { ...PKCE, redirect_uri: SCHEME }))
    const signIn = await browser(test).get(page.location!)
    expect(signIn.headers['content-security-policy']).toContain(' com.example.app:;')
  })

  it('is refused to a confidential application, by program, by page and by the database', async () => {
    const person = await makePerson(test)
    const own = await person.signIn()
    const { access_token } = await obtainTokens(test, own, await makeParty(test))
    const register = (more = {}) =>
      registerByApi(test, access_token, {
        name: 'Phone',
        redirect_uris: ['https://app.example/', SCHEME],
        ...more,
      })
    const refused = await register()
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_redirect_uri'])
    expect(refused.body.errors).toEqual([{ path: 'redirect_uris.1', message: expect.any(String) }])
    expect((await register(OPEN)).status).toBe(201)

    const form = { name: 'Phone', redirect_uris: SCHEME, token_endpoint_auth_method: 'client_secret_basic' }
    const page = await own.submit(await own.get('/apps'), '/apps', form)
    expect(page.status).toBe(400)
    expect(page.body).toContain(t.redirectUriFaults.private_use)
    const party = await makeParty(test)
    const change = changeApp(test, party, { redirect_uris: [SCHEME] })
    await expect(change).rejects.toThrow('oauth_apps_private_use_public')
  })

  it('stays refused to a confidential application when it is changed', async () => {
    const person = await makePerson(test)
    const own = await person.signIn()
    const form = { name: 'Phone', redirect_uris: 'https://app.example/' }
    await own.submit(await own.get('/apps'), '/apps', form)
    const { client_id } = await test.db
      .selectFrom('oauth_apps')
      .where('owner_id', '=', person.id)
      .select('client_id')
      .executeTakeFirstOrThrow()
    const path = `/apps/${client_id}`
    const page = await own.submit(await own.get(path), path, { redirect_uris: SCHEME })
    expect(page.status).toBe(400)
    expect(page.body).toContain(t.redirectUriFaults.private_use)
  })
})

describe('an answer to a device', () => {
  it.each([
    ['a loopback address', 'http://localhost/callback'],
    ['a private-use scheme', SCHEME],
  ])('needs redirect_uri in the request: %s', async (_, uri) => {
    const party = await makeParty(test, { ...OPEN, redirect_uris: [uri] })
    const page = await request(party, undefined)
    expect(page.status).toBe(400)
    expect(page.body).toContain('invalid_request')
  })
})

it('the origin null gets no CORS header', async () => {
  for (const origin of ['null', 'com.example.app://']) {
    const headers = { origin, authorization: basic(native.client_id, '') }
    const { headers: answered } = await postForm(test, '/oauth2/revoke', { token: 'x' }, headers)
    expect(answered).not.toHaveProperty('access-control-allow-origin')
  }
})
