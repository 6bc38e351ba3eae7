/**
 * `npm run bench:sales` measures links and payouts over HTTP with two processes: 64 buyers of 50 codes, a sale beside a payment without a
 * link, and a payout of 1,000 lines beside payments to the same owner. Each figure stands beside its bar. See README.md.
 */
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { createAccessKey } from '../../src/payment/access-keys/keys.ts'
import { changeLink, createLink, type LinkDetails } from '../../src/payment/links/acts.ts'
import { addCodes } from '../../src/payment/links/codes.ts'
import { placeLinkOrder } from '../../src/payment/links/place.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { details } from '../../test/harness/links.ts'
import { postmasterOf, startPostgres } from '../database.ts'
import { type Connection, type Measured, openConnection, p99, type Request } from '../driver.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import { payments, type Work } from './acts.ts'
import { over } from './rounds.ts'
import { type Member, makeWorld, type Shop, type World } from './world.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Payments of a round. */
    count: { type: 'string', default: '400' },
    payouts: { type: 'string', default: '3' },
  },
})
const [ROUNDS, COUNT, PAYOUTS] = [flags.rounds, flags.count, flags.payouts].map(Number) as [
  number,
  number,
  number,
]
const [BUYERS, CODES, PRICE] = [64, 50, 100n]
const CALLERS = 32
const LINES = { each: 1_000, all: 500 } as const
/** Payments to the owner while a payout runs, a second. */
const BESIDE_A_SECOND = 20
const LOOK_MS = 50
const PAYOUT_MS_MAX = 60_000
const SECRET = 'sales-bench-'.repeat(4)
const IP = '127.0.0.1'
const ALL_CORES = `0-${availableParallelism() - 1}`
const UNLIMITED = ['links_created', 'link_orders', 'payouts', 'access_tokens'].map((name) => `limit_${name}`)

type Site = World & { servers: ServerProcess[]; postmaster: number }
type Row = [what: string, measured: string, bar: string, isMet: boolean]

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const asMember = ({ session }: Member) => ({
  accept: 'text/html',
  cookie: `tessera_session=${session}`,
  'sec-fetch-site': 'same-origin',
})
const payRequest = (member: Member, transaction_id: string, amount: bigint): Request => ({
  method: 'POST',
  path: `/payment/pay/${transaction_id}`,
  headers: asMember(member),
  body: form({ form_token: member.form_token, expected_amount: String(amount) }),
})

async function makeLink(
  { deps }: Site,
  shop: Shop,
  codes: number,
  over: Partial<LinkDetails> = {},
): Promise<string> {
  const actor = { user_id: shop.owner_id, ip: IP }
  const delivery = codes > 0 ? 'codes' : 'none'
  const slug = await createLink(deps, shop.payment_id, details({ amount: PRICE, delivery, ...over }), actor)
  const file = Array.from({ length: codes }, (_, i) => `${slug}-${i}`).join('\n')
  if (codes > 0) await addCodes(deps, shop.payment_id, { slug, file }, actor)
  await changeLink(deps, shop.payment_id, { slug, change: 'publish' }, actor)
  return slug
}

/** 64 members order and pay at once, over both processes, where 50 codes are. Returns how long the payments took. */
async function rush(site: Site, shop: Shop, buyers: Member[]): Promise<number> {
  const { deps, servers } = site
  const slug = await makeLink(site, shop, CODES)
  const before = await balanceOf(deps.db, shop.owner_id)
  const connections = await Promise.all(
    buyers.map((_, i) => openConnection(servers[i % servers.length]!.port)),
  )
  const placed = await Promise.all(
    buyers.map(async (buyer, i) => {
      const fields = { form_token: buyer.form_token, quantity: '1', key: randomUUID() }
      const request = { method: 'POST', path: `/l/${slug}`, headers: asMember(buyer) } as const
      const { status, headers } = await connections[i]!.ask({ ...request, body: form(fields) })
      const transaction_id = /location: \S*(txn_[a-z0-9]+)/i.exec(headers)?.[1]
      if (transaction_id === undefined) throw new Error(`An order at a link: ${status} ${headers}`)
      return transaction_id
    }),
  )
  const start = performance.now()
  const answers = await Promise.all(
    buyers.map((buyer, i) => connections[i]!.ask(payRequest(buyer, placed[i]!, PRICE))),
  )
  const took = performance.now() - start
  for (const connection of connections) connection.close()
  const count = (status: number) => answers.filter((answer) => answer.status === status).length
  const { rows } = await sql<{ codes: number; orders: number }>`
    select count(*)::integer as codes, count(distinct order_id)::integer as orders from link_codes
    where order_id is not null and link_id = (select id from links where slug = ${slug})`.execute(deps.db)
  const taken = (await balanceOf(deps.db, shop.owner_id)) - before
  const found = [count(303), count(409), rows[0]!.codes, rows[0]!.orders, taken]
  const fee = PRICE / 20n
  const expected = [CODES, BUYERS - CODES, CODES, CODES, BigInt(CODES) * (PRICE - fee)]
  if (String(found) !== String(expected)) throw new Error(`The rush ended with ${found}, not ${expected}`)
  return took
}

/** Orders at a link, as many as may be open, and their payments. */
async function sales(site: Site, shop: Shop, members: Member[], slug: string, count: number): Promise<Work> {
  const link = { slug, book: 'live', applicant_id: shop.owner_id } as const
  const requests: Request[] = []
  for (let n = 0; n < count; n += 1) {
    const member = members[n % members.length]!
    const placed = await placeLinkOrder(site.deps, {
      ...{ link, user_id: member.id, units: 1, amount: undefined, key: randomUUID() },
    })
    if (placed.refusal !== undefined) throw new Error(`An order at a link: ${placed.refusal}`)
    requests.push(payRequest(member, placed.transaction_id, PRICE))
  }
  return { requests, status: 303 }
}

/** Payments without a link, twice, and sales of a link, with codes and without, in alternating rounds. */
async function compare(site: Site, shop: Shop, members: Member[], callers: number): Promise<Row[]> {
  const count = callers === 1 ? Math.ceil(COUNT / 2) : COUNT
  const kinds = ['payment', 'again', 'sale', 'code'] as const
  const measured = new Map<(typeof kinds)[number], Measured[]>(kinds.map((kind) => [kind, []]))
  const [plain, coded] = [await makeLink(site, shop, 0), await makeLink(site, shop, (ROUNDS + 1) * count)]
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const work =
        kind === 'payment' || kind === 'again'
          ? await payments(site, count, { shops: [shop], members })
          : await sales(site, shop, members, kind === 'sale' ? plain : coded, count)
      const result = await over(site.postmaster, ...site.servers)(work, callers)
      if (round > 0) measured.get(kind)!.push(result)
    }
  // Many callers wait for each other, so their median says how many they are.
  const costs = (kind: (typeof kinds)[number]) =>
    measured.get(kind)!.map(({ median_ms, per_second }) => (callers === 1 ? median_ms : 1_000 / per_second))
  const to = (kind: (typeof kinds)[number]) => costs(kind).map((ms, round) => ms / costs('payment')[round]!)
  const more = (kind: (typeof kinds)[number]) =>
    costs(kind).map((ms, round) => ms - (costs('payment')[round]! + costs('again')[round]!) / 2)
  const who = callers === 1 ? 'one caller' : `${callers} callers`
  console.log(
    kinds
      .map((kind) => {
        const rate = spread(measured.get(kind)!.map(({ per_second }) => per_second))
        const medians = measured.get(kind)!.map(({ median_ms }) => median_ms)
        return `${who}, ${kind}: median ${spread(medians, 2)} ms, ${rate} a second`
      })
      .join('\n'),
  )
  const figure = callers === 1 ? 'the median' : 'a second ÷ their number'
  const bar = (kind: 'sale' | 'code', what: string): Row => [
    `${what}, ${who}: ${figure} more than a payment’s`,
    `${spread(more(kind), 2)} ms (ratio ${spread(to(kind), 2)}; two equal ${spread(to('again'), 2)})`,
    '≤ 0.5 ms',
    median(more(kind)) <= 0.5,
  ]
  return [bar('sale', 'a sale of a link'), bar('code', 'a sale of a code')]
}

type Api = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<Record<string, unknown>>

async function openApi({ deps, servers }: Site, shop: Shop): Promise<Api> {
  const key = await createAccessKey(
    deps,
    shop.payment_id,
    { name: 'bench', scopes: ['payouts'], days: 1, allowed_addresses: [] },
    { user_id: shop.owner_id, ip: IP },
  )
  if (typeof key === 'string') throw new Error(`No key: ${key}`)
  const connection = await openConnection(servers[0]!.port)
  const body = form({ grant_type: 'client_credentials', ...key })
  const { access_token } = JSON.parse(
    (await connection.ask({ method: 'POST', path: '/payment/token', body })).body,
  )
  return async (method, path, asked) => {
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
    const request = { method, path: `/api/payment/payouts${path}`, headers }
    const answer = await connection.ask(
      asked === undefined ? request : { ...request, body: JSON.stringify(asked) },
    )
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.slice(0, 300)}`)
    return JSON.parse(answer.body)
  }
}

/** Payments to a shop at a steady rate until they are stopped. Returns how long each took. */
async function payBeside(
  site: Site,
  shop: Shop,
  members: Member[],
  isOver: () => boolean,
): Promise<number[]> {
  const { requests } = await payments(site, 30 * BESIDE_A_SECOND, { shops: [shop], members })
  const free: Connection[] = []
  const times: number[] = []
  const under: Promise<void>[] = []
  for (const [n, request] of requests.entries()) {
    if (isOver()) break
    const due = performance.now()
    under.push(
      (async () => {
        const connection = free.pop() ?? (await openConnection(site.servers[n % 2]!.port))
        const { status } = await connection.ask(request)
        if (status !== 303) throw new Error(`A payment beside a payout: ${status}`)
        times.push(performance.now() - due)
        free.push(connection)
      })(),
    )
    await sleep(1_000 / BESIDE_A_SECOND)
  }
  await Promise.all(under)
  for (const connection of free) connection.close()
  return times
}

/** Payouts of one mode, one after the other, each beside payments to its owner. */
async function payOut(site: Site, shop: Shop, members: Member[], mode: 'each' | 'all'): Promise<Row[]> {
  const api = await openApi(site, shop)
  const took: number[] = []
  const waits: number[] = []
  let isOver = false
  const quiet = payBeside(site, shop, members, () => isOver)
  await sleep(3_000)
  isOver = true
  const alone = await quiet
  for (let n = 0; n < PAYOUTS; n += 1) {
    const reference = `${mode}-${randomUUID()}`
    const lines = Array.from({ length: LINES[mode] }, (_, i) => {
      const { id, username } = members[i % members.length]!
      return { line_id: `l${i}`, to_user_id: String(id), to_username: username, amount: 10 }
    })
    let isDone = false
    const beside = payBeside(site, shop, members, () => isDone)
    const start = performance.now()
    let payout = await api('POST', '', { reference, mode, lines })
    while (payout.status !== 'finished' && performance.now() - start < PAYOUT_MS_MAX) {
      await sleep(LOOK_MS)
      payout = await api('GET', `/${reference}`)
    }
    took.push((performance.now() - start) / 1_000)
    isDone = true
    waits.push(...(await beside))
    if (payout.status !== 'finished' || payout.paid !== LINES[mode])
      throw new Error(`A payout ended with ${JSON.stringify(payout)}`)
  }
  const bars = mode === 'each' ? { seconds: 5, ms: 250 } : { seconds: 5, ms: 1_000 }
  const wait = Math.max(...waits)
  const figures = `${wait.toFixed(0)} ms at most, median ${median(waits).toFixed(0)}, p99 ${p99(waits).toFixed(0)}`
  const compared = `${median(alone).toFixed(0)} and ${Math.max(...alone).toFixed(0)} ms without a payout`
  return [
    [
      `${LINES[mode]} lines of the mode ${mode}, from the request to their end`,
      `${spread(took, 1)} s`,
      `≤ ${bars.seconds} s`,
      Math.max(...took) <= bars.seconds,
    ],
    [
      `a payment to the same owner meanwhile (${waits.length})`,
      `${figures} (${compared})`,
      `≤ ${bars.ms} ms`,
      wait <= bars.ms,
    ],
  ]
}

async function run(site: Site): Promise<Row[]> {
  const { shops, members } = site
  const buyers = members.slice(shops.length)
  const rushes: number[] = []
  for (let round = 0; round < ROUNDS; round += 1)
    rushes.push(await rush(site, shops[0]!, buyers.slice(0, BUYERS)))
  const rows: Row[] = [
    [
      `64 buyers of 50 codes, ${ROUNDS} times: 50 paid, 14 refused`,
      `${spread(rushes)} ms for all`,
      'exact',
      true,
    ],
  ]
  rows.push(...(await compare(site, shops[1]!, buyers, 1)))
  rows.push(...(await compare(site, shops[1]!, buyers, CALLERS)))
  rows.push(...(await payOut(site, shops[2]!, buyers, 'each')))
  rows.push(...(await payOut(site, shops[3]!, buyers, 'all')))
  return rows
}

const postgres = await startPostgres()
const servers: ServerProcess[] = []
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  const deps = {
    ...{ db, clock: () => new Date(), secrets: makeSecrets(SECRET), settings: openSettings(db) },
    limits: { hit: async () => {} },
  } as unknown as Core
  const world = await makeWorld(deps, 4)
  const settings = [...UNLIMITED, 'links_min_trust_level'].map((name) => ({ name, value: '0' }))
  await db.insertInto('site_settings').values(settings).execute()
  await sql.raw('vacuum analyze').execute(db)
  const env = { DATABASE_URL: postgres.url, APP_SECRET: SECRET, LOG_LEVEL: 'warn' }
  const server = resolve(import.meta.dirname, '../our-server.ts')
  for (const port of [4971, 4972]) servers.push(await startServer(server, { port, env, cores: ALL_CORES }))
  const rows = await run({ ...world, servers, postmaster: await postmasterOf(db) })
  console.log('\n| | measured | bar | met |\n|---|---|---|---|')
  for (const [what, measured, bar, isMet] of rows)
    console.log(`| ${what} | ${measured} | ${bar} | ${isMet ? 'yes' : 'no'} |`)
  const { isSound } = await proveBooks(db, deps.secrets)
  if (!isSound) throw new Error('The books do not pass')
  console.log('\nThe books pass.')
} finally {
  await stopServers(servers)
  await postgres.stop()
}
process.exit()
