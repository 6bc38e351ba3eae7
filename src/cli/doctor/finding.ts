/** What the doctor looks at, what a check finds there, and how it asks a server. */

import type { Db } from '../../database/connection.ts'
import { databaseFault } from '../../database/faults.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Config, ConfigError } from '../../platform/config.ts'

export const DRIFT_SECONDS_MAX = 5
const REACH_TIMEOUT_MS = 10_000

export type Installation = {
  config: Config
  clock: Clock
  db: Db
  /** Why the built-in Postgres does not start; `db` leads nowhere then. */
  refusal: Error | undefined
}

/**
 * What a check has found. Off: it is not configured, or not needed. Unknown: nothing can tell yet. Skipped: another check
 * must be good first.
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

/** A fault, if there is one. */
export function judged(text: string | undefined): Finding {
  return text === undefined ? GOOD : fault(text)
}

/** While another check has found a fault, without whose subject nothing can be told. */
export function skippedFor(check: string): Finding {
  return { state: 'skipped', note: `cannot be told while ${check} is at fault` }
}

/** What an error tells the operator, in one line. */
export function sentenceFor(error: Error): string {
  if (error instanceof ConfigError) return error.faults.join('; ')
  return databaseFault(error) ?? error.message
}

/** The answer, whatever its status, or why there is none. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REACH_TIMEOUT_MS) })
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause : (error as Error)
  }
}

/** Of several addresses tried in vain the error says nothing but its code. */
export function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  return message || String(code)
}
