/** What a payout may hold, how often it is created, and how each outcome of a transfer ends its line: spec/payouts 1.1–1.4, 2.1–2.5. */
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import type { SettingName } from '../../../src/core/setting-values.ts'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { deleteExpiredRows } from '../../../src/operations/retention.ts'
import { reviewPaymentApp } from '../../../src/payment/apps/review.ts'
import { reverseTransfer } from '../../../src/payment/orders/refunds.ts'
import { refusalOf } from '../../../src/payment/orders/transfers.ts'
import { judgePayout } from '../../../src/payment/payouts/judge.ts'
import {
  cancelPayout,
  findPayout,
  linesOfPayout,
  resumePayout,
  WAITING_MAX,
} from '../../../src/payment/payouts/payouts.ts'
import { ALL_LINES_MAX, LINES_MAX, readPayoutRequest } from '../../../src/payment/payouts/request.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import type { AppError } from '../../../src/platform/errors.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, givePoints, makePerson, setFrozen } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { handOver, type Merchant, makeMerchant, recipientFields } from '../../harness/merchant.ts'
import { line, lines, startPayout } from '../../harness/payouts.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'

const test = await useTestApp()
const { deps, db, clock } = test
afterEach(() => expectSoundBooks(db))

const [alice, bob, carol] = await Promise.all([makePerson(test), makePerson(test), makePerson(test)])
const staff = await makePerson(test, { is_admin: true })
const people = [alice, bob, carol]

async function shop(points = 100_000n): Promise<Merchant> {
  const merchant = await makeMerchant(test)
  await givePoints(test, merchant.owner, points)
  return merchant
}

const faultsOf = (act: () => unknown): string[] => {
  try {
    act()
  } catch (error) {
    const { code, faults } = error as AppError
    return [code, ...faults!.map(({ message }) => message)]
  }
  throw new Error('It was not refused')
}
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )
const stateOf = async ({ id }: { id: bigint }, reference: string) => (await findPayout(db, id, reference))!
const linesOf = async (merchant: Merchant, reference: string) =>
  linesOfPayout(db, (await stateOf(merchant, reference)).id)

describe('a request', () => {
  const given = { line_id: 'a', to_user_id: 7, to_username: 'x', amount: '10' }
  const asked = (over: object) => ({ reference: 'r', lines: [given], ...over })

  it('takes integers or digits, and its defaults', () => {
    expect(readPayoutRequest(asked({}))).toEqual({
      ...{ reference: 'r', mode: 'each', dry_run: false },
      lines: [{ line_id: 'a', to_user_id: 7n, to_username: 'x', amount: 10n, memo: '' }],
    })
    // A program may count its payouts and lines.
    const counted = readPayoutRequest(asked({ reference: 5, lines: [{ ...given, line_id: 17 }] }))
    expect([counted.reference, counted.lines[0]!.line_id]).toEqual(['5', '17'])
    const most = {
      line_id: 'l'.repeat(32),
      to_user_id: '9',
      to_username: 'y',
      amount: 1,
      memo: '好'.repeat(100),
    }
    expect(
      readPayoutRequest(asked({ reference: 'r'.repeat(64), mode: 'all', lines: [most] })).lines[0]!.amount,
    ).toBe(1n)
  })

  it.each<[what: string, body: unknown, ...faults: (string | RegExp)[]]>([
    ['no object', 'x', 'parameter_invalid', 'The body must be a JSON object'],
    ['nothing', {}, 'parameter_missing', 'Missing parameter: reference', 'Missing parameter: lines'],
    [
      'a long reference',
      asked({ reference: 'r'.repeat(65) }),
      'parameter_invalid',
      /^Invalid reference: 1 to 64 /,
    ],
    ['a space in the reference', asked({ reference: 'a b' }), 'parameter_invalid', /^Invalid reference: /],
    ['another mode', asked({ mode: 'some' }), 'parameter_invalid', 'Invalid mode: one of each, all'],
    [
      'a dry run that is a text',
      asked({ dry_run: 'yes' }),
      'parameter_invalid',
      'Invalid dry_run: true or false',
    ],
    ['lines that are no list', asked({ lines: {} }), 'parameter_invalid', 'Invalid lines: a list'],
    ['no line', asked({ lines: [] }), 'parameter_invalid', 'Invalid lines: 1 to 1000 lines'],
    ['too many lines', asked({ lines: lines(LINES_MAX + 1, people) }), 'parameter_invalid', /^Invalid lines/],
    [
      'too many for all',
      asked({
        mode: 'all',
        lines: Array.from({ length: ALL_LINES_MAX + 1 }, (_, i) => ({ ...given, line_id: `l${i}` })),
      }),
      'parameter_invalid',
      'Invalid lines: at most 500 lines with mode all',
    ],
    [
      'faults of several lines',
      asked({
        lines: [
          given,
          { ...given, line_id: 'b:c', amount: 0 },
          { ...given, line_id: 'b'.repeat(33), to_user_id: 'x', memo: 'm'.repeat(101) },
          { line_id: 'd', to_username: '', amount: 1.5, memo: 'a\nb' },
          'no line',
          { ...given, line_id: 'f', memo: 'a\u202eb' },
        ],
      }),
      'parameter_invalid',
      /^Invalid lines\[1\]\.line_id: .*colon/,
      /^Invalid lines\[1\]\.amount: a whole number/,
      'Invalid lines[2].line_id: at most 32 characters',
      'Invalid lines[2].to_user_id: a decimal number',
      /^Invalid lines\[2\]\.memo: at most 100/,
      'Missing parameter: lines[3].to_user_id',
      'Missing parameter: lines[3].to_username',
      'Invalid lines[3].amount: text or an integer',
      /^Invalid lines\[3\]\.memo: /,
      'Invalid lines[4]: an object',
      /^Invalid lines\[5\]\.memo: .*invisible/,
    ],
    [
      'a line_id twice',
      asked({ lines: [given, given] }),
      'parameter_invalid',
      'Invalid lines[1].line_id: lines[0] has it',
    ],
  ])('with %s is refused', (_, body, ...expected) => {
    const faults = faultsOf(() => readPayoutRequest(body))
    expect(faults).toHaveLength(expected.length)
    for (const [i, fault] of expected.entries())
      expect(faults[i]).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault))
  })

  it('names the first 20 of its faults', () => {
    const faulty = asked({
      lines: Array.from({ length: 30 }, (_, i) => ({ ...given, line_id: `l${i}`, amount: -1 })),
    })
    expect(faultsOf(() => readPayoutRequest(faulty))).toHaveLength(21)
  })
})

describe('a payout', () => {
  it('pays every line once, in order, and ends', async () => {
    const merchant = await shop()
    const before = await balanceOf(db, alice.id)
    const created = await startPayout(deps, merchant, { reference: 'raffle', lines: lines(120, people) })
    expect(created).toMatchObject({
      status: 'waiting',
      count: 120,
      pending: 120,
      amount: 1_200n,
      fee: 120n,
      paid_total: 0n,
    })
    await runPayouts(deps)
    const ended = await stateOf(merchant, 'raffle')
    expect(ended).toMatchObject({
      status: 'finished',
      pending: 0,
      paid: 120,
      refused: 0,
      fee: 120n,
      paid_total: 1_320n,
    })
    expect(await balanceOf(db, alice.id)).toBe(before + 400n)
    expect(await balanceOf(db, merchant.owner.id)).toBe(98_680n)
    const transfers = await rowsOf(test, 'transfers', { app_id: merchant.id }, ['order_id', 'transaction_id'])
    expect(transfers.map(({ order_id }) => order_id)).toEqual(
      Array.from({ length: 120 }, (_, i) => `payout:raffle:l${i + 1}`),
    )
    expect((await linesOf(merchant, 'raffle')).map(({ transaction_id }) => transaction_id)).toEqual(
      transfers.map(({ transaction_id }) => transaction_id),
    )
    await runPayouts(deps)
    expect(await rowsOf(test, 'transfers', { app_id: merchant.id })).toHaveLength(120)
  })

  it('is created once, and a repeat is answered whatever its status and the switches', async () => {
    const merchant = await shop()
    const asked = { reference: 'once', lines: [line('a', alice)] }
    const [first, second] = await Promise.all([
      startPayout(deps, merchant, asked),
      startPayout(deps, merchant, asked),
    ])
    expect(second.id).toBe(first.id)
    await runPayouts(deps)
    await setSetting(test, 'points_transfers', 'off')
    expect(await startPayout(deps, merchant, asked)).toMatchObject({ id: first.id, status: 'finished' })
    expect(await codeOf(startPayout(deps, merchant, { ...asked, reference: 'new' }))).toBe(
      'transfers_disabled',
    )
    await setSetting(test, 'points_transfers', 'on')
    await setSetting(test, 'payments_read_only', 'on')
    expect(await codeOf(startPayout(deps, merchant, { ...asked, reference: 'new' }))).toBe('payments_paused')
    await setSetting(test, 'payments_read_only', 'off')
    for (const other of [
      { mode: 'all' as const },
      { lines: [line('a', bob)] },
      { lines: [line('a', alice, 11n)] },
    ])
      expect(await codeOf(startPayout(deps, merchant, { ...asked, ...other }))).toBe('parameter_invalid')
    expect(await rowsOf(test, 'payouts', { app_id: merchant.id })).toHaveLength(1)
  })

  it('whose sum cannot be counted stores nothing', async () => {
    const merchant = await shop()
    const many = lines(2, people, BigInt(Number.MAX_SAFE_INTEGER))
    expect(await codeOf(startPayout(deps, merchant, { reference: 'big', lines: many }))).toBe(
      'parameter_invalid',
    )
    expect(await findPayout(db, merchant.id, 'big')).toBeUndefined()
  })

  it('waits for the one before it, and ten wait', async () => {
    const merchant = await shop(0n)
    await startPayout(deps, merchant, { reference: 'first', lines: [line('a', alice)] })
    await sql`select start_payouts(${clock.now()}::timestamptz)`.execute(db)
    for (let i = 0; i < WAITING_MAX; i += 1)
      await startPayout(deps, merchant, { reference: `w${i}`, lines: [line('a', alice)] })
    expect(await codeOf(startPayout(deps, merchant, { reference: 'more', lines: [line('a', alice)] }))).toBe(
      'too_many_attempts',
    )
    await sql`select start_payouts(${clock.now()}::timestamptz)`.execute(db)
    expect(await rowsOf(test, 'payouts', { app_id: merchant.id, status: 'running' })).toHaveLength(1)
    // Without points each of them halts. The next one then has its turn.
    await runPayouts(deps)
    expect(await rowsOf(test, 'payouts', { app_id: merchant.id, status: 'halted' })).toHaveLength(
      WAITING_MAX + 1,
    )
    await givePoints(test, merchant.owner, 11n)
    await resumePayout(db, (await stateOf(merchant, 'w3')).id, clock.now())
    await resumePayout(db, (await stateOf(merchant, 'first')).id, clock.now())
    await runPayouts(deps)
    expect((await stateOf(merchant, 'first')).status).toBe('finished')
    expect((await stateOf(merchant, 'w3')).status).toBe('halted')
  })

  it('keeps what was asked and its end, by the database', async () => {
    const merchant = await shop()
    await startPayout(deps, merchant, { reference: 'kept', lines: [line('a', alice), line('b', alice)] })
    await runPayouts(deps)
    const { id } = await stateOf(merchant, 'kept')
    for (const statement of [
      sql`update payouts set status = 'running', finished_at = null where id = ${id}`,
      sql`update payout_lines set amount = 11 where payout_id = ${id}`,
      sql`update payout_lines set status = 'pending', transfer_id = null where payout_id = ${id}`,
      sql`update payout_lines set memo = 'other' where payout_id = ${id}`,
      sql`delete from payout_lines where payout_id = ${id}`,
      sql`delete from payouts where id = ${id}`,
    ])
      expect(await codeOf(statement.execute(db))).toBe('23514')
    for (const table of ['payouts', 'payout_lines'])
      expect(await codeOf(sql`truncate ${sql.table(table)} cascade`.execute(db))).toBe('23001')
  })
})

/** A payout with a line for each outcome that refuses one, between lines that are paid. */
async function withEveryRefusal(merchant: Merchant, reference: string) {
  const number = (line_id: string) => `payout:${reference}:${line_id}`
  const send = (line_id: string, amount: string) =>
    merchant.transfer({ ...recipientFields(alice), amount, order_id: number(line_id) })
  await send('exists', '10')
  await send('changed', '11')
  const { body } = await send('reversed', '10')
  const reversal = { with_fee: true, reason: 'test', actor_id: staff.id, ip: '127.0.0.1' }
  await reverseTransfer(deps, { transaction_id: String(body.transaction_id), ...reversal })
  return [
    line('paid', alice, 50n),
    line('mismatch', { id: alice.id, username: bob.username }),
    line('to_self', merchant.owner),
    line('below_minimum', alice, 4n),
    line('above_maximum', alice, 501n),
    line('changed', alice),
    line('reversed', alice),
    line('exists', alice),
    line('last', carol, 500n),
  ]
}

const BOUNDS = { points_transfer_min_amount_tl1: '5', points_transfer_max_amount_tl1: '500' } as const
async function withSettings(values: Partial<Record<SettingName, string>>, act: () => Promise<void>) {
  const before = await deps.settings.read()
  for (const [name, value] of Object.entries(values)) await setSetting(test, name as SettingName, value)
  await act()
  for (const name of Object.keys(values))
    await setSetting(test, name as SettingName, String(before[name as SettingName]))
}

describe('a line', () => {
  it('is refused for each outcome that its transfer cannot change, and the others are paid', () =>
    withSettings(BOUNDS, async () => {
      const merchant = await shop()
      await changePerson(test, merchant.owner, { trust_level: 1 })
      const asked = { reference: 'mixed', lines: await withEveryRefusal(merchant, 'mixed') }
      const payer = { app_id: merchant.id, owner_id: merchant.owner.id }
      const judged = await judgePayout(deps, payer, asked)
      await startPayout(deps, merchant, asked)
      await runPayouts(deps)
      expect(await stateOf(merchant, 'mixed')).toMatchObject({
        status: 'finished',
        reason: null,
        paid: 3,
        refused: 6,
      })
      const results = await linesOf(merchant, 'mixed')
      expect(results.map(({ line_id, status, outcome }) => [line_id, status, outcome])).toEqual([
        ['paid', 'paid', null],
        ...['mismatch', 'to_self', 'below_minimum', 'above_maximum', 'changed', 'reversed'].map((id) => [
          id,
          'refused',
          id,
        ]),
        ['exists', 'paid', null],
        ['last', 'paid', null],
      ])
      expect(
        results.map((result) =>
          result.outcome === null ? null : refusalOf({ ...result, outcome: result.outcome })!.message,
        ),
      ).toEqual([
        null,
        'Receiver id and username do not match',
        'Cannot transfer to yourself',
        'Amount below minimum limit (5)',
        'Amount exceeds maximum limit (500)',
        'Invalid transfer: this order_id was used with another recipient or amount',
        'Order already exists with status reversed',
        null,
        null,
      ])
      // The dry run said the same before.
      expect(judged.lines.map(({ outcome, bound, have }) => ({ outcome, bound, have }))).toEqual(
        results.map(({ outcome, bound, have }) => ({ outcome, bound, have })),
      )
    }))

  it.each<
    [
      reason: string,
      bring: (merchant: Merchant) => Promise<void>,
      mend: (merchant: Merchant) => Promise<void>,
    ]
  >([
    ['insufficient', async () => {}, ({ owner }) => givePoints(test, owner, 500n)],
    [
      'daily_limit',
      async ({ id, owner }) => {
        await givePoints(test, owner, 500n)
        await setRows(test, 'payment_apps', { id }, { daily_transfers_max: 30n })
      },
      async ({ id }) => setRows(test, 'payment_apps', { id }, { daily_transfers_max: null }),
    ],
    [
      'daily_limit',
      async ({ owner }) => {
        await givePoints(test, owner, 500n)
        await setSetting(test, 'points_transfer_daily_limit_tl1', '30')
      },
      async () => setSetting(test, 'points_transfer_daily_limit_tl1', ''),
    ],
    [
      'wallet_frozen',
      ({ owner }) => setFrozen(test, owner),
      async ({ owner }) => {
        await setFrozen(test, owner, false)
        await givePoints(test, owner, 500n)
      },
    ],
    [
      'unusable',
      async ({ payment_id }) => {
        await reviewPaymentApp(deps, {
          payment_id,
          decision: 'suspend',
          reason: 'A test',
          reviewer_id: staff.id,
        })
      },
      async ({ payment_id, owner }) => {
        await reviewPaymentApp(deps, { payment_id, decision: 'reinstate', reason: '', reviewer_id: staff.id })
        await givePoints(test, owner, 500n)
      },
    ],
  ])('waits while the payout is halted: %s', async (reason, bring, mend) => {
    const merchant = await shop(35n)
    await changePerson(test, merchant.owner, { trust_level: 1 })
    await bring(merchant)
    const asked = { reference: 'halts', lines: lines(120, [alice]) }
    const judged = await judgePayout(deps, { app_id: merchant.id, owner_id: merchant.owner.id }, asked)
    await startPayout(deps, merchant, asked)
    await runPayouts(deps)
    const halted = await stateOf(merchant, 'halts')
    expect(halted).toMatchObject({
      status: 'halted',
      reason,
      refused: 0,
      halted_at: clock.now(),
      finished_at: null,
    })
    expect(halted.paid).toBeLessThan(4)
    expect(halted.paid).toBe(judged.lines.filter(({ outcome }) => outcome === null).length)
    expect(judged.lines[halted.paid]!).toMatchObject({ status: 'pending', outcome: reason })
    expect((await linesOf(merchant, 'halts')).filter(({ status }) => status === 'pending')).toHaveLength(
      120 - halted.paid,
    )
    await runPayouts(deps)
    expect((await stateOf(merchant, 'halts')).updated_at).toEqual(halted.updated_at)

    await mend(merchant)
    await givePoints(test, merchant.owner, 1_000n)
    expect(await resumePayout(db, halted.id, clock.now())).toBe(true)
    expect(await resumePayout(db, halted.id, clock.now())).toBe(false)
    await runPayouts(deps)
    expect(await stateOf(merchant, 'halts')).toMatchObject({
      status: 'finished',
      reason: null,
      paid: 120,
      halted_at: null,
    })
    expect(await rowsOf(test, 'transfers', { app_id: merchant.id })).toHaveLength(120)
  })

  it('waits while transfers are off, and rests while payments are paused', async () => {
    const merchant = await shop()
    await startPayout(deps, merchant, { reference: 'off', lines: [line('a', alice)] })
    await setSetting(test, 'points_transfers', 'off')
    await runPayouts(deps)
    expect(await stateOf(merchant, 'off')).toMatchObject({
      status: 'halted',
      reason: 'transfers_off',
      pending: 1,
    })
    await setSetting(test, 'points_transfers', 'on')
    await resumePayout(db, (await stateOf(merchant, 'off')).id, clock.now())
    await setSetting(test, 'payments_read_only', 'on')
    await sql`select start_payouts(${clock.now()}::timestamptz)`.execute(db)
    await runPayouts(deps)
    expect(await stateOf(merchant, 'off')).toMatchObject({ status: 'running', reason: null, pending: 1 })
    await setSetting(test, 'payments_read_only', 'off')
    await runPayouts(deps)
    expect(await stateOf(merchant, 'off')).toMatchObject({ status: 'finished', paid: 1 })
  })
})

describe('with the mode all', () => {
  it('one line that cannot be paid undoes all, and each names its outcome', () =>
    withSettings(BOUNDS, async () => {
      const merchant = await shop(560n)
      await changePerson(test, merchant.owner, { trust_level: 1 })
      const before = await balanceOf(db, merchant.owner.id)
      const asked = [line('a', alice, 500n), line('b', bob, 4n), line('c', carol, 500n), line('d', carol)]
      await startPayout(deps, merchant, { reference: 'all', mode: 'all', lines: asked })
      await runPayouts(deps)
      expect(await stateOf(merchant, 'all')).toMatchObject({
        ...{ status: 'refused', reason: 'lines_refused', paid: 0, refused: 2, cancelled: 2, paid_total: 0n },
      })
      expect(
        (await linesOf(merchant, 'all')).map(({ status, outcome, transaction_id }) => [
          status,
          outcome,
          transaction_id,
        ]),
      ).toEqual([
        ['cancelled', null, null],
        ['refused', 'below_minimum', null],
        ['refused', 'insufficient', null],
        ['cancelled', null, null],
      ])
      expect(await balanceOf(db, merchant.owner.id)).toBe(before)
      expect(await rowsOf(test, 'transfers', { app_id: merchant.id })).toEqual([])
    }))

  it('five hundred lines are paid in one transaction', async () => {
    const merchant = await shop()
    await startPayout(deps, merchant, { reference: 'all', mode: 'all', lines: lines(ALL_LINES_MAX, people) })
    await runPayouts(deps)
    expect(await stateOf(merchant, 'all')).toMatchObject({ status: 'finished', paid: ALL_LINES_MAX })
    const { rows } =
      await sql`select distinct xmin::text from transfers where app_id = ${merchant.id}`.execute(db)
    expect(rows).toHaveLength(1)
  })
})

describe('a dry run', () => {
  it('carries the balance and the day along, warns, and stores nothing', async () => {
    const merchant = await shop(100n)
    await changePerson(test, merchant.owner, { trust_level: 1 })
    const barred = await makePerson(test)
    await changePerson(test, barred, { is_banned: true })
    await setRows(test, 'payment_apps', { id: merchant.id }, { daily_transfers_max: 75n })
    const payer = { app_id: merchant.id, owner_id: merchant.owner.id }
    const asked = [
      line('a', alice, 50n),
      line('b', barred, 40n),
      line('c', merchant.owner),
      line('d', alice, 20n),
      line('e', bob, 70n),
    ]
    const judged = await judgePayout(deps, payer, { reference: 'dry', lines: asked })
    expect(
      judged.lines.map(({ status, outcome, bound, have, is_suspended }) => [
        status,
        outcome,
        bound,
        have,
        is_suspended,
      ]),
    ).toEqual([
      ['pending', null, null, null, false],
      ['pending', 'daily_limit', 75n, 50n, true],
      ['refused', 'to_self', null, null, false],
      ['pending', null, null, null, false],
      ['pending', 'insufficient', 74n, 26n, false],
    ])
    expect(judged).toMatchObject({ have: 100n, left_today: 75n })
    expect(judged.need).toBe(
      judged.lines.reduce((sum, { amount, fee }, i) => (i === 2 ? sum : sum + amount + fee), 0n),
    )
    expect(await rowsOf(test, 'payouts', { app_id: merchant.id })).toEqual([])
    expect(await rowsOf(test, 'transfers', { app_id: merchant.id })).toEqual([])
    expect(await rowsOf(test, 'payment_app_days', { app_id: merchant.id })).toEqual([])
  })
})

describe('a payout that has not ended', () => {
  /** One that has paid 3 of its lines. */
  async function halted(merchant: Merchant, reference = 'open', recipient = alice) {
    await startPayout(deps, merchant, {
      reference,
      lines: lines(5, [recipient]).map((each) => ({ ...each, memo: 'For you' })),
    })
    await runPayouts(deps)
    expect(await stateOf(merchant, reference)).toMatchObject({ status: 'halted', paid: 3, pending: 2 })
    return stateOf(merchant, reference)
  }

  it.each<[reason: string, act: (merchant: Merchant, payout: { id: bigint }) => Promise<unknown>]>([
    ['merchant', (_, { id }) => cancelPayout(db, id, 'merchant', clock.now())],
    ['owner_changed', async (merchant) => handOver(test, merchant, await makePerson(test))],
    [
      'account_closed',
      async ({ owner }) => {
        const points = await balanceOf(db, owner.id)
        await anonymise(deps, {
          user_id: owner.id,
          actor_id: staff.id,
          reason: 'A test',
          ip: '127.0.0.1',
          give_up: points,
        })
      },
    ],
    [
      'halted_too_long',
      async (merchant) => {
        clock.advance(7 * 86_400_000)
        await runPayouts(deps)
        expect(await stateOf(merchant, 'open')).toMatchObject({ status: 'halted' })
        clock.advance(1)
        await runPayouts(deps)
      },
    ],
  ])('is cancelled with the reason %s, and keeps its paid lines', async (reason, act) => {
    const merchant = await shop(35n)
    const payout = await halted(merchant)
    await act(merchant, payout)
    const ended = await stateOf(merchant, 'open')
    expect(ended).toMatchObject({
      status: 'cancelled',
      reason,
      paid: 3,
      cancelled: 2,
      pending: 0,
      halted_at: null,
    })
    expect(ended.finished_at).not.toBeNull()
    expect(await cancelPayout(db, payout.id, 'merchant', clock.now())).toBe(false)
    expect(await resumePayout(db, payout.id, clock.now())).toBe(false)
  })

  it('loses its memos to a member with the account', async () => {
    const merchant = await shop(35n)
    const leaver = await makePerson(test)
    const { id } = await halted(merchant, 'memo', leaver)
    const points = await balanceOf(db, leaver.id)
    await anonymise(deps, {
      user_id: leaver.id,
      actor_id: staff.id,
      reason: 'A test',
      ip: '127.0.0.1',
      give_up: points,
    })
    expect(new Set((await linesOfPayout(db, id)).map(({ memo }) => memo))).toEqual(new Set(['']))
  })

  it('of a former owner moves no points of the next one', async () => {
    const merchant = await shop()
    const { owner } = merchant
    const next = await makePerson(test, { points: 1_000n })
    await handOver(test, merchant, next)
    expect(
      await codeOf(
        startPayout(deps, { id: merchant.id, owner }, { reference: 'late', lines: [line('a', alice)] }),
      ),
    ).toBe('application_unusable')
  })
})

it('a draft is deleted after two days, and no other payout', async () => {
  const merchant = await shop()
  await startPayout(deps, merchant, { reference: 'record', lines: [line('a', alice)] })
  await startPayout(deps, merchant, { reference: 'draft', lines: lines(3, people) })
  await sql`alter table payouts disable trigger payouts_unchanged`.execute(db)
  await setRows(test, 'payouts', { reference: 'draft', app_id: merchant.id }, { status: 'draft' })
  await sql`alter table payouts enable trigger payouts_unchanged`.execute(db)
  const { id } = await rowOf(test, 'payouts', { reference: 'draft', app_id: merchant.id })
  clock.advance(2 * 86_400_000 + 1)
  await deleteExpiredRows(deps)
  expect(await rowsOf(test, 'payouts', { app_id: merchant.id }, ['reference'])).toEqual([
    { reference: 'record' },
  ])
  expect(await linesOfPayout(db, id)).toEqual([])
})
