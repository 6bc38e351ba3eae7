/**
 * Clients that are known by their metadata documents (draft-ietf-oauth-client-id-metadata-document-02; spec/registry 5.1 and 5.2): how a
 * document is fetched, what a valid one says, and what the member reads and allows.
 */
import type { ServerResponse } from 'node:http'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Limits } from '../../src/core/limits.ts'
import { openMetadataClients } from '../../src/identity/metadata/clients.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { anonymise } from '../../src/privacy/anonymise.ts'
import { exportMember } from '../../src/privacy/export.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import {
  type Browser,
  browser,
  type Page,
  setSetting,
  startTestApp,
  type TestApp,
} from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { inOneProcess } from '../harness/one-process.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'
import { type DocumentServer, HOST, ONE_PROCESS, startDocumentServer } from './document-server.ts'
import {
  answerOf,
  authorizationUrl,
  basic,
  exchangePublic,
  getJson,
  makeParty,
  makeVerifier,
  type Party,
  pkce,
  postForm,
  query,
  registerByApi,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const { identity: t, consents, registeredApps } = messages.en

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const TIMEOUT_MS = 1_500
const VERIFIER = 'a-verifier-of-at-least-43-characters-0123456789'

type Client = Pick<Party, 'client_id' | 'redirect_uri'> & { document: Record<string, unknown>; path: string }

describe.skipIf(inOneProcess(ONE_PROCESS))('a client that is known by its document', () => {
  let test: TestApp
  let server: DocumentServer
  let person: Person
  let member: Browser

  /** Forgets all documents, as another process has none. */
  const forget = (timeout_ms = TIMEOUT_MS, limits = test.deps.limits) =>
    Object.assign(
      test.deps.metadataClients,
      openMetadataClients({ ...test.deps, limits }, { resolver: server.dns.resolver, timeout_ms }),
    )

  beforeAll(async () => {
    server = await startDocumentServer()
    test = await startTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
    await setSetting(test, 'client_id_metadata_documents', 'any')
    forget()
    person = await makePerson(test, { name: 'Alice' })
  })
  afterAll(async () => {
    await test.close()
    await server.close()
  })
  beforeEach(async () => {
    // The limits of the last test are over.
    test.clock.advance(HOUR_MS)
    member = await person.signIn()
    server.requests.length = 0
  })

  let count = 0
  /** Publishes the document of a client of its own. */
  function publish(more: Record<string, unknown> = {}, host = HOST): Client {
    count += 1
    const path = `/clients/${count}.json`
    const client_id = server.at(path, host)
    const redirect_uri = server.at('/callback', host)
    const document = { client_id, client_name: 'Reading Agent', redirect_uris: [redirect_uri], ...more }
    server.pages.set(path, document)
    return { client_id, redirect_uri, document, path }
  }
  const change = (client: Client, more: Record<string, unknown>) =>
    server.pages.set(client.path, { ...client.document, ...more })
  const send = (client: Client, write: (response: ServerResponse) => void) =>
    server.pages.set(client.path, write)
  const sendJson = (client: Client, headers: Record<string, string>) =>
    send(client, (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(client.document)),
    )

  const linkOf = (
    client: Pick<Client, 'client_id' | 'redirect_uri'>,
    more: Record<string, string | undefined> = {},
  ) => authorizationUrl(client as Party, { ...pkce(VERIFIER), ...more })
  const ask = (client: Client, more = {}, by = member) => by.get(linkOf(client, more))
  const allow = (page: Page, by = member) => by.submit(page, '/oauth2/consent', { decision: 'allow' })
  async function codeOf(client: Client, more = {}, by = member): Promise<string> {
    const page = await ask(client, more, by)
    const answer = answerOf(page.status === 200 ? await allow(page, by) : page, client.redirect_uri)
    return answer.code!
  }
  const exchange = (client: Client, code: string, more = {}) =>
    exchangePublic(test, client, code, { code_verifier: VERIFIER, ...more })
  const tokensOf = async (client: Client, more = {}, by = member) =>
    (await exchange(client, await codeOf(client, more, by))).body as Record<string, string>
  const refresh = ({ client_id }: Client, refresh_token: string | undefined) =>
    postForm(test, '/oauth2/token', { client_id, grant_type: 'refresh_token', refresh_token })
  const rowOf = async ({ client_id }: Client) => (await rowsOf(test, 'oauth_apps', { client_id }))[0]
  const actsOn = async ({ client_id }: Client) =>
    (await rowsOf(test, 'audit_log', { subject: client_id })).filter(({ action }) =>
      action.startsWith('oauth_client.'),
    )
  const isRefused = (page: Page, status: number, code: string, message: string | RegExp) => {
    expect([page.status, page.location]).toEqual([status, undefined])
    expect(page.body).toContain(`<code>${code}</code>`)
    expect(page.body).toMatch(message)
  }

  describe('while it is switched on', () => {
    it('signs a member in, from the document to a refreshed token', async () => {
      const client = publish({ client_uri: server.at('/about'), logo_uri: server.at('/logo.png') })
      const page = await withoutWriting(test, () => ask(client))
      expect(page.status).toBe(200)
      const host = new URL(client.client_id).host
      expect(page.body).toContain(`<h1><bdi>${t.consent.title(host)}</bdi></h1>`)
      expect(page.body).toContain(consents.callsItself('Reading Agent'))
      expect(page.body).toContain(messages.en.common.unreviewed)
      expect(page.body).toContain(t.consent.unregistered(host))
      expect(page.body).toContain(`href="${server.at('/about')}"`)
      expect(page.body).not.toMatch(/logo\.png|by @/)
      // Without a token of the scope apps it neither lists nor registers applications.
      for (const text of [consents.registerApps, consents.couldRegister, consents.ownApps])
        expect(page.body).not.toContain(text)

      const { code } = answerOf(await allow(page), client.redirect_uri)
      const redirect_uris = [client.redirect_uri]
      expect(await rowOf(client)).toMatchObject({
        ...{ name: host, owner_id: null, document_url: client.client_id, redirect_uris },
        document: { client_name: 'Reading Agent', redirect_uris, homepage: server.at('/about') },
        ...{ token_endpoint_auth_method: 'none', logo_url: null, reviewed_at: null },
      })
      expect(await actsOn(client)).toMatchObject([{ action: 'oauth_client.met', actor_id: person.id }])

      const issued = await exchange(client, code!)
      expect(issued.status).toBe(200)
      const { access_token, refresh_token, id_token } = issued.body as Record<string, string>
      expect(decodeJwt(id_token!)).toMatchObject({ aud: client.client_id, sub: String(person.id) })
      expect((await userinfo(test, access_token)).body.username).toBe(person.username)
      expect((await refresh(client, refresh_token)).status).toBe(200)

      // The consent is remembered, and the document too.
      expect(answerOf(await ask(client), client.redirect_uri).code).toBeTruthy()
      expect(answerOf(await ask(client, { prompt: 'none' }), client.redirect_uri).code).toBeTruthy()
      expect(server.requests).toHaveLength(1)
      const { headers } = server.requests[0]!
      expect(headers).toMatchObject({ accept: 'application/json', host })
      expect(headers.cookie).toBeUndefined()
    })

    it('is fetched for a signed-in member only', async () => {
      const client = publish()
      const visitor = browser(test)
      const first = await visitor.get(linkOf(client))
      expect(first.status).toBe(303)
      expect(first.location).toMatch(/^\/sign-in\?return_to=%2Foauth2%2Fauth/)
      // The page of the sign-in does not know the client yet.
      expect((await visitor.get(first.location!)).status).toBe(200)
      const unknown = await visitor.get(linkOf(client, { prompt: 'none' }))
      isRefused(unknown, 401, 'invalid_client', 'No application')
      expect(server.requests).toEqual([])

      // With the document in memory, visitors get the answers of any other client.
      expect((await ask(client)).status).toBe(200)
      const signIn = await visitor.get((await visitor.get(linkOf(client))).location!)
      expect(signIn.body).toContain(new URL(client.client_id).host)
      expect(signIn.body).not.toContain('Reading Agent')
      const silent = answerOf(await visitor.get(linkOf(client, { prompt: 'none' })), client.redirect_uri)
      expect(silent.error).toBe('login_required')
      expect(server.requests).toHaveLength(1)
    })

    it('tells a silent request that the member must consent first', async () => {
      const client = publish()
      const silent = answerOf(await ask(client, { prompt: 'none' }), client.redirect_uri)
      expect(silent.error).toBe('consent_required')
    })

    it('always needs PKCE and its redirect URI', async () => {
      const client = publish()
      const without = await ask(client, { code_challenge: undefined, code_challenge_method: undefined })
      expect(answerOf(without, client.redirect_uri).error).toBe('invalid_request')
      const nowhere = await ask(client, { redirect_uri: undefined })
      isRefused(nowhere, 400, 'invalid_request', 'redirect_uri is missing')
      const code = await codeOf(client)
      const wrong = await exchange(client, code, { code_verifier: makeVerifier() })
      expect(wrong.body.error).toBe('invalid_grant')
      expect((await exchange(client, code)).status).toBe(200)
    })

    it('asks each time on the member’s own device, whatever the port', async () => {
      const client = publish({ redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'] })
      for (const redirect_uri of ['http://localhost:43127/callback', 'http://127.0.0.1:1/callback']) {
        const local = { ...client, redirect_uri }
        const page = await ask(local)
        expect(page.status).toBe(200)
        expect(page.body).toContain(t.consent.askedEachTime)
        const { code } = answerOf(await allow(page), redirect_uri)
        expect((await exchange(local, code!)).status).toBe(200)
      }
      const other = await ask({ ...client, redirect_uri: 'http://localhost:43127/other' })
      isRefused(other, 400, 'invalid_redirect_uri', 'not in the client metadata document')
    })

    it('never gets codes for devices', async () => {
      const client = publish()
      await codeOf(client)
      const { client_id } = client
      const answer = await postForm(test, '/oauth2/device_authorization', { client_id, scope: 'openid' })
      expect([answer.status, answer.body.error]).toEqual([400, 'unauthorized_client'])
    })

    it('lists and registers applications with the scope apps only', async () => {
      const client = publish()
      const call = async (scope: string) => {
        const { access_token } = await tokensOf(client, { scope, prompt: 'consent' })
        const authorization = `Bearer ${access_token}`
        const made = await registerByApi(test, access_token)
        const listed = await getJson(test, '/api/apps', { authorization })
        return { made, listed }
      }
      const { made, listed } = await call('openid')
      for (const { status, headers, body } of [listed, made]) {
        expect([status, body.error]).toEqual([403, 'insufficient_scope'])
        expect(headers['www-authenticate']).toContain('scope="apps"')
      }
      const asked = await call('openid apps')
      expect([asked.made.status, asked.made.body.status]).toEqual([201, undefined])
      expect(asked.listed.body).toHaveLength(1)
    })

    it('appears in the discovery documents, at most 2 s late', async () => {
      const told = async () =>
        (await getJson(test, '/.well-known/oauth-authorization-server')).body
          .client_id_metadata_document_supported
      expect(await told()).toBe(true)
      await setSetting(test, 'client_id_metadata_documents', 'off')
      expect(await told()).toBeUndefined()
      await setSetting(test, 'client_id_metadata_documents', 'listed')
      expect(await told()).toBe(true)
      await setSetting(test, 'client_id_metadata_documents', 'any')
    })
  })

  describe('its client_id', () => {
    it.each([
      ['without a path', () => server.at(''), 'as browsers write it'],
      ['with a query', () => server.at('/x?a=b'), 'a query or a fragment'],
      ['with an empty query', () => server.at('/x?'), 'a query or a fragment'],
      ['with a fragment', () => server.at('/x#y'), 'a query or a fragment'],
      ['with a user name', () => server.at('/x').replace('//', '//user@'), 'has a user name'],
      ['with an empty user name', () => server.at('/x').replace('//', '//@'), 'as browsers write it'],
      ['with a dot segment', () => server.at('/a/../x'), 'as browsers write it'],
      ['with an encoded dot segment', () => server.at('/a/%2e%2E/x'), 'as browsers write it'],
      ['with a host in capitals', () => server.at('/x').replace(HOST, 'Client.test'), 'as browsers write it'],
      ['with a backslash', () => server.at('/a\\x'), 'as browsers write it'],
      ['with the usual port', () => `https://${HOST}:443/x`, 'as browsers write it'],
      ['with the port of another service', () => `https://${HOST}:25/x`, 'port below 1024'],
      ['at an IPv4 address', () => 'https://127.0.0.1:8443/x', 'an IP address'],
      ['at an IPv6 address', () => 'https://[::1]:8443/x', 'an IP address'],
      ['at a name without a dot', () => 'https://localhost:8443/x', 'a host without a dot'],
      ['at a name with a final dot', () => server.at('/x', `${HOST}.`), 'a host without a dot'],
      ['of 301 characters', () => server.at('/').padEnd(301, 'x'), 'longer than 300'],
    ])('is refused %s', async (_, address, message) => {
      const client_id = address()
      const page = await member.get(linkOf({ client_id, redirect_uri: server.at('/callback') }))
      isRefused(page, 400, 'invalid_client', message)
      expect(server.requests).toEqual([])
      expect(server.dns.questions.filter((question) => !question.endsWith('.test'))).toEqual([])
    })

    it('is taken with 300 characters, and at the root of a host', async () => {
      for (const path of ['/'.padEnd(300 - server.at('').length, 'x'), '/']) {
        const client = publish()
        const client_id = server.at(path)
        server.pages.set(path, { ...client.document, client_id })
        expect((await ask({ ...client, client_id })).status).toBe(200)
      }
    })

    it('has pages for staff and members, though it is an address', async () => {
      const client = publish()
      await codeOf(client)
      const admin = await (await makePerson(test, { is_admin: true })).signIn()
      const found = await admin.get('/admin/apps?status=unregistered')
      const href = `/admin/apps/${encodeURIComponent(client.client_id)}`
      expect(found.body).toContain(`href="${href}"`)
      expect(found.body).toContain(consents.callsItself('Reading Agent'))
      expect((await admin.get('/admin/apps?status=unreviewed')).body).not.toContain(href)
      const page = await admin.get(href)
      expect(page.body).toContain(registeredApps.unregistered)
      expect(page.body).toContain(messages.en.console.acts.names['oauth_client.met']!)
      // Nobody reviews it, and it has no secret.
      for (const act of [registeredApps.mark, registeredApps.reset]) expect(page.body).not.toContain(act)
      const { form_token } = page.form(`${href}/suspend`)
      const marked = await admin.post(`${href}/review`, {
        form_token: form_token!,
        reviewed: 'yes',
        seen: 'x',
      })
      expect(marked.status).toBe(409)
    })
  })

  describe('its document', () => {
    type Write = (response: ServerResponse, client: Client) => void
    const json = { 'content-type': 'application/json' }
    /** Sends a document, by default that of the client, with this status and these headers. */
    const sends =
      (
        status: number,
        headers: Record<string, string>,
        body: (document: object) => unknown = (each) => each,
      ): Write =>
      (response, { document }) =>
        response.writeHead(status, headers).end(JSON.stringify(body(document)))
    const endless: Write = (response) => {
      response.writeHead(200, json)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1024)));
      }
      response.on('drain', more)
      more()
    }
    const notUtf8 = Buffer.from([0x7b, 0xff, 0x7d])
    const large = (document: object) => ({ ...document, x: 'x'.repeat(6 * 1024) })
    const faults: [string, string, Write][] = [
      ['with another status than 200', 'with status 203', sends(203, json)],
      ['that is missing', 'with status 404', (r) => r.writeHead(404).end()],
      ['from a server that fails', 'with status 500', (r) => r.writeHead(500).end()],
      ['as a page', 'not sent as application/json', sends(200, { 'content-type': 'text/html' })],
      ['without a type', 'not sent as application/json', sends(200, {})],
      ['of 6 KiB', 'larger than 5120 bytes', sends(200, json, large)],
      ['of endless length', 'larger than 5120 bytes', endless],
      ['that is not UTF-8', 'is not UTF-8', (r) => r.writeHead(200, json).end(notUtf8)],
      ['that is not JSON', 'must be JSON', (r) => r.writeHead(200, json).end('{')],
      ['that is a list', 'expected object', sends(200, json, (document) => [document])],
      ['whose body is slow', 'could not be fetched in time', (r) => void r.writeHead(200, json).write('{')],
      ['from a server that is silent', 'could not be fetched in time', () => {}],
      ['from a server that hangs up', 'does not answer', (r) => r.destroy()],
    ]
    it.each(faults)('%s is a page, and not kept', async (_, message, write) => {
      const client = publish()
      send(client, (response) => write(response, client))
      isRefused(await withoutWriting(test, () => ask(client)), 400, 'invalid_client', message)
      server.pages.set(client.path, client.document)
      expect((await ask(client)).status).toBe(200)
      expect(server.requests).toHaveLength(2)
    })

    it('is never followed to another address', async () => {
      const [client, target] = [publish(), publish()]
      send(client, (response) => response.writeHead(302, { location: target.client_id }).end())
      isRefused(await ask(client), 400, 'invalid_client', 'with status 302')
      expect(server.requests.map(({ path }) => path)).toEqual([client.path])
    })

    it('is taken with a media type of its own, and with 5 KiB', async () => {
      const client = publish()
      const text = JSON.stringify({ ...client.document, x: '' })
      const padded = JSON.stringify({ ...client.document, x: 'x'.repeat(5 * 1024 - text.length) })
      send(client, (response) =>
        response.writeHead(200, { 'content-type': 'application/client+json; charset=utf-8' }).end(padded),
      )
      expect((await ask(client)).status).toBe(200)
    })

    it('leads to no private address, nor tells whether a name exists inside', async () => {
      server.dns.names.set('inside.test', ['10.0.0.1'])
      for (const host of ['inside.test', 'nowhere.test']) {
        const client = publish({}, host)
        isRefused(await ask(client), 400, 'invalid_client', 'its host has no public address')
      }
      expect(server.requests).toEqual([])
    })

    it('is fetched from the judged address, whatever the name says a moment later', async () => {
      server.dns.questions.length = 0
      server.dns.names.set('rebind.test', () => [server.dns.questions.length <= 2 ? '127.0.0.1' : '10.0.0.1'])
      const client = publish({}, 'rebind.test')
      expect((await ask(client)).status).toBe(200)
      expect(server.dns.questions.toSorted()).toEqual(['A rebind.test', 'AAAA rebind.test'])
      expect(server.requests).toHaveLength(1)
      // The next fetch judges the name again.
      forget()
      isRefused(await ask(client), 400, 'invalid_client', 'its host has no public address')
    })

    it('is refused from a server whose certificate names another host', async () => {
      isRefused(await ask(publish({}, 'unnamed.test')), 400, 'invalid_client', 'certificate or TLS')
      expect(server.requests).toEqual([])
    })

    const MANY = Array.from({ length: 21 }, (_, i) => `https://${HOST}/${i}`)
    const KEY = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }
    const by = (token_endpoint_auth_method: string) => ({ token_endpoint_auth_method })

    it.each<[string, Record<string, unknown>, string]>([
      ['the client_id of another', { client_id: 'https://other.test/x' }, 'client_id: must be the address'],
      ['no client_id', { client_id: undefined }, 'client_id: '],
      ['no name', { client_name: undefined }, 'client_name: '],
      ['an empty name', { client_name: ' ' }, 'client_name: '],
      ['a name of 61 characters', { client_name: 'x'.repeat(61) }, 'client_name: '],
      ['a name that turns text around', { client_name: 'Reading\u202eAgent' }, 'client_name: '],
      ['no redirect URIs', { redirect_uris: [] }, 'redirect_uris: '],
      ['21 redirect URIs', { redirect_uris: MANY }, 'redirect_uris: '],
      ['a redirect URI that runs code', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris.0: '],
      ['a redirect URI without TLS', { redirect_uris: ['http://client.test/'] }, 'redirect_uris.0: '],
      ['a redirect URI with a wildcard', { redirect_uris: ['https://*.client.test/'] }, 'redirect_uris.0: '],
      ['a shared secret', { client_secret: 'x' }, 'client_secret: must not be there'],
      ['the end of a secret', { client_secret_expires_at: 0 }, 'client_secret: must not be there'],
      ['a method with a secret', by('client_secret_basic'), 'token_endpoint_auth_method: must be none'],
      ['a method with a key', by('private_key_jwt'), 'token_endpoint_auth_method: must be none'],
      ['a private key', { jwks: { keys: [{ ...KEY, d: 'd' }] } }, 'jwks: must not hold private keys'],
      ['other grants', { grant_types: ['client_credentials'] }, 'grant_types: must hold authorization_code'],
      ['other response types', { response_types: ['token'] }, 'response_types: must hold code'],
    ])('with %s is a page that says so, and not kept', async (_, more, message) => {
      const client = publish(more)
      isRefused(await withoutWriting(test, () => ask(client)), 400, 'invalid_client', message)
      await ask(client)
      expect(server.requests).toHaveLength(2)
    })

    it('may name grants, response types and public keys', async () => {
      const client = publish({
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        jwks: { keys: [KEY] },
        software_statement: 'x',
      })
      expect((await ask(client)).status).toBe(200)
    })

    it('shows a homepage on its own host only', async () => {
      for (const client_uri of ['https://other.test/', 'javascript:alert(1)', 7]) {
        const page = await ask(publish({ client_uri }))
        expect(page.status).toBe(200)
        expect(page.body).not.toMatch(/other\.test|javascript:alert/)
      }
    })

    it('is escaped where it is shown', async () => {
      const page = await ask(publish({ client_name: '<img src=x onerror=alert(1)>' }))
      expect(page.body).toContain('calls itself “&lt;img src=x')
    })
  })

  describe('its redirect URIs', () => {
    it.each([
      ['at the origin of the document', () => server.at('/elsewhere'), true],
      ['at another port of its host', () => `https://${HOST}/callback`, false],
      ['at another host', () => server.at('/callback', 'other.test'), false],
      ['at a host below', () => `https://sub.${HOST}/callback`, false],
      ['by the loopback', () => 'http://127.0.0.1:8000/callback', true],
      ['by the reversed host as a scheme', () => 'test.client:/callback', true],
      ['by a scheme that begins with it', () => 'test.client.phone:/callback', true],
      ['by a scheme that only looks alike', () => 'test.clientele:/callback', false],
      ['by the scheme of another', () => 'com.example.app:/callback', false],
    ])('%s', async (_, address, isUsable) => {
      const redirect_uri = address()
      const home = server.at('/home')
      const client = { ...publish({ redirect_uris: [home, redirect_uri] }), redirect_uri }
      const page = await ask(client)
      if (isUsable) expect(page.status).toBe(200)
      else isRefused(page, 400, 'invalid_redirect_uri', 'another origin than the document')
      // The others stay usable.
      expect((await ask({ ...client, redirect_uri: home })).status).toBe(200)
    })
  })

  describe('what is kept of it', () => {
    it.each([
      ['for an hour, if its server says nothing', {}, 60],
      ['for the time that its server says', { 'cache-control': 'public, max-age=7200' }, 120],
      ['for 5 minutes at least', { 'cache-control': 'max-age=10' }, 5],
      ['for 5 minutes, if it should not be kept', { 'cache-control': 'no-store' }, 5],
      ['for a day at most', { 'cache-control': 'max-age=99999999' }, 24 * 60],
    ])('lasts %s', async (_, headers, minutes) => {
      const client = publish({ redirect_uris: ['http://localhost/callback'] })
      sendJson(client, headers as Record<string, string>)
      client.redirect_uri = 'http://localhost/callback'
      const { refresh_token } = await tokensOf(client)
      const { fetched_at, fresh_until } = (await rowOf(client))!
      expect(fresh_until!.getTime() - fetched_at!.getTime()).toBe(minutes * MINUTE_MS)
      test.clock.advance(minutes * MINUTE_MS - 1)
      forget()
      expect((await ask(client)).status).toBe(200)
      expect(server.requests).toHaveLength(1)

      // A stale one is fetched again, and ends the request if it cannot be.
      test.clock.advance(1)
      server.pages.delete(client.path)
      isRefused(await ask(client), 400, 'invalid_client', 'with status 404')
      expect(server.requests).toHaveLength(2)
      // Tokens do not need it.
      expect((await refresh(client, refresh_token)).status).toBe(200)
      sendJson(client, {})
      expect((await ask(client)).status).toBe(200)
      expect(server.requests).toHaveLength(3)
      // The same document lasts longer for every process, without another consent.
      expect((await rowOf(client))!.fetched_at).toEqual(test.clock.now())
    })

    it('is allowed again after its name or its addresses have changed', async () => {
      const client = publish()
      const granted = await tokensOf(client, { scope: 'openid email' })
      const changes: Record<string, unknown>[] = [
        { client_name: 'Writing Agent' },
        { client_name: 'Writing Agent', redirect_uris: [client.redirect_uri, 'http://localhost/'] },
      ]
      for (const more of changes) {
        change(client, more)
        test.clock.advance(2 * HOUR_MS)
        const page = await ask(client)
        expect(page.status).toBe(200)
        expect(page.body).toContain(consents.callsItself('Writing Agent'))
        expect(answerOf(await ask(client, { prompt: 'none' }), client.redirect_uri).error).toBe(
          'consent_required',
        )
        // Nothing is written until a member allows it.
        expect((await rowOf(client))!.document).not.toMatchObject(more)
        expect(answerOf(await allow(page), client.redirect_uri).code).toBeTruthy()
        expect((await ask(client)).status).toBe(303)
        // What was allowed of the former one does not count.
        expect((await ask(client, { scope: 'openid email' })).status).toBe(200)
      }
      expect((await actsOn(client)).map(({ action }) => action)).toEqual([
        'oauth_client.met',
        'oauth_client.changed',
        'oauth_client.changed',
      ])
      expect((await actsOn(client))[1]!.detail).toMatchObject({
        before: { client_name: 'Reading Agent' },
        after: { client_name: 'Writing Agent' },
      })
      expect((await refresh(client, granted.refresh_token)).status).toBe(200)

      // Members and addresses that it never had: nobody is asked again.
      change(client, {
        ...changes[1],
        redirect_uris: ['http://localhost/', client.redirect_uri, 'com.example:/x'],
      })
      test.clock.advance(2 * HOUR_MS)
      expect((await ask(client)).status).toBe(303)
    })

    it('is shown again if it changed between the page and the click', async () => {
      const client = publish()
      const page = await ask(client)
      forget()
      change(client, { client_name: 'Writing Agent' })
      const again = await withoutWriting(test, () => allow(page))
      expect(again.status).toBe(200)
      expect(again.body).toContain(consents.callsItself('Writing Agent'))
      expect(answerOf(await allow(again), client.redirect_uri).code).toBeTruthy()
    })

    it('is one row, though two members allow it at once in two processes', async () => {
      const client = publish()
      const others = [await (await makePerson(test)).signIn(), await (await makePerson(test)).signIn()]
      const pages = await Promise.all(others.map((other) => ask(client, {}, other)))
      const answers = await Promise.all(pages.map((page, i) => allow(page, others[i]!)))
      expect(answers.map(({ status }) => status)).toEqual([303, 303])
      expect((await actsOn(client)).map(({ action }) => action)).toEqual(['oauth_client.met'])
    })

    it('ends 90 days after its last use without a consent', async () => {
      const [unused, used, suspended] = [publish(), publish(), publish()]
      for (const client of [unused, used, suspended]) await codeOf(client)
      const admin = await makePerson(test, { is_admin: true })
      await suspend(suspended, await admin.signIn())
      for (const client of [unused, suspended]) await revoke(client)
      test.clock.advance(90 * DAY_MS + 1)
      await deleteExpiredRows(test.deps)
      expect([await rowOf(unused), await rowOf(used), await rowOf(suspended)]).toEqual([
        undefined,
        expect.anything(),
        expect.anything(),
      ])
    })
  })

  async function suspend({ client_id }: Client, admin: Browser) {
    const href = `/admin/apps/${encodeURIComponent(client_id)}`
    const asked = await admin.submit(await admin.get(href), `${href}/suspend`, { reason: 'phishing' })
    const done = await admin.submit(asked, `${href}/suspend`)
    expect([done.status, done.location]).toEqual([303, href])
  }

  async function revoke({ client_id }: Client) {
    const action = `/account/applications/${encodeURIComponent(client_id)}/revoke`
    const asked = await member.submit(await member.get('/account/applications'), action)
    expect((await member.submit(asked, action)).location).toBe('/account/applications')
  }

  describe('for its member', () => {
    it('is listed by its host, exported, and revoked', async () => {
      const client = publish({ client_name: 'Cooking Agent' })
      const { access_token } = await tokensOf(client)
      const page = await member.get('/account/applications')
      expect(page.body).toContain(`<bdi>${new URL(client.client_id).host}</bdi>`)
      expect(page.body).toContain(consents.callsItself('Cooking Agent'))
      let text = ''
      for await (const piece of exportMember(test.deps, person.id)) text += piece
      const exported = JSON.parse(text)
      for (const list of ['authorised_applications', 'application_sign_ins'])
        expect(exported[list]).toContainEqual(expect.objectContaining({ client_id: client.client_id }))
      expect(exported.own_oauth_applications).not.toContainEqual(
        expect.objectContaining({ client_id: client.client_id }),
      )
      await revoke(client)
      expect((await userinfo(test, access_token)).status).toBe(401)
      expect((await ask(client)).status).toBe(200)
    })

    it('is no obstacle to closing the account, and counts for nobody', async () => {
      const client = publish()
      const other = await makePerson(test)
      await codeOf(client, {}, await other.signIn())
      const asked = { actor_id: null, reason: 'asked', ip: null, give_up: 0n }
      await anonymise(test.deps, { user_id: other.id, ...asked })
      expect(await rowsOf(test, 'consents', { user_id: other.id })).toEqual([])
      expect(await rowOf(client)).toBeDefined()
    })
  })

  describe('a suspension', () => {
    it('ends one client_id, and not another of its host', async () => {
      const [bad, good] = [publish(), publish()]
      const tokens = await tokensOf(bad)
      await codeOf(good)
      await suspend(bad, await (await makePerson(test, { is_admin: true })).signIn())
      forget()
      server.requests.length = 0
      const page = await ask(bad)
      expect([page.status, page.location]).toEqual([403, undefined])
      expect(page.body).toContain('suspended')
      expect((await userinfo(test, tokens.access_token)).status).toBe(401)
      expect((await refresh(bad, tokens.refresh_token)).body.error).toBe('invalid_client')
      // Not even its document is fetched.
      test.clock.advance(25 * HOUR_MS)
      member = await person.signIn()
      expect((await ask(bad)).status).toBe(403)
      expect(server.requests).toEqual([])
      expect((await ask(good)).status).toBe(303)
    })
  })

  describe('what the site admits', () => {
    const admit = async (documents: string, hosts = '') => {
      await setSetting(test, 'client_id_metadata_hosts', hosts)
      await setSetting(test, 'client_id_metadata_documents', documents)
    }
    afterAll(() => admit('any'))

    it('is nothing at first: an address is an unknown client, and nothing is fetched', async () => {
      await admit('off')
      const client = publish()
      isRefused(await ask(client), 401, 'invalid_client', 'No application has this client_id')
      isRefused(await browser(test).get(linkOf(client)), 401, 'invalid_client', 'No application')
      expect((await exchange(client, 'x')).body.error).toBe('invalid_client')
      expect(server.requests).toEqual([])
    })

    it('are the listed hosts, each with its port', async () => {
      const [client, other] = [publish(), publish({}, 'other.test')]
      const { host } = new URL(client.client_id)
      await admit('listed', `example.org\n ${host} \n${HOST}`)
      expect((await ask(client)).status).toBe(200)
      isRefused(await ask(other), 401, 'invalid_client', 'No application')
      const unlisted = { ...client, client_id: client.client_id.replace(/:\d+/, ':8443') }
      isRefused(await ask(unlisted), 401, 'invalid_client', 'No application')
      expect(server.requests).toHaveLength(1)
    })

    it('ends in the middle of a sign-in, with all tokens at their next use, and begins again', async () => {
      await admit('any')
      const client = publish()
      const page = await ask(client)
      const tokens = await tokensOf(client)
      const code = await codeOf(client)
      const owner = await makeParty(test, {
        redirect_uris: ['https://service.example/callback'],
        resource_uri: 'https://service.example/mcp',
      })
      const resource = 'https://service.example/mcp'
      const { access_token: token } = await tokensOf(client, { resource, prompt: 'consent' })
      const headers = { authorization: basic(owner.client_id, owner.client_secret) }
      const introspect = async () => (await postForm(test, '/oauth2/introspect', { token }, headers)).body
      expect(await introspect()).toMatchObject({ active: true, client_id: client.client_id, aud: resource })

      for (const end of [() => admit('off'), () => admit('listed', 'other.test')]) {
        await end()
        isRefused(await withoutWriting(test, () => allow(page)), 401, 'invalid_client', 'No application')
        expect((await exchange(client, code)).body.error).toBe('invalid_client')
        expect((await refresh(client, tokens.refresh_token)).body.error).toBe('invalid_client')
        const profile = await userinfo(test, tokens.access_token)
        expect([profile.status, profile.body.error]).toEqual([401, 'invalid_token'])
        expect(await introspect()).toEqual({ active: false })
      }
      // The member sees it, and can revoke it all the while.
      expect((await member.get('/account/applications')).body).toContain('Reading Agent')

      await admit('any')
      expect((await userinfo(test, tokens.access_token)).status).toBe(200)
      expect((await exchange(client, code)).status).toBe(200)
      expect((await refresh(client, tokens.refresh_token)).status).toBe(200)
    })
  })

  describe('the fetches', () => {
    it('are one for each client at a time', async () => {
      const limited = { count: 0, all: Promise.withResolvers<void>() }
      const hit: Limits['hit'] = async (name, key) => {
        await test.deps.limits.hit(name, key)
        if (name !== 'metadata_host') return
        limited.count += 1
        if (limited.count === 3) limited.all.resolve()
        await limited.all.promise
      }
      forget(10_000, { ...test.deps.limits, hit })
      const client = publish()
      const waiting: ServerResponse[] = []
      send(client, (response) => waiting.push(response))
      // Three requests have passed the limits before one of them begins.
      const asking = [1, 2, 3].map(() => ask(client))
      await until(() => waiting.length > 0)
      const late = vi.spyOn(test.deps.metadataClients, 'read')
      asking.push(ask(client))
      await until(() => late.mock.calls.length === 1)
      late.mockRestore()
      waiting[0]!.setHeader('content-type', 'application/json').end(JSON.stringify(client.document))
      for (const { status } of await Promise.all(asking)) expect(status).toBe(200)
      expect([server.requests.length, limited.count]).toEqual([1, 3])
    })

    it('are four at once in a process', async () => {
      forget(10_000)
      const clients = Array.from({ length: 5 }, () => publish())
      const waiting: ServerResponse[] = []
      for (const client of clients.slice(0, 4)) send(client, (response) => waiting.push(response))
      const asking = clients.slice(0, 4).map((client) => ask(client))
      await until(() => waiting.length === 4)
      const refused = await ask(clients[4]!)
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
      for (const response of waiting) response.destroy()
      await Promise.all(asking)
      expect((await ask(clients[4]!)).status).toBe(200)
    })

    it('are ten a minute for one host', async () => {
      for (let i = 0; i < 10; i += 1) expect((await ask(publish())).status).toBe(200)
      const refused = await ask(publish())
      expect(refused.status).toBe(429)
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      expect(server.requests).toHaveLength(10)
      expect((await ask(publish({}, 'other.test'))).status).toBe(200)
      test.clock.advance(MINUTE_MS)
      expect((await ask(publish())).status).toBe(200)
    })

    it('are 30 an hour for one member, by a setting', async () => {
      await setSetting(test, 'limit_metadata_fetches', '2')
      expect((await ask(publish())).status).toBe(200)
      // Failures count, and what is kept does not.
      const missing = publish()
      server.pages.delete(missing.path)
      expect((await ask(missing)).status).toBe(400)
      const client = publish()
      expect((await ask(client)).status).toBe(429)
      const other = await (await makePerson(test)).signIn()
      expect((await ask(client, {}, other)).status).toBe(200)
      expect((await ask(client)).status).toBe(200)
      await setSetting(test, 'limit_metadata_fetches', '30')
    })
  })

  describe('a failure at the token endpoint', () => {
    it('counts for this client_id alone, though others begin alike', async () => {
      const start = `/${'x'.repeat(80)}`
      const clients = ['a', 'b'].map((end) => {
        const client_id = server.at(start + end)
        const client = { ...publish({ client_id }), client_id }
        server.pages.set(start + end, client.document)
        return client
      })
      await setSetting(test, 'limit_token_failures', '2')
      const [one, other] = clients as [Client, Client]
      for (const client of clients) await codeOf(client)
      for (let i = 0; i < 2; i += 1) expect((await exchange(one, 'wrong')).body.error).toBe('invalid_grant')
      expect((await exchange(one, 'wrong')).status).toBe(429)
      expect((await exchange(other, 'wrong')).body.error).toBe('invalid_grant')
      await setSetting(test, 'limit_token_failures', '60')
    })
  })

  it('has rules in the database too', async () => {
    const client = publish()
    await codeOf(client)
    const { id } = (await rowOf(client))!
    const refused = (change: ReturnType<typeof sql>) =>
      expect(sql`update oauth_apps set ${change} where id = ${id}`.execute(test.db)).rejects.toThrow(
        /oauth_apps_/,
      )
    await refused(sql`reviewed_at = now(), reviewed_by = ${person.id}`)
    await refused(sql`owner_id = ${person.id}`)
    await refused(sql`document_url = null`)
    await refused(sql`client_id = 'https://other.test/'`)
    await refused(sql`grant_types = grant_types || '{urn:ietf:params:oauth:grant-type:device_code}'`)
    await refused(sql`token_endpoint_auth_method = 'client_secret_basic'`)
    await refused(sql`is_listed = true`)
    const party = await makeParty(test)
    const taken = setRows(test, 'oauth_apps', { id: party.id }, { client_id: `${client.client_id}x` })
    await expect(taken).rejects.toThrow('oauth_apps_document_url')
  })
})

describe.skipIf(inOneProcess(ONE_PROCESS))('a document that does not come', () => {
  it('holds the places of slow requests only', async () => {
    const server = await startDocumentServer()
    const test = await startTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8', REQUESTS_AT_ONCE_MAX: '16' })
    Object.assign(
      test.deps.metadataClients,
      openMetadataClients(test.deps, { resolver: server.dns.resolver }),
    )
    await setSetting(test, 'client_id_metadata_documents', 'any')
    try {
      const [member, party] = [await (await makePerson(test)).signIn(), await makeParty(test)]
      const link = (path: string) =>
        authorizationUrl({ client_id: server.at(path), redirect_uri: server.at('/callback') } as Party)
      const document = { client_name: 'Reading Agent', redirect_uris: [server.at('/callback')] }
      server.pages.set('/known', { ...document, client_id: server.at('/known') })
      expect((await member.get(link('/known'))).status).toBe(303)
      const stuck: ServerResponse[] = []
      const asked = [1, 2, 3, 4].map((n) => {
        server.pages.set(`/${n}`, (response: ServerResponse) => stuck.push(response))
        return member.get(link(`/${n}`))
      })
      await until(() => stuck.length === 4)
      // One place of four is for slow requests. Another one is refused, at the form of consent too.
      expect((await member.get(link('/known'))).status).toBe(503)
      const form = { query: query({ client_id: server.at('/known') }), decision: 'allow' }
      expect((await member.post('/oauth2/consent', form)).status).toBe(503)
      expect((await member.get(authorizationUrl(party))).status).toBe(200)
      for (const response of stuck) response.destroy()
      for (const { status } of await Promise.all(asked)) expect(status).toBe(400)
      expect((await member.get(link('/known'))).status).toBe(303)
    } finally {
      await test.close()
      await server.close()
    }
  })
})
