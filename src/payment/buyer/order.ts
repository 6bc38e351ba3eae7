// This room: the pay page, its receipt, and the payer’s own list of payments.
// Verbs: makeDescribeOrder, payPages, payerPages, signedReturn.
// Tables: order_views.
// Clauses: spec/payment-api 3.3; spec/gateway 4.1.
/** An order on its payer's page: its state for the reader, and the links back to the shop. */
import { sql } from 'kysely'
import { knownTopicTitle } from '../../accounts/forum/topics.ts'
import { makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { signerFrom, withSignedTrade } from '../gateway/messages.ts'
import { PICTURES } from '../links/pictures.ts'
import type { PaymentDeps } from '../notifications/worker.ts'
import { isExpired } from '../orders/orders.ts'
import { type FindPaidOrder, makeFindPaidOrder, type PaidOrder } from '../orders/return.ts'
import { type CallbackFields, isoSeconds, signedCallbackUrl } from '../signing/hmac.ts'
import { openKey } from '../signing/keys.ts'
import { topicOf } from '../tips/place.ts'
import { postUrl } from '../tips/tip.page.ts'
import { TRANSACTION_ID } from '../wire-fields/fields.ts'

/** Why the reader cannot pay the order now. */
export type State =
  | 'paid'
  | 'refunded'
  | 'paidByOther'
  | 'expired'
  | 'closed'
  | 'frozen'
  | 'unusable'
  | 'dailyLimit'
  | 'notOnSale'
  | 'notAllowed'
  | 'soldOut'
  | 'memberLimit'
  | 'tipRefused'
  | 'tipLimit'

/** The dependencies of the pages of orders. Look-ups at the same time share a statement. */
export type OrderPages = {
  deps: PaymentDeps
  loadOrder(transaction_id: string): Promise<LoadedOrder | undefined>
  findPaidOrder: FindPaidOrder
}

/** Makes the dependencies of the pages of orders for this process. */
export function makeOrderPages(deps: PaymentDeps): OrderPages {
  const load = makeBatcher<string, LoadedOrder | undefined>({
    name: 'load orders',
    ...deps.batching,
    run: async (transaction_ids) => {
      const orders = await loadOrders(deps.db, transaction_ids, deps.clock())
      const found = new Map(orders.map((order) => [order.transaction_id, withTitle(deps, order)]))
      return transaction_ids.map((transaction_id) => found.get(transaction_id))
    },
  })
  const findPaid = makeFindPaidOrder(deps)
  return {
    deps,
    loadOrder: async (transaction_id) =>
      TRANSACTION_ID.test(transaction_id) ? load(transaction_id) : undefined,
    findPaidOrder: async (transaction_id) =>
      TRANSACTION_ID.test(transaction_id) ? findPaid(transaction_id) : undefined,
  }
}

/** Reads orders. A hand-over changes no receipt: a paid order names the member whom it paid. */
async function loadOrders(db: Db, transaction_ids: string[], now: Date) {
  return db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .innerJoin('users as payee', (join) =>
      join.on('payee.id', '=', (eb) => eb.fn.coalesce('orders.payee_id', 'app.applicant_id')),
    )
    .leftJoin('link_orders as sale', 'sale.order_id', 'orders.id')
    .leftJoin('links as link', 'link.id', 'sale.link_id')
    .leftJoin('tips as tip', 'tip.order_id', 'orders.id')
    .leftJoin('users as author', 'author.id', 'tip.to_user_id')
    .where('orders.transaction_id', 'in', transaction_ids)
    .selectAll('orders')
    .select([
      'app.name as app_name',
      'app.logo_url as app_logo_url',
      'app.homepage as app_homepage',
      'app.unreviewed_change_at as app_unreviewed_change_at',
      'app.callback_url',
      'app.events_url',
      'app.order_minutes',
      'sale.for_user_id',
      'link.slug as link_slug',
      PICTURES.picture.as('link_picture'),
      sql<boolean>`coalesce(link.delivery = 'none' and link.amount is null, false)`.as('is_tip'),
      'link.thanks as link_thanks',
      'sale.name as said_name',
      'sale.message as said_message',
      'tip.post_path',
      'tip.from_user_id',
      'author.username as author_username',
      'author.avatar_url as author_avatar_url',
      'author.trust_level as author_trust_level',
      'payee.username as applicant_username',
      'payee.trust_level as applicant_trust_level',
      sql<PaymentAppStatus>`app_status(
        app.status, owner.is_banned, owner.suspended_till, ${now}
      )`.as('app_status'),
      // Without trailing zeros: 100, not 100.000000.
      sql<string | null>`trim_scale(orders.rate)::text`.as('plain_rate'),
    ])
    .execute()
}

type StoredOrder = Awaited<ReturnType<typeof loadOrders>>[number]

/** `post_title`: of the topic of a tip, as far as this process knows it. */
export type LoadedOrder = StoredOrder & { post_title: string | null }

function withTitle(deps: PaymentDeps, order: StoredOrder): LoadedOrder {
  const { post_path } = order
  const title = post_path === null ? undefined : knownTopicTitle(deps, topicOf(post_path))
  return Object.assign(order, { post_title: title ?? null })
}

/** Whether the order exists for this reader. That of a link is its buyer's alone. spec/links 2.2. */
export function isFor({ for_user_id }: LoadedOrder, reader_id: bigint): boolean {
  return for_user_id === null || for_user_id === reader_id
}

/** Whether the reader placed the order on this site, so that leaving ends it. An order of a shop stays payable. spec/points 3.1. */
export function isPlacedBy({ for_user_id, from_user_id }: LoadedOrder, reader_id: bigint): boolean {
  return (for_user_id ?? from_user_id) === reader_id
}

/** Whether the payer returns to a shop with a signed link. Links and tips have no shop that waits for it. */
export function hasReturn({ door }: Pick<LoadedOrder, 'door'>): boolean {
  return door === 'hmac' || door === 'gateway'
}

/** The state of an order for a reader. Undefined while the reader can pay it. */
export function stateFor(order: LoadedOrder, reader_id: bigint, now: Date): State | undefined {
  if (order.status === 'paid' || order.status === 'refunded') {
    return order.payer_id === reader_id ? order.status : 'paidByOther'
  }
  if (order.status === 'closed') return 'closed'
  if (order.frozen_at !== null) return 'frozen'
  if (isExpired(order, now)) return 'expired'
  return order.app_status === 'approved' ? undefined : 'unusable'
}

/** The unsigned link back to the shop, which proves no payment: of a link its page, of a tip the post. */
export function shopOf({ config }: Pick<PaymentDeps, 'config'>, order: LoadedOrder): string {
  if (order.link_slug !== null) return `/l/${order.link_slug}`
  if (order.door === 'tip') return order.post_path === null ? '/account' : postUrl(config, order.post_path)
  return order.app_homepage ?? new URL(returnOf(order)).origin
}

/** The address of the return or the callback, without a signature. */
function returnOf({ return_url, callback_url }: Pick<PaidOrder, 'return_url' | 'callback_url'>): string {
  return return_url ?? callback_url
}

/** The signed return or callback of a paid order, signed again at each use. spec/payment-api 3.3. */
export async function signedReturn(deps: PaymentDeps, order: PaidOrder): Promise<string> {
  if (order.door === 'gateway')
    return withSignedTrade(returnOf(order), order, await signerFrom(deps, order), deps.clock())
  const fields: CallbackFields = {
    transaction_id: order.transaction_id,
    external_reference: order.order_id,
    amount: String(order.amount),
    platform_fee: String(order.fee),
    merchant_points: String(order.merchant_points),
    status: 'completed',
    paid_at: isoSeconds(order.paid_at!),
  }
  return signedCallbackUrl(
    order.callback_url,
    fields,
    openKey(deps.secrets, order.app_id, 'token', order.token!),
  )
}
