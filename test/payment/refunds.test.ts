/**
 * Refunds, reversals, grants and adjustments: two steps, a reason, never below zero, and each confirmation once.
 * spec/points 2.3 and 2.4.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant, recipient, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const PATH = '/admin/adjustments'
let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)
const person = await makePerson(test, { username: 'admin', is_admin: true })
const adminId = person.id
const admin = await person.signIn()
afterEach(() => expectSoundBooks(test.db))

const balance = (person: Person) => balanceOf(test.db, person.id)

/** An order paid by a new payer, who has no points left. */
async function paidOrder(amount: bigint, seller = merchant) {
  const buyer = await makePerson(test, { username: 'buyer', points: amount })
  const { path, transaction_id } = await placeOrder(seller, { amount: String(amount) })
  const client = await buyer.signIn()
  await client.submit(await client.get(path), path)
  return { buyer, client, path, transaction_id }
}
const orderOf = (transaction_id: string) => rowOf(test, 'orders', { transaction_id })

/** Sends the first form of an act. The page that answers asks for a confirmation. */
async function ask(fields: Record<string, string>, id = '') {
  const { form_token } = (await admin.get(`${PATH}?id=${id}`)).form('/language')
  return admin.post(PATH, { form_token: form_token!, ...fields })
}

/** Fills in the first form of an act, opens the confirmation, and sends it `times` times. */
async function correct(fields: Record<string, string>, { id = '', times = 1 } = {}) {
  const confirmation = await ask(fields, id)
  if (confirmation.status !== 200) return { confirmation, answers: [confirmation] }
  const answers = await Promise.all(Array.from({ length: times }, () => admin.submit(confirmation, PATH)))
  return { confirmation, answers }
}
const refund = (transaction_id: string, amount: string, over: Record<string, string> = {}, times = 1) =>
  correct(
    { kind: 'refund', transaction_id, amount, with_fee: 'on', reason: 'Broken cup', ...over },
    { id: transaction_id, times },
  )

describe('a refund', () => {
  it('in full returns everything from merchant and fee, and shows everywhere', async () => {
    const { buyer, client, path, transaction_id } = await paidOrder(120n)
    const before = await balance(merchant.owner)
    const { confirmation, answers } = await refund(transaction_id, '120')
    expect(confirmation.body).toContain(messages.en.adjustments.sheets.refund.title('120', buyer.username))
    expect(answers[0]).toMatchObject({ status: 303, location: `/admin/orders/${transaction_id}` })
    expect(await balance(buyer)).toBe(120n)
    expect(await balance(merchant.owner)).toBe(before - 114n)
    expect(await orderOf(transaction_id)).toMatchObject({ status: 'refunded', refunded_amount: 120n })
    expect((await merchant.query({ transaction_id })).body).toMatchObject({
      status: 'refunded',
      refunded_amount: 120,
    })
    expect((await client.get(path)).body).toContain('Refunded')
    expect((await client.get('/account')).body).toContain('Broken cup')
    const [audit] = await rowsOf(test, 'audit_log', { subject: transaction_id })
    expect(audit).toMatchObject({
      action: 'order.refund',
      detail: { amount: '120', with_fee: true, reason: 'Broken cup' },
    })
  })

  it('without the fee is borne by the merchant alone', async () => {
    const { buyer, transaction_id } = await paidOrder(100n)
    await paidOrder(100n)
    const before = await balance(merchant.owner)
    const confirmation = await ask({ kind: 'refund', transaction_id, amount: '100', reason: 'x' })
    await admin.submit(confirmation, PATH)
    expect(await balance(buyer)).toBe(100n)
    expect(await balance(merchant.owner)).toBe(before - 100n)
  })

  it('confirmed twenty times at once happens once', async () => {
    const { buyer, transaction_id } = await paidOrder(100n)
    const { answers } = await refund(transaction_id, '10', {}, 20)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    expect(await balance(buyer)).toBe(10n)
  })

  it('carries no earlier time than the payment, even by a process whose clock is behind', async () => {
    const { transaction_id } = await paidOrder(10n)
    const behind = { ...test.deps, clock: () => new Date(test.clock.now().getTime() - 60_000) }
    await refundOrder(behind, {
      ...{ transaction_id, amount: 10n, with_fee: true, key: 'behind', reason: 'x' },
      ...{ actor_id: adminId, ip: '127.0.0.1' },
    })
    const { id, paid_at, updated_at } = await orderOf(transaction_id)
    expect(updated_at).toEqual(paid_at)
    const refunded = await rowsOf(test, 'refunds', { order_id: id })
    expect(refunded.map(({ refunded_at }) => refunded_at)).toEqual([paid_at])
  })

  it('is refused beyond what is left, unpaid, or below zero', async () => {
    const { buyer, transaction_id } = await paidOrder(100n)
    expect((await refund(transaction_id, '101')).answers[0]!.status).toBe(409)
    await refund(transaction_id, '60')
    expect((await refund(transaction_id, '41')).answers[0]!.status).toBe(409)
    expect(await balance(buyer)).toBe(60n)

    const unpaid = await merchant.process({ amount: '5', description: 'x', order_id: `refund-${++count}` })
    expect((await refund(String(unpaid.body.transaction_id), '5')).answers[0]!.status).toBe(404)

    const poor = await makeMerchant(test)
    const sold = await paidOrder(100n, poor)
    const bob = await makePerson(test)
    const transfer = makePostTransfer(test.deps)
    await transfer({ app_id: poor.id, order_id: 'away', ...recipient(bob), amount: 90n })
    const journals = await rowsOf(test, 'journal')
    expect((await refund(sold.transaction_id, '100')).answers[0]!.status).toBe(409)
    expect(await balance(sold.buyer)).toBe(0n)
    expect(await test.db.selectFrom('journal').select('id').execute()).toHaveLength(journals.length)
  })

  it('against a transfer of the same points lets one through', async () => {
    for (let round = 0; round < 10; round += 1) {
      const seller = await makeMerchant(test)
      const { buyer, transaction_id } = await paidOrder(100n, seller)
      const bob = await makePerson(test)
      const transfer = makePostTransfer(test.deps)
      const by = { reason: 'race', actor_id: adminId, ip: '127.0.0.1' }
      await Promise.allSettled([
        transfer({ app_id: seller.id, order_id: 'race', ...recipient(bob), amount: 90n }),
        refundOrder(test.deps, { transaction_id, amount: 100n, with_fee: true, key: `race-${round}`, ...by }),
      ])
      const moved = [await balance(buyer), await balance(bob)]
      expect(moved.filter((points) => points > 0n)).toHaveLength(1)
    }
  })
})

describe('a reversal', () => {
  it('returns amount and fee once, also confirmed by two at once', async () => {
    const { transaction_id: funding } = await paidOrder(1_000n)
    expect((await orderOf(funding)).status).toBe('paid')
    const before = await balance(merchant.owner)
    const bob = await makePerson(test)
    const { body } = await merchant.transfer({
      ...recipientFields(bob),
      amount: '100',
      order_id: `back-${++count}`,
    })
    const transaction_id = String(body.transaction_id)
    const { answers } = await correct(
      { kind: 'reversal', transaction_id, with_fee: 'on', reason: 'Wrong member' },
      { id: transaction_id, times: 5 },
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    expect(await balance(bob)).toBe(0n)
    expect(await balance(merchant.owner)).toBe(before)
    const repeated = await merchant.transfer({
      ...recipientFields(bob),
      amount: '100',
      order_id: `back-${count}`,
    })
    expect(repeated.body).toMatchObject({ errors: [{ code: 1006 }], data: { status: 'reversed' } })
  })

  it('is refused when the points have been spent', async () => {
    const seller = await makeMerchant(test)
    await paidOrder(1_000n, seller)
    const bob = await makePerson(test)
    const { body } = await seller.transfer({ ...recipientFields(bob), amount: '100', order_id: 'spent' })
    const spent = await merchant.process({ amount: '1', description: 'x', order_id: `spend-${++count}` })
    const path = new URL(String(spent.body.payment_url)).pathname
    const client = await bob.signIn()
    await client.submit(await client.get(path), path)
    const by = { reason: 'x', actor_id: adminId, ip: '127.0.0.1' }
    await expect(
      reverseTransfer(test.deps, { transaction_id: String(body.transaction_id), with_fee: true, ...by }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(await balance(bob)).toBe(99n)
  })
})

describe('points by hand', () => {
  it('are granted and taken by line, after a dry run', async () => {
    const [anna, ben] = await Promise.all([
      makePerson(test, { username: 'anna', points: 50n }),
      makePerson(test, { username: 'ben' }),
    ])
    const lines = `${anna.username}, -20\n@${ben.username.toUpperCase()};300\n\n`
    const dryRun = await ask({ kind: 'points', lines, reason: 'Contest' })
    expect(dryRun.status).toBe(200)
    expect([await balance(anna), await balance(ben)]).toEqual([50n, 0n])
    await Promise.all(Array.from({ length: 5 }, () => admin.submit(dryRun, PATH)))
    expect([await balance(anna), await balance(ben)]).toEqual([30n, 300n])
    expect((await (await ben.signIn()).get('/account')).body).toContain('Contest')
    const { key } = dryRun.form(PATH)
    const posted = test.db.selectFrom('audit_log').where('action', '=', 'points.post')
    expect(await posted.where('subject', '=', key!).select('id').execute()).toHaveLength(1)
    const changed = { lines: `${anna.username},-20` }
    expect((await admin.submit(dryRun, PATH, changed)).status).toBe(409)
    expect((await admin.submit(dryRun, PATH, { lines: ' \n ' })).status).toBe(400)
    expect([await balance(anna), await balance(ben)]).toEqual([30n, 300n])
  })

  it('are given to one member or taken, and a field at fault says why', async () => {
    const anna = await makePerson(test, { points: 50n })
    const one = (fields: Record<string, string>) =>
      ask({
        kind: 'member',
        username: `@${anna.username}`,
        direction: 'give',
        amount: '7',
        reason: 'Quiz',
        ...fields,
      })
    const { adjustments: t } = messages.en
    const asked = await one({})
    expect(textOf(asked.body)).toContain(t.sheets.points.give('7', anna.username))
    await admin.submit(asked, PATH)
    expect(await balance(anna)).toBe(57n)
    const taken = await one({ direction: 'take', amount: '57' })
    expect(textOf(taken.body)).toContain(t.sheets.points.take('57', anna.username))
    await admin.submit(taken, PATH)
    expect(await balance(anna)).toBe(0n)
    const wrong = async (fields: Record<string, string>) => {
      const { status, body } = await one(fields)
      return [status, textOf(body)] as const
    }
    const { username } = await makePerson(test, { username: 'quillfeather' })
    const [, offered] = await wrong({ username: 'quillf' })
    expect(offered).toContain(`@${username}`)
    for (const [fields, text] of [
      [{ direction: 'take', amount: '1' }, t.faults.insufficient],
      [{ username: 'nobody-at-all' }, t.faults.unknownMember],
      [{ username: ' ' }, t.problems.username],
      [{ username: 'a,5\nb' }, t.problems.username],
      [{ amount: '-5' }, t.problems.amount],
      [{ reason: ' ' }, t.problems.reason],
    ] as const) {
      const [status, body] = await wrong(fields)
      expect([status, body.includes(text)]).toEqual([400, true])
    }
    expect(await balance(anna)).toBe(0n)
  })

  it('with a line that is not right cannot be confirmed', async () => {
    const anna = await makePerson(test, { username: 'anna' })
    for (const wrong of [
      'nobody-at-all, 5',
      `${anna.username}, much`,
      `${anna.username}, 0`,
      `${anna.username}, 1.5`,
      'x',
    ]) {
      const fields = { kind: 'points', lines: `${anna.username}, 10\n${wrong}`, reason: 'x' }
      const dryRun = await ask(fields)
      expect(dryRun.status).toBe(400)
      expect(dryRun.body).toContain('Nothing moved: 1 line needs correcting.')
      expect(dryRun.body).toContain(`Line 2: ${wrong}`)
      expect(dryRun.body).toContain(fields.lines)
      expect((await ask({ ...fields, key: 'k'.repeat(43) })).status).toBe(400)
    }
    expect(await balance(anna)).toBe(0n)
  })
})

describe('adjustments', () => {
  it('are also found by the former address', async () => {
    const former = await admin.get('/admin/corrections?id=txn_1')
    expect([former.status, former.location]).toEqual([301, `${PATH}?id=txn_1`])
  })

  it('need a reason, an amount and an order', async () => {
    const { buyer, transaction_id } = await paidOrder(100n)
    expect((await refund(transaction_id, '100', { reason: ' ' })).answers[0]!.status).toBe(400)
    expect((await refund(transaction_id, '0')).answers[0]!.status).toBe(400)
    expect((await refund('txn_000000000000000000000000', '5')).answers[0]!.status).toBe(404)
    expect(await balance(buyer)).toBe(0n)
    expect((await orderOf(transaction_id)).status).toBe('paid')
  })
})
