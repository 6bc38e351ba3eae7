/** Explains to the operator in one sentence why a database is unusable, and how to mend it. spec/limits 3.2. */
import pg from 'pg'
import { authorityCure } from '../platform/authority.ts'
import { AppError } from '../platform/errors.ts'

/** The operator has to mend the database first. The message is a complete explanation. */
export class DatabaseFault extends Error {}

const CORRECT_ADDRESS = 'correct host and port, or open the way to it'

/** Codes of the system, of Node and of Postgres for a database that is unreachable or refuses the connection, and cures. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'start Postgres there, or correct host and port',
  ECONNRESET: 'see whether Postgres runs there',
  ENOTFOUND: 'correct the host',
  EAI_AGAIN: 'correct the host, or mend the DNS',
  ETIMEDOUT: CORRECT_ADDRESS,
  EHOSTUNREACH: CORRECT_ADDRESS,
  ENETUNREACH: CORRECT_ADDRESS,
  '28P01': 'correct its name and password, with special characters percent-encoded',
  '28000': 'the role must exist, may log in, and be let in by pg_hba.conf',
  '3D000': 'correct its name, or make it with `create database … owner …`',
  '53300': 'lower DATABASE_POOL_MAX, or raise max_connections',
  '57P03': 'wait until Postgres has started',
}

/**
 * Messages of pgbouncer and cures. It has one code for all of them. Its own login at Postgres names a user; that of a client
 * names none.
 */
const POOLER_CODE = '08P01'
const POOLER_REFUSALS: [message: RegExp, cure: string][] = [
  [
    /^((SASL|password) authentication failed$|no such user)/,
    'correct name and password, with special characters percent-encoded, and compare both with the auth_file of pgbouncer',
  ],
  [
    /^password authentication failed for user/,
    'Postgres refuses pgbouncer: correct the password for this user in the auth_file or in [databases] of pgbouncer',
  ],
  [/^no such database/, 'correct its name, or add it to [databases] of pgbouncer'],
  [/^server login has been failing/, 'pgbouncer does not come into Postgres: its log says why'],
]
/** While its own login fails, pgbouncer repeats the error of the last try to each client. */
const REPEATED = /^server login has been failing, cached error: (.+) \(server_login_retry\)$/s

const REFUSALS: Record<string, string> = {
  '53100': 'make room on the disk of the database, or give it a larger one',
  '25006':
    'the database takes no writes: set DATABASE_URL to the primary and not a standby, and take default_transaction_read_only away from role and database',
  '42501':
    'the role of DATABASE_URL lacks a right: `alter database … owner to …` lets it make tables, `alter table … owner to …` gives it those of another role',
}

/** The database has no tables of Tessera, not even schema_migrations. */
export const NOT_SET_UP =
  'The database has not been set up: run `tessera migrate`, or start the service, which does it'

/**
 * Connections (08, 57), deadlocks and races (40), disk and memory (53), the server's system (58), a read-only database
 * (25006), an idle transaction that was ended (25P03), and a lock that was not available (55P03).
 */
const PASSING = /^(08|40|53|57|58|25006|25P03|55P03)/
/** The client's messages for a connection that is lost or closed by the server. */
const CONNECTION_GONE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed and is not queryable)/

/** Whether an error is temporary, so that the same statement may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return PASSING.test(error.code ?? '')
  if (!(error instanceof Error) || error instanceof AppError) return false
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return CONNECTION_GONE.test(error.message) || (syscall !== undefined && code in UNREACHABLE)
}

/** Explains an error of the database that an operator can mend. Returns undefined for any other error. */
export function databaseFault(error: unknown): string | undefined {
  if (error instanceof DatabaseFault) return error.message
  const { code = '', message } = error as NodeJS.ErrnoException
  const cure = UNREACHABLE[code] ?? poolerCure(code, message)
  if (cure !== undefined) return unreachable(message || code, cure)
  if (error instanceof AppError && code === 'overloaded' && error.cause instanceof Error)
    return unreachable('it does not answer in time', CORRECT_ADDRESS)
  if (REFUSALS[code] !== undefined) return `${capitalised(message)}: ${REFUSALS[code]}`
  if (code === '42P01' && message.includes('"schema_migrations"')) return NOT_SET_UP
  return undefined
}

/** Explains any error of the first statement on a database, because after it the database is unusable. */
export function connectionFault(error: unknown): string {
  return (
    databaseFault(error) ??
    unreachable((error as Error).message, authorityCure(error as Error) ?? CORRECT_ADDRESS)
  )
}

function poolerCure(code: string, message: string): string | undefined {
  if (code !== POOLER_CODE) return undefined
  const own = REPEATED.exec(message)?.[1] ?? message
  return [own, message].flatMap((text) => POOLER_REFUSALS.filter(([refusal]) => refusal.test(text)))[0]?.[1]
}

function unreachable(why: string, cure: string): string {
  return `DATABASE_URL leads to no database that can be used: ${why} (${cure})`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
