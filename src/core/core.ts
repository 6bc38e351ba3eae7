/** What the parts of the application are built from. Made once at start, passed down as values. */

import type { Batching } from '../database/batcher.ts'
import type { Db } from '../database/connection.ts'
import type { FindSamples } from '../docs/samples.ts'
import { openSigningKeys, type SigningKeys } from '../identity/keys/keys.ts'
import { type Notifier, openNotifier } from '../payment/notifications/worker.ts'
import { type GatewayKeys, openGatewayKeys } from '../payment/signing/gateway-keys.ts'
import type { Config } from '../platform/config.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Tracing } from '../platform/tracing.ts'
import { type Limits, openLimits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import { openSettings, type Settings } from './settings.ts'

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
  notifier: Notifier
  /** Absent where nobody watches. */
  metrics: Metrics | undefined
  /** Absent unless traces go somewhere. */
  tracing: Tracing | undefined
  /** Keys that the examples of the reference are made with, where they may be shown: in the demo. */
  findSamples?: FindSamples
  /** Other limits of the payment area's batches than the usual ones: for the bench. */
  batching?: Batching
  /** Where the log goes instead of standard output. */
  logTo?: NodeJS.WriteStream | undefined
}

/** Whoever opens the parts closes `limits`, which may hold counts, and then the database. */
export function openDeps({
  config,
  db,
  secrets,
  clock,
  metrics,
  tracing,
  batching = {},
  logTo,
}: Pick<Deps, 'config' | 'db' | 'secrets' | 'clock' | 'batching' | 'logTo'> &
  Partial<Pick<Deps, 'metrics' | 'tracing'>>): Deps {
  const settings = openSettings(db)
  const gatewayKeys = openGatewayKeys({ db, secrets, batching, clock })
  return {
    config,
    db,
    clock,
    secrets,
    settings,
    signingKeys: openSigningKeys({ db, secrets, clock }),
    limits: openLimits({ db, settings, clock }),
    gatewayKeys,
    notifier: openNotifier({ config, db, clock, secrets, gatewayKeys, metrics, tracing }),
    metrics,
    tracing,
    batching,
    logTo,
  }
}
