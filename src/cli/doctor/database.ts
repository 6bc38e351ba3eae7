/** The doctor's checks of the database: the server, the schema, the secrets and the books. */
import { sql } from 'kysely'
import pg from 'pg'
import { apartSentence, isApart, readDatabaseTime, secondsAhead } from '../../core/clock-check.ts'
import { hasRoom } from '../../database/can-write.ts'
import { connectionSettings, type Db } from '../../database/connection.ts'
import { requireMigrated } from '../../database/migrate.ts'
import { isRefused } from '../../database/named-statements.ts'
import { connectionFault } from '../../database/operator-messages.ts'
import { TIMEOUTS } from '../../database/timeouts.ts'
import { openSigningKeys } from '../../identity/keys/keys.ts'
import { lastProof } from '../../ledger/proofs.ts'
import { openSecrets } from '../../operations/first-start.ts'
import { holdsSecrets } from '../../operations/secret-proof.ts'
import { countWaiting } from '../../operations/secret-rotation.ts'
import {
  DRIFT_SECONDS_MAX,
  type Finding,
  fault,
  GOOD,
  type Installation,
  judged,
  off,
  sentenceFor,
} from './finding.ts'

const POSTGRES_MIN = 150_000

/** Checks that Postgres answers, is new enough, and gives its role the rights that the service needs. */
export async function examineDatabase({ db, refusal }: Installation): Promise<Finding> {
  if (refusal !== undefined) return fault(sentenceFor(refusal))
  try {
    return judged((await findVersionFault(db)) ?? (await findRightsFault(db)))
  } catch (error) {
    return fault(connectionFault(error))
  }
}

/** Names the version and the age of the built-in Postgres, which nobody updates but a new version of Tessera. */
export async function examineBuiltIn({ config, clock }: Installation): Promise<Finding> {
  if (config.DATABASE_URL !== undefined) return off('DATABASE_URL names another Postgres')
  // Imported only here, because production installs leave the binaries out.
  const { builtInRelease, sentenceOfRelease } = await import('../../database/embedded/release.ts')
  const release = await builtInRelease(clock())
  // Without the network, only the age says whether fixes are missing.
  return { state: release.isOld ? 'unknown' : 'good', note: sentenceOfRelease(release) }
}

async function settingOf(db: Db, name: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db)
  return rows[0]!.value
}

async function findVersionFault(db: Db): Promise<string | undefined> {
  if (Number(await settingOf(db, 'server_version_num')) >= POSTGRES_MIN) return undefined
  return `Postgres ${await settingOf(db, 'server_version')} is too old: 15 or newer is needed`
}

/** The role must read and write every table, and must create tables in the schema for migrations. */
async function findRightsFault(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ role: string; database: string; is_open: boolean | null }>`
    select quote_ident(current_user) as role, quote_ident(current_database()) as database,
      has_schema_privilege(current_schema(), 'create') as is_open`.execute(db)
  const { role, database, is_open } = rows[0]!
  if (!is_open)
    return `The role ${role} may not make tables in the schema public: as a superuser \`alter database ${database} owner to ${role}\`, or \`grant usage, create on schema public to ${role}\` in that database`
  const { rows: closed } = await sql<{ name: string; owner: string }>`
    select relname as name, quote_ident(pg_get_userbyid(relowner)) as owner
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not (
      has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete')
    )
    order by relname`.execute(db)
  const [first] = closed
  if (first === undefined) return undefined
  return `The role ${role} may not read and write ${closed.length} tables, such as ${first.name}, which belongs to ${first.owner}: set DATABASE_URL to that role, or give each to this one by \`alter table … owner to ${role}\``
}

/** Checks that the database accepts writes, and that they survive a power cut. */
export async function examineWrites({ db }: Installation): Promise<Finding> {
  const { rows } = await sql<{ is_standby: boolean }>`select pg_is_in_recovery() as is_standby`.execute(db)
  if (rows[0]!.is_standby)
    return fault('DATABASE_URL leads to a standby, which takes no writes: set it to the primary')
  if ((await settingOf(db, 'transaction_read_only')) === 'on')
    return fault(
      'Transactions are read only, so every write fails: `alter role … reset default_transaction_read_only`, and the same for `alter database`, unless postgresql.conf or DATABASE_URL says it',
    )
  if (!(await hasRoom(db)))
    return fault('The disk of the database is full, so writes fail: make room on it, or give it a larger one')
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if ((await settingOf(db, name)) === 'off')
      return fault(`${name} is off, so a power cut loses payments: turn it on in postgresql.conf`)
  }
  return GOOD
}

/** Checks that the database releases the locks of a process that hangs. */
export async function examineTimeouts({ db }: Installation): Promise<Finding> {
  for (const name of ['idle_in_transaction_session_timeout', 'lock_timeout'] as const) {
    if ((await settingOf(db, name)) === '0')
      return fault(
        `${name} is off, so one frozen process can stop payments: start the service once, which sets it for its role, and then end older connections (\`RECONNECT\` in pgbouncer); or as a superuser \`alter role … in database … set ${name} = '${TIMEOUTS[name]}'\``,
      )
  }
  return GOOD
}

/**
 * Checks that names of statements reach Postgres. An old pgbouncer gives two clients one connection, which refuses the name of
 * the second.
 */
export async function examineNames({ config, url }: Installation): Promise<Finding> {
  if (config.DATABASE_NAMED_STATEMENTS === 'off') return off('DATABASE_NAMED_STATEMENTS is off')
  const clients = [1, 2].map(() => new pg.Client(connectionSettings(url)))
  try {
    for (const client of clients) await client.connect()
    for (const [n, client] of clients.entries())
      await client.query({ name: 'tessera_doctor', text: `select ${n}` })
    return GOOD
  } catch (error) {
    if (!isRefused(error)) throw error
    return off(
      'pgbouncer does not keep them, so statements are parsed at each call: 1.21 or newer does, with max_prepared_statements; or set DATABASE_NAMED_STATEMENTS=off',
    )
  } finally {
    for (const client of clients) await client.end()
  }
}

/** Checks that the schema is that of this program. */
export async function examineSchema({ db }: Installation): Promise<Finding> {
  await requireMigrated(db)
  return GOOD
}

/** Checks that APP_SECRET decrypts everything that is encrypted, the signing keys first. */
export async function examineSecret({ config, db, clock }: Installation): Promise<Finding> {
  if (!(await holdsSecrets(db)))
    return { state: 'unknown', note: 'nothing is encrypted under it before the first start' }
  const secrets = await openSecrets(config, db)
  const foreign = await openSigningKeys({ db, secrets, clock }).unreadable()
  if (foreign.length > 0)
    return fault(
      `${foreign.length} signing keys were made under another APP_SECRET and never sign: run tessera keys rotate, which withdraws them`,
    )
  const waiting = await countWaiting({ db, secrets })
  if (waiting === 0) return GOOD
  const first = config.APP_SECRET_OTHER === undefined ? 'set that one as APP_SECRET_OTHER, and ' : ''
  return fault(
    `${waiting} stored secrets are encrypted under another APP_SECRET: ${first}run tessera keys rotate --app-secret`,
  )
}

/** Reads the last daily proof. A new proof would take too long with a large ledger. */
export async function examineBooks({ db }: Installation): Promise<Finding> {
  const last = await lastProof({ db })
  if (last === undefined)
    return {
      state: 'unknown',
      note: 'never proven: a running service proves them once a day, and tessera books verify at any time',
    }
  const at = last.finished_at.toISOString()
  if (last.is_sound) return { state: 'good', note: `passed at ${at}` }
  return fault(`The books did not pass at ${at}: tessera books verify says what is broken`)
}

/** Compares the clock of this machine with that of the database. */
export async function examineClock({ db, clock }: Installation): Promise<Finding> {
  const ahead = Math.round(await secondsAhead(clock, () => readDatabaseTime(db)))
  if (Math.abs(ahead) <= DRIFT_SECONDS_MAX) return GOOD
  const rest = isApart(ahead) ? '. Until then a process here is not ready, and its rounds rest' : ''
  return fault(`${apartSentence(ahead)}${rest}`)
}
