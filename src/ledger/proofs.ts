/**
 * Keeps proofs of the books: one a day by the worker, and one for each request of an administrator.
 * spec/points 1.3.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
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
