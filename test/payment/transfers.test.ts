/**
 * Transfers: one charge per order_id, bounds and fees by trust level, and refusals that move nothing.
 * spec/payment-api 4.1 and spec/points 2.2.
 */
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import type { SettingName } from '../../src/core/setting-values.ts'
import { rowArray } from '../../src/database/rows.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { ASKED_TRANSFER, makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import {
  type Answer,
  makeMerchant,
  merchantSign,
  post,
  recipient,
  recipientFields,
} from '../harness/merchant.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { rowsReadBy } from '../harness/rows-read.ts'

let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)
const alice = await makePerson(test)
afterEach(() => expectSoundBooks(test.db))

const balance = (person: Person) => balanceOf(test.db, person.id)
const fields = (over: Record<string, string> = {}) => ({
  ...recipientFields(alice),
  amount: '100',
  order_id: `transfer-${++count}`,
  ...over,
})
/** ceil(amount × rate) in integers, with the rate as a fraction, without the function under test. */
const ceilFee = (amount: bigint, [numerator, denominator]: readonly [bigint, bigint]) =>
  (amount * numerator + denominator - 1n) / denominator

function expectRefusal(answer: Answer, code: number, text: string | RegExp, data: unknown = null) {
  expect(answer.status).toBe(400)
  expect(answer.body).toEqual({
    success: false,
    error: text instanceof RegExp ? expect.stringMatching(text) : text,
    message: answer.body.error,
    errors: [{ code, detail: answer.body.error }],
    data,
  })
}

/** Runs a request that must be refused, and expects that neither wallet moved. */
async function expectNothingMoved(request: () => Promise<void>) {
  const before = [await balance(merchant.owner), await balance(alice)]
  const rows = async () => (await rowsOf(test, 'journal')).length
  const journals = await rows()
  await request()
  expect([await balance(merchant.owner), await balance(alice)]).toEqual(before)
  expect(await rows()).toBe(journals)
}

await givePoints(test, merchant.owner, 1_000_000n)

describe('a transfer', () => {
  it('moves amount and fee at once and answers the eleven fields', async () => {
    const request = fields()
    const [sender, recipient] = [await balance(merchant.owner), await balance(alice)]
    const answer = await merchant.transfer(request)
    expect(answer).toEqual({
      status: 200,
      body: {
        success: true,
        transaction_id: expect.stringMatching(/^txn_[a-z0-9]{24}$/),
        order_id: request.order_id,
        status: 'completed',
        amount: 100,
        fee: 3,
        total_deduction: 103,
        from_user_id: Number(merchant.owner.id),
        from_username: merchant.owner.username,
        to_user_id: Number(alice.id),
        to_username: alice.username,
        paid_at: test.clock.now().toISOString().replace('.000Z', 'Z'),
      },
    })
    expect(await balance(merchant.owner)).toBe(sender - 103n)
    expect(await balance(alice)).toBe(recipient + 100n)
  })

  it('repeated answers the original and charges nothing, also after a rename', async () => {
    const bob = await makePerson(test, { username: 'renamed' })
    const request = fields(recipientFields(bob))
    const first = await merchant.transfer(request)
    const after = await balance(merchant.owner)
    await setRows(test, 'users', { id: bob.id }, { username: 'renamed-since' })
    test.clock.advance(86_400_000)
    expect(await merchant.transfer(request)).toEqual(first)
    expect(await balance(merchant.owner)).toBe(after)
  })

  it('of one order_id with another recipient or amount is refused', async () => {
    const request = fields()
    await merchant.transfer(request)
    const bob = await makePerson(test)
    await expectNothingMoved(async () => {
      for (const other of [{ amount: '101' }, { ...recipientFields(bob) }]) {
        const answer = await merchant.transfer({ ...request, ...other })
        expectRefusal(answer, 1005, /another recipient or amount/)
        expect(JSON.stringify(answer.body)).not.toMatch(/status|completed/)
      }
    })
  })

  it('that was reversed is refused with its status', async () => {
    const request = fields()
    const { body } = await merchant.transfer(request)
    const admin = await makePerson(test, { is_admin: true })
    await reverseTransfer(test.deps, {
      transaction_id: String(body.transaction_id),
      with_fee: true,
      reason: 'test',
      actor_id: admin.id,
      ip: '127.0.0.1',
    })
    await expectNothingMoved(async () =>
      expectRefusal(await merchant.transfer(request), 1006, 'Order already exists with status reversed', {
        status: 'reversed',
        transaction_id: body.transaction_id,
      }),
    )
  })

  it('asked for as a payment is named one to its application', async () => {
    const other = await makeMerchant(test)
    const { order_id, ...rest } = fields()
    const { body } = await merchant.transfer({ order_id, ...rest })
    const transaction_id = String(body.transaction_id)
    const how = /: this is a transfer\. .* order_id .* POST \/payment\/transfers\/:payment_id$/
    expectRefusal(await merchant.query({ transaction_id }), 1008, how)
    expectRefusal(await merchant.query({ order_id }), 1007, how)
    expectRefusal(await other.query({ transaction_id }), 1008, 'Payment not found')
    expectRefusal(await other.query({ order_id }), 1007, 'Order not found')
  })

  it('takes points for amount, one of the two', async () => {
    const { amount: _, ...rest } = fields()
    expect((await merchant.transfer({ ...rest, points: '7' })).body).toMatchObject({ amount: 7, fee: 1 })
    await expectNothingMoved(async () => {
      expectRefusal(await merchant.transfer(fields({ points: '100' })), 1005, /given twice/)
      expectRefusal(await merchant.transfer(rest), 1004, 'Missing parameter: amount')
    })
  })

  it('shows in both statements', async () => {
    const carol = await makePerson(test, { username: 'carol' })
    await merchant.transfer(fields(recipientFields(carol)))
    const received = await (await carol.signIn()).get('/account')
    expect(received.body).toContain('+100')
    expect(received.body).toContain(merchant.owner.username)
    const sent = await (await merchant.owner.signIn()).get('/account')
    expect(sent.body).toContain('−103')
    expect(sent.body).toContain(carol.username)
  })
})

describe('a transfer is refused', () => {
  it('when id and username are not one member', async () => {
    const bob = await makePerson(test)
    await expectNothingMoved(async () => {
      for (const wrong of [
        { to_user_id: String(bob.id) },
        { to_username: bob.username },
        { to_user_id: '999999999' },
        { to_username: 'nobody' },
      ]) {
        expectRefusal(await merchant.transfer(fields(wrong)), 1014, 'Receiver id and username do not match')
      }
    })
    expect((await merchant.transfer(fields({ to_username: alice.username.toUpperCase() }))).status).toBe(200)
  })

  it('to oneself', async () => {
    const { id, username } = merchant.owner
    await expectNothingMoved(async () =>
      expectRefusal(
        await merchant.transfer(fields({ to_user_id: String(id), to_username: username })),
        1012,
        'Cannot transfer to yourself',
      ),
    )
  })

  it('with more than the sender has, naming need and have', async () => {
    const poor = await makeMerchant(test)
    await givePoints(test, poor.owner, 102n)
    await expectNothingMoved(async () =>
      expectRefusal(await poor.transfer(fields()), 1010, 'Insufficient balance (need 103, have 102)', {
        need: 103,
        have: 102,
      }),
    )
    await givePoints(test, poor.owner, 1n)
    expect((await poor.transfer(fields())).status).toBe(200)
    expect(await balance(poor.owner)).toBe(0n)
  })

  it('when a parameter is missing or malformed', async () => {
    await expectNothingMoved(async () => {
      expectRefusal(await merchant.transfer({}), 1004, 'Missing parameter: to_user_id, to_username, order_id')
      expectRefusal(
        await merchant.transfer(fields({ to_username: '' })),
        1004,
        'Missing parameter: to_username',
      )
      for (const to_user_id of ['0', '-1', 'alice', '1.0', '01', '9'.repeat(19)]) {
        expectRefusal(await merchant.transfer(fields({ to_user_id })), 1005, /to_user_id/)
      }
      for (const amount of ['0', '1.5', '-5', '9007199254740992']) {
        expectRefusal(await merchant.transfer(fields({ amount })), 1005, /Invalid amount/)
      }
      expectRefusal(await merchant.transfer(fields({ order_id: 'a b' })), 1005, /Invalid order_id/)
    })
  })

  it('with 401 for a bad signature and for an unknown Payment ID', async () => {
    await expectNothingMoved(async () => {
      const request = fields()
      const path = `/payment/transfer/${merchant.payment_id}`
      const forged = await post(test, path, { ...request, signature: merchantSign('tk_other', request) })
      expect(forged).toMatchObject({ status: 401, body: { errors: [{ code: 1001 }] } })
      const unknown = await post(test, '/payment/transfer/pay_00000000000000000000', request)
      expect(unknown).toMatchObject({ status: 401, body: { errors: [{ code: 1009 }] } })
    })
  })

  it('for an application that is not approved', async () => {
    const pending = await makeMerchant(test, { approved: false })
    await givePoints(test, pending.owner, 1_000n)
    await expectNothingMoved(async () =>
      expectRefusal(await pending.transfer(fields()), 1009, /not approved/),
    )
  })
})

describe('bounds and fees', () => {
  const RATES = [
    [10n, 100n],
    [5n, 100n],
    [3n, 100n],
    [1n, 100n],
    [5n, 1_000n],
  ] as const
  const MAXIMA = [1_000n, 5_000n, 20_000n, 50_000n, 100_000n]

  it.each([0, 1, 2, 3, 4])('of trust level %i, to the point', async (level) => {
    const seller = await makeMerchant(test)
    await givePoints(test, seller.owner, 1_000_000n)
    await setRows(test, 'users', { id: seller.owner.id }, { trust_level: level })
    const maximum = MAXIMA[level]!
    for (const amount of [1n, 9n, 10n, 11n, 99n, 199n, 200n, 201n, 999n, maximum]) {
      const { body } = await seller.transfer(fields({ amount: String(amount) }))
      const fee = ceilFee(amount, RATES[level]!)
      expect(body).toMatchObject({
        amount: Number(amount),
        fee: Number(fee),
        total_deduction: Number(amount + fee),
      })
    }
    const over = await seller.transfer(fields({ amount: String(maximum + 1n) }))
    expectRefusal(over, 1016, `Amount exceeds maximum limit (${maximum})`)
  })

  /** Runs with these settings, and then sets the former ones. */
  async function withSettings(values: Partial<Record<SettingName, string>>, run: () => Promise<void>) {
    const names = Object.keys(values) as SettingName[]
    const former = await test.deps.settings.read()
    for (const name of names) await setSetting(test, name, values[name]!)
    try {
      await run()
    } finally {
      for (const name of names) await setSetting(test, name, String(former[name]))
    }
  }

  it('follow the site settings: minimum, daily limit', () =>
    withSettings(
      { points_transfer_min_amount_tl2: '10', points_transfer_daily_limit_tl2: '150' },
      async () => {
        const seller = await makeMerchant(test)
        await givePoints(test, seller.owner, 10_000n)
        expectRefusal(await seller.transfer(fields({ amount: '9' })), 1011, 'Amount below minimum limit (10)')
        expect((await seller.transfer(fields({ amount: '100' }))).status).toBe(200)
        expectRefusal(
          await seller.transfer(fields({ amount: '51' })),
          1013,
          'Daily limit reached (150, used 100)',
        )
        expect((await seller.transfer(fields({ amount: '50' }))).status).toBe(200)
        test.clock.advance(86_400_000)
        expect((await seller.transfer(fields({ amount: '51' }))).status).toBe(200)
      },
    ))

  it('and whether there are transfers at all', () =>
    withSettings({ points_transfers: 'off' }, async () =>
      expectNothingMoved(async () =>
        expectRefusal(await merchant.transfer(fields()), 1015, 'Transfer feature is disabled'),
      ),
    ))
})

it('a first transfer is posted without reading those of everybody else', async () => {
  const busy = await makeMerchant(test)
  const quiet = await makeMerchant(test)
  await givePoints(test, busy.owner, 10_000n)
  const to = { ...recipient(alice), amount: 1n }
  const send = makePostTransfer(test.deps)
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => send({ ...to, app_id: busy.id, order_id: `busy-${i}` })),
  )
  await sql`analyze transfers`.execute(test.db)
  const read = await rowsReadBy(test, 'transfers', async (tx) => {
    const asked = {
      ...{ app_id: quiet.id, order_id: 'first', transaction_id: `txn_${'q'.repeat(24)}`, amount: 1n },
      ...{ to_user_id: alice.id, to_username: alice.username, now: test.clock.now() },
    }
    const { rows } = await sql<{ outcome: string }>`
      select (result).outcome from post_transfers(
        ${rowArray(ASKED_TRANSFER, [asked])}, array_fill(0.1, array[5]), array_fill(1::bigint, array[5]), array_fill(9::bigint, array[5]),
        array_fill(null::bigint, array[5]))`.execute(tx)
    expect(rows).toEqual([{ outcome: 'insufficient' }])
  })
  expect(read).toBeLessThan(50)
})
