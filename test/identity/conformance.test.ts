/**
 * The OpenID Foundation's conformance plans for providers (Basic, Config, RP-Initiated Logout, and the applicable
 * part of the Comprehensive plan). Each module is a test under its own name. Modules for features that the provider
 * does not advertise expect a refusal with the right code. All checks use real HTTP, and the clock of the tests
 * replaces the modules' waits. spec/sign-in 2.6.
 */
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changePerson, makePerson, type Person } from '../harness/cast.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import {
  type Answer,
  askTokens,
  authorizationAddress,
  authorizationRequest,
  type Client,
  checkError,
  checkIdToken,
  checkTokens,
  encoded,
  finishFlow,
  flow,
  listen,
  type Provider,
  readUserinfo,
  redeemCode,
  type TokenSet,
  type UserAgent,
  userAgent,
  userinfoResponse,
} from './conformance-client.ts'
import { makeParty } from './relying-party.ts'

const ISSUER = 'https://id.example.org'
const CALLBACK = 'https://suite.example/test/a/tessera/callback'
const BYE = 'https://suite.example/test/a/tessera/post_logout'
const SCOPES_LEFT_OUT = ['address', 'phone']

let test: TestApp
let op: Provider
let client: Client
let client2: Client
let person: Person
let agent: UserAgent

beforeAll(async () => {
  test = await startTestApp({ PUBLIC_URL: ISSUER })
  op = await listen(test)
  const values = {
    redirect_uris: [CALLBACK, `${CALLBACK}?dummy1=lorem&dummy2=ipsum`],
    post_logout_redirect_uris: [BYE],
  }
  client = { ...(await makeParty(test, values)), auth: 'client_secret_basic' }
  client2 = { ...(await makeParty(test, values)), auth: 'client_secret_post' }
  const known = { name: 'Alice Archer', email: 'alice@example.org' }
  person = await makePerson(test, known)
  await changePerson(test, person, { avatar_url: 'https://forum.example/a.png', email_verified: true })
  agent = userAgent(op, person)
})
afterAll(() => test.close())

const wait = (seconds: number) => test.clock.advance(seconds * 1000)
const fresh = () => userAgent(op, person)
const stranger = () => userAgent(op)

async function ask(from: UserAgent, more: Record<string, string | undefined>) {
  const request = authorizationRequest(client, more)
  return { request, arrival: await from.visit(authorizationAddress(op, request)) }
}

async function refused(from: UserAgent, more: Record<string, string | undefined>): Promise<string> {
  const { request, arrival } = await ask(from, more)
  return checkError(op, arrival, request)
}

/** Expects a refusal on a page of the provider, without a redirect. */
async function refusedOnPage(more: Record<string, string | undefined>, status = 400): Promise<void> {
  const { arrival } = await ask(agent, more)
  expect(arrival).toMatchObject({ status, shown: ['page'] })
  expect(arrival.url.startsWith(ISSUER)).toBe(true)
}

function expectGrantError({ status, headers, body }: Answer): void {
  expect(status).toBe(400)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(body.error).toBe('invalid_grant')
}

describe('Basic', () => {
  it('oidcc-server', async () => {
    const { id } = await flow(op, client, agent)
    const protocol = [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'at_hash',
      'sid',
      'amr',
      'acr',
      'azp',
    ]
    for (const name of Object.keys(id)) expect(protocol).toContain(name)
  })

  it('oidcc-response-type-missing', async () => {
    const error = await refused(agent, { response_type: undefined })
    expect(['invalid_request', 'unsupported_response_type']).toContain(error)
  })

  it('oidcc-idtoken-signature', async () => {
    const { tokens } = await flow(op, client, agent)
    const header = JSON.parse(Buffer.from(tokens.id_token.split('.')[0]!, 'base64url').toString())
    expect(header).toMatchObject({ alg: 'RS256', typ: 'JWT' })
    expect(op.keys.map(({ kid }) => kid)).toContain(header.kid)
  })

  it('oidcc-idtoken-unsigned', async () => {
    expect(op.discovery.id_token_signing_alg_values_supported).not.toContain('none')
    const { tokens } = await flow(op, client, agent)
    const [, body] = tokens.id_token.split('.')
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`
    expect(await refused(agent, { prompt: 'none', id_token_hint: unsigned })).toBe('invalid_request')
  })

  it.each(['get', 'post-header'] as const)('oidcc-userinfo-%s', async (how) => {
    const { tokens, id } = await flow(op, client, agent)
    expect((await readUserinfo(op, tokens.access_token, how)).sub).toBe(id.sub)
  })

  it('oidcc-userinfo-post-body, which the suite skips when it is refused', async () => {
    const { tokens } = await flow(op, client, agent)
    expect((await userinfoResponse(op, tokens.access_token, 'post-body')).status).toBe(401)
  })

  it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { id } = await flow(op, client, agent, { nonce: undefined })
    expect(id).not.toHaveProperty('nonce')
  })

  it('oidcc-scope-profile', async () => {
    const { user } = await flow(op, client, agent, { scope: 'openid profile' })
    expect(user).toMatchObject({
      name: 'Alice Archer',
      preferred_username: person.username,
      picture: 'https://forum.example/a.png',
    })
  })

  it('oidcc-scope-email', async () => {
    const { user } = await flow(op, client, agent, { scope: 'openid email' })
    expect(user).toMatchObject({ email: 'alice@example.org', email_verified: true })
  })

  it.each([...SCOPES_LEFT_OUT, 'all'])('oidcc-scope-%s', async (name) => {
    for (const scope of SCOPES_LEFT_OUT) expect(op.discovery.scopes_supported).not.toContain(scope)
    const scope = name === 'all' ? 'openid profile email address phone' : `openid ${name}`
    const { user } = await flow(op, client, agent, { scope })
    for (const claim of ['address', 'phone_number']) expect(user).not.toHaveProperty(claim)
  })

  it('oidcc-alternate-happy-flow', async () => {
    const fields = authorizationRequest(client, { scope: 'email openid' })
    const request = Object.fromEntries(Object.entries(fields).toReversed())
    const arrival = await agent.visit(authorizationAddress(op, request))
    const { user } = await finishFlow(op, client, arrival, request)
    expect(user).toHaveProperty('email')
  })

  it.each([
    ['display-page', { display: 'page' }],
    ['display-popup', { display: 'popup' }],
    ['ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['ui-locales', { ui_locales: 'se de-DE fr' }],
    ['claims-locales', { claims_locales: 'se' }],
  ])('oidcc-%s', async (_, more) => {
    await flow(op, client, agent, more)
  })

  it('oidcc-prompt-login', async () => {
    const first = await flow(op, client, agent)
    wait(1)
    const second = await flow(op, client, agent, { prompt: 'login' })
    expect(second.arrival.shown).toContain('sign-in')
    expect(Number(second.id.auth_time)).toBeGreaterThan(Number(first.id.auth_time))
    expect(second.id.sub).toBe(first.id.sub)
  })

  it('oidcc-prompt-none-not-logged-in', async () => {
    const state = randomBytes(64).toString('hex')
    expect(await refused(fresh(), { prompt: 'none', state })).toBe('login_required')
  })

  it('oidcc-prompt-none-logged-in', async () => {
    const first = await flow(op, client, agent)
    wait(1)
    const second = await flow(op, client, agent, { prompt: 'none' })
    expect(second.arrival.shown).toEqual([])
    expect(second.id).toMatchObject({ sub: first.id.sub, auth_time: first.id.auth_time })
  })

  it('oidcc-max-age-1', async () => {
    const first = await flow(op, client, agent)
    wait(2)
    const second = await flow(op, client, agent, { max_age: '1' })
    expect(second.arrival.shown).toContain('sign-in')
    expect(Number(second.id.auth_time)).toBeGreaterThan(Number(first.id.auth_time))
    expect(op.now_seconds() - Number(second.id.auth_time)).toBeLessThan(5)
  })

  it('oidcc-max-age-10000', async () => {
    const first = await flow(op, client, agent, { max_age: '15000' })
    wait(1)
    const second = await flow(op, client, agent, { max_age: '10000' })
    expect(second.arrival.shown).toEqual([])
    expect(second.id.auth_time).toBe(first.id.auth_time)
  })

  it('oidcc-id-token-hint', async () => {
    const first = await flow(op, client, agent)
    const second = await flow(op, client, agent, { prompt: 'none', id_token_hint: first.tokens.id_token })
    expect(second.arrival.shown).toEqual([])
    expect(second.id).toMatchObject({ sub: first.id.sub, auth_time: first.id.auth_time })
  })

  it('oidcc-login-hint', async () => {
    const { arrival } = await flow(op, client, fresh(), { login_hint: 'buffy@example.org' })
    expect(arrival.shown).toContain('sign-in')
  })

  it('oidcc-ensure-request-with-acr-values-succeeds', async () => {
    const { id } = await flow(op, client, agent, { acr_values: '1 2' })
    expect(op.discovery.acr_values_supported).toContain(id.acr)
  })

  it('oidcc-codereuse', async () => {
    const { code } = await flow(op, client, agent)
    expectGrantError(await redeemCode(op, client, code))
  })

  it('oidcc-codereuse-30seconds', async () => {
    for (const seconds of [30, 9 * 60]) {
      const { code, tokens } = await flow(op, client, agent)
      wait(seconds)
      expectGrantError(await redeemCode(op, client, code))
      const { status } = await userinfoResponse(op, tokens.access_token)
      expect(status).toBe(401)
    }
  })

  it('oidcc-ensure-post-request-succeeds', async () => {
    const request = authorizationRequest(client)
    const crossSite = { 'sec-fetch-site': 'cross-site', origin: 'https://suite.example' }
    const arrival = await agent.visit(String(op.discovery.authorization_endpoint), request, crossSite)
    await finishFlow(op, client, arrival, request)
    const first = await fresh().visit(String(op.discovery.authorization_endpoint), request, crossSite)
    await finishFlow(op, client, first, request)
  })

  it('oidcc-server-client-secret-post', async () => {
    expect(op.discovery.token_endpoint_auth_methods_supported).toContain('client_secret_post')
    await flow(op, client2, agent)
  })

  it('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported', async () => {
    expect(op.discovery.request_uri_parameter_supported).toBe(false)
    const request_uri = 'https://suite.example/request.jwt'
    expect(await refused(agent, { request_uri })).toBe('request_uri_not_supported')
  })

  const requestObject = (claims: object) => {
    const parts = [{ alg: 'none' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    return `${parts.join('.')}.`
  }

  it('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async () => {
    expect(op.discovery.request_parameter_supported).toBe(false)
    expect(op.discovery).not.toHaveProperty('request_object_signing_alg_values_supported')
    const request = requestObject(authorizationRequest(client))
    expect(await refused(agent, { request })).toBe('request_not_supported')
  })

  it('oidcc-claims-essential', async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } })
    const { user, id } = await flow(op, client, agent, { claims })
    expect(user.name).toBe('Alice Archer')
    expect(id).not.toHaveProperty('name')
  })

  it('oidcc-ensure-request-object-with-redirect-uri', async () => {
    const request = requestObject(authorizationRequest(client))
    await refusedOnPage({ request, redirect_uri: 'https://suite.example/elsewhere' })
  })

  it('oidcc-refresh-token', async () => {
    expect(op.discovery.grant_types_supported).toContain('refresh_token')
    expect(op.discovery.scopes_supported).toContain('offline_access')
    const asked = { scope: 'openid offline_access', prompt: 'consent' }
    const refreshed = async (who: Client, tokens: TokenSet, scope: string | undefined) => {
      const { refresh_token } = tokens
      return checkTokens(await askTokens(op, who, { grant_type: 'refresh_token', refresh_token, scope }))
    }
    const first = await flow(op, client, agent, asked)
    expect(first.arrival.shown).toContain('consent')
    const other = await flow(op, client2, agent, asked)
    wait(1)
    for (const [who, before, scope] of [
      [client, first, 'openid offline_access'],
      [client2, other, undefined],
    ] as const) {
      const tokens = await refreshed(who, before.tokens, scope)
      const id = checkIdToken(op, who, tokens, undefined)
      const { iss, sub, aud, auth_time } = before.id
      expect(id).toMatchObject({ iss, sub, aud, auth_time })
      expect(Number(id.iat)).toBeGreaterThan(Number(before.id.iat))
      expect(tokens.access_token).not.toBe(before.tokens.access_token)
      expect((await readUserinfo(op, tokens.access_token)).sub).toBe(sub)
    }
    const third = await flow(op, client2, agent, asked)
    const { refresh_token } = third.tokens
    expectGrantError(await askTokens(op, client, { grant_type: 'refresh_token', refresh_token }))
    await refreshed(client2, third.tokens, undefined)
  })

  it('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const code_verifier = randomBytes(32).toString('base64url')
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const { request, arrival } = await ask(agent, { code_challenge, code_challenge_method: 'S256' })
    await finishFlow(op, client, arrival, request, { code_verifier })
  })
})

describe('Config', () => {
  it('oidcc-discovery-endpoint-verification', async () => {
    const { discovery } = op
    expect(discovery.issuer).toBe(ISSUER)
    const endpoints = Object.entries(discovery).filter(([name]) => /(_endpoint|_uri)$/.test(name))
    for (const [, url] of endpoints) expect(new URL(String(url)).protocol).toBe('https:')
    const lists = Object.entries(discovery).filter(
      ([name]) => /_supported$/.test(name) && !/parameter|logout/.test(name),
    )
    for (const [, list] of lists) {
      expect(Array.isArray(list)).toBe(true)
      expect((list as unknown[]).length).toBeGreaterThan(0)
      expect(new Set(list as unknown[]).size).toBe((list as unknown[]).length)
    }
    for (const scope of discovery.scopes_supported as string[])
      expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
  })

  it('every claim in a token is listed', async () => {
    const { id, user } = await flow(op, client, agent, { scope: 'openid profile email' })
    for (const name of [...Object.keys(id), ...Object.keys(user)]) {
      expect(op.discovery.claims_supported).toContain(name)
    }
  })
})

describe('RP-Initiated Logout', () => {
  const STATE = 'xyz'

  async function signedIn() {
    const own = fresh()
    return { own, ...(await flow(op, client, own)) }
  }

  const leave = (from: UserAgent, fields: Record<string, string | undefined>) =>
    from.visit(`${op.discovery.end_session_endpoint}?${encoded(fields)}`)

  async function isSignedIn(from: UserAgent): Promise<boolean> {
    const { request, arrival } = await ask(from, { prompt: 'none' })
    if (!arrival.url.includes('error=')) return true
    expect(checkError(op, arrival, request)).toBe('login_required')
    return false
  }

  /** Expects a page without a redirect, on which the person decides. */
  async function staysOnPage(fields: (flow: { id_token: string }) => Record<string, string | undefined>) {
    const { own, tokens } = await signedIn()
    const arrival = await leave(own, fields(tokens))
    expect(arrival.url.startsWith(ISSUER)).toBe(true)
    return { own, arrival }
  }

  it('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
    expect(op.discovery.end_session_endpoint).toBe(`${ISSUER}/oauth2/logout`)
  })

  it.each([
    ['logout', STATE, `${BYE}?state=${STATE}`],
    ['logout-no-state', undefined, BYE],
  ])('oidcc-rp-initiated-%s', async (_, state, end) => {
    const { own, tokens } = await signedIn()
    const fields = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state }
    expect((await leave(own, fields)).url).toBe(end)
    expect(await isSignedIn(own)).toBe(false)
  })

  const foreign =
    'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL290aGVyLmV4YW1wbGUiLCJzdWIiOiIxIiwiYXVkIjoiYSJ9.AAAA'

  it.each([
    ['bad-post-logout-redirect-uri', (hint: string) => hint, `${BYE}/other`],
    ['query-added-to-post-logout-redirect-uri', (hint: string) => hint, `${BYE}?foo=bar`],
    ['modified-id-token-hint', (hint: string) => `${hint.slice(0, -6)}AAAAAA`, BYE],
    ['no-id-token-hint', () => undefined, BYE],
    ['bad-id-token-hint', () => foreign, BYE],
  ] as const)('oidcc-rp-initiated-logout-%s', async (name, hintOf, post_logout_redirect_uri) => {
    const { own, arrival } = await staysOnPage(({ id_token }) => ({
      ...{ id_token_hint: hintOf(id_token), post_logout_redirect_uri, state: STATE },
    }))
    expect(arrival.status).toBe(400)
    if (post_logout_redirect_uri !== BYE)
      expect(arrival.body, name).toContain(messages.en.identity.logout.faults.unknown_address)
    expect(await isSignedIn(own)).toBe(true)
  })

  it.each([
    ['no-params', () => ({})],
    ['no-post-logout-redirect-uri', (id_token: string) => ({ id_token_hint: id_token, state: STATE })],
    ['only-state', () => ({ state: STATE })],
  ] as const)('oidcc-rp-initiated-logout-%s', async (_, fields) => {
    const { own, arrival } = await staysOnPage(({ id_token }) => fields(id_token))
    expect(arrival.status).toBe(200)
    expect(arrival.body).toContain(messages.en.identity.logout.doneTitle)
    expect(await isSignedIn(own)).toBe(false)
  })
})

describe('Comprehensive', () => {
  const withQuery = `${CALLBACK}?dummy1=lorem&dummy2=ipsum`

  it('oidcc-redirect-uri-query-OK', async () => {
    const same = { ...client, redirect_uri: withQuery }
    const { arrival } = await flow(op, same, agent)
    expect(arrival.url.startsWith(`${withQuery}&`)).toBe(true)
  })

  it.each([
    ['ensure-registered-redirect-uri', `${CALLBACK}/not-registered`],
    ['redirect-uri-query-mismatch', withQuery.replace('lorem', 'other')],
    ['redirect-uri-query-added', `${CALLBACK}?foo=bar`],
    ['ensure-redirect-uri-in-authorization-request', undefined],
  ])('oidcc-%s', (_, redirect_uri) => refusedOnPage({ redirect_uri }))

  it('oidcc-redirect-uri-regfrag', async () => {
    const { tokens } = await flow(op, client, agent)
    const response = await fetch(op.reach(`${ISSUER}/api/apps`), {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Fragment', redirect_uris: [`${CALLBACK}#frag`] }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_redirect_uri' })
  })

  it('a stranger is asked to sign in, then to consent', async () => {
    const { arrival } = await ask(stranger(), {})
    expect(arrival).toMatchObject({ status: 200, shown: ['page'] })
    expect(arrival.body).toContain('action="/sign-in"')
    const newcomer = await makePerson(test)
    const first = await flow(op, client, userAgent(op, newcomer))
    expect(first.arrival.shown).toEqual(['sign-in', 'consent'])
  })
})
