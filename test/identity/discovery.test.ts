/** The discovery documents and the public keys, from which clients configure themselves. spec/sign-in 3.3. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { KEYS_FRESH_SECONDS } from '../../src/identity/keys/keys.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { getJson } from './relying-party.ts'

const ISSUER = 'https://id.example.org'
const ADDRESSES = [
  '/.well-known/openid-configuration',
  '/oauth-provider/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
]

const test = await useTestApp({ PUBLIC_URL: ISSUER })

it('offers prompt create while members may register', async () => {
  const prompts = async () => (await getJson(test, ADDRESSES[0]!)).body.prompt_values_supported
  expect(await prompts()).not.toContain('create')
  await setSetting(test, 'registration', 'open')
  expect(await prompts()).toContain('create')
  await setSetting(test, 'registration', 'closed')
  expect(await prompts()).not.toContain('create')
})

it('the three addresses give one document, of what exists and no more', async () => {
  const documents = await Promise.all(ADDRESSES.map((address) => getJson(test, address)))
  for (const { status, body, headers } of documents) {
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^application\/json/)
    expect(body).toEqual({
      issuer: ISSUER,
      service_documentation: `${ISSUER}/docs/identity`,
      authorization_endpoint: `${ISSUER}/oauth2/auth`,
      token_endpoint: `${ISSUER}/oauth2/token`,
      userinfo_endpoint: `${ISSUER}/oauth2/userinfo`,
      jwks_uri: `${ISSUER}/oauth2/jwks`,
      device_authorization_endpoint: `${ISSUER}/oauth2/device_authorization`,
      revocation_endpoint: `${ISSUER}/oauth2/revoke`,
      introspection_endpoint: `${ISSUER}/oauth2/introspect`,
      end_session_endpoint: `${ISSUER}/oauth2/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      scopes_supported: ['openid', 'profile', 'email', 'groups', 'offline_access', 'apps'],
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      acr_values_supported: ['urn:tessera:acr:1fa', 'urn:tessera:acr:2fa', 'phr'],
      ui_locales_supported: ['en', 'zh-CN'],
      claims_supported: expect.arrayContaining(['sub', 'username', 'groups', 'email', 'acr']),
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
      authorization_response_iss_parameter_supported: true,
    })
  }
})

it('the address does not depend on who asks for it', async () => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  expect((await getJson(test, ADDRESSES[0]!, headers)).body.issuer).toBe(ISSUER)
})

it.each([...ADDRESSES, '/oauth2/jwks'])(
  '%s may be kept for five minutes, by anyone, anywhere',
  async (url) => {
    const { headers } = await getJson(test, url)
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['x-request-id']).toMatch(/^req-/)

    const etag = String(headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await test.app.inject({ url, headers: { 'if-none-match': known } })
      expect(again.statusCode).toBe(304)
      expect(again.body).toBe('')
    }
    const head = await test.app.inject({ method: 'HEAD', url })
    expect(head.statusCode).toBe(200)
    expect(head.headers.etag).toBe(etag)
    expect(head.body).toBe('')
  },
)

it('both stay as they were read last while the database is frozen', async () => {
  const JWKS = '/oauth2/jwks'
  const admitDocuments = () => setSetting(test, 'client_id_metadata_documents', 'any')
  await admitDocuments()
  const [document, keys] = [await getJson(test, ADDRESSES[0]!), await getJson(test, JWKS)]
  expect(document.body).toMatchObject({ client_id_metadata_document_supported: true })
  // What was read is too old to answer from by itself.
  await admitDocuments()
  test.clock.advance(KEYS_FRESH_SECONDS * 1_000)
  await test.db.transaction().execute(async (tx) => {
    await sql`lock table site_settings, signing_keys in access exclusive mode`.execute(tx)
    expect(await getJson(test, ADDRESSES[0]!)).toMatchObject({ status: 200, body: document.body })
    expect(await getJson(test, JWKS)).toMatchObject({ status: 200, body: keys.body })
  })
})
