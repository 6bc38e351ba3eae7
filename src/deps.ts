/** What the parts of the application are built from. Made once at start, passed down as values. */
import type { Config } from './config.ts'
import type { Db } from './database/connection.ts'
import type { SigningKeys } from './identity/keys.ts'
import type { Limits } from './limits.ts'
import type { GatewayKeys } from './payment/gateway/keys.ts'
import type { Secrets } from './secrets.ts'
import type { Settings } from './settings.ts'

/** The one source of time. Tests move it. */
export type Clock = () => Date

export type Deps = {
  config: Config
  db: Db
  clock: Clock
  secrets: Secrets
  settings: Settings
  signingKeys: SigningKeys
  limits: Limits
  gatewayKeys: GatewayKeys
}
