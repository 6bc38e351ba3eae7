/**
 * Compares the clock of this process with Postgres'. While the two are more than two minutes apart, the process is not ready
 * and its rounds rest. Acts that end a thing for good use the database's time, so a wrong clock ends nothing.
 * spec/limits 3.3.
 */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import type { Clock } from '../platform/clock.ts'

const COMPARED_EVERY_MS = 60_000
/** A process whose clock differs by more is not ready. */
export const APART_SECONDS_MAX = 120

/** Returns the database's time. */
export type DatabaseTime = () => Promise<Date>

export type ClockCheck = {
  /**
   * Returns by how many seconds this clock is ahead of Postgres', negative when it is behind, or undefined while the two are
   * within two minutes. Throws the error of a database that does not answer.
   */
  secondsApart(): Promise<number | undefined>
}

/** Reads the time of Postgres. */
export async function readDatabaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  return rows[0]!.now
}

/**
 * Returns by how many seconds the clock is ahead of the database's at least, negative when it is behind. Postgres read its
 * clock at some moment of the question, so a slow answer shows no difference.
 */
export async function secondsAhead(clock: Clock, databaseTime: DatabaseTime): Promise<number> {
  const before = clock().getTime()
  const there = (await databaseTime()).getTime()
  const after = clock().getTime()
  return (Math.max(0, before - there) + Math.min(0, after - there)) / 1000
}

/**
 * Opens the check of a process. It asks Postgres once a minute. Between, it expects the clock to go as fast as the time that
 * the process counts. It asks at once when the clock does not, and while the clocks are apart.
 */
export function openClockCheck({
  clock,
  databaseTime,
}: {
  clock: Clock
  databaseTime: DatabaseTime
}): ClockCheck {
  let last: { ahead_seconds: number; at_ms: number; clock_ms: number } | undefined
  const isKnown = () => {
    if (last === undefined || isApart(last.ahead_seconds)) return false
    const passed_ms = performance.now() - last.at_ms
    const jumped_seconds = (clock().getTime() - last.clock_ms - passed_ms) / 1000
    return passed_ms < COMPARED_EVERY_MS && !isApart(last.ahead_seconds + jumped_seconds)
  }
  return {
    async secondsApart() {
      if (isKnown()) return undefined
      const ahead_seconds = await secondsAhead(clock, databaseTime)
      last = { ahead_seconds, at_ms: performance.now(), clock_ms: clock().getTime() }
      return isApart(ahead_seconds) ? Math.round(ahead_seconds) : undefined
    },
  }
}

/** Describes clocks that are apart to the operator. */
export function apartSentence(ahead_seconds: number): string {
  const where = ahead_seconds > 0 ? 'ahead of' : 'behind'
  return `The clock of this machine is ${Math.abs(ahead_seconds)} seconds ${where} Postgres': synchronise both by NTP`
}

/** Whether a process is not ready with this difference. */
export function isApart(ahead_seconds: number): boolean {
  return Math.abs(ahead_seconds) > APART_SECONDS_MAX
}
