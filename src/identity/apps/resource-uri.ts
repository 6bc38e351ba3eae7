/** The address of an application's service, which other applications name to get tokens for it (RFC 8707). */
import { type Tx, violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { kindOf, redirectUriFault } from './redirect-uris.ts'

export const RESOURCE_URI_LENGTH_MAX = 300

/** Removes the slash of an address without a path, so that both spellings of an origin are one resource. */
export function plainOrigin(uri: string): string {
  return /^https?:\/\/[^/?#]+\/$/i.test(uri) ? uri.slice(0, -1) : uri
}

/** Another reviewed application has this resource. Each caller says it in its own words. */
export class ResourceTaken extends Error {}

/**
 * Refuses a resource that the staff has reviewed for another application. Two applications that are not reviewed may name the
 * same one. Throws ResourceTaken.
 */
export async function requireFreeResource(
  tx: Tx,
  { resource_uri, id }: { resource_uri?: string | null | undefined; id?: bigint },
): Promise<void> {
  if (resource_uri === null || resource_uri === undefined) return
  const other = await tx
    .selectFrom('oauth_apps')
    .where('reviewed_resource_uri', '=', resource_uri)
    .select('id')
    .executeTakeFirst()
  if (other !== undefined && other.id !== id) throw new ResourceTaken()
}

/** Throws conflict for a review that failed because another application has this resource. Throws every other error. */
export function explainReview(error: unknown): never {
  if (violatedConstraint(error) !== 'oauth_apps_reviewed_resource_uri_key') throw error
  const message = 'Another reviewed application has the address of this service. Withdraw one of the two.'
  throw new AppError('conflict', message, { cause: error })
}

/**
 * Whether an address may be a resource on this site: https, or in development also http. A loopback address means another machine
 * for each member.
 */
export function mayBeResource(uri: string, isProduction: boolean): boolean {
  return !isProduction || /^https:/i.test(uri)
}

type Owner = { token_endpoint_auth_method: string; redirect_uris: string[] }

/**
 * Whether an application may have this resource: a confidential one, at a host of its own redirect URIs, because the tokens are as
 * good as its word.
 */
export function mayHaveResource(uri: string, app: Owner): boolean {
  if (app.token_endpoint_auth_method === 'none' || redirectUriFault(uri) !== undefined) return false
  if (!/^https?:/i.test(uri)) return false
  const { host } = new URL(uri)
  return app.redirect_uris.some((own) => kindOf(own) !== 'scheme' && URL.parse(own)?.host === host)
}
