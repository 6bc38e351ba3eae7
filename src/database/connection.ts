/** The pool and Kysely over it. `Db` may run anywhere; `Tx` must be inside a transaction. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

const INT8 = 20
const INT8_ARRAY = 1016
const CONNECT_TIMEOUT_MS = 5_000

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
  return { connectionString: url, types, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true }
}

/**
 * Opens the pool. Connections are made on first use; a connection that breaks while idle is dropped and replaced.
 * @param onIdleError is told of such a break; without it one lost idle connection would end the process.
 */
export function openDatabase(url: string, options: { max: number; onIdleError: (error: Error) => void }): Db {
  const pool = new pg.Pool({ ...connectionSettings(url), max: options.max })
  pool.on('error', options.onIdleError)
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** The constraint that a failed statement violated, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined
}
