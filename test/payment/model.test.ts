/**
 * Random histories against a model: several members initiate, pay, let expire, transfer, refund, reverse, set limits
 * and change settings. Every act must end as the model says. After each history every balance is that of the model,
 * and the books pass. MODEL_SEED sets the seed.
 */
import { expect, it } from 'vitest'
import { createUser } from '../../src/accounts/people/users.ts'
import type { Core } from '../../src/core/core.ts'
import { adjustPoints, grantPoints } from '../../src/ledger/points.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { applyForPaymentApp } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { setTermsWithin } from '../../src/payment/apps/terms.ts'
import { expireOrders } from '../../src/payment/orders/orders.ts'
import { makePayOrder, type PayOrder } from '../../src/payment/orders/pay.ts'
import { type CreateOrder, makeCreateOrder } from '../../src/payment/orders/place.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { makePostTransfer, type PostTransfer } from '../../src/payment/orders/transfers.ts'
import { AppError } from '../../src/platform/errors.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { openModelWorld } from '../harness/model-world.ts'
import { makeRandom, type Random } from '../harness/random.ts'
import { times } from '../harness/thoroughness.ts'

/** With this seed the first fifty histories reach every end. */
const SEED = Number(process.env.MODEL_SEED ?? 5)
/** Histories that share a database and its members. More would make each proof of the books longer. */
const SEQUENCES_A_DATABASE = 50
const SEQUENCES = times(1_000, SEQUENCES_A_DATABASE)
const STEPS = 14
const PEOPLE = 4
const EXPIRY_MS = 30 * 60_000
const FEE_RATES = ['0', '0.05', '0.333333', '1'] as const
const TRANSFER_RATE = [3n, 100n] as const

type World = {
  deps: Core
  createOrder: CreateOrder
  pay: PayOrder
  transfer: PostTransfer
  admin: bigint
  actors: Actor[]
  advance(ms: number): void
  close(): Promise<void>
}
/** The daily limits of an application, and its acts with their moments. */
type Limits = { payments: bigint | null; transfers: bigint | null }
type Actor = {
  id: bigint
  username: string
  app_id: bigint
  payment_id: string
  balance: bigint
  limits: Limits
  done: { act: keyof Limits; amount: bigint; at: number }[]
}
const NO_LIMITS: Limits = { payments: null, transfers: null }
type ModelOrder = {
  transaction_id: string
  order_id: string
  seller: Actor
  amount: bigint
  expiresAt: number
  paid: { by: Actor; fee: bigint; refunded: bigint; feeBack: bigint } | undefined
}
type ModelTransfer = {
  transaction_id: string
  from: Actor
  to: Actor
  amount: bigint
  fee: bigint
  isReversed: boolean
}

/** The ends that each act must have had, because a history proves only what it reaches. */
const ENDS = {
  initiateAgain: ['done', 'order_exists', 'parameter_invalid'],
  pay: ['paid', 'paid_before', 'paid_by_other', 'expired', 'insufficient', 'daily_limit'],
  transfer: ['done', 'transfer_to_self', 'insufficient_points', 'daily_limit_reached'],
  refund: ['done', 'conflict'],
  reverse: ['done', 'conflict'],
} as const
const reached = new Set<string>()
function note<Act extends keyof typeof ENDS>(act: Act, end: (typeof ENDS)[Act][number]): void {
  reached.add(`${act}: ${end}`)
}

let names = 0

async function openWorld(): Promise<World> {
  const { deps, advance, close } = await openModelWorld()
  const { db } = deps
  const admin = await createUser(db, { username: `admin${++names}`, password_hash: 'x', is_admin: true })
  return {
    deps,
    createOrder: makeCreateOrder(deps),
    pay: makePayOrder(deps),
    transfer: makePostTransfer(deps),
    admin,
    actors: await makeActors(deps, admin),
    advance,
    close,
  }
}

async function makeActors(deps: Core, admin: bigint): Promise<Actor[]> {
  return Promise.all(
    Array.from({ length: PEOPLE }, async () => {
      const username = `actor${++names}`
      const id = await createUser(deps.db, { username, password_hash: 'x', trust_level: 2 })
      const form = { applicant_id: id, name: username, description: '', callback_url: 'http://127.0.0.1/cb' }
      const { id: app_id, payment_id } = await applyForPaymentApp(deps, form)
      await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: admin })
      return { id, username, app_id, payment_id, balance: 0n, limits: NO_LIMITS, done: [] }
    }),
  )
}

/** Each history begins with a few points for each member and no limits, after any earlier history. */
async function beginAnew({ deps, actors, admin }: World, random: Random): Promise<void> {
  for (const actor of actors) {
    // Some have so little that most of their acts lack points.
    const balance = BigInt(random.below(random.below(2) === 0 ? 60 : 400))
    const change = {
      user_id: actor.id,
      amount: balance - actor.balance,
      reference: `start:${++names}`,
      reason: 'start',
      actor_id: null,
      now: deps.clock(),
    }
    if (change.amount > 0n) await grantPoints(deps.db, change)
    if (change.amount < 0n) await adjustPoints(deps.db, change)
    actor.balance = balance
    if (actor.limits !== NO_LIMITS) await limit(deps, actor, NO_LIMITS, admin)
  }
}

async function limit(deps: Core, actor: Actor, limits: Limits, admin: bigint): Promise<void> {
  actor.limits = limits
  const { payments: daily_payments_max, transfers: daily_transfers_max } = limits
  const terms = { fee_rate: null, daily_payments_max, daily_transfers_max, reason: 'model' }
  const by = { actor_id: admin, ip: '127.0.0.1', now: deps.clock() }
  await deps.db.transaction().execute((tx) => setTermsWithin(tx, actor.payment_id, terms, by))
}

/** floor(a × b ÷ c) and ceil in integers, without the code under test. */
const floorDiv = (a: bigint, b: bigint) => a / b
const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b
const feeOf = (amount: bigint, rate: string) => {
  const [whole = '0', decimals = ''] = rate.split('.')
  return floorDiv(amount * BigInt(whole + decimals.padEnd(6, '0')), 1_000_000n)
}

/** Runs one history, and records its acts so that a failure can be read. */
async function runHistory(world: World, random: Random): Promise<void> {
  const { deps, createOrder, pay, transfer, admin, actors } = world
  await beginAnew(world, random)
  const orders: ModelOrder[] = []
  const transfers: ModelTransfer[] = []
  let feeRate: string = (await deps.settings.read()).points_payment_fee_rate
  const by = { reason: 'model', actor_id: admin, ip: '127.0.0.1' }
  const codeOf = async (act: Promise<unknown>) =>
    act.then(
      () => 'done',
      (error: unknown) => {
        if (error instanceof AppError) return error.code
        throw error
      },
    )
  const now = () => deps.clock().getTime()
  const dayInChina = (at: number) => Math.floor((at + 8 * 3_600_000) / 86_400_000)
  const fitsToday = ({ limits, done }: Actor, act: keyof Limits, amount: bigint) => {
    const today = done.filter((one) => one.act === act && dayInChina(one.at) === dayInChina(now()))
    return limits[act] === null || today.reduce((sum, one) => sum + one.amount, amount) <= limits[act]
  }

  const acts = {
    async initiate() {
      const seller = random.pick(actors)
      const amount = BigInt(1 + random.below(150))
      const order_id = `m${++names}`
      const order = await createOrder({ app_id: seller.app_id, order_id, description: 'x', amount })
      const { transaction_id } = order
      orders.push({ transaction_id, order_id, seller, amount, expiresAt: now() + EXPIRY_MS, paid: undefined })
    },
    async initiateAgain() {
      const order = random.pick(orders)
      if (order === undefined) return
      const isSame = random.below(3) > 0
      const amount = isSame ? order.amount : order.amount + 1n
      const request = { app_id: order.seller.app_id, order_id: order.order_id, description: 'y', amount }
      const code = await codeOf(createOrder(request))
      const expected = order.paid !== undefined ? 'order_exists' : isSame ? 'done' : 'parameter_invalid'
      expect(code).toBe(expected)
      note('initiateAgain', expected)
      if (expected === 'done' && order.expiresAt <= now()) order.expiresAt = now() + EXPIRY_MS
    },
    async pay() {
      const order = random.pick(orders)
      if (order === undefined) return
      const payer = random.pick(actors)
      const payment = {
        transaction_id: order.transaction_id,
        payer_id: payer.id,
        expected_amount: order.amount,
      }
      // Sometimes two run at once, and the second finds the result of the first.
      const outcomes = await Promise.all(
        random.below(3) === 0 ? [pay(payment), pay(payment)] : [pay(payment)],
      )
      const expected =
        order.paid !== undefined
          ? order.paid.by === payer
            ? 'paid_before'
            : 'paid_by_other'
          : order.expiresAt <= now()
            ? 'expired'
            : payer.balance < order.amount
              ? 'insufficient'
              : fitsToday(order.seller, 'payments', order.amount)
                ? 'paid'
                : 'daily_limit'
      expect(outcomes[0]).toBe(expected)
      if (outcomes.length > 1) expect(outcomes[1]).toBe(expected === 'paid' ? 'paid_before' : expected)
      note('pay', expected)
      if (expected !== 'paid') return
      const fee = feeOf(order.amount, feeRate)
      payer.balance -= order.amount
      order.seller.balance += order.amount - fee
      order.seller.done.push({ act: 'payments', amount: order.amount, at: now() })
      order.paid = { by: payer, fee, refunded: 0n, feeBack: 0n }
    },
    async transfer() {
      const [from, to] = [random.pick(actors), random.pick(actors)]
      const amount = BigInt(1 + random.below(120))
      const request = {
        app_id: from.app_id,
        order_id: `t${++names}`,
        to_user_id: to.id,
        to_username: to.username,
        amount,
      }
      const fee = ceilDiv(amount * TRANSFER_RATE[0], TRANSFER_RATE[1])
      const expected =
        from === to
          ? 'transfer_to_self'
          : from.balance < amount + fee
            ? 'insufficient_points'
            : fitsToday(from, 'transfers', amount)
              ? 'done'
              : 'daily_limit_reached'
      const tries = random.below(3) === 0 ? 3 : 1
      const codes = await Promise.all(Array.from({ length: tries }, () => codeOf(transfer(request))))
      expect(new Set(codes)).toEqual(new Set([expected]))
      note('transfer', expected)
      if (expected !== 'done') return
      const { transaction_id } = await transfer(request)
      from.balance -= amount + fee
      to.balance += amount
      from.done.push({ act: 'transfers', amount, at: now() })
      transfers.push({ transaction_id, from, to, amount, fee, isReversed: false })
    },
    async refund() {
      const order = random.pick(orders)
      if (order === undefined) return
      const amount = BigInt(1 + random.below(Number(order.amount)))
      const with_fee = random.below(2) === 0
      const { transaction_id, paid, seller } = order
      const refund = { transaction_id, amount, with_fee, key: `k${++names}`, ...by }
      const total = (paid?.refunded ?? 0n) + amount
      const feePart =
        paid === undefined || !with_fee
          ? 0n
          : floorDiv(paid.fee * total, order.amount) - floorDiv(paid.fee * paid.refunded, order.amount)
      const isPossible =
        paid !== undefined &&
        total <= order.amount &&
        (paid.by === seller || seller.balance >= amount - feePart)
      const expected = isPossible ? 'done' : 'conflict'
      expect(await codeOf(refundOrder(deps, refund))).toBe(expected)
      note('refund', expected)
      // A repeated confirmation changes nothing.
      if (isPossible) expect(await codeOf(refundOrder(deps, refund))).toBe('done')
      if (!isPossible || paid === undefined) return
      paid.by.balance += amount
      seller.balance -= amount - feePart
      paid.refunded = total
      paid.feeBack += feePart
    },
    async reverse() {
      const made = random.pick(transfers)
      if (made === undefined) return
      const reversal = { transaction_id: made.transaction_id, with_fee: true, ...by }
      const isPossible = made.isReversed || made.to.balance >= made.amount
      const expected = isPossible ? 'done' : 'conflict'
      expect(await codeOf(reverseTransfer(deps, reversal))).toBe(expected)
      note('reverse', expected)
      if (made.isReversed || !isPossible) return
      made.to.balance -= made.amount
      made.from.balance += made.amount + made.fee
      made.isReversed = true
    },
    async wait() {
      world.advance(random.below(2 * EXPIRY_MS))
      if (random.below(2) === 0) await expireOrders(deps)
    },
    async limit() {
      const choose = () => (random.below(3) === 0 ? null : BigInt(random.below(300)))
      await limit(deps, random.pick(actors), { payments: choose(), transfers: choose() }, admin)
    },
    async changeFee() {
      feeRate = random.pick(FEE_RATES)
      const change = {
        name: 'points_payment_fee_rate',
        value: feeRate,
        actor_id: admin,
        ip: '127.0.0.1',
      } as const
      await deps.settings.change({ ...change, now: deps.clock() })
    },
  }
  const kinds = Object.keys(acts) as (keyof typeof acts)[]
  // What can go wrong comes more often.
  const choices = [
    ...kinds,
    ...(['initiate', 'pay', 'pay', 'pay', 'transfer', 'transfer', 'reverse'] as const),
  ]
  for (let step = 0; step < STEPS; step += 1) await acts[random.pick(choices)]()

  for (const { id, balance } of actors) expect(await balanceOf(deps.db, id)).toBe(balance)
  await expectSoundBooks(deps.db)
}

it(`${SEQUENCES} random histories end as the model says`, async () => {
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
