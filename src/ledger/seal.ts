/**
 * Seals the journal: it adds committed journals to the chain of seals by id, some seconds later. Several processes may call
 * it; a lock lets one work at a time.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Db, Tx } from '../database/connection.ts'
import { CHAIN_START, type ChainEnd, nextHash, readContents, SEAL_PURPOSE } from './chain.ts'

/** The journals of one batch: few, because this process hashes them between its requests. */
const BATCH_MAX = 250
/**
 * The batches of one transaction. The rest waits for the next round. They share its commit, because on a slow disk payments wait for
 * each flush that comes before theirs.
 */
const BATCHES_MAX = 40

export type Sealer = (isStopped?: () => boolean) => Promise<ChainEnd | undefined>

/**
 * Makes the sealer of this process. A call seals the journals that it sees at first, a bounded number of them, and returns the end of
 * the chain if it sealed any. It throws if the chain lost a seal that this process has seen, because further seals would hide the manipulation.
 */
export function makeSealer({ db, secrets }: Pick<Core, 'db' | 'secrets'>): Sealer {
  let known: ChainEnd | undefined

  return async (isStopped = () => false) => {
    let end: ChainEnd | undefined
    let target: bigint | undefined
    while (!isStopped()) {
      const { rows } = await sql<{ seen: bigint | null; sealed_to: bigint; kept: Buffer | null }>`
        select (select max(id) from journal) as seen, sealed_to,
          (select hash from journal_seals where journal_id = ${known?.journal_id ?? null}::bigint) as kept
        from journal_sealing`.execute(db)
      const { seen, sealed_to, kept } = rows[0]!
      if (known !== undefined && !kept?.equals(known.hash)) {
        throw new Error(`The chain of seals no longer holds what was sealed for journal ${known.journal_id}`)
      }
      known = (await lastSeal(db)) ?? known
      if (seen === null) break
      // Journals that arrive meanwhile wait for the next round, so that the last ones do not take a commit each.
      target ??= seen
      if (target <= sealed_to) break
      const outcome = await db.transaction().execute((tx) => sealSettled(tx, secrets, seen, isStopped))
      end = outcome.end ?? end
      known = end ?? known
      if (!outcome.isMore) break
    }
    return end
  }
}

type SealState = {
  sealed_to: bigint
  seen_to: bigint | null
  is_settled: boolean | null
  is_foreign: boolean | null
}

/**
 * Seals up to the id that an earlier call saw, after the end of every transaction that could fill a gap below it. Notes
 * `seen` for the next call: the highest id that was visible before this transaction got its number.
 */
async function sealSettled(
  tx: Tx,
  secrets: Core['secrets'],
  seen: bigint,
  isStopped: () => boolean,
): Promise<{ end?: ChainEnd | undefined; isMore: boolean }> {
  const lock = await sql`select from journal_sealing for update skip locked`.execute(tx)
  if (lock.rows.length === 0) return { isMore: false }
  // A transaction number beyond this server's own comes from a restored database.
  const { rows } = await sql<SealState>`
    select sealed_to, seen_to,
      seen_before <= pg_snapshot_xmin(pg_current_snapshot()) as is_settled,
      seen_before >= pg_snapshot_xmax(pg_current_snapshot()) as is_foreign
    from journal_sealing`.execute(tx)
  const state = rows[0]!
  const { sealed_to, seen_to } = state
  if (seen <= sealed_to) return { isMore: false }
  if (seen_to === null || state.is_foreign) {
    await note(tx, { sealed_to, seen_to: seen })
    return { isMore: true }
  }
  if (!state.is_settled) return { isMore: false }
  const { end, last } = await sealBatches(tx, secrets, { after: sealed_to, to: seen_to }, isStopped)
  if (last < seen_to) await note(tx, { sealed_to: last })
  else await note(tx, { sealed_to: seen_to, seen_to: seen > seen_to ? seen : null })
  return { end, isMore: last === seen_to }
}

/** Returns the end of the chain if it sealed any journal, and `to` or the last journal before it had to stop. */
async function sealBatches(
  tx: Tx,
  secrets: Core['secrets'],
  { after, to }: { after: bigint; to: bigint },
  isStopped: () => boolean,
): Promise<{ end: ChainEnd | undefined; last: bigint }> {
  let end: ChainEnd | undefined
  let last = after
  for (let batch = 0; batch < BATCHES_MAX && !isStopped(); batch += 1) {
    const journals = await readContents(tx, { after: last, to, limit: BATCH_MAX })
    if (journals.length > 0) end = await append(tx, secrets, journals)
    if (journals.length < BATCH_MAX) return { end, last: to }
    last = journals.at(-1)!.id
  }
  return { end, last }
}

async function append(
  tx: Tx,
  secrets: Core['secrets'],
  journals: Awaited<ReturnType<typeof readContents>>,
): Promise<ChainEnd> {
  let end = (await lastSeal(tx)) ?? CHAIN_START
  const seals = journals.map(({ id, content }) => {
    const previous_id = end.journal_id
    const hash = nextHash(end, content)
    end = { journal_id: id, hash }
    return { journal_id: id, previous_id, hash, ...secrets.seal(SEAL_PURPOSE, hash) }
  })
  await tx.insertInto('journal_seals').values(seals).execute()
  return end
}

async function lastSeal(db: Db): Promise<ChainEnd | undefined> {
  return db
    .selectFrom('journal_seals')
    .orderBy('journal_id', 'desc')
    .limit(1)
    .select(['journal_id', 'hash'])
    .executeTakeFirst()
}

/** @param seen_to the new value, if it changes. This transaction's number then bounds it. */
async function note(
  tx: Tx,
  { sealed_to, seen_to }: { sealed_to: bigint; seen_to?: bigint | null },
): Promise<void> {
  await tx
    .updateTable('journal_sealing')
    .set({ sealed_to, updated_at: sql`now()` })
    .$if(seen_to !== undefined, (query) =>
      query.set({
        seen_to: seen_to!,
        seen_before: seen_to === null ? null : sql<string>`pg_current_xact_id()`,
      }),
    )
    .execute()
}
