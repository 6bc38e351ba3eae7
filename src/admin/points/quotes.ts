/** What a refund or a reversal would move, before it is made: the parts of each side and the balances after it. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** A member's side of an act: the change of the wallet, and its balance before. */
export type Side = { username: string; change: bigint; balance: bigint }

export type RefundQuote = {
  description: string
  app_name: string
  /** The points of the order, and those that can still be refunded. */
  amount: bigint
  left: bigint
  payer: string
  payee: string
  payer_balance: bigint
  payee_balance: bigint
  /** The part that comes back out of the platform's fee. */
  fee_part: bigint
}

/** Quotes a refund as refund_order makes it. Undefined for an unknown or unpaid order. */
export async function quoteRefund(
  db: Db,
  { transaction_id, amount, with_fee }: { transaction_id: string; amount: bigint; with_fee: boolean },
): Promise<RefundQuote | undefined> {
  const { rows } = await sql<RefundQuote>`
    select o.description, app.name as app_name, o.amount, o.amount - o.refunded_amount as left,
      payer.username as payer, payee.username as payee,
      coalesce(payer_wallet.balance, 0)::bigint as payer_balance, coalesce(payee_wallet.balance, 0)::bigint as payee_balance,
      case when ${with_fee}::boolean then
        refunded_fee(o.fee, o.amount, least(o.refunded_amount + ${amount}::bigint, o.amount))
          - refunded_fee(o.fee, o.amount, o.refunded_amount)
      else 0 end::bigint as fee_part
    from orders as o join payment_apps as app on app.id = o.app_id
    join users as payer on payer.id = o.payer_id join users as payee on payee.id = o.payee_id
    left join ledger_accounts as payer_wallet
      on payer_wallet.user_id = o.payer_id and payer_wallet.book = o.book and payer_wallet.kind = 'wallet'
    left join ledger_accounts as payee_wallet
      on payee_wallet.user_id = o.payee_id and payee_wallet.book = o.book and payee_wallet.kind = 'wallet'
    where o.transaction_id = ${transaction_id} and o.paid_at is not null`.execute(db)
  return rows[0]
}

export type ReversalQuote = {
  app_name: string
  status: 'completed' | 'reversed'
  amount: bigint
  fee_part: bigint
  sender: string
  recipient: string
  sender_balance: bigint
  recipient_balance: bigint
}

/** Quotes a reversal as reverse_transfer makes it. Undefined for an unknown transfer. */
export async function quoteReversal(
  db: Db,
  { transaction_id, with_fee }: { transaction_id: string; with_fee: boolean },
): Promise<ReversalQuote | undefined> {
  const { rows } = await sql<ReversalQuote>`
    select app.name as app_name, moved.status, moved.amount,
      case when ${with_fee}::boolean then moved.fee else 0 end::bigint as fee_part,
      sender.username as sender, recipient.username as recipient,
      coalesce(sender_wallet.balance, 0)::bigint as sender_balance,
      coalesce(recipient_wallet.balance, 0)::bigint as recipient_balance
    from transfers as moved join payment_apps as app on app.id = moved.app_id
    join users as sender on sender.id = moved.from_user_id join users as recipient on recipient.id = moved.to_user_id
    left join ledger_accounts as sender_wallet
      on sender_wallet.user_id = moved.from_user_id and sender_wallet.book = moved.book and sender_wallet.kind = 'wallet'
    left join ledger_accounts as recipient_wallet
      on recipient_wallet.user_id = moved.to_user_id and recipient_wallet.book = moved.book
      and recipient_wallet.kind = 'wallet'
    where moved.transaction_id = ${transaction_id}`.execute(db)
  return rows[0]
}
