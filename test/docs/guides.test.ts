/**
 * Runs every code sample of the guides as a reader would, against the service over HTTP. A sample whose runtime is
 * missing is skipped, unless the project itself needs that runtime.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { registerApp } from '../../src/identity/apps/apps.ts'
import { type AccessKeyCredentials, createAccessKey } from '../../src/payment/access-keys/keys.ts'
import { linkSignInApp } from '../../src/payment/mandates/right.ts'
import { findPayout, linesOfPayout } from '../../src/payment/payouts/payouts.ts'
import { runPayouts } from '../../src/payment/payouts/run.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { makeShop, type Shop } from '../harness/gateway-shop.ts'
import { APP_SECRET } from '../harness/global-setup.ts'
import { type Browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { giveRight, IP, offer, switchMandates } from '../harness/mandates.ts'
import { samplesShown } from '../harness/samples-shown.ts'
import { ROOT } from '../harness/server-process.ts'
import { hasLeft, thisPart } from '../harness/thoroughness.ts'
import { until } from '../harness/waiting.ts'
import { formsIn } from '../web/form-markup.ts'

const LANGUAGES = ['en', 'zh-CN']
const BLOCK = /^```\w+ title=(\S+)\n(.*?)^```$/gms
const WEBHOOK_SECRET = 'secret-of-the-webhook'
/** The command that runs a sample, by its file extension. */
const RUNTIMES: Record<string, { command: string[]; probe: string }> = {
  sh: { command: ['sh', '-eu'], probe: 'curl' },
  mjs: { command: [process.execPath], probe: process.execPath },
  py: { command: ['python3'], probe: 'python3' },
  php: { command: ['php'], probe: 'php' },
  go: { command: [], probe: 'go' },
}

let test: TestApp
let folder: string
let url: string
let seller: Shop
let alice: Person
let buyer: Browser
let bought = 0

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  test = await startTestApp({
    PORT: String(port),
    PUBLIC_URL: url,
    DISCOURSE_URL: 'http://127.0.0.1:9',
    DISCOURSE_SECRET: 'secret-of-the-forum',
    DISCOURSE_API_KEY: 'key-of-the-forum',
    DISCOURSE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  })
  setClock()
  await test.app.listen({ host: '127.0.0.1', port })
  folder = await mkdtemp(join(tmpdir(), 'tessera-docs-'))
  for (const [name, code] of await samplesOf('en')) await writeFile(join(folder, name), code)
  seller = await makeShop(test, { newKey: true })
  await switchMandates(test)
  await giveRight(test, seller)
  alice = await makePerson(test, { points: 1_000_000n })
  buyer = await alice.signIn()
})
beforeEach(setClock)
afterAll(async () => {
  await test.close()
  await rm(folder, { recursive: true })
})

/** The samples use the clock of the machine, and all of them may take minutes. */
function setClock(): void {
  test.clock.advance(Date.now() - test.clock.now().getTime())
}

/** The samples of a language by their titles. */
async function samplesOf(language: string): Promise<Map<string, string>> {
  const samples = new Map<string, string>()
  for (const [, text] of await guidesOf(language))
    for (const [, title, code] of text.matchAll(BLOCK)) samples.set(title!, code!)
  return samples
}

async function guidesOf(language: string): Promise<[string, string][]> {
  const path = join(ROOT, 'docs', language)
  const names = (await readdir(path)).sort()
  return Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const))
}

const kindOf = (name: string) => name.split('.').at(-1)!
/** A key as one line of Base64. */
const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '')
/** The kinds of samples that this run has. `SAMPLES=left` runs those in the other languages. */
const KINDS = thisPart('SAMPLES', ['sh', 'mjs'], ['py', 'php', 'go'])
/** The kinds whose runtime is not installed. Continuous integration must have all. */
const MISSING = KINDS.filter(
  (kind) => process.env.CI !== 'true' && spawnSync(RUNTIMES[kind]!.probe, ['--version']).error !== undefined,
)

/** Makes a test of each of these samples that this run has. */
function eachSample(names: string[], title: string, test: (name: string) => Promise<void>): void {
  for (const name of names.filter((each) => KINDS.includes(kindOf(each))))
    it.skipIf(MISSING.includes(kindOf(name)))(`${title}: ${name}`, () => test(name))
}

/** The environment of a sample: the variables that the guide names, and those that its runtime needs. */
const environment = (values: Record<string, string>) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  HOME: process.env.HOME ?? folder,
  TESSERA: url,
  ...values,
})

/** Runs a sample to its end, and returns its output as JSON. */
async function run(name: string, values: Record<string, string>, ...given: string[]) {
  return JSON.parse(await print(name, values, ...given))
}

/** The command for a sample. A Go sample is built before its first run, because `go run` takes seconds each time. */
async function commandOf(name: string): Promise<string[]> {
  const file = join(folder, name)
  if (!name.endsWith('.go')) return [...RUNTIMES[kindOf(name)]!.command, file]
  const program = `${file}.program`
  const options = { env: environment({}) }
  if (!existsSync(program)) await promisify(execFile)('go', ['build', '-o', program, file], options)
  return [program]
}

async function print(name: string, values: Record<string, string>, ...given: string[]): Promise<string> {
  const [command, ...first] = await commandOf(name)
  const { stdout, stderr } = await promisify(execFile)(command!, [...first, ...given], {
    cwd: ROOT,
    env: environment(values),
  })
  expect(stderr).toBe('')
  return stdout
}

/** Forged requests to the address of this genuine query. None is genuine, and none may crash the sample. */
function hostileTo(query: string, signature: string): string[] {
  const rest = new URLSearchParams(query)
  rest.delete(signature)
  return [
    '',
    '%=%',
    `${rest}`,
    `${rest}&${signature}=é`,
    `${rest}&${signature}[]=x`,
    `trade_no[]=x&timestamp[]=x&${signature}=x`,
  ]
}

/** Pays as the member at this address. The answer leads the browser back. */
async function pay(address: string, returnPath: (transaction: string) => string): Promise<string> {
  const path = new URL(address).pathname
  const answer = await buyer.submit(await buyer.get(path), path)
  expect(answer.status).toBe(303)
  const back = answer.location!.startsWith('http') ? answer : await buyer.get(returnPath(path))
  return new URL(back.location!).search.slice(1)
}

/**
 * A proxy that passes requests on. The first one below this path is carried out and its answer lost, or it is refused because its
 * token has expired.
 */
async function startFaulty(fault: 'lost' | 'expired', below: string) {
  let count = 0
  const server = createServer(async (request, response) => {
    const { method = '', headers: sent } = request
    const isFirst = request.url!.startsWith(below) && ++count === 1
    const body = Buffer.concat(await request.toArray())
    if (isFirst && fault === 'expired') return response.writeHead(401).end('{}')
    const { authorization, 'content-type': type } = sent
    const headers = { ...(authorization && { authorization }), ...(type && { 'content-type': type }) }
    const answer = await fetch(`${url}${request.url}`, {
      method,
      headers,
      ...(method === 'POST' && { body }),
    })
    const text = await answer.text()
    if (isFirst) return response.destroy()
    return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    count: () => count,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

it('the guides of both languages have the same samples', async () => {
  const [english, chinese] = await Promise.all(LANGUAGES.map(samplesOf))
  expect(chinese).toEqual(english)
  const [names, theirs] = await Promise.all(LANGUAGES.map(guidesOf))
  expect(theirs!.map(([name]) => name)).toEqual(names!.map(([name]) => name))
})

describe('a newcomer', () => {
  const FIRST = ['first-call.sh', 'first-call.mjs', 'first-call.py', 'first-call.php', 'first-call.go']

  eachSample(FIRST, 'sends a first signed call', async (name) => {
    const env = { PAYMENT_ID: seller.payment_id, TOKEN: seller.token, ORDER_ID: `of-${name}` }
    expect(await run(name, env)).toMatchObject({ success: true, status: 'pending', amount: 5 })
  })
})

describe('a newcomer to the gateway', () => {
  let shop: Shop
  /** The samples of the guide, with what the guide asks the reader to fill in. */
  let samples: { label: string; code: string }[]
  const LABELS: Record<string, string> = { sh: 'Shell', mjs: 'Node.js', py: 'Python', php: 'PHP' }

  beforeAll(async () => {
    shop = await makeShop(test, { newKey: true, isTest: true })
    const page = await (await shop.owner.signIn()).get('/docs/start-gateway')
    samples = samplesShown(page.body).map(({ label, code }) => ({
      label,
      code: code.replaceAll('YOUR-KEY', shop.merchant_key),
    }))
  })

  /** Runs the sample of this kind that contains the part. The guide's samples have no names, so the test names them. */
  async function runShown(name: string, part: string, values: Record<string, string> = {}) {
    const label = LABELS[kindOf(name)]
    const { code } = samples.find((sample) => sample.label === label && sample.code.includes(part))!
    const filled = Object.entries(values).reduce((text, [word, value]) => text.replace(word, value), code)
    await writeFile(join(folder, name), filled)
    return run(name, { PRIVATE_KEY: bare(shop.privatePem) })
  }

  const PAY_PAGE = () => expect.stringContaining(`${url}/payment/pay/`)

  const V1 = ['first-v1.sh', 'first-v1.mjs', 'first-v1.py', 'first-v1.php']
  const V2 = ['first-v2.sh', 'first-v2.mjs', 'first-v2.php']

  eachSample(V1, 'sends a first signed call of V1', async (name) => {
    expect(await runShown(name, '/payment/api/mapi.php')).toMatchObject({ code: 1, payurl: PAY_PAGE() })
  })

  eachSample(V2, 'sends a first signed call of V2', async (name) => {
    expect(await runShown(name, '/payment/api/pay/create')).toMatchObject({ code: 0, pay_info: PAY_PAGE() })
  })

  eachSample(['first-v1.sh'], 'pays the order with play points, and asks for it', async (name) => {
    const opened = await runShown(name, '/payment/api/mapi.php')
    const path = new URL(opened.payurl).pathname
    const page = await buyer.get(path)
    expect(page.body).toContain('990')
    expect(await buyer.submit(page, path)).toMatchObject({ status: 303 })
    const asked = await runShown('order.sh', 'act=order', { 'YOUR-TRADE-NO': opened.trade_no })
    expect(asked).toMatchObject({ code: 1, money: '9.90', status: 1 })
  })
})

describe('a merchant', () => {
  const env = () => ({ PAYMENT_ID: seller.payment_id, TOKEN: seller.token })

  eachSample(['pay.sh'], 'initiates a payment by hand', async (name) => {
    expect(await run(name, { ...env(), ORDER_ID: 'by-hand' })).toMatchObject({
      success: true,
      status: 'pending',
      amount: 120,
    })
  })

  eachSample(['pay.mjs', 'pay.py', 'pay.php', 'pay.go'], 'is paid, asks, transfers', async (name) => {
    const order_id = `order of ${name}`.replaceAll(' ', '-')
    const opened = await run(name, env(), 'start', order_id, '120', 'Sticker pack & 贴纸')
    expect(opened).toMatchObject({ success: true, status: 'pending' })
    const query = await pay(opened.payment_url, (path) => `${path}/return`)
    expect(await run(name, env(), 'callback', query)).toEqual({ genuine: true, order_id, amount: '120' })
    const forged = query.replace('amount=120', 'amount=1')
    await Promise.all(
      [forged, ...hostileTo(query, 'signature')].map(async (hostile) =>
        expect(await run(name, env(), 'callback', hostile), hostile).toMatchObject({ genuine: false }),
      ),
    )
    expect(await run(name, env(), 'query', opened.transaction_id)).toMatchObject({ status: 'completed' })
    const to = [String(alice.id), alice.username]
    const sent = await run(name, env(), 'transfer', `back-${order_id}`, ...to, '5')
    expect(sent).toMatchObject({ success: true, status: 'completed', amount: 5 })
    expect(await run(name, env(), 'transfer', `bad-${order_id}`, to[0]!, 'somebody', '5')).toMatchObject({
      success: false,
      errors: [{ code: 1014 }],
    })
  })
})

describe('a merchant with mandates', () => {
  const env = () => ({ PAYMENT_ID: seller.payment_id, TOKEN: seller.token })
  const PROGRAMS = ['mandate.mjs', 'mandate.py', 'mandate.php', 'mandate.go']

  /** Allows an offer on its page. Returns the parameters of the callback. */
  async function allow(address: string): Promise<string> {
    const path = new URL(address).pathname
    const page = await buyer.get(path)
    const { location } = await buyer.post(path, formsIn(page.body).find((form) => form.isOf(path))!.values)
    return new URL(location!).search.slice(1)
  }

  eachSample(['offer.sh'], 'offers a mandate by hand', async (name) => {
    const offered = await run(name, { ...env(), REFERENCE: 'by-hand' })
    expect(offered).toMatchObject({ success: true, status: 'pending', reference: 'by-hand' })
    expect(await allow(offered.mandate_url)).toContain('mandate_status=active')
  })

  eachSample(PROGRAMS, 'is allowed, charges, asks, revokes', async (name) => {
    const reference = `club-of-${name}`
    const offered = await run(name, env(), 'top-up', reference, 'Club & 会员', 'month', '50', '120')
    expect(offered).toMatchObject({ success: true, status: 'pending' })
    const { mandate_id } = offered
    const query = await allow(offered.mandate_url)
    const told = { mandate_id, mandate_status: 'active', reference }
    expect(await run(name, env(), 'callback', query)).toEqual({ genuine: true, ...told })
    for (const forged of [query.replace('=active', '=declined'), 'signature[]=x'])
      expect(await run(name, env(), 'callback', forged), forged).toMatchObject({ genuine: false })
    const charge = (order_id: string, amount: string, at = url) =>
      run(name, { ...env(), TESSERA: at }, 'charge', mandate_id, `${order_id}-${name}`, amount, 'Tea & 茶')
    // The first answer is lost on its way.
    const losing = await startFaulty('lost', '/payment/mandate')
    expect(await charge('first', '50', losing.url)).toMatchObject({
      success: true,
      spent: 50,
      next: 'deliver',
    })
    expect(losing.count()).toBe(2)
    await losing.close()
    expect(await charge('first', '50')).toMatchObject({ spent: 50, next: 'deliver' })
    const large = await charge('large', '51')
    expect(large).toMatchObject({ errors: [{ code: 1023 }], next: 'let the member pay by hand' })
    expect(await charge('second', '50')).toMatchObject({ spent: 100, left: 20 })
    expect(await charge('third', '21')).toMatchObject({ errors: [{ code: 1024 }], next: 'charge later' })
    expect(await run(name, env(), 'query', mandate_id)).toMatchObject({
      status: 'active',
      spent: 100,
      left: 20,
    })
    const ended = await run(name, env(), 'revoke', mandate_id, 'The club has closed')
    expect(ended).toMatchObject({ success: true, status: 'ended', reason: 'merchant' })
    expect(await charge('late', '1')).toMatchObject({ errors: [{ code: 1022 }], next: 'stop' })
  })

  eachSample(PROGRAMS, 'sells a subscription', async (name) => {
    const offered = await run(name, env(), 'subscribe', `monthly-${name}`, 'Magazine', 'month', '300')
    await allow(offered.mandate_url)
    const charge = (order_id: string, amount: string) =>
      run(name, env(), 'charge', offered.mandate_id, `${order_id}-${name}`, amount, 'Magazine')
    expect(await charge('part', '299')).toMatchObject({ data: { limit: 300, exactly: true } })
    expect(await charge('month', '300')).toMatchObject({ next: 'deliver', left: 0 })
    expect(await charge('twice', '300')).toMatchObject({ errors: [{ code: 1024 }], next: 'charge later' })
  })
})

describe('a merchant with an access key', () => {
  let env: Record<string, string>
  beforeAll(async () => {
    const scopes = ['orders:read', 'orders:write', 'transfers'] as const
    const asked = { name: 'Guide', scopes: [...scopes], days: 1, allowed_addresses: [] }
    const made = await createAccessKey(test.deps, seller.payment_id, asked, {
      user_id: seller.owner.id,
      ip: IP,
    })
    const { client_id, client_secret } = made as AccessKeyCredentials
    env = { CLIENT_ID: client_id, CLIENT_SECRET: client_secret }
    await givePoints(test, seller.owner, 1_000n)
  })

  eachSample(['access-key.sh'], 'creates an order by hand', async (name) => {
    const placed = await run(name, { ...env, ORDER_ID: 'by-hand-with-key' })
    expect(placed).toMatchObject({ success: true, status: 'pending', amount: 120 })
  })

  const PROGRAMS = ['access-key.mjs', 'access-key.py', 'access-key.php']
  eachSample(PROGRAMS, 'orders, finds, lists, transfers, and renews its token', async (name) => {
    const order_id = `key-${name}`
    const placed = await run(name, env, 'order', order_id, '120', 'Sticker pack & 贴纸')
    expect(placed).toMatchObject({ success: true, status: 'pending' })
    expect(await run(name, env, 'find', order_id)).toMatchObject({ transaction_id: placed.transaction_id })
    expect((await run(name, env, 'orders', '1')).data).toMatchObject([{ order_id }])
    expect(await run(name, env, 'find', 'none')).toMatchObject({ errors: [{ code: 1007 }] })
    const transfer = (amount: string, at: string) =>
      run(name, { ...env, TESSERA: at }, 'transfer', order_id, String(alice.id), alice.username, amount)
    for (const fault of ['lost', 'expired'] as const) {
      const faulty = await startFaulty(fault, '/api/payment')
      expect(await transfer('5', faulty.url)).toMatchObject({ success: true, amount: 5 })
      expect(faulty.count()).toBe(2)
      await faulty.close()
    }
    expect(await transfer('6', url)).toMatchObject({ errors: [{ code: 1005 }] })
  })
})

describe('a merchant who pays many members', () => {
  let env: Record<string, string>
  let members: Person[]
  beforeAll(async () => {
    const asked = { name: 'Payouts', scopes: ['payouts' as const], days: 1, allowed_addresses: [] }
    const made = await createAccessKey(test.deps, seller.payment_id, asked, {
      user_id: seller.owner.id,
      ip: IP,
    })
    const { client_id, client_secret } = made as AccessKeyCredentials
    env = { CLIENT_ID: client_id, CLIENT_SECRET: client_secret }
    await givePoints(test, seller.owner, 10_000n)
    members = await Promise.all(Array.from({ length: 3 }, () => makePerson(test)))
  })

  /** Writes a file of members for a program. */
  async function fileOf(name: string, rows: string[]): Promise<string> {
    const file = join(folder, `${name}.csv`)
    await writeFile(file, `${rows.join('\n')}\n`)
    return file
  }
  const received = async (reference: string) => {
    const { id } = (await findPayout(test.db, seller.id, reference))!
    return (await linesOfPayout(test.db, id)).map(({ status, memo }) => [status, memo])
  }

  eachSample(['payout.sh'], 'pays one by hand', async (name) => {
    const { id, username } = members[0]!
    const one = { REFERENCE: 'by-hand', USER_ID: String(id), USERNAME: username }
    expect(await run(name, { ...env, ...one })).toMatchObject({ status: 'waiting', count: 1, amount: 50 })
    await runPayouts(test.deps)
    expect(await received('by-hand')).toEqual([['paid', 'First prize']])
  })

  eachSample(['payout-ten-lines.mjs'], 'pays a hundred with ten lines', async (name) => {
    const script = (await samplesOf('en')).get(name)!
    expect(script.trim().split('\n')).toHaveLength(10)
    const rows = Array.from({ length: 100 }, (_, i) => {
      const { id, username } = members[i % 3]!
      return `${id},${username},1`
    })
    const FILE = await fileOf('winners', rows)
    for (let i = 0; i < 2; i += 1) {
      const { count } = await run(name, { ...env, REFERENCE: 'hundred', FILE })
      expect(count).toBe(100)
      await runPayouts(test.deps)
    }
    expect(await received('hundred')).toEqual(Array(100).fill(['paid', '']))
  })

  const PROGRAMS = ['payout.mjs', 'payout.py', 'payout.php']
  eachSample(PROGRAMS, 'checks, pays, shows, resumes and cancels', async (name) => {
    const reference = `for/${name}`
    const [first, second, third] = members as [Person, Person, Person]
    const file = await fileOf(name, [
      `${first.id},${first.username},20,第一名, congratulations`,
      `${second.id},${first.username},10`,
      `${third.id},${third.username},9000`,
      `${third.id},${third.username},9000,again`,
    ])
    const act = (...given: string[]) => run(name, env, ...given)
    const checked = await act('check', reference, file)
    expect(checked.lines.map(({ code }: { code: number | null }) => code)).toEqual([null, 1014, null, 1010])
    const losing = await startFaulty('lost', '/api/payment')
    const paid = await run(name, { ...env, TESSERA: losing.url }, 'pay', reference, file)
    expect(paid).toMatchObject({ reference, status: 'waiting', count: 4 })
    expect(losing.count()).toBe(2)
    await losing.close()
    expect(await run(name, env, 'pay', reference, file)).toMatchObject({ created_at: paid.created_at })
    await runPayouts(test.deps)
    expect(await act('show', reference)).toMatchObject({
      ...{ status: 'halted', reason: 'insufficient', paid: 2, refused: 1, pending: 1 },
      refused_lines: [{ line_id: '2', code: 1014 }],
    })
    expect(await received(reference)).toMatchObject([['paid', '第一名, congratulations'], {}, {}, {}])
    expect(await act('resume', reference)).toMatchObject({ status: 'waiting' })
    expect(await act('cancel', reference)).toMatchObject({ status: 'cancelled', paid: 2, cancelled: 1 })
    await givePoints(test, seller.owner, 10_000n)
  })
})

describe('a shop of the gateway', () => {
  const v1 = () => ({ PID: seller.pidText, KEY: seller.merchant_key })
  const v2 = () => ({
    PID: seller.pidText,
    PRIVATE_KEY: bare(seller.privatePem),
    PLATFORM_KEY: bare(seller.platformPem),
  })

  eachSample(['v1.sh'], 'opens a trade by hand', async (name) => {
    const answer = await run(name, { ...v1(), ORDER: 'by-hand' })
    expect(answer).toMatchObject({ code: 1, payurl: expect.stringContaining(url) })
  })

  const PROGRAMS = ['v1.mjs', 'v1.py', 'v1.php', 'v1.go', 'v2.mjs', 'v2.php']

  eachSample(PROGRAMS, 'is paid, is told, and asks', async (name) => {
    const [env, success] = name.startsWith('v1') ? [v1, 1] : [v2, 0]
    bought += 1
    const out_trade_no = `mug-${bought}`
    const opened = await run(name, env(), 'create', out_trade_no, '马克杯 & more', '9.90')
    expect(opened.code).toBe(success)
    expect(await run(name, env(), 'query', out_trade_no)).toMatchObject({ status: 0 })
    const query = await pay(opened.payurl ?? opened.pay_info, (path) => `${path}/return`)
    expect(await run(name, env(), 'notified', query)).toEqual({ paid: true, out_trade_no, money: '9.90' })
    await Promise.all(
      [query.replace('9.90', '0.01'), ...hostileTo(query, 'sign')].map(async (hostile) =>
        expect(await run(name, env(), 'notified', hostile), hostile).toMatchObject({ paid: false }),
      ),
    )
    expect(await run(name, env(), 'query', out_trade_no)).toMatchObject({ status: 1 })
  })
})

type App = { CLIENT_ID: string; CLIENT_SECRET: string }

describe('an application', () => {
  const NOT_HERE = 'not started in this browser'

  async function register(redirect_uri: string): Promise<App> {
    const app = await registerApp(test.db, {
      owner_id: seller.owner.id,
      name: 'Reading Club',
      description: 'Books',
      redirect_uris: [redirect_uri],
      allow_groups: [],
      deny_groups: [],
    })
    return { CLIENT_ID: app.client_id, CLIENT_SECRET: app.client_secret! }
  }

  /** Follows the application's redirect, consents if the page asks, and returns the address that it leads to. */
  async function consent(location: string): Promise<string> {
    const path = location.slice(url.length)
    const page = await buyer.get(path)
    const answer = page.location ? page : await buyer.submit(page, '/oauth2/consent', { decision: 'allow' })
    return answer.location!
  }

  eachSample(['token.sh'], 'redeems a code by hand', async (name) => {
    const REDIRECT_URI = 'http://127.0.0.1:9/callback'
    const CODE_VERIFIER = 'v'.repeat(43)
    const app = await register(REDIRECT_URI)
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: app.CLIENT_ID,
      redirect_uri: REDIRECT_URI,
      scope: 'openid profile',
      state: 'x',
      code_challenge_method: 'S256',
      code_challenge: await print('challenge.sh', { CODE_VERIFIER }),
    })
    const back = new URL(await consent(`${url}/oauth2/auth?${asked}`))
    const tokens = await run(name, {
      ...app,
      REDIRECT_URI,
      CODE_VERIFIER,
      CODE: back.searchParams.get('code')!,
    })
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
  })

  const PROGRAMS = ['sign-in.mjs', 'sign-in.py', 'sign-in.php', 'sign-in.go']

  /** Starts a program of a sign-in, gives it to the test, and ends it. */
  async function serving(
    name: string,
    more: Record<string, string>,
    test: (ask: (path: string, cookie?: string) => Promise<Response>, app: App) => Promise<void>,
  ): Promise<void> {
    const PORT = String(await freePort())
    const app = await register(`http://127.0.0.1:${PORT}/callback`)
    const [command, ...first] = await commandOf(name)
    if (name.endsWith('.php')) first.unshift('-S', `127.0.0.1:${PORT}`)
    const child = spawn(command!, first, {
      env: environment({ ...app, ...more, PORT }),
      stdio: ['ignore', 'ignore', 'pipe'],
      // Version managers start another process, which ends with its process group.
      detached: true,
    })
    const errors = text(child.stderr)
    try {
      const ask = (path: string, cookie = '') =>
        fetch(new URL(path, `http://127.0.0.1:${PORT}`), { redirect: 'manual', headers: { cookie } })
      await until(() => ask('/').catch(() => undefined))
      await test(ask, app)
    } finally {
      process.kill(-child.pid!)
      if (child.exitCode === null) await once(child, 'exit')
    }
    expect(await errors).not.toMatch(/Traceback|Exception|Error|Warning/)
  }
  const begin = async (ask: (path: string) => Promise<Response>) => {
    const { headers } = await ask('/')
    return { location: headers.get('location')!, cookie: headers.getSetCookie()[0]!.split(';')[0]! }
  }

  eachSample(PROGRAMS, 'greets who signs in', async (name) => {
    await serving(name, {}, async (ask) => {
      const strange = await ask('/favicon.ico')
      expect([strange.status, strange.headers.getSetCookie()]).toEqual([404, []])
      for (const hostile of ['', 'state=', 'state[]=x', 'state=x&code[]=x', 'error[]=x'])
        expect(await (await ask(`/callback?${hostile}`, 'attempt=; attempt[]=x')).text()).toContain(NOT_HERE)
      const uncoded = await ask('/callback?state=x', 'attempt=x')
      expect(await uncoded.text()).toMatch(/^No sign-in: invalid_/)
      const { location, cookie } = await begin(ask)
      const back = await consent(location)
      expect(await (await ask(back)).text()).toContain(NOT_HERE)
      const greeted = await ask(back, cookie)
      expect(await greeted.text()).toBe(`Hello ${alice.username}, member ${alice.id}`)
      expect(greeted.headers.get('content-type')).toMatch(/^text\/plain/)
    })
  })

  eachSample(PROGRAMS, 'is allowed to charge with the sign-in', async (name) => {
    const samples = await samplesOf('en')
    const added = samples.get(name.replace('sign-in', 'sign-in-details'))!
    // The line follows the one with the scope.
    const lines = samples.get(name)!.split('\n')
    const at = lines.findIndex((line) => line.includes('openid profile'))
    const joint = `joint-${name}`
    await writeFile(join(folder, joint), lines.toSpliced(at + 1, 0, added.trimEnd()).join('\n'))
    const MANDATE_ID = await offer(test, seller)
    await serving(joint, { MANDATE_ID }, async (ask, { CLIENT_ID }) => {
      const actor = { user_id: seller.owner.id, ip: IP }
      await linkSignInApp(test.deps, seller.payment_id, CLIENT_ID, actor)
      const { location, cookie } = await begin(ask)
      const page = await buyer.get(location.slice(url.length))
      const { action, values } = formsIn(page.body).find((form) => form.isOf('/oauth2/auth/mandate'))!
      const back = (await buyer.post(action, { ...values, decision: 'charge' })).location!
      expect(await (await ask(back, cookie)).text()).toBe(`Hello ${alice.username}, member ${alice.id}`)
      const asked = await run(
        'mandate.mjs',
        { PAYMENT_ID: seller.payment_id, TOKEN: seller.token },
        'query',
        MANDATE_ID,
      )
      expect(asked).toMatchObject({ status: 'active', user_id: Number(alice.id) })
    })
  })
})

eachSample(['webhook-ping.sh'], 'a forum proves that it has the secret of its webhook', async (name) => {
  const ping = (secret: string) => run(name, { DISCOURSE_WEBHOOK_SECRET: secret })
  expect(await ping(WEBHOOK_SECRET)).toEqual({ status: 'ignored' })
  expect(await ping('another')).toMatchObject({ error: 'forbidden' })
})

it.runIf(hasLeft('SAMPLES'))('an operator does without a browser: operator.sh', async () => {
  const lines = await print('operator.sh', {
    DATABASE_URL: test.deps.config.DATABASE_URL!,
    APP_SECRET,
    PUBLIC_URL: url,
  })
  const told = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(told).toMatchObject([
    { username: 'carol' },
    { username: 'dave' },
    { username: 'dave', amount: 100, is_moved: true },
    { url: expect.stringContaining(`${url}/sign-in/link?token=`) },
    { isSound: true },
  ])
})

it('the variables that a guide names are those of the configuration', async () => {
  const [known, named] = await Promise.all([
    readFile(join(ROOT, '.env.example'), 'utf8'),
    samplesOf('en').then((samples) => samples.get('discourse.env')!),
  ])
  for (const line of named.trim().split('\n')) expect(known).toContain(`\n${line.split('=')[0]}=`)
})
