// This room: double-entry bookkeeping: journals, wallets, the proof of the books and the chain of seals.
// Verbs: postPoints, grantPoints, adjustPoints, proveBooks, makeSealer, closeDueDays.
// Tables: journal, entries, ledger_accounts, journal_seals, books_days, books_proofs.
// Clauses: spec/points 1.1–1.3, 3.4–3.5.
/**
 * The proof of the books. It checks every invariant of the ledger and the chain of seals, over the whole database in one
 * snapshot. It lists the rows that break an invariant.
 */
import { sql } from 'kysely'
import type { Db, Tx } from '../database/connection.ts'
import type { Book } from '../database/tables/columns.ts'
import { liftTimeouts } from '../database/timeouts.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type ChainFault, type ChainVerdict, verifyChain } from './chain.ts'
import { invariantsSince, type LedgerInvariant } from './invariants.ts'

/** The listed rows of each broken invariant. */
const ROWS_MAX = 20

/** `seals_hold`: no sealed journal has changed. `seals_are_ours`: our keys made every seal. */
export type InvariantName = LedgerInvariant | 'seals_hold' | 'seals_are_ours'

export type Invariant = {
  name: InvariantName
  /** The number of checked rows. Null if the check needs APP_SECRET and has none. */
  checked: bigint | null
  /** The number of rows that break the invariant. */
  broken: bigint
  /** The first of those rows: ids and figures by name. */
  rows: Record<string, string | null>[]
}

/** The result of a proof. */
export type Proof = {
  /** Only what journals after this one concern was proven. Null if everything was. */
  since: bigint | null
  invariants: Invariant[]
  isSound: boolean
  /** The last seal, for a later comparison. A truncated or rewritten chain does not contain it. */
  sealed: { journal_id: bigint; hash: string } | undefined
  /** Journals that wait for their seal. */
  unsealed: bigint
  /** The points of the live book: in members' wallets, in the fee account, and issued. */
  held: Holdings
  /** The play points of the test book, which no figure of the live book includes. */
  play: Holdings
  /** The same of the sealed journals alone, because a later proof goes on after the last seal. */
  sealedSums: Sums
}

type Sums = { held: Holdings; play: Holdings }
type Holdings = { wallets: bigint; fees: bigint; issued: bigint }

type Json<T> = T extends bigint ? string : T extends object ? { [Name in keyof T]: Json<T[Name]> } : T

/** A proof with its figures as decimal text. */
export type ProofJson = Json<Proof>

/** Writes a proof as JSON with its figures as decimal text. */
export function proofJson(proof: Proof): string {
  return JSON.stringify(proof, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Reports progress: first over the invariants, then over the journals of the chain. It may throw to end the proof. */
export type OnProgress = (done: number, total: number) => void

/** What an earlier sound proof says of the journals up to its last seal. */
export type Proven = { sealed: { journal_id: bigint; hash: Buffer }; sums: Sums }

/**
 * Checks every invariant in one snapshot. Without secrets it cannot check `seals_are_ours`.
 * @param proven lets it check only what later journals concern: all seals after that proof's last one, and every entry of an account
 *   that has moved since. What somebody changes in older rows is found by a proof of everything.
 * @param options.isChainBeside checks the chain on a second connection meanwhile, in the same snapshot: faster, and twice the load.
 */
export async function proveBooks(
  db: Db,
  secrets?: Secrets,
  onProgress?: OnProgress,
  proven?: Proven,
  { isChainBeside = false } = {},
): Promise<Proof> {
  return inSnapshot(db, undefined, async (tx) => {
    if (!isChainBeside) return proveWithin(tx, secrets, onProgress, proven)
    const { rows } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(tx)
    const walk = inSnapshot(db, rows[0]!.id, (other) =>
      verifyChain(other, secrets, { from: proven?.sealed, onProgress }),
    )
    // It may fail before somebody waits for it. The failure is thrown where its verdict is needed.
    walk.catch(() => {})
    try {
      return await proveWithin(tx, secrets, undefined, proven, walk)
    } finally {
      await Promise.allSettled([walk])
    }
  })
}

/** Runs a function in a transaction that only reads, in a snapshot of its own or in that of another transaction. */
async function inSnapshot<T>(db: Db, snapshot: string | undefined, act: (tx: Tx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      if (snapshot !== undefined) await sql`set transaction snapshot ${sql.lit(snapshot)}`.execute(tx)
      await liftTimeouts(tx)
      return act(tx)
    })
}

/** Checks every invariant in the snapshot of a transaction. @param walk the verdict on the chain, if somebody else checks it. */
export async function proveWithin(
  tx: Tx,
  secrets?: Secrets,
  onProgress?: OnProgress,
  proven?: Proven,
  walk?: Promise<ChainVerdict>,
): Promise<Proof> {
  const since = proven?.sealed.journal_id ?? null
  const invariants: Invariant[] = []
  const queries = Object.entries(invariantsSince(since))
  for (const [name, query] of queries) {
    invariants.push(await look(tx, name as LedgerInvariant, query))
    onProgress?.(invariants.length, queries.length)
  }
  const chain = await (walk ?? verifyChain(tx, secrets, { from: proven?.sealed, onProgress }))
  invariants.push(
    fromChain('seals_hold', chain.seals, chain, ['edited', 'deleted', 'inserted']),
    fromChain('seals_are_ours', secrets === undefined ? null : chain.seals, chain, ['forged', 'foreign']),
  )
  const { journal_id, hash } = chain.end
  return {
    since,
    invariants,
    isSound: invariants.every(({ broken }) => broken === 0n),
    sealed: journal_id === null ? undefined : { journal_id, hash: hash.toString('hex') },
    unsealed: chain.unsealed,
    ...(await holdings(tx, journal_id ?? 0n, proven)),
  }
}

async function look(tx: Tx, name: LedgerInvariant, query: string): Promise<Invariant> {
  const { rows: counts } = await sql
    .raw<{ checked: bigint; broken: bigint }>(
      `select count(*) as checked, count(*) filter (where broken) as broken from (${query}) as looked_at`,
    )
    .execute(tx)
  const { checked, broken } = counts[0]!
  if (broken === 0n) return { name, checked, broken, rows: [] }
  const { rows } = await sql
    .raw<Record<string, unknown>>(
      `select * from (${query}) as looked_at where broken order by 1 limit ${ROWS_MAX}`,
    )
    .execute(tx)
  return { name, checked, broken, rows: rows.map(({ broken: _, ...row }) => textsOf(row)) }
}

function textsOf(row: Record<string, unknown>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  )
}

function fromChain(
  name: InvariantName,
  checked: bigint | null,
  { faults }: ChainVerdict,
  kinds: ChainFault[],
): Invariant {
  const found = kinds.flatMap((fault) => faults[fault].first.map((journal) => ({ journal, fault })))
  found.sort((a, b) => (a.journal < b.journal ? -1 : 1))
  return {
    name,
    checked,
    broken: kinds.reduce((sum, fault) => sum + faults[fault].count, 0n),
    rows: found.slice(0, ROWS_MAX).map(textsOf),
  }
}

/** The sums of the entries: of all, or of the new ones beside those that are proven. */
async function holdings(
  tx: Tx,
  last_seal: bigint,
  proven: Proven | undefined,
): Promise<Sums & Pick<Proof, 'sealedSums'>> {
  const { rows } = await sql<Holdings & { book: Book; is_sealed: boolean }>`
    select a.book, e.journal_id <= ${last_seal} as is_sealed,
      coalesce(sum(e.amount) filter (where a.kind = 'wallet'), 0)::bigint as wallets,
      coalesce(sum(e.amount) filter (where a.kind = 'fee'), 0)::bigint as fees,
      -coalesce(sum(e.amount) filter (where a.kind = 'issuance'), 0)::bigint as issued
    from entries as e join ledger_accounts as a on a.id = e.account_id
    where e.journal_id > ${proven?.sealed.journal_id ?? 0n}
    group by 1, 2`.execute(tx)
  const sumOf = (book: Book, before: Holdings | undefined, found: typeof rows): Holdings => {
    const sum = { wallets: 0n, fees: 0n, issued: 0n, ...before }
    for (const row of found.filter((each) => each.book === book)) {
      sum.wallets += row.wallets
      sum.fees += row.fees
      sum.issued += row.issued
    }
    return sum
  }
  const sums = (found: typeof rows): Sums => ({
    held: sumOf('live', proven?.sums.held, found),
    play: sumOf('test', proven?.sums.play, found),
  })
  return { ...sums(rows), sealedSums: sums(rows.filter(({ is_sealed }) => is_sealed)) }
}
