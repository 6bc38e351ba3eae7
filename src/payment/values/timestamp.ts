/** The timestamp of a signed request, the same for both doors. Pure. */
import { z } from 'zod'

/** How far a shop's clock may differ from ours. V2 clients allow our replies the same difference. */
export const DRIFT_SECONDS_MAX = 300

/** Seconds since the Unix epoch. */
export const Timestamp = z.string().regex(/^\d{10}$/)

/** Whether the timestamp is at most DRIFT_SECONDS_MAX from now. */
export function isFresh(timestamp: string, now: Date): boolean {
  // The pattern comes first: a comparison with NaN would not refuse anything.
  return Timestamp.safeParse(timestamp).success && secondsApart(timestamp, now) <= DRIFT_SECONDS_MAX
}

function secondsApart(timestamp: string, now: Date): number {
  return Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp))
}
