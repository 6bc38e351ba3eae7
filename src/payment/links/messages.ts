/** What buyers leave at a link: read by its team, approved, hidden again, or removed by the buyer. spec/links 2.6. */
import { sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { MessageState } from '../../database/tables/links.ts'
import { AppError } from '../../platform/errors.ts'
import { isHonestProse, isHonestText } from '../../web/parameters.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'

export const NAME_LENGTH_MAX = 30
export const MESSAGE_LENGTH_MAX = 200
/** Messages on the page of a link. */
const SHOWN_MAX = 50

const isWithin = (text: string, max: number) => [...text].length <= max

/** A name on the page. An empty one is anonymous. */
export const NameField = z
  .string()
  .trim()
  .refine((text) => isWithin(text, NAME_LENGTH_MAX) && (text === '' || isHonestText(text)))
/** Plain text without addresses, because the page shows it to everyone. */
export const MessageField = z
  .string()
  .transform((text) => text.replaceAll(/\s+/g, ' ').trim())
  .refine((text) => isWithin(text, MESSAGE_LENGTH_MAX) && (text === '' || isHonestProse(text)))
  .refine((text) => !/:\/\/|\bwww\./i.test(text))

export type ShownMessage = Awaited<ReturnType<typeof shownMessages>>[number]

/** The approved messages of a link, the newest first, without amounts. A full refund hides its message. */
export async function shownMessages(db: Db, link_id: bigint) {
  return db
    .selectFrom('link_orders as sale')
    .innerJoin('orders as paid', 'paid.id', 'sale.order_id')
    .where('sale.link_id', '=', link_id)
    .where('sale.message_state', '=', 'shown')
    .where('sale.message', 'is not', null)
    .where('sale.sold_total', 'is not', null)
    .where('paid.status', '=', 'paid')
    .orderBy('sale.sold_total', 'desc')
    .limit(SHOWN_MAX)
    .select(['sale.name', 'sale.message', 'paid.paid_at'])
    .$narrowType<{ name: string; message: string; paid_at: Date }>()
    .execute()
}

export type LinkMessage = Awaited<ReturnType<typeof messagesOf>>[number]

/** The messages of paid orders of a link in a state, the newest first, for its team. `id` orders them. */
export async function messagesOf(
  db: Db,
  link_id: bigint,
  state: MessageState,
  { before, limit }: { before: bigint | undefined; limit: number },
) {
  return db
    .selectFrom('link_orders as sale')
    .innerJoin('orders as paid', 'paid.id', 'sale.order_id')
    .innerJoin('users as buyer', 'buyer.id', 'sale.for_user_id')
    .where('sale.link_id', '=', link_id)
    .where('sale.message_state', '=', state)
    .where('sale.message', 'is not', null)
    .where('sale.sold_total', 'is not', null)
    .$if(before !== undefined, (query) => query.where('sale.sold_total', '<', before!))
    .orderBy('sale.sold_total', 'desc')
    .limit(limit)
    .select(['sale.sold_total as id', 'sale.name', 'sale.message', 'paid.transaction_id', 'paid.paid_at'])
    .select(['paid.status', 'buyer.username as buyer'])
    .$narrowType<{ id: bigint; name: string; message: string; paid_at: Date }>()
    .execute()
}

/** The messages that wait for the team. The query names the link `link`. */
export const waitingMessages = sql<number>`(
  select count(*)::int from (
    select from link_orders
    where link_id = link.id and message_state = 'waiting' and message is not null and sold_total is not null limit 100
  ) as waiting
)`

/**
 * Shows a message on the page, or hides it. Throws what lockPermitted throws, and not_found, also for one that its buyer has removed
 * meanwhile. A repeat does nothing.
 */
export async function judgeMessage(
  deps: Core,
  payment_id: string,
  { slug, transaction_id, to }: { slug: string; transaction_id: string; to: 'shown' | 'hidden' },
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'links.moderate')
    const { rows } = await sql<{ order_id: bigint; before: MessageState }>`
      select sale.order_id, sale.message_state as before
      from link_orders as sale join links as link on link.id = sale.link_id join orders as o on o.id = sale.order_id
      where link.slug = ${slug} and link.app_id = ${app.id} and o.transaction_id = ${transaction_id}
        and sale.sold_total is not null and sale.message is not null
      for no key update of sale`.execute(tx)
    const [found] = rows
    if (found === undefined) throw new AppError('not_found', 'There is no such message')
    if (found.before === to) return
    await tx
      .updateTable('link_orders')
      .set({ message_state: to })
      .where('order_id', '=', found.order_id)
      .execute()
    const action = to === 'shown' ? 'link.show_message' : 'link.hide_message'
    await audit(tx, action, payment_id, { slug, transaction_id }, actor)
  })
}

/** Removes the message and the name that a buyer left with an order. A repeat does nothing. */
export async function removeMessage(
  db: Db,
  { user_id, transaction_id }: { user_id: bigint; transaction_id: string },
): Promise<void> {
  await db
    .updateTable('link_orders')
    .set({ name: null, message: null, message_state: null })
    .where('for_user_id', '=', user_id)
    .where('order_id', '=', (eb) =>
      eb.selectFrom('orders').where('transaction_id', '=', transaction_id).select('id'),
    )
    .execute()
}
