/** The wallet, the payment applications and the last orders of a member, for the pages about the member. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'

/** The most applications and orders of a member on a page. */
const APPS_MAX = 20
const ORDERS_MAX = 5

/** Returns a member with the live wallet. Throws not_found. A member who never had points has no wallet. */
export async function memberWithWallet(db: Db, user_id: bigint) {
  const member = await db
    .selectFrom('users')
    .leftJoin('ledger_accounts as wallet', (join) =>
      join
        .onRef('wallet.user_id', '=', 'users.id')
        .on('wallet.book', '=', 'live')
        // The index has only wallets.
        .on('wallet.kind', '=', 'wallet'),
    )
    .where('users.id', '=', user_id)
    .select(['users.id', 'users.username', 'users.trust_level', 'users.created_at'])
    .select(['wallet.id as account_id', 'wallet.balance', 'wallet.frozen_at', 'wallet.frozen_reason'])
    .executeTakeFirst()
  if (member === undefined) throw new AppError('not_found', 'There is no such thing')
  return member
}

/** What a list says of a member: the live balance, and the last use of an open session. */
export type Glance = { balance: bigint; seen_at: Date | null }

/** Reads both for some members, by their ids. */
export async function glancesOf(db: Db, ids: bigint[]): Promise<Map<bigint, Glance>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Glance & { id: bigint }>`
    select id,
      coalesce((select balance from ledger_accounts as wallet
        where wallet.user_id = member.id and wallet.book = 'live' and wallet.kind = 'wallet'), 0)::bigint as balance,
      (select max(coalesce(last_seen_at, auth_time)) from sessions where user_id = member.id) as seen_at
    from unnest(${ids}::bigint[]) as member (id)`.execute(db)
  return new Map(rows.map(({ id, ...glance }) => [id, glance]))
}

/** The newest payment applications of a member. */
export async function paymentAppsOf(db: Db, user_id: bigint) {
  return db
    .selectFrom('payment_apps')
    .where('applicant_id', '=', user_id)
    .orderBy('id', 'desc')
    .limit(APPS_MAX)
    .select(['payment_id', 'name', 'status', 'book'])
    .execute()
}

/** The last orders that a member has paid or opened. */
export async function lastOrdersOf(db: Db, user_id: bigint) {
  return db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .where('orders.payer_id', '=', user_id)
    .orderBy('orders.id', 'desc')
    .limit(ORDERS_MAX)
    .select([
      'orders.transaction_id',
      'orders.description',
      'orders.amount',
      'orders.status',
      'orders.created_at',
    ])
    .select(['orders.paid_at', 'orders.expires_at', 'orders.book', 'app.name as app_name'])
    .execute()
}
