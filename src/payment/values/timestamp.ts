/** The timestamp of a signed request, as both doors take it. Pure. */
import { z } from 'zod'

/** How far the clock of a shop may be from ours. Verifiers of V2 allow our answers as much. */
export const DRIFT_SECONDS_MAX = 300

/** Seconds since 1970. */
export const Timestamp = z.string().regex(/^\d{10}$/)

/** Whether this is the time of a request that was signed just now. */
export function isFresh(timestamp: string, now: Date): boolean {
  // The pattern first: arithmetic with what is no number refuses nothing.
  return Timestamp.safeParse(timestamp).success && secondsApart(timestamp, now) <= DRIFT_SECONDS_MAX
}

function secondsApart(timestamp: string, now: Date): number {
  return Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp))
}
