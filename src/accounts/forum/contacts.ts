/** Notes when the forum was last seen at each of its ways here: a sign-in, a signed webhook, and a page that asks for a wallet. */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'

/** A process tries to note one way once in this time at most. */
const NOTED_EVERY_MS = 60_000

export type ContactKind = 'sign_in' | 'webhook' | 'wallet'

const noted = new WeakMap<Db, Map<ContactKind, number>>()

/** Notes that the forum was seen now. A later moment of another process stays. */
export async function noteContact(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  kind: ContactKind,
): Promise<void> {
  const seen_at = clock()
  const own = noted.get(db) ?? new Map<ContactKind, number>()
  if (seen_at.getTime() < (own.get(kind) ?? 0) + NOTED_EVERY_MS) return
  // Before the write, so that requests at the same time, or of a database that only reads, do not all try it.
  noted.set(db, own.set(kind, seen_at.getTime()))
  await db
    .insertInto('forum_contacts')
    .values({ kind, seen_at })
    .onConflict((conflict) =>
      conflict.column('kind').doUpdateSet({ seen_at }).where('forum_contacts.seen_at', '<', seen_at),
    )
    .execute()
}

/** Returns when the forum was last seen at each way. */
export async function readContacts(db: Db): Promise<Map<ContactKind, Date>> {
  const rows = await db.selectFrom('forum_contacts').select(['kind', 'seen_at']).execute()
  return new Map(rows.map(({ kind, seen_at }) => [kind, seen_at]))
}
