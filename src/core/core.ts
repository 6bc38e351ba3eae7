/** The core, which every area receives. The process opens it once, at start, and passes it down as a value. */
import type { Batching } from '../database/batcher.ts'
import type { Db } from '../database/connection.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Tracing } from '../platform/tracing.ts'
import { type ClockCheck, type DatabaseTime, openClockCheck, readDatabaseTime } from './clock-check.ts'
import { type Limits, openLimits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import { openSettings, type Settings } from './settings.ts'

export type Core = {
  config: Config
  db: Db
  clock: Clock
  /** Acts that end a thing for good use this time. A test that moves its clock moves this time too. */
  databaseTime: DatabaseTime
  clockCheck: ClockCheck
  secrets: Secrets
  settings: Settings
  limits: Limits
  /** Undefined where no METRICS_PORT is set. */
  metrics: Metrics | undefined
  /** Undefined where no traces are exported. */
  tracing: Tracing | undefined
  /** Replaces the usual limits of the batches. Only the benches set it. */
  batching: Batching
}

/** The parts that the caller opens and closes. */
export type Given = Pick<Core, 'config' | 'db' | 'clock' | 'secrets'> &
  Partial<Pick<Core, 'databaseTime' | 'metrics' | 'tracing' | 'batching'>>

/** Opens the core. The caller shares the counts of `limits` before it closes the database. */
export function openCore(given: Given): Core {
  const { config, db, clock, secrets, metrics, tracing, batching = {} } = given
  const { databaseTime = () => readDatabaseTime(db) } = given
  const clockCheck = openClockCheck({ clock, databaseTime })
  const settings = openSettings(db)
  const limits = openLimits({ db, settings, clock })
  return {
    config,
    db,
    clock,
    databaseTime,
    clockCheck,
    secrets,
    settings,
    limits,
    metrics,
    tracing,
    batching,
  }
}
