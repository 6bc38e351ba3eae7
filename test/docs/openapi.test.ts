/**
 * The OpenAPI document is valid, and describes the service: every example fits its schema, and the service answers
 * every example of a request as described.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, it } from 'vitest'
import type { ZodType } from 'zod'
import type { SettingName } from '../../src/core/setting-values.ts'
import { gatewayCodes } from '../../src/docs/operations/codes.ts'
import { jsonSchema, type Operation } from '../../src/docs/operations/operation.ts'
import { madeUpSamples, NOW } from '../../src/docs/operations/samples.ts'
import { WEBHOOKS } from '../../src/docs/operations/webhooks.ts'
import {
  AREAS,
  OPERATIONS,
  openApiDocument,
  operationId,
  takesJsonToo,
} from '../../src/docs/reference/openapi.ts'
import { GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import { type AccessKeyCredentials, createAccessKey, SCOPES } from '../../src/payment/access-keys/keys.ts'
import { setEventsUrl } from '../../src/payment/events/events.ts'
import { GATEWAY_ERRORS } from '../../src/payment/gateway/errors.ts'
import { PAYMENT_ERRORS } from '../../src/payment/hmac/errors.ts'
import { acceptMandate } from '../../src/payment/mandates/consent.ts'
import { RETRY_MINUTES } from '../../src/payment/notifications/outbox.ts'
import { VERSION } from '../../src/platform/version.ts'
import { makePerson } from '../harness/cast.ts'
import { type Fields, gatewayText, makeShop, md5 } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { giveRight, offer, switchMandates } from '../harness/mandates.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { startReceiver } from '../harness/notify-receiver.ts'
import { until } from '../harness/waiting.ts'
import { answerOf, authorizationUrl, basic, makeParty } from '../identity/relying-party.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const validator = new Validator()
const LANGUAGES = ['en', 'zh'] as const

const IP = '203.0.113.7'
/** The access key of the shop, once it is made. */
const accessKey: Partial<AccessKeyCredentials> = {}
/** Values from the answer of one operation that a later one sends in place of its example. */
const known: Record<string, string> = {}

const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
const receiver = await startReceiver()
const shop = await makeShop(test)
const party = await makeParty(test, { grant_types: [...GRANT_TYPES] })
const alice = await makePerson(test, { points: 100_000n })
const buyer = await alice.signIn()
afterAll(async () => {
  await receiver.close()
})

/** Made-up keys, as the document of a site that is no demo has them. */
const samples = await madeUpSamples()
const documentIn = (language: (typeof LANGUAGES)[number]) =>
  openApiDocument(test.deps.config, language, { samples, now: test.clock.now(), title: 'Tessera' })

/** The request of an operation: its example with the authentication of its interface. */
function asSent({ area, path, request, security }: Operation): {
  fields: Record<string, unknown>
  authorization?: string
} {
  const seconds = String(Math.floor(test.clock.now().getTime() / 1000))
  const example = Object.entries(request?.example(samples) ?? {}).map(([name, value]) => [
    name,
    known[name] ?? (typeof value === 'string' ? value.replace(NOW, seconds) : value),
  ])
  const fields = Object.fromEntries(example) as Fields
  if (area === 'rest') {
    if (security === 'client') return { fields: { ...fields, ...accessKey } }
    return { fields, authorization: `Bearer ${known.access_key_token}` }
  }
  if (area === 'payment') return { fields: { ...fields, signature: merchantSign(shop.token, fields) } }
  if (area !== 'identity') {
    const own = { pid: shop.pidText, ...fields }
    if (path.includes('/api.php')) return { fields: { ...own, key: shop.merchant_key } }
    if (path.endsWith('.php')) return { fields: shop.signMd5(own) }
    return { fields: shop.signRsa({ ...own, timestamp: seconds }) }
  }
  if (security === 'client') return { fields, authorization: basic(party.client_id, party.client_secret) }
  if (security === 'bearer') return { fields, authorization: `Bearer ${known.access_token}` }
  return { fields }
}

/** The path of an operation with the numbers that earlier operations answered. */
const urlOf = (path: string) =>
  path
    .replace('{payment_id}', shop.payment_id)
    .replace(/\{(\w+)\}/, (_, name) => known[path.includes('/transfers/') ? 'transfer_id' : name] ?? 'none')

async function send({ method, path, request }: Operation, fields: object, authorization?: string) {
  const url = urlOf(path)
  const headers = authorization === undefined ? {} : { authorization }
  const text = new URLSearchParams(fields as Fields).toString()
  if (method === 'get') return test.app.inject({ method: 'GET', url: text ? `${url}?${text}` : url, headers })
  const isJson = request?.in === 'json'
  return test.app.inject({
    method: 'POST',
    url,
    headers: {
      ...headers,
      ...(request && { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' }),
    },
    payload: isJson ? JSON.stringify(fields) : text,
  })
}

const compiled = { input: new Map<ZodType, ValidateFunction>(), output: new Map<ZodType, ValidateFunction>() }

/** The faults of a request (`input`) or an answer (`output`) by its schema, in words. */
function faultsOf(io: 'input' | 'output', schema: ZodType, value: unknown): string {
  const validate = compiled[io].get(schema) ?? ajv.compile(jsonSchema(schema, io, 'en'))
  compiled[io].set(schema, validate)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

const described = AREAS.flatMap((area) => OPERATIONS.filter((operation) => operation.area === area))
const named = described.map((operation) => [operationId(operation), operation] as const)

describe('the document', () => {
  it.each(LANGUAGES)('is OpenAPI 3.1, served as it is made: %s', async (language) => {
    const made = await documentIn(language)
    expect((await validator.validate(structuredClone(made) as never)).errors ?? []).toEqual([])
    expect(made.info.version).toBe(VERSION)
    const headers = { 'accept-language': language }
    const served = await test.app.inject({ url: '/docs/openapi.json', headers })
    expect(served.json()).toEqual(JSON.parse(JSON.stringify(made)))
  })

  it('gives every operation its own name, and words in two languages', async () => {
    expect(new Set(named.map(([id]) => id)).size).toBe(named.length)
    const [en, zh] = await Promise.all(
      LANGUAGES.map(async (language) => JSON.stringify(await documentIn(language))),
    )
    expect(zh).toMatch(/\p{Script=Han}/u)
    // The gateway's texts on the wire are Chinese in every language.
    const onTheWire = [...gatewayCodes('v1'), ...gatewayCodes('v2')].map(({ msg }) => msg)
    expect(onTheWire.reduce((text, msg) => text!.replaceAll(msg, ''), en)).not.toMatch(/\p{Script=Han}/u)
    expect(zh).not.toContain('x-zh')
  })

  it.each(named)('has examples that are what their schemas say: %s', (_id, { answers }) => {
    for (const { schema, example } of Object.values(answers)) {
      if (schema === undefined || example === undefined) continue
      expect(faultsOf('output', schema, example)).toBe('')
    }
  })

  it('describes the refusals of other methods and of compressed bodies', async () => {
    type Json = { 'application/json': { schema: object } }
    type Described = { responses: Record<string, { $ref?: string; content?: Json }> }
    const document = await documentIn('en')
    const { responses } = document.components as { responses: Record<string, { content: Json }> }

    /** Expects the body that the operation describes for the status. */
    function expectDescribed(operation: unknown, response: { statusCode: number; json(): unknown }): void {
      const answer = (operation as Described).responses[response.statusCode]!
      const { content } = answer.$ref === undefined ? answer : responses[answer.$ref.split('/').at(-1)!]!
      const { schema } = content!['application/json']
      const validate = ajv.compile(schema)
      expect(validate(response.json()), ajv.errorsText(validate.errors)).toBe(true)
    }
    for (const [path, operations] of Object.entries(document.paths)) {
      const url = urlOf(path)
      const accepted = []
      for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
        const response = await test.app.inject({ method: method.toUpperCase() as 'GET', url })
        if (response.statusCode !== 405) accepted.push(method)
        else for (const operation of Object.values(operations)) expectDescribed(operation, response)
      }
      expect([path, Object.keys(operations).sort()]).toEqual([path, accepted])
      if (operations.post === undefined) continue
      const headers = { 'content-encoding': 'gzip' }
      const response = await test.app.inject({ method: 'POST', url, headers })
      expect([path, response.statusCode]).toEqual([path, 415])
      expectDescribed(operations.post, response)
    }
  })

  it.each([
    ['payment/post_payment_orders', 'data[].transaction_id'],
    ['v1/post_payment_api_api_php_act_orders', 'data[].out_trade_no'],
    ['v2/post_payment_api_merchant_orders', 'data[].trade_no'],
  ])('shows the fields of the rows of a list: %s', async (id, field) => {
    expect((await buyer.get(`/docs/${id}`)).body).toContain(`<code>${field}</code>`)
  })

  it('names every number of a refusal, and so does the page', async () => {
    const document = JSON.stringify(await documentIn('en'))
    const page = (await buyer.get('/docs/codes?of=payment')).body
    const numbers = Object.values(PAYMENT_ERRORS).map(({ number }) => number)
    // Two errors have no number of their own: an unknown address, and any error outside payments.
    const own = numbers.filter((number) => number > 1_000)
    expect(own.length).toBeGreaterThan(20)
    for (const number of own) {
      expect(document.includes(`${number} `), String(number)).toBe(true)
      expect(page).toContain(`><code>${number}</code><`)
    }
  })

  it('names every gateway code with its text, as the page does', async () => {
    const document = JSON.stringify(await documentIn('en'))
    for (const version of ['v1', 'v2'] as const) {
      const page = (await buyer.get(`/docs/codes?of=${version}`)).body
      for (const { msg, ...codes } of Object.values(GATEWAY_ERRORS)) {
        const code = codes[version]
        expect(document.includes(`${code} ${msg}: `), msg).toBe(true)
        expect(page).toContain(`><code>${code}</code></a> <span class="small" lang="zh-CN">${msg}</span>`)
      }
    }
  })

  it('has pages to read and to copy from', async () => {
    const { body } = await buyer.get('/docs/payment/post_payment_pay_process')
    expect(body).toContain('date-time')
    expect(body).not.toContain('(?:')
    expect(body).toMatch(/\b1–255\b/)
    expect(body).toContain(
      'amount=120&amp;description=Sticker pack&amp;order_id=order-$TIMESTAMP&amp;timestamp=',
    )
    expect(body).toContain(samples.payment_id)
  })

  it.each(LANGUAGES)('shows the schedule of retries as it is kept: %s', async (language) => {
    const page = await test.app.inject({
      url: '/docs/notifications',
      headers: { 'accept-language': language },
    })
    for (const minutes of RETRY_MINUTES) {
      const [count, word] = minutes < 60 ? [minutes, ['minute', '分钟']] : [minutes / 60, ['hour', '小时']]
      expect(page.body).toContain(`${count} ${word[language === 'en' ? 0 : 1]}`)
    }
  })

  it('shows the rules by the settings in force', async () => {
    const changed = {
      points_transfer_fee_rate_tl2: '0.0275',
      points_transfer_max_amount_tl2: '4321',
      points_payment_fee_rate: '0.123',
      order_expiry_minutes: '47',
      mandate_charge_max_tl2: '777',
      mandate_month_max_tl2: '8888',
      tip_max_tl2: '76',
    } as const
    for (const [name, value] of Object.entries(changed)) await setSetting(test, name as SettingName, value)
    const { body } = await buyer.get('/docs/rules')
    expect(body).toContain('<td>2</td><td>2.75%</td><td>1</td><td>4,321</td>')
    expect(body).toContain('<td>2</td><td>777</td><td>8,888</td>')
    expect(body).toContain('<td>2</td><td>76</td><td>500</td>')
    const rules = textOf(body)
    for (const figure of [' 12.3% ', ' 47 ', ' (1020)']) expect(rules).toContain(figure)
    await switchMandates(test)
    expect(textOf(await buyer.get('/docs/rules'))).not.toContain(' (1020)')
    await switchMandates(test, 'off')
    await test.db.deleteFrom('site_settings').where('name', 'in', Object.keys(changed)).execute()
  })

  it('is named by the discovery document', async () => {
    const { service_documentation } = (await test.app.inject('/.well-known/openid-configuration')).json()
    expect((await buyer.get(service_documentation.slice(test.url.length))).status).toBe(200)
  })
})

/** The steps that an operation needs before it can succeed. */
const BEFORE: Record<string, () => Promise<void>> = {
  post_oauth2_token: async () => {
    const page = await buyer.get(authorizationUrl(party))
    const answer = await buyer.submit(page, '/oauth2/consent', { decision: 'allow' })
    known.code = answerOf(answer).code!
    known.redirect_uri = party.redirect_uri
  },
  get_oauth2_auth: async () => {
    known.client_id = party.client_id
  },
  get_oauth2_logout: async () => {
    const { client_id, redirect_uri } = party
    known.post_logout_redirect_uri = redirect_uri
    const app = test.db.updateTable('oauth_apps').set({ post_logout_redirect_uris: [redirect_uri] })
    await app.where('client_id', '=', client_id).execute()
  },
  get_well_known_webfinger: async () => {
    known.resource = test.url
  },
  post_oauth2_introspect: async () => {
    known.token = known.access_token!
  },
  post_payment_query: async () => {
    known.order_id = known.opened!
  },
  post_payment_transfer: async () => {
    delete known.order_id
    known.to_user_id = String(alice.id)
    known.to_username = alice.username
    const path = `/payment/pay/${known.transaction_id}`
    expect(await buyer.submit(await buyer.get(path), path)).toMatchObject({ status: 303 })
  },
  post_payment_mandate_offer: async () => {
    await switchMandates(test)
    await giveRight(test, shop)
  },
  post_payment_token: async () => {
    // The examples of the signed API have used up the numbers of these.
    for (const name of ['order_id', 'token', 'mandate_id']) delete known[name]
    const key = { name: 'Examples', scopes: [...SCOPES], days: 1, allowed_addresses: [] }
    const made = await createAccessKey(test.deps, shop.payment_id, key, { user_id: shop.owner.id, ip: IP })
    Object.assign(accessKey, made)
  },
  post_api_payment_mandates_mandate_id_charges: async () => {
    const acceptance = { user_id: alice.id, ip: IP, isFresh: true }
    expect(await acceptMandate(test.deps, known.mandate_id!, acceptance)).toBeUndefined()
  },
  post_payment_mandate_charge: async () => {
    const acceptance = { user_id: alice.id, ip: IP, isFresh: true }
    expect(await acceptMandate(test.deps, known.mandate_id!, acceptance)).toBeUndefined()
  },
}

describe('the service', () => {
  // The operations run in order, because later ones use the results of earlier ones.
  it.each(named)('answers its example as described: %s', async (id, operation) => {
    await BEFORE[id]?.()
    const { fields, authorization } = asSent(operation)
    if (operation.request !== undefined) expect(faultsOf('input', operation.request.schema, fields)).toBe('')
    const response = await send(operation, fields, authorization)
    const [first] = Object.keys(operation.answers).map(Number)
    expect(response.statusCode, response.body).toBe(first)
    const described = operation.answers[first!]!
    if (described.schema === undefined) return
    const body = response.json()
    expect(faultsOf('output', described.schema, body)).toBe('')
    if (takesJsonToo(operation)) {
      const again = await send({ ...operation, request: { ...operation.request!, in: 'json' } }, fields)
      expect([again.statusCode, again.json().code]).toEqual([first, body.code])
    }
    const example = described.example as { code?: number } | undefined
    if (operation.area === 'v1' || operation.area === 'v2') expect(body.code).toBe(example!.code)
    if (body.access_token)
      known[operation.area === 'rest' ? 'access_key_token' : 'access_token'] = body.access_token
    if (operation.path.endsWith('/transfers')) known.transfer_id ??= body.transaction_id
    if (operation.path.endsWith('/payouts') && body.reference) known.reference = body.reference
    if (body.mandate_id) known.mandate_id ??= body.mandate_id
    if (operation.area === 'payment' && body.transaction_id) {
      known.transaction_id ??= body.transaction_id
      known.opened ??= String(fields.order_id)
    }
    if (body.out_trade_no || body.payurl) known.out_trade_no ??= String(fields.out_trade_no)
  })

  const atV1 = named.filter(([, { answers, area }]) => area === 'v1' && answers[200] !== undefined)
  it.each(atV1)('signs what it answers to RSA at an address of V1: %s', async (_id, operation) => {
    const { key: _, sign: __, sign_type: ___, ...fields } = asSent(operation).fields as Fields
    const own = fields.name === undefined ? {} : { out_trade_no: 'by-rsa' }
    const act = Object.fromEntries(new URLSearchParams(operation.path.split('?')[1]))
    const timestamp = String(Math.floor(test.clock.now().getTime() / 1000))
    const sent = shop.signRsa({ ...fields, ...own, ...act, timestamp })
    expect(faultsOf('input', operation.request!.schema, sent)).toBe('')
    const body = (await send(operation, sent)).json()
    expect(body).toMatchObject({ code: 1, timestamp, sign: expect.any(String), sign_type: 'RSA' })
    expect(faultsOf('output', operation.answers[200]!.schema!, body)).toBe('')
  })

  const created = OPERATIONS.find((each) => operationId(each) === 'post_payment_api_pay_create')!

  it('answers MD5 at an address of V2 with the fields of V2, signed', async () => {
    const { sign: _, sign_type: __, ...fields } = asSent(created).fields as Fields
    const body = (await send(created, shop.signMd5({ ...fields, out_trade_no: 'by-md5' }))).json()
    expect(body).toMatchObject({ code: 0, pay_info: expect.any(String), sign_type: 'RSA' })
    expect(faultsOf('output', created.answers[200]!.schema!, body)).toBe('')
  })

  it('leaves refusals before the pid is known unsigned', async () => {
    const { fields } = asSent(created)
    for (const unknown of [{}, { ...fields, pid: '999999' }])
      expect((await send(created, unknown)).json()).not.toHaveProperty('sign')
    const refused = (await send(created, { ...fields, sign: 'x' })).json()
    expect(refused).toMatchObject({ code: -3, sign_type: 'RSA' })
  })

  it.each(named)('answers nothing at all as described: %s', async (_id, operation) => {
    const response = await send(operation, {})
    const described = operation.answers[response.statusCode]
    expect(described, `${response.statusCode} ${response.body.slice(0, 200)}`).toBeDefined()
    // The empty address of a form for browsers says in plain words what it is.
    if (described?.schema !== undefined && !response.headers['content-type']?.startsWith('text/plain'))
      expect(faultsOf('output', described.schema, response.json())).toBe('')
  })
})

describe('what the service sends', () => {
  type Sent = { name: string; message: unknown; headers?: object }

  /** Pays at this address, and returns the parameters that the browser brings back. */
  async function payAt(address: string): Promise<Fields> {
    const path = new URL(address).pathname
    const answer = await buyer.submit(await buyer.get(path), path)
    expect(answer.status).toBe(303)
    const back = answer.location!.startsWith('http') ? answer : await buyer.get(`${path}/return`)
    return Object.fromEntries(new URL(back.location!).searchParams)
  }

  async function openTrade(version: 'v1' | 'v2'): Promise<string> {
    const timestamp = String(Math.floor(test.clock.now().getTime() / 1000))
    const fields = {
      pid: shop.pidText,
      type: 'alipay',
      out_trade_no: `sent-${version}`,
      name: 'Mug',
      money: '1.00',
      param: 'a',
      notify_url: `${receiver.url}/${version}`,
      return_url: `${receiver.url}/back`,
    }
    const isV1 = version === 'v1'
    const path = isV1 ? '/payment/api/mapi.php' : '/payment/api/pay/create'
    const signed = isV1 ? shop.signMd5(fields) : shop.signRsa({ ...fields, timestamp })
    const { body } = await post(test, path, signed)
    return String(body.payurl ?? body.pay_info)
  }

  async function sendAll(): Promise<Sent[]> {
    const events: Sent[] = []
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const message = JSON.parse(body)
      events.push({ name: message.type, message, headers: request.headers })
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const owner = { user_id: shop.owner.id, ip: '203.0.113.7' }
    await setEventsUrl(test.deps, shop.payment_id, `http://127.0.0.1:${port}/events`, owner)
    const order = { amount: '20', description: 'Tea', order_id: 'sent-hmac' }
    const callback = await payAt(String((await shop.process(order)).body.payment_url))
    const [v1, v2] = [await payAt(await openTrade('v1')), await payAt(await openTrade('v2'))]
    const club = await makeMerchant(test)
    await switchMandates(test)
    await giveRight(test, club)
    const decision = await payAt(`${test.url}/payment/mandate/${await offer(test, club)}`)
    const to = { to_user_id: String(alice.id), to_username: alice.username }
    expect((await shop.transfer({ ...to, amount: '1', order_id: 'sent-transfer' })).status).toBe(200)
    await until(() => events.length === 2 && receiver.received.length === 2)
    server.close()
    const notifies = receiver.received.map(({ path, fields }) => ({
      name: `notify.${path.slice(1)}`,
      message: fields,
    }))
    return [
      { name: 'callback', message: callback },
      { name: 'callback.mandate', message: decision },
      { name: 'return.v1', message: v1 },
      { name: 'return.v2', message: v2 },
      ...notifies,
      ...events,
    ]
  }

  it('is what the document says, and nothing more', async () => {
    const document = await documentIn('en')
    expect(Object.keys(document.webhooks)).toEqual(WEBHOOKS.map(({ name }) => name))
    const sent = await sendAll()
    expect(sent.map(({ name }) => name).sort()).toEqual(
      [
        'callback',
        'callback.mandate',
        'notify.v1',
        'notify.v2',
        'order.paid',
        'return.v1',
        'return.v2',
        'transfer.completed',
      ].sort(),
    )
    for (const { name, message, headers } of sent) {
      const webhook = WEBHOOKS.find((each) => each.name === name)!
      expect(faultsOf('output', webhook.schema, message), name).toBe('')
      // A query has no types, so the values would not reveal a field without a description.
      expect(Object.keys(webhook.schema.shape)).toEqual(
        expect.arrayContaining(Object.keys(message as object)),
      )
      if (webhook.headers !== undefined)
        expect(headers).toMatchObject(
          Object.fromEntries(
            Object.keys(webhook.headers.shape).map((header) => [header, expect.any(String)]),
          ),
        )
    }
  })

  it.each(WEBHOOKS.map((webhook) => [webhook.name, webhook] as const))(
    'has an example that fits its schema: %s',
    async (_name, { method, schema, example }) => {
      const text = await example(samples)
      const message = method === 'post' ? JSON.parse(text) : Object.fromEntries(new URL(text).searchParams)
      expect(faultsOf('output', schema, message)).toBe('')
    },
  )

  it('has examples that verify with the sample keys', async () => {
    const queryOf = async (name: string) => {
      const text = await WEBHOOKS.find((each) => each.name === name)!.example(samples)
      return Object.fromEntries(new URL(text).searchParams)
    }
    const callback = await queryOf('callback')
    expect(callback.signature).toBe(merchantSign(samples.token, callback))
    const decision = await queryOf('callback.mandate')
    expect(decision.signature).toBe(merchantSign(samples.token, decision))
    const notify = await queryOf('notify.v1')
    expect(notify.sign).toBe(md5(gatewayText(notify) + samples.merchant_key))
  })
})
