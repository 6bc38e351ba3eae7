// This room: finds a member, an application, an order or a transfer by any number that people quote.
// Verbs: find, findOrders, findTransfers.
/** /admin/find finds anything by an ID, number or name, and links to its page. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { JournalKind } from '../../database/tables/ledger.ts'
import { FOUND_MAX, findOrders, findTransfers } from './transactions.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/find/find': { q: string; found: Found[] }
  }
  interface PartData {
    'admin/find/find-box': { q?: string }
  }
}

const Asked = z.object({ q: z.string().trim().max(200).catch('') })

/** Registers the page, which redirects to a single result. The caller's scope must require an administrator. */
export function findPages(app: FastifyInstance, { db }: Core): void {
  app.get('/admin/find', async (request, reply) => {
    const { q } = Asked.parse(request.query)
    const found = q === '' ? [] : await find(db, q)
    if (found.length === 1) return reply.redirect(found[0]!.href, 303)
    return reply.page('admin/find/find', { q, found })
  })
}

const JOURNAL_KINDS: JournalKind[] = ['grant', 'payment', 'transfer', 'refund', 'reversal', 'adjustment']

type Kind = 'member' | 'oauthApp' | 'paymentApp' | 'order' | 'transfer' | 'journal'

/** A found thing: its title, a note that distinguishes it, and its page. `movement`: what a journal is. */
export type Found = { kind: Kind; title: string; note: string; href: string; movement?: JournalKind }

/** Finds the things with this ID, number or name, at most 20 of each kind. */
export async function find(db: Db, text: string): Promise<Found[]> {
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
    note: reference,
    movement: kind,
    href: `/admin/journals/${id}`,
  }))
}
