/**
 * Random histories of links against a model: members order, pay, are refunded; the team pauses, edits, adds and takes back codes, and
 * hands the shop over; the staff stops links; time passes. Every act must end as the model says, every sale must hold the codes that
 * the model gave it, and the books pass. MODEL_SEED sets the seed.
 */
import { expect, it } from 'vitest'
import { createUser } from '../../../src/accounts/people/users.ts'
import type { Core } from '../../../src/core/core.ts'
import { openLimits } from '../../../src/core/limits.ts'
import { grantPoints } from '../../../src/ledger/points.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { applyForPaymentApp } from '../../../src/payment/apps/apps.ts'
import { acceptOffer, offerApplication } from '../../../src/payment/apps/handover.ts'
import { reviewPaymentApp } from '../../../src/payment/apps/review.ts'
import { changeLink, createLink, editLink, stopLink } from '../../../src/payment/links/acts.ts'
import { addCodes, takeBackCodes } from '../../../src/payment/links/codes.ts'
import { deliveryOf } from '../../../src/payment/links/delivery.ts'
import { placeLinkOrder } from '../../../src/payment/links/place.ts'
import { expireOrders } from '../../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { refundOrder } from '../../../src/payment/orders/refunds.ts'
import type { AppError } from '../../../src/platform/errors.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { details, IP } from '../../harness/links.ts'
import { openModelWorld } from '../../harness/model-world.ts'
import { makeRandom, type Random } from '../../harness/random.ts'
import { times } from '../../harness/thoroughness.ts'

const SEED = Number(process.env.MODEL_SEED ?? 3)
/** Histories that share a database. */
const SEQUENCES_A_DATABASE = 20
const SEQUENCES = times(400, SEQUENCES_A_DATABASE)
const STEPS = 60
const EXPIRY_MS = 30 * 60_000
const RATE = 0.05

/** The ends that each act must have had, because a history proves only what it reaches. */
const ENDS = {
  place: [
    'placed',
    'not_on_sale',
    'not_yet',
    'over',
    'not_allowed',
    'sold_out',
    'member_limit',
    'too_many_open',
  ],
  pay: [
    'paid',
    'paid_before',
    'not_found',
    'expired',
    'not_on_sale',
    'not_allowed',
    'sold_out',
    'member_limit',
    'insufficient',
  ],
  change: ['done', 'conflict'],
  stop: ['done', 'conflict'],
} as const
const reached = new Set<string>()
function note<Act extends keyof typeof ENDS>(act: Act, end: string): void {
  reached.add(`${act}: ${end}`)
}

type Member = { id: bigint; username: string; level: number; balance: bigint }
type Code = { text: string; state: 'free' | 'taken' | 'withdrawn' }
type Model = {
  slug: string
  state: 'on_sale' | 'paused' | 'ended' | 'stopped'
  sells: 'none' | 'codes'
  stock: number | null
  member_max: number | null
  min_level: number
  from: number | null
  until: number | null
  codes: Code[]
  sold: number
  soldTo: Map<Member, number>
}
type Order = {
  transaction_id: string
  link: Model
  buyer: Member
  units: number
  expiresAt: number
  paid: { codes: string[]; payee: Member; fee: bigint; isRefunded: boolean } | undefined
}
type World = {
  deps: Core
  members: Member[]
  admin: bigint
  payment_id: string
  app_id: bigint
  advance(ms: number): void
}

let names = 0
const QUANTITY_MAX = 3
const PRICE = 10n

async function openWorld(): Promise<World & { close(): Promise<void> }> {
  const { deps: core, advance, close } = await openModelWorld()
  const deps = { ...core, limits: openLimits(core) }
  const admin = await createUser(deps.db, { username: `admin${++names}`, password_hash: 'x', is_admin: true })
  for (const name of ['limit_links_created', 'limit_link_orders', 'limit_invitations'] as const)
    await deps.settings.change({ name, value: '0', actor_id: null, ip: 'command line', now: deps.clock() })
  const members = await Promise.all(
    [1, 2, 2, 3].map(async (level): Promise<Member> => {
      const username = `member${++names}`
      const id = await createUser(deps.db, { username, password_hash: 'x', trust_level: level })
      return { id, username, level, balance: 0n }
    }),
  )
  const form = {
    applicant_id: members[0]!.id,
    name: 'Shop',
    description: '',
    callback_url: 'http://127.0.0.1/cb',
  }
  const { payment_id, id: app_id } = await applyForPaymentApp(deps, form)
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: admin })
  return { deps, members, admin, payment_id, app_id, advance, close }
}

async function runHistory(world: World & { owner?: Member }, random: Random): Promise<void> {
  const { deps, members, admin, payment_id } = world
  const pay = makePayOrder(deps)
  const now = () => deps.clock().getTime()
  world.owner ??= members[0]!
  const actor = () => ({ user_id: world.owner!.id, ip: IP })
  const codeOf = (act: Promise<unknown>) =>
    act.then(
      () => 'done',
      ({ code }: AppError) => code,
    )
  for (const member of members) {
    const amount = BigInt(1 + random.below(200))
    const grant = { user_id: member.id, amount, reference: `g:${++names}`, reason: 'start', actor_id: null }
    await grantPoints(deps.db, { ...grant, now: deps.clock() })
    member.balance += amount
  }

  const maybe = (max: number) => (random.below(3) > 0 ? null : 1 + random.below(max))
  const limitsOf = () => ({ stock: maybe(6), member_max: maybe(3), min_level: random.below(4) === 0 ? 3 : 0 })
  const timesOf = () => ({
    from: random.below(5) === 0 ? now() + EXPIRY_MS : null,
    until: random.below(3) === 0 ? now() + 2 * EXPIRY_MS : null,
  })
  type Limits = Pick<Model, 'stock' | 'member_max' | 'min_level' | 'from' | 'until' | 'sells'>
  const detailsOf = ({ from, until, sells, stock, member_max, min_level }: Limits) =>
    details({
      ...{ stock, member_max, min_level, amount: PRICE, quantity_max: QUANTITY_MAX, delivery: sells },
      sells_from: from === null ? null : new Date(from),
      sells_until: until === null ? null : new Date(until),
    })
  const links: Model[] = []
  const orders: Order[] = []
  for (const sells of ['none', 'codes'] as const) {
    const chosen = { sells, ...limitsOf(), ...timesOf() }
    const slug = await createLink(deps, payment_id, detailsOf(chosen), actor())
    await changeLink(deps, payment_id, { slug, change: 'publish' }, actor())
    links.push({ slug, state: 'on_sale', ...chosen, codes: [], sold: 0, soldTo: new Map() })
  }

  /** What the limits of a link say to a member. */
  const judge = (link: Model, buyer: Member, units: number) => {
    if (link.state !== 'on_sale') return 'not_on_sale'
    if (buyer.level < link.min_level) return 'not_allowed'
    const free = link.codes.filter(({ state }) => state === 'free').length
    if ((link.stock !== null && link.sold + units > link.stock) || (link.sells === 'codes' && free < units))
      return 'sold_out'
    if (link.member_max !== null && (link.soldTo.get(buyer) ?? 0) + units > link.member_max)
      return 'member_limit'
    return undefined
  }
  const byId = (link: Model, state: Code['state']) => link.codes.filter((code) => code.state === state)

  const acts = {
    async place() {
      // One buyer comes often, and so reaches the limits of a member.
      const [link, buyer] = [random.pick(links), random.below(3) > 0 ? members[1]! : random.pick(members)]
      const units = 1 + random.below(QUANTITY_MAX)
      const judged = judge(link, buyer, units)
      const isOpen = ({ buyer: other, link: at, paid, expiresAt }: Order) =>
        other === buyer && at === link && paid === undefined && expiresAt > now()
      const expected =
        judged === 'not_on_sale'
          ? judged
          : link.from !== null && now() < link.from
            ? 'not_yet'
            : link.until !== null && now() >= link.until
              ? 'over'
              : (judged ?? (orders.filter(isOpen).length >= 3 ? 'too_many_open' : 'placed'))
      const placed = await placeLinkOrder(deps, {
        link: { slug: link.slug, book: 'live', applicant_id: world.owner!.id },
        ...{ user_id: buyer.id, units, amount: undefined, key: `k${++names}` },
      })
      expect(placed.refusal ?? 'placed').toBe(expected)
      note('place', expected)
      if (placed.refusal !== undefined) return
      const expiresAt = Math.min(now() + EXPIRY_MS, link.until ?? Number.POSITIVE_INFINITY)
      orders.push({ transaction_id: placed.transaction_id, link, buyer, units, expiresAt, paid: undefined })
    },
    async pay() {
      const order = random.pick(orders)
      if (order === undefined) return
      const { transaction_id, link, buyer, units } = order
      const payer = random.below(8) === 0 ? random.pick(members) : buyer
      const amount = PRICE * BigInt(units)
      const payment = { transaction_id, payer_id: payer.id, expected_amount: amount }
      const outcomes = await Promise.all(
        random.below(3) === 0 ? [pay(payment), pay(payment)] : [pay(payment)],
      )
      const expected =
        payer !== buyer
          ? 'not_found'
          : order.paid !== undefined
            ? 'paid_before'
            : order.expiresAt <= now()
              ? 'expired'
              : (judge(link, buyer, units) ?? (buyer.balance < amount ? 'insufficient' : 'paid'))
      expect(outcomes[0]).toBe(expected)
      if (outcomes.length > 1) expect(outcomes[1]).toBe(expected === 'paid' ? 'paid_before' : expected)
      note('pay', expected)
      if (expected !== 'paid') return
      const taken = link.sells === 'codes' ? byId(link, 'free').slice(0, units) : []
      for (const code of taken) code.state = 'taken'
      link.sold += units
      link.soldTo.set(buyer, (link.soldTo.get(buyer) ?? 0) + units)
      const fee = BigInt(Math.floor(Number(amount) * RATE))
      buyer.balance -= amount
      world.owner!.balance += amount - fee
      order.paid = { codes: taken.map(({ text }) => text), payee: world.owner!, fee, isRefunded: false }
    },
    async refund() {
      const order = random.pick(orders)
      if (order?.paid === undefined || order.paid.isRefunded) return
      const { payee, fee } = order.paid
      const amount = PRICE * BigInt(order.units)
      const isPossible = payee === order.buyer || payee.balance >= amount - fee
      const act = { transaction_id: order.transaction_id, amount, with_fee: true, key: `r${++names}` }
      const by = { reason: 'model', actor_id: admin, ip: IP }
      expect(await codeOf(refundOrder(deps, { ...act, ...by }))).toBe(isPossible ? 'done' : 'conflict')
      if (!isPossible) return
      order.buyer.balance += amount
      payee.balance -= amount - fee
      order.paid.isRefunded = true
    },
    async change() {
      const link = random.pick(links)
      const change = random.pick(['pause', 'resume', 'resume', 'resume'] as const)
      const to = change === 'pause' ? 'paused' : 'on_sale'
      const isPossible = link.state === 'on_sale' || link.state === 'paused'
      const expected = isPossible ? 'done' : 'conflict'
      expect(await codeOf(changeLink(deps, payment_id, { slug: link.slug, change }, actor()))).toBe(expected)
      note('change', expected)
      if (isPossible) link.state = to
    },
    async stop() {
      const link = random.pick(links)
      const reason = random.below(3) === 0 ? 'model' : undefined
      const isPossible = (link.state === 'stopped') === (reason === undefined)
      const act = stopLink(deps, { slug: link.slug, reason }, { user_id: admin, ip: IP })
      expect(await codeOf(act)).toBe(isPossible ? 'done' : 'conflict')
      note('stop', isPossible ? 'done' : 'conflict')
      if (isPossible) link.state = reason === undefined ? 'paused' : 'stopped'
    },
    async edit() {
      const link = random.pick(links)
      Object.assign(link, limitsOf())
      await editLink(deps, payment_id, { slug: link.slug, details: detailsOf(link) }, actor())
    },
    async add() {
      const link = links[1]!
      const texts = Array.from({ length: 1 + random.below(5) }, () => `code-${++names}`)
      const back = byId(link, 'withdrawn').filter(() => random.below(2) === 0)
      const known = link.codes.filter(({ state }) => state !== 'withdrawn' && random.below(3) === 0)
      const file = [...texts, ...[...back, ...known].map(({ text }) => text)].join('\n')
      expect(await addCodes(deps, payment_id, { slug: link.slug, file }, actor())).toMatchObject({
        ...{ added: texts.length + back.length, known: known.length, empty: 0 },
      })
      for (const code of back) code.state = 'free'
      link.codes.push(...texts.map((text): Code => ({ text, state: 'free' })))
    },
    async takeBack() {
      const link = links[1]!
      const count = random.below(3) === 0 ? undefined : 1 + random.below(2)
      const expected = byId(link, 'free').slice(0, count)
      const taken = await takeBackCodes(deps, payment_id, { slug: link.slug, count }, actor())
      expect(taken).toEqual(expected.map(({ text }) => text))
      for (const code of expected) code.state = 'withdrawn'
    },
    async handOver() {
      const heir = random.pick(members.filter((member) => member !== world.owner))
      await offerApplication(deps, payment_id, heir.username, actor())
      await acceptOffer(deps, payment_id, { user_id: heir.id, ip: IP })
      world.owner = heir
      for (const link of links) if (link.state === 'on_sale') link.state = 'paused'
    },
    async wait() {
      world.advance(random.below(EXPIRY_MS))
      if (random.below(2) === 0) await expireOrders(deps)
    },
  }
  const weights = {
    ...{
      place: 10,
      pay: 8,
      refund: 1,
      change: 5,
      stop: 1,
      edit: 2,
      add: 3,
      takeBack: 1,
      handOver: 1,
      wait: 2,
    },
  } satisfies Record<keyof typeof acts, number>
  const choices = Object.entries(weights).flatMap(([name, weight]) =>
    Array<keyof typeof acts>(weight).fill(name as keyof typeof acts),
  )
  for (let step = 0; step < STEPS; step += 1) await acts[random.pick(choices)]()

  for (const { id, balance } of members) expect(await balanceOf(deps.db, id)).toBe(balance)
  for (const { transaction_id, link, paid } of orders) {
    const { id } = await deps.db
      .selectFrom('orders')
      .where('transaction_id', '=', transaction_id)
      .select('id')
      .executeTakeFirstOrThrow()
    const expected = paid === undefined ? undefined : { kind: link.sells, values: paid.codes }
    expect(await deliveryOf(deps.db, deps.secrets, id)).toEqual(expected)
  }
  await expectSoundBooks(deps.db)
}

it(`${SEQUENCES} random histories of links end as the model says`, async () => {
  for (let done = 0; done < SEQUENCES; done += SEQUENCES_A_DATABASE) {
    const world = await openWorld()
    try {
      for (let i = done; i < Math.min(done + SEQUENCES_A_DATABASE, SEQUENCES); i += 1) {
        await runHistory(world, makeRandom(SEED + i)).catch((error: unknown) => {
          throw new Error(`History ${i} of MODEL_SEED=${SEED} differs from the model`, { cause: error })
        })
      }
    } finally {
      await world.close()
    }
  }
  const all = Object.entries(ENDS).flatMap(([act, ends]) => ends.map((end) => `${act}: ${end}`))
  expect([...reached].sort()).toEqual(all.sort())
})
