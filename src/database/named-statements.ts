/**
 * Named statements, which Postgres parses once for each connection. The batches use them, because each of their texts runs all the
 * time. A name is made from its text, so a connection of pgbouncer that another client has used holds the same text under it.
 */
import { hash } from 'node:crypto'
import { type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'

const MARK = '/* named */'
/** The mark stands behind the first word, which names the statement in traces. */
const MARK_END_MAX = 40

const DUPLICATE_NAME = '42P05'
const UNKNOWN_NAME = '26000'

/** Whether a process names statements. It stops when something between it and Postgres does not keep them. */
export type Naming = {
  isOn: boolean
  /** Receives the refusal that ended the naming. */
  onRefused: (error: Error) => void
}

/**
 * Follows the `select` of a statement that may have a name: the call of one database function, whose plan cannot become a bad
 * one while tables grow. Its text must be the same at every call, so lists are array parameters. It has no name inside a
 * transaction, which a refused name would abort.
 */
export const named = sql.raw(MARK)

/** Wraps a connection, so that its marked statements get names. */
export function nameStatements(client: pg.PoolClient, naming: Naming): PostgresPoolClient {
  // A new generation of names leaves the plans that a migration made useless.
  let generation = 0

  const queryNamed = async (text: string, values: unknown[]) => {
    const name = `${hash('sha1', text)}_${generation}`
    try {
      return await client.query({ name, text, values })
    } catch (error) {
      // Postgres refused the name before it ran anything.
      if (isOutdated(error)) generation += 1
      else if (isRefused(error)) stopNaming(naming, error)
      else throw error
      return client.query(text, values)
    }
  }
  const query = (text: string, values: unknown[]) => {
    const mayName =
      naming.isOn && text.slice(0, MARK_END_MAX).includes(MARK) && client.getTransactionStatus() === 'I'
    return mayName ? queryNamed(text, values) : client.query(text, values)
  }
  // Nothing reads by a cursor, which is the other form of the driver's query.
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy),
  }
}

/** A connection may be refused after another one, which has already reported it. */
function stopNaming(naming: Naming, error: Error): void {
  if (!naming.isOn) return
  naming.isOn = false
  naming.onRefused(error)
}

/** Whether a migration changed the columns of a statement's result. The routine does not depend on the server's language. */
function isOutdated(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.routine === 'RevalidateCachedQuery'
}

/** Whether the connection does not keep names: a pgbouncer below 1.21 in transaction mode. */
export function isRefused(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && (error.code === DUPLICATE_NAME || error.code === UNKNOWN_NAME)
}
