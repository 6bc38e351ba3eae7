/**
 * How long the database waits: for locks, for statements, for a process that says nothing. A process that is frozen in a
 * transaction would hold its locks for ever. The values are kept with the role, in this database, because pgbouncer gives
 * a session's settings to other sessions.
 */
import { type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import type { Db, Tx } from './connection.ts'

/**
 * A wait for a lock ends before an idle transaction does. So of several transactions of one frozen process none gets the
 * lock of another, to hold it for as long again.
 */
export const TIMEOUTS = {
  idle_in_transaction_session_timeout: '4s',
  lock_timeout: '2500ms',
  // Less than a proxy waits for an answer.
  statement_timeout: '50s',
  // A host that is gone is noticed after two minutes, instead of two hours.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '6',
} as const

const UNLIMITED = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']
  .map((name) => `set local ${name} = 0`)
  .join('; ')

/** Lifts the timeouts until the transaction ends: for work that takes long and holds up nobody. */
export async function liftTimeouts(tx: Tx): Promise<void> {
  await sql.raw(UNLIMITED).execute(tx)
}

/** A transaction for statements that take as long as there are rows. */
export function unhurried<T>(db: Db, act: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await liftTimeouts(tx)
    return act(tx)
  })
}

/** The same, for a client without Kysely. */
export async function liftClientTimeouts(client: pg.Client): Promise<void> {
  await client.query(UNLIMITED)
}

/**
 * The value, for an argument of a function that locks rows: the function then waits so long for each lock at most. It is
 * no statement of its own: Postgres works out the arguments before it calls the function.
 */
export function within<T>(patience_ms: number, value: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`(select ${value} from set_config('lock_timeout', ${`${patience_ms}ms`}, true))`
}

/**
 * Gives the role each timeout that it does not have in this database; one that an operator has set stays. Answers whether
 * it gave any: connections take them on when they are opened. A role that may not change itself is left as it is, and
 * the doctor says so.
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
