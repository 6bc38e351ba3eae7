/**
 * What happens in the demo's history beside the purchases of its shops: weekly points of the forum, a weekly charge of alice, and
 * the few movements of carol, dora and bob. Each happens in the morning, before the first purchase of its day.
 */
import { forumScoreReason } from '../accounts/forum/score-reason.ts'
import { postPoints } from '../ledger/points.ts'
import type { Parts } from '../parts.ts'
import { markRead, readAlerts } from '../payment/alerts/alerts.ts'
import { type ChargeMandate, makeChargeMandate } from '../payment/mandates/charge.ts'
import { acceptMandate } from '../payment/mandates/consent.ts'
import { tellOfMandates } from '../payment/mandates/notices.ts'
import { type OfferedTerms, offerMandate } from '../payment/mandates/offers.ts'
import { askMandateRight, decideMandateRight } from '../payment/mandates/right.ts'
import { makePayOrder } from '../payment/orders/pay.ts'
import { makePlaceOrder } from '../payment/orders/place.ts'
import { makePostTransfer } from '../payment/orders/transfers.ts'
import { AppError } from '../platform/errors.ts'
import { MEMBERS, type MemberName, SHOPS, type ShopName } from './cast.ts'
import { dayOf, midnightOf } from './plan.ts'

const IP = '127.0.0.1'
const MINUTE_MS = 60_000
/** Minutes after midnight in China: before the first purchase of the day. */
const MORNING = 7 * 60

export type Person = MemberName | 'alice' | 'bob' | 'carol' | 'dora'
type Event = { daysAgo: number } & (
  | { kind: 'points'; of: Partial<Record<Person, bigint>> }
  | { kind: 'charge' }
  | { kind: 'purchase'; buyer: Person; shop: ShopName; product: number }
  | { kind: 'tip'; to: Person; amount: bigint }
)

/** What the forum's score gave to each in a week. */
const WEEKS = [56, 49, 42, 35, 28, 21, 14, 7]
const OF_WEEKS: Partial<Record<Person, bigint[]>> = {
  alice: [35n, 50n, 40n, 55n, 60n, 85n, 40n, 75n],
  bob: [25n, 15n, 40n, 20n, 30n, 45n, 20n, 35n],
  carol: [15n, 20n, 10n, 25n, 25n, 30n, 20n, 35n],
}
const scoreOf = (member: number, week: number) => BigInt(20 + ((member * 37 + week * 13) % 80))

/** A seat in the library's reading room, once a week. */
const SEAT = 15n
/** So many days ago, alice last read her alerts. */
const ALERTS_READ = 8
const PURPOSE = 'A seat in the reading room, every week'

/** In the order of their times. */
const EVENTS: readonly Event[] = [
  ...WEEKS.map((daysAgo, week): Event => {
    const members = MEMBERS.map(({ username }, i) => [username, scoreOf(i, week)] as const)
    const people = Object.entries(OF_WEEKS).map(([username, points]) => [username, points[week]!] as const)
    return { daysAgo, kind: 'points', of: Object.fromEntries([...people, ...members]) }
  }),
  // Dora is new, and her score gives her little.
  { daysAgo: 10, kind: 'points', of: { dora: 65n } },
  { daysAgo: 4, kind: 'points', of: { dora: 25n } },
  ...[22, 15, 8, 1].map((daysAgo): Event => ({ daysAgo, kind: 'charge' })),
  { daysAgo: 18, kind: 'purchase', buyer: 'carol', shop: 'sticker', product: 2 },
  { daysAgo: 5, kind: 'purchase', buyer: 'carol', shop: 'library', product: 0 },
  { daysAgo: 6, kind: 'purchase', buyer: 'dora', shop: 'sticker', product: 2 },
  { daysAgo: 11, kind: 'purchase', buyer: 'bob', shop: 'library', product: 0 },
  { daysAgo: 3, kind: 'purchase', buyer: 'bob', shop: 'cat', product: 1 },
  { daysAgo: 12, kind: 'tip', to: 'carol', amount: 10n },
  { daysAgo: 2, kind: 'tip', to: 'carol', amount: 10n },
]

/** Returns what the events change in a wallet, in points. */
export function movedBy(person: Person): bigint {
  return EVENTS.reduce((sum, event) => sum + changeOf(event, person), 0n)
}

function changeOf(event: Event, person: Person): bigint {
  switch (event.kind) {
    case 'points':
      return event.of[person] ?? 0n
    case 'charge':
      return person === 'alice' ? -SEAT : 0n
    case 'purchase':
      return event.buyer === person ? -productOf(event).amount : 0n
    case 'tip':
      return event.to === person ? event.amount : 0n
  }
}

const productOf = ({ shop, product }: { shop: ShopName; product: number }) => SHOPS[shop].products[product]!

type Shop = { id: bigint; payment_id: string; owner_id: bigint }

export type LivesCast = {
  people: Record<Person, bigint>
  shops: Record<ShopName, Shop>
  admin_id: bigint
}

/** Makes one morning happen. `day` is its number since 1970, in China; `now` is when the demo starts. */
export type LiveMorning = (day: number, now: Date) => Promise<void>

/**
 * Returns the function for each day of the history.
 * @param at runs an act at a moment, with `deps` whose clock says that moment.
 */
export function makeLiveMorning(
  deps: Parts,
  cast: LivesCast,
  at: <T>(moment: Date, act: () => Promise<T>) => Promise<T>,
): LiveMorning {
  const charge = makeChargeMandate(deps)
  let mandate_id: string | undefined
  return async (day, now) => {
    const today = EVENTS.filter(({ daysAgo }) => dayOf(now) - daysAgo === day)
    for (const [i, event] of today.entries()) {
      const moment = new Date(midnightOf(day).getTime() + (MORNING + 7 * i) * MINUTE_MS)
      await at(moment, async () => {
        if (event.kind === 'points') return givePoints(deps, cast, event.of, moment)
        if (event.kind === 'purchase') return buy(deps, cast, event)
        if (event.kind === 'tip') return tip(deps, cast, event)
        mandate_id ??= await allowSeats(deps, cast)
        await takeSeat(deps, cast, { charge, mandate_id, number: `seat-${event.daysAgo}` })
        if (event.daysAgo === ALERTS_READ) await closeAlerts(deps, cast.people.alice, moment)
      })
    }
  }
}

async function closeAlerts({ db }: Parts, user_id: bigint, now: Date): Promise<void> {
  const [newest] = await readAlerts(db, user_id, { before: undefined, limit: 1 })
  if (newest !== undefined) await markRead(db, user_id, { upTo: newest.id, now, ip: IP })
}

async function givePoints(
  { db }: Parts,
  { people }: LivesCast,
  of: Partial<Record<Person, bigint>>,
  now: Date,
): Promise<void> {
  const day = new Date(dayOf(now) * 86_400_000).toISOString().slice(0, 10)
  const lines = Object.entries(of).map(([username, amount]) => ({
    user_id: people[username as Person],
    amount,
    reference: `demo-score:${day}:${username}`,
  }))
  // The service writes this reason in the reader's language.
  await postPoints(db, { lines, reason: forumScoreReason(day), actor_id: null, now })
}

async function buy(
  deps: Parts,
  { people, shops }: LivesCast,
  event: { buyer: Person; shop: ShopName; product: number; daysAgo: number },
): Promise<void> {
  const { name, amount } = productOf(event)
  const order_id = `${event.shop}-${event.buyer}-${event.daysAgo}`
  const asked = { app_id: shops[event.shop].id, order_id, description: name, amount }
  const { transaction_id } = await makePlaceOrder(deps)(asked)
  await makePayOrder(deps)({ transaction_id, payer_id: people[event.buyer], expected_amount: amount })
}

async function tip(
  deps: Parts,
  { people, shops }: LivesCast,
  { to, amount, daysAgo }: { to: Person; amount: bigint; daysAgo: number },
): Promise<void> {
  await makePostTransfer(deps)({
    app_id: shops.sticker.id,
    from_user_id: shops.sticker.owner_id,
    to_user_id: people[to],
    to_username: to,
    amount,
    order_id: `tip-${daysAgo}`,
  })
}

/** The library gets the right to hold mandates, and alice allows it one. Returns its id. */
async function allowSeats(deps: Parts, { people, shops, admin_id }: LivesCast): Promise<string> {
  const { id: app_id, payment_id, owner_id } = shops.library
  await askMandateRight(deps, payment_id, PURPOSE, { user_id: owner_id, ip: IP })
  const granted = { decision: 'grant', daily_max: 10_000n, reason: '' } as const
  await decideMandateRight(deps, payment_id, granted, { actor_id: admin_id, ip: IP })
  const terms: OfferedTerms = {
    ...{ reference: 'seat-of-alice', purpose: PURPOSE, caps: { amount: SEAT }, with_token: false },
    ...{ starts_on: undefined, ends_on: undefined, user_id: undefined, replaces: undefined },
    period: 'week',
  }
  const offerer = { app_id, book: 'live', isFormerOwners: false } as const
  const { mandate_id } = await offerMandate(deps, offerer, terms, async () => {})
  const fault = await acceptMandate(deps, mandate_id, { user_id: people.alice, ip: IP, isFresh: true })
  if (fault !== undefined) throw new AppError('conflict', `Alice cannot allow the seat: ${fault.fault}`)
  return mandate_id
}

async function takeSeat(
  deps: Parts,
  { shops: { library } }: LivesCast,
  { charge, mandate_id, number }: { charge: ChargeMandate; mandate_id: string; number: string },
): Promise<void> {
  await charge({
    ...{ app_id: library.id, owner_id: library.owner_id, access_token: undefined },
    ...{ mandate_id, order_id: number, amount: SEAT, description: 'Reading room, one week' },
  })
  await tellOfMandates(deps)
}
