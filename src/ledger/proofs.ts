/**
 * Keeps proofs of the books: one a day by the worker, and one for each request of an administrator. The daily one proves what is new
 * since the last sound proof; once a week, and on request, everything is proven: spec/points 1.3. The daily close: the first
 * process after a day records the day's sums once. Days end at midnight in Asia/Shanghai: spec/points 3.4.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { unhurried } from '../database/timeouts.ts'
import { type OnProgress, type Proof, type ProofJson, type Proven, proofJson, proveBooks } from './books.ts'

const DAY_MS = 86_400_000
const FULL_DAYS = 7
const KEPT_MAX = 100
/** A process that proves renews its claim this often. Without a renewal, another process makes the proof after CLAIM_MS. */
const RENEWAL_MS = 60_000
const CLAIM_MS = 5 * RENEWAL_MS

type ProofDeps = Pick<Core, 'db' | 'clock' | 'secrets'>

/** Proves all of the books, or what is new since a sound proof, keeps the proof and deletes the oldest ones. */
export async function keepProof(
  { db, clock, secrets }: ProofDeps,
  proven?: Proven,
  onProgress?: OnProgress,
): Promise<Proof> {
  const started_at = clock()
  const proof = await proveBooks(db, secrets, onProgress, proven)
  const { is_sound, ...rest } = { is_sound: proof.isSound, started_at, finished_at: clock() }
  const { id } = await db
    .insertInto('books_proofs')
    .values({ ...rest, is_sound, proof: proofJson(proof) })
    .returning('id')
    .executeTakeFirstOrThrow()
  // The last proof of everything stays, because it says when the next one is due.
  await sql`
    delete from books_proofs where id <= ${id - BigInt(KEPT_MAX)}
      and id <> coalesce((select max(id) from books_proofs where is_sound and proof->>'since' is null), 0)`.execute(
    db,
  )
  return proof
}

/**
 * Makes the proof of the day, by the database's time, if no process makes it. Returns the proof if this process made it. A stop or a
 * fault in the middle leaves the proof due: it is the end of a proof that moves the next one on.
 */
export async function keepDueProof(
  deps: ProofDeps & Pick<Core, 'databaseTime'>,
  isStopped: () => boolean = () => false,
): Promise<Proof | undefined> {
  const { db, databaseTime } = deps
  const now = await databaseTime()
  const claimed_until = new Date(now.getTime() + CLAIM_MS)
  const claim = await db
    .updateTable('books_schedule')
    .set({ claimed_until })
    .where('next_at', '<=', now)
    .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
    .returning('next_at')
    .executeTakeFirst()
  if (claim === undefined) return undefined
  const schedule = (values: { claimed_until: Date | null; next_at?: Date }) =>
    db.updateTable('books_schedule').set(values).execute()
  const renew = async () => schedule({ claimed_until: new Date((await databaseTime()).getTime() + CLAIM_MS) })
  // After a failed renewal there is time for others.
  const renewal = setInterval(() => void renew().catch(() => {}), RENEWAL_MS)
  try {
    const proof = await keepProof(deps, await lastProven(db, now), () => {
      if (isStopped()) throw new Stopped()
    })
    await schedule({ claimed_until: null, next_at: new Date(now.getTime() + DAY_MS) })
    return proof
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
    await schedule({ claimed_until: null })
    return undefined
  } finally {
    clearInterval(renewal)
  }
}

/** The process stops, and another one makes the proof. */
class Stopped extends Error {}

/** What is proven already. Undefined if the newest proof found a fault, or everything was last proven a week ago or never. */
async function lastProven(db: Db, now: Date): Promise<Proven | undefined> {
  const { rows } = await sql<{ is_sound: boolean; proof: ProofJson }>`
    select is_sound, proof from books_proofs
    where exists (
      select from books_proofs as whole
      where whole.is_sound and whole.proof->>'since' is null
        and whole.finished_at > ${new Date(now.getTime() - FULL_DAYS * DAY_MS)}
    )
    order by id desc limit 1`.execute(db)
  const [last] = rows
  // A proof of an earlier version has no sums to go on from.
  if (last === undefined || !last.is_sound || !last.proof.sealed || !last.proof.sealedSums) return undefined
  const { sealed, sealedSums } = last.proof
  const bigints = (sums: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(sums).map(([name, value]) => [name, BigInt(value)]),
    ) as Proven['sums']['held']
  return {
    sealed: { journal_id: BigInt(sealed.journal_id), hash: Buffer.from(sealed.hash, 'hex') },
    sums: { held: bigints(sealedSums.held), play: bigints(sealedSums.play) },
  }
}

/** The newest kept proof. */
export async function lastProof({ db }: Pick<Core, 'db'>) {
  return db
    .selectFrom('books_proofs')
    .orderBy('id', 'desc')
    .limit(1)
    .select(['started_at', 'finished_at', 'is_sound', sql.ref<ProofJson>('proof').as('proof')])
    .executeTakeFirst()
}

/** The wait after a day, because a journal has the time of its request and commits later. */
const SETTLED_MINUTES = 60
const DAYS_AT_ONCE = 31

/** Closes past days that are not closed, the oldest first, at most DAYS_AT_ONCE. A closed day stays closed. */
export async function closeDueDays({ db, databaseTime }: Pick<Core, 'db' | 'databaseTime'>): Promise<void> {
  const now = await databaseTime()
  const settled = new Date(now.getTime() - SETTLED_MINUTES * 60_000)
  const { rows } = await sql<{ day: string }>`
    select day::date::text as day
    from generate_series(
      coalesce(
        (select max(day) + 1 from books_days),
        (select (posted_at at time zone 'Asia/Shanghai')::date from journal order by id limit 1)
      )::timestamp,
      (${settled}::timestamptz at time zone 'Asia/Shanghai')::date::timestamp - interval '1 day',
      interval '1 day'
    ) as day order by day limit ${DAYS_AT_ONCE}`.execute(db)
  for (const { day } of rows) await unhurried(db, (tx) => closeDay(tx, day, now))
}

async function closeDay(db: Db, day: string, now: Date): Promise<void> {
  await sql`
    insert into books_days (day, closed_at, journals, paid, transferred, given_back, fees, issued)
    select ${day}::date, ${now}, count(distinct j.id),
      coalesce(-sum(e.amount) filter (where j.kind = 'payment' and a.kind = 'wallet' and e.amount < 0), 0),
      coalesce(sum(e.amount) filter (where j.kind = 'transfer' and a.kind = 'wallet' and e.amount > 0), 0),
      coalesce(sum(e.amount) filter (where j.kind in ('refund', 'reversal') and a.kind = 'wallet' and e.amount > 0), 0),
      coalesce(sum(e.amount) filter (where a.kind = 'fee'), 0),
      coalesce(-sum(e.amount) filter (where a.kind = 'issuance'), 0)
    from journal as j join entries as e on e.journal_id = j.id join ledger_accounts as a on a.id = e.account_id
    where j.book = 'live'
      and j.posted_at >= ${day}::timestamp at time zone 'Asia/Shanghai'
      and j.posted_at < (${day}::date + 1)::timestamp at time zone 'Asia/Shanghai'
    on conflict do nothing`.execute(db)
}

/** The last closed days, the newest first. */
export async function lastDays(db: Db, limit: number) {
  return db
    .selectFrom('books_days')
    .orderBy('day', 'desc')
    .limit(limit)
    .select(sql<string>`day::text`.as('day'))
    .select(['journals', 'paid', 'transferred', 'given_back', 'fees', 'issued'])
    .execute()
}
