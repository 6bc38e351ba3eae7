/** Cross-origin rules of the machine endpoints for pages of other sites. spec/sign-in 3.2. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import {
  authorizationUrl,
  basic,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  postForm,
  redeem,
} from './relying-party.ts'

const OWN = 'https://app.example'
const LOCAL = 'http://[::1]:5173'
const OPEN = [
  '/oauth2/token',
  '/oauth-provider/token',
  '/oauth2/userinfo',
  '/oauth-provider/userinfo',
  '/oauth2/revoke',
]
const PUBLIC = [
  '/.well-known/openid-configuration',
  '/oauth-provider/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth2/jwks',
]
const CLOSED = ['/oauth2/auth', '/oauth2/introspect', '/oauth2/logout', '/api/apps', '/sign-in']

let access_token: string

const test = await useTestApp()
const party = await makeParty(test, { redirect_uris: [`${OWN}/callback`, `${LOCAL}/callback`] })
const client = await (await makePerson(test)).signIn()
;({ access_token } = await obtainTokens(test, client, party))

const allowed = ({ headers }: { headers: Record<string, unknown> }) => headers['access-control-allow-origin']

describe('a preflight', () => {
  const ask = (url: string, method = 'POST') =>
    test.app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin: 'https://anyone.example',
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization',
      },
    })

  it.each(OPEN)('of %s is answered for every origin, without acting for a member', async (url) => {
    const answer = await ask(url)
    expect(answer.statusCode).toBe(204)
    expect(answer.body).toBe('')
    expect(allowed(answer)).toBe('*')
    expect(answer.headers['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, MCP-Protocol-Version',
    )
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    expect(answer.headers).not.toHaveProperty('set-cookie')
  })

  it.each(PUBLIC)('of %s lets everybody read', async (url) => {
    const answer = await ask(url, 'GET')
    expect(answer.statusCode).toBe(204)
    expect(allowed(answer)).toBe('*')
    expect(answer.headers['access-control-allow-methods']).toBe('GET')
    expect(allowed(await test.app.inject({ url, headers: { origin: 'https://anyone.example' } }))).toBe('*')
  })

  it.each(CLOSED)('of %s allows nothing', async (url) => {
    expect(allowed(await ask(url))).toBeUndefined()
  })
})

describe('an answer', () => {
  const answers: Record<string, (origin: string) => ReturnType<typeof getJson>> = {
    'of userinfo': (origin) =>
      getJson(test, '/oauth2/userinfo', { authorization: `Bearer ${access_token}`, origin }),
    'of the token endpoint, also a refusal': (origin) =>
      redeem(test, party, { grant_type: 'authorization_code', code: 'x' }, { origin }),
    'of revocation': (origin) => {
      const authorization = basic(party.client_id, party.client_secret)
      return postForm(test, '/oauth2/revoke', { token: 'x' }, { authorization, origin })
    },
  }

  it.each(Object.entries(answers))('%s can be read where the application is at home', async (_, send) => {
    for (const origin of [OWN, LOCAL]) {
      const answer = await send(origin)
      expect(allowed(answer)).toBe(origin)
      expect(answer.headers.vary).toBe('Origin')
      expect(answer.headers['access-control-expose-headers']).toBe('WWW-Authenticate')
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  it.each(Object.entries(answers))('%s cannot be read elsewhere', async (_, send) => {
    for (const origin of [
      'https://evil.example',
      'https://app.example.evil.example',
      'http://app.example',
      'null',
    ]) {
      const answer = await send(origin)
      expect(allowed(answer)).toBeUndefined()
      expect(answer.headers.vary).toBe('Origin')
    }
  })

  it('of userinfo with a dead token is readable there, with its challenge', async () => {
    const client = await (await makePerson(test)).signIn()
    const tokens = await obtainTokens(test, client, party)
    const authorization = basic(party.client_id, party.client_secret)
    await postForm(test, '/oauth2/revoke', { token: tokens.refresh_token }, { authorization })
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const own = await getJson(test, '/oauth2/userinfo', { ...headers, origin: OWN })
    expect(own.status).toBe(401)
    expect(allowed(own)).toBe(OWN)
    expect(own.headers['www-authenticate']).toContain('invalid_token')
    const foreign = await getJson(test, '/oauth2/userinfo', { ...headers, origin: 'https://evil.example' })
    expect(allowed(foreign)).toBeUndefined()
  })

  it('to nobody in particular can be read nowhere', async () => {
    const unknown = await exchange(test, { ...party, client_secret: 'wrong' }, 'x')
    expect(allowed(unknown)).toBeUndefined()
    expect(allowed(await getJson(test, '/oauth2/userinfo', { origin: OWN }))).toBeUndefined()
    expect(allowed(await getJson(test, authorizationUrl(party), { origin: OWN }))).toBeUndefined()
  })
})
