/** The installation that the doctor examines, the finding of a check, and the requests that checks send. */

import type { Db } from '../../database/connection.ts'
import { databaseFault } from '../../database/operator-messages.ts'
import { authorityCure } from '../../platform/authority.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Config, ConfigError } from '../../platform/config.ts'

export const DRIFT_SECONDS_MAX = 5
const REACH_TIMEOUT_MS = 10_000

export type Installation = {
  config: Config
  clock: Clock
  db: Db
  /** The address of `db`. */
  url: string
  /** Why the built-in Postgres does not start. Then `db` cannot be used. */
  refusal: Error | undefined
}

/**
 * The result of a check. Off: the subject is not configured, or not needed. Unknown: the check cannot decide yet.
 * Skipped: another check must pass first.
 */
export type Finding =
  | { state: 'good' | 'off' | 'unknown' | 'skipped'; note?: string }
  | { state: 'fault'; fault: string }

export const GOOD: Finding = { state: 'good' }

export function fault(text: string): Finding {
  return { state: 'fault', fault: text }
}

export function off(note: string): Finding {
  return { state: 'off', note }
}

/** A fault with this text, or good without one. */
export function judged(text: string | undefined): Finding {
  return text === undefined ? GOOD : fault(text)
}

/** The finding of a check that needs another check, which found a fault. */
export function skippedFor(check: string): Finding {
  return { state: 'skipped', note: `cannot be checked while ${check} is at fault` }
}

/** Describes an error to the operator in one line. */
export function sentenceFor(error: Error): string {
  if (error instanceof ConfigError) return error.faults.join('; ')
  return databaseFault(error) ?? error.message
}

/** Sends a request. Returns the answer with any status, or the error that prevented one. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REACH_TIMEOUT_MS) })
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause : (error as Error)
  }
}

/** Says that a server cannot be reached, why, and the cure. A certificate of a private authority has its own cure. */
export function cannotReach(server: string, error: Error, cure?: string): Finding {
  const { message, code } = error as NodeJS.ErrnoException
  const remedy = authorityCure(error) ?? cure
  // The error for several addresses that failed has only a code.
  return fault(
    `${server} cannot be reached: ${message || String(code)}${remedy === undefined ? '' : `: ${remedy}`}`,
  )
}
