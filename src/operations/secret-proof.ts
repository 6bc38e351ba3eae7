/**
 * Whether an APP_SECRET is the one that a database was filled under. Nothing is read or written with one that is not: what
 * it encrypts, nobody who has the right one can open.
 */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { ConfigError } from '../platform/config.ts'
import type { Secrets } from '../platform/secrets.ts'
import { ENCRYPTED, type Facts } from './secret-rotation.ts'

/** What every installation has, or keeps for long. Their oldest rows are from before any mistake. */
const LASTING = ['signing_keys', 'payment_app_keys', 'second_factors']

/** Asks the database one question; also within a transaction that is no Kysely's. */
export type Ask = (statement: string) => Promise<{ rows: unknown[] }>

export const askOf =
  (db: Db): Ask =>
  (statement) =>
    sql.raw(statement).execute(db)

/** A ciphertext, and what it was encrypted for. */
export type Sample = { context: string; ciphertext: Buffer }

/** Whether the database holds anything that was encrypted under an APP_SECRET. */
export async function holdsSecrets(db: Db): Promise<boolean> {
  return (await samplesOf(askOf(db))).length > 0
}

/**
 * Throws ConfigError when the samples were encrypted under another. One that opens the oldest of any kind is right. To open
 * the newest proves nothing: a mistake may just have put it there. And one of a kind that does not open is a matter of its
 * own: of a change of APP_SECRET that was not finished.
 * @param named what the sentence calls the secret, and where the samples are from.
 */
export function proveSecrets(
  samples: Sample[],
  secrets: Secrets,
  named: { secret: string; source: string },
): void {
  if (samples.some((sample) => opens(secrets, sample))) return
  throw new ConfigError([
    `${named.secret} is not the one under which ${named.source} was encrypted: set APP_SECRET to that one (a first start that was given none has kept it in its DATA_DIR, as app-secret)`,
  ])
}

/** The oldest ciphertext of each kind that there is. */
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
