/**
 * Mandates in the HMAC API: the requests, their answers and every refusal with its code, status and JSON types.
 * spec/mandates 2.1 and 4.1.
 */
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { acceptMandate } from '../../../src/payment/mandates/consent.ts'
import { givePoints, makePerson, type Person } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { decideRight, IP, makeMandateMerchant, switchMandates } from '../../harness/mandates.ts'
import { type Answer, type Merchant, makeMerchant, merchantSign, post } from '../../harness/merchant.ts'
import { rowOf, setRows } from '../../harness/rows.ts'

let merchant: Merchant
let member: Person
let count = 0

const test = await useTestApp()
await switchMandates(test)
beforeEach(async () => {
  merchant = await makeMandateMerchant(test)
  member = await makePerson(test, { points: 1_000n })
})

type Fields = Record<string, string>

const signed = (fields: Fields, token = merchant.token) => ({
  ...fields,
  signature: merchantSign(token, fields),
})
const send = (act: string, fields: Fields, headers: Fields = {}, by: Merchant = merchant) =>
  test.app
    .inject({
      method: 'POST',
      url: act === 'list' ? `/payment/mandates/${by.payment_id}` : `/payment/mandate/${by.payment_id}/${act}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(signed(fields, by.token)).toString(),
    })
    .then((response): Answer & { headers: typeof response.headers } => ({
      status: response.statusCode,
      body: response.json(),
      headers: response.headers,
    }))
const terms = (over: Fields = {}): Fields => ({
  reference: `sub-${++count}`,
  purpose: 'Tea',
  charge_max: '100',
  period_max: '250',
  period: 'month',
  ...over,
})
const chargeOf = (mandate_id: string, amount: string, over: Fields = {}): Fields => ({
  mandate_id,
  order_id: `c-${++count}`,
  amount,
  description: 'Tea',
  ...over,
})
async function offered(over: Fields = {}): Promise<string> {
  const { status, body } = await send('offer', terms(over))
  expect([status, body], JSON.stringify(body)).toEqual([200, expect.anything()])
  return String(body.mandate_id)
}
async function accepted(over: Fields = {}): Promise<string> {
  const mandate_id = await offered(over)
  const acceptance = { user_id: member.id, ip: IP, isFresh: true }
  expect(await acceptMandate(test.deps, mandate_id, acceptance)).toBeUndefined()
  return mandate_id
}

/** The one shape of every refusal, spec/payment-api 2.5. */
function expectRefusal(
  { status, body }: Answer,
  expected: { status?: number; code: number; text: RegExp | string; data?: unknown },
): void {
  const { error, errors, data } = body as { error: string; errors: { code: number }[]; data: unknown }
  expect([errors[0]!.code, status], error).toEqual([expected.code, expected.status ?? 400])
  if (typeof expected.text === 'string') expect(error).toBe(expected.text)
  else expect(error).toMatch(expected.text)
  expect(data).toEqual(expected.data ?? null)
  expect(body).toMatchObject({ success: false, message: error, errors: [{ detail: error }] })
}

describe('an offer', () => {
  it('answers its page, and the same again', async () => {
    const fields = terms()
    const { status, body } = await send('offer', fields)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      mandate_id: expect.stringMatching(/^mdt_[a-z0-9]{24}$/),
      mandate_url: `${test.url}/payment/mandate/${body.mandate_id}`,
      reference: fields.reference,
      status: 'pending',
      expires_at: '2026-01-02T00:00:00Z',
    })
    expect((await send('offer', fields)).body).toEqual(body)
    expectRefusal(await send('offer', { ...fields, purpose: 'Coffee' }), { code: 1005, text: /other terms/ })
  })

  it.each([
    [{ reference: '' }, 1004, 'Missing parameter: reference'],
    [{ reference: 'a b' }, 1005, /^Invalid reference: /],
    [{ reference: 'x'.repeat(129) }, 1005, /^Invalid reference: /],
    [{ purpose: '' }, 1004, 'Missing parameter: purpose'],
    [{ purpose: '茶'.repeat(256) }, 1005, /^Invalid purpose: /],
    [{ period: '' }, 1004, 'Missing parameter: period'],
    [{ period: 'year' }, 1005, 'Invalid period: one of day, week, month'],
    [{ charge_max: '', period_max: '' }, 1004, 'Missing parameter: amount, or charge_max and period_max'],
    [{ charge_max: '' }, 1004, 'Missing parameter: charge_max'],
    [{ period_max: '' }, 1004, 'Missing parameter: period_max'],
    [{ charge_max: '251' }, 1005, 'Invalid charge_max: at most period_max'],
    [{ charge_max: '0' }, 1005, /^Invalid charge_max: /],
    [{ period_max: '9007199254740992' }, 1005, /^Invalid period_max: /],
    [{ amount: '5' }, 1005, 'Invalid amount: given with charge_max or period_max'],
    [{ starts_on: '2026-02-30' }, 1005, 'Invalid starts_on: a day as YYYY-MM-DD'],
    [{ starts_on: '20260201' }, 1005, 'Invalid starts_on: a day as YYYY-MM-DD'],
    [{ starts_on: '2026-04-02' }, 1005, 'Invalid starts_on: a day from 2026-01-01 to 2026-04-01'],
    [{ ends_on: '2025-12-31' }, 1005, 'Invalid ends_on: a day from 2026-01-01 to 2027-01-02'],
    [{ starts_on: '2025-12-31' }, 1005, 'Invalid starts_on: a day from 2026-01-01 to 2026-04-01'],
    [{ ends_on: '2027-01-03' }, 1005, 'Invalid ends_on: a day from 2026-01-01 to 2027-01-02'],
    [{ starts_on: '2026-02-01', ends_on: '2026-01-31' }, 1005, /^Invalid ends_on: /],
    [{ starts_on: '2026-02-01', ends_on: '2027-02-03' }, 1005, /^Invalid ends_on: /],
    [{ user_id: 'alice' }, 1005, /^Invalid user_id: /],
    [{ user_id: '999999999' }, 1005, /no such member/],
    [{ with_token: 'no' }, 1005, 'Invalid with_token: yes, or absent'],
    [{ replaces: 'mdt_000000000000000000000000' }, 1021, 'Mandate not found'],
  ])('with %o is refused', async (over, code, text) => {
    expectRefusal(await send('offer', terms(over as Fields)), { code, text })
  })

  it.each([
    [{ starts_on: '2026-04-01' }],
    [{ starts_on: '2026-02-01', ends_on: '2027-02-02' }],
    [{ ends_on: '2027-01-02' }],
    [{ ends_on: '2026-01-01' }],
  ])('with %o is accepted', async (over) => {
    await accepted(over as Fields)
  })

  it('keeps its purpose as sent, at the bounds', async () => {
    for (const over of [
      { purpose: '茶'.repeat(255), reference: 'x'.repeat(128) },
      { purpose: ' ‮evil', charge_max: '9007199254740991', period_max: '9007199254740991' },
      { purpose: 'x', charge_max: '1', period_max: '1', starts_on: '2026-04-01', ends_on: '2027-04-02' },
    ]) {
      const { body } = await send('query', { mandate_id: await offered(over) })
      expect(body).toMatchObject({ purpose: over.purpose, status: 'pending', reason: 'not_accepted' })
    }
  })

  it('is refused for a suspended application, and while payments are paused', async () => {
    const setStatus = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: merchant.id }, { status })
    await setStatus('suspended')
    const suspended = { code: 1009, text: 'This payment application is suspended' }
    expectRefusal(await send('offer', terms()), suspended)
    await setStatus('approved')
    await setSetting(test, 'payments_read_only', 'on')
    const paused = await send('offer', terms())
    expect([paused.status, paused.headers['retry-after']]).toEqual([503, '60'])
    await setSetting(test, 'payments_read_only', 'off')
  })
})

describe('the mandate object', () => {
  it('has integers for points and ids, UTC for times, and null for what does not exist', async () => {
    const mandate_id = await accepted({ reference: 'all-fields' })
    await send('charge', chargeOf(mandate_id, '30'))
    const { status, body } = await send('query', { mandate_id })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      mandate_id,
      reference: 'all-fields',
      status: 'active',
      reason: null,
      kind: 'up_to',
      purpose: 'Tea',
      charge_max: 100,
      period_max: 250,
      period: 'month',
      starts_on: '2026-01-01',
      ends_on: '2026-12-31',
      with_token: false,
      replaces: null,
      user_id: Number(member.id),
      username: member.username,
      accepted_at: '2026-01-01T00:00:00Z',
      ended_at: null,
      period_from: '2026-01-01',
      period_to: '2026-01-31',
      spent: 30,
      left: 220,
      resets_at: '2026-01-31T16:00:00Z',
      next_charge_on: null,
      version: 2,
      updated_at: '2026-01-01T00:00:00Z',
    })
    expect((await send('query', { reference: 'all-fields' })).body).toEqual(body)
    const fixed = await accepted({ amount: '30', charge_max: '', period_max: '' })
    expect((await send('query', { mandate_id: fixed })).body).toMatchObject({
      kind: 'fixed',
      charge_max: 30,
      period_max: 30,
      next_charge_on: '2026-01-01',
    })
    await send('charge', chargeOf(fixed, '30'))
    expect((await send('query', { mandate_id: fixed })).body.next_charge_on).toBe('2026-02-01')
    const pending = await send('query', { mandate_id: await offered() })
    expect(pending.body).toMatchObject({
      user_id: null,
      spent: null,
      left: null,
      starts_on: null,
      period_from: null,
    })
  })

  it('is found by its own application only', async () => {
    const mandate_id = await accepted()
    const other = await makeMerchant(test)
    const notFound = { code: 1021, text: 'Mandate not found' }
    expectRefusal(await send('query', { mandate_id }, {}, other), notFound)
    expectRefusal(await send('query', { mandate_id: 'x' }), notFound)
    expectRefusal(await send('query', { reference: 'unknown' }), notFound)
    expectRefusal(await send('query', {}), { code: 1004, text: 'Missing parameter: mandate_id' })
    expectRefusal(await send('revoke', { mandate_id, reason: 'x' }, {}, other), notFound)
    expectRefusal(await send('charge', chargeOf(mandate_id, '1'), {}, other), notFound)
  })

  it('says that it was revoked, and says it again', async () => {
    const mandate_id = await accepted()
    expectRefusal(await send('revoke', { mandate_id }), { code: 1004, text: 'Missing parameter: reason' })
    const { status, body } = await send('revoke', { mandate_id, reason: 'Closed' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'ended',
      reason: 'merchant',
      ended_at: '2026-01-01T00:00:00Z',
      left: null,
    })
    expect((await send('revoke', { mandate_id, reason: 'Other words' })).body).toEqual(body)
    expectRefusal(await send('offer', terms({ reference: String(body.reference) })), {
      code: 1006,
      text: 'Mandate already exists with status ended',
      data: { status: 'ended', mandate_id },
    })
  })

  it('is read and revoked by a suspended application, and never by a former owner', async () => {
    const mandate_id = await accepted()
    const setApp = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: merchant.id }, { status })
    await setApp('suspended')
    expect((await send('query', { mandate_id })).status).toBe(200)
    expect((await send('list', {})).status).toBe(200)
    await setApp('approved')
    const buyer = await makePerson(test)
    const later = new Date(test.clock.now().getTime() + 1_000)
    await sql`select hand_over_application(${merchant.id}, ${buyer.id}, ${later})`.execute(test.db)
    // What the former owner knew stays readable. The mandate now waits for its member.
    expect((await send('query', { mandate_id })).body).toMatchObject({
      status: 'paused',
      reason: 'owner_changed',
    })
    const former = { code: 1009, text: /has a new owner/ }
    expectRefusal(await send('revoke', { mandate_id, reason: 'x' }), former)
    expectRefusal(await send('offer', terms()), former)
    expectRefusal(await send('charge', chargeOf(mandate_id, '1')), former)
    await sql`update mandates set payee_id = ${buyer.id} where mandate_id = ${mandate_id}`.execute(test.db)
    expectRefusal(await send('query', { mandate_id }), { code: 1021, text: 'Mandate not found' })
    expect((await send('list', {})).body.data).toEqual([])
  })
})

describe('a charge', () => {
  it('answers its order and its period, and the same again', async () => {
    const mandate_id = await accepted()
    const fields = chargeOf(mandate_id, '100', { description: '一月' })
    const { status, body } = await send('charge', fields)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      transaction_id: expect.stringMatching(/^txn_[a-z0-9]{24}$/),
      order_id: fields.order_id,
      status: 'completed',
      amount: 100,
      platform_fee: 5,
      merchant_points: 95,
      description: '一月',
      external_reference: fields.order_id,
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
      paid_at: '2026-01-01T00:00:00Z',
      expires_at: '2026-01-01T00:00:00Z',
      expired: false,
      error_message: null,
      refunded_amount: 0,
      frozen: false,
      mandate_id,
      period_from: '2026-01-01',
      spent: 100,
      left: 150,
      resets_at: '2026-01-31T16:00:00Z',
    })
    await send('charge', chargeOf(mandate_id, '50'))
    expect((await send('charge', fields)).body).toEqual(body)
    const { transaction_id } = body
    const posted = await rowOf(test, 'journal', { reference: String(transaction_id) })
    expect(posted).toMatchObject({ kind: 'payment', actor_id: null })
    const queried = await merchant.query({ transaction_id: String(transaction_id) })
    expect(queried.body).toMatchObject({ transaction_id, mandate_id, status: 'completed' })
    // The way above a cap is an ordinary payment, and one order_id is paid once.
    const again = await merchant.process({ order_id: fields.order_id!, amount: '100', description: 'x' })
    expectRefusal(again, {
      code: 1006,
      text: 'Order already exists with status completed',
      data: { status: 'completed', transaction_id },
    })
    const { body: byHand } = await merchant.process({
      order_id: `hand-${count}`,
      amount: '1',
      description: 'x',
    })
    expect(
      (await merchant.query({ transaction_id: String(byHand.transaction_id) })).body.mandate_id,
    ).toBeNull()
  })

  it('is refused with its code, its figures and its text', async () => {
    const mandate_id = await accepted({ period_max: '130' })
    const ask = (amount: string, over: Fields = {}, headers: Fields = {}) =>
      send('charge', chargeOf(mandate_id, amount, over), headers)
    expectRefusal(await ask('', {}), { code: 1004, text: 'Missing parameter: amount' })
    expectRefusal(await ask('1.5'), { code: 1005, text: /^Invalid amount: / })
    expectRefusal(await ask('101'), {
      code: 1023,
      text: 'The amount is above the limit of a charge (100)',
      data: { limit: 100, exactly: false },
    })
    expect((await ask('100', { order_id: 'the-hundred' })).status).toBe(200)
    expectRefusal(await ask('31'), {
      code: 1024,
      text: 'The limit of this period is reached (130, spent 100, left 30)',
      data: { limit: 130, spent: 100, left: 30, resets_at: '2026-01-31T16:00:00Z' },
    })
    expectRefusal(await ask('99', { order_id: 'the-hundred' }), {
      code: 1005,
      text: /another mandate or amount/,
    })
    for (const authorization of ['Bearer wrong', 'Bearer']) {
      const refused = { status: 401, code: 1025, text: /access token/ }
      expectRefusal(await ask('1', {}, { authorization }), refused)
    }
    // Another scheme is no access token.
    expect((await ask('1', {}, { authorization: 'Basic eDp5' })).status).toBe(200)
    expectRefusal(await send('charge', chargeOf(await offered(), '1')), {
      code: 1022,
      text: 'The mandate is not active (not_accepted)',
      data: { status: 'pending', reason: 'not_accepted' },
    })
    await decideRight(test, merchant, { decision: 'grant', daily_max: 110n })
    expectRefusal(await ask('10'), { code: 1013, text: 'Daily limit reached (110)', data: { limit: 110 } })
    await decideRight(test, merchant, { decision: 'grant', daily_max: 1_000n })
    await givePoints(test, member, -895n)
    for (let times = 0; times < 10; times += 1)
      expectRefusal(await ask('10'), {
        code: 1010,
        text: 'The member has too few points (need 10)',
        data: { need: 10 },
      })
    const often = await ask('10')
    expectRefusal(often, { status: 429, code: 1029, text: /too often/ })
    expect(often.headers['retry-after']).toBe('3600')
    await sql`update users set is_banned = true where id = ${member.id}`.execute(test.db)
    expectRefusal(await ask('1'), { code: 1019, text: 'The wallet of this member cannot be charged now' })
    await decideRight(test, merchant, { decision: 'withdraw' })
    expectRefusal(await ask('1'), {
      code: 1020,
      text: 'Mandates are not available to this payment application',
    })
  })

  it('signed as another request is none of it', async () => {
    const mandate_id = await accepted()
    // The callback of the mandate page, which passes through a browser.
    const callback = { decided_at: 'x', mandate_id, mandate_status: 'active', reference: 'r' }
    for (const act of ['query', 'revoke', 'charge']) {
      const fields = { ...callback, reason: 'x', order_id: 'o', amount: '1', description: 'x' }
      const { status, body } = await send(act, fields)
      const [error] = body.errors as unknown as { code: number; detail: string }[]
      expect([status, error!.code]).toEqual([401, 1001])
      expect(error!.detail).toMatch(/parameters of a callback/)
    }
  })
})

describe('the lists', () => {
  it('page through mandates, by status and time', async () => {
    const made = [await accepted(), await offered(), await accepted(), await offered()]
    const idsOf = ({ body }: Answer) =>
      (body.data as unknown as { mandate_id: string }[]).map((one) => one.mandate_id)
    expect(idsOf(await send('list', {}))).toEqual(made.toReversed())
    const first = await send('list', { limit: '3', order: 'asc' })
    expect(idsOf(first)).toEqual(made.slice(0, 3))
    const rest = await send('list', { limit: '3', order: 'asc', cursor: String(first.body.next_cursor) })
    expect([idsOf(rest), rest.body.next_cursor]).toEqual([[made[3]], null])
    expect(idsOf(await send('list', { status: 'pending' }))).toEqual([made[3], made[1]])
    const now = String(test.clock.now().getTime() / 1000)
    expect(idsOf(await send('list', { until: now }))).toEqual([])
    expect(idsOf(await send('list', { since: now }))).toHaveLength(4)
    expectRefusal(await send('list', { cursor: 'mdt_x' }), { code: 1005, text: /^Invalid cursor/ })
    expectRefusal(await send('list', { status: 'none' }), { code: 1005, text: /^Invalid status/ })
  })

  it('page through the orders of one mandate', async () => {
    const [mandate_id, other] = [await accepted(), await accepted()]
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      ids.push(String((await send('charge', chargeOf(mandate_id, '10'))).body.order_id))
      await send('charge', chargeOf(other, '10'))
    }
    const orders = (fields: Fields) =>
      post(test, `/payment/orders/${merchant.payment_id}`, signed({ mandate_id, ...fields }))
    const idsOf = ({ body }: Answer) =>
      (body.data as unknown as { order_id: string }[]).map((one) => one.order_id)
    expect(idsOf(await orders({}))).toEqual(ids.toReversed())
    const first = await orders({ limit: '2', order: 'asc' })
    expect(idsOf(first)).toEqual(ids.slice(0, 2))
    expect((first.body.data as unknown as { mandate_id: string }[])[0]!.mandate_id).toBe(mandate_id)
    const rest = await orders({ limit: '3', order: 'asc', cursor: String(first.body.next_cursor) })
    expect([idsOf(rest), rest.body.next_cursor]).toEqual([ids.slice(2), null])
    expectRefusal(await orders({ mandate_id: 'mdt_x' }), { code: 1021, text: 'Mandate not found' })
  })
})

it('offers and charges of a test application count to its limit', async () => {
  const twin = await makeMerchant(test, { twinOf: merchant })
  const { status, body } = await send('offer', terms(), {}, twin)
  expect(status).toBe(200)
  const mandate_id = String(body.mandate_id)
  expect(
    await acceptMandate(test.deps, mandate_id, { user_id: member.id, ip: IP, isFresh: false }),
  ).toBeUndefined()
  await setSetting(test, 'limit_test_orders', '3')
  const fields = chargeOf(mandate_id, '100')
  expect((await send('charge', fields, {}, twin)).status).toBe(200)
  expect((await send('charge', chargeOf(mandate_id, '1'), {}, twin)).status).toBe(200)
  expect((await send('charge', chargeOf(mandate_id, '1'), {}, twin)).status).toBe(429)
  expect((await send('charge', fields, {}, twin)).body).toMatchObject({ spent: 100, left: 150 })
  expect((await send('offer', terms(), {}, twin)).status).toBe(429)
  await setSetting(test, 'limit_test_orders', '1000')
})
