/**
 * Random histories of payouts against a model: an owner creates payouts of both modes, repeats, cancels and resumes them; the worker
 * runs; wallets freeze; the shop changes hands; time passes. Each line and each balance must be as the model
 * says, and the books pass. MODEL_SEED sets the seed. spec/payouts 2.1–2.6.
 */
import { expect, it } from 'vitest'
import { createUser } from '../../../src/accounts/people/users.ts'
import type { Core } from '../../../src/core/core.ts'
import { grantPoints } from '../../../src/ledger/points.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { applyForPaymentApp } from '../../../src/payment/apps/apps.ts'
import { acceptOffer, offerApplication } from '../../../src/payment/apps/handover.ts'
import { reviewPaymentApp } from '../../../src/payment/apps/review.ts'
import {
  cancelPayout,
  createPayout,
  linesOfPayout,
  payoutsOfApp,
  resumePayout,
} from '../../../src/payment/payouts/payouts.ts'
import type { PayoutLine } from '../../../src/payment/payouts/request.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { openModelWorld } from '../../harness/model-world.ts'
import { makeRandom, type Random } from '../../harness/random.ts'
import { times } from '../../harness/thoroughness.ts'

const SEED = Number(process.env.MODEL_SEED ?? 5)
const HISTORIES = times(120, 8)
const STEPS = 40
const IP = '203.0.113.7'
const PIECE = 50
const WAITING_MAX = 10
const DAY_MS = 86_400_000
const FEE_PERCENT = 3

type Member = { id: bigint; username: string; balance: number; isFrozen: boolean }
type Line = PayoutLine & { status: 'pending' | 'paid' | 'refused' | 'cancelled'; to: Member | undefined }
type Model = {
  id: bigint
  reference: string
  mode: 'each' | 'all'
  owner: Member
  status: string
  reason: string | null
  haltedAt: number
  lines: Line[]
}
/** The ends that the histories must reach, because they prove only those. */
const ENDS = [
  'finished',
  'second_piece',
  'refused',
  'insufficient',
  'wallet_frozen',
  'merchant',
  'halted_too_long',
  'owner_changed',
]
const reached = new Set<string | null>()

const feeOf = (amount: number) => Math.ceil((amount * FEE_PERCENT) / 100)

/** Judges lines in order on one balance, as one transaction does. Returns the outcome of each that is not made. */
function judge(owner: Member, lines: Line[]): (string | undefined)[] {
  let have = owner.balance
  return lines.map(({ to, amount }) => {
    const cost = Number(amount) + feeOf(Number(amount))
    if (to === undefined) return 'mismatch'
    if (to === owner) return 'to_self'
    if (owner.isFrozen) return 'wallet_frozen'
    if (have < cost) return 'insufficient'
    have -= cost
    return undefined
  })
}

function makeLines(owner: Member, lines: Line[], outcomes: (string | undefined)[]): void {
  for (const [i, line] of lines.entries()) {
    if (outcomes[i] === undefined) {
      const amount = Number(line.amount)
      line.status = 'paid'
      owner.balance -= amount + feeOf(amount)
      line.to!.balance += amount
    } else if (outcomes[i] === 'mismatch' || outcomes[i] === 'to_self') line.status = 'refused'
  }
}

function end(payout: Model, status: string, reason: string | null): void {
  payout.status = status
  payout.reason = reason
  if (status === 'cancelled')
    for (const line of payout.lines) if (line.status === 'pending') line.status = 'cancelled'
  reached.add(reason ?? status)
}

/** What the worker does with a payout whose turn it is. */
function runModel(payout: Model, now: number): void {
  const { owner, lines, mode } = payout
  if (mode === 'all') {
    const outcomes = judge(owner, lines)
    if (outcomes.every((outcome) => outcome === undefined)) {
      makeLines(owner, lines, outcomes)
      end(payout, 'finished', null)
      return
    }
    for (const [i, line] of lines.entries()) line.status = outcomes[i] === undefined ? 'cancelled' : 'refused'
    end(payout, 'refused', 'lines_refused')
    reached.add('refused')
    return
  }
  for (let pieces = 0; ; pieces += 1) {
    if (pieces === 2) reached.add('second_piece')
    const piece = lines.filter(({ status }) => status === 'pending').slice(0, PIECE)
    if (piece.length === 0) {
      end(payout, 'finished', null)
      return
    }
    const outcomes = judge(owner, piece)
    makeLines(owner, piece, outcomes)
    const halting = outcomes.find((outcome) => outcome === 'insufficient' || outcome === 'wallet_frozen')
    if (halting !== undefined) {
      payout.haltedAt = now
      end(payout, 'halted', halting)
      return
    }
  }
}

type World = {
  deps: Core
  members: Member[]
  admin: bigint
  payment_id: string
  app_id: bigint
  owner: Member
}

async function openWorld(deps: Core): Promise<World> {
  const { db } = deps
  const admin = await createUser(db, { username: 'staff', password_hash: 'x', is_admin: true })
  const members = await Promise.all(
    ['ann', 'ben', 'cid', 'dot'].map(async (username): Promise<Member> => {
      const id = await createUser(db, { username, password_hash: 'x', trust_level: 2 })
      return { id, username, balance: 0, isFrozen: false }
    }),
  )
  const owner = members[0]!
  const form = { name: 'Shop', description: '', callback_url: 'http://127.0.0.1/cb' }
  const { payment_id, id } = await applyForPaymentApp(deps, { applicant_id: owner.id, ...form })
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: admin })
  return { deps, members, admin, payment_id, app_id: id, owner }
}

function linesOf(random: Random, members: Member[]): Line[] {
  return Array.from({ length: 1 + random.below(random.chance(4) ? 120 : 12) }, (_, i): Line => {
    const to = random.pick(members)
    const isWrong = random.chance(20)
    return {
      ...{ line_id: `l${i}`, to_user_id: to.id, to_username: isWrong ? 'nobody' : to.username },
      ...{ amount: BigInt(1 + random.below(random.chance(8) ? 600 : 20)), memo: '' },
      ...{ status: 'pending', to: isWrong ? undefined : to },
    }
  })
}

/** The acts of a history, each on the service and on the model. */
function actsOf(world: World, payouts: Model[], random: Random, advance: (ms: number) => void) {
  const { deps, members, admin, payment_id, app_id } = world
  const now = () => deps.clock().getTime()
  const askedOf = ({ reference, mode, lines }: Model) => ({
    ...{ reference, mode },
    lines: lines.map(({ status: _, to: __, ...line }) => line),
  })
  const send = (payout: Model) =>
    createPayout(deps, { app_id, owner_id: world.owner.id }, askedOf(payout), () => {})
  const some = () => (payouts.length === 0 ? undefined : random.pick(payouts))
  return {
    async create() {
      const waiting = payouts.filter(({ status }) => status === 'waiting').length
      const payout: Model = {
        ...{ id: 0n, reference: `p${payouts.length}`, mode: random.chance(3) ? 'all' : 'each' },
        ...{ owner: world.owner, status: 'waiting', reason: null, haltedAt: 0 },
        lines: linesOf(random, members),
      }
      if (waiting === WAITING_MAX) return
      payout.id = (await send(payout)).id
      payouts.push(payout)
    },
    async repeat() {
      const payout = some()
      if (payout !== undefined) expect((await send(payout)).id).toBe(payout.id)
    },
    async run() {
      await runPayouts(deps)
      for (const payout of payouts)
        if (payout.status === 'halted' && payout.haltedAt < now() - 7 * DAY_MS)
          end(payout, 'cancelled', 'halted_too_long')
      for (const payout of payouts) if (payout.status === 'waiting') runModel(payout, now())
    },
    async cancel() {
      const payout = some()
      if (payout === undefined) return
      const isOpen = payout.status === 'waiting' || payout.status === 'halted'
      expect(await cancelPayout(deps.db, payout.id, 'merchant', deps.clock())).toBe(isOpen)
      if (isOpen) end(payout, 'cancelled', 'merchant')
    },
    async resume() {
      const payout = some()
      if (payout === undefined) return
      expect(await resumePayout(deps.db, payout.id, deps.clock())).toBe(payout.status === 'halted')
      if (payout.status === 'halted') Object.assign(payout, { status: 'waiting', reason: null })
    },
    async grant() {
      const member = random.chance(2) ? world.owner : random.pick(members)
      const amount = 1 + random.below(2_000)
      const reference = `g:${now()}:${random.below(1e9)}`
      const grant = { user_id: member.id, amount: BigInt(amount), reference, reason: 'x', actor_id: null }
      await grantPoints(deps.db, { ...grant, now: deps.clock() })
      member.balance += amount
    },
    async freeze() {
      world.owner.isFrozen = !world.owner.isFrozen
      const frozen_at = world.owner.isFrozen ? deps.clock() : null
      const values = {
        frozen_at,
        frozen_reason: frozen_at === null ? null : 'test',
        frozen_by: frozen_at === null ? null : admin,
      }
      await deps.db.updateTable('ledger_accounts').set(values).where('user_id', '=', world.owner.id).execute()
    },
    async handOver() {
      const heir = random.pick(members.filter((member) => member !== world.owner))
      await offerApplication(deps, payment_id, heir.username, { user_id: world.owner.id, ip: IP })
      await acceptOffer(deps, payment_id, { user_id: heir.id, ip: IP })
      world.owner = heir
      for (const payout of payouts)
        if (payout.status === 'waiting' || payout.status === 'halted')
          end(payout, 'cancelled', 'owner_changed')
    },
    async wait() {
      advance(random.chance(2) ? (random.chance(4) ? 5 : 8) * DAY_MS : random.below(DAY_MS))
    },
  }
}

async function expectAsModelled(world: World, payouts: Model[]): Promise<void> {
  const { deps, members, app_id } = world
  const found = await payoutsOfApp(deps.db, app_id, { limit: 1_000 })
  expect(found.map(({ reference, status, reason }) => [reference, status, reason]).reverse()).toEqual(
    payouts.map(({ reference, status, reason }) => [reference, status, reason]),
  )
  for (const payout of payouts) {
    const lines = await linesOfPayout(deps.db, payout.id)
    expect(
      lines.map(({ status }) => status),
      payout.reference,
    ).toEqual(payout.lines.map(({ status }) => status))
  }
  for (const { id, username, balance } of members)
    expect([username, Number(await balanceOf(deps.db, id))]).toEqual([username, balance])
}

const WEIGHTS = {
  create: 8,
  repeat: 2,
  run: 8,
  cancel: 2,
  resume: 4,
  grant: 4,
  freeze: 2,
  handOver: 1,
  wait: 4,
} as const

it(`${HISTORIES} histories end as the model says`, async () => {
  for (let history = 0; history < HISTORIES; history += 1) {
    const random = makeRandom(SEED * 10_000 + history)
    const { deps, advance, close } = await openModelWorld()
    const limits = { hit: async () => {} }
    const world = await openWorld({ ...deps, limits } as unknown as Core)
    for (const name of ['limit_payouts', 'limit_invitations'] as const)
      await deps.settings.change({ name, value: '0', actor_id: null, ip: 'command line', now: deps.clock() })
    const payouts: Model[] = []
    const acts = actsOf(world, payouts, random, advance)
    const bag = Object.entries(WEIGHTS).flatMap(
      ([name, weight]) => Array(weight).fill(name) as (keyof typeof acts)[],
    )
    await acts.grant()
    for (let step = 0; step < STEPS; step += 1) await acts[random.pick(bag)]()
    await acts.run()
    await expectAsModelled(world, payouts)
    await expectSoundBooks(deps.db)
    await close()
  }
  expect([...ENDS].filter((name) => !reached.has(name))).toEqual([])
})
