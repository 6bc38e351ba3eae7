/** The page of a link: what it sells, from which shop, and one button. It needs no sign-in to look. spec/links 2.1, 2.5 and 4.2. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { earningForum } from '../../accounts/forum/points.ts'
import {
  browserScope,
  isVisit,
  proveVisit,
  requireUser,
  sessionOf,
  signInUrl,
} from '../../accounts/session/session.ts'
import { coloursOf, OWN_ACCENT } from '../../core/brand.ts'
import type { Core } from '../../core/core.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { balanceOf } from '../../ledger/wallet.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, type Problems, readForm, refuseQuery } from '../../web/forms/forms.ts'
import { isLanguage } from '../../web/languages.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import { may } from '../rights/rights.ts'
import { findSaleFault, type SaleFault } from './acts.ts'
import { isTip } from './find.ts'
import { MessageField, NameField, type ShownMessage, shownMessages } from './messages.ts'
import { findPicture, PICTURES, pictureOf, previewOf } from './pictures.ts'
import { type LinkRefusal, placeLinkOrder } from './place.ts'
import { hasManyLeft, unitsLeft } from './reads.ts'
import { isReportable, ReportField, reportLink } from './reports.ts'
import { buttonSvg, linkUrl, previewTags } from './share.ts'

const PAGE = '/l/:slug'
/** How long other sites may show an old price. */
const BUTTON_SECONDS = 300
const PICTURE_SECONDS = 86_400
const SLUG = /^[a-z0-9]{10}$/

type LinkRequest = FastifyRequest<{ Params: { slug: string } }>

/** What a form or the address of the page asks for. A chosen suggestion counts where no other amount is given. */
const Asked = z.object({
  quantity: z
    .string()
    .trim()
    .regex(/^([1-9]\d?|100)$/)
    .default('1')
    .transform(Number),
  amount: z.string().trim().max(16).default(''),
  choice: z.string().trim().max(16).default(''),
  name: NameField.optional(),
  message: MessageField.default(''),
  /** A visitor has no name yet that the message could be signed with, so this says that it has none. */
  anonymous: z.literal('on').optional(),
})
const OrderForm = Asked.extend({ key: z.string().min(1).max(64) })
type Asked = z.output<typeof Asked>

type Preview = {
  editUrl: string
  mayPublish: boolean
  fault: SaleFault | undefined
  /** The trust level that the owner needs. */
  neededLevel: number
}

type LinkPage = NonNullable<Awaited<ReturnType<typeof findLinkPage>>>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/link': {
      link: LinkPage
      /** Why nothing can be bought now, or by this reader. */
      refusal: LinkRefusal | undefined
      /** The path of the reader's last receipt of this link, where it sells no more to them. */
      lastReceipt: string | undefined
      asked: Asked
      isSignedIn: boolean
      /** The points that the reader lacks for the least that the link costs. */
      missing: bigint
      /** Where members earn points, if a forum says so. */
      earnUrl: string | undefined
      key: string
      path: string
      /** What forums and messengers read. None for a draft and in test mode. */
      tags: [name: string, content: string][]
      messages: ShownMessage[]
      /** The reader's, which a message is signed with by default. */
      username: string | undefined
      isTip: boolean
      /** Whether so many are left that no number is shown. */
      hasMany: boolean
      /** Whether the page shows the title and the shop alone. */
      isClosed: boolean
      /** The path of the picture. */
      picture: string | undefined
      /** Whether the page asks for reports. It asks its team for none. */
      mayReport: boolean
      /** Whether the form of a report is open. */
      isReporting: boolean
      /** For the team of a draft. Everyone else finds no page. */
      preview: Preview | undefined
    }
  }
}

/** GET and POST /l/:slug. */
export async function linkPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.nextSteps.push(makeDescribeLink(deps))

  buttonPicture(app, deps)
  storedPicture(app, deps)
  reportForm(app, deps)

  app.get(PAGE, async (request: LinkRequest, reply) => {
    const { buy, report } = request.query as Record<string, unknown>
    if (buy === '1' && request.session === undefined) return signInToBuy(request, reply, deps)
    if (buy === '1' || report === '1') {
      const elsewhere = await requireUser(request, reply)
      if (elsewhere !== undefined) return elsewhere
    }
    const visit = buy === '1' && request.method === 'GET' ? readVisit(request, deps) : undefined
    return visit === undefined ? showLink(request, reply, deps) : carryOn(request, reply, deps, visit)
  })

  app.post(PAGE, async (request: LinkRequest, reply) => {
    const elsewhere = await requireUser(request, reply)
    if (elsewhere !== undefined) return elsewhere
    const link = await getLinkPage(request, deps)
    const { saidWrong } = request.locale.t.paymentLinks
    const words = { ...wordsOf(link, request), name: saidWrong.name, message: saidWrong.message }
    const form = readForm(request, OrderForm, words)
    const { problems, code, ...placed } = await order(request, deps, link, form)
    if (problems !== undefined) throw new FormRefused(problems, code)
    if (placed.refusal !== undefined) return showLink(request, reply, deps, placed.refusal)
    return reply.redirect(`/payment/pay/${placed.transaction_id}`, 303)
  })
}

/** What became of an order: it is placed, it is refused, or its buyer can mend the form. */
type Ordered = {
  transaction_id?: string
  refusal?: LinkRefusal | undefined
  problems?: Problems
  code?: 'conflict'
}

/** Places the order of a form. Throws not_found and too_many_attempts. */
async function order(
  request: LinkRequest,
  deps: Core,
  link: LinkPage,
  { quantity, key, name, message, ...asked }: z.output<typeof OrderForm>,
): Promise<Ordered> {
  const words = wordsOf(link, request)
  const amount = link.amount === null ? readAmount(asked) : undefined
  if (link.amount === null && amount === undefined) return { problems: { amount: words.amount } }
  const placed = await placeLinkOrder(deps, {
    ...{ link, user_id: sessionOf(request).user.id, units: quantity, amount, key },
    said: message === '' ? undefined : { name: name ?? '', message },
  })
  if (placed.refusal === 'not_found') throw noSuchLink()
  if (placed.refusal === 'out_of_bounds')
    return { problems: link.amount === null ? { amount: words.amount } : { quantity: words.quantity } }
  const tooMany = quantity > 1 ? await judgeQuantity(request, deps, placed.refusal) : undefined
  return tooMany === undefined ? placed : { problems: { quantity: tooMany }, code: 'conflict' }
}

/** The text that a visitor proves: which form, and what it asks for. */
const actOf = (slug: string, key: string, { quantity, amount, choice, message, anonymous }: Asked) =>
  JSON.stringify(['buy', slug, key, quantity, amount, choice, message, anonymous === 'on'])

/**
 * Leads a visitor who wants to buy to the sign-in, and from there to the payment: the address carries the key of the order, and the
 * proof that this browser asked for it. So an address that somebody else wrote places no order.
 */
async function signInToBuy(request: LinkRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const link = await getLinkPage(request, deps)
  const { data, error } = Asked.safeParse(request.query)
  const words = wordsOf(link, request)
  const amount = data && readAmount(data)
  const { amount_min, amount_max, quantity_max } = link
  const isPriced =
    link.amount !== null || (amount !== undefined && amount >= amount_min! && amount <= amount_max!)
  if (data === undefined || !isPriced || data.quantity > quantity_max) {
    const field = error === undefined ? (isPriced ? 'quantity' : 'amount') : String(error.issues[0]?.path[0])
    const { message } = request.locale.t.paymentLinks.saidWrong
    refuseQuery(request, { [field]: { ...words, message }[field] ?? '' })
    return showLink(request, reply, deps)
  }
  const key = randomUUID()
  const { slug } = link
  const visit = `${key}.${proveVisit(request, reply, actOf(slug, key, data), deps)}`
  const asked = new URLSearchParams({ buy: '1' })
  for (const field of ['quantity', 'amount', 'choice', 'message', 'anonymous'] as const)
    if ((request.query as Record<string, unknown>)[field] !== undefined) asked.set(field, String(data[field]))
  asked.set('visit', visit)
  return reply.redirect(signInUrl(`/l/${slug}?${asked}`), 303)
}

/** Reads what this browser asked for before it signed in. Undefined for every other address. */
function readVisit(request: LinkRequest, deps: Core): z.output<typeof OrderForm> | undefined {
  const { visit } = request.query as Record<string, unknown>
  const { data } = Asked.safeParse(request.query)
  if (typeof visit !== 'string' || data === undefined) return undefined
  const [key = '', proof = ''] = visit.split('.')
  if (!isVisit(request, actOf(request.params.slug, key, data), proof, deps)) return undefined
  const name = data.anonymous === 'on' ? '' : sessionOf(request).user.username
  return { ...data, key, name }
}

/** Places the order that its buyer asked for before the sign-in, and leads to its payment. A second visit finds the same order. */
async function carryOn(
  request: LinkRequest,
  reply: FastifyReply,
  deps: Core,
  form: z.output<typeof OrderForm>,
): Promise<FastifyReply> {
  const { problems, refusal, transaction_id } = await order(
    request,
    deps,
    await getLinkPage(request, deps),
    form,
  )
  if (transaction_id !== undefined) return reply.redirect(`/payment/pay/${transaction_id}`, 303)
  if (problems !== undefined) refuseQuery(request, problems)
  return showLink(request, reply, deps, refusal)
}

/** What the form says of an amount or a quantity out of its bounds. */
function wordsOf({ amount_min, amount_max, quantity_max }: LinkPage, { locale }: FastifyRequest) {
  const { amountWrong, quantityWrong } = locale.t.paymentLinks
  return {
    amount: amountWrong(locale.points(amount_min ?? 0n), locale.points(amount_max ?? 0n)),
    quantity: quantityWrong(quantity_max),
  }
}

/** What is wrong with the quantity if it alone is too much, because a single unit would be sold. */
async function judgeQuantity(
  request: LinkRequest,
  deps: Core,
  refusal: LinkRefusal | undefined,
): Promise<string | undefined> {
  if (refusal !== 'sold_out' && refusal !== 'member_limit') return undefined
  if ((await predictRefusal(await getLinkPage(request, deps), deps)) !== undefined) return undefined
  const { fewerLeft, fewerForMember } = request.locale.t.paymentLinks
  return refusal === 'sold_out' ? fewerLeft : fewerForMember
}

/** GET /l/:slug/button.svg: the button of a link for other sites, in the language `lang`. */
function buttonPicture(app: FastifyInstance, deps: Core): void {
  app.get(`${PAGE}/button.svg`, async (request: LinkRequest, reply) => {
    const { slug } = request.params
    const link = SLUG.test(slug) ? await findLinkPage(deps, slug, undefined) : undefined
    if (link === undefined) throw noSuchLink()
    const { lang } = request.query as Record<string, unknown>
    const { locale } = isLanguage(lang) ? app.siteIn(lang) : request.localized
    const { accent, 'on-accent': on } = coloursOf(
      (await deps.settings.read()).site_accent || OWN_ACCENT,
      'light',
    )
    return reply
      .header('cache-control', `public, max-age=${BUTTON_SECONDS}`)
      .header('content-security-policy', "default-src 'none'")
      .type('image/svg+xml')
      .send(buttonSvg(link, locale, { accent, on }))
  })
}

/** GET /l/:slug/….png: the picture of a link, and its preview for forums. That of a draft or a closed link is for its team alone. */
function storedPicture(app: FastifyInstance, deps: Core): void {
  app.get(`${PAGE}/:name(^[0-9a-f]{32}).png`, async (request: LinkRequest, reply) => {
    const link = await getLinkPage(request, deps)
    const { name } = request.params as { slug: string; name: string }
    const picture = await findPicture(deps.db, link.id, name)
    if (picture === undefined || (isClosed(link) && link.role === null)) throw noSuchLink()
    const reach = link.state === 'draft' || isClosed(link) ? 'private' : 'public'
    return reply
      .header('cache-control', `${reach}, max-age=${PICTURE_SECONDS}`)
      .type('image/png')
      .send(picture)
  })
}

/** POST /l/:slug/report: a member tells the staff what is wrong with the page. spec/links 5.1. */
function reportForm(app: FastifyInstance, deps: Core): void {
  app.post(`${PAGE}/report`, { config: { page: PAGE } }, async (request: LinkRequest, reply) => {
    const elsewhere = await requireUser(request, reply)
    if (elsewhere !== undefined) return elsewhere
    const { slug } = request.params
    if (!SLUG.test(slug)) throw noSuchLink()
    const { paymentLinks: l } = request.locale.t
    const { report: text } = readForm(request, z.object({ report: ReportField }), { report: l.report.wrong })
    await reportLink(deps, { slug, user_id: sessionOf(request).user.id, text })
    return reply.done(`/l/${slug}`, { text: l.report.sent })
  })
}

/** Whether nothing is sold at a link for good, or until staff allows it. Its page shows its title and its shop alone. */
function isClosed({ state }: Pick<LinkPage, 'state'>): boolean {
  return state === 'ended' || state === 'stopped'
}

const noSuchLink = () => new AppError('not_found', 'There is no such page')

/** Makes the description of a link's page for those who sign in to buy. */
function makeDescribeLink(deps: Core) {
  return async (path: string): Promise<NextStep | undefined> => {
    const slug = /^\/l\/([a-z0-9]{10})(?![a-z0-9])/.exec(path)?.[1]
    const link = slug === undefined ? undefined : await findLinkPage(deps, slug, undefined)
    if (link === undefined) return undefined
    const app = { name: link.app_name, logo_url: link.app_logo_url }
    return {
      app,
      order: undefined,
      goods: link.title,
      price: priceIn(path, link),
      isTip: isTip(link),
      isPayment: true,
      exit: `/l/${slug}`,
    }
  }
}

/** What an address asks to buy at a link costs, as far as it says. Paying judges it. */
function priceIn(path: string, { amount, book }: LinkPage): NextStep['price'] {
  const { data } = Asked.safeParse(Object.fromEntries(new URL(path, 'http://link').searchParams))
  const asked = data && (amount === null ? readAmount(data) : amount * BigInt(data.quantity))
  return asked === undefined ? undefined : { amount: asked, isTest: book === 'test' }
}

/** An amount as digits. The database judges its bounds. */
function readAmount({ amount, choice }: Pick<Asked, 'amount' | 'choice'>): bigint | undefined {
  const text = amount || choice
  return /^[1-9]\d{0,15}$/.test(text) ? BigInt(text) : undefined
}

/** Throws not_found for an unknown link, another team's draft and a deleted link alike. */
async function getLinkPage(request: LinkRequest, deps: Core): Promise<LinkPage> {
  const { slug } = request.params
  const link = SLUG.test(slug) ? await findLinkPage(deps, slug, request.session?.user.id) : undefined
  if (link === undefined) throw noSuchLink()
  return link
}

const STATUS: Partial<Record<LinkRefusal, number>> = { paused: 503, not_allowed: 403 }

/** @param refused the refusal of an order, which the answer tells instead of what the page predicts. */
async function showLink(request: LinkRequest, reply: FastifyReply, deps: Core, refused?: LinkRefusal) {
  const link = await getLinkPage(request, deps)
  const given = Asked.safeParse(request.method === 'GET' ? request.query : request.body)
  const { locale, site } = request.localized
  const predicted = await predictRefusal(link, deps)
  const refusal = refused ?? predicted
  const data = {
    link,
    tags:
      link.state === 'draft' || link.book === 'test' || isClosed(link)
        ? []
        : previewTags(link, {
            url: linkUrl(deps, link.slug),
            image: previewOf(link) && `${deps.config.PAYMENT_PUBLIC_URL}${previewOf(link)}`,
            ...{ locale, site: site.name, isSold: isSoldToSome(predicted) },
          }),
    picture: isClosed(link) ? undefined : pictureOf(link),
    messages: link.messages === 'public' && !isClosed(link) ? await shownMessages(deps.db, link.id) : [],
    username: request.session?.user.username,
    isClosed: isClosed(link),
    isTip: isTip(link),
    hasMany: hasManyLeft(link),
    mayReport: isReportable(link) && link.role === null,
    isReporting: (request.query as Record<string, unknown>).report === '1',
    preview: await draftOf(link, deps),
    refusal,
    lastReceipt: refusal === 'member_limit' ? await findLastReceipt(link, request, deps) : undefined,
    asked: given.data ?? Asked.parse({}),
    isSignedIn: request.session !== undefined,
    missing: await findMissing(link, request, deps),
    earnUrl: earningForum(deps.config, await deps.settings.read()),
    key: randomUUID(),
    path: `/l/${link.slug}`,
  }
  reply.header('x-robots-tag', 'noindex')
  const status = refused === undefined ? 200 : (STATUS[refused] ?? 409)
  return reply.page('payment/links/link', data, { status })
}

/** The path of the reader's newest paid order of a link. */
async function findLastReceipt(link: LinkPage, { session }: FastifyRequest, { db }: Core) {
  if (session === undefined) return undefined
  const last = await db
    .selectFrom('link_orders as sale')
    .innerJoin('orders', 'orders.id', 'sale.order_id')
    .where('sale.link_id', '=', link.id)
    .where('sale.for_user_id', '=', session.user.id)
    .where('sale.member_total', 'is not', null)
    .orderBy('sale.member_total', 'desc')
    .select('orders.transaction_id')
    .limit(1)
    .executeTakeFirst()
  return last && `/payment/pay/${last.transaction_id}`
}

/** Whole points. None for visitors, and in test mode, where a payment opens the wallet. */
async function findMissing(link: LinkPage, { session }: FastifyRequest, { db }: Core): Promise<bigint> {
  if (session === undefined || link.book === 'test') return 0n
  const [price, balance] = [link.amount ?? link.amount_min ?? 0n, await balanceOf(db, session.user.id)]
  return price > balance ? price - balance : 0n
}

/** What the team of a draft may do with it. */
async function draftOf(link: LinkPage, { db, settings }: Core): Promise<Preview | undefined> {
  if (link.state !== 'draft') return undefined
  const site = await settings.read()
  return {
    editUrl: `${APPLICATIONS}/${link.payment_id}/links/${link.slug}`,
    mayPublish: link.role !== null && may(link.role, 'settings.edit'),
    fault: await findSaleFault(db, site, { ...link, status: link.app_status }),
    neededLevel: site.links_min_trust_level,
  }
}

/** Predicts the refusal of a single unit. place_link_order decides again. */
async function predictRefusal(link: LinkPage, deps: Core): Promise<LinkRefusal | undefined> {
  const now = deps.clock()
  if ((await deps.settings.read()).payments_read_only === 'on') return 'paused'
  // A draft is shown as it will be on sale.
  const isDraft = link.state === 'draft'
  if (link.app_status !== 'approved' && !isDraft) return 'unusable'
  if (link.judged === 'not_on_sale' && !isDraft) return 'not_on_sale'
  if (link.sells_from !== null && now < link.sells_from) return 'not_yet'
  if (link.sells_until !== null && now >= link.sells_until) return 'over'
  if (isDraft) return undefined
  return link.judged ?? undefined
}

/** Whether a link sells to somebody now, even if not to this reader. */
function isSoldToSome(predicted: LinkRefusal | undefined): boolean {
  return predicted === undefined || predicted === 'not_allowed' || predicted === 'member_limit'
}

type Judged = 'not_on_sale' | 'not_allowed' | 'sold_out' | 'member_limit' | null

/** What the page of a link shows, and what the database says to a unit for this reader. A visitor is judged like the owner's equal. */
async function findLinkPage({ db, clock }: Core, slug: string, user_id: bigint | undefined) {
  const now = clock()
  return db
    .selectFrom('links as link')
    .innerJoin('payment_apps as app', 'app.id', 'link.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .leftJoin('payment_app_roles as mine', (join) =>
      join.onRef('mine.app_id', '=', 'app.id').on('mine.user_id', '=', user_id ?? null),
    )
    .where('link.slug', '=', slug)
    .where((eb) => eb.or([eb('link.state', '<>', 'draft'), eb('mine.role', 'is not', null)]))
    .select(['link.id', 'link.state', 'app.payment_id', 'mine.role'])
    .select(['link.slug', 'link.book', 'link.title', 'link.description', 'link.amount', 'link.amount_min'])
    .select(['link.amount_max', 'link.suggestions', 'link.quantity_max', 'link.stock', 'link.member_max'])
    .select(['link.sells_from', 'link.sells_until', 'link.min_level', 'link.allow_groups', 'link.delivery'])
    .select(['link.shows_stock', 'link.low_stock', 'link.messages', 'app.applicant_id'])
    .select([
      'app.name as app_name',
      'app.logo_url as app_logo_url',
      'app.homepage as app_homepage',
      'app.unreviewed_change_at',
    ])
    .select(['owner.username as owner', 'owner.trust_level as owner_level'])
    .select([
      sql<PaymentAppStatus>`app_status(app.status, owner.is_banned, owner.suspended_till, ${now})`.as(
        'app_status',
      ),
      sql<Judged>`judge_units(link.id, ${user_id ?? null}::bigint, 1)`.as('judged'),
      sql<bigint>`units_sold(link.id)`.as('sold'),
      unitsLeft.as('left'),
      sql<Date | null>`(
        select created_at from link_reports where link_id = link.id and user_id = ${user_id ?? null}::bigint
      )`.as('reported_at'),
    ])
    .select([
      PICTURES.picture.as('picture'),
      PICTURES.preview.as('preview'),
      PICTURES.preview_of.as('preview_of'),
    ])
    .executeTakeFirst()
}
