/**
 * The cases in which scripts and standards differ, and how the service fulfils both. Each is tried as a client of the one and as
 * a client of the other.
 */
import { expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { HTML, type Page, useTestApp } from '../harness/harness.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  exchange,
  makeParty,
  obtainTokens,
  postForm,
  redeem,
  userinfo,
} from './relying-party.ts'

const JSON_ONLY = { accept: 'application/json' }

const test = await useTestApp()
const party = await makeParty(test)
const client = await (await makePerson(test, { email: 'alice@example.org' })).signIn()

function expectJson({ status, body, headers }: Page, expected: { status: number; error: string }): void {
  expect(status).toBe(expected.status)
  expect(headers['content-type']).toMatch(/^application\/json/)
  const { error, error_description } = JSON.parse(body)
  expect(error).toBe(expected.error)
  expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
}

function expectPage(
  { status, body, headers, location }: Page,
  expected: { status: number; error: string },
): void {
  expect(status).toBe(expected.status)
  expect(location).toBeUndefined()
  expect(headers['content-type']).toMatch(/^text\/html/)
  expect(body).toContain(expected.error)
}

async function isDenied(): Promise<void> {
  const asked = { prompt: 'consent' }
  const deny = async (headers: Record<string, string>) => {
    const page = await client.get(authorizationUrl(party, asked))
    return client.post('/oauth2/consent', { ...page.form('/oauth2/consent'), decision: 'deny' }, headers)
  }
  const inBrowser = answerOf(await deny({}))
  expect(inBrowser).toMatchObject({ error: 'access_denied', state: 'a state', iss: test.url })
  const byScript = await deny(JSON_ONLY)
  expectJson(byScript, { status: 403, error: 'access_denied' })
  const { redirect_to } = JSON.parse(byScript.body)
  expect(Object.fromEntries(new URL(redirect_to).searchParams)).toEqual(inBrowser)
}

async function isUnknownClient(): Promise<void> {
  const expected = { status: 401, error: 'invalid_client' }
  const wrong = await exchange(test, { ...party, client_secret: 'wrong' }, 'x')
  expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  expect(wrong.headers['www-authenticate']).toMatch(/^Basic /)
  const inBody = await postForm(test, '/oauth2/token', { client_id: 'nobody', client_secret: 'x' })
  expect(inBody).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  expect(inBody.headers).not.toHaveProperty('www-authenticate')

  const url = authorizationUrl({ ...party, client_id: '<nobody>' })
  const page = await client.get(url)
  expectPage(page, expected)
  expect(page.headers['www-authenticate']).toMatch(/^Bearer /)
  expect(page.body).not.toContain('<nobody>')
  expectJson(await client.get(url, JSON_ONLY), expected)
}

async function isGrantRefused(): Promise<void> {
  for (const accept of [HTML, '*/*', 'application/json']) {
    const code = await redeem(test, party, { grant_type: 'authorization_code', code: 'x' }, { accept })
    expect(code).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const type = await redeem(test, party, { grant_type: 'password' }, { accept })
    expect(type).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } })
    for (const { headers } of [code, type]) expect(headers['content-type']).toMatch(/^application\/json/)
  }
}

async function hasFourFields(): Promise<void> {
  for (const scope of ['openid', 'profile', 'email', 'offline_access', undefined]) {
    const { access_token } = await obtainTokens(test, client, party, { scope })
    const { status, body } = await userinfo(test, access_token)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      sub: expect.any(String),
      username: expect.any(String),
      email: 'alice@example.org',
      groups: expect.arrayContaining(['trust_level_0']),
    })
  }
}

async function takesBothMethods(): Promise<void> {
  const { client_id, client_secret, redirect_uri } = party
  const grant = async () => ({
    grant_type: 'authorization_code',
    redirect_uri,
    code: (await authorize(client, party)).code,
  })
  const inBody = { client_id, client_secret }
  expect((await redeem(test, party, await grant())).status).toBe(200)
  expect((await postForm(test, '/oauth2/token', { ...(await grant()), ...inBody })).status).toBe(200)
  expect((await redeem(test, party, { ...(await grant()), ...inBody })).status).toBe(200)
  const differing = await redeem(test, party, { ...(await grant()), ...inBody, client_secret: 'other' })
  expect(differing).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
}

async function echoesState(): Promise<void> {
  for (const state of [undefined, ''])
    expect(await authorize(client, party, { state })).not.toHaveProperty('state')
}

it.each<[interfaceSays: string, standardSays: string, holds: () => Promise<void>]>([
  ['access_denied is 403 when the user refuses', 'redirect with error=access_denied', isDenied],
  ['invalid_client is 401', '401, with a challenge if a header was used', isUnknownClient],
  ['invalid_grant and unsupported_grant_type are 400', 'the same, always JSON', isGrantRefused],
  ['userinfo always has sub, username, email, groups', 'the scope decides', hasFourFields],
  ['Basic at the token endpoint', 'Basic and post', takesBothMethods],
  ['state is echoed, if it was sent', 'state is recommended', echoesState],
])('%s — %s', (_interfaceSays, _standardSays, holds) => holds())
