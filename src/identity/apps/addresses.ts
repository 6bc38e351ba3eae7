/** The addresses of this site that clients are told. */
import type { Config } from '../../platform/config.ts'

export const DISCOVERY_PATH = '/.well-known/openid-configuration'

/** Returns the discovery address of this site. */
export function discoveryUrl({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  return PUBLIC_URL + DISCOVERY_PATH
}

/** RFC 9728 3. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
export const USERINFO_PATHS = ['/oauth2/userinfo', '/oauth-provider/userinfo']
export const DEVICE_AUTHORIZATION_PATH = '/oauth2/device_authorization'

export const AUTHORIZATION_PATH = '/oauth2/auth'
export const AUTHORIZATION_PATHS = [AUTHORIZATION_PATH, '/oauth2/authorize', '/oauth-provider/authorize']

/** Where a sign-in that an owner tries comes back to. It is of this site, registered for no application, and the owner's alone. */
export function trialAddress({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, client_id: string): string {
  return `${PUBLIC_URL}/apps/${client_id}/test/answer`
}
