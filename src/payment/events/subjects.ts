/** Reads what events tell: their subjects as they were at that moment, from the facts that the act stored. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import type { DeliveryKind } from '../../database/tables/links.ts'
import type { RefusalOutcome } from '../../database/tables/mandates.ts'
import type { NotificationKind } from '../../database/tables/notifications.ts'
import type { TipFacts, WireMandate } from '../hmac/answers.ts'
import type { Charge, ChargeResult } from '../mandates/charge.ts'
import type { Order } from '../orders/orders.ts'
import type { Transfer } from '../orders/transfers.ts'
import type { Payout } from '../payouts/payouts.ts'

export type EventType = Exclude<NotificationKind, 'gateway'>

/** The first refusal of its kind in a period. */
export type RefusedCharge = {
  mandate_id: string
  order_id: string
  amount: bigint
  period_from: string
  result: ChargeResult & { outcome: RefusalOutcome }
}

/** What an event is about. Of an order that is a charge, `mandate_id` is the public id of its mandate. */
export type Subject =
  | { order: Order; mandate_id: string | null; tip: TipFacts | null; sale?: never }
  | { transfer: Transfer }
  | { charge: Charge }
  | { refused: RefusedCharge }
  | { mandate: WireMandate }
  | { payout: Payout }
  | { order: Order; sale: LinkSale }

/** What a sale of a link sold, and to whom. Never what was delivered. */
export type LinkSale = {
  slug: string
  title: string
  units: number
  user_id: bigint
  username: string
  delivery: DeliveryKind
}

/** An event as it is stored. */
export type FoundEvent = {
  notification_id: bigint
  app_id: bigint
  event_kind: EventType
  event_id: string
  occurred_at: Date
  events_url: string
}

/** Which row or function result the facts of each kind are. */
const SHAPES = {
  'order.paid': 'order',
  'order.expired': 'order',
  'order.refunded': 'order',
  'transfer.completed': 'transfer',
  'charge.completed': 'charge',
  'charge.failed': 'refused',
  'mandate.created': 'mandate',
  'mandate.changed': 'mandate',
  'mandate.revoked': 'mandate',
  'payout.finished': 'payout',
  'payout.halted': 'payout',
  'link.sold': 'sale',
  'link.refunded': 'sale',
} as const satisfies Record<EventType, string>

type Claimed = { id: bigint; kind: NotificationKind }

/** Reads the events of these notifications, except those of applications that have switched events off. */
export async function readSubjects(
  db: Db,
  claimed: readonly Claimed[],
): Promise<{ found: FoundEvent; subject: Subject }[]> {
  const byShape = Map.groupBy(claimed, ({ kind }) => (kind === 'gateway' ? undefined : SHAPES[kind]))
  const idsOf = (shape: keyof typeof READERS) => (byShape.get(shape) ?? []).map(({ id }) => id)
  const read = await Promise.all(
    (Object.keys(READERS) as (keyof typeof READERS)[]).map((shape) => {
      const ids = idsOf(shape)
      return ids.length === 0 ? [] : READERS[shape](db, ids)
    }),
  )
  return read.flat()
}

const READERS = {
  async order(db: Db, ids: bigint[]) {
    const rows = await factsOf<Order & { public_mandate_id: string | null; tip: TipFacts | null }>(
      db,
      ids,
      // The names of a tip are those of the moment of the attempt, so an anonymised author is named neutrally.
      sql`facts.*, ${publicMandateId}, case when facts.door = 'tip' then tip_facts(facts.id) end as tip`,
      sql`jsonb_populate_record(null::orders, n.facts) as facts`,
    )
    return rows.map((row) => ({
      found: row,
      subject: { order: row as Order, mandate_id: row.public_mandate_id, tip: row.tip },
    }))
  },
  // A link keeps its address and kind of delivery. The title and the name are those of the moment of the attempt, so an
  // anonymised buyer is named neutrally. spec/links 4.7.
  async sale(db: Db, ids: bigint[]) {
    const rows = await factsOf<Order & { sale: Omit<LinkSale, 'user_id'> & { user_id: number } }>(
      db,
      ids,
      sql`facts.*, (
        select jsonb_build_object(
          'slug', link.slug, 'title', link.title, 'units', sale.units, 'user_id', buyer.id, 'username', buyer.username,
          'delivery', link.delivery
        )
        from link_orders as sale join links as link on link.id = sale.link_id join users as buyer on buyer.id = sale.for_user_id
        where sale.order_id = facts.id
      ) as sale`,
      sql`jsonb_populate_record(null::orders, n.facts) as facts`,
    )
    return rows.map((row) => ({
      found: row,
      subject: { order: row as Order, sale: { ...row.sale, user_id: BigInt(row.sale.user_id) } },
    }))
  },
  async transfer(db: Db, ids: bigint[]) {
    const rows = await factsOf<Transfer>(
      db,
      ids,
      sql`facts.*`,
      sql`jsonb_populate_record(null::transfers, n.facts) as facts`,
    )
    return rows.map((row) => ({ found: row, subject: { transfer: row as Transfer } }))
  },
  async charge(db: Db, ids: bigint[]) {
    const rows = await factsOf<Order & { public_mandate_id: string; resets_at: Date }>(
      db,
      ids,
      sql`facts.*, ${publicMandateId}, (n.facts->>'resets_at')::timestamptz as resets_at`,
      sql`jsonb_populate_record(null::orders, n.facts) as facts`,
    )
    return rows.map((row) => {
      const { mandate_period, mandate_spent, mandate_period_max, resets_at } = row
      const charge = {
        order: row as Order,
        mandate_id: row.public_mandate_id,
        period_from: mandate_period!,
        spent: mandate_spent!,
        left: mandate_period_max! - mandate_spent!,
        resets_at,
      }
      return { found: row, subject: { charge } }
    })
  },
  async refused(db: Db, ids: bigint[]) {
    const rows = await factsOf<Omit<RefusedCharge, 'result'> & RefusedCharge['result']>(
      db,
      ids,
      sql`facts.mandate_id, facts.order_id, facts.amount, facts.period_from, (facts.result).*`,
      sql`jsonb_to_record(n.facts) as facts(
        mandate_id text, order_id text, amount bigint, period_from text, result charge_result
      )`,
    )
    return rows.map((row) => ({ found: row, subject: { refused: { ...row, result: row } } }))
  },
  async mandate(db: Db, ids: bigint[]) {
    const rows = await factsOf<WireMandate>(
      db,
      ids,
      sql`facts.*`,
      sql`jsonb_to_record(n.facts) as facts(
        mandate_id text, reference text, status text, reason text, kind text, purpose text, charge_max bigint,
        period_max bigint, period text, starts_on text, ends_on text, with_token boolean, replaces text, user_id bigint,
        username text, accepted_at timestamptz, ended_at timestamptz, period_from text, period_to text, spent bigint,
        remaining bigint, resets_at timestamptz, next_charge_on text, version integer, updated_at timestamptz
      )`,
    )
    return rows.map((row) => ({ found: row, subject: { mandate: row as WireMandate } }))
  },
  async payout(db: Db, ids: bigint[]) {
    const rows = await factsOf<Payout>(
      db,
      ids,
      sql`facts.*`,
      sql`jsonb_to_record(n.facts) as facts(
        reference text, status text, reason text, mode text, count integer, pending integer, paid integer, refused integer,
        cancelled integer, amount bigint, fee bigint, paid_total bigint, created_at timestamptz, finished_at timestamptz
      )`,
    )
    return rows.map((row) => ({ found: row, subject: { payout: row as Payout } }))
  },
}

const publicMandateId = sql`
  (select mandates.mandate_id from mandates where mandates.id = facts.mandate_id) as public_mandate_id`

async function factsOf<Facts>(
  db: Db,
  notification_ids: readonly bigint[],
  columns: RawBuilder<unknown>,
  facts: RawBuilder<unknown>,
): Promise<(Facts & FoundEvent)[]> {
  const { rows } = await sql<Facts & FoundEvent>`
    select ${columns}, n.id as notification_id, n.kind as event_kind, n.event_id, n.occurred_at, n.app_id, app.events_url
    from notifications as n
    join payment_apps as app on app.id = n.app_id
    cross join lateral ${facts}
    where n.id = any (${notification_ids}::bigint[]) and app.events_url is not null
  `.execute(db)
  return rows
}
