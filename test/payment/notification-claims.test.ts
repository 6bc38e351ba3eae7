/** The delivery of notifications by processes: fair shares, leases that survive a dead process, redelivery. */
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Db } from '../../src/database/connection.ts'
import type { AttemptOutcome } from '../../src/database/tables/notifications.ts'
import {
  type Claimed,
  claimAndSettle,
  findContents,
  type Settlement,
} from '../../src/payment/notifications/outbox.ts'
import {
  outboxFigures,
  readNotifications,
  redeliver,
  redeliverFailed,
} from '../../src/payment/notifications/redelivery.ts'
import { openNotifier } from '../../src/payment/notifications/worker.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { makePerson } from '../harness/cast.ts'
import { anotherProcess } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { succeed } from '../harness/notify-receiver.ts'
import { startNotifyWorld } from '../harness/notify-world.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { rowsRead } from '../harness/rows-read.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'
import { until } from '../harness/waiting.ts'

const MINUTE_MS = 60_000
const LEASE_MS = 60_000
/** Longer than the answers held back here take on any machine. */
const TIMEOUT_MS = 60_000

const world = await startNotifyWorld({ timeout_ms: TIMEOUT_MS })
const { receiver, test } = world
afterAll(() => world.close())

/** Holds answers back until it releases all of them, at the end of the test at the latest. */
function hold(names: (host: string) => boolean) {
  const held: ServerResponse[] = []
  receiver.answer = ({ headers }, response) => {
    if (names(headers.host!)) held.push(response)
    else response.end('success')
  }
  const release = () => {
    receiver.answer = succeed
    for (const response of held.splice(0)) response.end('success')
  }
  onTestFinished(release)
  return { held, release }
}

itCounts('a claim reads its paid orders in the same statement', async () => {
  await stopWorker()
  const ids = await world.payOrders(`${receiver.url}/one-statement`, { count: 3 })
  const [contents, texts] = await statementsOf(async () =>
    findContents(test.deps, await claimElsewhere(test.clock.now())),
  )
  expect(texts).toHaveLength(1)
  const orders = [...contents.values()].map((content) => 'order' in content && content.order.transaction_id)
  expect(orders.toSorted()).toEqual(ids.toSorted())
  startWorker()
  test.clock.advance(LEASE_MS)
  await world.told(ids)
})

it('a claim that waited for another one reads the orders that were paid meanwhile', async () => {
  await stopWorker()
  const { claiming, transaction_id } = await test.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(7305128842)`.execute(tx)
    const claiming = claimElsewhere(test.clock.now())
    await untilBlocked(tx)
    return { claiming, transaction_id: await world.payOne(`${receiver.url}/meanwhile`) }
  })
  expect((await claiming).map(({ paid_order }) => paid_order?.transaction_id)).toEqual([transaction_id])
  startWorker()
  test.clock.advance(LEASE_MS)
  await world.told([transaction_id])
})

describe('a slow host', () => {
  it('has 16 attempts under way at most, and delays nobody else', async () => {
    world.dns.names.set('slow.test', ['127.0.0.1'])
    const { held, release } = hold((host) => host.startsWith('slow.test'))
    const slow = await world.payOrders(`http://slow.test:${receiver.port}/`, { count: 40 })
    test.deps.notifier.nudge()
    await until(() => held.length === 16)
    for (let round = 0; round < 3; round += 1) await world.everybodyElseIsTold()
    expect(held).toHaveLength(16)
    release()
    await world.told(slow)
    expect(new Set((await world.rowsOf(slow)).map(({ status }) => status))).toEqual(new Set(['delivered']))
  })

  it('is no slower by many names: 32 attempts run per application', async () => {
    const { held, release } = hold((host) => host.includes('.many.test'))
    const slow: string[] = []
    for (let i = 0; i < 40; i += 1) {
      world.dns.names.set(`h${i}.many.test`, ['127.0.0.1'])
      slow.push(await world.payOne(`http://h${i}.many.test:${receiver.port}/`))
    }
    test.deps.notifier.nudge()
    await until(() => held.length === 32)
    const other = await makeMerchant(test)
    await world.told([await world.payOne(`${receiver.url}/`, { of: other })])
    expect(held).toHaveLength(32)
    release()
    await world.told(slow)
  })

  it('is shared fairly: the shop with least under way there comes first', async () => {
    world.dns.names.set('shared.test', ['127.0.0.1'])
    const { held, release } = hold(() => true)
    const many = await world.payOrders(`http://shared.test:${receiver.port}/many`, { count: 60 })
    test.deps.notifier.nudge()
    await until(() => held.length === 16)
    const other = await makeMerchant(test)
    const one = await world.payOne(`http://shared.test:${receiver.port}/one`, { of: other })
    held[0]!.end('success')
    await until(() => held.length === 17)
    expect(receiver.received.at(-1)).toMatchObject({ path: '/one' })
    release()
    await world.told([...many, one])
  })
})

const later = (ms: number) => new Date(test.clock.now().getTime() + ms)

/** A process that claims and then dies. Its clock is ahead of ours, so our own worker does not claim first. */
const claimElsewhere = (now: Date) => claimAndSettle(test.db, { settled: [], room: 10, now })

/** Stops the worker. Another one starts at the end of the test at the latest, because the next tests wait for it. */
async function stopWorker(): Promise<void> {
  const { notifier } = test.deps
  onTestFinished(() => {
    if (test.deps.notifier === notifier) startWorker()
  })
  await notifier.stop()
}

/** Starts a worker in place of the stopped one. */
function startWorker(): void {
  test.deps.notifier = openNotifier(test.deps, { resolver: world.dns.resolver, timeout_ms: TIMEOUT_MS })
  test.deps.notifier.start(test.app.log)
}

describe('a claim', () => {
  it('outlives its process by a minute, then another counts it once', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end()
    const transaction_id = await world.payOne(`${receiver.url}/taken-over`)
    await world.told([transaction_id])
    receiver.answer = succeed
    const started_at = later(MINUTE_MS)
    const [claimed] = await claimElsewhere(started_at)
    expect(claimed).toMatchObject({ attempts: 1, claims: 2 })
    test.clock.advance(MINUTE_MS + LEASE_MS - 1)
    await world.everybodyElseIsTold()
    expect(await world.rowOf(transaction_id)).toMatchObject({ attempts: 1, claims: 2 })
    test.clock.advance(1)
    await world.told([transaction_id], 2)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered', attempts: 2, claims: 3 })
    expect(await world.attemptsOf(transaction_id)).toMatchObject([
      { outcome: 'bad_status', claim: 1 },
      { outcome: 'interrupted', claim: 2, url: null, duration_ms: null, started_at },
      { outcome: 'delivered', claim: 3 },
    ])
  })

  it('that has run out settles nothing but a late success', async () => {
    const held: ServerResponse[] = []
    receiver.answer = (_, response) => void held.push(response)
    const ids = await world.payOrders(`${receiver.url}/late`, { count: 2 })
    // The process that waits for the receiver here is slower than its lease, and another one has taken over.
    test.deps.notifier.nudge()
    await until(() => held.length === 2)
    expect(await claimElsewhere(later(LEASE_MS))).toHaveLength(2)
    receiver.answer = succeed
    held[0]!.end('success')
    held[1]!.end('no')
    const outcomes = async () =>
      (await Promise.all(ids.map(world.attemptsOf))).map(([first]) => first!.outcome)
    await until(async () => !(await outcomes()).includes('interrupted'))
    expect((await outcomes()).toSorted()).toEqual(['delivered', 'wrong_body'])
    const rows = await world.rowsOf(ids)
    expect(rows.map(({ status, attempts }) => `${status} ${attempts}`).toSorted()).toEqual([
      'delivered 1',
      'due 0',
    ])
    test.clock.advance(2 * LEASE_MS)
    await world.told(ids)
    expect((await world.rowsOf(ids)).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  it('that ends process after process counts as failed at last', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end()
    const transaction_id = await world.payOne(`${receiver.url}/deadly`)
    await world.told([transaction_id])
    receiver.answer = succeed
    for (let deaths = 0; deaths <= 3; deaths += 1)
      expect(await claimElsewhere(later(MINUTE_MS + deaths * LEASE_MS))).toHaveLength(1)
    test.clock.advance(MINUTE_MS + 4 * LEASE_MS)
    await world.told([transaction_id], 2)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'due', attempts: 2, interruptions: 0 })
    expect(world.requestsTo('/deadly')).toHaveLength(1)
    test.clock.advance(5 * MINUTE_MS)
    await world.told([transaction_id], 3)
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
  })

  it('is one process’s alone, however many there are', async () => {
    const others = await Promise.all([anotherProcess(test), anotherProcess(test)])
    for (const { deps, app } of others) deps.notifier.start(app.log)
    const ids = await world.payOrders(`${receiver.url}/shared-work`, { count: 200 })
    for (const { deps } of others) deps.notifier.nudge()
    await world.told(ids)
    const numbers = world.requestsTo('/shared-work').map(({ fields }) => fields.trade_no)
    expect(numbers).toHaveLength(200)
    expect(new Set(numbers).size).toBe(200)
    expect(new Set((await world.rowsOf(ids)).map(({ claims }) => claims))).toEqual(new Set([1]))
    await Promise.all(others.map((other) => other.close()))
  })

  it('is settled during a stop, and no other is claimed', async () => {
    const { held, release } = hold(() => true)
    const ids = await world.payOrders(`${receiver.url}/stop`, { count: 17 })
    test.deps.notifier.nudge()
    await until(() => held.length === 16)
    const stopped = stopWorker()
    release()
    await stopped
    const rows = await world.rowsOf(ids)
    expect(rows.map(({ status, claims }) => `${status} ${claims}`).toSorted()).toEqual([
      ...Array<string>(16).fill('delivered 1'),
      'due 0',
    ])
    // The remaining ones belong to another process, and here there is a new one.
    startWorker()
    await world.told(ids)
  })
})

describe('a settlement', () => {
  const settle = (db: Db, rows: Pick<Claimed, 'id' | 'claims'>[], outcomes: AttemptOutcome[]) => {
    const settled = rows.map(({ id, claims: claim }, i): Settlement => {
      const [started_at, ended_at] = [test.clock.now(), test.clock.now()]
      const answer = { response_status: 200, response_body: '', step_ms: {}, detail: null, url: null }
      const outcome = outcomes[i % outcomes.length]!
      const next_attempt_at = outcome === 'delivered' ? null : later(MINUTE_MS)
      const times = { started_at, ended_at, duration_ms: 1, next_attempt_at }
      return { id: String(id), order_id: undefined, claim, outcome, ...answer, ...times }
    })
    return claimAndSettle(db, { settled, room: 0, now: test.clock.now() })
  }

  it('reads no other due row, even by statistics of a time without any', async () => {
    await stopWorker()
    const rolledBack = new Error('rolled back')
    const settling = test.db.transaction().execute(async (tx) => {
      await sql`
        update notifications set status = 'delivered', next_attempt_at = null, claimed_until = null where status = 'due'`.execute(
        tx,
      )
      await sql`analyze notifications`.execute(tx)
      await sql`
        with made as (
          insert into orders (
            app_id, door, order_id, transaction_id, description, amount, expires_at, trade_no, protocol, pid_sent, money, rate, notify_url
          )
          select ${world.merchant.id}, 'gateway', 'due-' || i, 'txn_' || lpad(i::text, 24, 'd'), 'x', 1, ${later(MINUTE_MS)},
            (900000 + i)::text, 'v1', '1001', '1', 100, 'http://due.test/' from generate_series(1, 400) as i
          returning id
        )
        insert into notifications (order_id, next_attempt_at) select id, ${test.clock.now()} from made`.execute(
        tx,
      )
      const claimed = await claimAndSettle(tx, { settled: [], room: 8, now: test.clock.now() })
      expect(claimed).toHaveLength(8)
      const before = await rowsRead(tx, 'notifications')
      await settle(tx, claimed, ['delivered', 'timeout'])
      // Each twice: the attempt refers to the row.
      expect((await rowsRead(tx, 'notifications')) - before).toBeLessThanOrEqual(16)
      throw rolledBack
    })
    await expect(settling).rejects.toBe(rolledBack)
  })

  it('that waits for a new claim changes nothing but a late success', async () => {
    await stopWorker()
    const ids = await world.payOrders(`${receiver.url}/overtaken`, { count: 2 })
    const claimed = await claimElsewhere(test.clock.now())
    expect(claimed).toHaveLength(2)
    const settling = await test.db.transaction().execute(async (tx) => {
      const taken = claimed.map(({ id }) => id)
      await sql`update notifications set claims = claims + 1 where id = any (${taken})`.execute(tx)
      const waiting = settle(test.db, claimed, ['timeout', 'delivered'])
      await untilBlocked(tx)
      return { waiting }
    })
    await settling.waiting
    const rows = await world.rowsOf(ids)
    expect(rows.map(({ status, attempts }) => `${status} ${attempts}`).toSorted()).toEqual([
      'delivered 1',
      'due 0',
    ])
    startWorker()
    test.clock.advance(LEASE_MS)
    await world.told(ids)
  })
})

describe('a record that the database refuses', () => {
  it('holds up no other, and its attempt is made again', async () => {
    await sql`alter table notification_attempts add constraint test_refusal check (response_body <> 'success!')`.execute(
      test.db,
    )
    receiver.answer = ({ path }, response) => response.end(path === '/refused' ? 'success!' : 'success')
    const refused = await world.payOne(`${receiver.url}/refused`)
    const others = await world.payOrders(`${receiver.url}/unharmed`, { count: 30 })
    await world.told(others)
    expect(await world.rowOf(refused)).toMatchObject({ attempts: 0 })
    await sql`alter table notification_attempts drop constraint test_refusal`.execute(test.db)
    receiver.answer = succeed
    await until(async () => {
      test.clock.advance(LEASE_MS)
      await world.everybodyElseIsTold()
      return (await world.rowOf(refused)).status === 'delivered'
    })
  })
})

describe('redelivery', () => {
  const ip = '203.0.113.9'
  const owner = () =>
    ({ role: 'team', user_id: world.merchant.owner.id, actor_id: world.merchant.owner.id, ip }) as const
  const payer = () => ({ role: 'payer', user_id: world.buyer.id, actor_id: world.buyer.id, ip }) as const

  it('begins the schedule again for owner, administrator and buyer, each alone', async () => {
    const admin = await makePerson(test, { is_admin: true })
    const stranger = await makePerson(test)
    receiver.answer = (_, response) => response.writeHead(500).end()
    const transaction_id = await world.payOne(`${receiver.url}/again`)
    await world.told([transaction_id])
    test.clock.advance(MINUTE_MS)
    await world.told([transaction_id], 2)
    test.clock.advance(MINUTE_MS)
    for (const actor of [payer(), owner(), { role: 'administrator', actor_id: admin.id, ip } as const]) {
      await redeliver(test.deps, transaction_id, actor)
      await world.told([transaction_id])
      expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'due', attempts: 1 })
      expect((await world.rowOf(transaction_id)).next_attempt_at).toEqual(
        new Date(test.clock.now().getTime() + MINUTE_MS),
      )
    }
    for (const role of ['team', 'payer'] as const) {
      const actor = { role, user_id: stranger.id, actor_id: stranger.id, ip }
      await expect(redeliver(test.deps, transaction_id, actor)).rejects.toMatchObject({ code: 'not_found' })
      expect((await readNotifications(test.db, actor, { transaction_id }, 10)).rows).toEqual([])
    }
    receiver.answer = succeed
    await redeliver(test.deps, transaction_id, owner())
    await world.told([transaction_id])
    // A merchant who lost one may request it again.
    await redeliver(test.deps, transaction_id, owner())
    await world.told([transaction_id])
    expect(await world.rowOf(transaction_id)).toMatchObject({ status: 'delivered' })
    expect(world.requestsTo('/again')).toHaveLength(7)
    const audit = await rowsOf(test, 'audit_log', { subject: transaction_id })
    expect(audit.map(({ actor_id, action, detail }) => [actor_id, action, detail])).toContainEqual([
      admin.id,
      'notification.redeliver',
      { role: 'administrator' },
    ])
    expect(audit).toHaveLength(5)
  })

  it('refuses the buyer within a minute, and everyone during an attempt', async () => {
    const transaction_id = await world.payOne(`${receiver.url}/impatient`)
    await world.told([transaction_id])
    await expect(redeliver(test.deps, transaction_id, payer())).rejects.toMatchObject({
      code: 'too_many_attempts',
      retry_after_seconds: 60,
    })
    test.clock.advance(59_001)
    await expect(redeliver(test.deps, transaction_id, payer())).rejects.toMatchObject({
      retry_after_seconds: 1,
    })
    test.clock.advance(999)
    await redeliver(test.deps, transaction_id, payer())
    await world.told([transaction_id])
    const held = Promise.withResolvers<ServerResponse>()
    receiver.answer = (_, response) => held.resolve(response)
    await redeliver(test.deps, transaction_id, owner())
    const response = await held.promise
    await expect(redeliver(test.deps, transaction_id, owner())).rejects.toMatchObject({ code: 'conflict' })
    receiver.answer = succeed
    response.end('success')
    await world.told([transaction_id])
  })

  it('of all that failed since a moment takes nothing older', async () => {
    const other = await makeMerchant(test)
    const fail = async (of: typeof other) => {
      const transaction_id = await world.payOne(`${receiver.url}/failed`, { of })
      await setRows(
        test,
        'notifications',
        { order_id: (await world.rowOf(transaction_id)).order_id },
        { status: 'failed', attempts: 6, next_attempt_at: null, updated_at: test.clock.now() },
      )
      return transaction_id
    }
    // No worker claims while the rows are made, so the receiver gets them only by redelivery.
    await stopWorker()
    const old = await fail(world.merchant)
    test.clock.advance(MINUTE_MS)
    const since = test.clock.now()
    const mine = [await fail(world.merchant), await fail(world.merchant)]
    const theirs = await fail(other)
    startWorker()
    receiver.received.length = 0
    const { payment_id } = world.merchant
    const stranger = { role: 'team', user_id: other.owner.id, actor_id: other.owner.id, ip } as const
    expect(await redeliverFailed(test.deps, { payment_id, since }, stranger)).toBe(0)
    expect(await redeliverFailed(test.deps, { payment_id, since }, owner())).toBe(2)
    await world.told(mine)
    expect(world.requestsTo('/failed')).toHaveLength(2)
    const administrator = { role: 'administrator', actor_id: owner().actor_id, ip } as const
    expect(await redeliverFailed(test.deps, { since }, administrator)).toBe(1)
    await world.told([theirs])
    expect((await world.rowOf(old)).status).toBe('failed')
    const audit = await rowsOf(test, 'audit_log', { action: 'notification.redeliver_failed' })
    expect(audit).toMatchObject([
      { subject: payment_id, detail: { role: 'team', since: since.toISOString(), count: 2 } },
      { subject: 'all', detail: { role: 'administrator', since: since.toISOString(), count: 1 } },
    ])
  })
})

describe('the pages', () => {
  const ADMIN = '/admin/notifications'

  it('show an owner every attempt and repeat it', async () => {
    const page = `/payment/applications/${world.merchant.payment_id}/notifications`
    receiver.answer = (_, response) => response.writeHead(503).end('<b>closed for lunch</b>')
    const transaction_id = await world.payOne(`${receiver.url}/on-the-page`)
    await world.told([transaction_id])
    const owner = await world.merchant.owner.signIn()
    const shown = await owner.get(`${page}?transaction_id=${transaction_id}`)
    expect(shown.status).toBe(200)
    for (const text of [`503 · ${messages.en.notifications.outcomes.bad_status}`, '(2 of 6)'])
      expect(textOf(shown.body)).toContain(text)
    expect(shown.body).toContain('&lt;b&gt;closed for lunch&lt;/b&gt;')
    expect(shown.body).toContain(`GET ${receiver.url}/on-the-page?pid=${world.merchant.pid}&amp;`)

    const form = shown.form(`${page}/${transaction_id}/redeliver`)
    expect((await owner.post(`${page}/redeliver-failed`, { ...form, hours: '2' })).status).toBe(400)
    expect((await owner.post(`${page}/redeliver-failed`, form)).status).toBe(400)

    receiver.answer = succeed
    const answer = await owner.submit(shown, `${page}/${transaction_id}/redeliver`)
    expect([answer.status, answer.location]).toEqual([303, `${page}?transaction_id=${transaction_id}`])
    // The answer waits for the shop, so the page says at once what came of it.
    const said = (await owner.get(answer.location!)).body
    expect(said).toContain(messages.en.notifications.done.confirmed(transaction_id))
    expect(said).toContain('Confirmed.')
    expect(said).not.toContain('data-poll')
    expect((await owner.get(`${page}?status=failed&before=x&transaction_id=y`)).status).toBe(200)
  })

  it('show an administrator all by status and page, and repeat abandoned ones', async () => {
    const person = await makePerson(test, { is_admin: true })
    const admin = await person.signIn()
    const ids = await world.payOrders(`${receiver.url}/many-pages`, { count: 30 })
    await world.told(ids)
    const first = await admin.get(`${ADMIN}?status=delivered`)
    expect(first.body.match(/<span class="tile s tone-/g)).toHaveLength(25)
    const [, older] = /href="([^"]*before=[^"]*)"/.exec(first.body)!
    const second = await admin.get(older!.replaceAll('&amp;', '&'))
    expect(second.body).toContain(ids[0])
    expect(first.body).not.toContain(ids[0])

    await setRows(
      test,
      'notifications',
      { order_id: (await world.rowOf(ids[0]!)).order_id },
      { status: 'failed', attempts: 6, next_attempt_at: null, updated_at: test.clock.now() },
    )
    const given = await admin.get(`${ADMIN}?status=failed`)
    expect(given.body).toContain(ids[0])
    expect(given.body).toMatch(/\d+ notifications? failed and (is|are) not sent again unless you ask/)
    const sent = await admin.submit(given, `${ADMIN}/redeliver-failed`, { hours: '24' })
    expect([sent.status, sent.location]).toEqual([303, `${ADMIN}?status=due`])
    const after = await admin.get(sent.location!)
    expect(after.body).toMatch(/\d+ notifications? (is|are) being sent again\./)
    expect(after.body).not.toContain('not sent again unless you ask')
    await world.told([ids[0]!])
    expect(world.requestsTo('/many-pages')).toHaveLength(31)
  })
})

describe('the figures of the outbox', () => {
  it('tell what is due, what is under way, and failing hosts', async () => {
    test.clock.advance(24 * 60 * MINUTE_MS)
    await world.everybodyElseIsTold()
    receiver.answer = ({ path }, response) =>
      path === '/failing' ? response.writeHead(500).end() : response.end('success')
    const failing = await world.payOrders(`${receiver.url}/failing`, { count: 2 })
    await world.told(failing)
    await stopWorker()
    await world.payOne(`${receiver.url}/waiting`)
    const paid_at = test.clock.now()
    test.clock.advance(1_000)
    expect(test.deps.notifier.lastClaim()).toEqual(paid_at)
    expect(await outboxFigures(test.db, test.clock.now())).toEqual({
      due: 1,
      oldest_due_at: paid_at,
      under_way: 0,
      retrying: 2,
      hosts: [
        {
          ...{ host: '127.0.0.1', waiting: 3, failing: 2, oldest_due_at: paid_at, next_attempt_at: paid_at },
          ...{ paused_at: null, paused_reason: null },
        },
      ],
    })
    receiver.answer = succeed
  })
})
