/** Acts by two administrators: one proposes the act, another approves it, and it runs once. spec/points 2.5. */
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { SETTING_NAMES, settingOf, standardOf } from '../../src/core/setting-values.ts'
import { lockSettings } from '../../src/core/settings.ts'
import type { Tx } from '../../src/database/connection.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { setTermsWithin } from '../../src/payment/apps/terms.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { askRefund } from '../../src/payment/orders/refund-requests.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const PATH = '/admin/proposals'
const DAY_MS = 86_400_000
const t = messages.en.console.proposals
let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { username: 'buyer', points: 10_000n })
const first = await makePerson(test, { username: 'root', is_admin: true })
const second = await makePerson(test, { username: 'root', is_admin: true })
const proposer = await first.signIn()
const approver = await second.signIn()
await setSetting(test, 'second_approver', 'on')
afterEach(() => expectSoundBooks(test.db))

async function paidOrder(amount = '100') {
  count += 1
  const { body } = await merchant.process({ amount, description: 'Tea', order_id: `proposal-${count}` })
  const transaction_id = String(body.transaction_id)
  const payment = { transaction_id, payer_id: buyer.id, expected_amount: BigInt(amount) }
  expect(await makePayOrder(test.deps)(payment)).toBe('paid')
  return transaction_id
}

const latest = () =>
  test.db.selectFrom('proposals').orderBy('id', 'desc').selectAll().executeTakeFirstOrThrow()

/** Fills in and confirms the form, which makes a proposal. */
async function propose(fields: Record<string, string>, times = 1, by = proposer) {
  const sheet = await prepare(fields, by)
  for (let sent = 0; sent < times; sent += 1)
    expect(await by.submit(sheet, '/admin/adjustments')).toMatchObject({ status: 303, location: PATH })
  return latest()
}
/** Opens the page that confirms the act. */
async function prepare(fields: Record<string, string>, by = proposer) {
  const { form_token = '' } = (await by.get('/admin')).form('/language')
  const sheet = await by.post('/admin/adjustments', { form_token, reason: 'Broken cup', ...fields })
  expect(sheet.body).toContain(t.propose)
  return sheet
}
/** The fields that an administrator's form sends for a merchant's refund request. */
async function requested(amount = '100') {
  const transaction_id = await paidOrder(amount)
  const asking = { transaction_id, amount: BigInt(amount), reason: 'Torn' }
  await askRefund(test.deps, merchant.payment_id, asking, {
    user_id: merchant.owner.id,
    ip: '203.0.113.7',
  })
  const { body } = await proposer.get('/admin/refund-requests')
  const article = body.split('<article').find((part) => part.includes(transaction_id))!
  const request_id = /refund-requests\/(\d+)\/decline/.exec(article)![1]!
  return { kind: 'refund', transaction_id, amount, with_fee: 'on', request_id }
}
const refund = (transaction_id: string, amount = '100', times = 1) =>
  propose({ kind: 'refund', transaction_id, amount, with_fee: 'on' }, times)

async function decide(
  client: Browser,
  { id }: { id: bigint },
  act: string,
  fields: Record<string, string> = {},
) {
  const { form_token = '' } = (await client.get(PATH)).form('/language')
  return client.post(`${PATH}/${id}/${act}`, { form_token, ...fields })
}

function thingOf(transaction_id: string) {
  return test.db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .where('transaction_id', '=', transaction_id)
    .select(['orders.description', 'app.name as app_name'])
    .executeTakeFirstOrThrow()
}

it('each setting’s row and the database agree on who must approve', async () => {
  const cases = SETTING_NAMES.flatMap((name) => {
    const { approval, control } = settingOf(name)
    const values = control.kind === 'choice' ? control.options : ['7']
    const isRaised = (value: string) => approval === 'raised' && Number(value) > Number(standardOf(name))
    return values.map((value) => ({
      name,
      value,
      needs_two: approval === 'every' || approval === value || isRaised(value),
    }))
  })
  const { rows } = await sql`
    select name, value, setting_needs_two(name, value, ${first.id}) as needs_two
    from json_to_recordset(${JSON.stringify(cases)}) as change (name text, value text)`.execute(test.db)
  expect(rows).toEqual(cases)
})

it('a refund moves nothing until another administrator approves it, and then once', async () => {
  const transaction_id = await paidOrder()
  const before = await balanceOf(test.db, buyer.id)
  const proposal = await refund(transaction_id, '100', 3)
  expect(await balanceOf(test.db, buyer.id)).toBe(before)
  expect((await proposer.get(PATH)).body).not.toContain(`action="${PATH}/${proposal.id}/approve"`)
  const shown = await approver.get(PATH)
  expect(shown.body).toContain(`action="${PATH}/${proposal.id}/approve"`)
  // What it is about is named, beside its number.
  const { app_name, description } = await thingOf(transaction_id)
  const articles = shown.body.split('<article')
  const article = articles.find((part) => part.includes(`${PATH}/${proposal.id}/approve`))!
  for (const words of [description, app_name, `@${buyer.username}`]) expect(article).toContain(words)
  expect((await decide(proposer, proposal, 'approve')).status).toBe(403)
  expect(await balanceOf(test.db, buyer.id)).toBe(before)

  const answers = await Promise.all([1, 2, 3].map(() => decide(approver, proposal, 'approve')))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409])
  expect(await balanceOf(test.db, buyer.id)).toBe(before + 100n)
  expect(await latest()).toMatchObject({ decision: 'approved', decided_by: second.id })
  expect(await rowsOf(test, 'audit_log', { subject: `proposal:${proposal.id}` })).toMatchObject([
    { action: 'proposal.create', actor_id: first.id },
    { action: 'proposal.approve', actor_id: second.id },
  ])
  expect(await rowsOf(test, 'audit_log', { subject: transaction_id })).toMatchObject([
    { action: 'order.refund', actor_id: first.id },
  ])
  const { body } = await approver.get(`${PATH}?show=all`)
  expect(body).toContain(transaction_id)
})

it('reversals and points are proposed too; lines keep their members', async () => {
  const to = { to_user_id: String(buyer.id), to_username: buyer.username }
  await paidOrder('1000')
  const sent = await merchant.transfer({ ...to, amount: '50', order_id: 'sent' })
  const before = await balanceOf(test.db, buyer.id)
  const reversal = await propose({ kind: 'reversal', transaction_id: String(sent.body.transaction_id) })
  expect((await decide(approver, reversal, 'approve')).status).toBe(303)
  expect(await balanceOf(test.db, buyer.id)).toBe(before - 50n)

  const lucky = await makePerson(test, { username: 'lucky' })
  const points = await propose({ kind: 'points', lines: `${lucky.username},70\n${buyer.username},-20` })
  await sql`update users set username = 'renamed' where id = ${lucky.id}`.execute(test.db)
  expect((await decide(approver, points, 'approve')).status).toBe(303)
  expect(await balanceOf(test.db, lucky.id)).toBe(70n)
  expect(await balanceOf(test.db, buyer.id)).toBe(before - 70n)

  const grant = await propose({ kind: 'points', lines: 'renamed,5' })
  const { body: waiting } = await approver.get('/admin/proposals')
  expect(waiting).toContain(t.titles.grant('5', 1))
  expect(waiting).toContain('<bdi>+5 points</bdi></a>')
  expect((await decide(approver, grant, 'approve')).status).toBe(303)
})

it('a blocked proposal stays open, and can be declined or withdrawn', async () => {
  const transaction_id = await paidOrder()
  const fields = { kind: 'refund', transaction_id, amount: '60', with_fee: 'on' }
  const { form_token = '' } = (await proposer.get('/admin')).form('/language')
  const beyond = { ...fields, amount: '101', form_token, reason: 'x' }
  expect((await proposer.post('/admin/adjustments', beyond)).status).toBe(409)
  const enough = await propose(fields)
  const tooMuch = await propose(fields)
  expect((await decide(approver, enough, 'approve')).status).toBe(303)
  expect((await decide(approver, tooMuch, 'approve')).status).toBe(409)
  expect((await latest()).decision).toBeNull()
  expect((await decide(approver, tooMuch, 'decline', { reason: ' ' })).status).toBe(400)
  expect((await decide(approver, tooMuch, 'decline', { reason: 'Too much' })).status).toBe(303)
  expect((await latest()).decision).toBe('declined')
  expect((await decide(approver, tooMuch, 'approve')).status).toBe(409)

  const own = await refund(transaction_id, '40')
  expect((await decide(proposer, own, 'decline', { reason: 'A mistake' })).status).toBe(303)
  expect((await latest()).decision).toBe('withdrawn')
  for (const id of ['999999', 'x'])
    expect((await decide(approver, { id: id as unknown as bigint }, 'approve')).status).toBe(404)
})

it('a refused merchant’s request can be proposed again, once at a time', async () => {
  const fields = await requested()
  const before = await balanceOf(test.db, buyer.id)
  const withdrawn = await propose(fields, 2)
  await decide(proposer, withdrawn, 'decline', { reason: 'Mistyped' })
  const declined = await propose(fields)
  expect(declined.id).not.toBe(withdrawn.id)
  await decide(approver, declined, 'decline', { reason: 'Not so' })

  const waiting = await propose(fields)
  for (const [by, reason] of [
    [approver, 'Broken cup'],
    [proposer, 'Another reason'],
  ] as const) {
    const refused = await by.submit(await prepare({ ...fields, reason }, by), '/admin/adjustments')
    expect(refused.status).toBe(409)
    expect(refused.body).toContain(t.earlier.open(first.username))
    expect(refused.body).not.toContain(`${t.propose}<`)
  }
  const late = await prepare(fields)
  expect((await latest()).id).toBe(waiting.id)
  expect((await decide(approver, waiting, 'approve')).status).toBe(303)
  const done = await proposer.submit(late, '/admin/adjustments')
  expect(done.status).toBe(409)
  expect(done.body).toContain(t.earlier.approved(first.username))
  expect(await balanceOf(test.db, buyer.id)).toBe(before + 100n)
  expect((await proposer.get('/admin/refund-requests')).body).not.toContain(fields.transaction_id)

  const both = await requested()
  const sheets = await Promise.all([prepare(both), prepare(both, approver)])
  const answers = await Promise.all([
    proposer.submit(sheets[0], '/admin/adjustments'),
    approver.submit(sheets[1], '/admin/adjustments'),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
})

it('two administrators switch the rule off, or the operator, never one', async () => {
  const switchTo = async (value: string, by = proposer) => {
    const { form_token = '' } = (await by.get('/admin')).form('/language')
    return by.post('/admin/settings', { form_token, second_approver: value, confirmed: 'yes' })
  }
  const state = () => rowOf(test, 'site_settings', { name: 'second_approver' })
  for (let sent = 0; sent < 2; sent += 1)
    expect(await switchTo('off')).toMatchObject({ status: 303, location: PATH })
  const proposal = await latest()
  expect(proposal).toMatchObject({ kind: 'setting', act: { setting: 'second_approver', value: 'off' } })
  const other = await switchTo('off', approver)
  expect(other.status).toBe(409)
  expect(other.body).toContain(t.earlier.open(first.username))
  expect((await decide(proposer, proposal, 'approve')).status).toBe(403)
  for (const by of [first.id, second.id])
    await expect(
      sql`update site_settings set value = 'off', updated_by = ${by}, updated_at = ${proposal.proposed_at}
        where name = 'second_approver'`.execute(test.db),
    ).rejects.toMatchObject({ constraint: 'site_settings_two_people' })
  await decide(proposer, proposal, 'decline', { reason: 'Not yet' })
  expect(await state()).toMatchObject({ value: 'on', updated_by: null })

  await switchTo('off')
  const { names, choices } = messages.en.settings
  expect((await approver.get(PATH)).body).toContain(
    t.titles.setting(names.second_approver.label, choices.off),
  )
  expect((await decide(approver, await latest(), 'approve')).status).toBe(303)
  expect(await state()).toMatchObject({ value: 'off', updated_by: first.id })
  test.clock.advance(1)
  expect((await switchTo('on')).status).toBe(303)
  // An approval allows only one change.
  expect(await switchTo('off')).toMatchObject({ status: 303, location: PATH })
  expect(await state()).toMatchObject({ value: 'on', updated_by: first.id })
  await decide(approver, await latest(), 'decline', { reason: 'No' })

  await setSetting(test, 'second_approver', 'off')
  expect(await state()).toMatchObject({ value: 'off', updated_by: null })
  await switchTo('on')
})

it.each([
  ['points_payment_fee_rate', '1', '0.01', '1%'],
  ['points_transfer_fee_rate_tl2', '2 %', '0.02', '2%'],
  ['points_transfer_max_amount_tl2', '999,999', '999999', '999,999 points'],
  ['points_transfer_daily_limit_tl0', '5', '5', '5 points'],
  ['forum_points_bridge', 'on', 'on', 'on'],
  ['forum_points_for_past_score', 'on', 'on', 'on'],
  ['forum_leaderboard_id', '3', '3', '3'],
] as const)('the setting %s is changed by two, and by nobody alone', async (name, typed, value, shown) => {
  const set = async (to: string, by = proposer) => {
    const { form_token = '' } = (await by.get('/admin')).form('/language')
    return by.post('/admin/settings', { form_token, [name]: to, confirmed: 'yes' })
  }
  const stored = async () => (await rowsOf(test, 'site_settings', { name }))[0]?.value
  expect(await set(` ${typed} `)).toMatchObject({ status: 303, location: PATH })
  expect(await stored()).toBeUndefined()
  expect((await set(typed, approver)).status).toBe(409)
  const alone = { name, value, updated_by: first.id }
  await expect(test.db.insertInto('site_settings').values(alone).execute()).rejects.toMatchObject({
    constraint: 'site_settings_two_people',
  })
  const [, setting, level] = /^(\w+?)(?:_tl(\d))?$/.exec(name) as unknown as [
    string,
    'forum_points_bridge',
    string?,
  ]
  const { names, ofLevel } = messages.en.settings
  const { label } = names[setting]
  const words = level === undefined ? label : ofLevel(label, messages.en.common.trustLevel(Number(level)))
  expect((await approver.get(PATH)).body).toContain(t.titles.setting(words, shown))
  expect((await decide(approver, await latest(), 'approve')).status).toBe(303)
  expect(await stored()).toBe(value)
  // The approved value is in force. Saving the same value changes nothing.
  expect((await set(typed)).location).not.toBe(PATH)
  if (value === 'on') return
  await expect(
    sql`update site_settings set value = '1', updated_by = ${first.id} where name = ${name}`.execute(test.db),
  ).rejects.toMatchObject({ constraint: 'site_settings_two_people' })
})

/** Posts a form of settings as the proposer. */
async function set(fields: Record<string, string>) {
  const { form_token = '' } = (await proposer.get('/admin')).form('/language')
  return proposer.post('/admin/settings', { form_token, confirmed: 'yes', ...fields })
}

it('bounds of transfers are judged over the form when proposed, and again when approved', async () => {
  const [least, most] = ['points_transfer_min_amount_tl0', 'points_transfer_max_amount_tl0'] as const
  const before = await latest()
  expect((await set({ [least]: '2000' })).status).toBe(400)
  expect((await latest()).id).toBe(before.id)
  expect((await set({ [least]: '2000', [most]: '3000' })).status).toBe(303)
  const { [least]: smallest, [most]: largest } = Object.fromEntries(
    (await rowsOf(test, 'proposals', { decision: null })).map((row) => [Object(row.act).setting, row]),
  )
  const { form_token = '' } = (await approver.get(PATH)).form('/language')
  for (const language of ['en', 'zh-CN'] as const) {
    const { settings, common, console } = messages[language]
    const nameOf = (bound: 'points_transfer_min_amount' | 'points_transfer_max_amount') =>
      settings.ofLevel(settings.names[bound].label, common.trustLevel(0))
    const words = console.proposals.crossed(
      nameOf('points_transfer_min_amount'),
      nameOf('points_transfer_max_amount'),
    )
    const headers = { 'accept-language': language }
    const refused = await approver.post(`${PATH}/${smallest!.id}/approve`, { form_token }, headers)
    expect([refused.status, refused.body.includes(words)]).toEqual([409, true])
  }
  expect((await decide(approver, largest!, 'approve')).status).toBe(303)
  expect((await decide(approver, smallest!, 'approve')).status).toBe(303)
})

it('a form is judged with the changes that wait for their approval', async () => {
  const [least, most] = ['points_transfer_min_amount_tl3', 'points_transfer_max_amount_tl3'] as const
  expect((await set({ [most]: '500' })).status).toBe(303)
  const waiting = await latest()
  const refused = await set({ [least]: '700' })
  expect([refused.status, refused.body.includes(messages.en.settings.crossedLater)]).toEqual([400, true])
  expect(await latest()).toEqual(waiting)
  await expect(
    test.deps.settings.changeAll(
      [{ name: least, value: '700', actor_id: first.id, ip: null, now: test.clock.now() }],
      async () => undefined,
    ),
  ).rejects.toMatchObject({ code: 'invalid_form' })
  expect((await decide(approver, waiting, 'decline', { reason: 'No' })).status).toBe(303)
  expect((await set({ [least]: '700' })).status).toBe(303)
})

it('brakes take one administrator while the rule is on', async () => {
  for (const [name, value] of [
    ['forum_points_bridge', 'off'],
    ['points_transfers', 'off'],
    ['points_transfers', 'on'],
    ['payments_read_only', 'on'],
    ['payments_read_only', 'off'],
  ] as const) {
    const change = { name, value, actor_id: first.id, ip: '203.0.113.7', now: test.clock.now() }
    expect(await test.deps.settings.change(change), name).toBe(true)
  }
})

it('two administrators set an application’s terms, one proposal at a time', async () => {
  const page = `/admin/payment-applications/${merchant.payment_id}`
  const set = async (fee_rate: string, by = proposer, reason = 'A trial') => {
    const shown = await by.get(page)
    expect(shown.body).toContain(`${t.propose}</button>`)
    const terms = { fee_rate, daily_payments_max: '5000', daily_transfers_max: '', reason }
    return by.submit(shown, `${page}/terms`, terms)
  }
  const app = () => rowOf(test, 'payment_apps', { id: merchant.id })
  const before = await app()
  for (let sent = 0; sent < 2; sent += 1)
    expect(await set('2')).toMatchObject({ status: 303, location: PATH })
  const proposal = await latest()
  const { payment_id } = merchant
  expect(proposal).toMatchObject({ kind: 'terms', act: { payment_id }, reason: 'A trial' })
  for (const [by, rate] of [
    [approver, '2'],
    [proposer, '3'],
  ] as const) {
    const refused = await set(rate, by)
    expect(refused.status).toBe(409)
    expect(refused.body).toContain(t.earlier.open(first.username))
    expect(refused.body).toContain(`value="${rate}"`)
  }
  expect(await app()).toEqual(before)
  for (const change of ['fee_rate = 0.02', 'daily_payments_max = 7', 'daily_transfers_max = 7'])
    await expect(
      sql`update payment_apps set ${sql.raw(change)} where id = ${merchant.id}`.execute(test.db),
    ).rejects.toMatchObject({ constraint: 'payment_apps_two_people' })
  expect((await decide(proposer, proposal, 'approve')).status).toBe(403)
  const { body } = await approver.get(PATH)
  expect(body).toContain(`href="${page}"`)
  expect(body).toContain('<dd><bdi>5,000</bdi></dd>')

  expect((await decide(approver, proposal, 'approve')).status).toBe(303)
  const after = { daily_payments_max: 5000n, daily_transfers_max: null }
  expect(await app()).toMatchObject({ ...after, fee_rate: expect.stringMatching(/^0\.020*$/) })
  const trail = await rowsOf(test, 'audit_log', { action: 'payment_app.terms', subject: payment_id })
  expect(trail).toMatchObject([{ actor_id: first.id }])
  // Other terms, and then the first terms again.
  for (const rate of ['5', '2']) {
    expect(await set(rate)).toMatchObject({ status: 303, location: PATH })
    expect((await decide(approver, await latest(), 'approve')).status).toBe(303)
  }
  // Other columns of an application can be changed as before.
  await sql`update payment_apps set updated_at = updated_at where id = ${merchant.id}`.execute(test.db)
})

it('the database refuses changes that skip the question whether they need two', async () => {
  const by = { actor_id: first.id, ip: null, now: test.clock.now() }
  const change = { name: 'points_transfer_fee_rate_tl4', value: '0.5', ...by } as const
  const terms = { fee_rate: '0.5', daily_payments_max: null, daily_transfers_max: null, reason: '' }
  const inOne = (act: (tx: Tx) => Promise<void>) => test.db.transaction().execute(act)
  await expect(inOne((tx) => test.deps.settings.changeWithin(tx, change))).rejects.toMatchObject({
    constraint: 'site_settings_two_people',
  })
  await expect(inOne((tx) => setTermsWithin(tx, merchant.payment_id, terms, by))).rejects.toMatchObject({
    constraint: 'payment_apps_two_people',
  })
})

it('an act becomes a proposal when the rule begins while the act waits', async () => {
  await setSetting(test, 'second_approver', 'off')
  const transaction_id = await paidOrder()
  const { form_token = '' } = (await proposer.get('/admin')).form('/language')
  const act = { kind: 'refund', transaction_id, amount: '100', with_fee: 'on', reason: 'Broken' }
  const sheet = await proposer.post('/admin/adjustments', { form_token, ...act })
  const page = `/admin/payment-applications/${merchant.payment_id}`
  const shown = await proposer.get(page)
  const terms = { fee_rate: '9', daily_payments_max: '', daily_transfers_max: '', reason: 'x' }
  const before = await rowOf(test, 'payment_apps', { id: merchant.id })
  const answers = await test.db.transaction().execute(async (tx) => {
    await lockSettings(tx)
    const sent = Promise.all([
      proposer.submit(sheet, '/admin/adjustments'),
      proposer.submit(shown, `${page}/terms`, terms),
      set({ points_transfer_fee_rate_tl3: '9' }),
    ])
    await untilBlocked(tx, 3)
    await sql`update site_settings set value = 'on' where name = 'second_approver'`.execute(tx)
    return { sent }
  })
  for (const answer of await answers.sent) expect(answer).toMatchObject({ status: 303, location: PATH })
  expect((await merchant.query({ transaction_id })).body).toMatchObject({ refunded_amount: 0 })
  expect(await rowOf(test, 'payment_apps', { id: merchant.id })).toEqual(before)
  expect(await rowsOf(test, 'site_settings', { name: 'points_transfer_fee_rate_tl3' })).toEqual([])
  const open = await rowsOf(test, 'proposals', { decision: null })
  expect(
    open
      .slice(-3)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['refund', 'setting', 'terms'])
})

it('an approval and another proposal of the same setting do not block each other', async () => {
  const name = 'points_transfer_fee_rate_tl1'
  expect((await set({ [name]: '1' })).status).toBe(303)
  const proposal = await latest()
  const answers = await test.db.transaction().execute(async (tx) => {
    await lockSettings(tx)
    const proposed = set({ [name]: '2' })
    await untilBlocked(tx)
    const approved = decide(approver, proposal, 'approve')
    await untilBlocked(tx, 2)
    return { sent: Promise.all([proposed, approved]) }
  })
  expect((await answers.sent).map(({ status }) => status)).toEqual([409, 303])
})

it('the database refuses approval alone, late, twice, or of something else', async () => {
  const { id } = await refund(await paidOrder())
  const set = (values: string) => sql.raw(`update proposals set ${values} where id = ${id}`).execute(test.db)
  const decided = (decision: string, by: bigint, at = 'proposed_at') =>
    set(`decision = '${decision}', decided_by = ${by}, decided_at = ${at}`)
  const expectRefused = (deciding: Promise<unknown>, rule: string) =>
    expect(deciding).rejects.toMatchObject({ constraint: `proposals_${rule}` })
  await expectRefused(decided('approved', first.id), 'two_people')
  await expectRefused(decided('withdrawn', second.id), 'own_withdrawal')
  await expectRefused(decided('approved', second.id, 'expires_at'), 'in_time')
  await expect(set(`act = act || '{"amount": "1"}'`)).rejects.toThrow(/never changed/)
  await expect(sql`delete from proposals`.execute(test.db)).rejects.toThrow(/append-only/)
  await decided('declined', second.id)
  await expect(decided('approved', second.id)).rejects.toThrow(/never changed/)
})

it('counts from a current administrator only, not a demoted or barred one', async () => {
  const { id } = await refund(await paidOrder())
  const before = await balanceOf(test.db, buyer.id)
  const change = (values: { is_admin?: boolean; is_banned?: boolean }) =>
    test.db.updateTable('users').set(values).where('id', '=', first.id).execute()
  const { form_token = '' } = (await approver.get('/admin')).form('/language')
  const approve = () => approver.post(`${PATH}/${id}/approve`, { form_token })
  for (const out of [{ is_admin: false }, { is_admin: true, is_banned: true }]) {
    await change(out)
    expect((await approve()).status).toBe(409)
  }
  expect(await balanceOf(test.db, buyer.id)).toBe(before)
  expect((await latest()).decision).toBeNull()
  await change({ is_banned: false })
  expect((await approve()).status).toBe(303)
  expect(await balanceOf(test.db, buyer.id)).toBeGreaterThan(before)
})

it('a proposal is over after a week, and may be made again', async () => {
  const fields = await requested()
  const old = await propose(fields)
  const transaction_id = await paidOrder()
  const proposal = await refund(transaction_id)
  test.clock.advance(7 * DAY_MS)
  const later = await second.signIn()
  expect((await later.get(PATH)).body).not.toContain(`action="${PATH}/${proposal.id}/approve"`)
  expect((await decide(later, proposal, 'approve')).status).toBe(409)
  const stale = await decide(approver, proposal, 'approve')
  expect(stale.status).toBe(409)
  expect(stale.body).toContain('/sign-in')
  expect((await merchant.query({ transaction_id })).body).toMatchObject({ refunded_amount: 0 })

  const again = await propose(fields, 1, await first.signIn())
  expect(again.id).not.toBe(old.id)
  expect(await rowOf(test, 'proposals', { id: old.id })).toMatchObject({
    decision: 'expired',
    decided_by: null,
  })
  expect((await decide(later, again, 'approve')).status).toBe(303)
  expect((await merchant.query({ transaction_id: fields.transaction_id })).body).toMatchObject({
    refunded_amount: 100,
  })
  expect((await later.get(`${PATH}?show=all`)).body).toContain(t.states.expired)
})
