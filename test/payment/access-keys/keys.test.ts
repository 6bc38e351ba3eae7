/** Access keys, their tokens, and the JSON API: spec/access-keys 1.1–1.3, 2.1–2.2 and 3.1–3.3. */
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AccessKeyCredentials,
  createAccessKey,
  KEYS_MAX,
  type NewAccessKey,
  revokeAccessKey,
} from '../../../src/payment/access-keys/keys.ts'
import { acceptMandate } from '../../../src/payment/mandates/consent.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { changePerson, givePoints, makePerson, type Person } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { makeLink, orderAt } from '../../harness/links.ts'
import { giveRight, makeMandate, switchMandates } from '../../harness/mandates.ts'
import {
  handOver,
  joinTeam,
  type Merchant,
  makeMerchant,
  merchantSign,
  post,
  recipientFields,
} from '../../harness/merchant.ts'
import { rowOf, rowsOf } from '../../harness/rows.ts'

const IP = '203.0.113.7'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ALL: NewAccessKey['scopes'] = ['orders:read', 'orders:write', 'transfers', 'mandates']

const test = await useTestApp()
const { deps, db } = test
await switchMandates(test)
await setSetting(test, 'limit_key_pairs', '0')
await setSetting(test, 'limit_apps_created', '0')
const buyer = await makePerson(test, { points: 10_000n })
const pay = makePayOrder(deps)

let merchant: Merchant
let key: AccessKeyCredentials
beforeEach(async () => {
  merchant = await makeMerchant(test)
  key = await makeKey()
})

const actorOf = ({ id }: Pick<Person, 'id'>) => ({ user_id: id, ip: IP })
const createKey = (
  over: Partial<NewAccessKey> = {},
  by: Pick<Person, 'id'> = merchant.owner,
  of = merchant,
) =>
  createAccessKey(
    deps,
    of.payment_id,
    { name: 'Raffle', scopes: ALL, days: 90, allowed_addresses: [], ...over },
    actorOf(by),
  )
async function makeKey(...of: Parameters<typeof createKey>): Promise<AccessKeyCredentials> {
  const made = await createKey(...of)
  if (typeof made === 'string') throw new Error(made)
  return made
}
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

type Sent = {
  from?: string
  json?: unknown
  form?: Record<string, string> | string
  headers?: Record<string, string>
}
/** Sends a request. The clients of tests are at 127.0.0.1. */
async function send(
  method: 'GET' | 'POST',
  url: string,
  { from = '127.0.0.1', json, form, headers = {} }: Sent = {},
) {
  const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  const payload =
    json === undefined
      ? form === undefined
        ? undefined
        : new URLSearchParams(form).toString()
      : JSON.stringify(json)
  const response = await test.app.inject({
    method,
    url,
    remoteAddress: from,
    headers: { ...(payload !== undefined && { 'content-type': type }), ...headers },
    ...(payload !== undefined && { payload }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}
const basic = ({ client_id, client_secret }: AccessKeyCredentials) => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
})
const GRANT = { grant_type: 'client_credentials' }
const asked = (form: Record<string, string> = {}, of = key) =>
  send('POST', '/payment/token', { form: { ...GRANT, ...of, ...form } })
const tokenOf = async (form: Record<string, string> = {}, of = key): Promise<string> => {
  const { status, body } = await asked(form, of)
  expect([status, body.error]).toEqual([200, undefined])
  return body.access_token
}
const call = (token: string, method: 'GET' | 'POST', path: string, sent: Sent = {}) =>
  send(method, `/api/payment${path}`, {
    ...sent,
    headers: { authorization: `Bearer ${token}`, ...sent.headers },
  })
const refusedWith = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  (body.errors as { code: number }[] | undefined)?.[0]?.code,
]
let count = 0
const order = (over: object = {}) => ({
  order_id: `rest-${++count}`,
  amount: 100,
  description: 'Tea',
  ...over,
})
const transferTo = (to: Person, over: object = {}) => ({
  to_user_id: Number(to.id),
  to_username: to.username,
  amount: 10,
  order_id: `pay-${++count}`,
  ...over,
})

/** All values of a table as text, bytes too. */
const texts = async (table: 'access_keys' | 'access_key_tokens') =>
  (await rowsOf(test, table, {})).flatMap((row) => Object.values(row).map(String)).join('\n')

describe('an access key', () => {
  it('shows its book, and its secret only once', async () => {
    expect(key.client_id).toMatch(/^ak_[a-z0-9]{20}$/)
    expect(key.client_id).not.toMatch(/^ak_test/)
    expect(key.client_secret).toMatch(/^sk_[A-Za-z0-9]{40}$/)
    const stored = await texts('access_keys')
    expect(stored).not.toContain(key.client_secret.slice(3))
    const ofTests = await makeMerchant(test, { twinOf: merchant })
    const made = await makeKey({}, merchant.owner, ofTests)
    expect(made.client_id).toMatch(/^ak_test[a-z0-9]{16}$/)
    const token = await tokenOf({}, made)
    expect((await call(token, 'POST', '/orders', { json: order() })).status).toBe(200)
    expect(await rowsOf(test, 'orders', { app_id: ofTests.id })).toMatchObject([{ book: 'test' }])
  })

  it('that moves points is made by the owner alone, others by those who manage keys', async () => {
    const manager = await joinTeam(test, merchant, 'manager')
    const operator = await joinTeam(test, merchant, 'operator')
    expect(await codeOf(makeKey({ scopes: ['transfers'] }, manager))).toBe('forbidden')
    expect(await codeOf(makeKey({ scopes: ['orders:read'] }, operator))).toBe('forbidden')
    expect(await codeOf(makeKey({ scopes: ['orders:read'] }, buyer))).toBe('not_found')
    expect(await codeOf(makeKey({ scopes: ['orders:read'] }, manager))).toBe('done')
    expect(await codeOf(revokeAccessKey(deps, merchant.payment_id, key.client_id, actorOf(operator)))).toBe(
      'forbidden',
    )
    const other = await makeMerchant(test)
    const revoked = revokeAccessKey(deps, other.payment_id, key.client_id, actorOf(other.owner))
    expect(await codeOf(revoked)).toBe('not_found')
  })

  it('is one of at most twenty that are neither revoked nor expired', async () => {
    await makeKey({ days: 1 })
    for (let n = 2; n < KEYS_MAX; n += 1) await makeKey()
    expect(await createKey()).toBe('full')
    await revokeAccessKey(deps, merchant.payment_id, key.client_id, actorOf(merchant.owner))
    expect(await createKey()).toMatchObject({ client_id: expect.any(String) })
    expect(await createKey()).toBe('full')
    test.clock.advance(DAY_MS)
    expect(await createKey()).toMatchObject({ client_id: expect.any(String) })
  })
})

describe('the token endpoint', () => {
  it('takes the client by Basic, in the body, or both when equal, as a form or as JSON', async () => {
    const answers = [
      await asked(),
      await send('POST', '/payment/token', { form: GRANT, headers: basic(key) }),
      await send('POST', '/payment/token', { form: { ...GRANT, ...key }, headers: basic(key) }),
      await send('POST', '/payment/token', { json: { ...GRANT, ...key, scope: '' } }),
    ]
    for (const { status, headers, body } of answers) {
      expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
      expect(body).toEqual({
        access_token: expect.stringMatching(/^[\w-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'orders:read orders:write transfers mandates',
      })
      expect((await call(body.access_token, 'GET', '/orders')).status).toBe(200)
    }
    expect((await asked({ scope: 'transfers orders:read' })).body.scope).toBe('orders:read transfers')
    const tokens = await texts('access_key_tokens')
    expect(tokens).not.toContain(answers[0]!.body.access_token)
    const { body } = await send('GET', '/.well-known/oauth-authorization-server/payment')
    expect(body).toMatchObject({ issuer: `${test.url}/payment`, token_endpoint: `${test.url}/payment/token` })
  })

  it('refuses by the words of RFC 6749', async () => {
    const revoked = await makeKey()
    await revokeAccessKey(deps, merchant.payment_id, revoked.client_id, actorOf(merchant.owner))
    const bound = await makeKey({ allowed_addresses: ['198.51.100.0/24'], scopes: ['orders:read'] })
    const other = await makeKey()
    const form = { ...GRANT, ...key }
    const refusals: [Sent, number, string][] = [
      [{ form: { ...form, client_secret: `sk_${'x'.repeat(40)}` } }, 401, 'invalid_client'],
      [{ form: { ...form, client_id: `ak_${'x'.repeat(20)}` } }, 401, 'invalid_client'],
      [{ form: { ...form, ...revoked } }, 401, 'invalid_client'],
      [
        { form: { ...GRANT, client_id: merchant.payment_id, client_secret: merchant.token } },
        401,
        'invalid_client',
      ],
      [{ form: GRANT }, 401, 'invalid_client'],
      [{ form: GRANT, headers: { authorization: 'Basic !' } }, 401, 'invalid_client'],
      [{ form, headers: basic(other) }, 400, 'invalid_request'],
      [{ form: { ...key, grant_type: 'authorization_code' } }, 400, 'unsupported_grant_type'],
      [{ form: key }, 400, 'invalid_request'],
      [{ form: { ...form, scope: 'orders:read payouts' } }, 400, 'invalid_scope'],
      [{ form: { ...GRANT, ...bound, scope: 'transfers' } }, 400, 'invalid_scope'],
      [{ form: { ...GRANT, ...bound } }, 400, 'unauthorized_client'],
      [{ form: `${new URLSearchParams(form)}&scope=transfers&scope=mandates` }, 400, 'invalid_request'],
      [{ json: { ...form, scope: 7 } }, 400, 'invalid_request'],
      [{ json: [] }, 400, 'invalid_request'],
      [{}, 400, 'invalid_request'],
    ]
    const wordings = new Set<string>()
    for (const [sent, status, error] of refusals) {
      const answer = await send('POST', '/payment/token', sent)
      expect([answer.status, answer.body.error], JSON.stringify(sent)).toEqual([status, error])
      const isBasic = status === 401 && sent.headers !== undefined
      expect(answer.headers['www-authenticate']).toEqual(
        isBasic ? expect.stringMatching(/^Basic /) : undefined,
      )
      if (error === 'invalid_client') wordings.add(answer.body.error_description)
    }
    await setSetting(test, 'access_keys', 'off')
    const { status, body } = await asked()
    expect([status, wordings.add(body.error_description).size]).toEqual([401, 1])
    await setSetting(test, 'access_keys', 'on')
    expect((await send('GET', '/payment/token')).status).toBe(405)
  })

  it('counts tokens of a key and failures, and answers 429', async () => {
    await setSetting(test, 'limit_access_tokens', '2')
    expect([(await asked()).status, (await asked()).status]).toEqual([200, 200])
    const third = await asked()
    expect([third.status, third.body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
    expect((await asked({}, await makeKey())).status).toBe(200)
    await setSetting(test, 'limit_access_tokens', '60')
    await setSetting(test, 'limit_token_failures', '1')
    const wrong = { client_secret: `sk_${'x'.repeat(40)}` }
    expect([(await asked(wrong)).status, (await asked(wrong)).status]).toEqual([401, 429])
    await setSetting(test, 'limit_token_failures', '60')
  })

  it('keeps twenty tokens of a key, and ends the oldest for one more', async () => {
    const first = await tokenOf()
    test.clock.advance(1_000)
    const second = await tokenOf()
    for (let n = 2; n < 21; n += 1) {
      test.clock.advance(10)
      await tokenOf()
    }
    expect((await call(first, 'GET', '/orders')).status).toBe(401)
    expect((await call(second, 'GET', '/orders')).status).toBe(200)
  })
})

describe('a token', () => {
  it('places orders like the signed API, reads them, and pays transfers once', async () => {
    await givePoints(test, merchant.owner, 1_000n)
    const token = await tokenOf()
    const placing = order({ amount: '100' })
    const placed = await call(token, 'POST', '/orders', { json: placing })
    expect(placed.body).toMatchObject({ success: true, status: 'pending', amount: 100 })
    const again = await merchant.process({ ...placing, amount: '100' })
    expect(again.body).toEqual(placed.body)
    const { transaction_id } = placed.body
    await pay({ transaction_id, payer_id: buyer.id, expected_amount: 100n })
    const read = await call(token, 'GET', `/orders/${transaction_id}`)
    expect(read.body).toEqual((await merchant.query({ transaction_id })).body)
    expect((await call(token, 'GET', `/orders?order_id=${placing.order_id}`)).body).toEqual(read.body)
    expect(refusedWith(await call(token, 'GET', '/orders?order_id=none'))).toEqual([400, 1007])
    expect(refusedWith(await call(token, 'GET', '/orders/txn_none'))).toEqual([400, 1008])
    expect(refusedWith(await call(token, 'POST', '/orders', { json: placing }))).toEqual([400, 1006])

    const sending = transferTo(buyer)
    const sent = await call(token, 'POST', '/transfers', { json: sending })
    expect(sent.body).toMatchObject({ success: true, amount: 10, status: 'completed' })
    expect((await call(token, 'POST', '/transfers', { json: sending })).body).toEqual(sent.body)
    const signed = await merchant.transfer({
      ...recipientFields(buyer),
      amount: '10',
      order_id: sending.order_id,
    })
    expect(signed.body).toEqual(sent.body)
    expect((await call(token, 'GET', `/transfers/${sent.body.transaction_id}`)).body).toEqual(sent.body)
    const { success: _, ...row } = sent.body
    expect((await call(token, 'GET', '/transfers')).body).toEqual({
      success: true,
      data: [row],
      next_cursor: null,
    })
    const confused = await call(token, 'GET', `/orders/${sent.body.transaction_id}`)
    expect(refusedWith(confused)).toEqual([400, 1008])
    expect(confused.body.error).toContain('/api/payment/transfers/')
    expect(refusedWith(await call(token, 'GET', '/transfers/txn_none'))).toEqual([400, 1008])
    const other = await makeMerchant(test)
    const stranger = await tokenOf({}, await makeKey({}, other.owner, other))
    for (const path of [`orders/${transaction_id}`, `transfers/${sent.body.transaction_id}`])
      expect(refusedWith(await call(stranger, 'GET', `/${path}`))).toEqual([400, 1008])
  })

  it('reads sales of links, which the signed API does not know', async () => {
    const token = await tokenOf()
    const link = await makeLink(test, merchant)
    const transaction_id = await orderAt(deps, link, buyer)
    const { order_id } = await rowOf(test, 'orders', { transaction_id })
    await call(token, 'POST', '/orders', { json: order({ order_id: 'by-program' }) })
    const ids = async (query: string) =>
      (await call(token, 'GET', `/orders${query}`)).body.data.map(
        (each: { order_id: string }) => each.order_id,
      )
    expect(await ids('')).toEqual(['by-program', order_id])
    expect(await ids('?door=link')).toEqual([order_id])
    expect(await ids('?door=hmac&limit=5')).toEqual(['by-program'])
    expect(refusedWith(await call(token, 'GET', '/orders?door=gateway'))).toEqual([400, 1005])
    const sale = await call(token, 'GET', `/orders/${transaction_id}`)
    expect(sale.body).toMatchObject({ success: true, order_id })
    expect((await call(token, 'GET', `/orders?order_id=${order_id}`)).body).toEqual(sale.body)
    expect(refusedWith(await call(token, 'GET', `/orders?order_id=${order_id}&door=hmac`))).toEqual([
      400, 1007,
    ])
    expect(refusedWith(await merchant.query({ transaction_id }))).toEqual([400, 1008])
    expect(refusedWith(await merchant.query({ order_id }))).toEqual([400, 1007])
    const { body } = await post(test, `/payment/orders/${merchant.payment_id}`, {
      signature: merchantSign(merchant.token, {}),
    })
    expect((body.data as unknown as { order_id: string }[]).map((each) => each.order_id)).toEqual([
      'by-program',
    ])
  })

  it('offers, charges and revokes mandates', async () => {
    await giveRight(test, merchant)
    const token = await tokenOf({ scope: 'mandates' })
    const terms = { reference: 'club', purpose: 'Tea', amount: 30, period: 'month' }
    const offered = await call(token, 'POST', '/mandates', { json: terms })
    const { mandate_id } = offered.body
    expect(offered.body).toMatchObject({ success: true, reference: 'club', status: 'pending' })
    await acceptMandate(deps, mandate_id, { user_id: buyer.id, ip: IP, isFresh: true })
    const json = { order_id: 'c-1', amount: 30, description: 'Tea' }
    const charged = await call(token, 'POST', `/mandates/${mandate_id}/charges`, { json })
    expect(charged.body).toMatchObject({ success: true, mandate_id, status: 'completed', amount: 30 })
    expect((await call(token, 'POST', `/mandates/${mandate_id}/charges`, { json })).body).toEqual(
      charged.body,
    )
    expect((await call(token, 'GET', `/mandates/${mandate_id}`)).body).toMatchObject({
      status: 'active',
      spent: 30,
    })
    expect((await call(token, 'GET', '/mandates?status=active')).body.data).toMatchObject([{ mandate_id }])
    const revoked = await call(token, 'POST', `/mandates/${mandate_id}/revoke`, {
      json: { reason: 'Enough' },
    })
    expect(revoked.body).toMatchObject({ status: 'ended', reason: 'merchant' })
    expect(refusedWith(await call(token, 'GET', '/mandates/none'))).toEqual([400, 1021])
  })

  it('is looked at before address, rate, scope and body, in this order', async () => {
    const token = await tokenOf({ scope: 'orders:read' })
    const url = '/api/payment/transfers'
    const faulty = { form: { amount: 'x' } }
    const none = await send('POST', url, faulty)
    expect([...refusedWith(none), none.headers['www-authenticate']]).toEqual([
      401,
      1026,
      'Bearer realm="Tessera"',
    ])
    const wrong = await call('wrong', 'POST', '/transfers', faulty)
    expect(refusedWith(wrong)).toEqual([401, 1026])
    expect(wrong.headers['www-authenticate']).toBe('Bearer realm="Tessera", error="invalid_token"')
    await db
      .updateTable('payment_apps')
      .set({ allowed_addresses: ['198.51.100.7'] as never })
      .where('id', '=', merchant.id)
      .execute()
    await setSetting(test, 'limit_api_requests', '1')
    expect(refusedWith(await call(token, 'POST', '/transfers', faulty))).toEqual([400, 1003])
    await db
      .updateTable('payment_apps')
      .set({ allowed_addresses: [] as never })
      .where('id', '=', merchant.id)
      .execute()
    expect((await call(token, 'GET', '/orders')).status).toBe(200)
    const limited = await call(token, 'POST', '/transfers', faulty)
    expect(refusedWith(limited)).toEqual([429, 1029])
    await setSetting(test, 'limit_api_requests', '6000')
    const lacking = await call(token, 'POST', '/transfers', faulty)
    expect(refusedWith(lacking)).toEqual([403, 1027])
    expect(lacking.body.data).toEqual({ scope: 'transfers' })
    expect(lacking.headers['www-authenticate']).toContain('error="insufficient_scope", scope="transfers"')
    const full = await tokenOf()
    const form = await call(full, 'POST', '/transfers', faulty)
    expect([...refusedWith(form), form.headers['cache-control']]).toEqual([400, 1005, 'no-store'])
    expect(refusedWith(await call(full, 'POST', '/transfers', { json: { amount: 1.5 } }))).toEqual([
      400, 1005,
    ])
    expect(refusedWith(await call(full, 'POST', '/transfers', { json: {} }))).toEqual([400, 1004])
    expect((await call(full, 'POST', '/transfers/txn_none', { json: {} })).status).toBe(405)
  })

  it('works from the addresses of its key alone', async () => {
    const bound = await makeKey({ allowed_addresses: ['127.0.0.0/8'], scopes: ['orders:read'] })
    const token = await tokenOf({}, bound)
    expect((await call(token, 'GET', '/orders')).status).toBe(200)
    expect(refusedWith(await call(token, 'GET', '/orders', { from: '198.51.100.7' }))).toEqual([400, 1003])
  })

  it('reads, and does not act, while its application is suspended', async () => {
    await changePerson(test, merchant.owner, { is_banned: true })
    const token = await tokenOf()
    expect((await call(token, 'GET', '/orders')).status).toBe(200)
    expect(refusedWith(await call(token, 'POST', '/orders', { json: order() }))).toEqual([400, 1009])
    expect(refusedWith(await call(token, 'POST', '/transfers', { json: transferTo(buyer) }))).toEqual([
      400, 1009,
    ])
    const pending = await makeMerchant(test, { approved: false })
    const early = await tokenOf({}, await makeKey({}, pending.owner, pending))
    expect(refusedWith(await call(early, 'GET', '/orders'))).toEqual([400, 1009])
  })

  it('opens no door of the signed API', async () => {
    await giveRight(test, merchant)
    const token = await tokenOf()
    const headers = { authorization: `Bearer ${token}` }
    const unsigned = await send('POST', `/payment/query/${merchant.payment_id}`, { form: {}, headers })
    expect(refusedWith(unsigned)).toEqual([401, 1001])
    const mandate_id = await makeMandate(test, merchant, buyer)
    const fields = { mandate_id, order_id: 'c-9', amount: '30', description: 'Tea' }
    const form = { ...fields, signature: merchantSign(merchant.token, fields) }
    const charged = await send('POST', `/payment/mandate/${merchant.payment_id}/charge`, { form, headers })
    expect(refusedWith(charged)).toEqual([401, 1025])
    const json = { ...fields, access_token: token }
    expect(refusedWith(await call(token, 'POST', `/mandates/${mandate_id}/charges`, { json }))).toEqual([
      401, 1025,
    ])
    expect((await asked({}, key)).status).toBe(200)
  })

  it('ends with its time, its revocation, its key, its owner, and the setting', async () => {
    const isOver = async (token: string) => refusedWith(await call(token, 'GET', '/orders'))
    const OVER = [401, 1026]
    const ended = await tokenOf()
    const foreign = await makeKey()
    const revoke = (token: string, by = key) =>
      send('POST', '/payment/token/revoke', { form: { ...by, token } })
    expect((await revoke(ended, foreign)).body).toEqual({})
    expect((await call(ended, 'GET', '/orders')).status).toBe(200)
    expect([(await revoke(ended)).status, (await revoke('unknown')).status]).toEqual([200, 200])
    expect(await isOver(ended)).toEqual(OVER)
    const short = await makeKey({ days: 1 })
    test.clock.advance(DAY_MS - HOUR_MS / 2)
    const { body } = await asked({}, short)
    expect(body.expires_in).toBe(1_800)
    test.clock.advance(HOUR_MS / 2)
    expect(await isOver(body.access_token)).toEqual(OVER)
    expect((await asked({}, short)).status).toBe(401)
    const late = await tokenOf()
    test.clock.advance(HOUR_MS)
    expect(await isOver(late)).toEqual(OVER)

    const braked = await tokenOf()
    await setSetting(test, 'access_keys', 'off')
    expect(await isOver(braked)).toEqual(OVER)
    await setSetting(test, 'access_keys', 'on')
    expect((await call(braked, 'GET', '/orders')).status).toBe(200)
    await revokeAccessKey(deps, merchant.payment_id, key.client_id, actorOf(merchant.owner))
    expect([await isOver(braked), (await asked()).status]).toEqual([OVER, 401])

    const handed = await makeKey()
    const held = await tokenOf({}, handed)
    const heir = await makePerson(test)
    await handOver(test, merchant, heir)
    expect([await isOver(held), (await asked({}, handed)).status]).toEqual([OVER, 401])
    const closing = await makeKey({}, heir)
    const last = await tokenOf({}, closing)
    await anonymise(deps, { user_id: heir.id, actor_id: null, reason: 'x', ip: null, give_up: 0n })
    expect([await isOver(last), (await asked({}, closing)).status]).toEqual([OVER, 401])
  })
})
