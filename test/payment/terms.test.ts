/**
 * The terms of an application: its own fee rate and daily limits. An administrator sets them, and the database
 * enforces them.
 */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { rowArray } from '../../src/database/rows.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { ASKED_PAYMENT, makePayOrder } from '../../src/payment/orders/pay.ts'
import { ASKED_TRANSFER, makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson } from '../harness/cast.ts'
import { anotherProcess, setSetting, useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant, recipient, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { placeOrder } from '../harness/orders.ts'
import { rowsOf, setRows } from '../harness/rows.ts'

const DAY_MS = 86_400_000

let count = 0

const test = await useTestApp()
// Another file tests how recent a sign-in must be.
await test.db.insertInto('site_settings').values({ name: 'reauthenticate_minutes', value: '1440' }).execute()
const elsewhere = await anotherProcess(test)
const administrator = await makePerson(test, { username: 'admin', is_admin: true })
let admin = await administrator.signIn()
const buyer = await makePerson(test, { points: 1_000_000n })
afterAll(() => elsewhere.close())
afterEach(() => expectSoundBooks(test.db))

const pathOf = (seller: Merchant) => `/admin/payment-applications/${seller.payment_id}`

/** Sends the administrator's form. Unnamed fields are empty. */
async function setTerms(seller: Merchant, terms: Record<string, string>) {
  const path = pathOf(seller)
  const empty = { fee_rate: '', daily_payments_max: '', daily_transfers_max: '', reason: '' }
  return admin.submit(await admin.get(path), `${path}/terms`, { ...empty, ...terms })
}

async function withMerchant(run: (seller: Merchant) => Promise<void>): Promise<void> {
  const seller = await makeMerchant(test)
  await givePoints(test, seller.owner, 100_000n)
  await run(seller)
}

const newOrder = (seller: Merchant, amount: string) => placeOrder(seller, { amount })

/** Pays a new order of this amount without the page. */
async function pay(seller: Merchant, amount: string, payOrder = makePayOrder(test.deps)) {
  const { transaction_id } = await newOrder(seller, amount)
  return payOrder({ transaction_id, payer_id: buyer.id, expected_amount: BigInt(amount) })
}

/** The result of `act` when the row that counts the day disappears just as `act` adds to it. */
async function whileLimitIsSet<T>(seller: Merchant, act: () => Promise<T>): Promise<T> {
  const acting = await test.db.transaction().execute(async (tx) => {
    await tx.deleteFrom('payment_app_days').where('app_id', '=', seller.id).execute()
    const answer = act()
    await untilBlocked(tx)
    return { answer }
  })
  return acting.answer
}

const transferOf = (amount: string) => ({ ...recipientFields(buyer), amount, order_id: `terms-${++count}` })

describe('the page of an application', () => {
  it('sets and keeps its terms, and shows them to its owner', () =>
    withMerchant(async (seller) => {
      const owner = await seller.owner.signIn()
      const ownPath = `/payment/applications/${seller.payment_id}/settings`
      const before = await owner.get(ownPath)
      expect(before.body).toContain('<dd>5%</dd>')
      expect(before.body).toContain(messages.en.terms.exampleText('9.90', '990', '49', '941'))

      const terms = { fee_rate: '12.5', daily_payments_max: '5000', daily_transfers_max: '300' }
      const answer = await setTerms(seller, { ...terms, reason: 'A trial' })
      expect(answer).toMatchObject({ status: 303, location: pathOf(seller) })
      await pay(seller, '800')
      const page = await admin.get(pathOf(seller))
      expect(page.body).toContain('name="fee_rate" value="12.5"')
      expect(page.body).toContain(messages.en.terms.used('800', '5,000'))
      expect(page.body).toContain(`@${administrator.username}`)
      expect(page.body).toContain('A trial')
      expect(page.body).toContain('<bdi title="– → 0.125">')
      expect(page.body).not.toContain('undefined')

      const shown = await owner.get(ownPath)
      expect(shown.body).toContain(messages.en.terms.feeText('12.5', true))
      expect(shown.body).toContain(messages.en.terms.exampleText('9.90', '990', '123', '867'))
      expect(await balanceOf(test.db, seller.owner.id)).toBe(100_700n)

      await setTerms(seller, {})
      const entries = await rowsOf(test, 'audit_log', {
        action: 'payment_app.terms',
        subject: seller.payment_id,
      })
      const none = { fee_rate: null, daily_payments_max: null, daily_transfers_max: null }
      expect(entries.map(({ detail }) => detail)).toEqual([
        { before: none, after: { ...terms, fee_rate: '0.125' }, reason: 'A trial' },
        { before: { ...terms, fee_rate: '0.125' }, after: none, reason: '' },
      ])
    }))

  it('refuses what cannot be read beside its field, and changes nothing', () =>
    withMerchant(async (seller) => {
      const stored = () =>
        test.db.selectFrom('payment_apps').selectAll().where('id', '=', seller.id).executeTakeFirst()
      const before = await stored()
      for (const [name, value] of [
        ['fee_rate', '101'],
        ['fee_rate', 'five'],
        ['fee_rate', '0.12345'],
        ['daily_payments_max', '-1'],
        ['daily_payments_max', '1.5'],
        ['daily_transfers_max', '9007199254740992'],
        ['reason', 'x'.repeat(501)],
      ] as const) {
        const answer = await setTerms(seller, { [name]: value })
        expect(answer.status).toBe(400)
        expect(answer.body.match(/aria-invalid="true"/g)).toHaveLength(1)
        expect(answer.body).toMatch(new RegExp(`id="${name}"[^>]*aria-invalid="true"`))
      }
      expect(await stored()).toEqual(before)
    }))

  it('shows an exchange rate at which the example is worth nothing', () =>
    withMerchant(async (seller) => {
      await setRows(test, 'payment_apps', { id: seller.id }, { exchange_rate: '0.01' })
      expect((await admin.get(pathOf(seller))).body).toContain('would be less than one point')
    }))
})

describe('a daily limit of payments', () => {
  it('refuses with a page what does not fit, until China’s midnight', () =>
    withMerchant(async (seller) => {
      await setTerms(seller, { daily_payments_max: '1000' })
      expect(await pay(seller, '900')).toBe('paid')
      const client = await buyer.signIn()
      const { path, transaction_id } = await newOrder(seller, '101')
      const had = await balanceOf(test.db, buyer.id)
      const refused = await client.submit(await client.get(path), path)
      expect(refused.status).toBe(409)
      expect(refused.body).toContain(messages.en.pay.states.dailyLimitText)
      expect(await balanceOf(test.db, buyer.id)).toBe(had)
      expect((await seller.query({ transaction_id })).body.status).toBe('pending')
      expect(await pay(seller, '100')).toBe('paid')
      expect(await pay(seller, '1')).toBe('daily_limit')

      // The tests begin at 08:00 in China. 15:59:59Z is the last second of that day there.
      const midnight =
        Math.ceil((test.clock.now().getTime() + 8 * 3_600_000) / DAY_MS) * DAY_MS - 8 * 3_600_000
      test.clock.advance(midnight - 1 - test.clock.now().getTime())
      expect(await pay(seller, '1')).toBe('daily_limit')
      test.clock.advance(1)
      expect(await pay(seller, '1000')).toBe('paid')
      expect(await pay(seller, '1')).toBe('daily_limit')
    }))

  it('counts payments of the day from before it was set', () =>
    withMerchant(async (seller) => {
      await pay(seller, '600')
      await setTerms(seller, { daily_payments_max: '1000' })
      expect(await pay(seller, '401')).toBe('daily_limit')
      expect(await pay(seller, '100')).toBe('paid')
      await setTerms(seller, {})
      expect(await pay(seller, '200')).toBe('paid')
      await setTerms(seller, { daily_payments_max: '1000' })
      expect(await pay(seller, '101')).toBe('daily_limit')
      expect(await pay(seller, '100')).toBe('paid')
      await setTerms(seller, { daily_payments_max: '0' })
      expect(await pay(seller, '1')).toBe('daily_limit')
    }))

  it('is used up exactly by two processes, also when set meanwhile', () =>
    withMerchant(async (seller) => {
      const limit = { daily_payments_max: '2000' }
      await setTerms(seller, limit)
      const lanes = [makePayOrder(test.deps), makePayOrder(elsewhere.deps)]
      const orders = await Promise.all(Array.from({ length: 80 }, () => newOrder(seller, '30')))
      const paying = orders.map(({ transaction_id }, i) =>
        lanes[i % 2]!({ transaction_id, payer_id: buyer.id, expected_amount: 30n }),
      )
      await Promise.all(Array.from({ length: 4 }, () => setTerms(seller, limit)))
      const outcomes = await Promise.all(paying)
      expect(outcomes.filter((outcome) => outcome === 'paid')).toHaveLength(66)
      expect(outcomes.filter((outcome) => outcome === 'daily_limit')).toHaveLength(14)
    }))

  it('counts the batch’s own payments when set again between two', () =>
    withMerchant(async (seller) => {
      await setTerms(seller, { daily_payments_max: '100' })
      expect(await pay(seller, '10')).toBe('paid')
      const two = [await newOrder(seller, '60'), await newOrder(seller, '60')]
      const outcomes = await whileLimitIsSet(seller, async () => {
        const { rows } = await sql<{ outcome: string }>`
          select outcome from pay_orders(
            ${rowArray(
              ASKED_PAYMENT,
              two.map(({ transaction_id }) => ({
                transaction_id,
                payer_id: buyer.id,
                expected_amount: 60,
                now: test.clock.now(),
              })),
            )}, 0.05
          ) order by item`.execute(elsewhere.db)
        return rows.map(({ outcome }) => outcome)
      })
      expect(outcomes).toEqual(['paid', 'daily_limit'])
    }))
})

describe('a daily limit of transfers', () => {
  it('counts the batch’s own transfers when set again between two', () =>
    withMerchant(async (seller) => {
      await setTerms(seller, { daily_transfers_max: '100' })
      expect((await seller.transfer(transferOf('10'))).status).toBe(200)
      const first = ++count
      count += 1
      const asked = [first, first + 1].map((n) => ({
        ...{ app_id: seller.id, order_id: `terms-${n}`, transaction_id: `txn_terms_${n}`, amount: 60 },
        ...{ to_user_id: buyer.id, to_username: buyer.username, now: test.clock.now() },
      }))
      const outcomes = await whileLimitIsSet(seller, async () => {
        const { rows } = await sql<{ outcome: string }>`
          select (result).outcome from post_transfers(
            ${rowArray(ASKED_TRANSFER, asked)}, ${Array(5).fill(0)}::numeric[], ${Array(5).fill(1)}::bigint[], ${Array(5).fill(1_000)}::bigint[],
            ${Array(5).fill(null)}::bigint[]
          ) order by item`.execute(elsewhere.db)
        return rows.map(({ outcome }) => outcome)
      })
      expect(outcomes).toEqual(['completed', 'daily_limit'])
    }))

  it('refuses with 1013, ignores fees, and frees nothing by repeats', () =>
    withMerchant(async (seller) => {
      await setTerms(seller, { daily_transfers_max: '500' })
      const request = transferOf('400')
      expect((await seller.transfer(request)).status).toBe(200)
      expect((await seller.transfer(request)).status).toBe(200)
      const had = await balanceOf(test.db, seller.owner.id)
      expect(await seller.transfer(transferOf('101'))).toEqual({
        status: 400,
        body: {
          success: false,
          error: 'Daily limit reached (500, used 400)',
          message: 'Daily limit reached (500, used 400)',
          errors: [{ code: 1013, detail: 'Daily limit reached (500, used 400)' }],
          data: null,
        },
      })
      expect(await balanceOf(test.db, seller.owner.id)).toBe(had)
      expect((await seller.transfer(transferOf('100'))).status).toBe(200)
      expect(await pay(seller, '10')).toBe('paid')
      test.clock.advance(DAY_MS)
      admin = await administrator.signIn()
      expect((await seller.transfer(transferOf('500'))).status).toBe(200)
    }))

  it.each([
    ['of the application', (seller: Merchant) => setTerms(seller, { daily_transfers_max: '1000' })],
    [
      'of the sender’s trust level',
      async () => {
        for (const each of [test, elsewhere])
          await setSetting(each, 'points_transfer_daily_limit_tl2', '1000')
      },
    ],
  ])('%s is used up to the point and not beyond by two processes at once', (_name, limit) =>
    withMerchant(async (seller) => {
      await limit(seller)
      const lanes = [makePostTransfer(test.deps), makePostTransfer(elsewhere.deps)]
      const answers = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) =>
          lanes[i % 2]!({ app_id: seller.id, order_id: `limit-${i}`, ...recipient(buyer), amount: 50n }),
        ),
      )
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'daily_limit_reached' })
      expect(await balanceOf(test.db, seller.owner.id)).toBe(100_000n - 20n * 52n)
    }),
  )
})
