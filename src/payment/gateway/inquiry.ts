/** A merchant's inquiries: one trade, the list of trades, and the figures of the application. Read only. */
import { sql } from 'kysely'
import type { z } from 'zod'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { named } from '../../database/named-statements.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { OrderStatus } from '../../database/tables/payments.ts'
import { balanceOf } from '../../ledger/wallet.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { formerSince } from '../signing/keys.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { moneyOf } from '../wire-fields/money.ts'
import { refusal } from './errors.ts'
import type { Authenticated } from './request.ts'
import { TRADES_DEFAULT, TRADES_MAX, TradesRequest } from './shapes.ts'
import { isOutTradeNo, startOfDay, type Trade } from './trade.ts'

const DAY_MS = 86_400_000

type TradeStatus = NonNullable<z.output<typeof TradesRequest>['status']>
const Page = TradesRequest.pick({ limit: true, offset: true, page: true })

/** The meaning of the numbers of a `status` filter, in both versions. */
const STATUS_FILTER: Record<TradeStatus, OrderStatus[]> = {
  0: ['unpaid', 'expired', 'closed'],
  1: ['paid'],
  2: ['refunded'],
}

/** An application and the version of its request, which decides the used key. */
type Asked = Pick<Authenticated, 'app' | 'protocol'>

/** The handover since which the used key sees nothing, because a former owner knows it. */
async function hiddenSince(db: Db, { app, protocol }: Asked): Promise<Date | undefined> {
  if (!app.is_former_owners[protocol]) return undefined
  return formerSince(db, app.key_ids[protocol === 'v1' ? 'merchant_key' : 'merchant_public_key']!)
}

function tradesOf(db: Db, { book }: GatewayApp) {
  return db.selectFrom('orders').where('orders.door', '=', 'gateway').where('orders.book', '=', book)
}

export type FindTrade = (app: GatewayApp, parameters: FlatParameters) => Promise<Trade>

type Look = Pick<GatewayApp, 'id' | 'book'> & {
  trade_no?: string | undefined
  out_trade_no?: string | undefined
}

/**
 * Makes this process's look-up of a trade by trade_no, or else by out_trade_no. Look-ups at the same time share a statement.
 * It throws order_number_missing and order_not_found.
 */
export function makeFindTrade({ db, batching }: Pick<GatewayCore, 'db' | 'batching'>): FindTrade {
  const find = makeBatcher<Look, Trade | undefined>({
    name: 'find trades',
    ...batching,
    run: async (looks) => {
      const { rows } = await sql<Trade & { item: number }>`
        select ${named} * from find_trades(
          ${columnsOf(looks, { id: 'bigint', book: 'text', trade_no: 'text', out_trade_no: 'text' })}
        )`.execute(db)
      return inOrder(looks, rows, (trade) => trade)
    },
  })
  return async (app, { trade_no, out_trade_no }) => {
    if (trade_no === undefined && out_trade_no === undefined) throw refusal('order_number_missing')
    const mayExist = trade_no !== undefined || isOutTradeNo(out_trade_no!)
    const trade = mayExist ? await find({ id: app.id, book: app.book, trade_no, out_trade_no }) : undefined
    if (trade === undefined) throw refusal('order_not_found')
    return trade
  }
}

/**
 * Lists trades, the newest first, by `limit` (at most 50), `offset` or `page` (from 1), and `status`. One list is read at
 * a time, because far or rare pages scan many orders. A former owner's key sees only trades that were created before the
 * handover and not paid since. Throws parameter_invalid and overloaded.
 */
export async function listedTrades(
  { deps: { db }, queue }: { deps: Pick<GatewayCore, 'db'>; queue: FairQueue },
  asked: Authenticated,
): Promise<Trade[]> {
  const { app, parameters } = asked
  const within = Page.safeParse(parameters)
  if (!within.success) throw refusal('parameter_invalid')
  const wanted = TradesRequest.shape.status.safeParse(parameters.status)
  if (!wanted.success) throw refusal('parameter_invalid', '订单状态格式无效')
  const { limit = TRADES_DEFAULT, offset, page = 1 } = within.data
  const statuses = wanted.data && STATUS_FILTER[wanted.data]
  const count = Math.min(Number(limit), TRADES_MAX)
  const hidden = await hiddenSince(db, asked)
  // Selects the ids before any join.
  const chosen = tradesOf(db, app)
    .where(rowsOfApp('orders', app.id))
    .$if(statuses !== undefined, (all) => all.where('status', 'in', statuses!))
    .$if(hidden !== undefined, (all) =>
      all
        .where('created_at', '<', hidden!)
        .where((eb) => eb.or([eb('paid_at', 'is', null), eb('paid_at', '<', hidden!)])),
    )
    .orderBy('app_id', 'desc')
    .orderBy('id', 'desc')
    .limit(count)
    .offset(offset === undefined ? Math.max(0, Number(page) - 1) * count : Number(offset))
    .select('id')
  const query = tradesOf(db, app)
    .where('orders.id', 'in', chosen)
    .orderBy('orders.id', 'desc')
    .leftJoin('users as payer', 'payer.id', 'orders.payer_id')
    .select([
      'orders.id',
      'orders.trade_no',
      'orders.order_id',
      'orders.transaction_id',
      'orders.type',
      'orders.pid_sent',
      'orders.created_at',
      'orders.paid_at',
      'orders.description',
      'orders.money',
      'orders.rate',
      'orders.status',
      'orders.param',
      'orders.refunded_amount',
      'payer.username as buyer',
    ])
  return queue.run(app.applicant_id, () => query.execute())
}

export type Takings = {
  count: bigint
  count_today: bigint
  count_yesterday: bigint
  /** Points that payers paid, including points that were refunded later. */
  points_today: bigint
  points_yesterday: bigint
}

/**
 * Counts the paid trades of all time, today and yesterday, and sums their points by day. A former owner's key sees only
 * payments from before the handover. Days are those of Asia/Shanghai.
 */
export async function takingsOf(db: Db, asked: Asked, now: Date): Promise<Takings> {
  const hidden = await hiddenSince(db, asked)
  const today = startOfDay(now)
  const yesterday = new Date(today.getTime() - DAY_MS)
  const { rows } = await sql<Takings>`
    select count(*) as count,
      count(*) filter (where paid_at >= ${today}) as count_today,
      count(*) filter (where paid_at >= ${yesterday} and paid_at < ${today}) as count_yesterday,
      coalesce(sum(amount) filter (where paid_at >= ${today}), 0)::bigint as points_today,
      coalesce(sum(amount) filter (where paid_at >= ${yesterday} and paid_at < ${today}), 0)::bigint
        as points_yesterday
    from orders
    where app_id = ${asked.app.id} and door = 'gateway' and paid_at is not null
      and (${hidden ?? null}::timestamptz is null or paid_at < ${hidden ?? null}::timestamptz)`.execute(db)
  return rows[0]!
}

/** The balance of the owner's wallet in the merchant's currency. A former owner's key sees 0. */
export async function visibleBalance(db: Db, { app, protocol }: Asked): Promise<string> {
  const points = app.is_former_owners[protocol] ? 0n : await balanceOf(db, app.applicant_id, app.book)
  return moneyOf(points, app.exchange_rate)
}
