/** Makes the payment links of the demo's shop, with the sales of its first hours. */
import type { Parts } from '../parts.ts'
import { changeLink, createLink, type LinkDetails } from '../payment/links/acts.ts'
import { addCodes } from '../payment/links/codes.ts'
import { judgeMessage } from '../payment/links/messages.ts'
import { placeLinkOrder } from '../payment/links/place.ts'
import { linkUrl } from '../payment/links/share.ts'
import { makePayOrder } from '../payment/orders/pay.ts'
import { MEMBERS } from './cast.ts'
import { dayOf, midnightOf } from './plan.ts'

const IP = '127.0.0.1'
/** Between two sales. */
const SALE_MS = 9 * 60_000

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
  ...{ allow_groups: [], delivery: 'none', delivered: '', shows_stock: true, low_stock: 5, messages: 'off' },
}

type DemoLink = {
  details: Partial<LinkDetails>
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
      title: 'Cat stickers, set 3 · print files',
      description:
        'Twelve ginger cats for your own printer, PNG and SVG, 300 dpi.\n\nPrinting for friends is fine, selling the prints is not.',
      thanks: 'Thank you! Enter the code at the download page; it works on three devices.',
      ...{ delivery: 'codes', member_max: 2 },
    },
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
      amount: 90n,
      stock: 3,
      thanks: 'See you at the meeting!',
    },
    sold: Array.from({ length: 3 }, () => undefined),
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

/** Makes the links once. A later start finds them, and leaves the changes of the team alone. */
export async function ensureLinks(
  deps: Parts,
  { payment_id }: { payment_id: string },
  owner_id: bigint,
): Promise<void> {
  const { id } = await deps.db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    .executeTakeFirstOrThrow()
  const found = await deps.db.selectFrom('links').where('app_id', '=', id).select('id').limit(1).execute()
  if (found.length > 0) return
  const now = deps.clock()
  // Days that are over are closed. The sales are of today.
  let moment = new Date(
    Math.max(
      now.getTime() - SALE_MS * LINKS.flatMap(({ sold }) => sold).length,
      midnightOf(dayOf(now)).getTime(),
    ),
  )
  const past = { ...deps, clock: () => moment }
  const pay = makePayOrder(past)
  const buyers = await membersByName(deps)
  const actor = { user_id: owner_id, ip: IP }
  for (const { details, codes, sold, said, isDraft } of LINKS) {
    const slug = await createLink(past, payment_id, { ...PLAIN, ...details }, actor)
    if (codes !== undefined) await addCodes(past, payment_id, { slug, file: codesOf(codes) }, actor)
    if (!isDraft) await changeLink(past, payment_id, { slug, change: 'publish' }, actor)
    for (const [i, amount] of sold.entries()) {
      const link = { slug, book: 'live', applicant_id: owner_id } as const
      const { id: user_id, username: name } = buyers[i % buyers.length]!
      const words = said?.[i] === undefined ? undefined : { name, message: said[i] }
      const placed = await placeLinkOrder(past, {
        link,
        user_id,
        units: 1,
        amount,
        said: words,
        key: `demo-${i}`,
      })
      if (placed.refusal !== undefined)
        throw new Error(`The demo's order at ${details.title}: ${placed.refusal}`)
      const { transaction_id } = placed
      await pay({
        transaction_id,
        payer_id: user_id,
        expected_amount: amount ?? details.amount ?? PLAIN.amount!,
      })
      if (said !== undefined && i < said.length - 1)
        await judgeMessage(past, payment_id, { slug, transaction_id, to: 'shown' }, actor)
      if (moment.getTime() + SALE_MS < now.getTime()) moment = new Date(moment.getTime() + SALE_MS)
    }
  }
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

/** The members whose points the history has granted. */
async function membersByName({ db }: Parts): Promise<{ id: bigint; username: string }[]> {
  const names = MEMBERS.map(({ username }) => username)
  return db
    .selectFrom('users')
    .where('username', 'in', names)
    .orderBy('id')
    .select(['id', 'username'])
    .execute()
}

const codesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `STAR-${((7_321 * (i + 3)) % 9_000) + 1_000}-CAT${i + 10}`).join(
    '\n',
  )
