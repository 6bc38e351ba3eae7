/** /admin/find finds anything by an ID, number or name, and links to its page. */

import type { FastifyInstance } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { JournalKind } from '../../database/tables/ledger.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/find': { q: string; found: Found[] }
  }
  interface PartData {
    'admin/find-box': { q?: string }
    'admin/tabs': object
  }
}

const FOUND_MAX = 20
const JOURNAL_KINDS: JournalKind[] = ['grant', 'payment', 'transfer', 'refund', 'reversal', 'adjustment']

const Asked = z.object({ q: z.string().trim().max(200).catch('') })

type Kind = 'member' | 'oauthApp' | 'paymentApp' | 'order' | 'transfer' | 'journal'

/** A found thing: its title, a note that distinguishes it, and its page. */
export type Found = { kind: Kind; title: string; note: string; href: string }

/** Registers the page, which redirects to a single result. The caller's scope must require an administrator. */
export function findPages(app: FastifyInstance, { db }: Core): void {
  app.get('/admin/find', async (request, reply) => {
    const { q } = Asked.parse(request.query)
    const found = q === '' ? [] : await find(db, q)
    if (found.length === 1) return reply.redirect(found[0]!.href, 303)
    return reply.page('admin/find', { q, found })
  })
}

/** Finds the things with this ID, number or name, at most 20 of each kind. */
async function find(db: Db, text: string): Promise<Found[]> {
  const number = /^\d{1,18}$/.test(text) ? BigInt(text) : null
  const kinds = await Promise.all([
    findMembers(db, text, number),
    findOAuthApps(db, text),
    findPaymentApps(db, text, number),
    findOrders(db, text).then((orders) =>
      orders.map(({ transaction_id, order_id, description, app_name }) => ({
        kind: 'order' as const,
        title: description,
        note: `${transaction_id} · ${order_id} · ${app_name}`,
        href: `/admin/orders/${transaction_id}`,
      })),
    ),
    findTransfers(db, text).then((transfers) =>
      transfers.map(({ transaction_id, order_id, from_username, to_username, app_name }) => ({
        kind: 'transfer' as const,
        title: `@${from_username} → @${to_username}`,
        note: `${transaction_id} · ${order_id} · ${app_name}`,
        href: `/admin/transfers/${transaction_id}`,
      })),
    ),
    findJournals(db, text, number),
  ])
  return kinds.flat()
}

async function findMembers(db: Db, text: string, number: bigint | null): Promise<Found[]> {
  const name = text.replace(/^@/, '')
  const id = /^user:(\d{1,18})$/.exec(text)?.[1] ?? number
  const members = await db
    .selectFrom('users')
    .where((eb) =>
      eb.or([
        eb('id', '=', id === null ? null : BigInt(id)),
        eb(sql`lower(username)`, '=', sql`lower(${name})`),
      ]),
    )
    .select(['id', 'username', 'trust_level'])
    .execute()
  return members.map(({ id, username }) => ({
    kind: 'member',
    title: `@${username}`,
    note: String(id),
    href: `/admin/wallets/${id}`,
  }))
}

async function findOAuthApps(db: Db, client_id: string): Promise<Found[]> {
  const apps = await db
    .selectFrom('oauth_apps')
    .where('client_id', '=', client_id)
    .select(['client_id', 'name'])
    .execute()
  return apps.map(({ name }) => ({
    kind: 'oauthApp',
    title: name,
    note: client_id,
    href: `/admin/apps/${encodeURIComponent(client_id)}`,
  }))
}

async function findPaymentApps(db: Db, text: string, pid: bigint | null): Promise<Found[]> {
  const apps = await db
    .selectFrom('payment_apps')
    .where((eb) => eb.or([eb('payment_id', '=', text), eb('pid', '=', pid)]))
    .select(['payment_id', 'pid', 'name'])
    .execute()
  return apps.map(({ payment_id, pid, name }) => ({
    kind: 'paymentApp',
    title: name,
    note: `${payment_id} · ${pid}`,
    href: `/admin/payment-applications/${payment_id}`,
  }))
}

async function findJournals(db: Db, text: string, id: bigint | null): Promise<Found[]> {
  const journals = await db
    .selectFrom('journal')
    .where((eb) =>
      eb.or([eb('id', '=', id), eb.and([eb('kind', 'in', JOURNAL_KINDS), eb('reference', '=', text)])]),
    )
    .orderBy('id')
    .limit(FOUND_MAX)
    .select(['id', 'kind', 'reference'])
    .execute()
  return journals.map(({ id, kind, reference }) => ({
    kind: 'journal',
    title: String(id),
    note: `${kind} · ${reference}`,
    href: `/admin/journals/${id}`,
  }))
}

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
      'in',
      sql<bigint>`(
        select id from orders where transaction_id = ${id}
        union select id from orders where trade_no = ${id}
        union ${ofEveryApp(sql`
          select id from orders
          where app_id = each.id and book in ('live', 'test') and door in ('hmac', 'gateway') and order_id = ${id}`)}
      )`,
    )
    .orderBy('orders.id', 'desc')
    .limit(FOUND_MAX)
    .selectAll('orders')
    .select(['app.name as app_name', 'app.payment_id', 'app.status as app_status'])
    .select(['app.applicant_id', 'applicant.username as applicant'])
    .select(['payer.username as payer', 'payee.username as payee'])
    .execute()
}

/** Finds transfers by transaction_id or by the merchant's own number, in the same way. */
export async function findTransfers(db: Db, id: string) {
  return db
    .selectFrom('transfers')
    .innerJoin('payment_apps as app', 'app.id', 'transfers.app_id')
    .where(
      'transfers.id',
      'in',
      sql<bigint>`(
        select id from transfers where transaction_id = ${id}
        union ${ofEveryApp(
          sql`select id from transfers where app_id = each.id and book in ('live', 'test') and order_id = ${id}`,
        )}
      )`,
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

/** Searches every application. The inner limit keeps Postgres from reading the whole table. */
function ofEveryApp(ids: RawBuilder<unknown>) {
  return sql`(
    select of_app.id from payment_apps as each cross join lateral (${ids} limit 4) as of_app limit ${FOUND_MAX}
  )`
}
