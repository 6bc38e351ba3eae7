/** The pool and Kysely over it. `Db` may run anywhere; `Tx` must be inside a transaction. */
import { Kysely, type Logger, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { overloaded } from '../platform/errors.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** Of all ids, which are `bigint`: where a list from its end begins. */
export const BIGGEST_ID = 9_223_372_036_854_775_807n

const INT8 = 20
const INT8_ARRAY = 1016
const CONNECT_TIMEOUT_MS = 5_000
/** So long a connection may be silent before TCP asks whether the other side is there; without it, two hours. */
const KEEP_ALIVE_MS = 60_000
/** The pool's words for both: a place in it, and a new connection to the server. */
const WAITED_TOO_LONG =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/

const parseBigintArray = pg.types.getTypeParser(INT8_ARRAY as 20) as (text: string) => (string | null)[]

/** Points and ids exceed 2^53 in principle, so `bigint` columns arrive as BigInt, never as float or text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt
    if (oid === INT8_ARRAY)
      return (text: string) => parseBigintArray(text).map((n) => (n === null ? null : BigInt(n)))
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}

/** The settings every connection of ours has. No named statements and no start-up options: pgbouncer refuses them. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
}

/**
 * Opens the pool. Connections are made on first use; one that breaks is dropped and replaced. A statement that gets none
 * within five seconds throws overloaded: nothing of it was done, and it may be tried again.
 * @param onBroken is told of each break.
 * @param onStatement is told of each statement that has ended.
 */
export function openDatabase(
  url: string,
  options: { max: number; onBroken: (error: Error) => void; onStatement?: Logger | undefined },
): Db {
  const pool = new pg.Pool({ ...connectionSettings(url), max: options.max })
  // Also for connections in use: the query on it fails by itself, but an error event that nobody hears ends the process.
  pool.on('connect', (client) => client.on('error', options.onBroken))
  pool.on('error', options.onBroken)
  const log = options.onStatement ?? []
  const connect = () =>
    pool.connect().catch((error: Error) => {
      throw WAITED_TOO_LONG.test(error.message) ? overloaded(error) : error
    })
  const dialect = new PostgresDialect({ pool: { options: pool.options, connect, end: () => pool.end() } })
  const db = new Kysely<Tables>({ dialect, log })
  pools.set(db, pool)
  return db
}

/** Kysely does not give its pool out. */
const pools = new WeakMap<Db, pg.Pool>()

/** How many connections a pool has open, how many of them do nothing, and how many callers wait for one. */
export function poolUse(db: Db): { open: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {}
  return { open: totalCount, idle: idleCount, waiting: waitingCount }
}

/** The constraint that a failed statement violated, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined
}

/** Whether the statement was given up for another transaction that waited in a circle with it. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01'
}

/** Whether the database has understood a statement and will refuse it again: neither lost, nor busy, nor restarting. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|40|53|55|57|58)/.test(error.code ?? '')
}

/** Whether a statement was given up because others held what it had to lock, within the time that it was given. */
export function isLockedOut(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '55P03' || error.code === '57014')
}
