/**
 * Tokens for another application's service (RFC 8707), and the document about our own resource (RFC 9728).
 * spec/registry 6.1.
 */
import { describe, expect, it } from 'vitest'
import { getApp, markReviewed, reviewedVersion } from '../../src/identity/apps/acts.ts'
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import { makePerson } from '../harness/cast.ts'
import { startTestApp, type TestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { makeOwnedApp } from './owned-app.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  basic,
  claimsOf,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  type Party,
  postForm,
  redeem,
  refresh,
  registerByApi,
  suspendApp,
  userinfo,
} from './relying-party.ts'

const t = messages.en.identity

const SERVICE = 'https://tools.example/mcp'

/** Asks for tokens. */
/** Takes them. */

const test = await useTestApp()
const agent = await makeParty(test, { name: 'Agent', grant_types: [...GRANT_TYPES] })
const tools = await makeParty(test, {
  name: 'Tool Shed',
  redirect_uris: ['https://tools.example/callback'],
  resource_uri: SERVICE,
})
const person = await makePerson(test)

async function tokensFor(resource: string | undefined, more: Record<string, string> = {}) {
  return obtainTokens(test, await person.signIn(), agent, { resource, ...more })
}

async function introspect({ client_id, client_secret }: Party, token: unknown) {
  const headers = { authorization: basic(client_id, client_secret) }
  return (await postForm(test, '/oauth2/introspect', { token: String(token) }, headers)).body
}

/** The error that an authorization request brings back to the application. */
async function errorFor(query: string) {
  const client = await person.signIn()
  return answerOf(await client.get(authorizationUrl(agent) + query)).error
}

describe('a token for the service of another application', () => {
  it('works nowhere here, and is read by that application and its client alone', async () => {
    const { access_token, refresh_token, id_token } = await tokensFor(SERVICE)
    expect(await userinfo(test, access_token)).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    })
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await getJson(test, '/api/apps', headers)).status).toBe(401)
    const read = {
      active: true,
      aud: SERVICE,
      client_id: agent.client_id,
      sub: String(person.id),
      username: person.username,
      scope: 'openid profile',
      acr: 'urn:tessera:acr:1fa',
      auth_time: Math.floor(test.clock.now().getTime() / 1000),
    }
    expect(await introspect(tools, access_token)).toMatchObject(read)
    expect(await introspect(agent, access_token)).toMatchObject(read)
    expect(await introspect(await makeParty(test), access_token)).toEqual({ active: false })
    // The refresh token and the ID token belong to the client.
    expect(await introspect(tools, refresh_token)).toEqual({ active: false })
    const claims = claimsOf(id_token)
    expect(claims.aud).toBe(agent.client_id)
  })

  it('is refreshed into another one for the same service', async () => {
    const { refresh_token } = await tokensFor(SERVICE)
    const { body } = await refresh(test, agent, refresh_token)
    expect((await userinfo(test, body.access_token)).status).toBe(401)
    expect(await introspect(tools, body.access_token)).toMatchObject({ active: true, aud: SERVICE })
  })

  it('ends with its application', async () => {
    const gone = await makeParty(test, { resource_uri: 'https://app.example/gone' })
    const tokens = await tokensFor('https://app.example/gone')
    expect(await introspect(agent, tokens.access_token)).toMatchObject({ active: true })
    await test.db.deleteFrom('oauth_apps').where('id', '=', gone.id).execute()
    expect(await introspect(agent, tokens.access_token)).toEqual({ active: false })
    expect((await refresh(test, agent, tokens.refresh_token)).status).toBe(400)
  })

  it('of a suspended client is not active', async () => {
    const client = await makeParty(test)
    const tokens = await obtainTokens(test, await person.signIn(), client, { resource: SERVICE })
    await suspendApp(test, client)
    expect(await introspect(tools, tokens.access_token)).toEqual({ active: false })
  })

  it('is asked for by name on the consent page, once', async () => {
    const client = await (await makePerson(test)).signIn()
    await authorize(client, agent)
    const page = await client.get(authorizationUrl(agent, { resource: SERVICE }))
    expect(page.status).toBe(200)
    expect(page.body).toContain(t.consent.useAt('Tool Shed', 'tools.example'))
    await client.submit(page, '/oauth2/consent', { decision: 'allow' })
    expect((await client.get(authorizationUrl(agent, { resource: SERVICE }))).status).toBe(303)
    expect((await client.get(authorizationUrl(agent))).status).toBe(303)
    await makeParty(test, { resource_uri: 'https://app.example/second' })
    const other = await client.get(authorizationUrl(agent, { resource: 'https://app.example/second' }))
    expect(other.status).toBe(200)
  })

  it('is obtained by a device too', async () => {
    const { client_id, client_secret } = agent
    const asked = { client_id, client_secret, resource: SERVICE }
    const { device_code, user_code } = (await postForm(test, '/oauth2/device_authorization', asked)).body
    const client = await person.signIn()
    const page = await client.submit(await client.get('/device'), '/device', { user_code: String(user_code) })
    expect(page.body).toContain(t.consent.useAt('Tool Shed', 'tools.example'))
    await client.submit(page, '/device/decision', { decision: 'allow' })
    const fields = { grant_type: DEVICE_GRANT, device_code: String(device_code) }
    const changed = await redeem(test, agent, { ...fields, resource: 'https://issuer.example' })
    expect(changed.body.error).toBe('invalid_target')
    const { body } = await redeem(test, agent, { ...fields, resource: SERVICE })
    expect(await introspect(tools, body.access_token)).toMatchObject({ active: true, aud: SERVICE })
    const unknown = { ...asked, resource: 'https://unknown.example' }
    expect((await postForm(test, '/oauth2/device_authorization', unknown)).body.error).toBe('invalid_target')
  })
})

describe('the parameter resource', () => {
  it('that names us asks for nothing new', async () => {
    const { PUBLIC_URL } = test.deps.config
    for (const resource of [PUBLIC_URL, `${PUBLIC_URL}/`, `${PUBLIC_URL}/oauth2/userinfo`]) {
      const tokens = await tokensFor(resource)
      expect((await userinfo(test, tokens.access_token)).status).toBe(200)
      expect(await introspect(agent, tokens.access_token)).not.toHaveProperty('aud')
    }
  })

  it('malformed, unknown or repeated is invalid_target', async () => {
    const long = `https://tools.example/${'x'.repeat(300)}`
    for (const resource of [
      'tools',
      '/mcp',
      `${SERVICE}#part`,
      long,
      `${SERVICE}/other`,
      'https://x.example',
    ])
      expect(await errorFor(`&resource=${encodeURIComponent(resource)}`)).toBe('invalid_target')
    expect(await errorFor(`&resource=${SERVICE}&resource=${SERVICE}`)).toBe('invalid_target')
    const { client_id, client_secret } = agent
    const twice = `grant_type=refresh_token&refresh_token=x&client_id=${client_id}&client_secret=${client_secret}`
    const answer = await postForm(test, '/oauth2/token', `${twice}&resource=${SERVICE}&resource=${SERVICE}`)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
  })

  it('of a suspended application is unknown', async () => {
    const idle = await makeParty(test, { resource_uri: 'https://app.example/idle' })
    await suspendApp(test, idle)
    expect(await errorFor('&resource=https://app.example/idle')).toBe('invalid_target')
  })

  it('may be repeated in the token request, and not changed, which spends nothing', async () => {
    const { PUBLIC_URL } = test.deps.config
    const { code } = await authorize(await person.signIn(), agent, { resource: SERVICE })
    for (const resource of [PUBLIC_URL, 'https://unknown.example'])
      expect((await exchange(test, agent, code, { resource })).body.error).toBe('invalid_target')
    const first = await exchange(test, agent, code, { resource: SERVICE })
    expect(first.status).toBe(200)
    const { refresh_token } = first.body
    expect((await refresh(test, agent, refresh_token, { resource: PUBLIC_URL })).body.error).toBe(
      'invalid_target',
    )
    expect((await refresh(test, agent, refresh_token, { resource: SERVICE })).status).toBe(200)

    const plain = await tokensFor(undefined)
    const widened = await refresh(test, agent, plain.refresh_token, { resource: SERVICE })
    expect(widened.body.error).toBe('invalid_target')
    expect((await refresh(test, agent, plain.refresh_token, { resource: PUBLIC_URL })).status).toBe(200)
  })
})

describe('the address of a service', () => {
  const register = async (values: Record<string, unknown>) =>
    registerByApi(test, (await tokensFor(undefined)).access_token, values)

  it('is at the host of a redirect URI, of an application with a secret, and nobody else’s', async () => {
    const taken = { redirect_uris: ['https://tools.example/x'], resource_uri: SERVICE }
    const faulty = [
      { resource_uri: 'https://other.example/' },
      { resource_uri: 'https://x.example/#a' },
      { resource_uri: 'x.example' },
      { resource_uri: `https://x.example/${'x'.repeat(300)}` },
      { resource_uri: 'https://x.example/', token_endpoint_auth_method: 'none' },
      taken,
    ]
    for (const values of faulty)
      expect(await register(values)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await register({ resource_uri: 'https://x.example/' })).toMatchObject({
      status: 201,
      body: { resource_uri: 'https://x.example' },
    })
  })

  it('is known after a review only, and a stranger’s registration blocks nobody', async () => {
    const resource_uri = 'https://x.example/api'
    const admin = await makePerson(test, { username: 'admin', is_admin: true })
    const registered = async () => {
      const fields = { redirect_uris: ['https://x.example/cb'], resource_uri }
      const { status, body } = await register(fields)
      expect(status).toBe(201)
      return String(body.client_id)
    }
    const review = async (client_id: string, isReviewed = true) => {
      const seen = reviewedVersion(await getApp(test.db, { client_id }))
      const by = { actor_id: admin.id, ip: '203.0.113.7', now: test.clock.now() }
      return markReviewed(test.db, { client_id, isReviewed, seen, ...by })
    }
    const [stranger, owner] = [await registered(), await registered()]
    expect(await errorFor(`&resource=${resource_uri}`)).toBe('invalid_target')
    await review(owner)
    const tokens = await tokensFor(resource_uri)
    expect(await introspect(agent, tokens.access_token)).toMatchObject({ aud: resource_uri })
    await expect(review(stranger)).rejects.toMatchObject({ code: 'conflict' })
    expect((await register({ redirect_uris: ['https://x.example/cb'], resource_uri })).status).toBe(400)

    await review(owner, false)
    expect(await errorFor(`&resource=${resource_uri}`)).toBe('invalid_target')
    await review(stranger)
    expect((await tokensFor(resource_uri)).access_token).toBeTruthy()
  })

  it('stays known while its application changes, until it changes itself', async () => {
    const resource_uri = 'https://kept.example/api'
    const redirect_uris = ['https://kept.example/cb']
    const { client, settings } = await makeOwnedApp(test, { redirect_uris, resource_uri })
    const fields = { name: 'Kept', redirect_uris: redirect_uris.join('\n') }
    const save = async (uri: string) =>
      client.submit(await client.get(settings), settings, { ...fields, resource_uri: uri })
    expect((await save(resource_uri)).status).toBe(303)
    expect((await tokensFor(resource_uri)).access_token).toBeTruthy()
    expect((await save(`${resource_uri}/2`)).status).toBe(303)
    for (const uri of [resource_uri, `${resource_uri}/2`])
      expect(await errorFor(`&resource=${uri}`)).toBe('invalid_target')
  })

  it('is https in production, and in development http on the loopback too', async () => {
    const uri = 'http://127.0.0.1:8080/mcp'
    const production = await startTestApp({ PUBLIC_URL: 'https://id.example.org' })
    const register = async (site: TestApp) => {
      const member = await (await makePerson(site)).signIn()
      const { access_token } = await obtainTokens(site, member, await makeParty(site))
      const fields = { redirect_uris: ['http://127.0.0.1:8080/callback'], resource_uri: uri }
      const { status, body } = await registerByApi(site, access_token, fields)
      return [status, body.error]
    }
    expect(await register(test)).toEqual([201, undefined])
    expect(await register(production)).toEqual([400, 'invalid_request'])

    const owner = await makePerson(production)
    const client = await owner.signIn()
    const fields = { name: 'Shed', redirect_uris: 'http://127.0.0.1:8080/callback', resource_uri: uri }
    const page = await client.submit(await client.get('/apps'), '/apps', fields)
    expect([page.status, page.body.includes(t.apps.problems.resource_uri)]).toEqual([400, true])
    // One that was registered before is no longer known.
    await makeParty(production, { redirect_uris: ['http://127.0.0.1:8080/x'], resource_uri: uri })
    const asking = await makeParty(production)
    const answer = answerOf(await client.get(authorizationUrl(asking, { resource: uri })))
    expect(answer.error).toBe('invalid_target')
    await production.close()
  })

  it('is set on the page of the application, which says when it is another one’s', async () => {
    const { client, settings } = await makeOwnedApp(test, {
      redirect_uris: ['https://tools.example/callback'],
    })
    const fields = { name: 'Shed', redirect_uris: 'https://tools.example/callback' }
    const save = async (resource_uri: string) =>
      client.submit(await client.get(settings), settings, { ...fields, resource_uri })
    for (const resource_uri of [SERVICE, 'https://other.example/']) {
      const page = await save(resource_uri)
      expect(page.status).toBe(400)
      expect(page.body).toContain(t.apps.problems.resource_uri)
    }
    expect((await save('https://tools.example/own')).status).toBe(303)
    expect((await client.get(settings)).body).toContain('value="https://tools.example/own"')
    const created = await client.submit(await client.get('/apps'), '/apps', {
      ...fields,
      resource_uri: SERVICE,
    })
    expect(created.status).toBe(400)
  })
})

it('describes our own resource, and names the description in each challenge', async () => {
  const { PUBLIC_URL } = test.deps.config
  const path = '/.well-known/oauth-protected-resource'
  const { status, body, headers } = await getJson(test, path)
  expect(status).toBe(200)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(body).toEqual({
    resource: PUBLIC_URL,
    authorization_servers: [PUBLIC_URL],
    scopes_supported: ['openid', 'profile', 'email', 'groups', 'apps'],
    bearer_methods_supported: ['header'],
    resource_documentation: `${PUBLIC_URL}/docs/identity`,
  })
  for (const refused of [
    await userinfo(test, 'x'),
    await getJson(test, '/oauth2/userinfo'),
    await getJson(test, '/api/apps', { accept: 'application/json' }),
    await postForm(test, '/oauth2/userinfo', { access_token: 'x' }),
  ]) {
    expect(refused.status).toBe(401)
    const challenge = String(refused.headers['www-authenticate'])
    expect(challenge).toMatch(/^Bearer realm="Tessera"/)
    expect(challenge).toContain(`, resource_metadata="${PUBLIC_URL}${path}"`)
  }
  const basicOne = await exchange(test, { ...agent, client_secret: 'wrong' }, 'x')
  expect(String(basicOne.headers['www-authenticate'])).not.toContain('resource_metadata')
})
