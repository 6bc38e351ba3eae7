/**
 * Plans the sixty days before the demo: who buys what in which shop, and what becomes of each order. The pages compare the last
 * thirty days with the thirty before. The plan is the same at every first start, but for the day on which it ends.
 */
import { MEMBERS, type MemberName, type Product, SHOPS, type ShopName } from './cast.ts'

const DAYS = 60
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const CHINA_MS = 8 * 60 * MINUTE_MS
/** Members buy from eight in the morning until eleven at night, in seconds. */
const DAY_BEGINS = 8 * 3_600
const DAY_LASTS = 15 * 3_600
/** The orders of the first day of the history, and of the last one. */
const FIRST_DAY_ORDERS = 3
const LAST_DAY_ORDERS = 6
const WEEKEND_ORDERS = 2
/** Shares of the shops among the orders, in percent, and the step between two of them, which spreads each shop evenly. */
const SHARES: [ShopName, number][] = [
  ['sticker', 42],
  ['mug', 12],
  ['cat', 28],
  ['library', 18],
]
const SHOP_STEP = 61
/** Which of its products a shop sells in turn. The first sells best. */
const PRODUCT_TURNS = [0, 1, 0, 2, 1, 0]
const PAID_PERCENT = 86
const REFUNDED_EVERY = 17

export type Buyer = MemberName | 'alice'

export type PlannedOrder = {
  number: string
  shop: ShopName
  buyer: Buyer
  product: Product
  at: Date
  /** Undefined for an order that the buyer leaves to expire. */
  paidAt: Date | undefined
  /** Refunded on the same evening, in full or in half. */
  refund: 'full' | 'half' | undefined
}

/** Plans the orders, in the order of their times. */
export function planOrders(now: Date): PlannedOrder[] {
  const draw = makeDraw()
  const orders: PlannedOrder[] = []
  const sold: Partial<Record<ShopName, number>> = {}
  let paidCount = 0
  for (let day = DAYS; day >= 0; day -= 1) {
    const midnight = midnightOf(dayOf(now) - day)
    const growth = Math.round(((DAYS - day) / DAYS) * (LAST_DAY_ORDERS - FIRST_DAY_ORDERS))
    const count = FIRST_DAY_ORDERS + growth + (isWeekend(midnight) ? WEEKEND_ORDERS : 0)
    const seconds = Array.from({ length: count }, () => DAY_BEGINS + draw(DAY_LASTS)).sort((a, b) => a - b)
    for (const second of seconds) {
      const at = new Date(midnight.getTime() + second * 1000)
      const shop = shopOf((orders.length * SHOP_STEP) % 100)
      const { owner, products } = SHOPS[shop]
      const buyers = MEMBERS.map(({ username }) => username).filter((username) => username !== owner)
      // Alice buys now and then, so that her own pages have something to show.
      const buyer: Buyer = shop !== 'mug' && draw(12) === 0 ? 'alice' : buyers[draw(buyers.length)]!
      const isPaid = draw(100) < PAID_PERCENT
      const paidAt = isPaid ? new Date(at.getTime() + (20 + draw(240)) * 1000) : undefined
      const turn = (sold[shop] ?? 0) % PRODUCT_TURNS.length
      sold[shop] = turn + 1
      const product = products[PRODUCT_TURNS[turn]!]!
      if (isPaid) paidCount += 1
      const isRefunded = isPaid && paidCount % REFUNDED_EVERY === 0
      orders.push({
        number: `${shop}-${1000 + orders.length}`,
        shop,
        buyer,
        product,
        at,
        paidAt,
        refund: isRefunded ? (draw(2) === 0 ? 'half' : 'full') : undefined,
      })
    }
  }
  const past = orders.filter(({ at, paidAt }) => (paidAt ?? at).getTime() < now.getTime() - MINUTE_MS)
  // The check of the whole round looks at the newest order of a shop: it is paid, and not refunded.
  const isLater = (shop: ShopName, i: number) =>
    past.slice(i + 1).some((later) => later.shop === shop && later.paidAt)
  return past
    .filter(({ paidAt, shop }, i) => paidAt !== undefined || isLater(shop, i))
    .map((order, i, kept) =>
      kept.slice(i + 1).some(({ shop }) => shop === order.shop) ? order : { ...order, refund: undefined },
    )
}

/** The day of a moment in China, where the members live: its number since 1970. */
export function dayOf(moment: Date): number {
  return Math.floor((moment.getTime() + CHINA_MS) / DAY_MS)
}

/** The midnight in China at which a day begins. */
export function midnightOf(day: number): Date {
  return new Date(day * DAY_MS - CHINA_MS)
}

/** Whether a moment is on a Saturday or a Sunday in China. 1970 began on a Thursday. */
export function isWeekend(moment: Date): boolean {
  return [0, 6].includes((dayOf(moment) + 4) % 7)
}

function shopOf(percent: number): ShopName {
  let sum = 0
  for (const [shop, share] of SHARES) {
    sum += share
    if (percent < sum) return shop
  }
  return 'sticker'
}

/** Draws whole numbers below a bound, the same ones every time (mulberry32). */
export function makeDraw(): (bound: number) => number {
  let state = 20_261_122
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}
