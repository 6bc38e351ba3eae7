/** Charges under mandates: every outcome and their order, what a refusal keeps, and batches. spec/mandates 3.1. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSettings } from '../../../src/core/settings.ts'
import type { Db } from '../../../src/database/connection.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { pauseOwn, resumeOwn, revokeOwn } from '../../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { makeCreateOrder } from '../../../src/payment/orders/place.ts'
import { randomToken, sha256 } from '../../../src/platform/secrets.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { givePoints, makePerson, type Person, setFrozen } from '../../harness/cast.ts'
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
} from '../../harness/mandates.ts'
import type { Merchant } from '../../harness/merchant.ts'
import { refund } from '../../harness/orders.ts'
import { makeRandom } from '../../harness/random.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'

let merchant: Merchant
let member: Person
let count = 0

const test = await useTestApp()
await switchMandates(test)
const admin = await makePerson(test, { is_admin: true })
const charge = makeChargeMandate(test.deps)
beforeEach(async () => {
  merchant = await makeMandateMerchant(test)
  member = await makePerson(test, { points: 1_000n })
})
afterEach(() => expectSoundBooks(test.db))

const lane = (itemsMax: number) => ({ ...test.deps, settings: openSettings(test.db), batching: { itemsMax } })
const setApp = (changed: object) => setRows(test, 'payment_apps', { id: merchant.id }, changed)
const refusalsOf = async (mandate_id: string) => {
  const { id } = await rowOf(test, 'mandates', { mandate_id })
  const rows = await rowsOf(test, 'mandate_refusals', { mandate_id: id })
  return rows.sort((a, b) => (a.outcome < b.outcome ? -1 : 1))
}
const own = () => ({ user_id: member.id, ip: IP })
const versionOf = async (mandate_id: string) =>
  (await findMandate(test.db, { mandate_id }, test.clock.now()))!.version

/** A sign-in application of an owner, with a live access token of a member. */
async function makeToken(owner: Person, holder: Person): Promise<{ client_id: string; token: string }> {
  const token = randomToken()
  const client_id = `client-${++count}`
  const later = new Date(test.clock.now().getTime() + 3_600_000)
  await sql`
    with app as (
      insert into oauth_apps (client_id, owner_id, name, redirect_uris)
      values (${client_id}, ${owner.id}, 'x', '{https://x.example}') returning id
    ), family as (
      insert into grants (app_id, user_id, scopes, auth_time, amr, expires_at)
      select id, ${holder.id}, '{}', ${later}, '{}', ${later} from app returning id
    )
    insert into access_tokens (token_hash, grant_id, scopes, expires_at)
    select ${sha256(token)}, id, '{}', ${later} from family`.execute(test.db)
  return { client_id, token }
}

describe('a charge', () => {
  it('is refused for the first reason in the order of the specification', async () => {
    const mandate_id = await makeMandate(test, merchant, member, {
      caps: { charge_max: 50n, period_max: 60n },
      with_token: true,
    })
    const { client_id, token: access_token } = await makeToken(merchant.owner, member)
    await setApp({ oauth_client_id: client_id })
    const first = chargeOf(merchant, mandate_id, 50n, { access_token })
    expect(await chargedOr(charge(first))).toBe(50n)
    const ask = (amount: bigint, over = {}) =>
      chargedOr(charge(chargeOf(merchant, mandate_id, amount, { access_token: undefined, ...over })))

    // Everything is wrong at once. Each step mends the fault that was told.
    await sql`insert into mandate_refusals
        (mandate_id, period, outcome, times, last_amount, last_order_id, first_at, last_at)
      select id, '2026-01-01', 'insufficient', 10, 1, 'x', ${test.clock.now()}, ${test.clock.now()}
      from mandates where mandate_id = ${mandate_id}`.execute(test.db)
    await setFrozen(test, member)
    await setRows(test, 'payment_apps', { id: merchant.id }, { daily_payments_max: 55n })
    await pauseOwn(test.deps, mandate_id, own())
    await setApp({ status: 'suspended', mandate_right: 'withdrawn' })
    const open = await makeCreateOrder(test.deps)({
      app_id: merchant.id,
      order_id: `open-${++count}`,
      description: 'x',
      amount: 51n,
    })

    const { order_id, transaction_id } = open
    expect(await ask(51n, { order_id })).toEqual(['order_exists', { status: 'pending', transaction_id }])
    expect(await chargedOr(charge(chargeOf(merchant, 'mdt_unknown', 51n)))).toBe('mandate_not_found')
    expect(await ask(51n)).toBe('application_unusable')
    await setApp({ status: 'approved' })
    expect(await ask(51n, { owner_id: null })).toBe('application_unusable')
    expect(await ask(51n, { owner_id: member.id })).toBe('application_unusable')
    expect(await ask(51n)).toBe('mandates_unavailable')
    await setApp({ mandate_right: 'granted' })
    await switchMandates(test, 'off')
    expect(await ask(51n)).toBe('mandates_unavailable')
    await switchMandates(test)
    expect(await ask(51n)).toEqual(['mandate_inactive', { status: 'paused', reason: 'member' }])
    await setFrozen(test, member, false)
    const act = { ...own(), isFresh: true, version: await versionOf(mandate_id) }
    expect(await resumeOwn(test.deps, mandate_id, act)).toBeUndefined()
    await setFrozen(test, member)
    expect(await ask(51n)).toBe('access_token_required')
    expect(await ask(51n, { access_token })).toEqual(['charge_too_large', { limit: 50, exactly: false }])
    expect(await ask(11n, { access_token })).toEqual([
      'mandate_limit_reached',
      { limit: 60, spent: 50, left: 10, resets_at: '2026-01-31T16:00:00Z' },
    ])
    expect(await ask(10n, { access_token })).toBe('wallet_frozen')
    await setFrozen(test, member, false)
    await sql`update users set is_banned = true where id = ${member.id}`.execute(test.db)
    expect(await ask(10n, { access_token })).toBe('wallet_frozen')
    await sql`update users set is_banned = false where id = ${member.id}`.execute(test.db)
    const refused = await charge(chargeOf(merchant, mandate_id, 10n, { access_token })).catch(
      (error) => error,
    )
    expect([refused.code, refused.retry_after_seconds]).toEqual(['too_many_attempts', 3_600])
    await sql`update mandate_refusals set last_at = ${new Date(test.clock.now().getTime() - 3_600_000)}
      where outcome = 'insufficient'`.execute(test.db)
    await givePoints(test, member, -945n)
    expect(await ask(10n, { access_token })).toEqual(['insufficient_points', { need: 10 }])
    await sql`update mandate_refusals set times = 1`.execute(test.db)
    await givePoints(test, member, 500n)
    expect(await ask(10n, { access_token })).toEqual(['daily_limit_reached', { limit: 55 }])
    await setRows(test, 'payment_apps', { id: merchant.id }, { daily_payments_max: null })
    await decideRight(test, merchant, { decision: 'grant', daily_max: 59n })
    expect(await ask(10n, { access_token })).toEqual(['daily_limit_reached', { limit: 59 }])
    await decideRight(test, merchant, { decision: 'grant', daily_max: 60n })
    expect(await ask(10n, { access_token })).toBe(60n)

    // A repeat is answered whatever has become of the mandate.
    await revokeOwn(test.deps, mandate_id, own())
    await setApp({ status: 'suspended' })
    await switchMandates(test, 'off')
    expect(await chargedOr(charge(first))).toBe(50n)
    expect(await chargedOr(charge({ ...first, amount: 49n }))).toBe('parameter_invalid')
    expect(await chargedOr(charge({ ...first, mandate_id: 'mdt_unknown' }))).toBe('parameter_invalid')
    await setApp({ status: 'approved' })
    await switchMandates(test)
    const { order } = await charge(first)
    await givePoints(test, merchant.owner, 100n)
    await refund(test, order, 50n)
    expect(await chargedOr(charge(first))).toEqual([
      'order_exists',
      { status: 'refunded', transaction_id: order.transaction_id },
    ])
    expect(await refusalsOf(mandate_id)).toMatchObject([
      { outcome: 'charge_limit', times: 1, last_amount: 51n },
      { outcome: 'inactive', times: 1, last_amount: 51n },
      { outcome: 'insufficient', times: 1, last_amount: 10n },
      { outcome: 'period_limit', times: 1, last_amount: 11n },
    ])
  })

  it('of a fixed mandate is exactly its amount, once a period', async () => {
    const mandate_id = await makeMandate(test, merchant, member, { caps: { amount: 30n } })
    const ask = (amount: bigint) => chargedOr(charge(chargeOf(merchant, mandate_id, amount)))
    expect(await ask(29n)).toEqual(['charge_too_large', { limit: 30, exactly: true }])
    expect(await ask(31n)).toEqual(['charge_too_large', { limit: 30, exactly: true }])
    expect(await ask(30n)).toBe(30n)
    expect(await ask(30n)).toMatchObject(['mandate_limit_reached', { spent: 30, left: 0 }])
  })

  it('needs a live token of the member and of the linked application, if one is sent', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const mine = await makeToken(merchant.owner, member)
    const others = await makeToken(merchant.owner, admin)
    const foreign = await makeToken(admin, member)
    await setApp({ oauth_client_id: mine.client_id })
    const ask = (access_token: string | undefined) =>
      chargedOr(charge(chargeOf(merchant, mandate_id, 1n, { access_token })))
    expect(await ask(undefined)).toBe(1n)
    expect(await ask(mine.token)).toBe(2n)
    expect(await ask('wrong')).toBe('access_token_required')
    await setApp({ oauth_client_id: others.client_id })
    expect(await ask(others.token)).toBe('access_token_required')
    expect(await ask(mine.token)).toBe('access_token_required')
    // The application is of another owner.
    await setApp({ oauth_client_id: foreign.client_id })
    expect(await ask(foreign.token)).toBe('access_token_required')
    await setApp({ oauth_client_id: mine.client_id })
    await sql`update access_tokens set expires_at = ${test.clock.now()}`.execute(test.db)
    expect(await ask(mine.token)).toBe('access_token_required')
  })

  it('counts in its month from the first day, and none before it or after the last', async () => {
    const today = '2026-01-01'
    const mandate_id = await makeMandate(test, merchant, member, {
      starts_on: '2026-01-31',
      ends_on: '2026-03-01',
      caps: { charge_max: 100n, period_max: 100n },
    })
    const at = (day: string) => ({ ...lane(64), clock: () => new Date(`${day}T04:00:00Z`) })
    const ask = (day: string) => chargedOr(makeChargeMandate(at(day))(chargeOf(merchant, mandate_id, 100n)))
    const inactive = (status: string, reason: string) => ['mandate_inactive', { status, reason }]
    expect(await ask(today)).toEqual(inactive('active', 'not_started'))
    expect(await ask('2026-01-31')).toBe(100n)
    expect(await ask('2026-02-27')).toMatchObject([
      'mandate_limit_reached',
      { resets_at: '2026-02-27T16:00:00Z' },
    ])
    expect(await ask('2026-02-28')).toBe(100n)
    expect(await ask('2026-03-01')).toMatchObject([
      'mandate_limit_reached',
      { resets_at: '2026-03-30T16:00:00Z' },
    ])
    expect(await ask('2026-03-02')).toEqual(inactive('ended', 'finished'))
    // Before and after its time the nearest period keeps the refusal.
    const kept = await sql<{ period: string; outcome: string }>`
      select r.period, r.outcome from mandate_refusals as r join mandates as m on m.id = r.mandate_id
      where m.mandate_id = ${mandate_id} and r.outcome = 'inactive' order by r.period`.execute(test.db)
    expect(kept.rows.map(({ period }) => period)).toEqual(['2026-01-31', '2026-02-28'])
  })

  it('counts in the period that the first process has begun', async () => {
    const mandate_id = await makeMandate(test, merchant, member, {
      period: 'day',
      caps: { charge_max: 100n, period_max: 100n },
    })
    const midnight = Date.UTC(2026, 0, 1, 16)
    const at = (ms: number) => makeChargeMandate({ ...lane(64), clock: () => new Date(midnight + ms) })
    const [ahead, behind] = [at(100), at(-100)]
    expect(await chargedOr(behind(chargeOf(merchant, mandate_id, 90n)))).toBe(90n)
    expect(await chargedOr(ahead(chargeOf(merchant, mandate_id, 60n)))).toBe(60n)
    expect(await chargedOr(behind(chargeOf(merchant, mandate_id, 50n)))).toMatchObject([
      'mandate_limit_reached',
      { spent: 60, left: 40, resets_at: '2026-01-02T16:00:00Z' },
    ])
    expect(await chargedOr(behind(chargeOf(merchant, mandate_id, 40n)))).toBe(100n)
  })

  it('while payments are paused is refused, and a repeat is answered', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const request = chargeOf(merchant, mandate_id, 10n)
    const made = await charge(request)
    await setSetting(test, 'payments_read_only', 'on')
    expect(await charge(request)).toEqual(made)
    expect(await outcomeOf(charge({ ...request, amount: 11n }))).toBe('parameter_invalid')
    expect(await outcomeOf(charge(chargeOf(merchant, mandate_id, 10n)))).toBe('payments_paused')
    await setSetting(test, 'payments_read_only', 'off')
  })

  it('of an offer is refused and keeps nothing', async () => {
    const mandate_id = await offer(test, merchant)
    const ask = () => chargedOr(charge(chargeOf(merchant, mandate_id, 1n)))
    expect(await ask()).toEqual(['mandate_inactive', { status: 'pending', reason: 'not_accepted' }])
    test.clock.advance(24 * 3_600_000)
    expect(await ask()).toEqual(['mandate_inactive', { status: 'ended', reason: 'lapsed' }])
    expect(await refusalsOf(mandate_id)).toEqual([])
  })

  it('is within the mandate, whatever the code does', async () => {
    const mandate_id = await makeMandate(test, merchant, member)
    const other = await makeMandate(test, merchant, admin)
    const { order } = await charge(chargeOf(merchant, mandate_id, 100n))
    const change = (values: string, db: Db = test.db) =>
      sql`update orders set ${sql.raw(values)} where id = ${order.id}`.execute(db)
    // The constraints hold for new rows, too. The trigger refuses any change before they are checked.
    const bend = (values: string) =>
      test.db.transaction().execute(async (tx) => {
        await sql`alter table orders disable trigger orders_charge_kept`.execute(tx)
        await change(values, tx)
      })
    await expect(bend('mandate_charge_max = 99')).rejects.toThrow('orders_charge_max')
    await expect(bend('mandate_period_max = 99')).rejects.toThrow('orders_charge_spent')
    await expect(bend('mandate_spent = null')).rejects.toThrow('orders_charge_whole')
    await expect(
      bend(`mandate_id = (select id from mandates where mandate_id = '${other}')`),
    ).rejects.toThrow('orders_mandate')
    const unlinked = ['id', 'period', 'spent', 'charge_max', 'period_max'].map(
      (name) => `mandate_${name} = null`,
    )
    await expect(change(unlinked.join(', '))).rejects.toMatchObject({ constraint: 'orders_charge_kept' })
    await expect(change('mandate_period_max = 251')).rejects.toMatchObject({
      constraint: 'orders_charge_kept',
    })
  })
})

describe('a batch of charges', () => {
  it('ends as single ones would: keys, sums, balances and limits', async () => {
    const worlds = await Promise.all(
      [1, 200].map(async (itemsMax) => {
        const seller = await makeMandateMerchant(test, 900n)
        const members = await Promise.all([60n, 500n, 400n].map((points) => makePerson(test, { points })))
        const mandates = await Promise.all(
          members.flatMap((each, n) => [
            makeMandate(test, seller, each, { period: 'day', caps: { charge_max: 50n, period_max: 130n } }),
            makeMandate(test, seller, each, { caps: { amount: BigInt(20 + n) } }),
          ]),
        )
        return { seller, members, mandates, charge: makeChargeMandate(lane(itemsMax)) }
      }),
    )
    const told = await Promise.all(
      worlds.map(async ({ seller, members, mandates, charge }) => {
        const { below } = makeRandom(5)
        const outcomes = await Promise.all(
          Array.from({ length: 150 }, () => {
            const amount = BigInt([1, 20, 21, 22, 45, 51][below(6)]!)
            const request = chargeOf(seller, mandates[below(6)]!, amount, { order_id: `k-${below(90)}` })
            return chargedOr(charge(request))
          }),
        )
        const balances = await Promise.all(members.map(({ id }) => balanceOf(test.db, id)))
        const refusals = await Promise.all(
          mandates.map(async (each) =>
            (await refusalsOf(each)).map(({ outcome, times }) => [outcome, times]),
          ),
        )
        return { outcomes, balances, refusals }
      }),
    )
    expect(told[1]).toEqual(told[0])
    const codes = new Set(told[0]!.outcomes.flat())
    for (const code of [
      'parameter_invalid',
      'charge_too_large',
      'mandate_limit_reached',
      'insufficient_points',
    ])
      expect(codes).toContain(code)
  })
})
