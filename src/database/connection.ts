/** The pool and Kysely over it. `Db` may run anywhere; `Tx` must be inside a transaction. */
import { Kysely, type Logger, PostgresDialect, type PostgresPoolClient, type Transaction } from 'kysely'
import pg from 'pg'
import { overloaded } from '../platform/errors.ts'
import { type Naming, nameStatements } from './named-statements.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** The largest `bigint`. A list that starts with the newest row starts below it. */
export const BIGGEST_ID = 9_223_372_036_854_775_807n

const INT8 = 20
const INT8_ARRAY = 1016
const DATE = 1082
const CONNECT_TIMEOUT_MS = 5_000
/** How long a connection may be silent before TCP probes the other side. The system's default is two hours. */
const KEEP_ALIVE_MS = 60_000
/** The pool's messages after waiting too long, for a free connection and for a new one. */
const WAITED_TOO_LONG =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/

const parseBigintArray = pg.types.getTypeParser(INT8_ARRAY as 20) as (text: string) => (string | null)[]

/** Parses `bigint` columns as BigInt, because points and ids may exceed 2^53. A day stays text, because it is no moment. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return BigInt
    if (oid === DATE) return (text: string) => text
    if (oid === INT8_ARRAY)
      return (text: string) => parseBigintArray(text).map((n) => (n === null ? null : BigInt(n)))
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}

/** Returns the settings of every connection. It uses no start-up options, because pgbouncer refuses them. */
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
 * Opens the pool. It connects on first use, and replaces a connection that breaks. A statement that gets no connection
 * within 5 seconds throws overloaded; it has not run, and the caller may try it again.
 * @param options.onBroken receives the error of each broken connection.
 * @param options.onStatement receives each finished statement.
 * @param options.naming lets the statements of batches have names. Without it none has one.
 */
export function openDatabase(
  url: string,
  options: {
    max: number
    onBroken: (error: Error) => void
    onStatement?: Logger | undefined
    naming?: Naming | undefined
  },
): Db {
  const pool = new pg.Pool({ ...connectionSettings(url), max: options.max })
  // Listens on connections in use too: their queries fail anyway, but an unhandled error event ends the process.
  pool.on('connect', (client) => client.on('error', options.onBroken))
  pool.on('error', options.onBroken)
  const log = options.onStatement ?? []
  const wrap = makeWrap(options.naming)
  const connect = async () => {
    const client = await pool.connect().catch((error: Error) => {
      throw WAITED_TOO_LONG.test(error.message) ? overloaded(error) : error
    })
    return wrap(client)
  }
  const dialect = new PostgresDialect({ pool: { options: pool.options, connect, end: () => pool.end() } })
  const db = new Kysely<Tables>({ dialect, log })
  pools.set(db, pool)
  return db
}

/** Makes the function that gives a client of the pool the same wrapper each time. */
function makeWrap(naming: Naming | undefined): (client: pg.PoolClient) => PostgresPoolClient {
  if (naming === undefined) return (client) => client
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return (client) => {
    const wrapper = wrappers.get(client) ?? nameStatements(client, naming)
    wrappers.set(client, wrapper)
    return wrapper
  }
}

/** The pool of each `Db`, because Kysely does not expose it. */
const pools = new WeakMap<Db, pg.Pool>()

/** Returns a pool's open connections, its idle ones, and the callers that wait for one. */
export function poolUse(db: Db): { open: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(db) ?? {}
  return { open: totalCount, idle: idleCount, waiting: waitingCount }
}

/** Returns the constraint that a failed statement violated, or undefined for other errors. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined
}

/** Whether Postgres cancelled the statement to end a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01'
}

/** Whether the database refused a statement and will refuse it again, so that it was not lost, overloaded or restarting. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|40|53|55|57|58)/.test(error.code ?? '')
}

/** Whether a statement timed out, because other transactions held its locks for too long. */
export function isLockedOut(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '55P03' || error.code === '57014')
}
