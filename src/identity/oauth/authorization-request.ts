/**
 * Reads authorization requests. It first checks the application and the redirect address; their faults are never
 * redirected. Then it checks all else, whose faults are always redirected (identity.md 2 b to j).
 */
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import type { Parameters } from '../../web/parameters.ts'
import { privateUseScheme } from '../../web/return-to.ts'
import { isPublic } from '../apps/access.ts'
import { isRegistered, kindOf } from '../apps/redirect-uris.ts'
import { BEARER_CHALLENGE } from './errors.ts'
import { namesIn, type Single, singleValue, singleValues } from './parameters.ts'

const STATE_BYTES_MAX = 2_048
const NONCE_BYTES_MAX = 1_024
const SCOPE_BYTES_MAX = 1_024
/** The query is sent in a form field and, encoded once more, in the address of the sign-in page. */
export const QUERY_BYTES_MAX = 8_000

export const SCOPES = ['openid', 'profile', 'email', 'offline_access', 'apps']
const DEFAULT_SCOPES = ['openid', 'profile']
export const RESPONSE_MODES = ['query', 'form_post']
export const PROMPTS = ['none', 'login', 'consent', 'select_account']

export type AuthorizedApp = {
  id: bigint
  client_id: string
  name: string
  description: string
  redirect_uris: string[]
  allow_groups: string[]
  deny_groups: string[]
  homepage: string | null
  logo_url: string | null
  suspended_at: Date | null
  reviewed_at: Date | null
  token_endpoint_auth_method: string
  created_at: Date
  /** Null while an application that another one registered waits for its owner. */
  confirmed_at: Date | null
  /** The application that registered this one, if it exists still. */
  registered_by: string | null
  owner_id: bigint
  owner_username: string
  owner_trust_level: number
  /** Whether the owner is a member of the forum. */
  owner_is_at_forum: boolean
}

/** The application of a request, and the address of the answer. */
export type Target = {
  app: AuthorizedApp
  redirect_uri: string
  redirect_uri_sent: boolean
  /** Echoed in every answer. Undefined when it was not sent, or is too long or repeated. */
  state: string | undefined
}

/** Finds the application of a request. Throws invalid_client, invalid_redirect_uri or invalid_request, never redirected. */
export async function findTarget(db: Db, sent: Parameters): Promise<Target> {
  const client_id = singleValue(sent, 'client_id')
  const sentUri = singleValue(sent, 'redirect_uri')
  if (client_id === undefined) throw new AppError('invalid_request', 'client_id is missing')
  const app = await findApp(db, client_id)
  if (app === undefined) {
    throw new AppError('invalid_client', 'No application has this client_id', {
      data: { challenge: BEARER_CHALLENGE },
    })
  }
  const redirect_uri = sentUri ?? onlyRedirectUri(app)
  if (!isRegistered(app, redirect_uri)) {
    throw new AppError('invalid_redirect_uri', 'The redirect_uri is not registered for this application')
  }
  if (queryText(sent).length > QUERY_BYTES_MAX) {
    throw new AppError('invalid_request', `The request is longer than ${QUERY_BYTES_MAX} bytes`)
  }
  return { app, redirect_uri, redirect_uri_sent: sentUri !== undefined, state: echoableState(sent) }
}

/** Finds an application by its client_id, as the pages show it before a sign-in. */
export async function findApp(db: Db, client_id: string): Promise<AuthorizedApp | undefined> {
  return db
    .selectFrom('oauth_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.owner_id')
    .leftJoin('oauth_apps as by', 'by.id', 'app.registered_by_app_id')
    .where('app.client_id', '=', client_id)
    .select([
      'app.id',
      'app.client_id',
      'app.name',
      'app.description',
      'app.redirect_uris',
      'app.allow_groups',
      'app.deny_groups',
      'app.homepage',
      'app.logo_url',
      'app.suspended_at',
      'app.reviewed_at',
      'app.token_endpoint_auth_method',
      'app.created_at',
      'app.confirmed_at',
      'by.name as registered_by',
      'app.owner_id',
      'owner.username as owner_username',
      'owner.trust_level as owner_trust_level',
    ])
    .select((eb) => eb('owner.forum_id', 'is not', null).$castTo<boolean>().as('owner_is_at_forum'))
    .executeTakeFirst()
}

/**
 * Returns the address of a request without one, which RFC 6749 3.1.2.3 allows where a single one is registered. Never one on
 * a device, where the port is free and another program may listen at the registered one.
 */
function onlyRedirectUri(app: AuthorizedApp): string {
  const [only, ...others] = app.redirect_uris
  if (only === undefined || others.length > 0) {
    throw new AppError('invalid_request', 'redirect_uri is missing, and the application has several')
  }
  if (kindOf(only) !== 'web') {
    throw new AppError('invalid_request', 'redirect_uri is missing, and the registered one is on a device')
  }
  return only
}

/** Returns the state if it can be echoed: one value of at most 2048 bytes. */
export function echoableState({ state }: { state?: string | string[] | undefined }): string | undefined {
  return typeof state === 'string' && state !== '' && Buffer.byteLength(state) <= STATE_BYTES_MAX
    ? state
    : undefined
}

/** Returns the request as a query string, which does not depend on the sender's encoding. */
export function queryText(sent: Parameters): string {
  const pairs = Object.entries(sent).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return new URLSearchParams(pairs).toString()
}

export type Demand = {
  scopes: string[]
  code_challenge: string | undefined
  prompts: string[]
  max_age: number | undefined
  nonce: string | undefined
  login_hint: string | undefined
  id_token_hint: string | undefined
  /** The wished authentication contexts, best first. */
  acr_values: string[]
}

/** Reads the rest of the request, in the order of identity.md. Throws the OAuth error for the redirect. */
export function readDemand(sent: Parameters, { app, redirect_uri }: Target): Demand {
  // The resource has an error of its own for a repeated one.
  const { resource: _, ...others } = sent
  const values = singleValues(others)
  requireCodeFlow(values, redirect_uri)
  refuseRequestObjects(values)
  requireShort(values, 'state', STATE_BYTES_MAX)
  requireShort(values, 'nonce', NONCE_BYTES_MAX)
  return {
    scopes: readScopes(values),
    code_challenge: readChallenge(values, app),
    prompts: readPrompts(values),
    max_age: readMaxAge(values),
    nonce: values.nonce,
    login_hint: values.login_hint,
    id_token_hint: values.id_token_hint,
    acr_values: namesIn(values.acr_values ?? ''),
  }
}

function requireCodeFlow({ response_type, response_mode }: Single, redirect_uri: string): void {
  if (response_type === undefined) throw new AppError('invalid_request', 'response_type is missing')
  if (response_type !== 'code') {
    throw new AppError('unsupported_response_type', 'The only response_type is code')
  }
  if (response_mode !== undefined && !RESPONSE_MODES.includes(response_mode)) {
    throw new AppError('invalid_request', `response_mode must be of: ${RESPONSE_MODES.join(', ')}`)
  }
  if (response_mode === 'form_post' && privateUseScheme(redirect_uri) !== undefined) {
    throw new AppError('invalid_request', 'A form cannot be posted to a private-use scheme')
  }
}

function refuseRequestObjects({ request, request_uri, registration }: Single): void {
  if (request !== undefined) throw new AppError('request_not_supported', 'request is not supported')
  if (request_uri !== undefined) {
    throw new AppError('request_uri_not_supported', 'request_uri is not supported')
  }
  if (registration !== undefined) {
    throw new AppError('registration_not_supported', 'registration is not supported')
  }
}

function requireShort(values: Single, name: string, bytes_max: number): void {
  if (Buffer.byteLength(values[name] ?? '') > bytes_max) {
    throw new AppError('invalid_request', `${name} is longer than ${bytes_max} bytes`)
  }
}

/** NOTE: unknown scopes are ignored (OIDC Core 3.1.2.1). Without a known scope the default ones apply. */
export function readScopes({ scope = '' }: { scope?: string | undefined }): string[] {
  if (Buffer.byteLength(scope) > SCOPE_BYTES_MAX) {
    throw new AppError('invalid_scope', `scope is longer than ${SCOPE_BYTES_MAX} bytes`)
  }
  const known = namesIn(scope).filter((name) => SCOPES.includes(name))
  return known.length === 0 ? DEFAULT_SCOPES : known
}

/** Reads the PKCE challenge (RFC 7636), S256 only: `plain` adds nothing to TLS. A public client must send one. */
function readChallenge(
  { code_challenge, code_challenge_method }: Single,
  app: AuthorizedApp,
): string | undefined {
  const isAbsent = code_challenge === undefined && code_challenge_method === undefined
  if (isAbsent && !isPublic(app)) return undefined
  if (code_challenge === undefined) throw new AppError('invalid_request', 'code_challenge is missing')
  if (code_challenge_method !== 'S256') {
    throw new AppError('invalid_request', 'The only code_challenge_method is S256')
  }
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(code_challenge)) {
    throw new AppError('invalid_request', 'code_challenge must be 43 to 128 unreserved characters')
  }
  return code_challenge
}

function readPrompts({ prompt = '' }: Single): string[] {
  const prompts = namesIn(prompt)
  if (prompts.some((name) => !PROMPTS.includes(name))) {
    throw new AppError('invalid_request', `prompt must be of: ${PROMPTS.join(', ')}`)
  }
  if (prompts.includes('none') && prompts.length > 1) {
    throw new AppError('invalid_request', 'prompt none must be the only value')
  }
  return prompts
}

function readMaxAge({ max_age }: Single): number | undefined {
  if (max_age === undefined) return undefined
  if (!/^\d{1,9}$/.test(max_age)) throw new AppError('invalid_request', 'max_age must be whole seconds')
  return Number(max_age)
}
