// This room: what every OAuth endpoint of the service shares: parameters, the client's credentials, failures.
// Verbs: presentedCredentials, countRefusedClient, singleValues, formValues, sendOAuthError.
// Clauses: spec/sign-in 2.2, 2.4 and 6.1.
/** The credentials of an OAuth client in a request (RFC 6749 2.3.1): the Basic header, parameters of the body, or both alike. */
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { AppError } from '../../platform/errors.ts'
import { BASIC_CHALLENGE } from './errors.ts'

export type Credentials = { client_id: string | undefined; client_secret: string | undefined }

/**
 * Returns the credentials of a request. An empty secret counts as omitted, also in the header, as RFC 6749 2.3.1 allows. Throws
 * invalid_request when header and body differ. Undefined for a header that is not readable.
 */
export function presentedCredentials(
  authorization: string | undefined,
  body: { client_id?: string | undefined; client_secret?: string | undefined },
): Credentials | undefined {
  const { client_id, client_secret } = body
  if (authorization === undefined) return { client_id, client_secret }
  const credentials = readBasic(authorization)
  for (const name of ['client_id', 'client_secret'] as const) {
    if (credentials !== undefined && body[name] !== undefined && body[name] !== credentials[name])
      throw new AppError('invalid_request', `${name} differs between header and body`)
  }
  return credentials
}

/**
 * Counts a client that has not proved itself, and records it for administrators. Throws too_many_attempts above the limit.
 * @param key of the count: the client and its network, or one key of all unknown clients, because each count is a row.
 */
export async function countRefusedClient(
  { db, limits }: Core,
  { client_id, key, address, at }: { client_id: string; key: string; address: string; at: Date },
): Promise<void> {
  limits.refuseFull('token_failures', key)
  try {
    await limits.hit('token_failures', key)
  } catch (error) {
    await recordRefusal(db, { kind: 'client_throttled', client_id, address, at })
    throw error
  }
  await recordRefusal(db, { kind: 'client_refused', client_id, address, at })
}

/** Makes invalid_client, with a Basic challenge if the client used the header (RFC 6749 5.2). */
export function invalidClient(usedHeader: boolean): AppError {
  const data = usedHeader ? { challenge: BASIC_CHALLENGE } : {}
  return new AppError('invalid_client', 'The client ID or the client secret is wrong', { data })
}

/** Reads Basic credentials. Both halves are form-encoded before the pair is base64-encoded (RFC 6749 2.3.1). */
function readBasic(authorization: string): Credentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  // Some clients leave the padding out.
  if (withoutPadding(bytes.toString('base64')) !== withoutPadding(encoded)) return undefined
  const pair = bytes.toString()
  const colon = pair.indexOf(':')
  if (colon === -1) return undefined
  const client_id = decodeForm(pair.slice(0, colon))
  const client_secret = decodeForm(pair.slice(colon + 1))
  // Postgres stores no NUL, so no client has one.
  if (client_id === undefined || client_secret === undefined || client_id.includes('\0')) return undefined
  return { client_id, client_secret: client_secret === '' ? undefined : client_secret }
}

const withoutPadding = (base64: string) => base64.replace(/=+$/, '')

function decodeForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
