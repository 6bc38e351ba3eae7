/** Client metadata documents: what a valid one says, and which of its addresses the client may use (spec/registry 5.1). */
import { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/secrets.ts'
import { privateUseScheme } from '../../web/back.ts'
import { access } from '../apps/apps.texts.ts'
import { appName, REDIRECT_URIS_MAX, WEB_ADDRESS_LENGTH_MAX } from '../apps/apps.ts'
import { kindOf, redirectUriFault, webAddressFault } from '../apps/redirect-uris.ts'

/** What we keep of a document. */
export type ClientDocument = {
  client_name: string
  /** Those that the client may use here; others are left out. */
  redirect_uris: string[]
  /** Only on the host of the client_id. */
  homepage: string | null
}

const redirectUri = z.string().superRefine((uri, context) => {
  const fault = redirectUriFault(uri)
  if (fault !== undefined) context.addIssue({ code: 'custom', message: access.redirectUriFaults[fault].en })
})

/** Members of RFC 7591. All others are ignored. */
const Document = z
  .looseObject({
    client_id: z.string(),
    client_name: appName,
    redirect_uris: z.array(redirectUri).min(1).max(REDIRECT_URIS_MAX),
    token_endpoint_auth_method: z.literal('none', 'must be none').optional(),
    grant_types: listWith('authorization_code'),
    response_types: listWith('code'),
    client_uri: z.string().optional().catch(undefined),
    jwks: z.unknown().optional(),
  })
  // Section 4.1: no shared secrets, and public keys only.
  .refine((document) => !Object.keys(document).some((name) => name.startsWith('client_secret')), {
    path: ['client_secret'],
    message: 'must not be there',
  })
  .refine(({ jwks }) => !holdsPrivateKey(jwks), { path: ['jwks'], message: 'must not hold private keys' })

function listWith(value: string) {
  return z
    .array(z.string())
    .refine((list) => list.includes(value), `must hold ${value}`)
    .optional()
}

function holdsPrivateKey(jwks: unknown): boolean {
  const keys = (jwks as { keys?: unknown } | null | undefined)?.keys
  return (
    Array.isArray(keys) &&
    keys.some((key) => typeof key === 'object' && key !== null && ('d' in key || 'k' in key))
  )
}

/** Reads a document, already parsed as JSON. Throws invalid_client, with a message that names the fault to the developer. */
export function readDocument(json: unknown, client_id: string): ClientDocument {
  const { data, error } = Document.safeParse(json)
  if (error !== undefined) {
    const { path, message } = error.issues[0]!
    throw documentFault(`is not valid. ${path.join('.') || 'It'}: ${message}`)
  }
  // Compared as text (section 4), so a client cannot serve the document of another.
  if (data.client_id !== client_id)
    throw documentFault('is not valid. client_id: must be the address of the document')
  const { client_name, redirect_uris, client_uri } = data
  return {
    client_name,
    redirect_uris: [...new Set(redirect_uris)].filter((uri) => mayUse(uri, client_id)),
    homepage: client_uri !== undefined && isAtHome(client_uri, client_id) ? client_uri : null,
  }
}

/** Makes the answer to a request whose client has no usable document. It is the developer's fault, so it is a page. */
export function documentFault(what: string): AppError {
  return new AppError('invalid_client', `The client metadata document ${what}`, { data: { status: 400 } })
}

/**
 * Whether a client may use an address: on the origin of its document, on the member's own device by the loopback, or by a scheme
 * that begins with the reversed host. So a document sends no code to the site of another.
 */
function mayUse(redirect_uri: string, client_id: string): boolean {
  const { origin, hostname } = new URL(client_id)
  switch (kindOf(redirect_uri)) {
    case 'web':
      return new URL(redirect_uri).origin === origin
    case 'loopback':
      return true
    case 'scheme': {
      const reversed = hostname.split('.').reverse().join('.')
      return `${privateUseScheme(redirect_uri)}.`.startsWith(`${reversed}.`)
    }
  }
}

function isAtHome(client_uri: string, client_id: string): boolean {
  return (
    client_uri.length <= WEB_ADDRESS_LENGTH_MAX &&
    webAddressFault(client_uri) === undefined &&
    new URL(client_uri).host === new URL(client_id).host
  )
}

/** Returns a hash of what the member allows: the name and the addresses. */
export function versionOf({ client_name, redirect_uris }: ClientDocument): Buffer {
  return sha256(JSON.stringify([client_name, ...redirect_uris.toSorted()]))
}
