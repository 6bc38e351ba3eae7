/**
 * Freezes and unfreezes wallets and orders. A frozen wallet pays and transfers nothing. A frozen order cannot be paid.
 * The database enforces both rules: functions/payment/pay.sql and transfers.sql. spec/points 2.6.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'

export type FreezeAct = { reason: string; actor_id: bigint; ip: string }

const NOT_FROZEN = { frozen_at: null, frozen_by: null, frozen_reason: null }

const frozen = ({ reason, actor_id }: FreezeAct, now: Date) => ({
  frozen_at: now,
  frozen_by: actor_id,
  frozen_reason: reason,
})

/** Freezes a member's wallet. Throws not_found for an unknown member, and conflict when it is frozen already. */
export async function freezeWallet({ db, clock }: Core, user_id: bigint, act: FreezeAct): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const member = await tx.selectFrom('users').where('id', '=', user_id).select('id').executeTakeFirst()
    if (member === undefined) throw new AppError('not_found', 'There is no such member')
    await sql`select open_wallets(array[${user_id}::bigint], array['live'])`.execute(tx)
    const changed = await wallet(tx, user_id)
      .set(frozen(act, clock()))
      .where('frozen_at', 'is', null)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) throw new AppError('conflict', 'This wallet is frozen already')
    await record(tx, 'wallet.freeze', `user:${user_id}`, act)
  })
}

/** Unfreezes a member's wallet. Throws conflict when it is not frozen. */
export async function unfreezeWallet({ db }: Core, user_id: bigint, act: FreezeAct): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const changed = await wallet(tx, user_id)
      .set(NOT_FROZEN)
      .where('frozen_at', 'is not', null)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) throw new AppError('conflict', 'This wallet is not frozen')
    await record(tx, 'wallet.unfreeze', `user:${user_id}`, act)
  })
}

/** Freezes an unpaid order. Throws conflict for any other order. */
export async function freezeOrder(
  { db, clock }: Core,
  transaction_id: string,
  act: FreezeAct,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('orders')
      .set({ ...frozen(act, clock()), updated_at: clock() })
      .where('transaction_id', '=', transaction_id)
      .where('frozen_at', 'is', null)
      .where('paid_at', 'is', null)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) throw new AppError('conflict', 'There is no such order to freeze')
    await record(tx, 'order.freeze', transaction_id, act)
  })
}

/** Unfreezes an order, which can be paid until it expires. Throws conflict when it is not frozen. */
export async function unfreezeOrder(
  { db, clock }: Core,
  transaction_id: string,
  act: FreezeAct,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('orders')
      .set({ ...NOT_FROZEN, updated_at: clock() })
      .where('transaction_id', '=', transaction_id)
      .where('frozen_at', 'is not', null)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) throw new AppError('conflict', 'This order is not frozen')
    await record(tx, 'order.unfreeze', transaction_id, act)
  })
}

function wallet(tx: Tx, user_id: bigint) {
  return tx
    .updateTable('ledger_accounts')
    .where('user_id', '=', user_id)
    .where('book', '=', 'live')
    .where('kind', '=', 'wallet')
}

async function record(tx: Tx, action: string, subject: string, act: FreezeAct): Promise<void> {
  const { reason, actor_id, ip } = act
  await recordAudit(tx, { actor_id, action, subject, detail: { reason }, ip })
}
