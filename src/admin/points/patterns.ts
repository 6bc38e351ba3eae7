/**
 * Finds suspicious patterns, which prove nothing: members who send points in a ring, members who pass on what they receive, and new
 * accounts that belong together. Each list begins with what deserves a look first. It reads at most MOVEMENTS_MAX of the newest orders
 * and as many transfers, of a few weeks, so its cost does not grow with the ledger.
 */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

const MOVEMENTS_MAX = 20_000
const RING_DAYS = 30
const NEW_DAYS = 14
const CLUSTER_MIN = 3
/** Receivers of tips from accounts this new. */
const TIP_DAYS = 30
const TIPPERS_MIN = 5
const NAMES_MAX = 10
/** Of the rings among the same few members, a page shows the first, so more of them are read. */
const RINGS_READ = 4

/**
 * Two or three members who sent points in a ring, in its order. `points` is the smallest sum between two of them, so as many
 * went round, and `percent` is their part of all that the members sent. Shops and their buyers make rings too, of a small part.
 */
export type Ring = {
  usernames: string[]
  user_ids: bigint[]
  points: bigint
  movements: number
  percent: number
}

/** The points and movements of a member in one day. `paid_out` is what `payouts` of the movements sent as lines of payouts. */
export type Mover = {
  user_id: bigint
  username: string
  trust_level: number
  movements: number
  sent: bigint
  received: bigint
  payouts: number
  paid_out: bigint
}

/** New accounts that sent points to one member: `percent` of what that member received in the time. */
export type Cluster = {
  shared: string
  shared_id: bigint
  members: number
  usernames: string[]
  points: bigint
  percent: number
}

/** New accounts that signed in from one address, and the hours between the first and the last of them. */
export type Neighbours = { shared: string; members: number; usernames: string[]; hours: number }

export type MovementPatterns = {
  /** In the last 30 days: first much that went round and was a large part of what its members sent. */
  rings: Ring[]
  /** In the last day: first those who passed on the most of what they received, then those with the most movements. */
  movers: Mover[]
  /** Groups of three or more accounts of the last two weeks that sent points to one member since. */
  byRecipient: Cluster[]
}

export type Found = MovementPatterns & { byAddress: Neighbours[]; byTips: Cluster[] }

/** What is sought: of sums of at least these points, so many of each pattern. */
export type Sought = { now: Date; least: bigint; limit: number }

/** Finds all patterns. Groups by address have no sum. */
export async function findPatterns(db: Db, sought: Sought): Promise<Found> {
  const [movements, byAddress, byTips] = await Promise.all([
    movementPatterns(db, sought),
    clustersByAddress(db, sought),
    clustersByTips(db, sought),
  ])
  return { ...movements, byAddress, byTips }
}

/** A part as a whole number of percent. It never says that all is a part less than all. */
const percentOf = sql`floor(part * 100)::integer`

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000)

/**
 * Finds patterns in the payments to payees and the transfers to recipients. One statement finds all, because reading the movements
 * costs the most. A ring of three is looked for from the member with the fewest partners: from a member with thousands, such as the
 * owner of a large shop, all pairs of them would be compared.
 */
export async function movementPatterns(db: Db, { now, least, limit }: Sought): Promise<MovementPatterns> {
  const [ringSince, newSince, daySince] = [RING_DAYS, NEW_DAYS, 1].map((days) => daysBefore(now, days))
  const newest = (table: 'orders' | 'transfers') =>
    sql`(select * from ${sql.table(table)} order by id desc limit ${MOVEMENTS_MAX}) as newest`
  const { rows } = await sql<{ [P in keyof MovementPatterns]: Json<MovementPatterns[P][number]>[] }>`
    with moved as (
      select payer_id as from_id, payee_id as to_id, amount, paid_at, false as is_payout from ${newest('orders')}
      where paid_at >= ${ringSince} and book = 'live' and payer_id <> payee_id
      union all
      select from_user_id, to_user_id, amount, paid_at,
        paid_at >= ${daySince} and exists (select from payout_lines where transfer_id = newest.id) from ${newest('transfers')}
      where paid_at >= ${ringSince} and book = 'live' and status = 'completed'
    ),
    flow as materialized (
      select from_id, to_id, sum(amount)::bigint as points, count(*)::integer as movements,
        sum(amount) filter (where paid_at >= ${newSince})::bigint as points_of_new,
        coalesce(sum(amount) filter (where paid_at >= ${daySince}), 0)::bigint as points_of_day,
        (count(*) filter (where paid_at >= ${daySince}))::integer as movements_of_day,
        (count(*) filter (where is_payout))::integer as payouts,
        coalesce(sum(amount) filter (where is_payout), 0)::bigint as paid_out,
        sum(sum(amount)) over (partition by from_id) as sent,
        sum(sum(amount) filter (where paid_at >= ${newSince})) over (partition by to_id) as received_since_new
      from moved group by from_id, to_id
    ),
    partners as (
      select id, count(*) as count from (select from_id as id from flow union all select to_id from flow) as side group by id
    ),
    ranked as materialized (
      select flow.*, (sender.count, from_id) as from_rank, (recipient.count, to_id) as to_rank
      from flow join partners as sender on sender.id = from_id join partners as recipient on recipient.id = to_id
    ),
    round as (
      select array[a.from_id, a.to_id] as ids, least(a.points, b.points) as points, a.movements + b.movements as movements,
        2 * least(a.points, b.points) / (a.sent + b.sent) as part
      from flow as a join flow as b on b.from_id = a.to_id and b.to_id = a.from_id
      where a.from_id < a.to_id
      union all
      -- The smallest ID comes first in the answer.
      select case least(a.from_id, b.from_id, c.from_id)
          when a.from_id then array[a.from_id, b.from_id, c.from_id]
          when b.from_id then array[b.from_id, c.from_id, a.from_id]
          else array[c.from_id, a.from_id, b.from_id]
        end, least(a.points, b.points, c.points), a.movements + b.movements + c.movements,
        3 * least(a.points, b.points, c.points) / (a.sent + b.sent + c.sent)
      from (select * from ranked where from_rank > to_rank) as a
      join (select * from ranked where from_rank < to_rank) as b on b.from_id = a.to_id and b.to_id <> a.from_id
      join flow as c on c.from_id = b.to_id and c.to_id = a.from_id
    ),
    ring as (select * from round where points >= ${least} order by points * part desc, ids limit ${limit * RINGS_READ}),
    mover as (
      select user_id, sum(movements)::integer as movements, sum(sent)::bigint as sent, sum(received)::bigint as received,
        sum(payouts)::integer as payouts, sum(paid_out)::bigint as paid_out
      from (
        select from_id as user_id, points_of_day as sent, 0 as received, movements_of_day as movements, payouts, paid_out
        from flow where movements_of_day > 0
        union all
        select to_id, 0, points_of_day, movements_of_day, 0, 0 from flow where movements_of_day > 0
      ) as side
      group by user_id having least(sum(sent), sum(received)) >= greatest(${least}::bigint, 1)
      order by least(sum(sent), sum(received)) desc, sum(movements) desc, user_id limit ${limit}
    ),
    cluster as (
      select to_id, count(*)::integer as members, sum(points_of_new)::bigint as points,
        sum(points_of_new) / max(received_since_new) as part,
        (array_agg(n.username order by points_of_new desc))[:${sql.lit(NAMES_MAX)}] as usernames
      from flow cross join lateral ${memberOf('from_id')} as n
      where points_of_new is not null and n.created_at >= ${newSince}
      group by to_id having count(*) >= ${CLUSTER_MIN} and sum(points_of_new) >= ${least}
      order by sum(points_of_new) * sum(points_of_new) / max(received_since_new) desc, to_id limit ${limit}
    )
    select
      (select coalesce(json_agg(json_build_object(
        'user_ids', ids::text[], 'points', points::text, 'movements', movements, 'percent', ${percentOf}, 'usernames',
        (select array_agg(u.username order by array_position(ids, u.id)) from users as u where u.id = any (ids))
      ) order by points * part desc, ids), '[]') from ring) as rings,
      (select coalesce(json_agg(json_build_object(
        'user_id', user_id::text, 'username', u.username, 'trust_level', u.trust_level, 'movements', movements,
        'sent', sent::text, 'received', received::text, 'payouts', payouts, 'paid_out', paid_out::text
      ) order by least(sent, received) desc, movements desc, user_id), '[]')
        from mover cross join lateral (select * from users where id = user_id limit 1) as u) as movers,
      (select coalesce(json_agg(json_build_object(
        'shared', (select username from users where id = to_id), 'shared_id', to_id::text, 'members', members, 'usernames', usernames, 'points', points::text, 'percent', ${percentOf}
      ) order by points * part desc, to_id), '[]') from cluster) as "byRecipient"`.execute(db)
  const { rings, movers, byRecipient } = rows[0]!
  return {
    rings: rings.map((ring) => ({
      ...ring,
      user_ids: ring.user_ids.map(BigInt),
      points: BigInt(ring.points),
    })),
    movers: movers.map((mover) => ({
      ...mover,
      user_id: BigInt(mover.user_id),
      sent: BigInt(mover.sent),
      received: BigInt(mover.received),
      paid_out: BigInt(mover.paid_out),
    })),
    byRecipient: byRecipient.map((cluster) => ({
      ...cluster,
      shared_id: BigInt(cluster.shared_id),
      points: BigInt(cluster.points),
    })),
  }
}

/** Finds receivers of tips from five or more accounts of the last 30 days, in `percent` of all tips that they received in it. */
export async function clustersByTips(db: Db, { now, least, limit }: Sought): Promise<Cluster[]> {
  const since = daysBefore(now, TIP_DAYS)
  const { rows } = await sql<Cluster>`
    with given as (
      select payer_id, payee_id, sum(amount)::bigint as points
      from (select * from orders order by id desc limit ${MOVEMENTS_MAX}) as newest
      where door = 'tip' and paid_at >= ${since}
      group by payer_id, payee_id
    )
    select shared, payee_id as shared_id, members, usernames, points, ${percentOf} as percent
    from (
      select payee_id, (select username from users where id = payee_id) as shared, count(*)::integer as members,
        (array_agg(giver.username order by points desc))[:${sql.lit(NAMES_MAX)}] as usernames, sum(points)::bigint as points,
        sum(points) / max(received) as part
      from (select *, sum(points) over (partition by payee_id) as received from given) as given
      cross join lateral ${memberOf('payer_id')} as giver
      where giver.created_at >= ${since}
      group by payee_id having count(*) >= ${TIPPERS_MIN} and sum(points) >= ${least}
    ) as cluster
    order by points * part desc, payee_id limit ${limit}`.execute(db)
  return rows
}

/** The member of an id, looked up by it: a forum gains more new members in these days than these movements name. */
const memberOf = (id: string) =>
  sql`(select username, created_at from users where id = ${sql.ref(id)} offset 0)`

/** As JSON carries it: a whole number may be larger than a number of JavaScript holds. */
type Json<T> = {
  [K in keyof T]: T[K] extends bigint ? string : T[K] extends bigint[] ? string[] : T[K]
}

/** Finds groups of three or more accounts of the last two weeks that signed in from one address. */
export async function clustersByAddress(
  db: Db,
  { now, limit }: Omit<Sought, 'least'>,
): Promise<Neighbours[]> {
  const { rows } = await sql<Neighbours>`
    with newcomer as materialized (
      select id, username, created_at from (select * from users order by id desc limit ${MOVEMENTS_MAX}) as newest
      where created_at >= ${daysBefore(now, NEW_DAYS)}
    )
    select s.ip as shared, count(distinct n.id)::integer as members,
      (array_agg(distinct n.username))[:${sql.lit(NAMES_MAX)}] as usernames,
      ceil(extract(epoch from max(n.created_at) - min(n.created_at)) / 3600)::integer as hours
    from newcomer as n cross join lateral (select ip from sessions where user_id = n.id offset 0) as s
    group by s.ip having count(distinct n.id) >= ${CLUSTER_MIN}
    order by members desc, hours, shared limit ${limit}`.execute(db)
  return rows
}
