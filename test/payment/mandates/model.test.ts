/**
 * Random histories of mandates against a model: offers, acceptances, caps, pauses, charges, repeats, refunds, hand-overs, bans,
 * freezes, levels, rights and settings, over the ends of months. Every act must end as the model says. After each history every
 * balance and every mandate is that of the model, and the books pass. MODEL_SEED sets the seed.
 */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createUser } from '../../../src/accounts/people/users.ts'
import type { Core } from '../../../src/core/core.ts'
import { adjustPoints, grantPoints } from '../../../src/ledger/points.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { applyForPaymentApp } from '../../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../../src/payment/apps/review.ts'
import {
  changeOwn,
  finishMandates,
  pauseOwn,
  resumeOwn,
  revokeByProgram,
  revokeOwn,
} from '../../../src/payment/mandates/acts.ts'
import { type ChargeMandate, makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { acceptMandate, declineMandate } from '../../../src/payment/mandates/consent.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { offerMandate } from '../../../src/payment/mandates/offers.ts'
import { askMandateRight, decideMandateRight } from '../../../src/payment/mandates/right.ts'
import { refundOrder } from '../../../src/payment/orders/refunds.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { chargedOr, IP, outcomeOf } from '../../harness/mandates.ts'
import { openModelWorld } from '../../harness/model-world.ts'
import { makeRandom, type Random } from '../../harness/random.ts'
import { setRows } from '../../harness/rows.ts'
import { times } from '../../harness/thoroughness.ts'

const SEED = Number(process.env.MODEL_SEED ?? 20_260_101)
const SEQUENCES_A_DATABASE = 25
const SEQUENCES = times(200, SEQUENCES_A_DATABASE)
const STEPS = 40
const PEOPLE = 4
const APPS = 2
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const CHINA_MS = 8 * HOUR_MS
const A_YEAR = 366
const MONTHLY = { day: 31n, week: 5n, month: 1n }
const MANDATES_MAX = 10

type Unit = keyof typeof MONTHLY
type Person = { id: bigint; balance: bigint; level: 1 | 2; isBanned: boolean; isFrozen: boolean }
type App = {
  id: bigint
  payment_id: string
  owner: Person
  isSuspended: boolean
  hasRight: boolean
  isChanged: boolean
  daily_max: bigint
  charged: { amount: bigint; at: number }[]
}
type Mandate = {
  mandate_id: string
  app: App
  kind: 'fixed' | 'up_to'
  unit: Unit
  asked: { charge_max: bigint; period_max: bigint; starts: number | undefined; ends: number | undefined }
  charge_max: bigint
  period_max: bigint
  /** Days since 1970, in China. */
  starts: number
  ends: number
  stored: 'offered' | 'active' | 'paused' | 'ended'
  reason: string
  expiresAt: number
  member: Person | undefined
  payee: Person | undefined
  replaces: Mandate | undefined
  version: number
  /** The sum of each period, by its first day, and the refusals for want of points. */
  sums: Map<number, bigint>
  lacks: Map<number, { times: number; last: number }>
}
type Charge = {
  mandate: Mandate
  order_id: string
  amount: bigint
  transaction_id: string
  sum: bigint
  payee: Person
  payer: Person
  fee: bigint
  refunded: bigint
}
type World = {
  deps: Core
  charge: ChargeMandate
  admin: bigint
  people: Person[]
  apps: App[]
  settings: { isOn: boolean; charge_max: bigint; month_max: bigint }
  now(): number
  advance(ms: number): void
  close(): Promise<void>
}

/** Ends that each act must have had, because a history proves only what it reaches. */
const ENDS = {
  accept: [
    ...['done', 'taken', 'accepted', 'lapsed', 'ended', 'not_fresh', 'off', 'app_unusable', 'app_changed'],
    ...['wallet_frozen', 'charge_max', 'month_max', 'replaced_gone'],
  ],
  resume: ['done', 'ended', 'out_of_date'],
  change: ['done', 'ended', 'out_of_date'],
  charge: [
    ...['done', 'parameter_invalid', 'application_unusable', 'mandates_unavailable', 'mandate_inactive'],
    ...['charge_too_large', 'mandate_limit_reached', 'insufficient_points'],
  ],
  refund: ['done'],
}
const reached = new Set<string>()
const note = (act: keyof typeof ENDS, end: string) => reached.add(`${act}: ${end}`)

let names = 0

async function openWorld(): Promise<World> {
  const { deps, now, advance, close } = await openModelWorld()
  const { db } = deps
  const admin = await createUser(db, { username: `admin${++names}`, password_hash: 'x', is_admin: true })
  const people = await Promise.all(
    Array.from({ length: PEOPLE }, async (): Promise<Person> => {
      const id = await createUser(db, { username: `actor${++names}`, password_hash: 'x', trust_level: 2 })
      return { id, balance: 0n, level: 2, isBanned: false, isFrozen: false }
    }),
  )
  const apps: App[] = []
  for (const owner of people.slice(0, APPS)) {
    const form = { applicant_id: owner.id, name: 'x', description: '', callback_url: 'http://127.0.0.1/cb' }
    const { id, payment_id } = await applyForPaymentApp(deps, form)
    await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: admin })
    await askMandateRight(deps, payment_id, 'A model of mandates', { user_id: owner.id, ip: IP })
    apps.push({
      ...{ id, payment_id, owner, isSuspended: false, hasRight: false, isChanged: false },
      ...{ daily_max: 0n, charged: [] },
    })
  }
  return {
    deps,
    charge: makeChargeMandate(deps),
    admin,
    people,
    apps,
    settings: { isOn: false, charge_max: 0n, month_max: 0n },
    now,
    advance,
    close,
  }
}

const dayOf = (at: number) => Math.floor((at + CHINA_MS) / DAY_MS)
const textOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The first day of the period of a day, counted one period after the other from the first day. */
function periodOf(starts: number, unit: Unit, day: number): number {
  let held = starts
  for (let n = 1; ; n += 1) {
    const next = unit === 'month' ? monthsAfter(starts, n) : starts + n * (unit === 'week' ? 7 : 1)
    if (next > day) return held
    held = next
  }
}

function monthsAfter(starts: number, months: number): number {
  const first = new Date(starts * DAY_MS)
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + months]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(first.getUTCDate(), last)) / DAY_MS
}

function nextAfter(starts: number, unit: Unit, from: number): number {
  for (let day = from + 1; ; day += 1) if (periodOf(starts, unit, day) !== from) return day
}

/** Status and reason by the clock: spec/mandates 1.2. */
function statusOf(m: Mandate, now: number): [status: string, reason: string | null] {
  if (m.stored === 'ended') return ['ended', m.reason]
  if (m.stored === 'offered') return now < m.expiresAt ? ['pending', 'not_accepted'] : ['ended', 'lapsed']
  const day = dayOf(now)
  if (day > m.ends) return ['ended', 'finished']
  if (m.stored === 'paused') return ['paused', 'member']
  if (m.payee !== m.app.owner) return ['paused', 'owner_changed']
  return day < m.starts ? ['active', 'not_started'] : ['active', null]
}

/** Runs one history. */
async function runHistory(world: World, random: Random): Promise<void> {
  const { deps, charge, admin, people, apps, settings, now } = world
  const { db } = deps
  const mandates: Mandate[] = []
  const charges: Charge[] = []
  const isApproved = (app: App) => !app.isSuspended && !app.owner.isBanned
  const inForce = (m: Mandate) => ['active', 'paused'].includes(statusOf(m, now())[0])
  const setSetting = (name: Parameters<Core['settings']['change']>[0]['name'], value: string) =>
    deps.settings.change({ name, value, actor_id: null, ip: null, now: deps.clock() })

  async function setBalance(person: Person, balance: bigint): Promise<void> {
    const amount = balance - person.balance
    const change = { user_id: person.id, amount, reference: `set:${++names}`, reason: 'x', actor_id: null }
    if (amount > 0n) await grantPoints(db, { ...change, now: deps.clock() })
    if (amount < 0n) await adjustPoints(db, { ...change, now: deps.clock() })
    person.balance = balance
  }
  async function setOn(isOn: boolean): Promise<void> {
    settings.isOn = isOn
    await setSetting('mandates', isOn ? 'on' : 'off')
  }
  async function setLimits(charge_max: bigint, month_max: bigint): Promise<void> {
    Object.assign(settings, { charge_max, month_max })
    // Members of level 1 have a tenth of the limit of level 2.
    await setSetting('mandate_charge_max_tl2', String(charge_max))
    await setSetting('mandate_charge_max_tl1', String(charge_max / 10n))
    for (const level of [1, 2] as const) await setSetting(`mandate_month_max_tl${level}`, String(month_max))
  }
  async function setRight(app: App, hasRight: boolean, daily_max = 100_000n): Promise<void> {
    if (!hasRight && !app.hasRight) return
    const decided = hasRight ? { decision: 'grant' as const, daily_max } : { decision: 'withdraw' as const }
    await decideMandateRight(deps, app.payment_id, { ...decided, reason: 'x' }, { actor_id: admin, ip: IP })
    app.hasRight = hasRight
    if (hasRight) app.daily_max = daily_max
  }
  async function setPerson(
    person: Person,
    { level, isBanned }: Pick<Person, 'level' | 'isBanned'>,
  ): Promise<void> {
    Object.assign(person, { level, isBanned })
    const set = { trust_level: level, is_banned: isBanned }
    await setRows({ db }, 'users', { id: person.id }, set)
  }
  async function setFrozen(person: Person, isFrozen: boolean): Promise<void> {
    person.isFrozen = isFrozen
    await sql`select from lock_wallets(array[${person.id}]::bigint[], array['live'])`.execute(db)
    await sql`update ledger_accounts set frozen_at = ${isFrozen ? deps.clock() : null},
      frozen_by = ${isFrozen ? admin : null}, frozen_reason = ${isFrozen ? 'x' : null}
      where user_id = ${person.id}`.execute(db)
  }
  async function setApp(
    app: App,
    { isSuspended, isChanged }: Pick<App, 'isSuspended' | 'isChanged'>,
  ): Promise<void> {
    Object.assign(app, { isSuspended, isChanged })
    const status = isSuspended ? ('suspended' as const) : ('approved' as const)
    const unreviewed_change_at = isChanged ? deps.clock() : null
    await setRows({ db }, 'payment_apps', { id: app.id }, { status, unreviewed_change_at })
  }

  // Each history begins alike, after any earlier one.
  await setOn(true)
  await setLimits(1_000n, 40_000n)
  for (const person of people) {
    await setPerson(person, { level: 2, isBanned: false })
    await setFrozen(person, false)
    await setBalance(person, BigInt(random.below(random.chance(3) ? 200 : 3_000)))
  }
  await sql`select end_mandates(array(select id from mandates where status in ('active', 'paused')), 'staff',
    ${deps.clock()}::timestamptz, null, null, '{}')`.execute(db)
  for (const app of apps) {
    await setApp(app, { isSuspended: false, isChanged: false })
    await setRight(app, true)
  }

  function faultOfApplication(app: App, isNewOwner: boolean): string | undefined {
    if (!settings.isOn) return 'off'
    if (!isApproved(app)) return 'app_unusable'
    if (!app.hasRight) return 'no_right'
    return isNewOwner && app.isChanged ? 'app_changed' : undefined
  }
  const chargeMaxOf = ({ level }: Person) => (level === 1 ? settings.charge_max / 10n : settings.charge_max)
  function faultOfCaps(
    m: Mandate,
    person: Person,
    charge_max: bigint,
    period_max: bigint,
  ): string | undefined {
    if (charge_max > chargeMaxOf(person)) return 'charge_max'
    const others = mandates.filter(
      (other) => other.member === person && inForce(other) && other !== m && other !== m.replaces,
    )
    const month = others.reduce((sum, other) => sum + other.period_max * MONTHLY[other.unit], 0n)
    return month + period_max * MONTHLY[m.unit] > settings.month_max ? 'month_max' : undefined
  }

  const acts = {
    async offer() {
      const app = random.pick(apps)
      const isFixed = random.chance(3)
      const charge_max = BigInt(1 + random.below(300))
      const period_max = isFixed ? charge_max : charge_max + BigInt(random.below(500))
      const unit = random.pick(['day', 'week', 'month'] as const)
      const today = dayOf(now())
      const starts = random.chance(3) ? today + random.below(40) : undefined
      const ends = random.chance(2) ? (starts ?? today) + random.below(200) : undefined
      const replaces = random.chance(4) ? random.pick(mandates.filter((m) => m.app === app)) : undefined
      const offer = {
        ...{ reference: `r${++names}`, purpose: 'x', period: unit, with_token: false, user_id: undefined },
        caps: isFixed ? { amount: charge_max } : { charge_max, period_max },
        starts_on: starts === undefined ? undefined : textOf(starts),
        ends_on: ends === undefined ? undefined : textOf(ends),
        replaces: replaces?.mandate_id,
      }
      const offerer = { app_id: app.id, book: 'live' as const, isFormerOwners: false }
      let mandate_id = ''
      const outcome = await outcomeOf(
        offerMandate(deps, offerer, offer, async () => {}).then((made) => {
          mandate_id = made.mandate_id
        }),
      )
      // The door refuses applications that are not approved.
      const isAllowed = settings.isOn && app.hasRight && !app.isChanged
      if (!isAllowed) return expect(outcome).toBe('mandates_unavailable')
      if (replaces !== undefined && !inForce(replaces)) {
        const [status, reason] = statusOf(replaces, now())
        return expect(outcome).toEqual(['mandate_inactive', { status, reason }])
      }
      expect(outcome).toBe('done')
      const end = ends === undefined ? Number.POSITIVE_INFINITY : (ends + 1) * DAY_MS - CHINA_MS
      mandates.push({
        ...{ mandate_id, app, kind: isFixed ? 'fixed' : 'up_to', unit, charge_max, period_max, replaces },
        asked: { charge_max, period_max, starts, ends },
        ...{
          starts: 0,
          ends: 0,
          stored: 'offered',
          reason: '',
          member: undefined,
          payee: undefined,
          version: 1,
        },
        expiresAt: Math.min(now() + DAY_MS, end),
        sums: new Map(),
        lacks: new Map(),
      })
    },
    async accept() {
      const m = random.pick(mandates)
      if (m === undefined) return
      const person = random.pick(people)
      const isLess = m.kind === 'up_to' && random.chance(3)
      const charge_max = isLess ? 1n + m.asked.charge_max / 2n : m.asked.charge_max
      const period_max = isLess ? charge_max + (m.asked.period_max - charge_max) / 2n : m.asked.period_max
      const isFresh = !random.chance(8)
      const fault = await acceptMandate(deps, m.mandate_id, {
        ...{ user_id: person.id, ip: IP, isFresh },
        ...(isLess ? { charge_max, period_max } : {}),
      })
      const [status, reason] = statusOf(m, now())
      const notPending =
        status === 'pending'
          ? undefined
          : m.member !== undefined && m.member !== person
            ? 'taken'
            : status !== 'ended'
              ? 'accepted'
              : reason === 'lapsed'
                ? 'lapsed'
                : 'ended'
      const here = mandates.filter(
        (other) => other.member === person && other.app === m.app && inForce(other) && other !== m.replaces,
      )
      const canReplace = m.replaces === undefined || (m.replaces.member === person && inForce(m.replaces))
      const expected =
        faultOfApplication(m.app, true) ??
        notPending ??
        (person.isBanned || person.isFrozen ? 'wallet_frozen' : undefined) ??
        faultOfCaps(m, person, charge_max, period_max) ??
        (here.length >= MANDATES_MAX ? 'too_many' : undefined) ??
        (canReplace ? undefined : 'replaced_gone') ??
        (isFresh ? undefined : 'not_fresh')
      expect(fault?.fault).toBe(expected)
      note('accept', expected ?? 'done')
      if (expected !== undefined) return
      const starts = Math.max(m.asked.starts ?? 0, dayOf(now()))
      const ends = m.asked.ends ?? monthsAfter(starts, 12) - 1
      Object.assign(m, {
        stored: 'active',
        member: person,
        payee: m.app.owner,
        charge_max,
        period_max,
        starts,
        ends,
      })
      m.version += 1
      if (m.replaces !== undefined) Object.assign(m.replaces, { stored: 'ended', reason: 'replaced' })
    },
    async decline() {
      const m = random.pick(mandates)
      if (m === undefined) return
      const fault = await declineMandate(deps, m.mandate_id, { user_id: random.pick(people).id, ip: IP })
      const isPending = statusOf(m, now())[0] === 'pending'
      expect(fault === undefined).toBe(isPending)
      if (isPending) Object.assign(m, { stored: 'ended', reason: 'declined' })
    },
    async pause() {
      const m = random.pick(mandates)
      if (m?.member === undefined) return
      await pauseOwn(deps, m.mandate_id, { user_id: m.member.id, ip: IP })
      if (!inForce(m) || m.stored === 'paused') return
      m.stored = 'paused'
      m.version += 1
    },
    async resume() {
      const m = random.pick(mandates)
      if (m?.member === undefined) return
      const act = { user_id: m.member.id, ip: IP, isFresh: true, version: m.version }
      const fault = await resumeOwn(deps, m.mandate_id, act)
      const [status] = statusOf(m, now())
      const expected =
        status === 'ended'
          ? 'ended'
          : status !== 'paused'
            ? 'out_of_date'
            : (faultOfApplication(m.app, m.payee !== m.app.owner) ??
              (m.member.isBanned || m.member.isFrozen ? 'wallet_frozen' : undefined) ??
              faultOfCaps(m, m.member, m.charge_max, m.period_max))
      expect(fault?.fault).toBe(expected)
      note('resume', expected ?? 'done')
      if (expected !== undefined) return
      Object.assign(m, { stored: 'active', payee: m.app.owner })
      m.version += 1
    },
    async change() {
      const m = random.pick(mandates.filter((each) => each.member !== undefined))
      if (m?.member === undefined) return
      const today = dayOf(now())
      const terms = {
        charge_max: m.kind === 'fixed' ? m.charge_max : BigInt(1 + random.below(Number(m.asked.charge_max))),
        period_max: m.kind === 'fixed' ? m.period_max : BigInt(1 + random.below(Number(m.asked.period_max))),
        ends: random.chance(2) ? m.ends : today + random.below(A_YEAR + 5) - 2,
      }
      const version = random.chance(6) ? m.version - 1 : m.version
      const act = { user_id: m.member.id, ip: IP, isFresh: true, version }
      const { charge_max, period_max, ends } = terms
      const fault = await changeOwn(
        deps,
        m.mandate_id,
        { charge_max, period_max, ends_on: textOf(ends) },
        act,
      )
      const isMore = charge_max > m.charge_max || period_max > m.period_max || ends > m.ends
      const latest = Math.min(today + A_YEAR, m.asked.ends ?? Number.POSITIVE_INFINITY)
      const isInTime = ends >= Math.max(today, m.starts) && (ends === m.ends || ends <= latest)
      const expected =
        statusOf(m, now())[0] === 'ended'
          ? 'ended'
          : version !== m.version
            ? 'out_of_date'
            : ((isMore ? faultOfApplication(m.app, false) : undefined) ??
              (isMore && (m.member.isBanned || m.member.isFrozen) ? 'wallet_frozen' : undefined) ??
              (isInTime && charge_max <= period_max ? undefined : 'terms') ??
              (isMore ? faultOfCaps(m, m.member, charge_max, period_max) : undefined))
      expect(fault?.fault).toBe(expected)
      note('change', expected ?? 'done')
      if (expected !== undefined) return
      Object.assign(m, terms)
      m.version += 1
    },
    async revoke() {
      const m = random.pick(mandates)
      if (m === undefined) return
      const isMember = m.member !== undefined && random.chance(2)
      if (isMember) await revokeOwn(deps, m.mandate_id, { user_id: m.member!.id, ip: IP })
      else await revokeByProgram(deps, { app_id: m.app.id, mandate_id: m.mandate_id, reason: 'x', ip: IP })
      if (statusOf(m, now())[0] === 'ended') return
      Object.assign(m, { stored: 'ended', reason: isMember ? 'member' : 'merchant' })
    },
    async charge() {
      const m = random.chance(6) ? random.pick(mandates) : random.pick(mandates.filter(inForce))
      if (m === undefined) return
      const { app, member } = m
      const earlier = random.chance(12)
        ? random.pick(charges.filter((one) => one.mandate.app === app))
        : undefined
      const order_id = earlier?.order_id ?? `c${++names}`
      const amount =
        m.kind === 'fixed' && !random.chance(8)
          ? m.charge_max
          : BigInt(1 + random.below(Number(m.charge_max) + 5))
      const isFormer = random.chance(20)
      const request = {
        ...{ app_id: app.id, mandate_id: m.mandate_id, order_id, amount, description: 'x' },
        ...{ owner_id: isFormer ? null : app.owner.id, access_token: undefined },
      }
      // Sometimes two come at once, and the second finds the charge of the first.
      const asked = random.chance(4) ? [request, request] : [request]
      const outcomes = await Promise.all(asked.map((one) => chargedOr(charge(one))))
      const [status, reason] = statusOf(m, now())
      const period = status === 'active' && reason === null ? periodOf(m.starts, m.unit, dayOf(now())) : 0
      const spent = m.sums.get(period) ?? 0n
      const lack = m.lacks.get(period)
      const limit = member === undefined ? 0n : chargeMaxOf(member)
      const today = app.charged.filter(({ at }) => dayOf(at) === dayOf(now()))
      const expected = (() => {
        if (earlier !== undefined) {
          if (earlier.mandate !== m || earlier.amount !== amount) return 'parameter_invalid'
          const { transaction_id } = earlier
          if (earlier.refunded === earlier.amount)
            return ['order_exists', { status: 'refunded', transaction_id }]
          return earlier.sum
        }
        if (isFormer || !isApproved(app)) return 'application_unusable'
        if (!settings.isOn || !app.hasRight) return 'mandates_unavailable'
        if (status !== 'active' || reason !== null) return ['mandate_inactive', { status, reason }]
        if (m.kind === 'fixed' && amount !== m.charge_max)
          return ['charge_too_large', { limit: Number(m.charge_max), exactly: true }]
        const most = m.charge_max < limit ? m.charge_max : limit
        if (amount > most) return ['charge_too_large', { limit: Number(most), exactly: false }]
        if (spent + amount > m.period_max) {
          const left = m.period_max > spent ? m.period_max - spent : 0n
          const next = nextAfter(m.starts, m.unit, period) * DAY_MS - CHINA_MS
          const resets_at = `${new Date(next).toISOString().slice(0, 19)}Z`
          const figures = { limit: Number(m.period_max), spent: Number(spent), left: Number(left) }
          return ['mandate_limit_reached', { ...figures, resets_at }]
        }
        if (member!.isFrozen || member!.isBanned) return 'wallet_frozen'
        if (lack !== undefined && lack.times >= 10 && lack.last > now() - HOUR_MS) return 'too_many_attempts'
        if (member!.balance < amount) return ['insufficient_points', { need: Number(amount) }]
        if (today.reduce((sum, one) => sum + one.amount, amount) > app.daily_max)
          return ['daily_limit_reached', { limit: Number(app.daily_max) }]
        return spent + amount
      })()
      expect(outcomes).toEqual(asked.map(() => expected))
      note(
        'charge',
        typeof expected === 'bigint' ? (earlier ? 'repeated' : 'done') : String([expected].flat()[0]),
      )
      if (Array.isArray(expected) && expected[0] === 'insufficient_points')
        m.lacks.set(period, { times: (lack?.times ?? 0) + asked.length, last: now() })
      if (earlier !== undefined || typeof expected !== 'bigint') return
      const { order } = await charge(request)
      const fee = (amount * 5n) / 100n
      member!.balance -= amount
      app.owner.balance += amount - fee
      m.sums.set(period, expected)
      app.charged.push({ amount, at: now() })
      charges.push({
        ...{ mandate: m, order_id, amount, transaction_id: order.transaction_id, sum: expected },
        ...{ payer: member!, payee: app.owner, fee, refunded: 0n },
      })
    },
    async refund() {
      const made = random.pick(charges)
      if (made === undefined || made.refunded === made.amount) return
      const amount = random.chance(2) ? made.amount - made.refunded : 1n
      const { transaction_id, payer, payee } = made
      const refund = {
        transaction_id,
        amount,
        with_fee: false,
        key: `k${++names}`,
        reason: 'x',
        actor_id: admin,
        ip: IP,
      }
      const isPossible = payer === payee || payee.balance >= amount
      const expected = isPossible ? 'done' : 'conflict'
      expect(await outcomeOf(refundOrder(deps, refund))).toBe(expected)
      note('refund', expected)
      if (!isPossible) return
      payer.balance += amount
      payee.balance -= amount
      made.refunded += amount
    },
    async handOver() {
      const app = random.pick(apps)
      const to = random.pick(people.filter((person) => person !== app.owner))
      await sql`select hand_over_application(${app.id}, ${to.id}, ${deps.clock()})`.execute(db)
      Object.assign(app, { owner: to, isChanged: true })
      if (random.chance(2)) await setApp(app, { isSuspended: app.isSuspended, isChanged: false })
    },
    async statuses() {
      const app = random.pick(apps)
      await setApp(app, { isSuspended: random.chance(3), isChanged: random.chance(3) })
      const person = random.pick(people)
      await setPerson(person, { level: random.chance(3) ? 1 : 2, isBanned: random.chance(4) })
      await setFrozen(person, random.chance(4))
    },
    async rights() {
      const app = random.pick(apps)
      await setRight(app, !random.chance(3), random.chance(2) ? BigInt(1 + random.below(600)) : 100_000n)
    },
    async settings() {
      await setOn(!random.chance(4))
      await setLimits(BigInt(random.pick([100, 1_000])), BigInt(random.pick([5_000, 40_000])))
    },
    async mend() {
      await setOn(true)
      for (const app of apps) {
        await setApp(app, { isSuspended: false, isChanged: false })
        await setRight(app, true)
      }
      for (const person of people) {
        await setPerson(person, { level: 2, isBanned: false })
        await setFrozen(person, false)
      }
    },
    async wait() {
      world.advance(random.pick([HOUR_MS, 7 * HOUR_MS, DAY_MS, 9 * DAY_MS, 31 * DAY_MS]))
      if (random.chance(2)) return
      const finished = mandates.filter((m) => statusOf(m, now())[1] === 'finished' && m.stored !== 'ended')
      expect(await finishMandates(deps)).toBe(finished.length)
      for (const m of finished) Object.assign(m, { stored: 'ended', reason: 'finished' })
    },
  }
  const kinds = Object.keys(acts) as (keyof typeof acts)[]
  const often = [
    'offer',
    'accept',
    'accept',
    'accept',
    'charge',
    'charge',
    'charge',
    'charge',
    'mend',
  ] as const
  const choices = [...kinds, ...often, ...often] as const
  for (let step = 0; step < STEPS; step += 1) await acts[random.pick(choices)]()

  for (const { id, balance } of people) expect(await balanceOf(db, id)).toBe(balance)
  for (const m of mandates) {
    const stored = (await findMandate(db, { mandate_id: m.mandate_id }, deps.clock()))!
    const [status, reason] = statusOf(m, now())
    expect(stored).toMatchObject({ status, reason, charge_max: m.charge_max, period_max: m.period_max })
    if (status !== 'ended' && status !== 'pending' && dayOf(now()) >= m.starts) {
      const period = periodOf(m.starts, m.unit, dayOf(now()))
      expect(stored).toMatchObject({ period_from: textOf(period), spent: m.sums.get(period) ?? 0n })
    }
  }
  await expectSoundBooks(db)
}

it(`${SEQUENCES} random histories of mandates end as the model says`, async () => {
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
  expect(all.filter((end) => !reached.has(end))).toEqual([])
})
