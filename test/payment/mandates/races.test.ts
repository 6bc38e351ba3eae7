/** Races of charges on real connections, from two processes over one database: the promises of spec/mandates 3.2. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { freezeWallet } from '../../../src/admin/points/freezes.ts'
import type { Core } from '../../../src/core/core.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import {
  changeOwn,
  finishMandates,
  pauseOwn,
  resumeOwn,
  revokeByProgram,
  revokeOwn,
} from '../../../src/payment/mandates/acts.ts'
import { type ChargeRequest, makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { acceptMandate } from '../../../src/payment/mandates/consent.ts'
import { findMandate } from '../../../src/payment/mandates/mandates.ts'
import { endMandates } from '../../../src/payment/mandates/record.ts'
import { expireOrders } from '../../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { makeCreateOrder } from '../../../src/payment/orders/place.ts'
import { makePostTransfer } from '../../../src/payment/orders/transfers.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { untilBlocked } from '../../harness/blocked.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { givePoints, makePerson, type Person } from '../../harness/cast.ts'
import { anotherProcess, type TestApp, useTestApp } from '../../harness/harness.ts'
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
import { type Merchant, recipient } from '../../harness/merchant.ts'
import { makeRandom } from '../../harness/random.ts'
import { rowOf } from '../../harness/rows.ts'

/** Charges of two processes, each with small batches in several lanes, so that they meet in every order. */

const test = await useTestApp()
await switchMandates(test)
const elsewhere = await anotherProcess(test)
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(test.db))

/** A process whose clock stands, with small batches. */
const at = ({ deps }: TestApp, moment: number): Core => ({
  ...deps,
  batching: { itemsMax: 4, lanes: 5 },
  clock: () => new Date(moment),
})

const makeSeller = () => makeMandateMerchant(test)

/** The sums of the stored charges of a mandate, by the first day of the period. */
async function sumsOf(mandate_id: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ period: string; sum: string }>`
    select o.mandate_period as period, sum(o.amount) as sum from orders as o join mandates as m on m.id = o.mandate_id
    where m.mandate_id = ${mandate_id} group by 1`.execute(test.db)
  return Object.fromEntries(rows.map(({ period, sum }) => [period, Number(sum)]))
}

/** What became of each charge. A refusal for the period has room for less than was asked for. */
function expectFull(outcomes: unknown[], amount: bigint): void {
  for (const outcome of outcomes) {
    if (typeof outcome === 'bigint') continue
    expect(outcome).toMatchObject(['mandate_limit_reached', { left: expect.any(Number) }])
    const [, { left }] = outcome as [string, { left: number }]
    expect(left).toBeLessThan(Number(amount))
  }
}

const charges = [test, elsewhere].map((each) => makeChargeMandate(at(each, test.clock.now().getTime())))
const admin = await makePerson(test, { is_admin: true })

describe('64 charges at once, from two processes', () => {
  it('never exceed the cap by a point, and whatever fits is charged', async () => {
    const merchant = await makeSeller()
    const member = await makePerson(test, { points: 10_000n })
    for (const cap of [320n, 325n, 7n, 640n]) {
      const mandate_id = await makeMandate(test, merchant, member, {
        caps: { charge_max: 7n, period_max: cap },
      })
      const outcomes = await Promise.all(
        Array.from({ length: 64 }, (_, i) => chargedOr(charges[i % 2]!(chargeOf(merchant, mandate_id, 7n)))),
      )
      const fitting = Math.min(64, Math.floor(Number(cap) / 7))
      // The running sums are those of the charges, each once.
      const sums = outcomes.filter((outcome) => typeof outcome === 'bigint').map(Number)
      expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: fitting }, (_, n) => (n + 1) * 7))
      expectFull(outcomes, 7n)
      expect(await sumsOf(mandate_id)).toEqual({ '2026-01-01': fitting * 7 })
    }
  })

  it('beyond the points of a member take what there is', async () => {
    const merchant = await makeSeller()
    const member = await makePerson(test, { points: 205n })
    // Ten refusals of one mandate would end the tries.
    const mandates = await Promise.all(Array.from({ length: 8 }, () => makeMandate(test, merchant, member)))
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        chargedOr(charges[i % 2]!(chargeOf(merchant, mandates[i % 8]!, 10n))),
      ),
    )
    expect(outcomes.filter((outcome) => typeof outcome === 'bigint')).toHaveLength(20)
    for (const outcome of outcomes)
      if (typeof outcome !== 'bigint') expect(outcome).toEqual(['insufficient_points', { need: 10 }])
    expect(await balanceOf(test.db, member.id)).toBe(5n)
  })

  it('never exceed the daily limit of the application', async () => {
    const merchant = await makeSeller()
    await decideRight(test, merchant, { decision: 'grant', daily_max: 205n })
    const members = await Promise.all(Array.from({ length: 8 }, () => makePerson(test, { points: 1_000n })))
    const mandates = await Promise.all(members.map((member) => makeMandate(test, merchant, member)))
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        chargedOr(charges[i % 2]!(chargeOf(merchant, mandates[i % 8]!, 10n))),
      ),
    )
    expect(outcomes.filter((outcome) => typeof outcome === 'bigint')).toHaveLength(20)
  })

  it('of one order_id are one charge, and all get its answer', async () => {
    const merchant = await makeSeller()
    const member = await makePerson(test, { points: 1_000n })
    const mandate_id = await makeMandate(test, merchant, member)
    const request = chargeOf(merchant, mandate_id, 10n)
    // Both processes have begun before either may lock the mandate.
    const begun = await test.db.transaction().execute(async (tx) => {
      await sql`select from mandates where mandate_id = ${mandate_id} for update`.execute(tx)
      const asked = Array.from({ length: 64 }, (_, i) => charges[i % 2]!(request))
      await untilBlocked(tx, 2)
      return { asked }
    })
    const answers = await Promise.all(begun.asked)
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(await balanceOf(test.db, member.id)).toBe(990n)
  })
})

it('a charge waits for a revocation that has begun, and obeys it', async () => {
  const merchant = await makeSeller()
  const member = await makePerson(test, { points: 1_000n })
  const mandate_id = await makeMandate(test, merchant, member)
  const { id } = await rowOf(test, 'mandates', { mandate_id })
  const begun = await test.db.transaction().execute(async (tx) => {
    const end = { reason: 'member', now: test.clock.now(), actor_id: member.id, ip: IP, detail: {} } as const
    await endMandates(tx, [id], end)
    const charge = outcomeOf(charges[0]!(chargeOf(merchant, mandate_id, 10n)))
    const early = charge.then((outcome) => expect(outcome).toBe('waiting for the revocation'))
    await Promise.race([untilBlocked(tx), early])
    return { charge }
  })
  expect(await begun.charge).toMatchObject(['mandate_inactive', {}])
  expect(await balanceOf(test.db, member.id)).toBe(1_000n)
})

it('a charge and an order of one order_id are one of the two', async () => {
  const merchant = await makeSeller()
  const member = await makePerson(test, { points: 1_000n })
  const mandates = await Promise.all([1, 2].map(() => makeMandate(test, merchant, member)))
  const creates = [test, elsewhere].map((each) => makeCreateOrder(at(each, test.clock.now().getTime())))
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const order_id = `either-${i}`
      const order = { app_id: merchant.id, order_id, description: 'x', amount: 1n }
      return Promise.all([
        outcomeOf(charges[i % 2]!(chargeOf(merchant, mandates[i % 2]!, 1n, { order_id }))),
        outcomeOf(creates[(i >> 1) % 2]!(order)),
      ])
    }),
  )
  for (const both of outcomes) {
    expect(both.filter((outcome) => outcome === 'done')).toHaveLength(1)
    for (const outcome of both) if (outcome !== 'done') expect(outcome).toMatchObject(['order_exists', {}])
  }
})

describe('charges in both processes', () => {
  /**
   * Charges until the act has been answered and each stream has charged ten times more. The act begins after the first charge.
   * @param pause_ms between two charges of a stream.
   */
  async function chargeAround(
    requestOf: () => ChargeRequest,
    act: () => Promise<unknown>,
    pause_ms = 0,
  ): Promise<{ before: Record<string, number>; after: Record<string, number>; late: unknown[] }> {
    const { mandate_id } = requestOf()
    let isAnswered = false
    const late: unknown[] = []
    const first = Promise.withResolvers<void>()
    const stream = async (i: number) => {
      for (let left = 10; left > 0; ) {
        const isLate = isAnswered
        if (!isLate && pause_ms > 0) await sleep(pause_ms)
        const outcome = await chargedOr(charges[i % 2]!(requestOf()))
        first.resolve()
        if (isLate) {
          late.push(outcome)
          left -= 1
        }
      }
    }
    const streams = Array.from({ length: 12 }, (_, i) => stream(i))
    await Promise.race([first.promise, Promise.all(streams)])
    await act()
    // What is stored now is wholly before the act, and nothing is added after its answer.
    const before = await sumsOf(mandate_id)
    isAnswered = true
    await Promise.all(streams)
    return {
      before,
      after: await sumsOf(mandate_id),
      late: [...new Set(late.map((one) => JSON.stringify(one, asText)))],
    }
  }
  const asText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

  const inactive = (reason: string, status = 'ended') =>
    JSON.stringify(['mandate_inactive', { status, reason }])
  type Case = {
    name: string
    late: string
    pause_ms?: number
    act: (facts: { merchant: Merchant; member: Person; mandate_id: string }) => Promise<unknown>
  }
  const cases: Case[] = [
    {
      name: 'the member revokes',
      late: inactive('member'),
      act: ({ mandate_id, member }) => revokeOwn(elsewhere.deps, mandate_id, { user_id: member.id, ip: IP }),
    },
    {
      name: 'the merchant revokes',
      late: inactive('merchant'),
      act: ({ mandate_id, merchant }) =>
        revokeByProgram(test.deps, { app_id: merchant.id, mandate_id, reason: 'x', ip: IP }),
    },
    {
      name: 'the member pauses',
      late: inactive('member', 'paused'),
      act: ({ mandate_id, member }) => pauseOwn(elsewhere.deps, mandate_id, { user_id: member.id, ip: IP }),
    },
    {
      name: 'the wallet is frozen',
      late: JSON.stringify('wallet_frozen'),
      act: ({ member }) =>
        freezeWallet(elsewhere.deps, member.id, { reason: 'x', actor_id: admin.id, ip: IP }),
    },
    {
      name: 'the right is withdrawn',
      late: JSON.stringify('mandates_unavailable'),
      act: ({ merchant }) => decideRight(elsewhere, merchant, { decision: 'withdraw' }),
    },
    {
      name: 'the application is handed over',
      late: JSON.stringify('application_unusable'),
      act: ({ merchant }) =>
        sql`select hand_over_application(${merchant.id}, ${admin.id}, now())`.execute(elsewhere.db),
    },
    {
      name: 'the member’s account is anonymised',
      late: inactive('account_closed'),
      // The account is anonymised with the points that it has, and each charge changes them.
      pause_ms: 1_000,
      act: ({ member }) => anonymiseWhenEmpty(member),
    },
  ]

  it.each(cases)('are wholly before or wholly after: $name', async ({ late, act, pause_ms }) => {
    const merchant = await makeSeller()
    const member = await makePerson(test, { points: 1_000_000n })
    const caps = { charge_max: 100n, period_max: 10_000n }
    const mandate_id = await makeMandate(test, merchant, member, { caps })
    const seen = await chargeAround(
      () => chargeOf(merchant, mandate_id, 1n),
      () => act({ merchant, member, mandate_id }),
      pause_ms,
    )
    expect(seen.before['2026-01-01']).toBeGreaterThan(0)
    expect(seen.after).toEqual(seen.before)
    expect(seen.late).toEqual([late])
    // All charges paid the owner whom the member agreed to.
    const payees = await sql<{ payee_id: bigint }>`
      select distinct o.payee_id from orders as o join mandates as m on m.id = o.mandate_id
      where m.mandate_id = ${mandate_id}`.execute(test.db)
    expect(payees.rows).toEqual([{ payee_id: merchant.owner.id }])
  })

  it('are wholly before or wholly after: the member lowers the cap', async () => {
    const merchant = await makeSeller()
    const member = await makePerson(test, { points: 100_000n })
    const caps = { charge_max: 100n, period_max: 10_000n }
    const mandate_id = await makeMandate(test, merchant, member, { caps })
    const act = { user_id: member.id, ip: IP, isFresh: false, version: 2 }
    const seen = await chargeAround(
      () => chargeOf(merchant, mandate_id, 1n),
      async () =>
        expect(
          await changeOwn(elsewhere.deps, mandate_id, { charge_max: 1n, period_max: 1n }, act),
        ).toBeUndefined(),
    )
    expect(seen.after).toEqual(seen.before)
    expect(seen.late).toHaveLength(1)
    expect(seen.late[0]).toContain('mandate_limit_reached')
  })

  /** Anonymises a member with all points given up, and again when a charge has changed them meanwhile. */
  async function anonymiseWhenEmpty({ id: user_id }: Person): Promise<void> {
    for (;;) {
      const give_up = await balanceOf(test.db, user_id)
      const outcome = await outcomeOf(
        anonymise(elsewhere.deps, { user_id, actor_id: null, reason: 'x', ip: null, give_up }),
      )
      if (outcome === 'done') return
      expect(outcome).toBe('conflict')
    }
  }
})

it('two members in two processes accept an offer once', async () => {
  const merchant = await makeSeller()
  const members = await Promise.all(Array.from({ length: 8 }, () => makePerson(test)))
  for (let round = 0; round < 5; round += 1) {
    const mandate_id = await offer(test, merchant)
    const faults = await Promise.all(
      members.map(({ id: user_id }, i) =>
        acceptMandate([test, elsewhere][i % 2]!.deps, mandate_id, { user_id, ip: IP, isFresh: true }),
      ),
    )
    expect(faults.filter((fault) => fault === undefined)).toHaveLength(1)
    expect(faults.filter((fault) => fault !== undefined)).toEqual(Array(7).fill({ fault: 'taken' }))
    await revokeByProgram(test.deps, { app_id: merchant.id, mandate_id, reason: 'x', ip: IP })
  }
})

it('everything at once ends without a deadlock in any answer', async () => {
  // Owners are members of each other, so wallets are wanted in both directions.
  const sellers = await Promise.all(Array.from({ length: 4 }, makeSeller))
  const people = [
    ...sellers.map(({ owner }) => owner),
    ...(await Promise.all([makePerson(test), makePerson(test)])),
  ]
  for (const person of people) await givePoints(test, person, 5_000n)
  const mandates = await Promise.all(
    sellers.flatMap((seller) =>
      people.map(async (person) => ({
        seller,
        person,
        mandate_id: await makeMandate(test, seller, person, {
          period: 'day',
          caps: { charge_max: 9n, period_max: 60n },
        }),
      })),
    ),
  )
  const processes = [test, elsewhere].map((each) => {
    const deps = at(each, test.clock.now().getTime())
    return {
      deps,
      charge: makeChargeMandate(deps),
      pay: makePayOrder(deps),
      create: makeCreateOrder(deps),
      transfer: makePostTransfer(deps),
    }
  })
  const { below, pick } = makeRandom(11)
  const told: string[] = []
  /** A client repeats what waited in vain for a lock, or met two hand-overs. Refusals are answers, too; a deadlock is none. */
  const repeated = ['55P03', '40001']
  const tell = async (act: Promise<unknown>) => {
    try {
      await outcomeOf(act)
    } catch (error) {
      const isRepeated = error instanceof pg.DatabaseError && repeated.includes(error.code ?? '')
      if (!isRepeated) told.push(String((error as Error).stack))
    }
  }
  const acts = [
    ...Array(6).fill(async (i: number) => {
      const { seller, mandate_id } = pick(mandates)
      const order_id = `all-${below(400)}`
      await processes[i % 2]!.charge(chargeOf(seller, mandate_id, BigInt(1 + below(9)), { order_id }))
    }),
    async (i: number) => {
      const [seller, payer] = [pick(sellers), pick(people)]
      const order = {
        app_id: seller.id,
        order_id: `all-${below(400)}`,
        description: 'x',
        amount: BigInt(1 + below(9)),
      }
      const { transaction_id, amount } = await processes[i % 2]!.create(order)
      await processes[(i + 1) % 2]!.pay({ transaction_id, payer_id: payer.id, expected_amount: amount })
    },
    async (i: number) => {
      const [seller, to] = [pick(sellers), pick(people)]
      const toMember = recipient(to)
      const order_id = `all-${below(400)}`
      await processes[i % 2]!.transfer({
        app_id: seller.id,
        order_id,
        amount: BigInt(1 + below(9)),
        ...toMember,
      })
    },
    async (i: number) => {
      const { mandate_id, person } = pick(mandates)
      const { deps } = processes[i % 2]!
      const own = { user_id: person.id, ip: IP }
      await pauseOwn(deps, mandate_id, own)
      const { version } = (await findMandate(deps.db, { mandate_id }, deps.clock()))!
      await resumeOwn(deps, mandate_id, { ...own, isFresh: true, version })
    },
    async (i: number) => {
      const { mandate_id, person } = mandates[i % 3]!
      await revokeOwn(processes[i % 2]!.deps, mandate_id, { user_id: person.id, ip: IP })
    },
    async (i: number) => {
      const { deps } = processes[i % 2]!
      const seller = sellers[3]!
      await sql`select hand_over_application(${seller.id}, ${pick(people.slice(0, -1)).id}, now())`.execute(
        deps.db,
      )
    },
    async (i: number) => {
      const { deps } = processes[i % 2]!
      await expireOrders({ ...deps, databaseTime: async () => new Date(deps.clock().getTime() + 3_600_000) })
      await finishMandates(deps)
    },
    async (i: number) => {
      const { id: user_id } = people.at(-1)!
      const { deps } = processes[i % 2]!
      const give_up = await balanceOf(deps.db, user_id)
      await anonymise(deps, { user_id, actor_id: null, reason: 'x', ip: null, give_up })
    },
  ]
  await Promise.all(
    Array.from({ length: 16 }, async (_, stream) => {
      for (let i = stream; i < 800; i += 16) await tell(pick(acts)(i + below(2)))
    }),
  )
  expect(told).toEqual([])
  const { rows } = await sql<{
    count: bigint
  }>`select count(*) as count from orders where mandate_id is not null`.execute(test.db)
  expect(rows[0]!.count).toBeGreaterThan(50n)
})
