/** The discovery address, which configures a client. */
import type { Config } from '../../platform/config.ts'

export const DISCOVERY_PATH = '/.well-known/openid-configuration'

/** Returns the discovery address of this site. */
export function discoveryUrl({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  return PUBLIC_URL + DISCOVERY_PATH
}

export const DEVICE_AUTHORIZATION_PATH = '/oauth2/device_authorization'
