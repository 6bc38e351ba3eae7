/** Races on real connections, from two processes over one database: the books pass in every order of events. */
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Core } from '../../src/core/core.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expireOrders } from '../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makeCreateOrder } from '../../src/payment/orders/place.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import type { AppError } from '../../src/platform/errors.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { anotherProcess, type TestApp, useTestApp } from '../harness/harness.ts'
import {
  type Answer,
  type Merchant,
  makeMerchant,
  merchantSign,
  post,
  recipient,
  recipientFields,
} from '../harness/merchant.ts'
import { lockRows } from '../harness/rows.ts'

// The requests must meet in the database, and the limit at the door must not refuse them.
const test = await useTestApp({ REQUESTS_AT_ONCE_MAX: '1000' })
const elsewhere = await anotherProcess(test)
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(test.db))

const balance = (person: Person) => balanceOf(test.db, person.id)

async function makeRichMerchant(points: bigint): Promise<Merchant> {
  const merchant = await makeMerchant(test)
  await givePoints(test, merchant.owner, points)
  return merchant
}

/** Sends a signed transfer to one of the processes, and repeats it while the process is overloaded. */
async function transfer(at: TestApp, from: Merchant, to: Person, order_id: string): Promise<Answer> {
  const fields = { ...recipientFields(to), amount: '10', order_id }
  const signed = { ...fields, signature: merchantSign(from.token, fields) }
  for (;;) {
    const answer = await post(at, `/payment/transfer/${from.payment_id}`, signed)
    if (answer.status !== 503) return answer
  }
}

const processOf = (i: number) => (i % 2 === 0 ? test : elsewhere)

describe('paying against the end of the time to pay', () => {
  it('pays once or never: the payer’s clock decides against sweep and re-creation', async () => {
    const seller = await makeRichMerchant(1n)
    const [early, late] = await Promise.all([
      makePerson(test, { points: 10_000n }),
      makePerson(test, { points: 10_000n }),
    ])
    const request = (order_id: string) => ({ app_id: seller.id, order_id, description: 'Tea', amount: 100n })
    const orders = await Promise.all(
      Array.from({ length: 40 }, (_, i) => makeCreateOrder(test.deps)(request(`edge-${i}`))),
    )
    const end = orders[0]!.expires_at
    // Each payment is a transaction of its own, with early and late ones in both processes, so they meet in every
    // order.
    const at = (deps: Core, moment: number): Core => ({
      ...deps,
      batching: { itemsMax: 1, lanes: 6 },
      clock: () => new Date(moment),
    })
    const processes = [test.deps, elsewhere.deps]
    const payEarly = processes.map((deps) => makePayOrder(at(deps, end.getTime() - 1)))
    const payLate = processes.map((deps) => makePayOrder(at(deps, end.getTime())))
    const isReopened = (i: number) => i % 4 > 0

    const outcomes = await Promise.all(
      orders.map(async ({ transaction_id, order_id }, i) => {
        const payment = { transaction_id, expected_amount: 100n }
        const side = i >> 1
        const comeLate = async () => {
          if (isReopened(i))
            await makeCreateOrder(at(test.deps, end.getTime()))(request(order_id)).catch(
              ({ code }: AppError) => expect(code).toBe('order_exists'),
            )
          return payLate[side % 2]!({ ...payment, payer_id: late.id })
        }
        const coming = comeLate()
        // The early payer has the shop's page open, and pays while the shop opens the order again or right after.
        if (i % 2 === 1) await expireOrders({ db: processes[side % 2]!.db, databaseTime: async () => end })
        const first = await payEarly[(side + 1) % 2]!({ ...payment, payer_id: early.id })
        return [first, await coming] as const
      }),
    )
    let paidEarly = 0n
    for (const [i, [first, second]] of outcomes.entries()) {
      if (first === 'paid') paidEarly += 1n
      if (first === 'paid') expect(['paid_by_other', 'expired']).toContain(second)
      // Late payers have a chance only if the merchant opens its order again.
      else expect([first, second, isReopened(i)]).toEqual(['paid_by_other', 'paid', true])
    }
    expect(await balance(early)).toBe(10_000n - 100n * paidEarly)
    expect(await balance(late)).toBe(10_000n - 100n * (40n - paidEarly))
    expect(await balance(seller.owner)).toBe(1n + 40n * 95n)
  })
})

describe('transfers', () => {
  it('that cross, a thousand each way, all arrive', async () => {
    const [a, b] = await Promise.all([makeRichMerchant(20_000n), makeRichMerchant(20_000n)])
    const lanes = [makePostTransfer(test.deps), makePostTransfer(elsewhere.deps)]
    const send = (from: Merchant, to: Merchant, lane: number, i: number) =>
      lanes[lane]!({ app_id: from.id, order_id: `cross-${i}`, ...recipient(to.owner), amount: 10n })
    // Each kind goes through each process, so batches in both contain both.
    const done = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => [send(a, b, i % 2, i), send(b, a, (i + 1) % 2, i)]).flat(),
    )
    expect(new Set(done.map(({ transaction_id }) => transaction_id)).size).toBe(2_000)
    // Each transfer cost a point of fee.
    for (const side of [a, b]) expect(await balance(side.owner)).toBe(20_000n - 1_000n)
  })

  it('of one order_id, a hundred in two processes, are one transfer', async () => {
    const [from, to] = [await makeRichMerchant(1_000n), await makePerson(test, { points: 1n })]
    // Both processes have begun before either may lock the sender's wallet. The recipient's wallet exists.
    const begun = await test.db.transaction().execute(async (tx) => {
      await lockRows(tx, 'ledger_accounts', { user_id: from.owner.id })
      const sent = Array.from({ length: 100 }, (_, i) => transfer(processOf(i), from, to, 'the-one'))
      await untilBlocked(tx, 2)
      return { sent }
    })
    const answers = await Promise.all(begun.sent)
    expect(answers[0]!.status).toBe(200)
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect([await balance(from.owner), await balance(to)]).toEqual([1_000n - 11n, 11n])
  })

  it('of many applicants beyond their points take what there is', async () => {
    const applicants = await Promise.all(Array.from({ length: 8 }, () => makeRichMerchant(1_000n)))
    const to = await makePerson(test)
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        transfer(processOf(i >> 3), applicants[i % 8]!, to, `many-${i}`),
      ),
    )
    // 90 times 11 points out of 1 000 each.
    const done = answers.filter(({ status }) => status === 200)
    expect(done).toHaveLength(8 * 90)
    for (const { status, body } of answers)
      if (status !== 200)
        expect(body).toMatchObject({ errors: [{ code: 1010 }], data: { need: 11, have: 10 } })
    for (const { owner } of applicants) expect(await balance(owner)).toBe(10n)
    expect(await balance(to)).toBe(7_200n)
  })
})
