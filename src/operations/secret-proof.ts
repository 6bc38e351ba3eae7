/**
 * Proves that APP_SECRET is the one that encrypted a database. The service must not write with another one: its rows
 * could not be decrypted with the right one.
 */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { ConfigError } from '../platform/config.ts'
import type { Secrets } from '../platform/secrets.ts'
import { ENCRYPTED, type Facts } from './secret-rotation.ts'

/** Tables that every installation fills, or keeps for long. Their oldest rows are older than a recent mistake. */
const LASTING = ['signing_keys', 'payment_app_keys', 'second_factors']

/** Runs one statement, also within a transaction without Kysely. */
export type Ask = (statement: string) => Promise<{ rows: unknown[] }>

export const askOf =
  (db: Db): Ask =>
  (statement) =>
    sql.raw(statement).execute(db)

/** A ciphertext and its encryption context. */
export type Sample = { context: string; ciphertext: Buffer }

/** Whether the database holds a ciphertext of any APP_SECRET. */
export async function holdsSecrets(db: Db): Promise<boolean> {
  return (await samplesOf(askOf(db))).length > 0
}

/**
 * Throws ConfigError when the secrets open no sample. Secrets that open the oldest row of one kind are right. The newest
 * rows prove nothing: a start with a wrong APP_SECRET may have written them. Another kind that does not open shows an
 * unfinished change of APP_SECRET, which is not an error here.
 * @param named names the secret and the source of the samples in the error.
 */
export function proveSecrets(
  samples: Sample[],
  secrets: Secrets,
  named: { secret: string; source: string },
): void {
  if (samples.some((sample) => opens(secrets, sample))) return
  throw new ConfigError([
    `${named.secret} is not the one under which ${named.source} was encrypted: set APP_SECRET to that one (a first start without APP_SECRET keeps it in DATA_DIR, as app-secret)`,
  ])
}

/** The oldest ciphertext of each kind in the database. */
export async function samplesOf(ask: Ask): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const { table, id, column, facts, contextOf } of ENCRYPTED) {
    if (!LASTING.includes(table)) continue
    const { rows } = await ask(
      `select ${column} as ciphertext, ${facts.join(', ')} from ${table} where ${column} is not null order by ${id} limit 1`,
    )
    for (const { ciphertext, ...row } of rows as (Facts & { ciphertext: Buffer })[])
      samples.push({ context: contextOf(row), ciphertext })
  }
  return samples
}

function opens(secrets: Secrets, { context, ciphertext }: Sample): boolean {
  try {
    secrets.decrypt(context, ciphertext)
    return true
  } catch {
    return false
  }
}
