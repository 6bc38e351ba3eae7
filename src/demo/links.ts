/** Makes the payment links of the demo's shop, and plans their sales among the orders of its history. */
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Parts } from '../parts.ts'
import { changeLink, createLink, type LinkDetails } from '../payment/links/acts.ts'
import { addCodes } from '../payment/links/codes.ts'
import { judgeMessage } from '../payment/links/messages.ts'
import { setPicture } from '../payment/links/pictures.ts'
import { placeLinkOrder } from '../payment/links/place.ts'
import { linkUrl } from '../payment/links/share.ts'
import type { PayOrder } from '../payment/orders/pay.ts'
import { MEMBERS, type MemberName, SHOPS } from './cast.ts'
import type { PlannedOrder } from './plan.ts'
import { dayOf } from './plan.ts'

const IP = '127.0.0.1'
const DAY_MS = 86_400_000
/** The links are this old at the start of the demo. */
const LINK_DAYS = 12
/** Between a sale and the orders before and after it, so that every list has them in the order of their times. */
const APART_MS = 4 * 60_000

const PLAIN: LinkDetails = {
  ...{
    title: '',
    description: '',
    thanks: '',
    amount: 60n,
    amount_min: null,
    amount_max: null,
    suggestions: [],
  },
  ...{ quantity_max: 1, stock: null, member_max: null, sells_from: null, sells_until: null, min_level: 0 },
  ...{
    allow_groups: [],
    delivery: 'none',
    delivered: '',
    shows_stock: true,
    low_stock: 5,
    messages: 'off',
    sale_alerts: 'off',
  },
}

type DemoLink = {
  details: Partial<LinkDetails>
  /** The name of its picture, without `.png`. */
  picture?: string
  codes?: number
  /** What the first buyers say. The team has approved all but the last. */
  said?: string[]
  /** What each buyer pays: the price, or an amount that they choose. */
  sold: (bigint | undefined)[]
  isDraft?: boolean
}

const LINKS: DemoLink[] = [
  {
    details: {
      title: 'Cat stickers to print',
      description:
        'Twelve ginger cats for your own printer, PNG and SVG, 300 dpi.\n\nPrinting for friends is fine, selling the prints is not.',
      thanks: 'Thank you! Enter the code at the download page; it works on three devices.',
      ...{ delivery: 'codes', member_max: 2 },
    },
    picture: 'cats',
    codes: 20,
    sold: Array.from({ length: 17 }, () => undefined),
  },
  {
    details: {
      title: 'A coffee for the artist',
      description: 'Carol draws the stickers. Every coffee becomes a cat.',
      thanks: 'Thank you, says Carol.',
      ...{ amount: null, amount_min: 5n, amount_max: 1_000n, suggestions: [10n, 50n, 200n] },
      messages: 'public',
    },
    picture: 'coffee',
    said: [
      'They look wonderful on matte paper.',
      'The third cat is mine in every way.',
      'Set 4 soon, please!',
      'Could one of them wear a scarf?',
    ],
    sold: [50n, 10n, 200n, 35n],
  },
  {
    details: {
      title: 'Poster of the autumn meeting',
      description: 'A2, printed on recycled paper. Pick it up at the meeting.',
      amount: 90n,
      stock: 3,
      thanks: 'See you at the meeting!',
    },
    picture: 'poster',
    sold: Array.from({ length: 3 }, () => undefined),
  },
  {
    details: {
      ...{ title: '秋叶贴纸 · 可打印电子版', amount: 35n, delivery: 'text' },
      description: '十二款手绘秋叶，PNG 与 SVG，300 dpi。\n\n可以打印后送给朋友，请勿出售打印成品。',
      delivered: '下载码：秋叶-2026-贴纸\n在贴纸商店的下载页填写即可，三台设备内有效。',
      thanks: '谢谢支持，愿你的手账里也有一片秋天。',
    },
    picture: 'leaves',
    sold: Array.from({ length: 6 }, () => undefined),
  },
  {
    details: {
      ...{ title: 'Paper lanterns to fold', amount: 25n, delivery: 'text' },
      delivered: 'Print both pages without scaling. Fold along the dotted lines.',
    },
    sold: [],
    isDraft: true,
  },
]

/** What the shops without a program sell by a link. Its page is their homepage, so each shop of the demo leads somewhere. */
const WINDOWS: { shop: 'cat' | 'library'; details: Partial<LinkDetails> }[] = [
  {
    shop: 'cat',
    details: {
      ...{ title: '猫爪明信片一套', amount: 45n, quantity_max: 5 },
      description: '六张手绘明信片，每张一只猫爪。\n\n付款后在下一次聚会领取。',
      thanks: '谢谢支持，聚会见。',
    },
  },
  {
    shop: 'library',
    details: {
      ...{ title: 'Monthly pass', amount: 200n, delivery: 'text' },
      description: 'The reading room is yours each night of a month, from eight in the evening.',
      delivered: 'Show this receipt at the desk. Your month begins with your first night.',
      thanks: 'See you tonight.',
    },
  },
]

/** Makes the links of those shops once, and writes their addresses, which have the port of this start. */
export async function ensureWindows(deps: Parts): Promise<void> {
  for (const { shop, details } of WINDOWS) {
    const app = await deps.db
      .selectFrom('payment_apps')
      .where('name', '=', SHOPS[shop].name)
      .where('book', '=', 'live')
      .orderBy('id')
      .select(['id', 'payment_id', 'applicant_id', 'homepage'])
      .executeTakeFirst()
    if (app === undefined) continue
    const made = await deps.db
      .selectFrom('links')
      .where('app_id', '=', app.id)
      .orderBy('id')
      .select('slug')
      .executeTakeFirst()
    const slug = made?.slug ?? (await openWindow(deps, app, details))
    const homepage = linkUrl(deps, slug)
    if (app.homepage === homepage) continue
    const table = deps.db.updateTable('payment_apps').where('id', '=', app.id)
    await table.set({ homepage }).execute()
    // The port has changed, and not what an administrator has reviewed.
    await table.set({ unreviewed_change_at: null, reviewed_values: null }).execute()
  }
}

async function openWindow(
  deps: Parts,
  { payment_id, applicant_id: user_id }: { payment_id: string; applicant_id: bigint },
  details: Partial<LinkDetails>,
): Promise<string> {
  const actor = { user_id, ip: IP }
  const slug = await createLink(deps, payment_id, { ...PLAIN, ...details }, actor)
  await changeLink(deps, payment_id, { slug, change: 'publish' }, actor)
  return slug
}

/** A sale at a link, at a moment between two orders. */
export type PlannedSale = { at: Date; run(past: Parts, pay: PayOrder): Promise<{ id: bigint }> }

/** When the links were made, for a demo that starts now. */
export const linksOpened = (now: Date) => new Date(now.getTime() - LINK_DAYS * DAY_MS)

/** Makes the links of the shop, and plans their sales among these orders. The caller does so once, before the history. */
export async function makeLinks(
  deps: Parts,
  { payment_id, owner_id }: { payment_id: string; owner_id: bigint },
  { orders, buyers }: { orders: readonly PlannedOrder[]; buyers: Record<MemberName, bigint> },
): Promise<PlannedSale[]> {
  const opened = linksOpened(deps.clock())
  const then = { ...deps, clock: () => opened }
  const actor = { user_id: owner_id, ip: IP }
  const sales: { share: number; run: PlannedSale['run'] }[] = []
  for (const link of LINKS) {
    const { details, codes, picture, isDraft } = link
    const slug = await createLink(then, payment_id, { ...PLAIN, ...details }, actor)
    if (picture !== undefined)
      await setPicture(then, payment_id, { slug, picture: await pictureOf(picture) }, actor)
    if (codes !== undefined) await addCodes(then, payment_id, { slug, file: codesOf(codes) }, actor)
    if (!isDraft) await changeLink(then, payment_id, { slug, change: 'publish' }, actor)
    for (const i of link.sold.keys())
      sales.push({
        share: (i + 0.5) / link.sold.length,
        run: async (past, pay) => sell(past, pay, { link, slug, i, payment_id, owner_id, buyers }),
      })
  }
  await sql`update links set created_at = ${opened}`.execute(deps.db)
  const gaps = gapsBetween(orders.filter(({ at }) => at.getTime() > opened.getTime() + DAY_MS))
  sales.sort((a, b) => a.share - b.share)
  return sales.map(({ run }, i) => ({ at: gaps[Math.floor(((i + 0.5) * gaps.length) / sales.length)]!, run }))
}

/** Finds the address of the shop's first link on sale. */
export async function findLinkUrl(
  deps: Parts,
  { payment_id }: { payment_id: string },
): Promise<string | undefined> {
  const link = await deps.db
    .selectFrom('links')
    .innerJoin('payment_apps as app', 'app.id', 'links.app_id')
    .where('app.payment_id', '=', payment_id)
    .where('links.state', '=', 'on_sale')
    .orderBy('links.id')
    .select('links.slug')
    .executeTakeFirst()
  return link && linkUrl(deps, link.slug)
}

const pictureOf = (name: string) => readFile(new URL(`pictures/${name}.png`, import.meta.url))

/** A moment in each gap of one day that is wide enough, at another part of each. */
function gapsBetween(orders: readonly PlannedOrder[]): Date[] {
  return orders.slice(1).flatMap(({ at }, i) => {
    const before = orders[i]!
    const begins = (before.paidAt ?? before.at).getTime() + APART_MS
    const lasts = at.getTime() - APART_MS - begins
    const isOneDay = dayOf(before.at) === dayOf(at)
    return isOneDay && lasts > 0 ? [new Date(begins + Math.floor((lasts * ((i * 7) % 10)) / 10))] : []
  })
}

type Sale = {
  link: DemoLink
  slug: string
  /** Which sale of the link. */
  i: number
  payment_id: string
  owner_id: bigint
  buyers: Record<MemberName, bigint>
}

async function sell(
  past: Parts,
  pay: PayOrder,
  { link, slug, i, payment_id, owner_id, buyers }: Sale,
): Promise<{ id: bigint }> {
  const { details, said, sold } = link
  const { username } = MEMBERS[(i * 5 + details.title!.length) % MEMBERS.length]!
  const user_id = buyers[username]
  const words = said?.[i] === undefined ? undefined : { name: username, message: said[i] }
  const placed = await placeLinkOrder(past, {
    link: { slug, book: 'live', applicant_id: owner_id },
    ...{ user_id, units: 1, amount: sold[i], said: words, key: `demo-${i}` },
  })
  if (placed.refusal !== undefined) throw new Error(`The demo's order at ${details.title}: ${placed.refusal}`)
  const { transaction_id } = placed
  await pay({
    transaction_id,
    payer_id: user_id,
    expected_amount: sold[i] ?? details.amount ?? PLAIN.amount!,
  })
  const actor = { user_id: owner_id, ip: IP }
  if (said !== undefined && i < said.length - 1)
    await judgeMessage(past, payment_id, { slug, transaction_id, to: 'shown' }, actor)
  return past.db
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .select('id')
    .executeTakeFirstOrThrow()
}

const codesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `STAR-${((7_321 * (i + 3)) % 9_000) + 1_000}-CAT${i + 10}`).join(
    '\n',
  )
