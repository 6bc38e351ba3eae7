/**
 * Timeouts of the database for locks, statements and idle transactions. Without them a process that is frozen in a
 * transaction holds its locks for ever. They are settings of the role in this database, because pgbouncer shares the
 * settings of a session among clients.
 */
import { type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import type { Db, Tx } from './connection.ts'

/**
 * A wait for a lock ends before an idle transaction does. So when a frozen process has several transactions, none of them
 * gets the lock of another and holds it for as long again.
 */
export const TIMEOUTS = {
  idle_in_transaction_session_timeout: '4s',
  lock_timeout: '2500ms',
  // Shorter than a proxy waits for an answer.
  statement_timeout: '50s',
  // Postgres notices a lost host after two minutes, instead of two hours.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '6',
} as const

const UNLIMITED = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']
  .map((name) => `set local ${name} = 0`)
  .join('; ')

/** Lifts the timeouts until the transaction ends, for long work that locks nothing others need. */
export async function liftTimeouts(tx: Tx): Promise<void> {
  await sql.raw(UNLIMITED).execute(tx)
}

/** Runs a transaction without timeouts, for statements whose duration grows with the number of rows. */
export function unhurried<T>(db: Db, act: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await liftTimeouts(tx)
    return act(tx)
  })
}

/** Lifts the timeouts on a client without Kysely. */
export async function liftClientTimeouts(client: pg.Client): Promise<void> {
  await client.query(UNLIMITED)
}

/**
 * Wraps an argument of a database function that locks rows, so that the function waits `patience_ms` at most for each lock.
 * It needs no statement of its own, because Postgres evaluates the arguments before it calls the function.
 */
export function within<T>(patience_ms: number, value: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`(select ${value} from set_config('lock_timeout', ${`${patience_ms}ms`}, true))`
}

/**
 * Gives the role each timeout that it does not have in this database; values of the operator stay. Returns whether it gave
 * any, because only connections opened later have them. A role that may not change itself stays as it is, and
 * `tessera doctor` reports it.
 */
export async function giveTimeouts(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ database: string; given: string[] }>(`
    select current_database() as database, coalesce((
      select array_agg(split_part(setting, '=', 1)) from pg_db_role_setting, unnest(setconfig) as setting
      where setrole = current_user::regrole
        and setdatabase = (select oid from pg_database where datname = current_database())
    ), '{}') as given`)
  const { database, given } = rows[0]!
  const missing = Object.entries(TIMEOUTS).filter(([name]) => !given.includes(name))
  if (missing.length === 0) return false
  const role = `alter role current_user in database ${pg.escapeIdentifier(database)}`
  await client.query('savepoint timeouts')
  try {
    for (const [name, value] of missing) await client.query(`${role} set ${name} = '${value}'`)
    return true
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '42501') throw error
    await client.query('rollback to timeouts')
    return false
  }
}
