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
import { INVARIANTS, type LedgerInvariant } from './invariants.ts'

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
}

type Holdings = { wallets: bigint; fees: bigint; issued: bigint }

type Json<T> = T extends bigint ? string : T extends object ? { [Name in keyof T]: Json<T[Name]> } : T

/** A proof with its figures as decimal text. */
export type ProofJson = Json<Proof>

/** Writes a proof as JSON with its figures as decimal text. */
export function proofJson(proof: Proof): string {
  return JSON.stringify(proof, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Reports progress: first over the invariants, then over the journals of the chain. */
export type OnProgress = (done: number, total: number) => void

/** Checks every invariant in one snapshot. Without secrets it cannot check `seals_are_ours`. */
export async function proveBooks(db: Db, secrets?: Secrets, onProgress?: OnProgress): Promise<Proof> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await liftTimeouts(tx)
      return proveWithin(tx, secrets, onProgress)
    })
}

/** Checks every invariant in the snapshot of a transaction. */
export async function proveWithin(
  tx: Tx,
  secrets?: Secrets,
  onProgress: OnProgress = () => {},
): Promise<Proof> {
  const invariants: Invariant[] = []
  const queries = Object.entries(INVARIANTS)
  for (const [name, query] of queries) {
    invariants.push(await look(tx, name as LedgerInvariant, query))
    onProgress(invariants.length, queries.length)
  }
  const chain = await verifyChain(tx, secrets, onProgress)
  invariants.push(
    fromChain('seals_hold', chain.seals, chain, ['edited', 'deleted', 'inserted']),
    fromChain('seals_are_ours', secrets === undefined ? null : chain.seals, chain, ['forged', 'foreign']),
  )
  const { journal_id, hash } = chain.end
  return {
    invariants,
    isSound: invariants.every(({ broken }) => broken === 0n),
    sealed: journal_id === null ? undefined : { journal_id, hash: hash.toString('hex') },
    unsealed: chain.unsealed,
    ...(await holdings(tx)),
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

async function holdings(tx: Tx): Promise<Pick<Proof, 'held' | 'play'>> {
  const { rows } = await sql<Holdings & { book: Book }>`
    select a.book, coalesce(sum(e.amount) filter (where a.kind = 'wallet'), 0)::bigint as wallets,
      coalesce(sum(e.amount) filter (where a.kind = 'fee'), 0)::bigint as fees,
      -coalesce(sum(e.amount) filter (where a.kind = 'issuance'), 0)::bigint as issued
    from ledger_accounts as a left join entries as e on e.account_id = a.id
    group by a.book`.execute(tx)
  const of = (name: Book): Holdings => {
    const { book: _, ...held } = rows.find(({ book }) => book === name)!
    return held
  }
  return { held: of('live'), play: of('test') }
}
