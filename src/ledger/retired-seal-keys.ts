/**
 * Keeps the seal key of an old APP_SECRET, encrypted by the new one, because old seals need it. The key is valid only for
 * journals that were sealed before the change. So an attacker with the old APP_SECRET cannot seal new journals.
 */
import { createSecretKey } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { isSealedBy, type Seal, type SealKey, type Secrets } from '../platform/secrets.ts'

/** The encryption context of a retired key. It includes the row's facts, so a changed row does not decrypt. */
export const retiredKeyContext = (key_id: Buffer, last_journal_id: bigint) =>
  `retired_seal_keys ${key_id.toString('hex')} ${last_journal_id}`

/** Whether a retired key made the seal of this journal. Undefined if the seal names no retired key. */
export type IsSealedBefore = (
  purpose: string,
  sealed: { journal_id: bigint; hash: Buffer } & Seal,
) => boolean | undefined

/**
 * Retires the seal key of the other APP_SECRET, for the journals that it has sealed so far. It blocks sealing meanwhile. A
 * repeated call also covers later seals. Returns the last journal, or undefined if that key has sealed none.
 */
export async function retireSealKey(db: Db, secrets: Secrets): Promise<bigint | undefined> {
  const retired = secrets.otherSealKey
  if (retired === undefined) return undefined
  const { key, key_id } = retired
  return db.transaction().execute(async (tx) => {
    await sql`select from journal_sealing for update`.execute(tx)
    const { last } = await tx
      .selectFrom('journal_seals')
      .where('key_id', '=', key_id)
      .select((eb) => eb.fn.max('journal_id').as('last'))
      .executeTakeFirstOrThrow()
    if (last === null) return undefined
    const text = key.export().toString('base64')
    const key_encrypted = secrets.encrypt(retiredKeyContext(key_id, last), text)
    await tx
      .insertInto('retired_seal_keys')
      .values({ key_id, last_journal_id: last, key_encrypted })
      .onConflict((conflict) =>
        conflict.column('key_id').doUpdateSet({ last_journal_id: last, key_encrypted }),
      )
      .execute()
    return last
  })
}

/** Reads the retired keys. Ignores a key that does not decrypt, because we did not store it. */
export async function readRetiredSealKeys(db: Db, secrets: Secrets): Promise<IsSealedBefore> {
  const rows = await db
    .selectFrom('retired_seal_keys')
    .select(['key_id', 'last_journal_id', 'key_encrypted'])
    .execute()
  const keys = new Map<string, SealKey & { last_journal_id: bigint }>()
  for (const { key_id, last_journal_id, key_encrypted } of rows) {
    const key = openKey(secrets, retiredKeyContext(key_id, last_journal_id), key_encrypted)
    if (key !== undefined) keys.set(key_id.toString('hex'), { key, key_id, last_journal_id })
  }
  return (purpose, { journal_id, hash, ...seal }) => {
    const key = keys.get(seal.key_id.toString('hex'))
    if (key === undefined) return undefined
    return journal_id <= key.last_journal_id && isSealedBy(key, purpose, hash, seal)
  }
}

function openKey(secrets: Secrets, context: string, key_encrypted: Buffer): SealKey['key'] | undefined {
  try {
    return createSecretKey(secrets.decrypt(context, key_encrypted), 'base64')
  } catch {
    return undefined
  }
}
