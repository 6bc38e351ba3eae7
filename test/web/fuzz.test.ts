/**
 * Random requests to every route: every method, content type and kind of caller, with hostile, misshapen and plausible
 * values. No request may cause a 500, hang, get an answer of another form than declared, lead to a foreign site, or break
 * the books. Requests of strangers write nothing. `npm run fuzz` sends a million, and FUZZ_SEED sets the seed.
 * spec/limits 1.1 and 1.2.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HTTPMethods, LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { SETTING_NAMES } from '../../src/core/setting-values.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Fields, gatewayText, makeShop, md5, type Shop } from '../harness/gateway-shop.ts'
import { setSetting, startTestApp, type TestApp } from '../harness/harness.ts'
import { giveRight, makeMandate } from '../harness/mandates.ts'
import { merchantSign } from '../harness/merchant.ts'
import { type Route, routesOf } from '../harness/routes.ts'
import { ROOT } from '../harness/server-process.ts'
import { times } from '../harness/thoroughness.ts'
import {
  authorize,
  basic,
  makeParty,
  makeVerifier,
  obtainTokens,
  written,
} from '../identity/relying-party.ts'
import { bodyOf, FORM, queryOf, type Random, randomOf, SETS, type SetName, TYPES } from './fuzz-values.ts'

/** Each world is an application of its own, because requests end sessions, suspend members and change settings. */
const REQUESTS_A_WORLD = 1_500
const REQUESTS = times(4_000, REQUESTS_A_WORLD)
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121)
const STRANGERS_SHARE = 0.25
const AT_ONCE = 16

let test: TestApp
let routes: Record<Door, Route[]>
let fieldNames: { page: string[]; program: string[] }

beforeEach(async () => {
  test = await startTestApp()
  routes = { gateway: [], hmac: [], oauth: [], page: [] }
  for (const route of routesOf(test.app)) routes[doorOf(route.path)].push(route)
  fieldNames = await knownFields()
})
afterEach(() => test.close())

type Door = 'gateway' | 'hmac' | 'oauth' | 'page'

/** The interface to which an address belongs. A page reads a session and a form token. */
function doorOf(path: string): Door {
  if (/\.php$|^(\/payment)?\/api(\/api)?\/(pay|merchant|transfer)\//.test(path)) return 'gateway'
  if (/:payment_id\/(process|offer|charge|query|revoke)$/.test(path)) return 'hmac'
  if (/^\/payment\/(query|transfers?|orders|mandates)\/:payment_id$/.test(path)) return 'hmac'
  return /^\/(oauth2|oauth-provider|api)\//.test(path) ? 'oauth' : 'page'
}

/** The field names of forms, pages and interfaces. */
async function knownFields(): Promise<typeof fieldNames> {
  const folder = join(ROOT, 'views')
  const views = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.eta'))
  const texts = await Promise.all(views.map((name) => readFile(join(folder, name), 'utf8')))
  const described = (await test.app.inject('/docs/openapi.json')).body
  const namesIn = (text: string, pattern: RegExp) =>
    new Set(
      [...text.matchAll(pattern)].map(([, name]) => name!).concat('__proto__', 'constructor', 'a[]', 'é', ''),
    )
  return {
    page: [...namesIn(texts.join('\n'), /\bname="(\w+)"/g)],
    program: [...namesIn(described, /"(\w+)":\{"(?:type|anyOf|const|description)"/g)],
  }
}

/** The members and applications that requests name, their valid requests, and values that they may use. */
type World = {
  shop: Shop
  sessions: string[]
  valid: Record<Exclude<Door, 'page'>, Fields>
  authorization: string[]
  known: string[]
  secret: string[]
}

async function makeWorld(): Promise<World> {
  await setSettings()
  const shop = await makeShop(test)
  const party = await makeParty(test)
  const payer = await makePerson(test, { points: 100_000n })
  const people = [shop.owner, payer, await makePerson(test, { username: 'admin', is_admin: true })]
  const [, client] = await Promise.all(
    people.map(async (person) => {
      const each = await person.signIn()
      await authorize(each, party)
      return each
    }),
  )
  const tokens = await obtainTokens(test, client!, party)
  const { code = '' } = await authorize(client!, party)
  await giveRight(test, shop)
  const mandate_id = await makeMandate(test, shop, payer)
  const orders: string[] = []
  for (let n = 0; n < 4; n += 1) {
    const { body } = await shop.process({ amount: '7', description: 'Tea', order_id: `tea-${n}` })
    orders.push(String(body.transaction_id), `tea-${n}`)
  }
  const { client_id, client_secret, redirect_uri } = party
  const { access_token, refresh_token, id_token } = tokens
  return {
    shop,
    sessions: await openSessions(people),
    authorization: [basic(client_id, client_secret), `Bearer ${access_token}`],
    valid: {
      gateway: { ...tradeOf(shop), act: 'order' },
      hmac: {
        ...{ amount: '7', description: 'Tea', order_id: 'tea', mandate_id },
        ...{ to_user_id: String(payer.id), to_username: payer.username },
      },
      oauth: {
        ...{ client_id, redirect_uri, response_type: 'code', scope: 'openid profile', state: 's', code },
        ...{ grant_type: 'authorization_code', refresh_token, code_verifier: makeVerifier() },
      },
    },
    known: [
      ...[shop.payment_id, shop.pidText, client_id, redirect_uri, mandate_id, ...orders],
      ...people.flatMap(({ id, username }) => [String(id), username]),
    ],
    secret: [shop.merchant_key, shop.token, client_secret, code, access_token, refresh_token, id_token],
  }
}

/** Opens every door, and switches off the limits, which otherwise would answer most requests. */
async function setSettings(): Promise<void> {
  const limits = SETTING_NAMES.filter((name) => name.startsWith('limit_'))
  for (const name of limits) await setSetting(test, name, '0')
  for (const name of ['mandates', 'gateway_at_root'] as const) await setSetting(test, name, 'on')
}

/** Three sessions of each member, because requests also sign out. */
async function openSessions(people: Person[]): Promise<string[]> {
  const all = await Promise.all([...people, ...people, ...people].map((person) => person.signIn()))
  return all.map(({ cookies }) => cookies.get('tessera_session')!)
}

const tradeOf = ({ pidText }: Shop): Fields => ({
  pid: pidText,
  type: 'alipay',
  out_trade_no: 'fuzz',
  notify_url: 'https://shop.example/notify',
  return_url: 'https://shop.example/return',
  name: 'VIP membership',
  money: '9.90',
  timestamp: String(Math.floor(test.clock.now().getTime() / 1000)),
})

const DOORS = ['gateway', 'hmac', 'oauth', 'page', 'page'] as const

type Sender = { set: SetName; isStranger: boolean }

function requestOf(random: Random, world: World, { set, isStranger }: Sender) {
  const values = [...SETS[set], ...(set === 'plausible' ? world.known : [])]
  if (set === 'plausible' && !isStranger) values.push(...world.secret)
  const door = random.of(DOORS)
  const route = random.of(routes[door])
  const ids = door === 'hmac' ? [world.shop.payment_id] : world.known
  const path = route.path.replaceAll(/:[^/]+|\*/g, () =>
    segmentOf(random.chance(0.5) ? random.of(ids) : random.of(values)),
  )
  const session = !isStranger && random.chance(0.8) ? random.of(world.sessions) : undefined
  const fields = fieldsOf(random, { set, values, door, world })
  if (session !== undefined && random.chance(0.8)) fields.form_token = formToken(test.deps.secrets, session)
  const sign = isStranger ? forgedBy : signedBy
  const pairs = Object.entries(random.chance(0.8) ? sign(random, world.shop, door, fields) : fields)
  const method = methodOf(random, route)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const type = hasBody ? (random.chance(0.7) ? FORM : random.of(TYPES)) : undefined
  const isInQuery = !hasBody || random.chance(0.3)
  const authorization =
    isStranger || random.chance(0.3) ? wrongCredentials(random, values) : world.authorization
  const options = {
    method,
    url: `${path}${isInQuery ? `?${printable(queryOf(pairs, set, random))}` : ''}`.slice(0, 10_000),
    headers: {
      ...headersOf(random, type),
      ...(session !== undefined && { cookie: `tessera_session=${session}` }),
      ...(random.chance(0.5) && { authorization: random.of(authorization) }),
    },
    remoteAddress: `10.${random.upTo(256)}.${random.upTo(256)}.${random.upTo(256)}`,
    ...(type !== undefined && { payload: bodyOf(type, pairs, set, random) }),
  }
  return { options, isOfProgram: door !== 'page' && !OF_BROWSERS.test(route.path) }
}
type Request = ReturnType<typeof requestOf>

function methodOf(random: Random, { methods }: Route): HTTPMethods {
  // Endpoints of programs name their own method first, and answer the others with a refusal.
  if (random.chance(0.6)) return methods[0]!
  const usual = methods.filter((method) => method === 'GET' || method === 'POST')
  return random.of(random.chance(0.8) ? usual : (['HEAD', 'PUT', 'DELETE', 'OPTIONS'] as const))
}

const segmentOf = (value: string) =>
  value.isWellFormed() ? encodeURIComponent(value.slice(0, 100)) || 'x' : '%ED%A0%80'

const printable = (text: string) => text.replace(/[^!-~]/g, '%FF')

/** Most fields of a valid request, with a number of its own, so that many requests place an order. */
function validOf(random: Random, valid: Fields): Fields {
  const kept = Object.entries(valid).filter(() => random.chance(0.97))
  const numbered = kept.map(([name, value]) => {
    const isNumber = name === 'out_trade_no' || name === 'order_id'
    return [name, isNumber ? `fuzz-${random.upTo(1_000_000)}` : value]
  })
  return Object.fromEntries(numbered)
}

type Making = { set: SetName; values: string[]; door: Door; world: World }

/** Changes up to two fields of a valid request of a program, or makes a form. */
function fieldsOf(random: Random, { set, values, door, world }: Making): Fields {
  const fields: Fields = Object.assign(
    Object.create(null),
    door === 'page' ? {} : validOf(random, world.valid[door]),
  )
  const usual = Object.keys(fields)
  const names = fieldNames[door === 'page' ? 'page' : 'program']
  // The first unclean value ends a request, whatever its other fields are.
  for (let left = random.upTo(door === 'page' && set !== 'hostile' ? 8 : 3); left > 0; left -= 1) {
    const name = usual.length > 0 && random.chance(0.6) ? random.of(usual) : random.of(names)
    fields[name] = random.of(values)
  }
  return fields
}

/** Signs the fields correctly, so that requests also reach the code behind the signature check. */
function signedBy(random: Random, shop: Shop, door: Door, fields: Fields): Fields {
  if (door === 'hmac') return { ...fields, signature: merchantSign(shop.token, fields) }
  if (door !== 'gateway') return fields
  if (random.chance(0.2)) return { ...fields, key: shop.merchant_key }
  // Every answer to RSA costs a signature.
  return random.chance(0.8) ? shop.signMd5(fields) : shop.signRsa(fields)
}

/** Signs as someone who knows the names of a shop but not its keys. */
function forgedBy(random: Random, _shop: Shop, door: Door, fields: Fields): Fields {
  if (door === 'hmac') return { ...fields, signature: merchantSign('wrong', fields) }
  if (door !== 'gateway') return fields
  const forged = { key: { key: 'wrong' }, sign: { sign: md5(gatewayText(fields)), sign_type: 'MD5' } }
  return { ...fields, ...(random.chance(0.3) ? forged.key : forged.sign) }
}

function wrongCredentials(random: Random, values: string[]): string[] {
  const [name = '', secret = ''] = [random.of(values), random.of(values)].map((text) => text.toWellFormed())
  return ['', 'Basic', 'Basic !!!', 'Basic Og==', basic(name, secret), 'Bearer', 'Bearer x y', 'Nonsense']
}

function headersOf(random: Random, type: string | undefined) {
  return {
    accept: random.of(ACCEPTED),
    'accept-language': random.of(['zh-CN', 'en', 'xx', '*;q=2', ';;;']),
    ...(random.chance(0.8) && { 'sec-fetch-site': 'same-origin' }),
    ...(random.chance(0.1) && { origin: random.of(['null', 'https://app.example', 'x']) }),
    ...(type !== undefined && { 'content-type': type }),
  }
}
const ACCEPTED = ['text/html', 'application/json', '*/*', 'x;;;', '']

/** Pages, although applications and shops lead people to them. */
const OF_BROWSERS =
  /\/submit(\.php)?$|^\/oauth2\/(auth|authorize|consent|logout)(\/|$)|^\/oauth-provider\/authorize$/
const OWN_ADDRESS = /^((http:\/\/127\.0\.0\.1:3000)?\/(?![/\\])|https:\/\/app\.example\/callback\?)/

/** Expects no fault of ours, the format that the caller reads, and no way to a foreign site. */
function expectForm(
  { options, isOfProgram }: Request,
  { statusCode, headers, body }: LightMyRequestResponse,
): void {
  const sent = shown({ options })
  if (statusCode === 503) expect(headers['retry-after'], sent).toBeDefined()
  else expect(statusCode, sent).toBeLessThan(500)
  const { pathname } = new URL(options.url, 'http://x')
  const type = body === '' ? '' : String(headers['content-type'] ?? '')
  if (type.startsWith('text/html')) {
    expect(body, sent).toMatch(/^\s*<!doctype html>/i)
    if (isOfProgram) expect(options.headers.accept, sent).toBe('text/html')
  }
  if (statusCode >= 400 && type.startsWith('application/json')) {
    const { error, code } = JSON.parse(body)
    expect(typeof error === 'string' || Number.isInteger(code), `${body} for ${sent}`).toBe(true)
  }
  // A shop chooses the address to which a payer returns.
  if (headers.location !== undefined && !/^\/payment\/(pay|mandate)\//.test(pathname))
    expect(headers.location, sent).toMatch(OWN_ADDRESS)
}

const shown = ({ options }: Pick<Request, 'options'>) => JSON.stringify(options).slice(0, 1_000)

/** Every row that a request of a stranger could write. */
async function rowsOf(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from journal) as journal, (select count(*) from orders) as orders,
      (select count(*) from payment_apps) as apps, (select count(*) from users) as users`.execute(test.db)
  return [rows[0], await written(test)]
}

/** The successes that need the most valid fields: orders of both doors, and codes of consents given before. */
async function successes(): Promise<{ orders: number; codes: number }> {
  const { rows } = await sql<{ orders: number; codes: number }>`
    select (select count(*) from orders)::int as orders,
      (select count(*) from authorization_codes)::int as codes`.execute(test.db)
  return rows[0]!
}

async function sendAll(requests: Request[], { seen, underWay }: Watch): Promise<void> {
  const rest = requests.values()
  const caller = async () => {
    for (const request of rest) {
      underWay.add(request)
      const response = await test.app.inject(request.options)
      underWay.delete(request)
      expectForm(request, response)
      seen.set(response.statusCode, (seen.get(response.statusCode) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
}
type Watch = { seen: Map<number, number>; underWay: Set<Request> }

describe('requests at random', () => {
  const worlds = Array.from({ length: Math.ceil(REQUESTS / REQUESTS_A_WORLD) }, (_, n) => SEED + n)

  it.each(worlds)('of seed %i meet no fault', async (seed) => {
    for (const door of DOORS) expect(routes[door].length).toBeGreaterThan(5)
    const random = randomOf(seed)
    const world = await makeWorld()
    const watch: Watch = { seen: new Map(), underWay: new Set() }
    // A request that hangs ends the test by its time limit.
    onTestFailed(() => console.error('Under way:', [...watch.underWay].map(shown)))
    const some = (count: number, sender: Sender) =>
      Array.from({ length: count }, () => requestOf(random, world, sender))
    const strangers = (REQUESTS_A_WORLD * STRANGERS_SHARE) / 3
    for (const set of Object.keys(SETS) as SetName[]) {
      const before = await rowsOf()
      await sendAll(some(strangers, { set, isStranger: true }), watch)
      expect(await rowsOf()).toEqual(before)
      await sendAll(some(REQUESTS_A_WORLD / 3 - strangers, { set, isStranger: false }), watch)
    }
    await expectSoundBooks(test.db)
    // Otherwise the requests would have tested only the first checks.
    for (const status of [200, 302, 303, 400, 401, 403, 404])
      expect(watch.seen.get(status) ?? 0, `${status}`).toBeGreaterThan(0)
    const { orders, codes } = await successes()
    expect(orders).toBeGreaterThan(8)
    expect(codes).toBeGreaterThan(4)
  })
})
