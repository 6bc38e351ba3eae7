/**
 * Fees and amounts at their bounds and in between, against integer arithmetic that shares nothing with the program.
 */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import type { SettingName } from '../../src/core/setting-values.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { makeMerchant, recipientFields } from '../harness/merchant.ts'
import { refund } from '../harness/orders.ts'

const MOST = 9_007_199_254_740_991n
const MILLION = 1_000_000n

/** This member holds all points of the issuance. */

const test = await useTestApp()
const merchant = await makeMerchant(test)
const rich = await makePerson(test, { points: MOST })
afterAll(() => expectSoundBooks(test.db))

/** A rate in millionths, as the text of a setting. */
const rateText = (millionths: bigint) =>
  `${millionths / MILLION}.${(millionths % MILLION).toString().padStart(6, '0')}`
const floorOf = (amount: bigint, millionths: bigint) => (amount * millionths) / MILLION
const ceilOf = (amount: bigint, millionths: bigint) => (amount * millionths + MILLION - 1n) / MILLION

const change = (name: SettingName, value: string) => setSetting(test, name, value)

describe('fees', () => {
  /** Every pair of the bounds, and pairs of any size from a fixed sequence. */
  function cases(): [amount: bigint, millionths: bigint][] {
    const amounts = [
      1n,
      2n,
      9n,
      10n,
      19n,
      20n,
      21n,
      99n,
      100n,
      101n,
      333_333n,
      999_999n,
      2n ** 31n,
      2n ** 32n + 1n,
    ]
    const largest = [MOST / 2n, MOST - 1n, MOST]
    const rates = [0n, 1n, 2n, 5_000n, 50_000n, 333_333n, 500_000n, 666_667n, 999_999n, 1_000_000n]
    const pairs = [...amounts, ...largest].flatMap((amount) =>
      rates.map((rate) => [amount, rate] as [bigint, bigint]),
    )
    let state = 20_260_101n
    const next = (below: bigint) => {
      state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n
      return (state >> 11n) % below
    }
    for (let i = 0; i < 2_000; i += 1) {
      const digits = 10n ** (1n + next(16n))
      const amount = 1n + next(digits < MOST ? digits : MOST)
      pairs.push([amount, next(MILLION + 1n)])
    }
    return pairs
  }

  it('of payments are rounded down, of transfers up, exactly', async () => {
    const pairs = cases()
    const { rows } = await sql<{ payment: bigint; transfer: bigint }>`
      select payment_fee(amount, rate) as payment, transfer_fee(amount, rate) as transfer
      from unnest(${pairs.map(([amount]) => amount)}::bigint[], ${pairs.map(([, rate]) => rateText(rate))}::numeric[])
        with ordinality as pair (amount, rate, place) order by place`.execute(test.db)
    const expected = pairs.map(([amount, rate]) => ({
      payment: floorOf(amount, rate),
      transfer: ceilOf(amount, rate),
    }))
    expect(rows).toEqual(expected)
  })
})

describe('the largest amount', () => {
  const initiate = (amount: bigint, order_id: string) =>
    merchant.process({ amount: String(amount), description: 'All', order_id })

  it('is paid, notified and refunded exactly, and one more is refused', async () => {
    expect(await initiate(MOST + 1n, 'beyond')).toMatchObject({
      status: 400,
      body: { errors: [{ code: 1005 }] },
    })
    const rate = 333_333n
    await change('points_payment_fee_rate', rateText(rate))
    const { body } = await initiate(MOST, 'all')
    const transaction_id = String(body.transaction_id)
    const pay = makePayOrder(test.deps)
    expect(await pay({ transaction_id, payer_id: rich.id, expected_amount: MOST })).toBe('paid')
    const fee = floorOf(MOST, rate)
    expect((await merchant.query({ transaction_id })).body).toMatchObject({
      amount: Number(MOST),
      platform_fee: Number(fee),
      merchant_points: Number(MOST - fee),
    })
    expect(await balanceOf(test.db, merchant.owner.id)).toBe(MOST - fee)
    expect(await balanceOf(test.db, rich.id)).toBe(0n)

    // In three parts: the refunded fee is always its share of the refunded points, rounded down.
    const parts = [1n, MOST / 3n, MOST - 1n - MOST / 3n]
    let refunded = 0n
    for (const amount of parts) {
      refunded += amount
      await refund(test, { transaction_id }, amount)
      expect(await balanceOf(test.db, rich.id)).toBe(refunded)
      const left = MOST - fee - (refunded - (fee * refunded) / MOST)
      expect(await balanceOf(test.db, merchant.owner.id)).toBe(left)
    }
    expect(await balanceOf(test.db, rich.id)).toBe(MOST)
  })

  it('of a transfer is bounded together with its fee', async () => {
    await change('points_transfer_max_amount_tl2', String(MOST))
    await change('points_transfer_fee_rate_tl2', rateText(1n))
    const transfer = (amount: bigint) =>
      merchant.transfer({ ...recipientFields(rich), amount: String(amount), order_id: `bound-${amount}` })
    // The largest amount that leaves room for its fee of a millionth, found by counting down from an upper bound.
    let fits = (MOST * MILLION) / (MILLION + 1n) + 1n
    while (fits + ceilOf(fits, 1n) > MOST) fits -= 1n
    expect(await transfer(fits + 1n)).toMatchObject({
      status: 400,
      body: { errors: [{ code: 1005, detail: expect.stringContaining('with its fee') }] },
    })
    const need = Number(fits + ceilOf(fits, 1n))
    expect(await transfer(fits)).toMatchObject({
      status: 400,
      body: { errors: [{ code: 1010 }], data: { need } },
    })
  })

  it('of all points is the most: no member gets another', async () => {
    const grant = {
      user_id: rich.id,
      amount: 1n,
      reference: 'more',
      reason: 'x',
      actor_id: null,
      now: test.clock.now(),
    }
    await expect(grantPoints(test.db, grant)).rejects.toMatchObject({ code: 'conflict' })
    expect(await balanceOf(test.db, rich.id)).toBe(MOST)
  })
})
