/** The metrics after payments, notifications, guesses and failures of the forum, and the access to them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchForumUser } from '../../src/accounts/forum/api.ts'
import { openMetrics, serveMetrics } from '../../src/core/metrics.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { keepProof } from '../../src/ledger/proofs.ts'
import { pauseOwn } from '../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { runPayouts } from '../../src/payment/payouts/run.ts'
import { givePoints, makePerson, signIn } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { browser } from '../harness/harness.ts'
import { chargedOr, chargeOf, giveRight, IP, makeMandate, switchMandates } from '../harness/mandates.ts'
import { type NotifyWorld, startNotifyWorld } from '../harness/notify-world.ts'
import { line, startPayout } from '../harness/payouts.ts'
import { setRows } from '../harness/rows.ts'
import { ROOT } from '../harness/server-process.ts'

let world: NotifyWorld
let address: string
let stopServing: () => Promise<void>

beforeAll(async () => {
  const [METRICS_PORT, closed] = [await freePort(), await freePort()]
  world = await startNotifyWorld({
    env: {
      METRICS_PORT: String(METRICS_PORT),
      DISCOURSE_URL: `http://127.0.0.1:${closed}`,
      DISCOURSE_SECRET: 'a secret of the tests'.replaceAll(' ', '-'),
      DISCOURSE_API_KEY: 'a-key-of-the-tests',
    },
  })
  const { config, metrics } = world.test.deps
  stopServing = await serveMetrics(config, metrics!)
  address = `http://127.0.0.1:${METRICS_PORT}`
})
afterAll(async () => {
  await stopServing()
  await world.close()
})

async function scrape(): Promise<string> {
  const answer = await fetch(`${address}/metrics`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return answer.text()
}

/** The figures of one metric by their labels as written. A metric without labels has the key ''. */
function figures(text: string, name: string): Record<string, number> {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
  return Object.fromEntries(lines.map(([, labels = '', figure]) => [labels, Number(figure)]))
}

describe('GET /metrics', () => {
  it('tells of lines of payouts by outcome, and how long the oldest runs', async () => {
    const { test, merchant } = world
    const [payee] = [await makePerson(test)]
    await startPayout(test.deps, merchant, {
      reference: 'metrics',
      lines: [line('a', payee), line('b', merchant.owner)],
    })
    await sql`select start_payouts(${test.clock.now()}::timestamptz)`.execute(test.db)
    test.clock.advance(90_000)
    expect(figures(await scrape(), 'tessera_payout_oldest_running_seconds')).toEqual({ '': 90 })
    await givePoints(test, merchant.owner, 100n)
    await runPayouts(test.deps)
    const text = await scrape()
    expect(figures(text, 'tessera_payout_oldest_running_seconds')).toEqual({ '': 0 })
    expect(figures(text, 'tessera_payout_lines_total')).toEqual({
      'outcome="completed"': 1,
      'outcome="to_self"': 1,
    })
  })

  it('tells of charges by outcome, active mandates and the oldest notice', async () => {
    const { test, merchant } = world
    await switchMandates(test)
    await giveRight(test, merchant)
    const member = await makePerson(test, { points: 1_000n })
    const daily = await makeMandate(test, merchant, member)
    await makeMandate(test, merchant, member)
    await pauseOwn(test.deps, await makeMandate(test, merchant, member), { user_id: member.id, ip: IP })
    const charge = makeChargeMandate(test.deps)
    await charge(chargeOf(merchant, daily, 60n))
    await chargedOr(charge(chargeOf(merchant, daily, 600n)))
    const text = await scrape()
    expect(figures(text, 'tessera_charges_total')).toEqual({
      'outcome="completed"': 1,
      'outcome="charge_limit"': 1,
    })
    expect(figures(text, 'tessera_mandates_active')).toEqual({ '': 2 })
    // The digest is due when the day is over.
    expect(figures(text, 'tessera_charge_notice_oldest_due_seconds')).toEqual({ '': 0 })
    test.clock.advance(3 * 86_400_000)
    const [age] = Object.values(figures(await scrape(), 'tessera_charge_notice_oldest_due_seconds'))
    expect(age).toBeGreaterThan(86_400)
    await test.db.deleteFrom('charge_notices').execute()
  })

  it('tells of payments, transfers and news to merchants by their outcome', async () => {
    const { merchant, buyer, receiver, test } = world
    const told = await world.payOne(`${receiver.url}/told`)
    await world.told([told])
    const pay = makePayOrder(test.deps)
    const again = { transaction_id: told, payer_id: buyer.id, expected_amount: 100n }
    expect(await pay(again)).toBe('paid_before')
    const fields = {
      order_id: 'T1',
      to_user_id: String(buyer.id),
      to_username: buyer.username,
      amount: '999999',
    }
    expect((await merchant.transfer(fields)).status).toBe(400)
    const payload = { grant_type: 'client_credentials' }
    await test.app.inject({ method: 'POST', url: '/payment/token', payload })

    const text = await scrape()
    expect(figures(text, 'tessera_payments_total')).toEqual({
      'outcome="paid"': 1,
      'outcome="paid_before"': 1,
    })
    expect(figures(text, 'tessera_transfers_total')).toEqual({ 'outcome="above_maximum"': 1 })
    expect(figures(text, 'tessera_access_tokens_total')).toEqual({ 'outcome="invalid_client"': 1 })
    expect(figures(text, 'tessera_notification_attempt_duration_seconds_count')).toEqual({
      'outcome="delivered"': 1,
    })
  })

  it('tells how long requests took by route pattern, and never by address', async () => {
    await world.test.app.inject('/payment/pay/txn_aaaaaaaaaaaaaaaaaaaaaaaa?signature=secret-of-a-query')
    await world.test.app.inject('/no/such/address')
    const text = await scrape()
    const requests = figures(text, 'tessera_http_request_duration_seconds_count')
    expect(requests).toMatchObject({ 'method="GET",route="none",status="4xx"': 1 })
    expect(Object.keys(requests)).toContainEqual(
      expect.stringMatching(/^method="GET",route="\/payment\/pay\/:transaction_id",status="\dxx"$/),
    )
    expect(text).not.toMatch(/txn_|secret-of-a-query|such\/address/)
  })

  it('counts guesses, and questions that the forum did not answer', async () => {
    const { test, buyer } = world
    const client = browser(test)
    const page = await client.get('/sign-in')
    await client.submit(page, '/sign-in', { username: buyer.username, password: 'wrong' })
    await signIn(test, buyer.username, buyer.password)
    expect(await fetchForumUser(test.deps, 1n, 'worker')).toEqual({ failure: 'unreachable' })
    const text = await scrape()
    expect(figures(text, 'tessera_sign_in_failures_total')).toEqual({ 'reason="wrong"': 1 })
    expect(figures(text, 'tessera_forum_failures_total')).toEqual({ 'failure="unreachable"': 1 })
    expect(figures(text, 'tessera_forum_requests_total')).toEqual({
      'lane="worker",outcome="unreachable"': 1,
    })
  })

  it('tells the age of each list of the forum, who refuses one, and hints', async () => {
    const { test } = world
    const finished_at = new Date(test.clock.now().getTime() - 700_000)
    await setRows(test, 'forum_sources', {}, { created_at: test.clock.now() })
    await setRows(
      test,
      'forum_sources',
      { name: 'staff' },
      { finished_at, last_seconds: 12, failure: 'refused' },
    )
    const group = { every_minutes: 60, created_at: finished_at, group_name: 'a' }
    const groups = [41n, 42n].map((group_id) => ({ ...group, name: `group:${group_id}`, group_id }))
    await test.db.insertInto('forum_sources').values(groups).execute()
    const [first, second] = [await makePerson(test), await makePerson(test)]
    for (const [{ id }, hint_is_urgent] of [
      [first, true],
      [second, false],
    ] as const)
      await test.db
        .insertInto('forum_members')
        .values({
          user_id: id,
          username: `at_the_forum${id}`,
          next_check_at: test.clock.now(),
          score_due_at: test.clock.now(),
          hinted_at: test.clock.now(),
          hint_is_urgent,
        })
        .execute()
    const text = await scrape()
    const ages = figures(text, 'tessera_forum_source_age_seconds')
    expect(ages).toMatchObject({ 'source="staff"': 700, 'source="group"': 700, 'source="suspended"': 0 })
    expect(Object.keys(ages)).not.toContain('source="scores"')
    expect(figures(text, 'tessera_forum_source_pass_seconds')).toEqual({ 'source="staff"': 12 })
    expect(figures(text, 'tessera_forum_source_refused')).toMatchObject({
      'source="staff"': 1,
      'source="suspended"': 0,
    })
    expect(figures(text, 'tessera_forum_hints')).toEqual({ 'urgent="true"': 1, 'urgent="false"': 1 })
    await test.db.deleteFrom('forum_members').execute()
  })

  it('tells the age of due work, newest proof and oldest unsealed journal', async () => {
    const { test, receiver } = world
    await test.deps.notifier.stop()
    await world.payOne(`${receiver.url}/late`)
    await keepProof(test.deps)
    test.clock.advance(90_000)
    const text = await scrape()
    expect(figures(text, 'tessera_notifications_due')).toEqual({ '': 1 })
    expect(figures(text, 'tessera_notification_oldest_due_seconds')).toEqual({ '': 90 })
    expect(figures(text, 'tessera_ledger_broken_rows')).toEqual({ '': 0 })
    const proven = test.clock.now().getTime() / 1000 - 90
    expect(figures(text, 'tessera_ledger_proven_timestamp_seconds')).toEqual({ '': proven })
    expect(figures(text, 'tessera_database_up')).toEqual({ '': 1 })
    expect(figures(text, 'tessera_database_pool_max')).toEqual({ '': 4 })
    expect(figures(text, 'tessera_database_pool_open')['']).toBeGreaterThan(0)
  })

  it('tells the age of backups, and of those in the bucket where there is one', async () => {
    const { test } = world
    const names = ['finished', 'sent', 'proven'].map((what) => `tessera_backup_${what}_timestamp_seconds`)
    const ages = async () => {
      const text = await scrape()
      return names.map((name) => figures(text, name)[''])
    }
    expect(await ages()).toEqual([0, undefined, undefined])
    const finished_at = new Date(1_700_000_000_000)
    await test.db.insertInto('last_backup').values({ finished_at, bytes: 1n }).execute()
    expect(await ages()).toEqual([1_700_000_000, undefined, undefined])
    await setRows(test, 'last_backup', {}, { has_bucket: true })
    expect(await ages()).toEqual([1_700_000_000, 0, 0])
    const times = { sent_at: new Date(1_600_000_000_000), proven_at: new Date(1_500_000_000_000) }
    await setRows(test, 'last_backup', {}, times)
    expect(await ages()).toEqual([1_700_000_000, 1_600_000_000, 1_500_000_000])
    await setRows(test, 'last_backup', {}, { has_bucket: false })
    expect(await ages()).toEqual([1_700_000_000, undefined, 1_500_000_000])
  })

  it('tells of a ledger that does not hold', async () => {
    const { test } = world
    await setRows(test, 'ledger_accounts', { user_id: world.buyer.id }, { balance: 1n })
    expect((await keepProof(test.deps)).isSound).toBe(false)
    expect(figures(await scrape(), 'tessera_ledger_broken_rows')['']).toBeGreaterThan(0)
  })

  it('is at its own address alone, where nothing else is', async () => {
    expect((await world.test.app.inject('/metrics')).statusCode).toBe(404)
    expect((await fetch(`${address}/`)).status).toBe(404)
  })

  it('answers without a database, and says that it is gone', async () => {
    const { config, clock } = world.test.deps
    const db = openDatabase(`postgres://127.0.0.1:${await freePort()}/none`, { max: 1, onBroken: () => {} })
    const { text } = await (await openMetrics({ config, db, clock }))!.scrape()
    await db.destroy()
    expect(figures(text, 'tessera_database_up')).toEqual({ '': 0 })
    expect(figures(text, 'tessera_ledger_broken_rows')).toEqual({})
    expect(figures(text, 'nodejs_eventloop_lag_p99_seconds')).toHaveProperty([''])
  })
})

describe.each(['alerts.yml', 'grafana-dashboard.json'])('docs/operations/%s', (file) => {
  it('names no metric that does not exist', async () => {
    const text = await readFile(join(ROOT, 'docs/operations', file), 'utf8')
    const named = [...text.matchAll(/\b(?:tessera|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
      name.replace(/_(?:bucket|count|sum)$/, ''),
    )
    const known = [...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(10)
    expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([])
  })
})
