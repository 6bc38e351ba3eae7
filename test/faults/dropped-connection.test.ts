/**
 * The connection to Postgres lost at every message of a payment, an initiation, a transfer and a charge, in either direction:
 * before a statement, in it, and after its commit, before that was heard. Whatever came of it, asking again gives the
 * one answer, and points have moved once.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { findMandate } from '../../src/payment/mandates/mandates.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { anotherProcess, useTestApp } from '../harness/harness.ts'
import { giveRight, makeMandate, switchMandates } from '../harness/mandates.ts'
import { makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { startProxy } from './proxy.ts'
import { IS_FULL } from './rounds.ts'

const AMOUNT = 100n
/** More than any of these acts exchanges. */
const MESSAGES_MAX = 200

/** The application that has one connection, which is cut. */
let count = 0

const test = await useTestApp()
await switchMandates(test)
const proxy = await startProxy(test.deps.config.DATABASE_URL!)
const config = {
  ...test.deps.config,
  DATABASE_URL: proxy.through(test.deps.config.DATABASE_URL!),
  DATABASE_POOL_MAX: 1,
}
const cutOff = await anotherProcess({ ...test, deps: { ...test.deps, config } })
const merchant = await makeMerchant(test)
await giveRight(test, merchant)
const alice = await makePerson(test, { points: 1_000_000n })
const browser = await signIn(cutOff, alice.username, alice.password)
afterAll(async () => {
  await cutOff.close()
  await proxy.close()
})

type Answer = { status: number; text: string }

const signed = (fields: Record<string, string>) => ({
  ...fields,
  signature: merchantSign(merchant.token, fields),
})
const ask = async (path: string, fields: Record<string, string>): Promise<Answer> => {
  const { status, body } = await post(cutOff, path, signed(fields))
  return { status, text: JSON.stringify(body) }
}

/** Does an act while the connection is cut at each of its messages in turn, and then once more. Answers how many. */
async function sweep(begin: () => Promise<() => Promise<Answer>>, options = {}): Promise<number> {
  for (let nth = 1; nth < MESSAGES_MAX; nth += 1) {
    const act = await begin()
    proxy.cutAt(nth, options)
    const first = await act()
    const wasCut = proxy.hasCut()
    const again = await act()
    expect([200, 303]).toContain(again.status)
    // A caller may be told to ask again, and nothing else.
    if (first.status < 500) expect(first, `cut at ${nth}`).toEqual(again)
    if (!wasCut) return nth
  }
  throw new Error('The sweep did not come to an end')
}

const ways = IS_FULL ? [{}, { inTheMiddle: true }] : [{}]

describe.each(ways)('a connection lost %j', (options) => {
  it('at any message of a payment charges the buyer once', async () => {
    const [before, income] = await Promise.all([
      balanceOf(test.db, alice.id),
      balanceOf(test.db, merchant.owner.id),
    ])
    let form: Record<string, string> | undefined
    const orders = await sweep(async () => {
      const order = await merchant.process({
        amount: String(AMOUNT),
        description: 'Tea',
        order_id: `p${++count}`,
      })
      const path = new URL(String(order.body.payment_url)).pathname
      // The same for every order of this amount.
      form ??= (await browser.get(path)).form(path)
      return async () => {
        const { status, location } = await browser.post(path, form!)
        return { status, text: String(location) }
      }
    }, options)
    expect(orders).toBeGreaterThan(20)
    expect(await balanceOf(test.db, alice.id)).toBe(before - AMOUNT * BigInt(orders))
    expect(await balanceOf(test.db, merchant.owner.id)).toBe(
      income + ((AMOUNT * 95n) / 100n) * BigInt(orders),
    )
    await expectSoundBooks(test.db)
  })

  it('at any message of a transfer charges the applicant once', async () => {
    const [before, income] = await Promise.all([
      balanceOf(test.db, merchant.owner.id),
      balanceOf(test.db, alice.id),
    ])
    const transfers = await sweep(async () => {
      const fields = {
        to_user_id: String(alice.id),
        to_username: alice.username,
        amount: '10',
        order_id: `t${++count}`,
      }
      return () => ask(`/payment/transfer/${merchant.payment_id}`, fields)
    }, options)
    expect(transfers).toBeGreaterThan(15)
    expect(await balanceOf(test.db, alice.id)).toBe(income + 10n * BigInt(transfers))
    expect(await balanceOf(test.db, merchant.owner.id)).toBe(before - 11n * BigInt(transfers))
    await expectSoundBooks(test.db)
  })

  it('at any message of a charge charges the member once', async () => {
    const member = await makePerson(test, { points: 10_000n })
    const caps = { charge_max: 10n, period_max: 2_000n }
    const mandate_id = await makeMandate(test, merchant, member, { caps })
    const charges = await sweep(async () => {
      const fields = { mandate_id, order_id: `c${++count}`, amount: '10', description: 'Tea' }
      return () => ask(`/payment/mandate/${merchant.payment_id}/charge`, fields)
    }, options)
    expect(charges).toBeGreaterThan(15)
    expect(await balanceOf(test.db, member.id)).toBe(10_000n - 10n * BigInt(charges))
    const mandate = await findMandate(test.db, { mandate_id }, test.clock.now())
    expect(mandate!.spent).toBe(10n * BigInt(charges))
    await expectSoundBooks(test.db)
  })

  it('at any message of an initiation makes one order', async () => {
    const countOrders = async () =>
      (await test.db.selectFrom('orders').where('order_id', 'like', 'i%').select('id').execute()).length
    const before = await countOrders()
    const initiations = await sweep(async () => {
      const fields = { amount: '7', description: 'Tea', order_id: `i${++count}` }
      return () => ask(`/payment/pay/${merchant.payment_id}/process`, fields)
    }, options)
    expect(initiations).toBeGreaterThan(15)
    expect(await countOrders()).toBe(before + initiations)
  })
})
