/**
 * The payer's page: sign-in, one payment per order, a page for every state, and the signed return.
 * spec/points 2.1.
 */
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { expireOrders } from '../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person, signIn } from '../harness/cast.ts'
import { anotherProcess, browser, type Page, type TestApp, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { payOrder, placeOrder } from '../harness/orders.ts'
import { lockRows, rowOf } from '../harness/rows.ts'

const test = await useTestApp()
const merchant = await makeMerchant(test)
const alice = await makePerson(test, { points: 5_000n })
afterEach(() => expectSoundBooks(test.db))

const order = (amount = '120', seller = merchant) =>
  placeOrder(seller, { amount, description: 'Stickers <b>' })
const balance = (person: Person) => balanceOf(test.db, person.id)
const entriesOf = async (transaction_id: string) =>
  (
    await sql<{
      n: bigint
    }>`select count(*) as n from entries e join journal j on j.id = e.journal_id where j.reference = ${transaction_id}`.execute(
      test.db,
    )
  ).rows[0]!.n
const statusOf = async (transaction_id: string) => (await rowOf(test, 'orders', { transaction_id })).status

/** Expects that an attempt to pay was refused with a page and moved nothing. */
async function expectRefused(answer: Page, transaction_id: string, text: string, status = 409) {
  expect(answer.status).toBe(status)
  expect(answer.body).toContain(text)
  expect(answer.location).toBeUndefined()
  expect(await entriesOf(transaction_id)).toBe(0n)
}

describe('the way to paid', () => {
  it('leads a visitor through sign-in, page and payment back to the shop', async () => {
    const { path, order_id, transaction_id } = await order()
    const visitor = browser(test)
    const bounced = await visitor.get(path)
    expect(bounced).toMatchObject({ status: 303, location: `/sign-in?return_to=${encodeURIComponent(path)}` })
    const signInPage = await visitor.get(bounced.location!)
    const signedIn = await visitor.submit(signInPage, '/sign-in', {
      username: alice.username,
      password: alice.password,
    })
    expect(signedIn).toMatchObject({ status: 303, location: path })

    const page = await visitor.get(path)
    expect(page.status).toBe(200)
    for (const text of [
      'Stickers &lt;b&gt;',
      merchant.owner.username,
      order_id,
      '120',
      '5,000',
      '4,880',
      messages.en.pay.submit('120', 120n, false),
    ]) {
      expect(page.body).toContain(text)
    }
    expect(page.headers['cache-control']).toBe('no-store')
    expect(page.headers['content-security-policy']).toMatch(/frame-ancestors 'none'/)
    expect(page.headers['content-security-policy']).toMatch(
      /form-action 'self' https: http:\/\/127\.0\.0\.1:\*/,
    )
    expect(page.headers['x-frame-options']).toBe('DENY')

    const sellerBefore = await balance(merchant.owner)
    const paid = await visitor.submit(page, path)
    expect(paid.status).toBe(303)
    expect(await merchant.receive(paid.location!)).toEqual({
      isGenuine: true,
      fields: {
        transaction_id,
        external_reference: order_id,
        amount: '120',
        platform_fee: '6',
        merchant_points: '114',
        status: 'completed',
        paid_at: test.clock.now().toISOString().replace('.000Z', 'Z'),
        signature: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
    expect(await balance(alice)).toBe(4_880n)
    expect(await balance(merchant.owner)).toBe(sellerBefore + 114n)
    expect((await merchant.query({ transaction_id })).body).toMatchObject({
      status: 'completed',
      platform_fee: 6,
      merchant_points: 114,
      paid_at: test.clock.now().toISOString().replace('.000Z', 'Z'),
    })
    const again = await merchant.process({ amount: '120', description: 'x', order_id })
    expect(again).toMatchObject({
      status: 400,
      body: { error: 'Order already exists with status completed' },
    })

    const receipt = await visitor.get(path)
    expect(receipt.status).toBe(200)
    expect(receipt.body).toContain(messages.en.pay.returnToShop(`Shop of ${merchant.owner.username}`))
    expect(receipt.body).not.toContain('signature')
    const link = /href="([^"]*)"[^>]*>Back to Shop of/.exec(receipt.body)![1]!
    expect((await merchant.receive((await visitor.get(link)).location!)).isGenuine).toBe(true)
    const statement = await visitor.get('/account')
    expect(statement.body).toContain('−120')
  })

  it('lets the applicant pay an own order: only the fee is gone', async () => {
    const seller = await makeMerchant(test)
    const rich = await makePerson(test, { points: 200n })
    const give = await order('200', seller)
    const client = await rich.signIn()
    await client.submit(await client.get(give.path), give.path)
    expect(await balance(seller.owner)).toBe(190n)
    const own = await order('100', seller)
    const ownClient = await seller.owner.signIn()
    const paid = await ownClient.submit(await ownClient.get(own.path), own.path)
    expect(paid.status).toBe(303)
    expect(await balance(seller.owner)).toBe(185n)
  })

  it('takes no fee entry where the fee rounds down to nothing', async () => {
    const { path, transaction_id } = await order('19')
    const client = await alice.signIn()
    await client.submit(await client.get(path), path)
    expect((await merchant.query({ transaction_id })).body).toMatchObject({
      platform_fee: 0,
      merchant_points: 19,
    })
    expect(await entriesOf(transaction_id)).toBe(2n)
  })
})

describe('an order that cannot be paid', () => {
  it('says how many points are missing, and refuses the form', async () => {
    const dora = await makePerson(test, { username: 'dora', points: 120n })
    const [{ path, transaction_id }, other] = [await order(), await order('70')]
    const client = await dora.signIn()
    const before = await client.get(path)
    await payOrder(test, other, dora)
    const page = await client.get(path)
    const missing = messages.en.pay.missing('70', 70n)
    expect(page.body).toContain(missing)
    expect(page.body).not.toContain(messages.en.pay.submit('120', 120n, false))
    expect(page.body).toContain(new URL(merchant.callbackUrl).origin)
    // The page of a while ago still had the form.
    await expectRefused(await client.submit(before, path), transaction_id, missing)
    expect(await balance(dora)).toBe(50n)
    expect(await statusOf(transaction_id)).toBe('unpaid')
  })

  it('has expired by the clock, before any sweep and after it', async () => {
    const { path, transaction_id } = await order()
    const client = await alice.signIn()
    const page = await client.get(path)
    const before = await balance(alice)
    test.clock.advance(30 * 60_000)
    expect(await statusOf(transaction_id)).toBe('unpaid')
    await expectRefused(await client.submit(page, path), transaction_id, messages.en.pay.states.expiredText)
    expect(await expireOrders(test.deps)).toBeGreaterThan(0)
    expect(await statusOf(transaction_id)).toBe('expired')
    await expectRefused(await client.submit(page, path), transaction_id, messages.en.pay.states.expiredText)
    expect((await client.get(path)).body).toContain('>Back to Shop of')
    expect(await balance(alice)).toBe(before)
  })

  it('was asked to be paid in time and marked expired meanwhile: it changed last when it was marked', async () => {
    const { transaction_id } = await order()
    const { amount, expires_at } = await rowOf(test, 'orders', { transaction_id })
    test.clock.advance(30 * 60_000)
    expect(await expireOrders(test.deps)).toBeGreaterThan(0)
    const marked = await rowOf(test, 'orders', { transaction_id })
    const inTime = new Date(expires_at.getTime() - 1)
    const pay = makePayOrder({ ...test.deps, clock: () => inTime })
    expect(await pay({ transaction_id, payer_id: alice.id, expected_amount: amount })).toBe('paid')
    const paid = await rowOf(test, 'orders', { transaction_id })
    expect([paid.paid_at, paid.updated_at]).toEqual([inTime, marked.updated_at])
  })

  it('was paid by another member: the page gives no signed link', async () => {
    const { path, transaction_id } = await order()
    const client = await alice.signIn()
    const mallory = await makePerson(test, { username: 'mallory', points: 500n })
    const stranger = await mallory.signIn()
    const page = await stranger.get(path)
    await client.submit(await client.get(path), path)
    const late = await stranger.submit(page, path)
    expect(late.status).toBe(409)
    expect(late.body).toContain(messages.en.pay.states.paidByOtherText)
    expect(late.body).not.toContain('signature')
    expect(late.body).not.toContain(alice.username)
    expect(await balance(mallory)).toBe(500n)
    expect(await entriesOf(transaction_id)).toBe(3n)
  })

  it.each([
    [
      'closed',
      "update orders set status = 'closed' where transaction_id = $1",
      messages.en.pay.states.closedText,
    ],
    [
      'of a suspended application',
      "update payment_apps set status = 'suspended' where id = (select app_id from orders where transaction_id = $1)",
      messages.en.pay.states.unusable,
    ],
  ])('is %s', async (_name, statement, text) => {
    const seller = await makeMerchant(test)
    const { path, transaction_id } = await order('120', seller)
    const client = await alice.signIn()
    const page = await client.get(path)
    await sql.raw(statement.replace('$1', `'${transaction_id}'`)).execute(test.db)
    await expectRefused(await client.submit(page, path), transaction_id, text)
  })

  it('shows another amount than the one confirmed', async () => {
    const { path, transaction_id } = await order()
    const client = await alice.signIn()
    const page = await client.get(path)
    for (const expected_amount of ['1', '121', '-120', '', 'x', '12345678901234567890']) {
      await expectRefused(
        await client.submit(page, path, { expected_amount }),
        transaction_id,
        messages.en.pay.changed,
      )
    }
  })
})

describe('races', () => {
  let elsewhere: TestApp
  beforeAll(async () => {
    elsewhere = await anotherProcess(test)
    // The first points open the wallet, so neither process waits for the other to open it.
    await givePoints(test, merchant.owner, 1n)
  })
  afterAll(() => elsewhere.close())

  /** Lets both processes reach the wallets of these members at once: a lock holds both until both are there. */
  async function meetingAtWallets(people: Person[], begin: () => Promise<Page>[]): Promise<Page[]> {
    const begun = await test.db.transaction().execute(async (tx) => {
      for (const { id: user_id } of people) await lockRows(tx, 'ledger_accounts', { user_id })
      const answers = begin()
      await untilBlocked(tx, 2)
      return { answers }
    })
    return Promise.all(begun.answers)
  }

  it('one order paid twenty times by two buyers is paid once', async () => {
    const { path, transaction_id } = await order()
    const buyers = await Promise.all([
      makePerson(test, { points: 10_000n }),
      makePerson(test, { points: 10_000n }),
    ])
    const clients = await Promise.all(
      buyers.map(({ username, password }, i) => signIn([test, elsewhere][i]!, username, password)),
    )
    const pages = await Promise.all(clients.map((client) => client.get(path)))
    const answers = await meetingAtWallets(buyers, () =>
      Array.from({ length: 20 }, (_, i) => clients[i % 2]!.submit(pages[i % 2]!, path)),
    )
    const balances = await Promise.all(buyers.map(balance))
    expect([...balances].sort()).toEqual([10_000n, 9_880n])
    const winner = balances.indexOf(9_880n)
    for (const [i, answer] of answers.entries()) expect(answer.status).toBe(i % 2 === winner ? 303 : 409)
    expect(await entriesOf(transaction_id)).toBe(3n)
  })

  it('one wallet paying many orders at once never goes below zero', async () => {
    const buyer = await makePerson(test, { points: 300n })
    const clients = await Promise.all(
      [test, elsewhere].map((at) => signIn(at, buyer.username, buyer.password)),
    )
    const orders = await Promise.all(Array.from({ length: 10 }, () => order('200')))
    const pages = await Promise.all(orders.map(({ path }, i) => clients[i % 2]!.get(path)))
    const answers = await meetingAtWallets([buyer], () =>
      orders.map(({ path }, i) => clients[i % 2]!.submit(pages[i]!, path)),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([303, ...new Array<number>(9).fill(409)])
    expect(await balance(buyer)).toBe(100n)
  })
})
