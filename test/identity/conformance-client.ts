/**
 * A relying party and a browser like those of the OpenID Foundation's suite: over real HTTP, with their own
 * signature verification. They share no code with the server, and learn every address from the
 * discovery document. They make the checks of the suite's modules.
 */
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { browserAt } from '../harness/browser.ts'
import type { Person } from '../harness/cast.ts'
import type { TestApp } from '../harness/harness.ts'
import { hiddenFields } from '../harness/markup.ts'
import type { Party } from './relying-party.ts'

type Json = Record<string, unknown>
type Fields = Record<string, string | undefined>

/** A provider on loopback. An https issuer acts as behind a proxy that ends TLS. */
export type Provider = {
  issuer: string
  discovery: Json
  keys: (JsonWebKey & { kid: string; alg: string })[]
  now_seconds(): number
  /** The reachable address for an address of the issuer. */
  reach(url: string): string
}

export async function listen(test: TestApp): Promise<Provider> {
  const issuer = test.url
  const { protocol, port: wanted } = new URL(issuer)
  await test.app.listen({ port: protocol === 'http:' ? Number(wanted) : 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const reach = (url: string) => {
    if (!url.startsWith(issuer)) throw new Error(`Not an address of the issuer: ${url}`)
    return `http://127.0.0.1:${port}${url.slice(issuer.length)}`
  }
  const now_seconds = () => test.clock.now().getTime() / 1000
  return readProvider({ issuer, reach, now_seconds })
}

/** C1: discovery and keys can be read, every key has a unique name, and none is private. */
async function readProvider(known: Pick<Provider, 'issuer' | 'reach' | 'now_seconds'>): Promise<Provider> {
  const { issuer, reach } = known
  const discovery = await readJson(reach(`${issuer}/.well-known/openid-configuration`))
  const { keys } = (await readJson(reach(String(discovery.jwks_uri)))) as { keys: Provider['keys'] }
  expect(keys.length).toBeGreaterThan(0)
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
  for (const key of keys) {
    expect(key.kid).toBeTruthy()
    expect(key.kty).not.toBe('oct')
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret)
    createPublicKey({ key, format: 'jwk' })
  }
  return { ...known, discovery, keys }
}

async function readJson(url: string): Promise<Json> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^application\/(json|jwk-set\+json)/)
  return response.json() as Promise<Json>
}

export function encoded(fields: Fields): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return new URLSearchParams(given).toString()
}

export type Shown = 'sign-in' | 'consent' | 'logout' | 'page'

/** The end of a journey: a page of the provider, or a redirect to another site. */
export type Arrival = { status: number; url: string; body: string; shown: Shown[] }

export type UserAgent = {
  /** Follows the redirects of the provider and fills in its forms, like a person. `headers` are of the first request. */
  visit(url: string, form?: Fields, headers?: Record<string, string>): Promise<Arrival>
}

export function userAgent({ issuer, reach }: Provider, person?: Person): UserAgent {
  const browser = browserAt(reach(issuer))

  /** The next step of a person on this page, if there is one. */
  function nextStep(body: string): { shown: Shown; action: string; fields: Fields } | undefined {
    if (body.includes('action="/sign-in"') && person !== undefined) {
      const { username, password } = person
      const fields = { ...hiddenFields(body, '/sign-in'), username, password }
      return { shown: 'sign-in', action: '/sign-in', fields }
    }
    for (const [shown, action, more] of [
      ['consent', '/oauth2/consent', { decision: 'allow' }],
      ['logout', '/oauth2/logout/confirm', {}],
    ] as const) {
      if (body.includes(`action="${action}"`))
        return { shown, action, fields: { ...hiddenFields(body, action), ...more } }
    }
    return undefined
  }

  return {
    async visit(start, startForm, startHeaders) {
      const shown: Shown[] = []
      let [url, form, headers] = [start, startForm, startHeaders]
      for (let steps = 0; steps < 12; steps += 1) {
        const { status, body, location } = await (form === undefined
          ? browser.get(reach(url), headers)
          : browser.post(reach(url), encoded(form), headers))
        headers = undefined
        if (location !== undefined) {
          // Only a redirect that changes the method keeps form fields from the application (RFC 9700 4.12).
          expect([302, 303]).toContain(status)
          url = new URL(location, issuer).href
          form = undefined
          // The string as sent, because a URL object would rewrite it.
          if (!url.startsWith(`${issuer}/`)) return { status, url: location, body, shown }
          continue
        }
        const step = nextStep(body)
        if (step === undefined || status >= 400) {
          return { status, url, body, shown: [...shown, 'page'] }
        }
        shown.push(step.shown)
        url = issuer + step.action
        form = step.fields
      }
      throw new Error(`No end of redirects at ${url}`)
    },
  }
}

export type Client = Party & { auth: 'client_secret_basic' | 'client_secret_post' }

export function authorizationRequest(client: Party, more: Fields = {}): Fields {
  return {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    scope: 'openid',
    state: 'af0ifjsldkj',
    nonce: 'n-0S6_WzA2Mj',
    ...more,
  }
}

export function authorizationAddress({ discovery }: Provider, request: Fields): string {
  return `${discovery.authorization_endpoint}?${encoded(request)}`
}

/** C2: the callback is the registered address with its query unchanged, plus state and iss, and without an error. */
export function checkCallback(op: Provider, { url }: Arrival, request: Fields): { code: string } {
  const answer = readCallback(op, url, request)
  expect(answer).not.toHaveProperty('error')
  expect(Object.keys(answer).toSorted()).toEqual([
    'code',
    'iss',
    ...(request.state === undefined ? [] : ['state']),
  ])
  const { code = '' } = answer
  expect(bitsOf(code)).toBeGreaterThan(96)
  expect(code.length).toBeGreaterThanOrEqual(22)
  return { code }
}

/** C6: an error has its state, only known members, no code, and a description of legal characters. */
export function checkError(op: Provider, { url }: Arrival, request: Fields): string {
  const answer = readCallback(op, url, request)
  expect(answer).not.toHaveProperty('code')
  const known = ['error', 'error_description', 'error_uri', 'state', 'iss', 'session_state']
  for (const name of Object.keys(answer)) expect(known).toContain(name)
  expect(answer.error_description ?? '').toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/)
  return answer.error!
}

function readCallback(
  op: Provider,
  url: string,
  { redirect_uri = '', state }: Fields,
): Record<string, string> {
  expect(url.startsWith(redirect_uri)).toBe(true)
  const answer = new URLSearchParams(url.slice(redirect_uri.length).replace(/^[?&]/, ''))
  expect(answer.get('iss')).toBe(op.issuer)
  expect(answer.get('state')).toBe(state ?? null)
  return Object.fromEntries(answer)
}

/** Shannon's entropy of the whole text, by which the suite estimates how hard it is to guess. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>()
  for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  const shares = [...counts.values()].map((count) => count / text.length)
  return text.length * shares.reduce((sum, share) => sum - share * Math.log2(share), 0)
}

export type Answer = { status: number; headers: Headers; body: Json }

export async function post(
  op: Provider,
  url: unknown,
  fields: Fields,
  headers: Fields = {},
): Promise<Answer> {
  const response = await fetch(op.reach(String(url)), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } as Record<string, string>,
    body: encoded(fields),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
}

/** Sends a request to the token endpoint, with the client's registered method of authentication. */
export function askTokens(op: Provider, client: Client, fields: Fields): Promise<Answer> {
  const { client_id, client_secret, auth } = client
  const url = op.discovery.token_endpoint
  if (auth === 'client_secret_post') return post(op, url, { ...fields, client_id, client_secret })
  const pair = [client_id, client_secret].map(encodeURIComponent).join(':')
  return post(op, url, fields, { authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
}

export function redeemCode(op: Provider, client: Client, code: string, more: Fields = {}): Promise<Answer> {
  const { redirect_uri } = client
  return askTokens(op, client, { grant_type: 'authorization_code', code, redirect_uri, ...more })
}

export type TokenSet = { access_token: string; refresh_token: string; id_token: string }

/** C3: checks the token answer. */
export function checkTokens({ status, headers, body }: Answer): TokenSet {
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('cache-control')).toContain('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  expect(body.token_type).toMatch(/^bearer$/i)
  expect(typeof body.access_token).toBe('string')
  expect(Number.isInteger(body.expires_in)).toBe(true)
  expect(body.expires_in).toBeGreaterThan(0)
  expect(body.expires_in).toBeLessThanOrEqual(31_536_000)
  expect(typeof body.id_token).toBe('string')
  for (const name of ['access_token', 'refresh_token']) expect(bitsOf(String(body[name]))).toBeGreaterThan(96)
  return body as TokenSet
}

const STANDARD_STRINGS = [
  'name',
  'given_name',
  'family_name',
  'preferred_username',
  'picture',
  'email',
  'locale',
  'zoneinfo',
]
const YEAR_SECONDS = 31_536_000

/** C4: checks the ID token and every claim in it. Returns its claims. */
export function checkIdToken(
  op: Provider,
  client: Client,
  tokens: TokenSet,
  nonce: string | undefined,
): Json {
  const [head = '', body = '', signature = ''] = tokens.id_token.split('.')
  const header = decode(head)
  const key = op.keys.find(({ kid }) => kid === header.kid)!
  expect(op.discovery.id_token_signing_alg_values_supported).toContain(header.alg)
  expect(key.alg).toBe(header.alg)
  const public_key = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
  const signed = Buffer.from(`${head}.${body}`)
  expect(verify('sha256', signed, public_key, Buffer.from(signature, 'base64url'))).toBe(true)

  const claims = decode(body)
  const now = op.now_seconds()
  expect(claims.iss).toBe(op.issuer)
  expect([claims.aud].flat()).toEqual([client.client_id])
  expect(claims.sub).toMatch(/^[\x21-\x7e]{1,255}$/)
  for (const name of ['exp', 'iat', 'auth_time']) expect(Number.isInteger(claims[name])).toBe(true)
  expect(Math.abs(Number(claims.iat) - now)).toBeLessThan(300)
  expect(Number(claims.exp)).toBeGreaterThan(now)
  expect(Number(claims.exp)).toBeLessThan(now + YEAR_SECONDS)
  expect(Number(claims.auth_time)).toBeLessThanOrEqual(now)
  expect(Number(claims.auth_time)).toBeGreaterThan(now - YEAR_SECONDS)
  expect(claims.acr).not.toBe('')
  expect(claims.nonce).toBe(nonce)
  const half = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16)
  expect(claims.at_hash).toBe(half.toString('base64url'))
  checkClaims(claims)
  return claims
}

/** Checks that standard claims have their type, and are neither empty nor the word null. */
export function checkClaims(claims: Json): void {
  for (const [name, value] of Object.entries(claims)) {
    expect([name, value]).not.toEqual([name, null])
    expect([name, value]).not.toEqual([name, ''])
    expect([name, value]).not.toEqual([name, 'null'])
    if (STANDARD_STRINGS.includes(name)) expect(typeof value).toBe('string')
    if (name === 'email_verified') expect(typeof value).toBe('boolean')
    if (name === 'updated_at') expect(Number.isInteger(value)).toBe(true)
  }
}

function decode(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}

/** C5: checks that userinfo answers for the same subject. */
export async function readUserinfo(
  op: Provider,
  access_token: string,
  how: 'get' | 'post-header' = 'get',
): Promise<Json> {
  const response = await userinfoResponse(op, access_token, how)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('cache-control')).toContain('no-store')
  const claims = (await response.json()) as Json
  checkClaims(claims)
  return claims
}

export function userinfoResponse(
  op: Provider,
  access_token: string,
  how: 'get' | 'post-header' | 'post-body' = 'get',
): Promise<Response> {
  const url = op.reach(String(op.discovery.userinfo_endpoint))
  if (how === 'post-body') return fetch(url, { method: 'POST', body: new URLSearchParams({ access_token }) })
  const headers = { authorization: `Bearer ${access_token}` }
  return fetch(url, { method: how === 'get' ? 'GET' : 'POST', headers })
}

export type Flow = {
  arrival: Arrival
  code: string
  tokens: TokenSet
  id: Json
  user: Json
}

/** The whole flow with every common check, which every module of the suite begins with. */
export async function flow(op: Provider, client: Client, agent: UserAgent, more: Fields = {}): Promise<Flow> {
  const request = authorizationRequest(client, more)
  const arrival = await agent.visit(authorizationAddress(op, request))
  return finishFlow(op, client, arrival, request)
}

export async function finishFlow(
  op: Provider,
  client: Client,
  arrival: Arrival,
  request: Fields,
  more: Fields = {},
): Promise<Flow> {
  const { code } = checkCallback(op, arrival, request)
  const tokens = checkTokens(await redeemCode(op, client, code, more))
  const id = checkIdToken(op, client, tokens, request.nonce)
  const user = await readUserinfo(op, tokens.access_token)
  expect(user.sub).toBe(id.sub)
  return { arrival, code, tokens, id, user }
}
