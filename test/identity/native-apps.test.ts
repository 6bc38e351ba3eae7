/**
 * Applications on a member's own device: free loopback ports, and private-use schemes (RFC 8252).
 * spec/sign-in 1.5.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { setRows } from '../harness/rows.ts'
import {
  answerOf,
  authorizationUrl,
  basic,
  exchange,
  exchangePublic,
  makeParty,
  obtainTokens,
  type Party,
  pkce,
  postForm,
  registerByApi,
} from './relying-party.ts'

const t = messages.en.identity

const VERIFIER = 'v'.repeat(43)
const PKCE = pkce(VERIFIER)
const OPEN = { token_endpoint_auth_method: 'none' as const }
const SCHEME = 'com.example.app:/callback'

const test = await useTestApp()
const client = await (await makePerson(test)).signIn()
const redirect_uris = ['http://localhost/callback', 'http://127.0.0.1:4000/callback']
const loopback = await makeParty(test, { ...OPEN, redirect_uris })
const native = await makeParty(test, { ...OPEN, redirect_uris: [SCHEME, 'com.example.app://signed-in'] })

const request = (party: Party, redirect_uri: string | undefined, more = {}) =>
  client.get(authorizationUrl(party, { ...PKCE, redirect_uri, ...more }))

async function allow(party: Party, redirect_uri: string) {
  const page = await request(party, redirect_uri)
  expect(page.status).toBe(200)
  const sent = await client.submit(page, '/oauth2/consent', { decision: 'allow' })
  return answerOf(sent, redirect_uri)
}

const redeem = (party: Party, code: string | undefined, redirect_uri: string) =>
  exchangePublic(test, { ...party, redirect_uri }, code, { code_verifier: VERIFIER })

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

  it('is as registered for a confidential application', async () => {
    const party = await makeParty(test, { redirect_uris: ['http://localhost/callback'] })
    expect((await request(party, 'http://localhost:51234/callback')).status).toBe(400)
    expect((await request(party, 'http://localhost/callback')).status).toBe(200)
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

  it('lets the form of the sign-in page lead there', async () => {
    const page = await browser(test).get(authorizationUrl(native, { ...PKCE, redirect_uri: SCHEME }))
    const signIn = await browser(test).get(page.location!)
    expect(signIn.headers['content-security-policy']).toContain(' com.example.app:;')
  })
})

describe('an application with web, loopback and private-use addresses', () => {
  const WEB = 'https://photos.example/callback'
  const LOOPBACK = 'http://localhost:3000/callback'
  const IMMICH = 'app.immich:///oauth-callback'
  const redirect_uris = [WEB, LOOPBACK, IMMICH]
  const form = { name: 'Photos', redirect_uris }
  let own: Browser

  beforeAll(async () => {
    own = await (await makePerson(test)).signIn()
  })

  it('registers and changes, by program and by page', async () => {
    const { access_token } = await obtainTokens(test, own, await makeParty(test))
    expect((await registerByApi(test, access_token, form)).status).toBe(201)
    const page = await own.submit(await own.get('/apps'), '/apps', {
      name: 'Photos',
      redirect_uris: redirect_uris.join('\n'),
    })
    expect(page.status).toBe(303)
    const shown = await own.get(page.location!)
    const path = `/apps/${/<code[^>]*>([a-z0-9]{24})</.exec(shown.body)![1]}/settings`
    const changed = {
      name: 'Photos',
      redirect_uris: `${IMMICH}\n${WEB}`,
      post_logout_redirect_uris: 'app.immich:///bye',
    }
    expect((await own.submit(await own.get(path), path, changed)).status).toBe(303)
  })

  it.each([LOOPBACK, IMMICH])('needs PKCE and consent each time for %s', async (uri) => {
    const party = await makeParty(test, { redirect_uris })
    const bare = await client.get(authorizationUrl(party, { redirect_uri: uri }))
    expect(answerOf(bare, uri).error).toBe('invalid_request')
    for (let n = 0; n < 2; n += 1) {
      const { code } = await allow(party, uri)
      const sent = { redirect_uri: uri, code_verifier: VERIFIER }
      expect((await exchange(test, party, code, sent)).status).toBe(200)
    }
  })

  it('needs no PKCE at its site', async () => {
    const party = await makeParty(test, { redirect_uris })
    expect((await obtainTokens(test, client, party)).token_type).toBe('Bearer')
  })

  it('needs no PKCE where all its addresses are the loopback of a developer', async () => {
    const party = await makeParty(test, { redirect_uris: [LOOPBACK] })
    expect((await obtainTokens(test, client, party)).token_type).toBe('Bearer')
  })

  it('gets no code without a challenge from the database', async () => {
    const party = await makeParty(test, { redirect_uris })
    await obtainTokens(test, client, party)
    const change = setRows(test, 'authorization_codes', { app_id: party.id }, { redirect_uri: IMMICH })
    await expect(change).rejects.toThrow('authorization_codes_private_use_pkce')
  })

  it('takes no resource at the host of a private-use address', async () => {
    const { access_token } = await obtainTokens(test, own, await makeParty(test))
    const resource = {
      resource_uri: 'https://api.example',
      redirect_uris: [WEB, 'com.example.app://api.example/'],
    }
    const refused = await registerByApi(test, access_token, { ...form, ...resource })
    expect(refused.body.errors).toEqual([{ path: 'resource_uri', message: expect.any(String) }])
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
