/**
 * The discovery documents for clients (OIDC Discovery 1.0, RFC 8414, RFC 9728), and the public keys (JWKS).
 * spec/sign-in 3.3.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { admitsRegistration } from '../../accounts/sign-in/register.page.ts'
import { orLatest } from '../../database/latest.ts'
import { sha256 } from '../../platform/secrets.ts'
import { LANGUAGES } from '../../web/languages.ts'
import {
  AUTHORIZATION_PATH,
  DEVICE_AUTHORIZATION_PATH,
  DISCOVERY_PATH,
  RESOURCE_METADATA_PATH,
} from '../apps/addresses.ts'
import { GRANT_TYPES } from '../apps/apps.ts'
import { JWKS_CACHE_SECONDS } from '../keys/jwt.ts'
import { type IdentityDeps, SIGNING_ALGORITHMS } from '../keys/keys.ts'
import { admitsDocuments } from '../metadata/client-id.ts'
import { ACR_VALUES } from './acr.ts'
import { DETAILS_TYPES } from './authorization-details.ts'
import { PROMPTS, RESPONSE_MODES, SCOPES } from './authorization-request.ts'
import { answerPreflights } from './cross-origin.ts'
import { INTROSPECTION_PATH } from './introspection.ts'
import { LOGOUT_PATH } from './logout.page.ts'
import { REVOCATION_PATH } from './revocation.ts'
import type { Discovery, ProtectedResource } from './shapes.ts'

const DISCOVERY_PATHS = [
  DISCOVERY_PATH,
  '/oauth-provider/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
]

const JWKS_PATH = '/oauth2/jwks'

/**
 * Answers plain requests for these documents before all other hooks, because clients may read them at any time. Call it
 * first. Requests with a query, and HEAD requests, pass the usual hooks and get the same answer.
 */
export function answerDocumentsFirst(app: FastifyInstance, deps: IdentityDeps): void {
  const documents = openDocuments(deps)
  app.addHook('onRequest', (request, reply, done) => {
    const { method, url = '' } = request.raw
    const read = method === 'GET' ? documents.get(url) : undefined
    if (read === undefined) return done()
    const document = read()
    // Nearly always the document is at hand, and a promise would cost as much as the rest of the answer.
    if (document instanceof Promise) document.then((published) => sendPublic(request, reply, published), done)
    else sendPublic(request, reply, document)
  })
}

/** GET the discovery documents and the JWKS, from any origin. */
export async function discoveryRoutes(app: FastifyInstance, deps: IdentityDeps): Promise<void> {
  answerPreflights(app, [...DISCOVERY_PATHS, RESOURCE_METADATA_PATH, JWKS_PATH], 'GET')
  for (const [path, read] of openDocuments(deps)) {
    app.get(path, async (request, reply) => sendPublic(request, reply, await read()))
  }
}

/** Reads a document: without a promise if its source is at hand. */
type ReadDocument = () => Published | Promise<Published>

/** Returns the reader of each document by its path. A document is made again only when the settings or the keys were read again. */
function openDocuments({ config, settings, signingKeys }: IdentityDeps): Map<string, ReadDocument> {
  const readDocument = madeOnce(
    () => orLatest(settings.read(), settings.latest()),
    (now) =>
      discoveryDocument(config.PUBLIC_URL, {
        admits: admitsDocuments(now),
        hasMandates: now.mandates === 'on',
        takesMembers: admitsRegistration(config, now),
      }),
  )
  const resource = publish(resourceDocument(config.PUBLIC_URL))
  const readKeys = madeOnce(
    () => signingKeys.published(),
    (keys) => ({ keys }),
  )
  return new Map<string, ReadDocument>([
    ...DISCOVERY_PATHS.map((path) => [path, readDocument] as const),
    [RESOURCE_METADATA_PATH, () => resource] as const,
    [JWKS_PATH, readKeys] as const,
  ])
}

/** Makes the reader of a document. While `read` returns the same source, so does the reader with its document. */
function madeOnce<Source>(
  read: () => Source | Promise<Source>,
  make: (source: Source) => object,
): ReadDocument {
  let made: { of: Source; document: Published } | undefined
  const documentOf = (source: Source): Published => {
    if (made?.of !== source) made = { of: source, document: publish(make(source)) }
    return made.document
  }
  return () => {
    const source = read()
    return source instanceof Promise ? source.then(documentOf) : documentOf(source)
  }
}

/** What the document tells of the settings. */
type Site = { admits: boolean; hasMandates: boolean; takesMembers: boolean }

/** The document. A client by its metadata learns from it whether the site admits such clients (draft-02, 6). */
function discoveryDocument(
  issuer: string,
  { admits, hasMandates, takesMembers }: Site,
): z.output<typeof Discovery> {
  return {
    issuer,
    authorization_endpoint: issuer + AUTHORIZATION_PATH,
    token_endpoint: `${issuer}/oauth2/token`,
    userinfo_endpoint: `${issuer}/oauth2/userinfo`,
    jwks_uri: issuer + JWKS_PATH,
    device_authorization_endpoint: issuer + DEVICE_AUTHORIZATION_PATH,
    revocation_endpoint: issuer + REVOCATION_PATH,
    introspection_endpoint: issuer + INTROSPECTION_PATH,
    end_session_endpoint: issuer + LOGOUT_PATH,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    service_documentation: `${issuer}/docs/identity`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: RESPONSE_MODES,
    grant_types_supported: GRANT_TYPES,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    token_endpoint_auth_methods_supported: [...SECRET_METHODS, 'none'],
    revocation_endpoint_auth_methods_supported: [...SECRET_METHODS, 'none'],
    introspection_endpoint_auth_methods_supported: SECRET_METHODS,
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: PROMPTS.filter((prompt) => prompt !== 'create' || takesMembers),
    acr_values_supported: ACR_VALUES,
    ui_locales_supported: LANGUAGES,
    claims_supported: CLAIMS,
    // In OIDC Discovery, request_uri_parameter_supported defaults to true.
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ...(admits && { client_id_metadata_document_supported: true }),
    ...(hasMandates && { authorization_details_types_supported: [...DETAILS_TYPES] }),
  }
}

/** What the access tokens of members reach here: userinfo and /api/apps. */
function resourceDocument(issuer: string): z.output<typeof ProtectedResource> {
  return {
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: SCOPES.filter((scope) => scope !== 'offline_access'),
    bearer_methods_supported: ['header'],
    resource_documentation: `${issuer}/docs/identity`,
  }
}

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post']

const CLAIMS = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'at_hash',
  'sid',
  'amr',
  'acr',
  'username',
  'preferred_username',
  'name',
  'picture',
  'groups',
  'trust_level',
  'email',
  'email_verified',
  'id',
  'avatar_url',
  'active',
  'silenced',
]

/** An answer that is made once: its text, and the headers with it and without it. Node sends a text together with its headers. */
type Published = { body: string; etag: string; withBody: string[]; unchanged: string[] }

function publish(document: object): Published {
  const body = JSON.stringify(document)
  const etag = `"${sha256(body).toString('base64url').slice(0, 22)}"`
  const caching = ['cache-control', `public, max-age=${JWKS_CACHE_SECONDS}`, 'etag', etag]
  const unchanged = [...caching, 'access-control-allow-origin', '*']
  const about = ['content-type', 'application/json; charset=utf-8']
  const withBody = [...unchanged, ...about, 'content-length', String(Buffer.byteLength(body))]
  return { body, etag, withBody, unchanged }
}

/** Writes to the raw response, because Fastify's reply would serialise the document again. */
function sendPublic(
  { id, headers: { 'if-none-match': known } }: FastifyRequest,
  reply: FastifyReply,
  { body, etag, withBody, unchanged }: Published,
): void {
  reply.hijack()
  const isKnown = known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  if (isKnown) reply.raw.writeHead(304, unchanged.concat('x-request-id', id)).end()
  else reply.raw.writeHead(200, withBody.concat('x-request-id', id)).end(body)
}
