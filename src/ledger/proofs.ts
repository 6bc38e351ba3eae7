/**
 * Keeps proofs of the books: one a day by the worker, and one for each request of an administrator:
 * spec/points 1.3. The daily close: the first process after a day records the day's sums once. Days end at midnight in
 * Asia/Shanghai: spec/points 3.4.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { unhurried } from '../database/timeouts.ts'
import { type Proof, type ProofJson, proofJson, proveBooks } from './books.ts'

const DAY_MS = 86_400_000
const KEPT_MAX = 100

type ProofDeps = Pick<Core, 'db' | 'clock' | 'secrets'>

/** Proves the books, keeps the proof and deletes the oldest ones. */
export async function keepProof({ db, clock, secrets }: ProofDeps): Promise<Proof> {
  const started_at = clock()
  const proof = await proveBooks(db, secrets)
  const { is_sound, ...rest } = { is_sound: proof.isSound, started_at, finished_at: clock() }
  const { id } = await db
    .insertInto('books_proofs')
    .values({ ...rest, is_sound, proof: proofJson(proof) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('books_proofs')
    .where('id', '<=', id - BigInt(KEPT_MAX))
    .execute()
  return proof
}

/** Makes the proof of the day, by the database's time, if no process has begun it. Returns the proof if this process made it. */
export async function keepDueProof(deps: ProofDeps & Pick<Core, 'databaseTime'>): Promise<Proof | undefined> {
  const now = await deps.databaseTime()
  const due = await deps.db
    .updateTable('books_schedule')
    .set({ next_at: new Date(now.getTime() + DAY_MS) })
    .where('next_at', '<=', now)
    .returning('next_at')
    .executeTakeFirst()
  return due === undefined ? undefined : keepProof(deps)
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
