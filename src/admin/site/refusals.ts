/** Reads the security record: refused sign-ins, forms, applications and tokens. */
import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
import type { Span } from '../../web/periods/periods.ts'

/** Reads the newest refusals of a time, of one kind or of all, by an index of their time. */
export async function newestRefusals(db: Db, { kind, ...span }: Span & { kind: string }, limit: number) {
  return db
    .selectFrom('security_events as event')
    .leftJoin('users', 'users.id', 'event.user_id')
    .$if(kind !== '', (query) => query.where('event.kind', '=', kind))
    .where(isWithin(span))
    .orderBy('event.at', 'desc')
    .limit(limit)
    .select(['event.id', 'event.kind', 'event.user_id', 'event.client_id', 'event.address', 'event.at'])
    .select('users.username')
    .execute()
}

/** Counts the refusals of a time, of each of these kinds, by an index. */
export async function countRefusals(
  db: Db,
  kinds: readonly string[],
  span: Span = {},
): Promise<Counts<string>> {
  const within = isWithin(span)
  const queries = kinds.map((kind) => [
    kind,
    sql`select from security_events as event where kind = ${kind} and ${within} order by at`,
  ])
  return countEach(db, {
    all: sql`select from security_events as event where ${within} order by at`,
    ...Object.fromEntries(queries),
  })
}

function isWithin({ from, until }: Span) {
  const begun = from === undefined ? sql<SqlBool>`true` : sql<SqlBool>`event.at >= ${from}`
  return until === undefined ? begun : sql<SqlBool>`${begun} and event.at < ${until}`
}
