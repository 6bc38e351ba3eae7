/** Reads the security record: refused sign-ins, forms, applications and tokens. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'

/** Reads the newest refusals, of one kind or of all, by an index of their time. */
export async function newestRefusals(db: Db, kind: string, limit: number) {
  return db
    .selectFrom('security_events as event')
    .leftJoin('users', 'users.id', 'event.user_id')
    .$if(kind !== '', (query) => query.where('event.kind', '=', kind))
    .orderBy('event.at', 'desc')
    .limit(limit)
    .select(['event.id', 'event.kind', 'event.user_id', 'event.client_id', 'event.address', 'event.at'])
    .select('users.username')
    .execute()
}

/** Counts the refusals of each of these kinds by an index. */
export async function countRefusals(db: Db, kinds: readonly string[]): Promise<Counts<string>> {
  const queries = kinds.map((kind) => [
    kind,
    sql`select from security_events where kind = ${kind} order by at`,
  ])
  return countEach(db, { all: sql`select from security_events`, ...Object.fromEntries(queries) })
}
