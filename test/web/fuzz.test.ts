/**
 * Random requests to every route: every method, content type and kind of caller, with valid values, nearly valid
 * values and noise. No request may cause a 500, hang, or break the books. `npm run fuzz` sends a million. FUZZ_SEED sets
 * the seed.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomToken, sha256 } from '../../src/platform/secrets.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { gatewayText, makeShop, md5, type Shop } from '../harness/gateway-shop.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { merchantSign } from '../harness/merchant.ts'
import { ROOT } from '../harness/server-process.ts'
import { times } from '../harness/thoroughness.ts'
import { WAIT_MS_MAX } from '../harness/waiting.ts'
import { makeParty, type Party } from '../identity/relying-party.ts'

const REQUESTS = times(4_000, 300)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)
const AT_ONCE = 16
/**
 * After this many requests the members are new, because requests end sessions, suspend members and change settings.
 */
const REQUESTS_A_WORLD = 1_500
/** A request that takes longer hangs. */
const HANG_MS = WAIT_MS_MAX

let test: TestApp
let routes: Route[]
let fieldNames: string[]

beforeAll(async () => {
  test = await startTestApp()
  routes = routesOf(test.app)
  fieldNames = await knownFields()
})
afterAll(() => test.close())

type Route = { path: string; methods: HTTPMethods[] }

/** Every route, from the router's printed tree. */
function routesOf(app: FastifyInstance): Route[] {
  const found: Route[] = []
  const above: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', label = '', methods = ''] = /^([│ ]*)[└├]── (\S+)(?: \(([^)]+)\))?/.exec(line) ?? []
    if (label === '') continue
    const depth = indent.length / 4
    above.length = depth
    above.push(label)
    if (methods !== '') found.push({ path: above.join(''), methods: methods.split(', ') as HTTPMethods[] })
  }
  return found
}

/** The field names of forms, pages and interfaces. */
async function knownFields(): Promise<string[]> {
  const folder = join(ROOT, 'views')
  const views = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.eta'))
  const texts = await Promise.all(views.map((name) => readFile(join(folder, name), 'utf8')))
  const described = (await test.app.inject('/docs/openapi.json')).body
  const inForms = [...texts.join('\n').matchAll(/\bname="(\w+)"/g)].map(([, name]) => name!)
  const inInterfaces = [...described.matchAll(/"(\w+)":\{"(?:type|anyOf|const|description)"/g)].map(
    ([, name]) => name!,
  )
  return [...new Set([...inForms, ...inInterfaces, '__proto__', 'constructor', 'a[]', ''])]
}

/** The members, shops and values that requests name. */
type Setting = { shop: Shop; party: Party; people: Person[]; sessions: string[]; values: string[] }

async function makeSetting(): Promise<Setting> {
  await test.db.deleteFrom('site_settings').where('name', '<>', 'limit_pages').execute()
  const shop = await makeShop(test)
  const party = await makeParty(test)
  const people = [
    shop.owner,
    await makePerson(test, { points: 100_000n }),
    await makePerson(test, { username: 'admin', is_admin: true }),
  ]
  const sessions: string[] = []
  for (const person of people) sessions.push(await openSession(person))
  const values = [...NOISE, shop.payment_id, shop.pidText, shop.merchant_key, shop.token, party.client_id]
  values.push(party.client_secret, party.redirect_uri, ...people.map(({ username }) => username))
  values.push(...people.map(({ id }) => String(id)))
  for (let n = 0; n < 4; n += 1) {
    const { body } = await shop.process({ amount: '7', description: 'Tea', order_id: `fuzz-${n}` })
    values.push(String(body.transaction_id), `fuzz-${n}`)
  }
  return { shop, party, people, sessions, values }
}

async function openSession({ id }: Person): Promise<string> {
  const token = randomToken()
  const now = test.clock.now()
  await test.db
    .insertInto('sessions')
    .values({
      token_hash: sha256(token),
      user_id: id,
      auth_time: now,
      amr: ['pwd'],
      ip: '127.0.0.1',
      agent: 'fuzz',
      expires_at: new Date(now.getTime() + 86_400_000),
    })
    .execute()
  return token
}

const NOISE = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '1.5',
    '1e9',
    '007',
    '9007199254740993',
    '99999999999999999999',
    'NaN',
    'null',
  ],
  ...[
    'true',
    'on',
    'off',
    'asc',
    'desc',
    'code',
    'openid profile',
    'S256',
    'none',
    'login',
    'authorization_code',
  ],
  ...[
    'refresh_token',
    'approve',
    'reject',
    'suspend',
    'reinstate',
    'confirm',
    'allow',
    'deny',
    'full',
    'partial',
  ],
  ...[
    'completed',
    'paid',
    'refunded',
    'live',
    'test',
    'RSA',
    'MD5',
    'order',
    'query',
    'jump',
    '9.90',
    '0.01',
    '10',
  ],
  ...['2026-01-01', '2026-02-30', '2026-01-01T00:00:00Z', '0000-00-00', '1767225600', '17672256000'],
  ...[
    'https://shop.example/x',
    'http://127.0.0.1:1/x',
    'javascript:alert(1)',
    '//evil.example',
    '/account',
    '\\',
  ],
  ...[
    '<script>alert(1)</script>',
    "' or 1=1 --",
    '%00',
    '\u0000',
    '\ud800',
    '𝒳'.repeat(40),
    '中文',
    '\u202e',
    '%',
    '_',
  ],
  ...[
    '[]',
    '{}',
    '{"a":1}',
    'a=1&b=2',
    '__proto__',
    'x'.repeat(300),
    'x'.repeat(20_000),
    '=HYPERLINK("x")',
    '\r\nx: y',
  ],
]

const TYPES = [
  'application/x-www-form-urlencoded',
  'application/json',
  'multipart/form-data; boundary=fuzz',
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'nonsense',
]

/** Mulberry32: a small generator with the same numbers on every machine. */
function randomOf(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    chance: (share: number) => next() < share,
    upTo: (count: number) => Math.floor(next() * count),
    of: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!,
  }
}
type Random = ReturnType<typeof randomOf>

function requestOf(random: Random, { shop, party, sessions, values }: Setting) {
  const route = random.of(routes)
  const path = route.path.replaceAll(/:[^/]+|\*/g, () => encodeURIComponent(wellFormed(random.of(values))))
  const session = random.chance(0.75) ? random.of(sessions) : undefined
  const fields: Record<string, string> = {}
  for (let left = random.upTo(8); left > 0; left -= 1) fields[random.of(fieldNames)] = random.of(values)
  if (session !== undefined && random.chance(0.8)) fields.form_token = formToken(test.deps.secrets, session)
  if (random.chance(0.5)) signFor(path, fields, shop, random)
  const method = random.chance(0.95)
    ? random.of(route.methods)
    : random.of(['PUT', 'DELETE', 'OPTIONS'] as const)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const type = random.chance(0.7) ? TYPES[0]! : random.of(TYPES)
  const headers: Record<string, string> = {
    accept: random.of(['text/html', 'application/json', '*/*']),
    'accept-language': random.of(['zh-CN', 'en', 'xx']),
  }
  if (session !== undefined) headers.cookie = `tessera_session=${session}`
  if (random.chance(0.8)) headers['sec-fetch-site'] = 'same-origin'
  if (random.chance(0.2)) headers.authorization = authorizationOf(random, party, values)
  if (hasBody) headers['content-type'] = type
  return {
    method,
    url: hasBody ? path : `${path}?${encoded(fields)}`,
    headers,
    remoteAddress: `10.${random.upTo(256)}.${random.upTo(256)}.${random.upTo(256)}`,
    ...(hasBody ? { payload: bodyOf(type, fields, random) } : {}),
  }
}

/** Signs half of the requests correctly, so they also reach the code behind the signature check. */
function signFor(path: string, fields: Record<string, string>, shop: Shop, random: Random): void {
  if (/^\/payment\/(pay|query|transfer|orders|transfers)\/pay_/.test(path)) {
    fields.signature = merchantSign(shop.token, fields)
  } else if (/\.php|\/(pay|merchant|transfer)\/\w+$/.test(path)) {
    fields.pid = shop.pidText
    if (random.chance(0.5)) fields.key = shop.merchant_key
    fields.sign = md5(gatewayText(fields) + shop.merchant_key)
  }
}

function authorizationOf(random: Random, { client_id, client_secret }: Party, values: string[]): string {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  return random.of([
    basic(`${client_id}:${client_secret}`),
    basic(random.of(values)),
    `Bearer ${createHash('sha256').update(random.of(values)).digest('base64url')}`,
    'Bearer',
    'Nonsense',
  ])
}

function wellFormed(text: string): string {
  return text.replaceAll(/[\ud800-\udfff]/g, '') || 'x'
}

function encoded(fields: Record<string, string>): string {
  return new URLSearchParams(fields).toString().slice(0, 8_000)
}

function bodyOf(type: string, fields: Record<string, string>, random: Random): string {
  if (random.chance(0.05)) return random.of(NOISE)
  if (type.startsWith('application/json')) return JSON.stringify(fields)
  if (!type.startsWith('multipart')) return new URLSearchParams(fields).toString()
  const parts = Object.entries(fields).map(
    ([name, value]) => `--fuzz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--fuzz--\r\n`
}

it(`${REQUESTS} requests at random meet no fault`, async () => {
  expect(routes.length).toBeGreaterThan(100)
  const random = randomOf(SEED)
  const seen = new Map<number, number>()
  for (let done = 0; done < REQUESTS; done += REQUESTS_A_WORLD) {
    const setting = await makeSetting()
    let left = Math.min(REQUESTS_A_WORLD, REQUESTS - done)
    const caller = async () => {
      while (left-- > 0) {
        const request = requestOf(random, setting)
        const response = await answered(request)
        seen.set(response.statusCode, (seen.get(response.statusCode) ?? 0) + 1)
        const isTemporary = response.statusCode === 503 && response.headers['retry-after'] !== undefined
        if (response.statusCode >= 500 && !isTemporary)
          throw new Error(`${response.statusCode} for ${JSON.stringify(request).slice(0, 2_000)}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, caller))
    await expectSoundBooks(test.db)
    await setting.shop.close()
  }
  if (REQUESTS >= 100_000) console.log(Object.fromEntries(seen))
  // Otherwise the requests would have tested only the first checks.
  for (const status of [200, 303, 400, 401, 403, 404]) expect(seen.get(status) ?? 0).toBeGreaterThan(0)
})

async function answered(request: ReturnType<typeof requestOf>) {
  let timer: NodeJS.Timeout | undefined
  const hang = new Promise<never>((_resolve, reject) => {
    const fault = () => reject(new Error(`No answer to ${JSON.stringify(request).slice(0, 2_000)}`))
    timer = setTimeout(fault, HANG_MS)
  })
  try {
    return await Promise.race([test.app.inject(request), hang])
  } finally {
    clearTimeout(timer)
  }
}
