/** Orders and transfers by any number they have, with the names of those they concern. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { containing } from '../../database/paging.ts'

/** Of each kind. */
export const FOUND_MAX = 20

/**
 * Finds orders by transaction_id, by trade_no, or by the merchant's own number. The last search reads the unique key of
 * each application in turn, because no index begins with that number.
 */
export async function findOrders(db: Db, id: string) {
  return db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .leftJoin('users as payer', 'payer.id', 'orders.payer_id')
    .leftJoin('users as payee', 'payee.id', 'orders.payee_id')
    .where(
      'orders.id',
      '=',
      sql<bigint>`any(array(
        select id from orders where transaction_id = ${id}
        union select id from orders where trade_no = ${id}
        union ${ofEveryApp(sql`
          select one.id
          from unnest(array['live', 'test']) as of_book (book)
          cross join unnest(array['hmac', 'gateway', 'link', 'tip']) as of_door (door)
          cross join lateral (
            select id from orders
            where app_id = each.id and book = of_book.book and door = of_door.door and order_id = ${id} limit 1
          ) as one`)}
      ))`,
    )
    .orderBy('orders.id', 'desc')
    .limit(FOUND_MAX)
    .selectAll('orders')
    .select(['app.name as app_name', 'app.payment_id', 'app.status as app_status'])
    .select(['app.applicant_id', 'applicant.username as applicant'])
    .select(['payer.username as payer', 'payee.username as payee'])
    .execute()
}

/** The newest orders that are searched by what they sold. An index over all orders would cost every payment a write. */
export const SEARCHED_MAX = 2_000

/** A shorter part of a random number is found in any of them by chance. */
export const NUMBER_PART_MIN = 6
/** Shops count their own orders: "mug-1042". */
const SHOP_NUMBER_PART = /^(?=.*\d).{3,}$/

/**
 * Finds orders among the newest by a part of what they sold, by six characters of any of their numbers, or by three with a digit of
 * the shop's own number. Orders at the applications of a program's account come last.
 */
export async function findNewestOrders(db: Db, text: string, limit: number) {
  const part = containing(text)
  const hasPart = text.length >= NUMBER_PART_MIN
  return db
    .selectFrom((newest) =>
      newest
        .selectFrom('orders')
        .orderBy('id', 'desc')
        .limit(SEARCHED_MAX)
        .select([
          'id',
          'app_id',
          'transaction_id',
          'order_id',
          'door',
          'description',
          'amount',
          'created_at',
          'payer_id',
          'status',
          'expires_at',
          'refunded_amount',
        ])
        .as('newest'),
    )
    .innerJoin('payment_apps as app', 'app.id', 'newest.app_id')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .leftJoin('users as payer', 'payer.id', 'newest.payer_id')
    .where((eb) =>
      eb.or([
        eb('newest.description', 'ilike', part),
        ...(hasPart
          ? [eb('newest.transaction_id', 'ilike', part), eb('newest.order_id', 'ilike', part)]
          : []),
        // A link's order has a random number.
        ...(SHOP_NUMBER_PART.test(text)
          ? [eb.and([eb('newest.door', '!=', 'link'), eb('newest.order_id', 'ilike', part)])]
          : []),
      ]),
    )
    .orderBy('applicant.is_service')
    .orderBy('newest.id', 'desc')
    .limit(limit)
    .select(['newest.transaction_id', 'newest.order_id', 'newest.description', 'app.name as app_name'])
    .select(['newest.amount', 'newest.created_at', 'payer.username as payer'])
    .select(['newest.status', 'newest.expires_at', 'newest.refunded_amount'])
    .execute()
}

/** Whether there are orders older than the newest ones, which are found by their numbers only. */
export async function hasOlderOrders(db: Db): Promise<boolean> {
  const older = await db
    .selectFrom('orders')
    .orderBy('id', 'desc')
    .offset(SEARCHED_MAX)
    .limit(1)
    .select('id')
    .executeTakeFirst()
  return older !== undefined
}

/** Finds transfers by transaction_id or by the merchant's own number, in the same way. */
export async function findTransfers(db: Db, id: string) {
  return db
    .selectFrom('transfers')
    .innerJoin('payment_apps as app', 'app.id', 'transfers.app_id')
    .where(
      'transfers.id',
      '=',
      sql<bigint>`any(array(
        select id from transfers where transaction_id = ${id}
        union ${ofEveryApp(
          sql`select id from transfers where app_id = each.id and book in ('live', 'test') and order_id = ${id}`,
        )}
      ))`,
    )
    .orderBy('transfers.id', 'desc')
    .limit(FOUND_MAX)
    .selectAll('transfers')
    .select([
      sql<string>`name_now(transfers.from_user_id, transfers.from_username)`.as('from_username'),
      sql<string>`name_now(transfers.to_user_id, transfers.to_username)`.as('to_username'),
    ])
    .select(['app.name as app_name', 'app.payment_id'])
    .execute()
}

/**
 * Searches every application. The inner limit keeps Postgres from reading the whole table. A search for orders gives each column
 * of their unique key one value: for lists of values Postgres may read all orders of the application instead.
 */
function ofEveryApp(ids: RawBuilder<unknown>) {
  return sql`(
    select of_app.id from payment_apps as each cross join lateral (${ids} limit 4) as of_app limit ${FOUND_MAX}
  )`
}
