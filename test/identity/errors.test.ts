/** The OAuth error codes: a request causes each of them, and random input only gets refusals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import { DEVICE_CODE_SECONDS } from '../../src/identity/grants/devices.ts'
import { OAUTH_ERRORS } from '../../src/identity/oauth/errors.ts'
import type { OAuthCode } from '../../src/platform/errors.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { switchMandates } from '../harness/mandates.ts'
import { times } from '../harness/thoroughness.ts'
import {
  answerOf,
  authorizationUrl,
  basic,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  type Party,
  postForm,
  redeem,
  refresh,
  userinfo,
  withoutWriting,
  written,
} from './relying-party.ts'

let test: TestApp
let party: Party
let adminToken: string

beforeAll(async () => {
  test = await startTestApp()
  party = await makeParty(test)
  const admin = await makePerson(test, { is_admin: true })
  adminToken = (await obtainTokens(test, await admin.signIn(), party)).access_token
})
afterAll(() => test.close())

/** An error that only travels in a redirect has no status of its own. */
type Outcome = { error: unknown; status?: number }

const told = ({ status, body }: { status: number; body: Record<string, unknown> }): Outcome => ({
  error: body.error,
  status,
})

async function redirected(
  parameters: Record<string, string | undefined>,
  signedIn = false,
): Promise<Outcome> {
  const client = signedIn ? await (await makePerson(test)).signIn() : browser(test)
  return { error: answerOf(await client.get(authorizationUrl(party, parameters))).error }
}

async function widerRefresh(): Promise<Outcome> {
  const client = await (await makePerson(test)).signIn()
  const { refresh_token } = await obtainTokens(test, client, party, { scope: 'openid' })
  return told(await refresh(test, party, refresh_token, { scope: 'openid profile' }))
}

async function deniedGroup(): Promise<Outcome> {
  const app = await makeParty(test, { deny_groups: ['trust_level_0'] })
  const client = await (await makePerson(test)).signIn()
  const page = await client.get(authorizationUrl(app), { accept: 'application/json' })
  return { error: JSON.parse(page.body).error, status: page.status }
}

const authorization = () => ({ authorization: `Bearer ${adminToken}` })

/** Asks for tokens with a device code: of nobody yet, polled twice, or after it has ended. */
async function polled(polls: number, past_seconds = 0): Promise<Outcome> {
  const app = await makeParty(test, { grant_types: [...GRANT_TYPES] })
  const { client_id, client_secret } = app
  const { body } = await postForm(test, '/oauth2/device_authorization', { client_id, client_secret })
  test.clock.advance(past_seconds * 1000)
  const poll = () => redeem(test, app, { grant_type: DEVICE_GRANT, device_code: String(body.device_code) })
  for (let i = 1; i < polls; i += 1) await poll()
  return told(await poll())
}

const provoke: Record<OAuthCode, () => Promise<Outcome>> = {
  invalid_request: async () => told(await redeem(test, party, {})),
  invalid_client: async () => told(await exchange(test, { ...party, client_secret: 'wrong' }, 'x')),
  invalid_grant: async () => told(await exchange(test, party, 'x')),
  invalid_redirect_uri: async () =>
    told(await getJson(test, authorizationUrl(party, { redirect_uri: 'https://evil.example/' }))),
  invalid_scope: widerRefresh,
  invalid_target: () => redirected({ resource: 'https://unknown.example/' }),
  invalid_token: async () => told(await userinfo(test, 'x')),
  insufficient_scope: async () => told(await getJson(test, '/api/apps?owner=all', authorization())),
  access_denied: deniedGroup,
  unauthorized_client: async () =>
    told(await redeem(test, party, { grant_type: DEVICE_GRANT, device_code: 'x' })),
  authorization_pending: () => polled(1),
  slow_down: () => polled(2),
  expired_token: () => polled(1, DEVICE_CODE_SECONDS),
  unsupported_grant_type: async () => told(await redeem(test, party, { grant_type: 'password' })),
  unsupported_response_type: () => redirected({ response_type: 'token' }),
  login_required: () => redirected({ prompt: 'none' }),
  consent_required: () => redirected({ prompt: 'none' }, true),
  request_not_supported: () => redirected({ request: 'x' }),
  request_uri_not_supported: () => redirected({ request_uri: 'x' }),
  registration_not_supported: () => redirected({ registration: 'x' }),
  invalid_authorization_details: async () => {
    await switchMandates(test)
    return redirected({ authorization_details: 'x' })
  },
}

describe('every code of the table', () => {
  it.each(Object.entries(OAUTH_ERRORS))('%s can be provoked, with status %i', async (code, status) => {
    const outcome = await provoke[code as OAuthCode]()
    expect(outcome.error).toBe(code)
    expect(outcome.status ?? status).toBe(status)
  })
})

describe('a fault of ours', () => {
  it('is answered without detail, in the shape of the place', async () => {
    const broken = await startTestApp()
    try {
      const app = await makeParty(broken)
      await broken.deps.signingKeys.current()
      await broken.db.schema.alterTable('oauth_apps').renameTo('gone').execute()
      const answers = [
        await redeem(broken, app, { grant_type: 'authorization_code', code: 'x' }),
        await getJson(broken, authorizationUrl(app), { accept: 'application/json' }),
      ]
      for (const { status, body } of answers) {
        expect(status).toBe(500)
        expect(body).toEqual({ error: 'server_error', error_description: 'Something went wrong on our side' })
      }
      const page = await browser(broken).get(authorizationUrl(app))
      expect(page.status).toBe(500)
      expect(page.headers['content-type']).toMatch(/^text\/html/)
      expect(page.body).not.toContain('oauth_apps')
    } finally {
      await broken.close()
    }
  })
})

describe('whatever is sent', () => {
  const REQUESTS = times(600, 100)

  /** mulberry32: the same requests at every run. */
  function makeRandom(seed: number): (below: number) => number {
    let state = seed
    return (below) => {
      state = (state + 0x6d2b79f5) | 0
      let t = Math.imul(state ^ (state >>> 15), 1 | state)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) % below
    }
  }

  const ENDPOINTS = [
    ['GET', '/oauth2/auth'],
    ['POST', '/oauth2/authorize'],
    ['POST', '/oauth2/consent'],
    ['POST', '/oauth2/token'],
    ['GET', '/oauth2/userinfo'],
    ['POST', '/oauth2/userinfo'],
    ['GET', '/api/apps'],
    ['POST', '/api/apps'],
    ['POST', '/apps'],
    ['POST', '/oauth2/revoke'],
    ['POST', '/oauth2/introspect'],
    ['GET', '/oauth2/logout'],
    ['POST', '/oauth2/logout'],
    ['POST', '/oauth2/logout/confirm'],
    ['GET', '/.well-known/openid-configuration'],
    ['GET', '/oauth2/jwks'],
  ] as const
  const NAMES = [
    'client_id',
    'client_secret',
    'redirect_uri',
    'response_type',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'code_challenge',
    'code_challenge_method',
    'grant_type',
    'code',
    'code_verifier',
    'refresh_token',
    'access_token',
    'token',
    'id_token_hint',
    'post_logout_redirect_uri',
    'owner',
    'query',
    'decision',
    'form_token',
    'signed_in_since',
    'name',
    'redirect_uris',
    '__proto__',
    'constructor',
    '',
  ]
  const TYPES = [
    'application/x-www-form-urlencoded',
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded; charset=utf-16',
    'nonsense',
  ]

  it('meets no fault of ours, and makes no code, grant or token', async () => {
    const random = makeRandom(20_260_101)
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!
    const values = [
      '',
      'x',
      'code',
      'none',
      'login',
      'openid profile',
      'authorization_code',
      'refresh_token',
      '-1',
      '1e999',
      '99999999999999999999',
      '%00',
      '%ff%fe',
      '%',
      '%ed%a0%80',
      '%F0%9F%A6%8A',
      'x'.repeat(9_000),
      'x'.repeat(2_000),
      '%27%3B--',
      encodeURIComponent('https://app.example/callback'),
      encodeURIComponent('//evil.example'),
      '1.2.3',
      '%5B%7B%7D%5D',
      'allow',
      'response_type%3Dcode',
      party.client_id,
      party.client_secret,
    ]
    const parameters = () =>
      Array.from({ length: random(7) }, () => `${encodeURIComponent(pick(NAMES))}=${pick(values)}`).join('&')
    const headers = () => [
      undefined,
      'Basic',
      'Basic !!!',
      'Basic Og==',
      `Basic ${Buffer.from('a:%00').toString('base64')}`,
      basic(party.client_id, 'x'),
      basic(party.client_id, party.client_secret),
      'Bearer',
      'Bearer x',
      'Bearer x y',
    ]
    const bodies = () => [
      parameters(),
      '{',
      '[1]',
      '{"name":1}',
      '{"__proto__":{"a":1}}',
      '\u0000',
      '"x"',
      '',
    ]

    const client = await (await makePerson(test)).signIn()
    const cookie = cookieHeader(client)
    const before = await written(test)
    for (let n = 0; n < REQUESTS; n += 1) {
      const [method, path] = pick(ENDPOINTS)
      const authorization = pick(headers())
      const response = await test.app.inject({
        method,
        url: `${path}?${parameters()}`,
        headers: {
          accept: pick(['text/html', 'application/json', '*/*', 'x;;;']),
          ...(random(2) === 0 ? { cookie } : {}),
          ...(authorization === undefined ? {} : { authorization }),
          ...(method === 'POST' ? { 'content-type': pick(TYPES) } : {}),
        },
        ...(method === 'POST' ? { payload: pick(bodies()) } : {}),
      })
      const { statusCode, body } = response
      expect(statusCode, `${n}: ${method} ${response.raw.req.url} ${body.slice(0, 200)}`).toBeLessThan(500)
      if (statusCode >= 400 && response.headers['content-type']?.toString().startsWith('application/json')) {
        expect(response.json().error).toBeTruthy()
      }
    }
    expect(await written(test)).toEqual(before)
  })

  it('too many parameters are an invalid_request', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `p${n}=x`).join('&')
    const answer = await withoutWriting(test, () => getJson(test, `${authorizationUrl(party)}&${many}`))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})
