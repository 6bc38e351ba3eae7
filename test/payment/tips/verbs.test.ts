/** What a tip is, who gives and receives, the limits when it is paid, and what its application keeps: spec/tips 1.1, 1.2, 2.2, 2.3 and 3.1. */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { SETTING_NAMES, standardOf } from '../../../src/core/setting-values.ts'
import type { Tx } from '../../../src/database/connection.ts'
import { balanceOf, statementOf } from '../../../src/ledger/wallet.ts'
import { readAlerts } from '../../../src/payment/alerts/alerts.ts'
import { setTermsWithin } from '../../../src/payment/apps/terms.ts'
import { decideMandateRight } from '../../../src/payment/mandates/right.ts'
import { makeCreateOrder } from '../../../src/payment/orders/place.ts'
import { askRefund, quoteRefundRequest } from '../../../src/payment/orders/refund-requests.ts'
import { countTakings, takingsBetween } from '../../../src/payment/orders/takings.ts'
import { nameTipsApp } from '../../../src/payment/tips/setup.ts'
import { anonymise, obstaclesOf } from '../../../src/privacy/anonymise.ts'
import { exportMember } from '../../../src/privacy/export.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, makePerson, setFrozen } from '../../harness/cast.ts'
import { setSetting, startTestApp, useTestApp } from '../../harness/harness.ts'
import { makeLink, orderAt } from '../../harness/links.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { placeOrder, refund } from '../../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'
import { itCounts, statementsOf } from '../../harness/statements.ts'
import { beginTip, makeTipper, payTip, setAge, switchTips, tip } from '../../harness/tips.ts'

const test = await useTestApp()
const { deps, db } = test
const app = await switchTips(test)
const staff = await makePerson(test, { username: 'admin', is_admin: true })
const actor = { user_id: staff.id, ip: '203.0.113.7' }
afterAll(() => expectSoundBooks(db))

const pair = async () => ({ erin: await makeTipper(test), frank: await makeTipper(test) })
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )
const refusalOf = (statement: Promise<unknown>) =>
  statement.then(
    () => 'done',
    (error: { constraint?: string }) => error.constraint,
  )
const DAY_MS = 86_400_000

async function readExport(id: bigint) {
  const pieces: string[] = []
  for await (const piece of exportMember(deps, id)) pieces.push(piece)
  return JSON.parse(pieces.join(''))
}

describe('a paid tip', () => {
  it('moves the amount from the giver to the author, and nothing to the owner of the application', async () => {
    const { erin, frank } = await pair()
    const { outcome, transaction_id } = await tip(deps, erin, frank, {
      amount: 100n,
      post_path: '/t/cats/12/3',
    })
    expect(outcome).toBe('paid')
    const order = await rowOf(test, 'orders', { transaction_id })
    expect(order).toMatchObject({
      ...{ door: 'tip', description: 'Tip', amount: 100n, fee: 5n, payer_id: erin.id, payee_id: frank.id },
      order_id: expect.stringMatching(/^tip_[a-z0-9]{24}$/),
    })
    expect(await balanceOf(db, erin.id)).toBe(9_900n)
    expect(await balanceOf(db, frank.id)).toBe(10_095n)
    expect(await balanceOf(db, app.owner.id)).toBe(0n)
    expect(await rowOf(test, 'tips', { order_id: order.id })).toMatchObject({
      to_user_id: frank.id,
      post_path: '/t/cats/12/3',
    })
    expect(await payTip(deps, transaction_id, erin, 100n)).toBe('paid_before')
    expect(await rowsOf(test, 'tip_days', { user_id: erin.id })).toMatchObject([
      { given_points: 100n, received_points: 0n },
    ])
  })

  it('alerts the author once, under the name that the giver has now, and mails nobody', async () => {
    const { erin, frank } = await pair()
    const { transaction_id } = await tip(deps, erin, frank)
    await changePerson(test, erin, { username: 'erin-renamed' })
    expect(await readAlerts(db, frank.id, { before: undefined, limit: 5 })).toMatchObject([
      { kind: 'tipped', facts: { points: '10', tip: transaction_id, name: 'erin-renamed' } },
    ])
    expect(await rowsOf(test, 'outgoing_mails', { user_id: frank.id })).toEqual([])
  })

  it('is in both statements, with the name of the other member', async () => {
    const { erin, frank } = await pair()
    await tip(deps, erin, frank)
    const [given] = (await statementOf(db, erin.id)).rows
    const [received] = (await statementOf(db, frank.id)).rows
    const names = { from_username: erin.username, to_username: frank.username }
    expect(given).toMatchObject({ kind: 'payment', amount: -10n, is_tip: true, is_payer: true, ...names })
    expect(received).toMatchObject({ kind: 'payment', amount: 10n, is_tip: true, is_payer: false, ...names })
    expect((await statementOf(db, erin.id, { text: frank.username })).rows).toHaveLength(1)
  })

  it('is refunded from the wallet of the author, which returns no limit', async () => {
    const { erin, frank } = await pair()
    await setSetting(test, 'tip_day_max_tl2', '100')
    const paid = await tip(deps, erin, frank, { amount: 100n })
    await refund(test, paid, 100n)
    expect(await balanceOf(db, erin.id)).toBe(10_000n)
    expect(await balanceOf(db, frank.id)).toBe(10_000n)
    expect((await tip(deps, erin, frank)).outcome).toBe('tip_limit')
    await setSetting(test, 'tip_day_max_tl2', '500')
  })

  it('is no takings of the owner, who cannot ask for a refund of it', async () => {
    const { erin, frank } = await pair()
    const { transaction_id } = await tip(deps, erin, frank)
    const now = test.clock.now()
    const edges = [new Date(now.getTime() - DAY_MS), new Date(now.getTime() + DAY_MS)]
    expect(await takingsBetween(db, app.id, edges)).toMatchObject([{ payments: 0, points: 0n }])
    await countTakings({ db, databaseTime: async () => new Date(now.getTime() + DAY_MS) })
    expect(await takingsBetween(db, app.id, edges)).toMatchObject([{ payments: 0, points: 0n }])
    const asking = { transaction_id, amount: 10n, reason: 'x' }
    const owner = { user_id: app.owner.id, ip: '203.0.113.7' }
    expect(await codeOf(askRefund(deps, app.payment_id, asking, owner))).toBe('not_found')
    expect(await codeOf(quoteRefundRequest(db, app.id, asking))).toBe('not_found')
  })

  it('sends the event of an order with the author and the post, and none before it is paid', async () => {
    await setRows(test, 'payment_apps', { id: app.id }, { events_url: 'https://tips.example/events' })
    const { erin, frank } = await pair()
    const { transaction_id } = await tip(deps, erin, frank)
    await refund(test, { transaction_id }, 10n)
    const { id: order_id } = await rowOf(test, 'orders', { transaction_id })
    const events = await rowsOf(test, 'notifications', { order_id }, ['kind'])
    expect(events.map(({ kind }) => kind)).toEqual(['order.paid', 'order.refunded'])
    await setRows(test, 'payment_apps', { id: app.id }, { events_url: null })
  })

  it('is exported by both, and keeps the author from closing the account as every sale does', async () => {
    const { erin, frank } = await pair()
    const { transaction_id } = await tip(deps, erin, frank, { post_path: '/t/cats/12' })
    expect((await readExport(erin.id)).tips_given).toMatchObject([
      { transaction_id, amount: 10, to_username: frank.username, post: '/t/cats/12' },
    ])
    const frankData = await readExport(frank.id)
    expect(frankData.tips_received).toMatchObject([{ transaction_id, from_username: erin.username }])
    expect(frankData.profile.accepts_tips).toBe(true)
    expect((await obstaclesOf(db, frank.id, test.clock.now())).obstacles).toContain('refundable_orders')
    test.clock.advance(31 * DAY_MS)
    const act = { reason: 'test', actor_id: staff.id, ip: null }
    await anonymise(deps, { user_id: erin.id, give_up: await balanceOf(db, erin.id), ...act })
    expect(await readAlerts(db, frank.id, { before: undefined, limit: 5 })).toMatchObject([
      { facts: { name: `deleted-${erin.id}` } },
    ])
    const [received] = (await statementOf(db, frank.id)).rows
    expect(received).toMatchObject({ from_username: `deleted-${erin.id}` })
    await anonymise(deps, { user_id: frank.id, give_up: await balanceOf(db, frank.id), ...act })
    expect(await beginTip(deps, await makeTipper(test), frank)).toBe('tip_refused')
  })
})

describe('a tip is refused', () => {
  it.each<[why: string, change: (frank: { id: bigint }) => Promise<unknown>]>([
    ['has never signed in here', (frank) => changePerson(test, frank, { has_signed_in: false })],
    ['is below the level', (frank) => changePerson(test, frank, { trust_level: 0 })],
    ['is banned', (frank) => changePerson(test, frank, { is_banned: true })],
    [
      'is suspended',
      (frank) => changePerson(test, frank, { suspended_till: new Date(test.clock.now().getTime() + DAY_MS) }),
    ],
    ['has a frozen wallet', (frank) => setFrozen(test, frank)],
    ['accepts no tips', (frank) => changePerson(test, frank, { accepts_tips: false })],
    [
      'has received the most of the day',
      (frank) =>
        db
          .insertInto('tip_days')
          .values({ user_id: frank.id, day: dayOf(test.clock.now()), received_points: 4_995n })
          .execute(),
    ],
  ])('to an author who %s, when it begins and when it is paid', async (_, change) => {
    const { erin, frank } = await pair()
    const transaction_id = await beginTip(deps, erin, frank)
    const before = await balanceOf(db, frank.id)
    await change(frank)
    expect(await beginTip(deps, erin, frank)).toBe('tip_refused')
    expect(await payTip(deps, transaction_id, erin)).toBe('tip_refused')
    expect(await rowOf(test, 'orders', { transaction_id })).toMatchObject({
      status: 'unpaid',
      journal_id: null,
    })
    expect(await rowsOf(test, 'journal', { reference: transaction_id })).toEqual([])
    expect(await balanceOf(db, frank.id)).toBe(before)
  })

  it('to the giver, who may not pay a tip to themselves that another member began', async () => {
    const { erin, frank } = await pair()
    expect(await beginTip(deps, erin, erin)).toBe('tip_refused')
    expect(await payTip(deps, await beginTip(deps, erin, frank), frank)).toBe('tip_refused')
  })

  it.each<[why: string, change: (erin: { id: bigint }) => Promise<unknown>, amount?: bigint]>([
    ['has a new account', (erin) => setAge(test, erin, 7 * DAY_MS - 1)],
    ['is of level 0', (erin) => changePerson(test, erin, { trust_level: 0 })],
    ['gives more than one tip may have', async () => {}, 201n],
    [
      'has given the most of the day',
      (erin) =>
        db
          .insertInto('tip_days')
          .values({ user_id: erin.id, day: dayOf(test.clock.now()), given_points: 491n })
          .execute(),
    ],
  ])('to a giver who %s', async (_, change, amount = 10n) => {
    const { erin, frank } = await pair()
    await setSetting(test, 'tip_max_tl2', '1000')
    const transaction_id = await beginTip(deps, erin, frank, { amount })
    await setSetting(test, 'tip_max_tl2', '200')
    await change(erin)
    expect(await beginTip(deps, erin, frank, { amount })).toBe('tip_limit')
    expect(await payTip(deps, transaction_id, erin, amount)).toBe('tip_limit')
    expect(await rowOf(test, 'orders', { transaction_id })).toMatchObject({ status: 'unpaid' })
  })

  it('beyond the tips of a pair in seven days, in both directions', async () => {
    const { erin, frank } = await pair()
    const open = await beginTip(deps, erin, frank)
    for (const [from, to] of [
      [erin, frank],
      [frank, erin],
      [erin, frank],
      [frank, erin],
      [erin, frank],
    ] as const)
      expect((await tip(deps, from, to)).outcome).toBe('paid')
    expect(await payTip(deps, open, erin)).toBe('tip_limit')
    expect(await beginTip(deps, frank, erin)).toBe('tip_limit')
    const other = await makeTipper(test)
    expect((await tip(deps, erin, other)).outcome).toBe('paid')
    test.clock.advance(7 * DAY_MS)
    expect((await tip(deps, erin, frank)).outcome).toBe('paid')
  })

  it('at the next midnight no longer for the limit of a day', async () => {
    const { erin, frank } = await pair()
    await setSetting(test, 'tip_day_max_tl2', '10')
    expect((await tip(deps, erin, frank)).outcome).toBe('paid')
    expect(await beginTip(deps, erin, frank)).toBe('tip_limit')
    test.clock.advance(DAY_MS)
    expect((await tip(deps, erin, frank)).outcome).toBe('paid')
    await setSetting(test, 'tip_day_max_tl2', '500')
  })

  it('while tips are off, payments are paused or their application is suspended', async () => {
    const { erin, frank } = await pair()
    const transaction_id = await beginTip(deps, erin, frank)
    await setSetting(test, 'tips', 'off')
    expect(await beginTip(deps, erin, frank)).toBe('unusable')
    expect(await payTip(deps, transaction_id, erin)).toBe('unusable')
    await setSetting(test, 'tips', 'on')
    await setRows(test, 'payment_apps', { id: app.id }, { status: 'suspended' })
    expect(await beginTip(deps, erin, frank)).toBe('unusable')
    expect(await payTip(deps, transaction_id, erin)).toBe('unusable')
    await setRows(test, 'payment_apps', { id: app.id }, { status: 'approved' })
    await changePerson(test, app.owner, { is_banned: true })
    expect(await payTip(deps, transaction_id, erin)).toBe('unusable')
    await changePerson(test, app.owner, { is_banned: false })
    await setSetting(test, 'payments_read_only', 'on')
    expect(await beginTip(deps, erin, frank)).toBe('paused')
    await setSetting(test, 'payments_read_only', 'off')
    expect(await payTip(deps, transaction_id, erin)).toBe('paid')
  })

  it('in the order of the guards: frozen giver, author, missing points, limits', async () => {
    const { erin, frank } = await pair()
    const transaction_id = await beginTip(deps, erin, frank)
    await changePerson(test, erin, { trust_level: 0 })
    await changePerson(test, frank, { accepts_tips: false })
    await setFrozen(test, erin)
    expect(await payTip(deps, transaction_id, erin)).toBe('wallet_frozen')
    await setFrozen(test, erin, false)
    expect(await payTip(deps, transaction_id, erin)).toBe('tip_refused')
    await changePerson(test, frank, { accepts_tips: true })
    expect(await payTip(deps, transaction_id, erin)).toBe('tip_limit')
    const poor = await makeTipper(test, { points: 5n })
    const dear = await beginTip(deps, poor, frank)
    await changePerson(test, poor, { trust_level: 0 })
    expect(await payTip(deps, dear, poor)).toBe('insufficient')
  })

  it('beyond the daily limit of their application, which counts no refused tip', async () => {
    const { erin, frank } = await pair()
    const used = await rowsOf(test, 'orders', { app_id: app.id, status: 'paid' }, ['amount', 'paid_at'])
    const today = dayOf(test.clock.now())
    const sum = used.reduce(
      (total, { amount, paid_at }) => total + (dayOf(paid_at!) === today ? amount : 0n),
      0n,
    )
    const terms = { fee_rate: null, daily_payments_max: sum + 15n, daily_transfers_max: null, reason: '' }
    const by = { actor_id: staff.id, ip: null, now: test.clock.now() }
    await db.transaction().execute((tx) => setTermsWithin(tx, app.payment_id, terms, by))
    const other = await makeTipper(test, { trust_level: 2 })
    const refused = await beginTip(deps, other, frank)
    await changePerson(test, other, { trust_level: 0 })
    expect(await payTip(deps, refused, other)).toBe('tip_limit')
    expect((await tip(deps, erin, frank)).outcome).toBe('paid')
    expect((await tip(deps, erin, frank)).outcome).toBe('daily_limit')
    expect(await rowsOf(test, 'tip_days', { user_id: erin.id })).toMatchObject([{ given_points: 10n }])
    const none = { ...terms, daily_payments_max: null }
    await db.transaction().execute((tx) => setTermsWithin(tx, app.payment_id, none, by))
  })
})

const dayOf = (now: Date) => new Date(now.getTime() + 8 * 3_600_000).toISOString().slice(0, 10)

describe('the application of tips', () => {
  it('takes no orders of the API, of the gateway and of links, and never charges', async () => {
    const create = makeCreateOrder(deps)
    const asked = { app_id: app.id, order_id: 'a-1', description: 'Tea', amount: 5n }
    expect(await codeOf(create(asked))).toBe('application_unusable')
    expect(await rowsOf(test, 'orders', { order_id: 'a-1' })).toEqual([])
    const signed = await app.process({ order_id: 'a-2', description: 'Tea', amount: '5' })
    expect(signed.body).toMatchObject({ success: false, errors: [{ code: 1009 }] })
    const link = await makeLink(test, app)
    expect(await orderAt(deps, link, await makeTipper(test))).toBe('unusable')
    await setRows(
      test,
      'payment_apps',
      { id: app.id },
      { mandate_right: 'asked', mandate_right_purpose: 'A monthly plan', mandate_right_at: test.clock.now() },
    )
    const grant = { decision: 'grant', daily_max: 1n, reason: 'x' } as const
    const by = { actor_id: staff.id, ip: null }
    expect(await codeOf(decideMandateRight(deps, app.payment_id, grant, by))).toBe('conflict')
    await setRows(
      test,
      'payment_apps',
      { id: app.id },
      { mandate_right: 'none', mandate_right_purpose: null, mandate_right_at: null },
    )
  })

  it('is one approved live application without orders, and stays it once a tip was ordered', async () => {
    const name = (payment_id: string) => codeOf(nameTipsApp(deps, payment_id, actor))
    const { erin, frank } = await pair()
    await beginTip(deps, erin, frank)
    expect(await name(app.payment_id)).toBe('done')
    const other = await makeMerchant(test)
    expect(await name(other.payment_id)).toBe('conflict')
    expect(await name('PAY_UNKNOWN')).toBe('not_found')
  })

  it('can be another one until the first order, and none that has orders or is not approved', async () => {
    const own = await startTestApp()
    const [first, second, sold] = [await makeMerchant(own), await makeMerchant(own), await makeMerchant(own)]
    const { id: user_id } = await makePerson(own, { is_admin: true })
    const name = ({ payment_id }: { payment_id: string }) =>
      codeOf(nameTipsApp(own.deps, payment_id, { user_id, ip: '203.0.113.7' }))
    await placeOrder(sold, { amount: '5' })
    expect(await name(sold)).toBe('conflict')
    await setRows(own, 'payment_apps', { id: second.id }, { status: 'suspended' })
    expect(await name(second)).toBe('conflict')
    expect(await name(first)).toBe('done')
    await setRows(own, 'payment_apps', { id: second.id }, { status: 'approved' })
    expect(await name(second)).toBe('done')
    expect(await rowsOf(own, 'payment_apps', { is_tips: true }, ['id'])).toEqual([{ id: second.id }])
    await own.close()
  })
})

describe('the database', () => {
  it.each<[constraint: string, statement: (facts: { order: bigint; frank: bigint; erin: bigint }) => string]>(
    [
      [
        'tips_of_unpaid_order',
        ({ frank }) => `insert into tips values ((select max(id) from orders where door = 'hmac'), ${frank})`,
      ],
      ['tip_days_points', ({ erin }) => `insert into tip_days values (${erin}, '2020-01-01', -1, 5)`],
      [
        'tip_pairs_order',
        ({ erin, frank }) => `insert into tip_pairs values (${frank}, ${erin}, '2020-01-01', 1)`,
      ],
      [
        'tip_pairs_tips',
        ({ erin, frank }) => `insert into tip_pairs values (${erin}, ${frank}, '2020-01-01', 0)`,
      ],
      [
        'payment_apps_tips_no_mandates',
        () =>
          `update payment_apps set mandate_right = 'granted', mandate_right_purpose = 'A monthly plan', mandate_right_at = now(), mandate_daily_max = 1 where is_tips`,
      ],
      ['payment_apps_tips_first', () => 'update payment_apps set is_tips = false where is_tips'],
    ],
  )('refuses by %s', async (constraint, statement) => {
    const { erin, frank } = await pair()
    await placeOrder(await makeMerchant(test), { amount: '5' })
    const transaction_id = await beginTip(deps, erin, frank)
    const { id: order } = await rowOf(test, 'orders', { transaction_id })
    const facts = { order, frank: frank.id, erin: erin.id }
    expect(await refusalOf(sql.raw(statement(facts)).execute(db))).toBe(constraint)
  })

  it('keeps a tip as it was placed, and refuses a post that is no path of the forum', async () => {
    for (const change of ['delete from tips', `update tips set post_path = '/t/x/1'`])
      await expect(sql.raw(change).execute(db)).rejects.toThrow('tips is append-only')
    const { erin, frank } = await pair()
    for (const path of ['/t/x', '/t/a b/1', '/u/erin', '/t/x/1?y', 'https://evil.example/t/x/1'])
      expect(await refusalOf(beginTip(deps, erin, frank, { post_path: path }))).toBe('tips_post_path')
  })

  it('has the defaults of the settings that the pages show', async () => {
    const names = SETTING_NAMES.filter((name) => /^tip(s|_)/.test(name) && name !== 'tip_amounts')
    expect(names).toHaveLength(15)
    for (const name of names) {
      const { rows } = await sql<{ value: string }>`select tip_standard(${name}) as value`.execute(db)
      expect([name, rows[0]!.value]).toEqual([name, standardOf(name)])
    }
  })
})

describe('paying an order that is no tip', () => {
  itCounts('takes one statement, and reads no table of tips', async () => {
    const erin = await makeTipper(test)
    const order = await placeOrder(await makeMerchant(test), { amount: '10' })
    const payment = { transaction_id: order.transaction_id, payer_id: erin.id, expected_amount: 10n }
    const looksAt = async (tx: Tx) => {
      const { rows } = await sql<{ looks: bigint }>`
        select coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins as looks from pg_stat_xact_user_tables
        where relname in ('tips', 'tip_days', 'tip_pairs', 'alerts', 'site_settings') order by relname`.execute(
        tx,
      )
      return rows.map(({ looks }) => looks)
    }
    await db.transaction().execute(async (tx) => {
      // The counts of the connection come with those of earlier transactions.
      const before = await looksAt(tx)
      const asked = sql`row(${payment.transaction_id}::text, ${erin.id}::bigint, 10::bigint, ${deps.clock()}::timestamptz)`
      const { rows: paid } = await sql<{ outcome: string }>`
        select outcome from pay_orders(array[${asked}::asked_payment], 0)`.execute(tx)
      expect(paid).toEqual([{ outcome: 'paid' }])
      expect(await looksAt(tx)).toEqual(before)
      expect(before).toHaveLength(5)
    })
    const other = await placeOrder(await makeMerchant(test), { amount: '10' })
    const [, statements] = await statementsOf(() => payTip(deps, other.transaction_id, erin))
    expect(statements.filter((text) => !/^(begin|commit|set|show)/i.test(text))).toHaveLength(1)
  })
})
