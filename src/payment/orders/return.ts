/** Finds what a payer's return to the shop needs: a paid order, and what its signed link needs. The database function is shop_returns. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import { named } from '../../database/named-statements.ts'
import type { Order } from './orders.ts'

/** The columns of the order that the link, and the page before it, need. */
type OrderColumn =
  | (
      | 'id'
      | 'app_id'
      | 'door'
      | 'order_id'
      | 'transaction_id'
      | 'description'
      | 'amount'
      | 'fee'
      | 'merchant_points'
    )
  | ('payer_id' | 'created_at' | 'paid_at' | 'forced' | 'notify_url' | 'return_url')
  | ('protocol' | 'pid_sent' | 'trade_no' | 'type' | 'money' | 'param')

/** A paid order that is not refunded, with the addresses of its shop and the keys that sign its link: the type shop_return. */
export type PaidOrder = Pick<Order, OrderColumn> & {
  callback_url: string
  app_homepage: string | null
  events_url: string | null
  /** The payer's name. */
  buyer: string
  /** The encrypted token, for an order of the HMAC API. */
  token: Buffer | null
  /** The encrypted Merchant KEY, for an order of the gateway's V1. */
  merchant_key: Buffer | null
  /** For an order of the gateway's V2. Null when the application is older than such keys. */
  platform_private_key_id: bigint | null
}

export type FindPaidOrder = (transaction_id: string) => Promise<PaidOrder | undefined>

/**
 * Makes the look-up of paid orders for this process. It returns undefined for an order that is not paid or is refunded.
 * Look-ups at the same time share a statement.
 */
export function makeFindPaidOrder(deps: Core): FindPaidOrder {
  return makeBatcher<string, PaidOrder | undefined>({
    name: 'find paid orders',
    ...deps.batching,
    run: async (transaction_ids) => {
      const { rows } = await sql<PaidOrder & { item: number }>`
        select ${named} item, (shop_return).* from shop_returns(${transaction_ids}::text[], ${deps.clock()}::timestamptz)`.execute(
        deps.db,
      )
      return inOrder(transaction_ids, rows, (order) => order)
    },
  })
}
