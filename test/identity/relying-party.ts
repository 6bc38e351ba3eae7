/** An application's server, as Tessera sees it: it sends people to sign in, and redeems their codes. */
import { createHash, randomBytes } from 'node:crypto'
import { sql, type Updateable } from 'kysely'
import type { Tables } from '../../src/database/tables.ts'
import { type NewApp, registerApp } from '../../src/identity/apps/apps.ts'
import { storeMetadataClient } from '../../src/identity/metadata/clients.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import type { Browser, Page, TestApp } from '../harness/harness.ts'

export const REDIRECT_URI = 'https://app.example/callback'

export type Party = {
  id: bigint
  client_id: string
  client_secret: string
  redirect_uri: string
  owner: string
}

type Rules = Partial<Omit<NewApp, 'owner_id' | 'ip'>>

/** Registers an application of a member, by default of a new one. */
export async function makeParty(test: TestApp, rules: Rules = {}, by?: Person): Promise<Party> {
  const owner = by ?? (await makePerson(test, { username: 'bob' }))
  const redirect_uris = rules.redirect_uris ?? [REDIRECT_URI]
  const app = await registerApp(test.db, {
    owner_id: owner.id,
    name: 'Reading Club',
    description: 'Books, every Thursday',
    allow_groups: [],
    deny_groups: [],
    ...rules,
    redirect_uris,
  })
  // As if the staff had reviewed it, because an unreviewed resource is unknown.
  if (rules.resource_uri) await changeApp(test, app, { reviewed_resource_uri: rules.resource_uri })
  return { client_secret: '', ...app, redirect_uri: redirect_uris[0]!, owner: owner.username }
}

/** Changes columns of an application, as no act of its owner does. */
export async function changeApp(
  test: TestApp,
  { id }: Pick<Party, 'id'>,
  values: Updateable<Tables['oauth_apps']>,
): Promise<void> {
  await test.db.updateTable('oauth_apps').set(values).where('id', '=', id).execute()
}

/** Suspends an application as its own owner would not. */
export const suspendApp = (test: TestApp, { id }: Pick<Party, 'id'>): Promise<void> =>
  changeApp(test, { id }, { suspended_at: test.clock.now(), suspended_by: 1n, suspended_reason: 'test' })

/** Stores a client that is known by a fresh document at this origin, as if a member had allowed it. */
export async function storeDocumentClient(
  test: TestApp,
  { id: user_id }: Pick<Person, 'id'>,
  { origin = 'https://agent.example', client_name = 'Reading Agent' } = {},
): Promise<Pick<Party, 'client_id' | 'redirect_uri'>> {
  const client = { client_id: `${origin}/client.json`, redirect_uri: `${origin}/callback` }
  const document = { client_name, redirect_uris: [client.redirect_uri], homepage: `${origin}/` }
  const now = test.clock.now()
  const times = { fetched_at: now, fresh_until: new Date(now.getTime() + 86_400_000), now }
  const meeting = { client_id: client.client_id, document, user_id, ip: '127.0.0.1', ...times }
  await test.db.transaction().execute((tx) => storeMetadataClient(tx, meeting))
  return client
}

type Parameters = Record<string, string | undefined>

export function query(parameters: Parameters): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given as [string, string][]).toString()
}

/** The address to which the application sends a person. An undefined parameter is left out. */
export function authorizationUrl(party: Party, parameters: Parameters = {}, path = '/oauth2/auth'): string {
  const usual = {
    response_type: 'code',
    client_id: party.client_id,
    redirect_uri: party.redirect_uri,
    scope: 'openid profile',
    state: 'a state',
  }
  return `${path}?${query({ ...usual, ...parameters })}`
}

/** The answer to the application. Throws when the page is no redirect to it. */
export function answerOf(page: Page, redirect_uri = REDIRECT_URI): Record<string, string> {
  if (page.status !== 303 || !page.location?.startsWith(redirect_uri)) {
    throw new Error(`Not sent back: ${page.status} ${page.location} ${page.body.slice(0, 300)}`)
  }
  return Object.fromEntries(new URL(page.location).searchParams)
}

/** A signed-in person follows the application's link, and allows it if the page asks. */
export async function authorize(
  client: Browser,
  party: Party,
  parameters: Parameters = {},
): Promise<Record<string, string>> {
  const page = await client.get(authorizationUrl(party, parameters))
  if (page.status !== 200) return answerOf(page, party.redirect_uri)
  return answerOf(await client.submit(page, '/oauth2/consent', { decision: 'allow' }), party.redirect_uri)
}

export type Answer = { status: number; body: Record<string, unknown>; headers: Record<string, unknown> }

export function basic(client_id: string, client_secret: string): string {
  return `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
}

/** Posts a form as a program. */
export async function postForm(
  test: TestApp,
  url: string,
  fields: Parameters | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await test.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: typeof fields === 'string' ? fields : query(fields),
  })
  return { status: response.statusCode, body: json(response.body), headers: response.headers }
}

export async function getJson(
  test: TestApp,
  url: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await test.app.inject({ method: 'GET', url, headers })
  return { status: response.statusCode, body: json(response.body), headers: response.headers }
}

function json(text: string): Record<string, unknown> {
  return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : { text }
}

/** Sends a request to the token endpoint, by default with the application's own credentials. */
export function redeem(
  test: TestApp,
  party: Party,
  fields: Parameters,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = basic(party.client_id, party.client_secret)
  return postForm(test, '/oauth2/token', fields, { authorization, ...headers })
}

export function exchange(test: TestApp, party: Party, code: string | undefined, more: Parameters = {}) {
  const { redirect_uri } = party
  return redeem(test, party, { grant_type: 'authorization_code', code, redirect_uri, ...more })
}

export function refresh(test: TestApp, party: Party, refresh_token: unknown, more: Parameters = {}) {
  return redeem(test, party, {
    grant_type: 'refresh_token',
    refresh_token: refresh_token as string,
    ...more,
  })
}

export type Tokens = {
  access_token: string
  token_type: string
  expires_in: number
  refresh_token: string
  id_token: string
  scope: string
}

/** The whole flow from the application's link to its tokens. */
export async function obtainTokens(
  test: TestApp,
  client: Browser,
  party: Party,
  parameters: Parameters = {},
): Promise<Tokens> {
  const { code } = await authorize(client, party, parameters)
  const answer = await exchange(test, party, code)
  if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as Tokens
}

/** Registers an application by the API with an access token. Without other fields, it has a name and an address. */
export async function registerByApi(
  test: TestApp,
  access_token: unknown,
  fields: Record<string, unknown> = {},
): Promise<Answer> {
  const response = await test.app.inject({
    method: 'POST',
    url: '/api/apps',
    headers: { authorization: `Bearer ${access_token}` },
    payload: { name: 'x', redirect_uris: ['https://x.example/'], ...fields },
  })
  return { status: response.statusCode, body: response.json(), headers: response.headers }
}

/** The claims of a token, unverified. */
export function claimsOf(id_token: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(id_token).split('.')[1]!, 'base64url').toString())
}

export function userinfo(test: TestApp, access_token: unknown): Promise<Answer> {
  return getJson(test, '/oauth2/userinfo', { authorization: `Bearer ${access_token}` })
}

/** Every row of the identity area that a request could write, to prove that a refusal writes nothing. */
export async function written(test: TestApp): Promise<unknown> {
  const { rows } = await sql`
    select
      (select count(*) from oauth_apps) as apps,
      (select count(*) from app_secrets) as secrets,
      (select array[count(*), sum(cardinality(scopes))] from consents) as consents,
      (select array[count(*), count(used_at)] from authorization_codes) as codes,
      (select array[count(*), count(revoked_at)] from grants) as grants,
      (select count(*) from access_tokens) as access_tokens,
      (select array[count(*), count(used_at)] from refresh_tokens) as refresh_tokens,
      (select count(*) from audit_log) as audit
  `.execute(test.db)
  return rows[0]
}

/** Runs an act that must be refused, and expects that it writes nothing. */
export async function withoutWriting<T>(test: TestApp, act: () => Promise<T>): Promise<T> {
  const before = await written(test)
  const result = await act()
  const after = await written(test)
  if (JSON.stringify(before, text) !== JSON.stringify(after, text)) {
    throw new Error(
      `Something was written: ${JSON.stringify(after, text)} after ${JSON.stringify(before, text)}`,
    )
  }
  return result
}

const text = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

/** A PKCE verifier. */
export function makeVerifier(): string {
  return randomBytes(32).toString('base64url')
}

/** What an authorization request says of its verifier. */
export function pkce(verifier: string) {
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  return { code_challenge, code_challenge_method: 'S256' }
}

/** Redeems a code as an application without a secret. */
export function exchangePublic(
  test: TestApp,
  { client_id, redirect_uri }: Pick<Party, 'client_id' | 'redirect_uri'>,
  code: string | undefined,
  more: Parameters,
): Promise<Answer> {
  const grant_type = 'authorization_code'
  return postForm(test, '/oauth2/token', { grant_type, client_id, redirect_uri, code, ...more })
}
