/**
 * The chain of seals over the journal. A seal hashes one journal, its entries and the previous seal, and carries a MAC of
 * the hash by a key from APP_SECRET. Anyone can check the hashes; the key also checks who made them.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import type { Secrets } from '../platform/secrets.ts'
import { readRetiredSealKeys } from './retired-seal-keys.ts'

/** The purpose of journal seals among the uses of APP_SECRET. */
export const SEAL_PURPOSE = 'journal'

/** A small batch, because a running service verifies between its requests: about 5 ms. */
const VERIFY_BATCH = 500
const FAULTS_MAX = 20
/** A moment to the microsecond, independent of the session's date style. */
const MOMENT = 'YYYY-MM-DD"T"HH24:MI:SS.US'

/** The content that a seal covers: a journal with its entries and the owners of their accounts, as text. */
export type SealedContent = readonly unknown[]

/** The last link. Before the first one there is no journal, and the hash is zeros. */
export type ChainEnd = { journal_id: bigint | null; hash: Buffer }

export const CHAIN_START: ChainEnd = { journal_id: null, hash: Buffer.alloc(32) }

/** Computes the hash of the next link. */
export function nextHash(previous: ChainEnd, content: SealedContent): Buffer {
  const link = JSON.stringify([previous.journal_id?.toString() ?? null, ...content])
  return createHash('sha256').update(previous.hash).update(link).digest()
}

/** A journal's own columns, and its entries in their order. Arrays of text cost less than JSON that is built value by value. */
const CONTENT = sql`
  to_json(array[
    j.id::text, j.book, j.kind, j.reference, j.actor_id::text, j.reason,
    to_char(j.posted_at at time zone 'UTC', ${sql.lit(MOMENT)}), to_char(j.created_at at time zone 'UTC', ${sql.lit(MOMENT)})
  ]) as journal,
  (
    select to_json(array_agg(
      array[e.id::text, e.book, e.amount::text, e.account_id::text, a.book, a.kind, a.user_id::text] order by e.id
    ))
    from entries as e left join ledger_accounts as a on a.id = e.account_id
    where e.journal_id = j.id
  ) as entries`

type ContentRow = { journal: (string | null)[]; entries: (string | null)[][] | null }

const contentOf = ({ journal, entries }: ContentRow): SealedContent => [...journal, entries]

/** Reads the contents of the journals after `after` up to `to`, by id. */
export async function readContents(
  db: Db,
  range: { after: bigint; to: bigint; limit: number },
): Promise<{ id: bigint; content: SealedContent }[]> {
  const { rows } = await sql<{ id: bigint } & ContentRow>`
    select j.id, ${CONTENT}
    from journal as j
    where j.id > ${range.after} and j.id <= ${range.to}
    order by j.id limit ${range.limit}`.execute(db)
  return rows.map(({ id, ...row }) => ({ id, content: contentOf(row) }))
}

/**
 * The faults of a journal. `edited`: it does not match its seal. `deleted`: only its seal exists. `inserted`: it has no
 * seal among sealed journals. `forged`: our key did not make its seal. `foreign`: its seal names a key of an unknown
 * APP_SECRET.
 */
export type ChainFault = 'edited' | 'deleted' | 'inserted' | 'forged' | 'foreign'

export type ChainVerdict = {
  /** The number of checked seals. */
  seals: bigint
  /** Journals that wait for their seal. */
  unsealed: bigint
  end: ChainEnd
  /** The number of journals with each fault, and the first ones. */
  faults: Record<ChainFault, { count: bigint; first: bigint[] }>
}

type Seal = { journal_id: bigint; previous_id: bigint | null; hash: Buffer; mac: Buffer; key_id: Buffer }

/** A link of the chain that an earlier proof has checked. */
type CheckedLink = ChainEnd & { journal_id: bigint }

/**
 * Verifies the chain in batches, within the snapshot of `db`. Without secrets it checks only the hashes.
 * @param options.from verifies only the links after this one, and that the chain still holds it.
 * @param options.onProgress gets the number of checked journals and the number of all.
 */
export async function verifyChain(
  db: Db,
  secrets: Secrets | undefined,
  {
    from,
    onProgress = () => {},
  }: {
    from?: CheckedLink | undefined
    onProgress?: ((done: number, total: number) => void) | undefined
  } = {},
): Promise<ChainVerdict> {
  const { sealed_to } = await db.selectFrom('journal_sealing').select('sealed_to').executeTakeFirstOrThrow()
  const last = await db
    .selectFrom('journal_seals')
    .select((eb) => eb.fn.max('journal_id').as('id'))
    .executeTakeFirst()
  const sealedTo = last?.id != null && last.id > sealed_to ? last.id : sealed_to
  const none = () => ({ count: 0n, first: [] })
  const verdict: ChainVerdict = {
    seals: 0n,
    unsealed: 0n,
    end: from ?? CHAIN_START,
    faults: { edited: none(), deleted: none(), inserted: none(), forged: none(), foreign: none() },
  }
  if (from !== undefined && !(await holdsSeal(db, from))) found(verdict, 'deleted', from.journal_id)
  const judge = await makeJudge(db, secrets)
  const start = from?.journal_id ?? 0n
  const { total } = await db
    .selectFrom('journal')
    .where('id', '>', start)
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  let done = 0
  for await (const links of readLinks(db, start)) {
    for (const link of links) verifyLink(verdict, link, { sealedTo, judge })
    done += links.length
    onProgress(done, Math.max(done, Number(total)))
  }
  return verdict
}

/** Whether the chain still contains an earlier seal. */
export async function holdsSeal(db: Db, { journal_id, hash }: ChainEnd): Promise<boolean> {
  const found = await db
    .selectFrom('journal_seals')
    .where('journal_id', '=', journal_id)
    .where('hash', '=', hash)
    .select('journal_id')
    .executeTakeFirst()
  return found !== undefined
}

/** What the database holds of one id. */
type Link = { id: bigint; content: SealedContent | undefined; seal: Seal | undefined }

/** Reads the journals and the seals after `after` in batches, by id. Postgres reads the next batch while the caller checks one. */
async function* readLinks(db: Db, after: bigint): AsyncGenerator<Link[]> {
  let next = readBatch(db, after)
  try {
    for (;;) {
      const links = await next
      if (links.length === 0) return
      next = readBatch(db, links.at(-1)!.id)
      yield links
    }
  } finally {
    // A caller that ends in the middle gets its connection back without a statement on it.
    await next.catch(() => {})
  }
}

type LinkRow = ContentRow & Seal & { id: bigint; has_journal: boolean; has_seal: boolean }

/** Reads the VERIFY_BATCH lowest ids of journals and seals together. Two journals of one id come in the same batch. */
async function readBatch(db: Db, after: bigint): Promise<Link[]> {
  const { rows } = await sql<LinkRow>`
    select coalesce(j.id, s.journal_id) as id, j.id is not null as has_journal, ${CONTENT},
      s.journal_id is not null as has_seal, s.journal_id, s.previous_id, s.hash, s.mac, s.key_id
    from (
      select * from journal where id > ${after} order by id fetch first ${VERIFY_BATCH} rows with ties
    ) as j
    full join (
      select * from journal_seals where journal_id > ${after} order by journal_id limit ${VERIFY_BATCH}
    ) as s on s.journal_id = j.id
    order by id fetch first ${VERIFY_BATCH} rows with ties`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    content: row.has_journal ? contentOf(row) : undefined,
    seal: row.has_seal ? row : undefined,
  }))
}

function found({ faults }: ChainVerdict, fault: ChainFault, journal_id: bigint): void {
  const { first } = faults[fault]
  faults[fault].count += 1n
  if (first.length < FAULTS_MAX) first.push(journal_id)
}

function verifyLink(
  verdict: ChainVerdict,
  { id, content, seal }: Link,
  { sealedTo, judge }: { sealedTo: bigint; judge: Judge | undefined },
): void {
  if (seal === undefined) {
    if (id <= sealedTo) found(verdict, 'inserted', id)
    else verdict.unsealed += 1n
    return
  }
  verdict.seals += 1n
  const previous = verdict.end
  verdict.end = { journal_id: id, hash: seal.hash }
  if (content === undefined) found(verdict, 'deleted', id)
  else if (seal.previous_id !== previous.journal_id) {
    // Its predecessor at sealing was another one: either that is gone with its seal, or journals were inserted since.
    const isGone = (seal.previous_id ?? 0n) > (previous.journal_id ?? 0n)
    if (!isGone) found(verdict, 'inserted', previous.journal_id!)
    else if (!verdict.faults.inserted.first.includes(seal.previous_id!))
      found(verdict, 'deleted', seal.previous_id!)
  } else if (!nextHash(previous, content).equals(seal.hash)) found(verdict, 'edited', id)
  const fault = judge?.(seal)
  if (fault !== undefined) found(verdict, fault, id)
}

/** Judges the MAC of a seal. */
type Judge = (seal: Seal) => 'forged' | 'foreign' | undefined

/** Makes the judge of MACs. Undefined without secrets. */
async function makeJudge(db: Db, secrets: Secrets | undefined): Promise<Judge | undefined> {
  if (secrets === undefined) return undefined
  const isSealedBefore = await readRetiredSealKeys(db, secrets)
  return (seal) => {
    const isOurs = secrets.isSealed(SEAL_PURPOSE, seal.hash, seal) ?? isSealedBefore(SEAL_PURPOSE, seal)
    if (isOurs === true) return undefined
    return isOurs === false ? 'forged' : 'foreign'
  }
}
