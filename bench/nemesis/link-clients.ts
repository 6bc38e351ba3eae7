/** Buyers at payment links of few codes or a small stock, and the teams that pause the links and take codes back. */
import { CLIENTS_A_KEEPER, refund } from './clients.ts'
import type { Act } from './history.ts'
import { LISTING_MS, type Listing } from './people.ts'
import { asMember, form, REFUNDS, REPEATS, type Self, think } from './self.ts'

const AT_ONCE = 2
const UNITS_MAX = 3
const CODES_ADDED = 2
const TAKE_BACKS = 0.3

/** The links that buyers look for at the moment. */
function promoted({ people, recorder }: Self): Listing[] {
  const first = Math.floor(recorder.now() / LISTING_MS)
  return Array.from({ length: AT_ONCE }, (_, i) => people.listings[(first + i) % people.listings.length]!)
}

/** Orders at a link, pays, and reads the receipt again and again. */
export async function buyAtLink(self: Self): Promise<void> {
  const { random, buyer } = self
  const listing = random.pick(promoted(self))
  const units = 1 + random.below(UNITS_MAX)
  const key = `${buyer.username}-${self.count}`
  const [placed] = await Promise.all([
    order(self, listing, units, key),
    ...(random.chance(REPEATS) ? [order(self, listing, units, key)] : []),
  ])
  await think(self)
  if (placed.outcome !== 'done') return
  const sale: Sale = { listing, units, transaction: String(placed.told.transaction) }
  const [paid] = await Promise.all([pay(self, sale), ...(random.chance(REPEATS) ? [pay(self, sale)] : [])])
  await readReceipt(self, sale)
  await think(self)
  if (random.chance(REPEATS)) await order(self, listing, units, key)
  if (random.chance(REPEATS)) await pay(self, sale)
  const { seller, price } = listing
  if (paid.outcome === 'done' && random.chance(REFUNDS))
    await refund(self, { seller, amount: price * units }, sale.transaction, buyer)
  await readReceipt(self, sale)
}

type Sale = { listing: Listing; units: number; transaction: string }

const factsOf = ({ seller, slug, sells, limit }: Listing) => ({ shop: seller.name, link: slug, sells, limit })

const ORDER = /^\/payment\/pay\/(txn_[a-z0-9]+)$/

function order({ client, buyer }: Self, listing: Listing, units: number, key: string): Promise<Act> {
  return client.insist({
    kind: 'order',
    subject: `${listing.slug}/${key}`,
    asked: { ...factsOf(listing), units },
    path: `/l/${listing.slug}`,
    init: form({ form_token: buyer.form_token, quantity: String(units), key }, asMember(buyer.session)),
    read: ({ status, location }) => {
      const transaction = ORDER.exec(new URL(location, 'http://site').pathname)?.[1]
      if (status !== 303 || transaction === undefined) return { outcome: 'refused' }
      return { outcome: 'done', told: { transaction } }
    },
  })
}

function pay({ client, buyer }: Self, { listing, units, transaction }: Sale): Promise<Act> {
  const { seller, price } = listing
  const amount = price * units
  return client.insist({
    kind: 'pay',
    subject: transaction,
    asked: {
      ...{ ...factsOf(listing), units, payer: buyer.username, payee: seller.owner.username, amount },
      // Its shop is not notified: it reads no orders of links.
      told: 0,
    },
    path: `/payment/pay/${transaction}`,
    init: form({ form_token: buyer.form_token, expected_amount: String(amount) }, asMember(buyer.session)),
    // A payment leads to the receipt.
    read: ({ status, location }) => ({
      outcome: status === 303 && location.includes(transaction) ? 'done' : 'refused',
    }),
  })
}

const DELIVERED = /<section class="got stack">.*?<\/section>/s
const CODE = /<code[^>]*>([^<]+)<\/code>|<p><bdi>([^<]+)<\/bdi><\/p>/g

function readReceipt({ client, buyer }: Self, { listing, units, transaction }: Sale): Promise<Act> {
  return client.insist({
    kind: 'receipt',
    subject: transaction,
    asked: { ...factsOf(listing), units },
    path: `/payment/pay/${transaction}`,
    init: { headers: asMember(buyer.session) },
    read: ({ status, text }) => {
      if (status !== 200) return { outcome: 'refused' }
      const [got = ''] = DELIVERED.exec(text) ?? []
      const values = [...got.matchAll(CODE)].map(([, code, line]) => code ?? line)
      return { outcome: 'done', told: { delivered: values.join(' ') } }
    },
  })
}

/** Pauses a link of its shop for a moment, and changes its codes meanwhile. */
export async function keepShop(self: Self): Promise<void> {
  const { random, people, n, count } = self
  const seller = people.keepers[Math.floor(n / CLIENTS_A_KEEPER) % people.keepers.length]!
  const mine = promoted(self).filter((listing) => listing.seller === seller)
  await think(self)
  if (mine.length === 0) return
  const listing = random.pick(mine)
  await act(self, listing, 'pause')
  if (listing.sells === 'codes' && random.chance(TAKE_BACKS)) {
    await takeBack(self, listing)
    const codes = Array.from({ length: CODES_ADDED }, (_, i) => `again-${listing.slug}-${n}-${count}-${i}`)
    await act(self, listing, 'codes', { codes: codes.join('\n') })
  }
  await think(self)
  await act(self, listing, 'resume')
}

const ofTeam = ({ seller, slug }: Listing, path: string, fields: Record<string, string> = {}) => ({
  path: `/payment/applications/${seller.payment_id}/links/${slug}/${path}`,
  init: form({ form_token: seller.owner.form_token, ...fields }, asMember(seller.owner.session)),
})

function act(
  { client }: Self,
  listing: Listing,
  kind: 'pause' | 'resume' | 'codes',
  fields: Record<string, string> = {},
): Promise<Act> {
  return client.insist({
    kind,
    subject: listing.slug,
    asked: factsOf(listing),
    ...ofTeam(listing, kind, fields),
    read: ({ status }) => ({ outcome: status === 303 ? 'done' : 'refused' }),
  })
}

/** A take-back whose answer is lost took codes all the same, which nobody has seen. */
function takeBack({ client }: Self, listing: Listing): Promise<Act> {
  return client.insist({
    kind: 'take-back',
    subject: listing.slug,
    asked: factsOf(listing),
    ...ofTeam(listing, 'codes/take-back', { count: '1' }),
    read: ({ status, text }) =>
      status === 200 && !text.startsWith('<')
        ? { outcome: 'done', told: { codes: text.trim().split('\n').join(' ') } }
        : { outcome: 'refused' },
  })
}
