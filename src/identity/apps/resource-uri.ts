/** The address of an application's service, which other applications name to get tokens for it (RFC 8707). */
import { violatedConstraint } from '../../database/connection.ts'
import { kindOf, redirectUriFault } from './redirect-uris.ts'

export const RESOURCE_URI_LENGTH_MAX = 300

/** Removes the slash of an address without a path, so that both spellings of an origin are one resource. */
export function plainOrigin(uri: string): string {
  return /^https?:\/\/[^/?#]+\/$/i.test(uri) ? uri.slice(0, -1) : uri
}

/** Whether a change failed because another application has this resource. */
export function isResourceTaken(error: unknown): boolean {
  return violatedConstraint(error) === 'oauth_apps_resource_uri_key'
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
