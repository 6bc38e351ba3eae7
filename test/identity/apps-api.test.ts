/** GET and POST /api/apps: the registry for programs. spec/registry 2.1 and 2.2. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { type Answer, exchange, getJson, makeParty, obtainTokens, withoutWriting } from './relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)

const VALID = {
  name: 'Reading Club',
  description: 'Books',
  redirect_uris: ['https://books.example/callback'],
  allow_groups: ['trust_level_1'],
  deny_groups: [],
}

async function tokenOf(person: Person, scope = 'openid'): Promise<string> {
  return (await obtainTokens(test, await person.signIn(), party, { scope })).access_token
}

async function freshToken(values = {}): Promise<{ person: Person; token: string }> {
  const person = await makePerson(test, values)
  return { person, token: await tokenOf(person) }
}

async function register(
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await test.app.inject({
    method: 'POST',
    url: '/api/apps',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.statusCode, body: response.json(), headers: response.headers }
}

async function list(token: string, query = ''): Promise<{ status: number; body: Record<string, unknown>[] }> {
  const answer = await getJson(test, `/api/apps${query}`, { authorization: `Bearer ${token}` })
  return { status: answer.status, body: answer.body as unknown as Record<string, unknown>[] }
}

describe('POST /api/apps', () => {
  it('registers an application and tells its secret this once', async () => {
    const { token, person } = await freshToken()
    const answer = await register(token, VALID)
    expect(answer.status).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.body).toEqual({
      client_id: expect.stringMatching(/^[a-z0-9]{24}$/),
      client_secret: expect.stringMatching(/^[A-Za-z0-9]{48}$/),
      ...VALID,
      post_logout_redirect_uris: [],
      id_token_signed_response_alg: 'RS256',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
      resource_uri: null,
      backchannel_logout_uri: null,
      backchannel_logout_session_required: false,
      status: 'unconfirmed',
      confirm_url: `${test.deps.config.PUBLIC_URL}/apps`,
    })

    const { client_id, client_secret } = answer.body as { client_id: string; client_secret: string }
    const { id, owner_id } = await rowOf(test, 'oauth_apps', { client_id })
    expect(owner_id).toBe(person.id)
    const secret_hash = createHash('sha256').update(client_secret).digest()
    expect(await rowsOf(test, 'app_secrets', { app_id: id })).toMatchObject([{ secret_hash }])
    expect(await rowsOf(test, 'audit_log', { subject: client_id })).toMatchObject([
      { action: 'oauth_app.registered_unconfirmed', actor_id: person.id, ip: '127.0.0.1' },
    ])

    const { status, body } = await list(token)
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain(client_secret)
  })

  it('registers its way of speaking the protocol, and public ones without secret', async () => {
    const { token } = await freshToken()
    const said = {
      post_logout_redirect_uris: ['https://books.example/bye?a=b'],
      id_token_signed_response_alg: 'ES256',
      token_endpoint_auth_method: 'none',
    }
    const answer = await register(token, { ...VALID, ...said })
    expect(answer).toMatchObject({ status: 201, body: said })
    expect(answer.body).not.toHaveProperty('client_secret')

    const faulty = { ...VALID, post_logout_redirect_uris: ['http://evil.example/'] }
    const refused = await withoutWriting(test, () => register(token, faulty))
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } })
    for (const [name, value] of Object.entries({ ...said, post_logout_redirect_uris: 7 })) {
      const wrong = { ...VALID, [name]: typeof value === 'string' ? 'HS256' : value }
      const { status, body } = await withoutWriting(test, () => register(token, wrong))
      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'invalid_request', errors: [{ path: name }] })
    }
  })

  it('needs name and address, drops repeats, ignores unknown fields', async () => {
    const { token } = await freshToken()
    const answer = await register(token, {
      name: '  Short  ',
      redirect_uris: ['https://a.example/', 'https://a.example/', 'http://[::1]:8080/cb'],
      deny_groups: ['Staff', 'staff', ' crew '],
      client_id: 'chosen',
      owner_id: 1,
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Short',
      description: '',
      redirect_uris: ['https://a.example/', 'http://[::1]:8080/cb'],
      allow_groups: [],
    })
    expect(answer.body.deny_groups).toHaveLength(2)
    expect(answer.body.client_id).not.toBe('chosen')
  })

  it('names every fault', async () => {
    const { token } = await freshToken()
    const answer = await withoutWriting(test, () =>
      register(token, {
        name: '',
        description: 'x'.repeat(501),
        redirect_uris: ['https://fine.example/', 'http://evil.example/', 7],
        allow_groups: ['x'.repeat(101)],
        deny_groups: 'staff',
      }),
    )
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('invalid_redirect_uri')
    const errors = answer.body.errors as { path: string; message: string }[]
    expect(errors.map((fault) => fault.path).sort()).toEqual([
      'allow_groups.0',
      'deny_groups',
      'description',
      'name',
      'redirect_uris.1',
      'redirect_uris.2',
    ])
    for (const { message } of errors) expect(message).toBeTruthy()
    expect(answer.body.error_description).toContain('redirect_uris.1: must be https')
  })

  it.each([
    ['a name of 61 characters', { name: 'x'.repeat(61) }, 'invalid_request'],
    ['a name of spaces', { name: '   ' }, 'invalid_request'],
    ['a description that reverses what follows', { description: 'moc.knab\u202e' }, 'invalid_request'],
    ['a name that reverses what follows', { name: 'moc.knab\u202e' }, 'invalid_request'],
    ['no name', { name: undefined }, 'invalid_request'],
    ['a name that is a number', { name: 7 }, 'invalid_request'],
    ['no address', { redirect_uris: undefined }, 'invalid_request'],
    ['an empty list of addresses', { redirect_uris: [] }, 'invalid_request'],
    [
      '21 addresses',
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) },
      'invalid_request',
    ],
    ['51 groups', { allow_groups: Array.from({ length: 51 }, (_, n) => `g${n}`) }, 'invalid_request'],
    ['an empty group', { allow_groups: [''] }, 'invalid_request'],
    [
      'an address of 2001 characters',
      { redirect_uris: [`https://a.example/${'x'.repeat(1_983)}`] },
      'invalid_redirect_uri',
    ],
  ])('refuses %s', async (_, wrong, error) => {
    const { token } = await freshToken()
    const answer = await withoutWriting(test, () => register(token, { ...VALID, ...wrong }))
    expect(answer).toMatchObject({ status: 400, body: { error, errors: [expect.anything()] } })
  })

  it.each(['[]', 'null', '"text"', '{', '', '{"name":"\\ud800"}', '{"name":"\\u0000"}'])(
    'refuses %s as a body',
    async (body) => {
      const { token } = await freshToken()
      const answer = await withoutWriting(test, () => register(token, body))
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    },
  )

  it('refuses another type, and more than 64 KiB, in the same shape', async () => {
    const { token } = await freshToken()
    const form = await register(token, 'name=x', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(form).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const xml = await register(token, '<a/>', { 'content-type': 'application/xml' })
    expect(xml).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    const large = await register(token, { ...VALID, description: 'x'.repeat(70_000) })
    expect(large).toMatchObject({ status: 413, body: { error: 'invalid_request' } })
  })

  it('needs a live access token, and no cookie will do', async () => {
    for (const token of [undefined, 'nothing']) {
      const answer = await withoutWriting(test, () => register(token, VALID))
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
    }
    const client = await (await makePerson(test)).signIn()
    const cookie = cookieHeader(client)
    expect((await register(undefined, VALID, { cookie })).status).toBe(401)
  })

  it('is not for trust levels below the setting', async () => {
    await setSetting(test, 'apps_min_trust_level', '2')
    const attempt = async (trust_level: number) => register((await freshToken({ trust_level })).token, VALID)
    expect(await attempt(1)).toMatchObject({ status: 403, body: { error: 'access_denied' } })
    expect((await attempt(2)).status).toBe(201)
    await setSetting(test, 'apps_min_trust_level', '0')
  })
})

describe('GET /api/apps', () => {
  it('lists the caller’s own, newest first', async () => {
    const { token, person } = await freshToken()
    expect(await list(token)).toEqual({ status: 200, body: [] })
    await register(token, { ...VALID, name: 'First' })
    const { body: second } = await register(token, { ...VALID, name: 'Second' })
    const { body } = await list(token)
    expect(body.map((app) => app.name)).toEqual(['Second', 'First'])
    expect(body[0]).toEqual({
      client_id: second.client_id,
      name: 'Second',
      description: 'Books',
      owner_username: person.username,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      redirect_uris: VALID.redirect_uris,
      allow_groups: VALID.allow_groups,
      deny_groups: VALID.deny_groups,
    })
    const mallory = await freshToken()
    expect((await list(mallory.token)).body).toEqual([])
  })

  it('owner=all is for administrators, by session or with the scope apps', async () => {
    const member = await freshToken()
    const denied = await list(member.token, '?owner=all')
    expect(denied).toMatchObject({ status: 403, body: { error: 'access_denied' } })

    const admin = await makePerson(test, { is_admin: true })
    const narrow = await list(await tokenOf(admin), '?owner=all')
    expect(narrow).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
    const wide = await list(await tokenOf(admin, 'openid apps'), '?owner=all')
    expect(wide.status).toBe(200)
    expect(wide.body.map((app) => app.client_id)).toContain(party.client_id)

    const client = await admin.signIn()
    const page = await client.get('/api/apps?owner=all')
    expect(page.status).toBe(200)
    expect(JSON.parse(page.body)).toEqual(wide.body)
  })

  it('takes no other owner', async () => {
    const { token } = await freshToken()
    expect(await list(token, '?owner=bob')).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect((await list(token, '?owner=')).status).toBe(200)
    expect((await list(token, '?foo=bar')).status).toBe(200)
  })

  it('answers a live session, and sends other browsers to sign in', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    expect((await client.get('/api/apps')).status).toBe(200)
    const signedOut = await client.get('/api/apps', { cookie: '' })
    expect(signedOut.status).toBe(302)
    expect(signedOut.location).toBe('/sign-in?return_to=%2Fapi%2Fapps')
    const once = await (await makePerson(test, { must_change_password: true })).signIn()
    expect((await once.get('/api/apps')).location).toMatch(/^\/account\/password/)
  })

  it('tells a program without token so, and sets no cookie', async () => {
    const answer = await getJson(test, '/api/apps')
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
    const { token } = await freshToken()
    const listed = await getJson(test, '/api/apps', { authorization: `Bearer ${token}` })
    expect(listed.headers['set-cookie']).toBeUndefined()
    expect(listed.headers['cache-control']).toBe('no-store')
  })

  it('a bad token is not made up for by a session', async () => {
    const client = await (await makePerson(test)).signIn()
    const page = await client.get('/api/apps', { authorization: 'Bearer nothing' })
    expect(page.status).toBe(401)
  })
})

it('an application cannot be registered by its own credentials', async () => {
  const answer = await withoutWriting(test, () => register(party.client_secret, VALID))
  expect(answer.status).toBe(401)
  expect((await exchange(test, party, 'x')).body.error).toBe('invalid_grant')
})
