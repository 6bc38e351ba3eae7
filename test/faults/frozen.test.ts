/**
 * Two processes over one database. One is stopped (SIGSTOP) in the middle of a transfer by hand, with its locks held: the
 * other goes on, and only those who need what is locked wait until the database ends the frozen transaction.
 */
import { tmpdir } from 'node:os'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { anotherProcess, type Browser, browser, type Page, useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { startServer, stopServer } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'

const BUYERS = 6
/** The name of the frozen process's connections. */
const FROZEN = 'frozen'

type Buyer = Person & { browser: Browser }

/** The process that goes on. Its connections have the timeouts of the database. */

const test = await useTestApp()
// The processes use the real clock.
test.clock.advance(Date.now() - test.clock.now().getTime())
const { DATABASE_URL, APP_SECRET } = test.deps.config
// The role keeps the long timeout of tests for a frozen process until the second test.
await giveServiceTimeouts('lock_timeout', 'statement_timeout')
const going = await anotherProcess(test)
const shop = await makeMerchant(test)
const frozenShop = await makeMerchant(test)
const owner = { ...frozenShop.owner, browser: await frozenShop.owner.signIn() }
await grantPoints(test.db, {
  user_id: owner.id,
  amount: 1_000n,
  reference: 'float',
  reason: 'test',
  actor_id: null,
  now: test.clock.now(),
})
const recipient = await makeBuyer()
const buyers = await Promise.all(Array.from({ length: BUYERS }, makeBuyer))
const url = new URL(DATABASE_URL!)
url.searchParams.set('application_name', FROZEN)
// It waits for the audit log until it is stopped, however slow the machine is.
url.searchParams.set('options', '-c lock_timeout=0 -c statement_timeout=0')
const frozen = await startServer({
  DATABASE_URL: url.href,
  APP_SECRET: APP_SECRET!,
  DATA_DIR: tmpdir(),
  LOG_LEVEL: 'fatal',
})
afterAll(async () => {
  await stopServer(frozen, 'SIGKILL')
  await going.close()
})

/** Gives the role these timeouts of the service, in place of the long ones of tests. Connections opened later have them. */
async function giveServiceTimeouts(...names: string[]): Promise<void> {
  const url = test.deps.config.DATABASE_URL!
  const role = sql`alter role current_user in database ${sql.id(new URL(url).pathname.slice(1))}`
  for (const name of names) await sql`${role} reset ${sql.id(name)}`.execute(test.db)
  await migrate(url)
}

async function makeBuyer(): Promise<Buyer> {
  const person = await makePerson(test, { points: 100_000n })
  return { ...person, browser: await person.signIn() }
}

async function order({ payment_id, token }: Merchant, order_id: string): Promise<string> {
  const fields = { amount: '100', description: 'Tea', order_id }
  const signature = merchantSign(token, fields)
  const { body } = await post(going, `/payment/pay/${payment_id}/process`, { ...fields, signature })
  return `/payment/pay/${body.transaction_id}`
}

/** Opens the page of an order, and returns the act of paying it. */
async function pay(buyer: Buyer, path: string): Promise<() => Promise<Page>> {
  const client = browser(going)
  for (const [name, value] of buyer.browser.cookies) client.cookies.set(name, value)
  const page = await client.get(path)
  return () => client.submit(page, path)
}

/** Sends a transfer by hand to the process that is frozen in the middle of it. */
async function transfer(): Promise<{ status: number; text: string }> {
  const path = `/payment/applications/${frozenShop.payment_id}/transfers`
  const fields = { to_username: recipient.username, amount: '10', order_id: 'by-hand' }
  const quoted = await owner.browser.submit(await owner.browser.get(path), `${path}/quote`, fields)
  const answer = await fetch(frozen.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', cookie: cookieHeader(owner.browser) },
    body: new URLSearchParams(quoted.form(path)),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Ends the connections of the process, so that its next ones have the present timeouts. */
const cutFrozen = () =>
  sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = ${FROZEN}`.execute(test.db)

/**
 * Runs `act` beside the process while it is stopped. It has moved the points of a transfer, and has not yet written its entry
 * in the audit log. Afterwards the process loses its connections.
 */
async function besideFrozen(act: () => Promise<void>): Promise<void> {
  let isStopped = false
  // The process may refuse the first tries, because its connections were cut.
  const sent = async () => {
    let answer = await transfer()
    while (answer.status === 503 && !isStopped) answer = await transfer()
    return answer
  }
  const { answer } = await test.db.transaction().execute(async (tx) => {
    await sql`lock table audit_log in share mode`.execute(tx)
    const answer = sent()
    const early = answer.then(({ status, text }) => {
      throw new Error(`The transfer was not blocked: ${status} ${text}`)
    })
    await Promise.race([untilBlocked(tx), early])
    // From now on the process answers only after the end of its connection.
    early.catch(() => {})
    process.kill(frozen.child.pid!, 'SIGSTOP')
    isStopped = true
    return { answer }
  })
  try {
    await until(isHolding)
    await act()
  } finally {
    await cutFrozen()
    process.kill(frozen.child.pid!, 'SIGCONT')
  }
  expect((await answer).status).toBe(503)
}

const isHolding = async () => {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = ${FROZEN} and state like 'idle in transaction%'`.execute(
    test.db,
  )
  return rows.length > 0
}

/** Payments at the shop of the frozen process, and one by the member who was to receive its points. */
async function payShared(name: string): Promise<() => Promise<Page[]>> {
  const theirs = buyers.map(async (buyer, n) => pay(buyer, await order(frozenShop, `${name}${n}`)))
  const payments = await Promise.all([...theirs, pay(recipient, await order(shop, `${name}-recipient`))])
  return () => Promise.all(payments.map((each) => each()))
}

describe('a process that is frozen in a transfer by hand', () => {
  it('delays only payments that share a wallet with it, however long it is frozen', async () => {
    const payTheirs = await payShared('held')
    const own = Array.from({ length: BUYERS * 5 }, async (_, n) =>
      pay(buyers[n % BUYERS]!, await order(shop, `apart${n}`)),
    )
    const apart = await Promise.all(own)
    await besideFrozen(async () => {
      // They come first, so that the others are in a batch with them, or behind one.
      const sharing = payTheirs()
      const paid = await Promise.all(apart.map((each) => each()))
      expect(new Set(paid.map(({ status }) => status))).toEqual(new Set([303]))
      for (const { status, headers } of await sharing) {
        expect(status).toBe(503)
        expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
      }
      expect(await isHolding()).toBe(true)
    })
    for (const { status } of await payTheirs()) expect(status).toBe(303)
  })

  it('loses its locks to the timeout that the service gave its role', async () => {
    await giveServiceTimeouts('idle_in_transaction_session_timeout')
    await cutFrozen()
    const payTheirs = await payShared('freed')
    await besideFrozen(async () => {
      for (const { status } of await payTheirs()) expect([303, 503]).toContain(status)
      await until(async () => !(await isHolding()))
      for (const { status } of await payTheirs()) expect(status).toBe(303)
    })
    expect(await test.db.selectFrom('transfers').select('id').execute()).toEqual([])
    await expectSoundBooks(test.db)
  })
})
