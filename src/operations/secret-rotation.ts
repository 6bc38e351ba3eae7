/**
 * Changes APP_SECRET. It encrypts every stored ciphertext again, in batches beside running processes, and keeps the key
 * of the old seals. Each ciphertext names its key, so interrupted work continues where it ended.
 */
import { sql } from 'kysely'
import { mailContext } from '../accounts/people/email.ts'
import { factorContext } from '../accounts/security/second-factor.ts'
import type { Core } from '../core/core.ts'
import type { PaymentAppKeyKind } from '../database/tables/payment-apps.ts'
import { encryptionContext } from '../identity/keys/keys.ts'
import { retiredKeyContext, retireSealKey } from '../ledger/retired-seal-keys.ts'
import { fingerprint } from '../payment/links/codes.ts'
import { codeContext, deliveryContext } from '../payment/links/delivery.ts'
import { keyContext } from '../payment/signing/keys.ts'
import { refusedContext } from '../payment/signing/refused-requests.ts'
import type { Secrets } from '../platform/secrets.ts'

/** Rows of one transaction. Few rows are locked only briefly. */
const BATCH_MAX = 50

/** The columns that form the encryption contexts. */
export type Facts = {
  kid: string
  app_id: bigint
  link_id: bigint
  kind: PaymentAppKeyKind
  user_id: bigint
  recipient: string
  key_id: Buffer
  last_journal_id: bigint
}

/** A column of ciphertexts, and the columns that form their context. */
type Store = {
  table: string
  id: string
  column: string
  facts: (keyof Facts)[]
  contextOf(row: Facts): string
  /** A column that is computed from the plaintext with APP_SECRET. */
  tag?: { column: string; tagOf(secrets: Secrets, row: Facts, plaintext: string): Buffer }
}

/** Every column that is encrypted under APP_SECRET. */
export const ENCRYPTED: Store[] = [
  {
    table: 'signing_keys',
    id: 'id',
    column: 'private_encrypted',
    facts: ['kid'],
    contextOf: ({ kid }) => encryptionContext(kid),
  },
  {
    table: 'payment_app_keys',
    id: 'id',
    column: 'value_encrypted',
    facts: ['app_id', 'kind'],
    contextOf: ({ app_id, kind }) => keyContext(app_id, kind),
  },
  {
    table: 'refused_requests',
    id: 'id',
    column: 'fields_encrypted',
    facts: ['app_id'],
    contextOf: ({ app_id }) => refusedContext(app_id),
  },
  {
    table: 'link_deliveries',
    id: 'id',
    column: 'value_encrypted',
    facts: ['link_id'],
    contextOf: ({ link_id }) => deliveryContext(link_id),
  },
  {
    table: 'link_codes',
    id: 'id',
    column: 'value_encrypted',
    facts: ['link_id'],
    contextOf: ({ link_id }) => codeContext(link_id),
    tag: {
      column: 'fingerprint',
      tagOf: (secrets, { link_id }, code) => fingerprint(secrets, link_id, code),
    },
  },
  {
    table: 'second_factors',
    id: 'user_id',
    column: 'secret_encrypted',
    facts: ['user_id'],
    contextOf: ({ user_id }) => factorContext(user_id),
  },
  {
    table: 'outgoing_mails',
    id: 'id',
    column: 'text_encrypted',
    facts: ['recipient'],
    contextOf: ({ recipient }) => mailContext(recipient),
  },
  {
    table: 'retired_seal_keys',
    id: 'id',
    column: 'key_encrypted',
    facts: ['key_id', 'last_journal_id'],
    contextOf: ({ key_id, last_journal_id }) => retiredKeyContext(key_id, last_journal_id),
  },
]

export type Reencrypted = {
  /** Number of ciphertexts encrypted again, by table. */
  done: Record<string, number>
  /** Number of ciphertexts that neither APP_SECRET opens, by table. They stay as they are. */
  unreadable: Record<string, number>
  /** The last journal sealed under the other APP_SECRET. */
  sealed_to: bigint | undefined
}

type RotationDeps = Pick<Core, 'db' | 'secrets'>

/**
 * Encrypts every ciphertext again that is not under the APP_SECRET in use. Running processes must know both secrets, and
 * must write under the new one. A ciphertext written later under the other one waits for the next call.
 * @param onProgress gets the number of processed ciphertexts and their total.
 */
export async function reencryptAll(
  deps: RotationDeps,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Reencrypted> {
  const result: Reencrypted = { done: {}, unreadable: {}, sealed_to: undefined }
  const total = await countWaiting(deps)
  let processed = 0
  for (const store of ENCRYPTED) {
    const count = { done: 0, unreadable: 0 }
    for (let last: bigint | undefined = 0n; last !== undefined; ) {
      const batch: Batch = await reencryptBatch(deps, store, last)
      count.done += batch.done
      count.unreadable += batch.unreadable
      processed += batch.done + batch.unreadable
      onProgress(processed, total)
      last = batch.last
    }
    result.done[store.table] = count.done
    result.unreadable[store.table] = count.unreadable
  }
  result.sealed_to = await retireSealKey(deps.db, deps.secrets)
  return result
}

const isWaiting = ({ column }: Store, { secrets }: RotationDeps) =>
  sql`${sql.ref(column)} is not null and substring(${sql.ref(column)} from 2 for 4) <> ${secrets.encryptionKeyId}`

/** Counts the ciphertexts that are not under the APP_SECRET in use. */
export async function countWaiting(deps: RotationDeps): Promise<number> {
  let total = 0
  for (const store of ENCRYPTED) {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from ${sql.table(store.table)} where ${isWaiting(store, deps)}`.execute(
      deps.db,
    )
    total += Number(rows[0]!.count)
  }
  return total
}

/** `last` is the last ID of the batch. It is undefined after the last batch. */
type Batch = { done: number; unreadable: number; last: bigint | undefined }

async function reencryptBatch(deps: RotationDeps, store: Store, after: bigint): Promise<Batch> {
  const { table, id, column, facts, contextOf, tag } = store
  return deps.db.transaction().execute(async (tx) => {
    // The lock waits for a concurrent change of a row, and reads the changed row.
    const { rows } = await sql<Facts & { row_id: bigint; ciphertext: Buffer }>`
      select ${sql.ref(id)} as row_id, ${sql.ref(column)} as ciphertext,
        ${sql.join(facts.map((fact) => sql.ref(fact)))}
      from ${sql.table(table)}
      where ${sql.ref(id)} > ${after} and ${isWaiting(store, deps)}
      order by ${sql.ref(id)} limit ${BATCH_MAX} for update`.execute(tx)
    const batch: Batch = { done: 0, unreadable: 0, last: rows.at(-1)?.row_id }
    for (const { row_id, ciphertext, ...row } of rows) {
      const plaintext = decrypt(deps, contextOf(row), ciphertext)
      if (plaintext === undefined) {
        batch.unreadable += 1
        continue
      }
      const replacement = deps.secrets.encrypt(contextOf(row), plaintext)
      const tagged = tag && sql`, ${sql.ref(tag.column)} = ${tag.tagOf(deps.secrets, row, plaintext)}`
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${replacement} ${tagged ?? sql``}
        where ${sql.ref(id)} = ${row_id}`.execute(tx)
      batch.done += 1
    }
    return batch
  })
}

/** Undefined for a ciphertext that no known APP_SECRET opens. It does not stop the others. */
function decrypt({ secrets }: RotationDeps, context: string, ciphertext: Buffer): string | undefined {
  try {
    return secrets.decrypt(context, ciphertext)
  } catch {
    return undefined
  }
}
