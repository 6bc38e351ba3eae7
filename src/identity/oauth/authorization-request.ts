/**
 * Reads authorization requests. It first checks the application and the redirect address; their faults are never
 * redirected. Then it checks all else, whose faults are always redirected.
 */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { privateUseScheme } from '../../web/back.ts'
import { BEARER_CHALLENGE } from '../../web/oauth/errors.ts'
import { namesIn, type Single, singleValue, singleValues } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import { isPublic } from '../apps/access.ts'
import { trialAddress } from '../apps/addresses.ts'
import { isOnDevice, isRegistered, kindOf } from '../apps/redirect-uris.ts'
import { addressFault, admits, admitsDocuments, hostOf, isAddress } from '../metadata/client-id.ts'
import type { MetadataClients } from '../metadata/clients.ts'
import { documentFault, versionOf } from '../metadata/document.ts'
import type { Fetched } from '../metadata/fetch.ts'

const NONCE_BYTES_MAX = 1_024
const SCOPE_BYTES_MAX = 1_024
/**
 * A state of which every byte is percent-encoded, and 4 KiB for the rest. The query is sent in a form field and, encoded once
 * more, in the address of the sign-in page: see HEADERS_BYTES_MAX.
 */
export const QUERY_BYTES_MAX = 28_672

export const SCOPES = ['openid', 'profile', 'email', 'groups', 'offline_access', 'apps']
const DEFAULT_SCOPES = ['openid', 'profile']
export const RESPONSE_MODES = ['query', 'form_post']
/** `create` only where members may register (Initiating User Registration 1.0). */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create']

export type AuthorizedApp = {
  /** Null for a client by its document that no member has allowed yet. */
  id: bigint | null
  client_id: string
  /** The host of a client by its document. */
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
  /** Null as `id` is. */
  created_at: Date | null
  /** Null while an application that another one registered waits for its owner. */
  confirmed_at: Date | null
  /** The application that registered this one, if it exists still. */
  registered_by: string | null
  /** Of the owner, whom a client by its document does not have. */
  owner_id: bigint | null
  owner_username: string | null
  owner_trust_level: number | null
  /** Whether the owner is a member of the forum. */
  owner_is_at_forum: boolean
  /** What a client says of itself, if it is known by its document. */
  metadata: (Fetched & { version: Buffer }) | null
}

/** The application of a request, and the address of the answer. */
export type Target = {
  app: AuthorizedApp
  redirect_uri: string
  redirect_uri_sent: boolean
  /** Echoed in every answer. Undefined when it was not sent, or is too long or repeated. */
  state: string | undefined
}

/** invalid_redirect_uri, with what its page says about the application. Programs are not answered with that. */
export class UnregisteredAddress extends AppError {
  readonly app: AuthorizedApp
  readonly redirect_uri: string

  constructor(message: string, app: AuthorizedApp, redirect_uri: string) {
    super('invalid_redirect_uri', message)
    this.app = app
    this.redirect_uri = redirect_uri
  }
}

export type FindingDeps = Pick<Core, 'db' | 'settings' | 'config'> & { metadataClients: MetadataClients }

/**
 * Finds the application of a request. Undefined for a client whose document must be fetched first, for a visitor.
 * Throws invalid_client, invalid_redirect_uri or invalid_request, never redirected; also too_many_attempts and overloaded, when
 * a document cannot be fetched for `user_id` now.
 */
export async function findTarget(
  deps: FindingDeps,
  sent: Parameters,
  user_id: bigint | undefined,
): Promise<Target | undefined> {
  const client_id = singleValue(sent, 'client_id')
  const sentUri = singleValue(sent, 'redirect_uri')
  if (client_id === undefined) throw new AppError('invalid_request', 'client_id is missing')
  const app = isAddress(client_id)
    ? await findMetadataClient(deps, client_id, user_id)
    : await findApp(deps.db, client_id)
  if (app === 'unread') return undefined
  if (app === undefined) throw unknownClient()
  const redirect_uri = sentUri ?? onlyRedirectUri(app)
  // The owner tries a sign-in. NOTE: no other member's code goes there, and the token endpoint refuses that address.
  const isTrial =
    user_id !== undefined &&
    app.owner_id === user_id &&
    redirect_uri === trialAddress(deps.config, app.client_id)
  if (!isTrial && !isRegistered(app, redirect_uri)) {
    const message =
      app.metadata === null
        ? 'The redirect_uri is not registered for this application'
        : 'The redirect_uri is not in the client metadata document, or is at another origin than the document'
    throw new UnregisteredAddress(message, app, redirect_uri)
  }
  if (queryText(sent).length > QUERY_BYTES_MAX) {
    throw new AppError('invalid_request', `The request is longer than ${QUERY_BYTES_MAX} bytes`)
  }
  return { app, redirect_uri, redirect_uri_sent: sentUri !== undefined, state: echoableState(sent) }
}

/** Makes invalid_client for a request of an unknown client. */
export function unknownClient(): AppError {
  return new AppError('invalid_client', 'No application has this client_id', {
    data: { challenge: BEARER_CHALLENGE },
  })
}

/** Finds a client by its document, as it is now; `unread` for a visitor, because documents are fetched for members only. */
async function findMetadataClient(
  { db, settings, config, metadataClients }: FindingDeps,
  client_id: string,
  user_id: bigint | undefined,
): Promise<AuthorizedApp | 'unread' | undefined> {
  const admitting = await settings.read()
  if (!admitsDocuments(admitting)) return undefined
  const fault = addressFault(client_id, config)
  if (fault !== undefined) throw documentFault(`has no valid address. The client_id ${fault}`)
  if (!admits(admitting, client_id)) return undefined
  const stored = await findApp(db, client_id)
  // No request to a host whose client the staff has suspended.
  if (stored !== undefined && stored.suspended_at !== null) return stored
  const fetched = await metadataClients.read(client_id, stored?.metadata ?? undefined, user_id)
  return fetched === undefined ? 'unread' : clientOf(client_id, fetched, stored)
}

function clientOf(client_id: string, fetched: Fetched, stored: AuthorizedApp | undefined): AuthorizedApp {
  const { redirect_uris, homepage } = fetched.document
  return {
    id: stored?.id ?? null,
    client_id,
    name: hostOf(client_id),
    description: '',
    redirect_uris,
    allow_groups: [],
    deny_groups: [],
    homepage,
    logo_url: null,
    suspended_at: null,
    reviewed_at: null,
    token_endpoint_auth_method: 'none',
    created_at: stored?.created_at ?? null,
    confirmed_at: fetched.fetched_at,
    registered_by: null,
    owner_id: null,
    owner_username: null,
    owner_trust_level: null,
    owner_is_at_forum: false,
    metadata: { ...fetched, version: versionOf(fetched.document) },
  }
}

/** Finds an application by its client_id, as the pages show it before a sign-in. */
export async function findApp(db: Db, client_id: string): Promise<AuthorizedApp | undefined> {
  const found = await db
    .selectFrom('oauth_apps as app')
    .leftJoin('users as owner', 'owner.id', 'app.owner_id')
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
      'app.document',
      'app.fetched_at',
      'app.fresh_until',
    ])
    .select((eb) => eb('owner.forum_id', 'is not', null).$castTo<boolean>().as('owner_is_at_forum'))
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { document, fetched_at, fresh_until, ...app } = found
  if (document === null) return { ...app, metadata: null }
  const metadata = {
    document,
    fetched_at: fetched_at!,
    fresh_until: fresh_until!,
    version: versionOf(document),
  }
  return { ...app, metadata }
}

/**
 * Returns the address of a request without one, which RFC 6749 3.1.2.3 allows where a single one is registered. Never one on
 * a device, where the port is free and another program may listen at the registered one.
 */
function onlyRedirectUri(app: AuthorizedApp): string {
  if (app.metadata !== null) throw new AppError('invalid_request', 'redirect_uri is missing')
  const [only, ...others] = app.redirect_uris
  if (only === undefined || others.length > 0) {
    throw new AppError('invalid_request', 'redirect_uri is missing, and the application has several')
  }
  if (kindOf(only) !== 'web') {
    throw new AppError('invalid_request', 'redirect_uri is missing, and the registered one is on a device')
  }
  return only
}

/** Returns the state if it can be echoed: one value. It has at most VALUE_BYTES_MAX, like every parameter. */
export function echoableState({ state }: { state?: string | string[] | undefined }): string | undefined {
  return typeof state === 'string' && state !== '' ? state : undefined
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
  /** As sent (RFC 9396). */
  authorization_details: string | undefined
}

/** Reads the rest of the request, in the order of spec/sign-in 1.4. Throws the OAuth error for the redirect. */
export function readDemand(sent: Parameters, target: Target): Demand {
  // The resource has an error of its own for a repeated one.
  const { resource: _, ...others } = sent
  const values = singleValues(others)
  requireCodeFlow(values, target.redirect_uri)
  refuseRequestObjects(values)
  requireShort(values, 'nonce', NONCE_BYTES_MAX)
  return {
    scopes: readScopes(values),
    code_challenge: readChallenge(values, target),
    prompts: readPrompts(values),
    max_age: readMaxAge(values),
    nonce: values.nonce,
    login_hint: values.login_hint,
    id_token_hint: values.id_token_hint,
    acr_values: namesIn(values.acr_values ?? ''),
    authorization_details: values.authorization_details,
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

/** Returns the scopes of a request. Without a known scope the default ones apply. Throws invalid_scope. */
export function readScopes({ scope = '' }: { scope?: string | undefined }): string[] {
  const known = knownScopes(scope)
  return known.length === 0 ? DEFAULT_SCOPES : known
}

/** Returns the known scopes of a list. NOTE: unknown ones are ignored (OIDC Core 3.1.2.1). Throws invalid_scope. */
export function knownScopes(scope: string): string[] {
  if (Buffer.byteLength(scope) > SCOPE_BYTES_MAX) {
    throw new AppError('invalid_scope', `scope is longer than ${SCOPE_BYTES_MAX} bytes`)
  }
  return namesIn(scope).filter((name) => SCOPES.includes(name))
}

/**
 * Reads the PKCE challenge (RFC 7636; spec/sign-in 1.5), S256 only: `plain` adds nothing to TLS. A public client must send one, and so must a request
 * whose answer goes to a program on a device.
 */
function readChallenge(
  { code_challenge, code_challenge_method }: Single,
  { app, redirect_uri }: Target,
): string | undefined {
  const isAbsent = code_challenge === undefined && code_challenge_method === undefined
  if (isAbsent && !isPublic(app) && !isOnDevice(app, redirect_uri)) return undefined
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
