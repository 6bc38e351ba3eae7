// This room: the administrators’ acts on points: refunds, reversals, grants, freezes; and the search for abuse.
// Verbs: quoteRefund, quoteReversal, readGrant, freezeWallet, freezeOrder, ringsOf.
// Tables: ledger_accounts, orders.
// Clauses: spec/points 2.4, 2.6.
/**
 * /admin/abuse shows suspicious patterns, which prove nothing: members who send points in a ring, members who move much, and new
 * accounts that belong together. Each query reads at most MOVEMENTS_MAX of the newest orders and transfers, of a few weeks, so its
 * cost does not grow with the ledger.
 */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/abuse': { rings: Ring[]; movers: Mover[]; byAddress: Cluster[]; byRecipient: Cluster[] }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function abusePages(app: FastifyInstance, { db, clock }: Core): void {
  app.get('/admin/abuse', async (_request, reply) => {
    const now = clock()
    const [rings, movers, byAddress, byRecipient] = await Promise.all([
      ringsOf(db, now),
      moversOf(db, now),
      clustersByAddress(db, now),
      clustersByRecipient(db, now),
    ])
    return reply.page('admin/points/abuse', { rings, movers, byAddress, byRecipient })
  })
}

const MOVEMENTS_MAX = 20_000
const RING_DAYS = 30
const NEW_DAYS = 14
const CLUSTER_MIN = 3
const SHOWN_MAX = 20
const NAMES_MAX = 10

/** Two or three members who sent points in a ring. `points` is the smallest sum between two of them. */
export type Ring = { usernames: string[]; user_ids: bigint[]; points: bigint; movements: number }

/** The points and movements of a member in one day. */
export type Mover = {
  user_id: bigint
  username: string
  trust_level: number
  movements: number
  sent: bigint
  received: bigint
}

/** New accounts with something in common: the address of their sign-ins, or the recipient of their points. */
export type Cluster = { shared: string; members: number; usernames: string[]; points: bigint }

/**
 * The points that one member sent another, summed over each pair: payments to the payee and transfers to the recipient, among the
 * newest orders and transfers of all applications.
 */
const flows = (since: Date) => sql`
  moved as materialized (
    select payer_id as from_id, payee_id as to_id, amount
    from (select * from orders order by id desc limit ${MOVEMENTS_MAX}) as newest
    where paid_at >= ${since} and book = 'live' and payer_id <> payee_id
    union all
    select from_user_id, to_user_id, amount
    from (select * from transfers order by id desc limit ${MOVEMENTS_MAX}) as newest
    where paid_at >= ${since} and book = 'live' and status = 'completed'
  ),
  flow as materialized (
    select from_id, to_id, sum(amount)::bigint as points, count(*)::integer as movements
    from moved group by from_id, to_id
  )`

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000)

/** Finds rings of two and three members in the last 30 days, the largest first. */
export async function ringsOf(db: Db, now: Date): Promise<Ring[]> {
  const { rows } = await sql<Ring>`
    with ${flows(daysBefore(now, RING_DAYS))},
    ring as (
      select array[a.from_id, a.to_id] as ids, least(a.points, b.points) as points, a.movements + b.movements as movements
      from flow as a join flow as b on b.from_id = a.to_id and b.to_id = a.from_id
      where a.from_id < a.to_id
      union all
      -- The smallest ID comes first, so the query finds a ring only once.
      select array[a.from_id, a.to_id, c.from_id], least(a.points, b.points, c.points),
        a.movements + b.movements + c.movements
      from flow as a
      join flow as b on b.from_id = a.to_id and b.to_id > a.from_id
      join flow as c on c.from_id = b.to_id and c.to_id = a.from_id
      where a.from_id < a.to_id
      order by points desc limit ${SHOWN_MAX}
    )
    select ids as user_ids, points, movements,
      (select array_agg(u.username order by array_position(ids, u.id)) from users as u where u.id = any (ids)) as usernames
    from ring order by points desc, ids`.execute(db)
  return rows
}

/** Finds the members with the most movements in the last day. */
export async function moversOf(db: Db, now: Date): Promise<Mover[]> {
  const { rows } = await sql<Mover>`
    with ${flows(daysBefore(now, 1))},
    side as (
      select from_id as user_id, points as sent, 0 as received, movements from flow
      union all
      select to_id, 0, points, movements from flow
    )
    select u.id as user_id, u.username, u.trust_level, sum(side.movements)::integer as movements,
      sum(side.sent)::bigint as sent, sum(side.received)::bigint as received
    from side join users as u on u.id = side.user_id
    group by u.id order by movements desc, u.id limit ${SHOWN_MAX}`.execute(db)
  return rows
}

/** Finds groups of three or more accounts of the last two weeks that signed in from one address. */
export async function clustersByAddress(db: Db, now: Date): Promise<Cluster[]> {
  const { rows } = await sql<Cluster>`
    with newcomer as materialized (
      select id, username from users where created_at >= ${daysBefore(now, NEW_DAYS)} order by id desc limit ${MOVEMENTS_MAX}
    )
    select s.ip as shared, count(distinct n.id)::integer as members,
      (array_agg(distinct n.username))[:${sql.lit(NAMES_MAX)}] as usernames, 0::bigint as points
    from newcomer as n join sessions as s on s.user_id = n.id
    group by s.ip having count(distinct n.id) >= ${CLUSTER_MIN}
    order by members desc, shared limit ${SHOWN_MAX}`.execute(db)
  return rows
}

/** Finds groups of three or more accounts of the last two weeks that sent points to one member. */
export async function clustersByRecipient(db: Db, now: Date): Promise<Cluster[]> {
  const since = daysBefore(now, NEW_DAYS)
  const { rows } = await sql<Cluster>`
    with ${flows(since)}
    select recipient.username as shared, count(*)::integer as members,
      (array_agg(n.username order by flow.points desc))[:${sql.lit(NAMES_MAX)}] as usernames, sum(flow.points)::bigint as points
    from flow
    join users as n on n.id = flow.from_id and n.created_at >= ${since}
    join users as recipient on recipient.id = flow.to_id
    group by recipient.id having count(*) >= ${CLUSTER_MIN}
    order by members desc, points desc limit ${SHOWN_MAX}`.execute(db)
  return rows
}
