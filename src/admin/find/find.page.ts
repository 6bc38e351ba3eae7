// This room: finds a member, an application, a payment link, an order or a transfer by a name or any number that people quote.
// Verbs: findByNumber, findOrders, findTransfers, lastOrdersOf.
/** /admin/find finds anything by a number, a name or a part of one, and links to its page. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { findMembers } from '../../accounts/members.ts'
import type { User } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { containing } from '../../database/paging.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { JournalKind } from '../../database/tables/ledger.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import type { OrderStatus } from '../../database/tables/payments.ts'
import { findLinks, type ShownState } from '../../payment/links/reads.ts'
import { isExpired } from '../../payment/orders/orders.ts'
import { glancesOf } from './of-member.ts'
import {
  FOUND_MAX,
  findNewestOrders,
  findOrders,
  findTransfers,
  hasOlderOrders,
  NUMBER_PART_MIN,
  SEARCHED_MAX,
} from './transactions.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/find/find': {
      q: string
      groups: { kind: Kind; found: Found[]; all: string | undefined }[]
      /** Of the members that were found. */
      glances: Awaited<ReturnType<typeof glancesOf>>
      /** How many of the newest orders were searched by what they sold, if there are older ones. */
      searched: number | undefined
    }
  }
}

const Asked = z.object({ q: z.string().trim().max(200).catch('') })

/** Registers the page, which redirects to a single result. The caller's scope must require an administrator. */
export function findPages(app: FastifyInstance, { db, clock }: Core): void {
  app.get('/admin/find', async (request, reply) => {
    const { q } = Asked.parse(request.query)
    const now = clock()
    const pasted = numberIn(q)
    const exact = q === '' ? [] : await findByNumber(db, pasted, now)
    const found = q === '' || exact.length === 1 ? exact : await withParts(db, pasted, exact, now)
    if (found.length === 1) return reply.redirect(found[0]!.href, 303)
    const groups = [...Map.groupBy(found, ({ kind }) => kind)].map(([kind, found]) => ({
      kind,
      found,
      all: found.length < SHOWN_MAX ? undefined : listOf(kind, q),
    }))
    const [older, glances] = await Promise.all([
      hasOlderOrders(db),
      glancesOf(
        db,
        found.flatMap(({ who }) => who?.id ?? []),
      ),
    ])
    return reply.page('admin/find/find', { q, groups, glances, searched: older ? SEARCHED_MAX : undefined })
  })
}

/** An identifier of this site, whole, in any case. */
const OWN_NUMBERS = /\b(?:txn_[a-z0-9]{24}|mdt_[a-z0-9]{24}|pay_[a-z0-9]{20})\b/gi

/**
 * Returns the number that people paste: the last identifier in an address or a sentence, or the text without the quotes, `#` and
 * punctuation around it.
 */
export function numberIn(text: string): string {
  const own = text.match(OWN_NUMBERS)?.at(-1)
  if (own !== undefined) return own.toLowerCase()
  return text.replace(/^[\s"'“”‘’「」`#<(（]+|[\s"'“”‘’「」`>)）.,;，。；]+$/g, '') || text
}

const JOURNAL_KINDS: JournalKind[] = ['grant', 'payment', 'transfer', 'refund', 'reversal', 'adjustment']

/** In the order of the page. */
const KINDS = ['member', 'paymentApp', 'oauthApp', 'link', 'order', 'transfer', 'mandate', 'journal'] as const
type Kind = (typeof KINDS)[number]

/** The list of a kind, with the same search. */
function listOf(kind: Kind, q: string): string | undefined {
  const list: Partial<Record<Kind, string>> = {
    member: '/admin/members',
    oauthApp: '/admin/apps',
    link: '/admin/links',
  }
  return list[kind] && `${list[kind]}?${new URLSearchParams({ q })}`
}

/** What became of an order or a transfer. */
type Status = OrderStatus | 'partlyRefunded' | 'completed' | 'reversed'

/** A found thing: its title, a note that distinguishes it, and its page. `movement`: what a journal is. */
export type Found = {
  kind: Kind
  title: string
  note: string
  href: string
  movement?: JournalKind
  /** Random numbers, which a narrow page leaves out. */
  numbers?: string
  /** Of an order or a transfer: its points, when it was made, and who paid it. */
  money?: { amount: bigint; at: Date; payer: string | null; status: Status }
  /** Of a member. */
  who?: Pick<User, 'id' | 'username' | 'avatar_url' | 'trust_level'>
  /** Of a payment application or a sign-in application. */
  app?: App
  /** Of a payment application. */
  state?: { book: Book; status: PaymentAppStatus }
  /** Of a payment link. */
  link?: { book: Book; shown: ShownState }
}

/** The most results of each kind on the page. Members, OAuth applications and links have a list that shows all. */
const SHOWN_MAX = 8

/** Finds the things with this number, and the member of an `@username`. At most 20 of each kind. */
async function findByNumber(db: Db, text: string, now: Date): Promise<Found[]> {
  const number = /^\d{1,18}$/.test(text) ? BigInt(text) : null
  const kinds = await Promise.all([
    findMember(db, text, number),
    db
      .selectFrom('payment_apps')
      .where((eb) => eb.or([eb('payment_id', '=', text), eb('pid', '=', number)]))
      .select(['payment_id', 'pid', 'name', 'logo_url', 'book', 'status'])
      .execute()
      .then((apps) => apps.map(paymentApp)),
    db
      .selectFrom('oauth_apps')
      .where('client_id', '=', text)
      .select(['client_id', 'name', 'logo_url'])
      .execute()
      .then((apps) => apps.map(oauthApp)),
    findOrders(db, text).then((orders) => orders.map(order(now))),
    findTransfers(db, text).then((transfers) =>
      transfers.map(
        ({ transaction_id, order_id, from_username, to_username, app_name, amount, paid_at, status }) => ({
          kind: 'transfer' as const,
          title: `@${from_username} → @${to_username}`,
          note: app_name,
          numbers: `${transaction_id} · ${order_id}`,
          href: `/admin/transfers/${transaction_id}`,
          money: { amount, at: paid_at, payer: null, status },
        }),
      ),
    ),
    findMandates(db, text),
    findJournals(db, text, number),
  ])
  return withoutRepeats(kinds.flat(), text)
}

/** Leaves out the journals of a found order or transfer, whose page shows them. */
function withoutRepeats(found: Found[], reference: string): Found[] {
  const hasPage = found.some(({ kind }) => kind === 'order' || kind === 'transfer')
  return hasPage ? found.filter(({ kind, note }) => kind !== 'journal' || note !== reference) : found
}

/** Adds the things with a part of this name, in the order of the page. */
async function withParts(db: Db, text: string, exact: Found[], now: Date): Promise<Found[]> {
  const prefix = beginning(text)
  const begins = <Condition>(condition: Condition) => (text.length < NUMBER_PART_MIN ? [] : [condition])
  const kinds = await Promise.all([
    findMembers(db, text, SHOWN_MAX).then((members) => members.map(member)),
    db
      .selectFrom('payment_apps')
      .select(['payment_id', 'pid', 'name', 'logo_url', 'book', 'status'])
      .where((eb) =>
        eb.or([eb('name', 'ilike', containing(text)), ...begins(eb('payment_id', 'ilike', prefix))]),
      )
      .orderBy(beginsWith(text), 'desc')
      .orderBy('id', 'desc')
      .limit(SHOWN_MAX)
      .execute()
      .then((apps) => apps.map(paymentApp)),
    db
      .selectFrom('oauth_apps')
      .select(['client_id', 'name', 'logo_url'])
      .where((eb) =>
        eb.or([eb('name', 'ilike', containing(text)), ...begins(eb('client_id', 'ilike', prefix))]),
      )
      .orderBy(beginsWith(text), 'desc')
      .orderBy('id', 'desc')
      .limit(SHOWN_MAX)
      .execute()
      .then((apps) => apps.map(oauthApp)),
    findLinks(db, text, now, SHOWN_MAX).then((links) => links.map(link)),
    findNewestOrders(db, text, SHOWN_MAX).then((orders) => orders.map(order(now))),
  ])
  const known = new Set(exact.map(({ href }) => href))
  const found = [...exact, ...kinds.flat().filter(({ href }) => !known.has(href))]
  return KINDS.flatMap((kind) => found.filter((each) => each.kind === kind))
}

/** Applications whose names begin with the text come first. */
const beginsWith = (text: string) => sql<boolean>`name ilike ${beginning(text)}`
const beginning = (text: string) => containing(text).slice(1)

type Named = NonNullable<Found['who']> & { name: string | null }
const member = ({ name, ...who }: Named): Found => ({
  kind: 'member',
  title: `@${who.username}`,
  note: name ?? '',
  href: `/admin/members/${who.id}`,
  who,
})
type App = { name: string; logo_url: string | null }
const oauthApp = ({ client_id, ...app }: App & { client_id: string }): Found => ({
  kind: 'oauthApp',
  app,
  title: app.name,
  note: client_id,
  href: `/admin/apps/${encodeURIComponent(client_id)}`,
})
type Sells = App & Required<Found>['state'] & { payment_id: string; pid: bigint }
const paymentApp = ({ payment_id, pid, book, status, ...app }: Sells): Found => ({
  kind: 'paymentApp',
  app,
  state: { book, status },
  title: app.name,
  note: `pid ${pid}`,
  numbers: payment_id,
  href: `/admin/payment-applications/${payment_id}`,
})
const link = (found: Awaited<ReturnType<typeof findLinks>>[number]): Found => ({
  kind: 'link',
  title: found.title,
  note: `${found.app_name} · @${found.owner}`,
  href: `/admin/links?${new URLSearchParams({ q: found.slug })}`,
  link: { book: found.book, shown: found.shown },
})
type Sold = Record<'transaction_id' | 'order_id' | 'description' | 'app_name', string> & {
  amount: bigint
  created_at: Date
  payer: string | null
  status: OrderStatus
  expires_at: Date
  refunded_amount: bigint
}
const order =
  (now: Date) =>
  (sold: Sold): Found => {
    const { transaction_id, order_id, description, app_name, amount, created_at, payer } = sold
    return {
      kind: 'order',
      title: description,
      note: app_name,
      numbers: `${transaction_id} · ${order_id}`,
      href: `/admin/orders/${transaction_id}`,
      money: { amount, at: created_at, payer, status: statusOf(sold, now) },
    }
  }

function statusOf(sold: Sold, now: Date): Status {
  if (sold.status === 'paid' && sold.refunded_amount > 0n) return 'partlyRefunded'
  return isExpired(sold, now) ? 'expired' : sold.status
}

async function findMember(db: Db, text: string, number: bigint | null): Promise<Found[]> {
  const id = /^user:(\d{1,18})$/.exec(text)?.[1] ?? number
  const name = /^@(.+)$/.exec(text)?.[1] ?? null
  const members = await db
    .selectFrom('users')
    .where((eb) =>
      eb.or([
        eb('id', '=', id === null ? null : BigInt(id)),
        eb(sql`lower(username)`, '=', sql`lower(${name})`),
      ]),
    )
    .select(['id', 'username', 'name', 'avatar_url', 'trust_level'])
    .execute()
  return members.map(member)
}

async function findMandates(db: Db, mandate_id: string): Promise<Found[]> {
  const mandates = await db
    .selectFrom('mandates')
    .innerJoin('payment_apps as app', 'app.id', 'mandates.app_id')
    .where('mandates.mandate_id', '=', mandate_id)
    .select(['mandates.mandate_id', 'mandates.reference', 'app.name'])
    .execute()
  return mandates.map(({ mandate_id, reference, name }) => ({
    kind: 'mandate',
    title: name,
    note: `${mandate_id} · ${reference}`,
    href: `/admin/mandates?${new URLSearchParams({ q: mandate_id })}`,
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
