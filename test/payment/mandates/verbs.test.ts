/** Offers and what becomes of them: who may accept what, in which order of faults, and the acts on a mandate. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  beginNextPeriod,
  changeOwn,
  finishMandates,
  pauseOwn,
  resumeOwn,
  revokeByProgram,
  revokeByStaff,
  revokeByTeam,
  revokeOwn,
} from '../../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import {
  type Acceptance,
  acceptMandate,
  declineMandate,
  lookAtOffer,
} from '../../../src/payment/mandates/consent.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { offerMandate } from '../../../src/payment/mandates/offers.ts'
import { askMandateRight } from '../../../src/payment/mandates/right.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { makePerson, type Person, setFrozen } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import {
  chargedOr,
  chargeOf,
  decideRight,
  IP,
  makeMandate,
  makeMandateMerchant,
  offer,
  outcomeOf,
  switchMandates,
  termsOf,
} from '../../harness/mandates.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { rowsOf, setRows } from '../../harness/rows.ts'

const DAY_MS = 86_400_000

let merchant: Merchant
let member: Person

const test = await useTestApp()
await switchMandates(test)
const admin = await makePerson(test, { is_admin: true })
beforeEach(async () => {
  merchant = await makeMandateMerchant(test)
  member = await makePerson(test, { points: 1_000n })
})
afterEach(() => expectSoundBooks(test.db))

const read = async (mandate_id: string) => (await findMandate(test.db, { mandate_id }, test.clock.now()))!
const offered = (over = {}, requireAllowed = async () => {}) =>
  offerMandate(
    test.deps,
    { app_id: merchant.id, book: 'live', isFormerOwners: false },
    termsOf(over),
    requireAllowed,
  )
const accept = (mandate_id: string, over: Partial<Acceptance> = {}) =>
  acceptMandate(test.deps, mandate_id, { user_id: member.id, ip: IP, isFresh: true, ...over })
const actOn = async (mandate_id: string, isFresh = true) => ({
  user_id: member.id,
  ip: IP,
  isFresh,
  version: (await read(mandate_id)).version,
})
const own = () => ({ user_id: member.id, ip: IP })
const setApp = (changed: object) => setRows(test, 'payment_apps', { id: merchant.id }, changed)
const actsOf = async (mandate_id: string) => {
  const rows = await rowsOf(test, 'audit_log', { subject: mandate_id })
  return rows as {
    action: string
    detail: Record<string, unknown>
    ip: string | null
    actor_id: bigint | null
  }[]
}

describe('an offer', () => {
  it('is one for its reference and terms, and never changes', async () => {
    const terms = termsOf({ starts_on: '2026-01-10', ends_on: '2026-06-30', user_id: member.id })
    const first = await offered(terms)
    expect(await offered(terms)).toEqual(first)
    for (const over of [
      { caps: { amount: 100n } },
      { caps: { charge_max: 99n, period_max: 250n } },
      { period: 'week' as const },
      { starts_on: undefined },
      { ends_on: '2026-07-01' },
      { user_id: undefined },
      { with_token: true },
      { purpose: 'Another service' },
    ])
      expect(await outcomeOf(offered({ ...terms, ...over }))).toBe('parameter_invalid')
    // A lapsed one gets a new window, even if its first day has passed.
    const start = test.clock.now().getTime()
    test.clock.advance(12 * DAY_MS)
    expect(await read(first.mandate_id)).toMatchObject({ status: 'ended', reason: 'lapsed' })
    const again = await offered(terms)
    expect(again).toMatchObject({ mandate_id: first.mandate_id, status: 'pending' })
    expect(await accept(first.mandate_id)).toBeUndefined()
    expect(await read(first.mandate_id)).toMatchObject({ starts_on: '2026-01-13', ends_on: '2026-06-30' })
    const data = (status: string) => ['order_exists', { status, mandate_id: first.mandate_id }]
    expect(await outcomeOf(offered(terms))).toEqual(data('active'))
    await revokeOwn(test.deps, first.mandate_id, own())
    expect(await outcomeOf(offered(terms))).toEqual(data('ended'))
    test.clock.advance(start - test.clock.now().getTime())
  })

  it('lapses with its last day', async () => {
    const { offer_expires_at } = await offered({ ends_on: '2026-01-01' })
    expect(offer_expires_at).toEqual(new Date('2026-01-01T16:00:00Z'))
  })

  it('of nobody who may not offer is stored, but a pending one is answered', async () => {
    const terms = termsOf()
    const first = await offered(terms)
    const refused = async (code: unknown) => {
      expect(await outcomeOf(offered())).toEqual(code)
      expect(await offered(terms)).toEqual(first)
    }
    await setApp({ unreviewed_change_at: test.clock.now() })
    await refused('mandates_unavailable')
    await setApp({ unreviewed_change_at: null })
    await decideRight(test, merchant, { decision: 'withdraw' })
    await refused('mandates_unavailable')
    await decideRight(test, merchant, { decision: 'grant', daily_max: 1n })
    await switchMandates(test, 'off')
    await refused('mandates_unavailable')
    await switchMandates(test)
    await setSetting(test, 'payments_read_only', 'on')
    await refused('payments_paused')
    await setSetting(test, 'payments_read_only', 'off')
    const former = { app_id: merchant.id, book: 'live', isFormerOwners: true } as const
    expect(await outcomeOf(offerMandate(test.deps, former, termsOf(), async () => {}))).toBe(
      'application_unusable',
    )
  })

  it('of one reference, many at once, is one', async () => {
    const terms = termsOf()
    const made = await Promise.all(Array.from({ length: 10 }, () => offered(terms)))
    expect(new Set(made.map(({ mandate_id }) => mandate_id)).size).toBe(1)
  })

  it('replaces only a mandate of its own application that is in force', async () => {
    const old = await makeMandate(test, merchant, member)
    expect(await outcomeOf(offered({ replaces: 'mdt_000000000000000000000000' }))).toBe('mandate_not_found')
    const pending = await offer(test, merchant)
    expect(await outcomeOf(offered({ replaces: pending }))).toMatchObject([
      'mandate_inactive',
      { status: 'pending' },
    ])
    expect(await outcomeOf(offered({ replaces: old, user_id: admin.id }))).toBe('parameter_invalid')
    const { mandate_id } = await offered({ replaces: old, user_id: member.id })
    expect(await accept(mandate_id)).toBeUndefined()
    expect(await read(old)).toMatchObject({ status: 'ended', reason: 'replaced' })
    expect(await read(mandate_id)).toMatchObject({ status: 'active', replaces: old })
    expect(await outcomeOf(offered({ replaces: old }))).toMatchObject([
      'mandate_inactive',
      { reason: 'replaced' },
    ])
  })
})

describe('accepting', () => {
  it('is refused for the first reason in the order of the specification', async () => {
    const gone = await makeMandate(test, merchant, admin)
    const mandate_id = await offer(test, merchant, { replaces: gone, user_id: admin.id })
    await revokeOwn(test.deps, gone, { user_id: admin.id, ip: IP })
    const others = await Promise.all(Array.from({ length: 10 }, () => makeMandate(test, merchant, admin)))
    await switchMandates(test, 'off')
    await setSetting(test, 'payments_read_only', 'on')
    await setSetting(test, 'mandate_charge_max_tl2', '99')
    await setSetting(test, 'mandate_month_max_tl2', '2749')
    await setApp({ status: 'suspended', mandate_right: 'withdrawn', unreviewed_change_at: test.clock.now() })
    await sql`update users set is_banned = true where id = ${admin.id}`.execute(test.db)
    let as = member.id
    let isFresh = false
    const fault = async (expected: string, over: Partial<Acceptance> = {}) => {
      const acceptance = { user_id: as, ip: IP, isFresh, ...over }
      const { judged: looked } = await lookAtOffer(test.deps, mandate_id, acceptance)
      expect(looked).toMatchObject({ fault: expected })
      expect(await accept(mandate_id, acceptance)).toEqual(looked)
    }
    await fault('off')
    await switchMandates(test)
    await fault('payments_paused')
    await setSetting(test, 'payments_read_only', 'off')
    await fault('app_unusable')
    await setApp({ status: 'approved' })
    await fault('no_right')
    await setApp({ mandate_right: 'granted' })
    await fault('app_changed')
    await setApp({ unreviewed_change_at: null })
    await setRows(test, 'mandates', { mandate_id }, { offer_expires_at: test.clock.now() })
    await fault('lapsed')
    const later = new Date(test.clock.now().getTime() + DAY_MS)
    await setRows(test, 'mandates', { mandate_id }, { offer_expires_at: later })
    await fault('other_member')
    as = admin.id
    await fault('wallet_frozen')
    await sql`update users set is_banned = false where id = ${admin.id}`.execute(test.db)
    await fault('terms', { charge_max: 101n })
    await fault('charge_max')
    await setSetting(test, 'mandate_charge_max_tl2', '2000')
    await fault('month_max')
    await setSetting(test, 'mandate_month_max_tl2', '10000')
    await fault('too_many')
    await revokeOwn(test.deps, others[0]!, { user_id: admin.id, ip: IP })
    await fault('replaced_gone')
    const free = await offer(test, merchant, { user_id: admin.id })
    const unfresh = { user_id: admin.id, ip: IP, isFresh }
    expect(await accept(free, unfresh)).toEqual({ fault: 'not_fresh' })
    isFresh = true
    expect(await accept(free, { ...unfresh, isFresh })).toBeUndefined()
    expect(await accept('mdt_unknown')).toEqual({ fault: 'not_found' })
    expect(await accept(free, { ...unfresh, isFresh })).toMatchObject({ fault: 'accepted' })
    await revokeOwn(test.deps, free, { user_id: admin.id, ip: IP })
    expect(await accept(free, { ...unfresh, isFresh })).toEqual({ fault: 'ended' })
    expect(await accept(free)).toEqual({ fault: 'taken' })
  })

  it('agrees to less than was offered, never to more', async () => {
    const make = () => offer(test, merchant, { ends_on: '2026-06-30' })
    const less = await make()
    const terms = { charge_max: 10n, period_max: 20n, ends_on: '2026-01-31' }
    expect(await accept(less, terms)).toBeUndefined()
    expect(await read(less)).toMatchObject(terms)
    for (const over of [
      { charge_max: 101n },
      { charge_max: 0n },
      { period_max: 251n },
      { charge_max: 100n, period_max: 99n },
      { ends_on: '2026-07-01' },
      { ends_on: '2025-12-31' },
    ])
      expect(await accept(await make(), over)).toEqual({ fault: 'terms' })
    const fixed = await offer(test, merchant, { caps: { amount: 30n } })
    expect(await accept(fixed, { charge_max: 29n, period_max: 29n })).toEqual({ fault: 'terms' })
    expect(await accept(fixed)).toBeUndefined()
    expect(await read(fixed)).toMatchObject({
      starts_on: '2026-01-01',
      ends_on: '2026-12-31',
      next_charge_on: '2026-01-01',
      spent: 0n,
      remaining: 30n,
      period_to: '2026-01-31',
    })
  })

  it('twice at once does not exceed what all mandates of a member may take in a month', async () => {
    // 31 × 170 twice is above 10 000.
    const caps = { charge_max: 170n, period_max: 170n }
    const offers = await Promise.all([1, 2].map(() => offer(test, merchant, { period: 'day', caps })))
    const faults = await Promise.all(offers.map((each) => accept(each)))
    expect(faults.filter((fault) => fault === undefined)).toHaveLength(1)
    expect(faults.filter((fault) => fault !== undefined)).toEqual([{ fault: 'month_max', limit: 152n }])
  })

  it('of two offers that replace one mandate succeeds once', async () => {
    const old = await makeMandate(test, merchant, member)
    const offers = await Promise.all([1, 2].map(() => offer(test, merchant, { replaces: old })))
    const faults = await Promise.all(offers.map((each) => accept(each)))
    expect(faults.map((fault) => fault?.fault).sort()).toEqual(['replaced_gone', undefined])
  })

  it('by nobody is an offer that a member declines', async () => {
    const mandate_id = await offer(test, merchant, { user_id: member.id })
    expect(await declineMandate(test.deps, mandate_id, { user_id: admin.id, ip: IP })).toEqual({
      fault: 'other_member',
    })
    expect(await declineMandate(test.deps, mandate_id, own())).toBeUndefined()
    expect(await read(mandate_id)).toMatchObject({ status: 'ended', reason: 'declined', user_id: null })
    expect(await declineMandate(test.deps, mandate_id, own())).toEqual({ fault: 'ended' })
    expect(await accept(mandate_id)).toEqual({ fault: 'ended' })
  })
})

describe('a member', () => {
  it('pauses and resumes, and lowers and raises up to what was offered', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    expect(await pauseOwn(test.deps, mandate_id, own())).toMatchObject({ status: 'paused', reason: 'member' })
    expect(await pauseOwn(test.deps, mandate_id, own())).toMatchObject({ version: 3 })
    expect(await resumeOwn(test.deps, mandate_id, { ...(await actOn(mandate_id)), version: 2 })).toEqual({
      fault: 'out_of_date',
    })
    expect(await resumeOwn(test.deps, mandate_id, await actOn(mandate_id, false))).toEqual({
      fault: 'not_fresh',
    })
    expect(await resumeOwn(test.deps, mandate_id, await actOn(mandate_id))).toBeUndefined()
    expect(await resumeOwn(test.deps, mandate_id, await actOn(mandate_id))).toEqual({ fault: 'out_of_date' })

    const change = async (terms: object, isFresh = true) =>
      changeOwn(test.deps, mandate_id, terms, await actOn(mandate_id, isFresh))
    expect(await change({ charge_max: 1n, period_max: 2n }, false)).toBeUndefined()
    expect(await change({ charge_max: 2n }, false)).toEqual({ fault: 'not_fresh' })
    expect(await change({ charge_max: 2n })).toBeUndefined()
    expect(await change({ charge_max: 3n })).toEqual({ fault: 'terms' })
    expect(await change({ charge_max: 101n, period_max: 250n })).toEqual({ fault: 'terms' })
    expect(await change({ charge_max: 100n, period_max: 250n })).toBeUndefined()
    expect(await change({ ends_on: '2025-12-31' })).toEqual({ fault: 'terms' })
    expect(await change({ ends_on: '2026-01-05' }, false)).toBeUndefined()
    expect(await change({ ends_on: '2027-01-03' })).toEqual({ fault: 'terms' })
    expect(await change({ ends_on: '2027-01-02' }, false)).toEqual({ fault: 'not_fresh' })
    expect(await change({ ends_on: '2027-01-02' })).toBeUndefined()
    const dated = await makeMandate(test, merchant, member, { ends_on: '2026-06-30' })
    const end = async (ends_on: string) => changeOwn(test.deps, dated, { ends_on }, await actOn(dated))
    expect(await end('2026-06-01')).toBeUndefined()
    expect(await end('2026-07-01')).toEqual({ fault: 'terms' })
    expect(await end('2026-06-30')).toBeUndefined()
    const acts = await actsOf(mandate_id)
    expect(acts.map(({ action }) => action)).toEqual([
      'mandate.accept',
      'mandate.pause',
      'mandate.resume',
      ...Array(5).fill('mandate.change'),
    ])
    expect(acts[0]).toMatchObject({
      actor_id: member.id,
      ip: IP,
      detail: { by: 'member', from: 'page', before: { status: 'offered' }, after: { status: 'active' } },
    })
    expect(acts[3]).toMatchObject({ detail: { before: { charge_max: '100' }, after: { charge_max: '1' } } })
  })

  it('may reduce but not agree while the wallet is frozen, the setting off, or the right gone', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const change = async (terms: object) => changeOwn(test.deps, mandate_id, terms, await actOn(mandate_id))
    await change({ charge_max: 50n })
    const states: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['off', () => switchMandates(test, 'off'), () => switchMandates(test)],
      [
        'payments_paused',
        () => setSetting(test, 'payments_read_only', 'on'),
        () => setSetting(test, 'payments_read_only', 'off'),
      ],
      ['app_unusable', () => setApp({ status: 'suspended' }), () => setApp({ status: 'approved' })],
      ['no_right', () => setApp({ mandate_right: 'withdrawn' }), () => setApp({ mandate_right: 'granted' })],
      ['wallet_frozen', () => setFrozen(test, member), () => setFrozen(test, member, false)],
    ]
    let charge_max = 50n
    for (const [fault, begin, end] of states) {
      await begin()
      expect(await change({ charge_max: charge_max + 1n })).toEqual({ fault })
      charge_max -= 1n
      expect(await change({ charge_max })).toBeUndefined()
      await pauseOwn(test.deps, mandate_id, own())
      expect(await resumeOwn(test.deps, mandate_id, await actOn(mandate_id))).toEqual({ fault })
      await end()
      expect(await resumeOwn(test.deps, mandate_id, await actOn(mandate_id))).toBeUndefined()
    }
    await setApp({ unreviewed_change_at: test.clock.now() })
    expect(await change({ charge_max: 60n })).toBeUndefined()
    expect(await revokeOwn(test.deps, mandate_id, own())).toMatchObject({ reason: 'member' })
  })

  it('of another mandate finds none', async () => {
    const mandate_id = await makeMandate(test, merchant, admin)
    const act = await actOn(mandate_id)
    expect(await outcomeOf(pauseOwn(test.deps, mandate_id, act))).toBe('not_found')
    expect(await outcomeOf(revokeOwn(test.deps, mandate_id, act))).toBe('not_found')
    expect(await resumeOwn(test.deps, mandate_id, act)).toEqual({ fault: 'not_found' })
    expect(await changeOwn(test.deps, mandate_id, {}, act)).toEqual({ fault: 'not_found' })
  })
})

describe('a mandate', () => {
  it('is ended by its merchant, by the staff, and by its last day', async () => {
    const actor = { user_id: merchant.owner.id, ip: IP }
    const byProgram = await makeMandate(test, merchant, member)
    const request = { app_id: merchant.id, mandate_id: byProgram, reason: 'Closed', ip: IP }
    const ended = await revokeByProgram(test.deps, request)
    expect(ended).toMatchObject({ status: 'ended', reason: 'merchant' })
    expect(await revokeByProgram(test.deps, request)).toEqual(ended)
    expect((await actsOf(byProgram)).at(-1)).toMatchObject({
      actor_id: null,
      detail: { by: 'merchant', reason: 'merchant', text: 'Closed' },
    })
    expect(await outcomeOf(revokeByProgram(test.deps, { ...request, app_id: 0n }))).toBe('mandate_not_found')

    const byTeam = await offer(test, merchant)
    const reasoned = { mandate_id: byTeam, reason: 'x' }
    expect(await outcomeOf(revokeByTeam(test.deps, merchant.payment_id, reasoned, own()))).toBe('not_found')
    expect(await revokeByTeam(test.deps, merchant.payment_id, reasoned, actor)).toMatchObject({
      reason: 'merchant',
    })

    const byStaff = await makeMandate(test, merchant, member)
    const revoke = (mandate_id: string) =>
      revokeByStaff(test.deps, { mandate_id, reason: 'x' }, { actor_id: admin.id, ip: IP })
    expect(await outcomeOf(revoke(await offer(test, merchant)))).toBe('conflict')
    expect(await revoke(byStaff)).toMatchObject({ reason: 'staff' })

    const byTime = await makeMandate(test, merchant, member, { ends_on: '2026-01-01' })
    const finishAt = (now: Date) => finishMandates({ db: test.db, databaseTime: async () => now })
    expect(await finishAt(new Date('2026-01-01T15:59:59Z'))).toBe(0)
    const after = new Date('2026-01-01T16:00:00Z')
    expect(await findMandate(test.db, { mandate_id: byTime }, after)).toMatchObject({ reason: 'finished' })
    expect(await finishAt(after)).toBeGreaterThan(0)
    expect(await finishAt(after)).toBe(0)
    expect(await read(byTime)).toMatchObject({ status: 'ended', reason: 'finished', ended_at: after })
  })

  it('never ends before its last charge', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const ahead = new Date(test.clock.now().getTime() + 500)
    await makeChargeMandate({ ...test.deps, clock: () => ahead })(chargeOf(merchant, mandate_id, 1n))
    await makeChargeMandate(test.deps)(chargeOf(merchant, mandate_id, 1n))
    expect(await revokeOwn(test.deps, mandate_id, own())).toMatchObject({ ended_at: ahead })
  })

  it('keeps what was offered, its member and its end, whatever the code does', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const bend = (change: string) =>
      sql`update mandates set ${sql.raw(change)} where mandate_id = ${mandate_id}`.execute(test.db)
    for (const change of [
      'asked_charge_max = 99',
      `purpose = 'x'`,
      `user_id = ${admin.id}`,
      `starts_on = starts_on - 1`,
      'with_token = true',
    ])
      await expect(bend(change), change).rejects.toThrow('cannot be changed so')
    await expect(bend('charge_max = 101')).rejects.toThrow('mandates_charge_max')
    await expect(bend('period_max = 251')).rejects.toThrow('mandates_period_max')
    await expect(bend('ends_on = starts_on + 367')).rejects.toThrow('mandates_days')
    const dated = await makeMandate(test, merchant, member, { ends_on: '2026-06-30' })
    const end = (day: string) =>
      sql`update mandates set ends_on = ${day} where mandate_id = ${dated}`.execute(test.db)
    await end('2026-06-01')
    await expect(end('2026-07-01')).rejects.toThrow('cannot be changed so')
    await end('2026-06-30')
    await expect(bend('user_id = null')).rejects.toThrow('cannot be changed so')
    await expect(bend(`status = 'offered'`)).rejects.toThrow('mandates_consent')
    await expect(bend('test_days = 1')).rejects.toThrow('mandates_test_days')
    await revokeOwn(test.deps, mandate_id, own())
    await expect(bend(`status = 'active', ended_reason = null, ended_at = null`)).rejects.toThrow(
      'cannot be changed so',
    )
    await expect(sql`delete from mandates where mandate_id = ${mandate_id}`.execute(test.db)).rejects.toThrow(
      'never deleted',
    )
  })

  it('of a test application needs no right and no limits, and begins its next period', async () => {
    const twin = await makeMerchant(test, { twinOf: merchant })
    const tester = { id: twin.id, owner: twin.owner, book: 'test' as const }
    await sql`update users set trust_level = 0 where id = ${member.id}`.execute(test.db)
    const mandate_id = await makeMandate(test, tester, member, { caps: { amount: 100_000n } })
    const charge = makeChargeMandate(test.deps)
    const ask = () => chargedOr(charge(chargeOf(tester, mandate_id, 100_000n)))
    expect(await ask()).toBe(100_000n)
    expect(await ask()).toMatchObject(['mandate_limit_reached', { resets_at: '2026-01-31T16:00:00Z' }])
    await beginNextPeriod(test.deps, mandate_id, own())
    expect(await read(mandate_id)).toMatchObject({ period_from: '2026-02-01', spent: 0n })
    expect(await ask()).toBe(100_000n)
    expect(await ask()).toMatchObject(['mandate_limit_reached', { resets_at: '2026-01-28T16:00:00Z' }])
    const live = await makeMandate(test, merchant, admin)
    expect(await outcomeOf(beginNextPeriod(test.deps, live, { user_id: admin.id, ip: IP }))).toBe('conflict')
  })
})

describe('the right to mandates', () => {
  it('is asked for, granted, withdrawn and granted again', async () => {
    const seller = await makeMerchant(test)
    const actor = { user_id: seller.owner.id, ip: IP }
    const ask = (purpose: string, by = actor) =>
      outcomeOf(askMandateRight(test.deps, seller.payment_id, purpose, by))
    const decide = (decided: Parameters<typeof decideRight>[2]) =>
      outcomeOf(decideRight(test, seller, decided))
    const grant = { decision: 'grant', daily_max: 5n } as const
    expect(await ask('too short')).toBe('invalid_form')
    expect(await ask('x'.repeat(501))).toBe('invalid_form')
    expect(await decide(grant)).toBe('conflict')
    expect(await ask('For subscriptions')).toBe('done')
    expect(await ask('For subscriptions')).toBe('conflict')
    expect(await decide({ decision: 'withdraw' })).toBe('conflict')
    expect(await decide({ decision: 'refuse' })).toBe('done')
    expect(await decide(grant)).toBe('conflict')
    expect(await ask('For subscriptions')).toBe('done')
    expect(await decide(grant)).toBe('done')
    expect(await decide({ decision: 'grant', daily_max: 6n })).toBe('done')
    expect(await decide({ decision: 'withdraw' })).toBe('done')
    expect(await decide(grant)).toBe('done')
    expect(await ask('For subscriptions', own())).toBe('not_found')
    const acts = await actsOf(seller.payment_id)
    expect(acts.map(({ action }) => action).filter((action) => action.endsWith('_mandates'))).toHaveLength(7)
  })
})
