/**
 * Processes are replaced one after another, behind the proxies of docs/operations, by the same version and from an earlier one.
 * Every request is sent once: each is answered, none is lost, and none happens twice. `npm run upgrades` runs it.
 * spec/limits 4.1. spec/accounts 3.3.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { APP_SECRET, type Buyer, makeBuyers, makeShop, type Shop, START_POINTS } from '../faults/world.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { type Browser, browserAt } from '../harness/browser.ts'
import { freePort } from '../harness/free-port.ts'
import { createDatabase } from '../harness/harness.ts'
import { merchantSign } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { isWithout, type RunningProxy, startCaddy, startNginx } from '../harness/proxies.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { ROOT, type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'

/** The requests behind each proxy. */
const POSTS = Number(process.env.UPGRADE_POSTS)
const MIXED_SECONDS = Number(process.env.UPGRADE_MIXED_SECONDS ?? 60)
const AT_ONCE = 16
const PRICE = 100n
const PRICE_NET = 95n
const CASHBACK = 10n
const CASHBACK_FEE = 1n
const POSTS_OF_A_VISIT = 3
const PROCESSES = 2
/** All members come from one address, and one shop sells to all. */
const LIMITS = ['limit_pages', 'limit_api_requests']
const UNDONE_PAUSE_MS = 250
/** A proxy finds a process that is ready again within so long. */
const FOUND_AGAIN_MS = 3_000
/** A version that knows this variable goes on serving after SIGTERM. No proxy can keep the requests of an earlier one. */
const GRACE = 'STOP_GRACE_SECONDS'
/** Without a tag, an upgrade begins so many commits ago, and not before that version. */
const COMMITS_BACK = 50

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()

type World = { db: Db; shop: Shop; buyers: Buyer[]; databaseUrl: string; folder: string }
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close()
})

type Version = {
  migrate(url: string): Promise<unknown>
  makeShop: typeof makeShop
  makeBuyers: typeof makeBuyers
}

/** Members and a shop, in a database that a version makes and fills, by default this one. */
async function makeWorld(version: Version = { migrate, makeShop, makeBuyers }): Promise<World> {
  const database = await createDatabase('template1')
  closers.push(database.drop)
  await version.migrate(database.url)
  const db = openDatabase(database.url, { max: 4, onBroken: () => {} })
  closers.push(() => db.destroy())
  const folder = await makeScratchFolder()
  closers.push(() => rm(folder, { recursive: true, force: true }))
  await db
    .insertInto('site_settings')
    .values(LIMITS.map((name) => ({ name, value: '0' })))
    .execute()
  const shop = await version.makeShop(db, 'seller')
  return { db, shop, buyers: await version.makeBuyers(db, 'buyer'), databaseUrl: database.url, folder }
}

/** Starts a process behind the proxy at `proxyPort`. */
async function startBehind(
  { databaseUrl, folder }: World,
  { port, proxyPort, root }: { port: number; proxyPort: number; root?: string | undefined },
): Promise<ServerProcess> {
  const env = {
    DATABASE_URL: databaseUrl,
    APP_SECRET,
    DATA_DIR: folder,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${proxyPort}`,
    TRUST_PROXY: '127.0.0.1',
    STOP_GRACE_SECONDS: '5',
    LOG_LEVEL: 'warn',
  }
  const server = await startServer(env, root === undefined ? {} : { root })
  closers.push(() => stopServer(server, 'SIGKILL'))
  return server
}

type Sent = { status: number; body: string; location: string | undefined }

/** Sends requests to the proxy, each once, on connections that stay open. */
function openCaller({ url }: RunningProxy) {
  const isTls = url.startsWith('https:')
  const agent = isTls
    ? new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true, maxSockets: AT_ONCE })
  const send = isTls ? request : plainRequest
  closers.push(async () => agent.destroy())
  return async (method: 'GET' | 'POST', path: string, headers = {}, fields?: object): Promise<Sent> => {
    const body = fields && new URLSearchParams(fields as Record<string, string>).toString()
    const form = body && {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    }
    const call = send(new URL(path, url), { method, agent, headers: { ...headers, ...form } }).end(body)
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    const { location } = answer.headers
    return { status: answer.statusCode!, body: await text(answer), location }
  }
}

/**
 * Repeats what is answered 503, for then nothing was done: by the Caddy of Debian while no process is ready, where a newer one
 * lets the request wait, and by a process whose statement has waited 2.5 seconds for the locks of a migration.
 */
function repeatUndone(call: Caller, onRepeat: () => void): Caller {
  return async (...sent) => {
    for (;;) {
      const answer = await call(...sent)
      if (answer.status !== 503) return answer
      onRepeat()
      await sleep(UNDONE_PAUSE_MS)
    }
  }
}

type Caller = ReturnType<typeof openCaller>

/** An order, its payment on its page, and a transfer. Throws at the first answer that is no success. */
async function visit(call: Caller, { shop, buyers }: World, number: number): Promise<void> {
  const buyer = buyers[number % buyers.length]!
  const order_id = `visit-${number}`
  const signed = (fields: Record<string, string>) => ({
    ...fields,
    signature: merchantSign(shop.token, fields),
  })
  const order = { order_id, amount: String(PRICE), description: 'Tea' }
  const initiated = await call('POST', `/payment/pay/${shop.payment_id}/process`, {}, signed(order))
  expect(initiated, 'order').toMatchObject({ status: 200 })
  const path = new URL(JSON.parse(initiated.body).payment_url).pathname
  const browser = {
    accept: 'text/html',
    'sec-fetch-site': 'same-origin',
    cookie: `tessera_session=${buyer.session}`,
  }
  const page = await call('GET', path, browser)
  expect(page, 'page').toMatchObject({ status: 200 })
  const form_token = /name="form_token" value="([^"]+)"/.exec(page.body)![1]!
  const paid = await call('POST', path, browser, { form_token, expected_amount: String(PRICE) })
  expect(paid, 'payment').toMatchObject({ status: 303, location: expect.stringContaining('transaction_id') })
  const transfer = {
    order_id,
    amount: String(CASHBACK),
    to_user_id: String(buyer.id),
    to_username: buyer.username,
  }
  const given = await call('POST', `/payment/transfer/${shop.payment_id}`, {}, signed(transfer))
  expect(given, 'transfer').toMatchObject({ status: 200 })
}

/** Makes visits, as many at once as callers, until `isEnough` of their number. Returns the number. */
async function makeVisits(call: Caller, world: World, isEnough: (count: number) => boolean): Promise<number> {
  let count = 0
  const caller = async () => {
    while (!isEnough(count)) await visit(call, world, ++count)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  return count
}

/** The books hold every answered act once. */
async function expectInBooks({ db, shop, buyers }: World, visits: number): Promise<void> {
  await expectSoundBooks(db)
  const paid = await db.selectFrom('orders').where('status', '=', 'paid').select('id').execute()
  const transfers = await db.selectFrom('transfers').select('id').execute()
  expect([paid.length, transfers.length]).toEqual([visits, visits])
  const count = BigInt(visits)
  expect(await balanceOf(db, shop.owner.id)).toBe(
    START_POINTS + count * (PRICE_NET - CASHBACK - CASHBACK_FEE),
  )
  const balances = await Promise.all(buyers.map(({ id }) => balanceOf(db, id)))
  expect(balances.reduce((sum, balance) => sum + balance)).toBe(
    START_POINTS * BigInt(buyers.length) - count * (PRICE - CASHBACK),
  )
}

describe.each([
  ['Caddy', 'caddy', startCaddy],
  ['nginx', 'nginx', startNginx],
] as const)('behind %s', (_, program, startProxy) => {
  it.skipIf(isWithout(program))(
    'processes are replaced one after another without a lost request',
    async () => {
      const world = await makeWorld()
      const [proxyPort, ...ports] = [await freePort(), await freePort(), await freePort()] as const
      const behind = (port: number) => startBehind(world, { port, proxyPort })
      const servers = await Promise.all(ports.map(behind))
      const proxy = await startProxy(proxyPort, ports)
      closers.push(proxy.stop)
      let [isDone, replaced] = [false, 0]
      const isEnough = (count: number) => count * POSTS_OF_A_VISIT >= POSTS && replaced >= PROCESSES
      const visits = makeVisits(openCaller(proxy), world, isEnough)
      const end = () => (isDone = true)
      visits.then(end, end)
      while (!isDone) {
        const place = replaced % PROCESSES
        expect(await stopServer(servers[place]!, 'SIGTERM')).toBe(0)
        servers[place] = await behind(ports[place]!)
        replaced += 1
        await sleep(FOUND_AGAIN_MS)
      }
      const count = await visits
      await expectInBooks(world, count)
      console.log(`${program}: ${count * POSTS_OF_A_VISIT} POSTs, ${replaced} processes replaced`)
    },
  )
})

/** Makes a copy of the sources in which form tokens are made in another way, as a later version may do. */
function copyWithOtherTokens(folder: string): string {
  const root = join(folder, 'other')
  for (const part of ['src', 'views', 'migrations', 'docs', 'package.json', 'CHANGELOG.md'])
    cpSync(join(ROOT, part), join(root, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const guard = join(root, 'src/web/forms/form-guard.ts')
  const changed = [
    ['if (user_id === undefined) return tag\n', `return \`next.\${tag}\`\n`],
    ["const [tag = ''] = sentToken(request)", "const [, tag = ''] = sentToken(request)"],
    [/const OWN_SHAPE = .*/, 'const OWN_SHAPE = /^next\\.[\\w-]{43}$/'],
  ].reduce(
    (source, [from, to]) => {
      const next = source.replace(from!, () => to as string)
      expect(next).not.toBe(source)
      return next
    },
    readFileSync(guard, 'utf8'),
  )
  writeFileSync(guard, changed)
  return root
}

it('two processes whose form tokens differ show each other’s forms again, and do nothing', async () => {
  const world = await makeWorld()
  const { db, shop, buyers } = world
  const buyer = buyers[0]!
  const proxyPort = await freePort()
  const root = copyWithOtherTokens(world.folder)
  const [own, other] = await Promise.all([
    startBehind(world, { port: await freePort(), proxyPort }),
    startBehind(world, { port: await freePort(), proxyPort, root }),
  ])
  const browserOf = ({ url }: ServerProcess, cookies?: Browser['cookies']) => {
    const browser = browserAt(url)
    browser.cookies.set('tessera_session', buyer.session)
    for (const [name, value] of cookies ?? []) browser.cookies.set(name, value)
    return browser
  }
  let paid = 0n
  for (const [from, to] of [
    [own, other],
    [other, own],
  ] as const) {
    const page = await browserOf(from).get('/account/profile')
    const there = browserOf(to)
    const name = `Typed on ${from.url}`
    const answer = await there.submit(page, '/account/profile', { name })
    expect(answer).toMatchObject({ status: 303, location: '/account/profile' })
    const again = await there.get('/account/profile')
    expect(again.body).toContain(messages.en.forms.kept)
    expect(again.body).toContain(`value="${name}"`)
    expect((await there.submit(again, '/account/profile', { name })).status).toBe(303)
    const { name: stored } = await db
      .selectFrom('users')
      .where('id', '=', buyer.id)
      .select('name')
      .executeTakeFirstOrThrow()
    expect(stored).toBe(name)

    const order = { order_id: `order-${paid}`, amount: String(PRICE), description: 'Tea' }
    const placed = await fetch(`${to.url}/payment/pay/${shop.payment_id}/process`, {
      method: 'POST',
      body: new URLSearchParams({ ...order, signature: merchantSign(shop.token, order) }),
    })
    const path = new URL(((await placed.json()) as { payment_url: string }).payment_url).pathname
    const refused = await there.submit(await browserOf(from).get(path), path)
    expect(refused).toMatchObject({ status: 303, location: path })
    expect(await balanceOf(db, buyer.id)).toBe(START_POINTS - paid)
    const shown = await there.get(path)
    expect(shown.body).toContain(messages.en.forms.kept)
    expect((await there.submit(shown, path)).location).toContain('transaction_id')
    paid += PRICE
    expect(await balanceOf(db, buyer.id)).toBe(START_POINTS - paid)
  }
})

/** UPGRADE_FROM, the newest tag, or without one a commit of some time ago. Undefined in a clone without this history. */
function earlierVersion(): string | undefined {
  if (process.env.UPGRADE_FROM !== undefined) return process.env.UPGRADE_FROM
  if (!existsSync(join(ROOT, '.git')) || git('rev-parse', '--is-shallow-repository') === 'true')
    return undefined
  const [newest] = git('tag', '--merged', 'HEAD', '--sort=-creatordate').split('\n')
  if (newest) return newest
  const first = git('log', '--reverse', '--format=%H', `-S${GRACE}`, '--', 'src/platform/environment.ts')
  let count = COMMITS_BACK
  while (!hasKnownMigrations(`HEAD~${count}`)) count += 1
  const back = `HEAD~${count}`
  const hasGrace = git('show', `${back}:src/platform/environment.ts`).includes(GRACE)
  return git('rev-parse', hasGrace ? back : first.split('\n')[0]!)
}

/** Whether this version has all migrations of a commit. Between two commits one may have got another number. */
const hasKnownMigrations = (commit: string) =>
  git('ls-tree', '--name-only', commit, 'migrations/')
    .split('\n')
    .every((file) => existsSync(join(ROOT, file)))

/** The code of another checkout, which makes and fills a database of its own version. */
async function versionAt(root: string): Promise<Version> {
  const { migrate } = await import(join(root, 'src/database/migrate.ts'))
  const { makeShop, makeBuyers } = await import(join(root, 'test/faults/world.ts'))
  return { migrate, makeShop, makeBuyers }
}

describe.skipIf(isWithout('caddy'))('behind Caddy', () => {
  it('an upgrade under load keeps every answer while two versions run', async ({ skip }) => {
    const version = earlierVersion()
    if (version === undefined) return skip('This clone has no history')
    const folder = await makeScratchFolder()
    closers.push(() => rm(folder, { recursive: true, force: true }))
    const old = join(folder, 'old')
    git('worktree', 'add', '--detach', old, version)
    closers.push(async () => git('worktree', 'remove', '--force', old))
    symlinkSync(join(ROOT, 'node_modules'), join(old, 'node_modules'))
    const world = await makeWorld(await versionAt(old))
    const [proxyPort, ...ports] = [await freePort(), await freePort(), await freePort()] as const
    const behind = (port: number, root?: string) => startBehind(world, { port, proxyPort, root })
    const servers = await Promise.all(ports.map((port) => behind(port, old)))
    const proxy = await startCaddy(proxyPort, ports)
    closers.push(proxy.stop)
    let [isUpgraded, repeated] = [false, 0]
    const call = repeatUndone(openCaller(proxy), () => repeated++)
    const visits = makeVisits(call, world, () => isUpgraded)
    visits.catch(() => {})
    for (const [place, port] of ports.entries()) {
      expect(await stopServer(servers[place]!, 'SIGTERM')).toBe(0)
      servers[place] = await behind(port)
      await Promise.race([visits, sleep(place === 0 ? MIXED_SECONDS * 1000 : FOUND_AGAIN_MS)])
    }
    isUpgraded = true
    const count = await visits
    await expectInBooks(world, count)
    console.log(`from ${version}: ${count * POSTS_OF_A_VISIT} POSTs, ${repeated} answered 503 and sent again`)
  })
})
