/**
 * The OpenAPI document: valid as such, and true. Every example is what its schema says, every example of a request is
 * sent to the service and answered as described.
 */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS, openApiDocument, operationId } from '../src/docs/openapi.ts'
import { jsonSchema, type Operation } from '../src/docs/operation.ts'
import { PAYMENT_ERRORS } from '../src/payment/errors.ts'
import { makePerson, type Person } from './cast.ts'
import { type Fields, makeShop, type Shop } from './gateway-shop.ts'
import { type Browser, startTestApp, type TestApp } from './harness.ts'
import { answerOf, authorizationUrl, basic, makeParty, type Party } from './identity/relying-party.ts'
import { merchantSign } from './merchant.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const LANGUAGES = ['en', 'zh'] as const

let test: TestApp
let shop: Shop
let party: Party
let alice: Person
let buyer: Browser
/** What one operation answers and a later one sends, in place of what its example says. */
const known: Record<string, string> = {}

beforeAll(async () => {
  test = await startTestApp()
  shop = await makeShop(test)
  party = await makeParty(test)
  alice = await makePerson(test, { points: 100_000n })
  buyer = await alice.signIn()
})
afterAll(async () => {
  await shop.close()
  await test.close()
})

/** Who sends an operation, and what is added to its example by the rules of its interface. */
function asSent({ area, path, request, security }: Operation): {
  fields: Record<string, unknown>
  authorization?: string
} {
  const example = Object.entries(request?.example ?? {}).map(([name, value]) => [name, known[name] ?? value])
  const fields = Object.fromEntries(example) as Fields
  if (area === 'payment') return { fields: { ...fields, signature: merchantSign(shop.token, fields) } }
  if (area !== 'identity') {
    const own = { pid: shop.pidText, ...fields }
    if (path.includes('/api.php')) return { fields: { ...own, key: shop.merchant_key } }
    if (path.endsWith('.php')) return { fields: shop.signMd5(own) }
    const timestamp = String(Math.floor(test.clock.now().getTime() / 1000))
    return { fields: shop.signRsa({ ...own, timestamp }) }
  }
  if (security === 'client') return { fields, authorization: basic(party.client_id, party.client_secret) }
  if (security === 'bearer') return { fields, authorization: `Bearer ${known.access_token}` }
  return { fields }
}

async function send({ method, path, request }: Operation, fields: object, authorization?: string) {
  const url = path.replace('{payment_id}', shop.payment_id)
  const headers = authorization === undefined ? {} : { authorization }
  const text = new URLSearchParams(fields as Fields).toString()
  if (method === 'get') return test.app.inject({ method: 'GET', url: text ? `${url}?${text}` : url, headers })
  const isJson = request?.in === 'json'
  return test.app.inject({
    method: 'POST',
    url,
    headers: {
      ...headers,
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
    },
    payload: isJson ? JSON.stringify(fields) : text,
  })
}

/** What is wrong with a value by the schema of an answer, in words. */
function faultsOf(schema: object, value: unknown): string {
  const validate = ajv.compile(schema)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

const named = OPERATIONS.map((operation) => [operationId(operation), operation] as const)

describe('the document', () => {
  it.each(LANGUAGES)('is OpenAPI 3.1, served as it is made: %s', async (language) => {
    const made = openApiDocument(test.deps.config, language)
    expect((await new Validator().validate(structuredClone(made) as never)).errors ?? []).toEqual([])
    const headers = { 'accept-language': language }
    const served = await test.app.inject({ url: '/docs/openapi.json', headers })
    expect(served.json()).toEqual(JSON.parse(JSON.stringify(made)))
  })

  it('gives every operation a name of its own, and words in two languages', () => {
    expect(new Set(named.map(([id]) => id)).size).toBe(named.length)
    const [en, zh] = LANGUAGES.map((language) => JSON.stringify(openApiDocument(test.deps.config, language)))
    expect(zh).toMatch(/\p{Script=Han}/u)
    expect(en).not.toMatch(/\p{Script=Han}/u)
    expect(zh).not.toContain('x-zh')
  })

  it.each(named)('has examples that are what their schemas say: %s', (_id, { answers }) => {
    for (const { schema, example } of Object.values(answers)) {
      if (schema === undefined || example === undefined) continue
      expect(faultsOf(jsonSchema(schema, 'output', 'en'), example)).toBe('')
    }
  })

  it('names every number of a refusal, and so does the page', async () => {
    const document = JSON.stringify(openApiDocument(test.deps.config, 'en'))
    const page = (await buyer.get('/docs/payment')).body
    const onPage = page.slice(page.indexOf('id="refusals"'))
    const numbers = Object.values(PAYMENT_ERRORS).map(({ number }) => number)
    // Without a number: an unknown address, and what has nothing to do with payments.
    const own = numbers.filter((number) => number > 1_000)
    expect(own.length).toBeGreaterThan(20)
    for (const number of own) {
      expect(document).toContain(`${number} `)
      expect(onPage).toContain(`<br>${number} `)
    }
  })

  it('has pages to read and to copy from', async () => {
    const { body } = await buyer.get('/docs/payment')
    expect(body).toContain('<code>date-time</code>')
    expect(body).not.toContain('(?:')
    expect(body).toContain('>amount=120&amp;description=Sticker%20pack&amp;order_id=order-1001</pre>')
  })

  it('is named by the discovery document', async () => {
    const { service_documentation } = (await test.app.inject('/.well-known/openid-configuration')).json()
    expect((await buyer.get(service_documentation.slice(test.url.length))).status).toBe(200)
  })
})

/** What must have happened before an operation can succeed. */
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
  post_oauth2_introspect: async () => {
    known.token = known.access_token!
  },
  post_payment_transfer: async () => {
    known.to_user_id = String(alice.id)
    known.to_username = alice.username
    const path = `/payment/pay/${known.transaction_id}`
    expect(await buyer.submit(await buyer.get(path), path)).toMatchObject({ status: 303 })
  },
}

describe('the service', () => {
  // In their order: what one has made the next asks about.
  it.each(named)('answers its example as described: %s', async (id, operation) => {
    await BEFORE[id]?.()
    const { fields, authorization } = asSent(operation)
    const schema = operation.request && jsonSchema(operation.request.schema, 'input', 'en')
    if (schema !== undefined) expect(faultsOf(schema, fields)).toBe('')
    const response = await send(operation, fields, authorization)
    const [first] = Object.keys(operation.answers).map(Number)
    expect(response.statusCode, response.body).toBe(first)
    const described = operation.answers[first!]!
    if (described.schema === undefined) return
    const body = response.json()
    expect(faultsOf(jsonSchema(described.schema, 'output', 'en'), body)).toBe('')
    const example = described.example as { code?: number } | undefined
    if (operation.area === 'v1' || operation.area === 'v2') expect(body.code).toBe(example!.code)
    if (body.access_token) known.access_token = body.access_token
    if (operation.area === 'payment' && body.transaction_id) known.transaction_id ??= body.transaction_id
  })

  it.each(named)('answers nothing at all as described: %s', async (_id, operation) => {
    const response = await send(operation, {})
    const described = operation.answers[response.statusCode]
    expect(described, `${response.statusCode} ${response.body.slice(0, 200)}`).toBeDefined()
    if (described?.schema !== undefined)
      expect(faultsOf(jsonSchema(described.schema, 'output', 'en'), response.json())).toBe('')
  })
})
