/** The OAuth error codes: a request causes each of them. spec/sign-in 6.1. */
import { describe, expect, it } from 'vitest'
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import { DEVICE_CODE_SECONDS } from '../../src/identity/grants/devices.ts'
import { OAUTH_ERRORS } from '../../src/identity/oauth/errors.ts'
import type { OAuthCode } from '../../src/platform/errors.ts'
import { makePerson } from '../harness/cast.ts'
import { browser, startTestApp, useTestApp } from '../harness/harness.ts'
import { switchMandates } from '../harness/mandates.ts'
import {
  answerOf,
  authorizationUrl,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  postForm,
  redeem,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)
const admin = await makePerson(test, { is_admin: true })
const adminToken = (await obtainTokens(test, await admin.signIn(), party)).access_token

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
  it('too many parameters are an invalid_request', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `p${n}=x`).join('&')
    const answer = await withoutWriting(test, () => getJson(test, `${authorizationUrl(party)}&${many}`))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})
