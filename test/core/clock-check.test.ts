/**
 * A process whose clock is wrong: it is not ready, its rounds rest, and it ends nothing for good.
 * spec/limits 3.3.
 */
import { Writable } from 'node:stream'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { lapseRights } from '../../src/accounts/forum/staff.ts'
import { examineClock } from '../../src/cli/doctor/database.ts'
import type { Installation } from '../../src/cli/doctor/finding.ts'
import { APART_SECONDS_MAX, openClockCheck, readDatabaseTime } from '../../src/core/clock-check.ts'
import { rotateDueSigningKeys } from '../../src/identity/keys/rotation.ts'
import { closeDueDays, keepDueProof } from '../../src/ledger/proofs.ts'
import { deleteExpiredRows, SWEPT } from '../../src/operations/retention.ts'
import { finishMandates } from '../../src/payment/mandates/acts.ts'
import { findMandate } from '../../src/payment/mandates/mandates.ts'
import { expireOrders, findOrder } from '../../src/payment/orders/orders.ts'
import { makeClockReport, whileClockIsRight } from '../../src/worker.ts'
import { openApplication } from '../harness/application.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { giveRight, makeMandate, switchMandates } from '../harness/mandates.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { propose } from '../harness/proposals.ts'
import { setRows } from '../harness/rows.ts'

const DAY_SECONDS = 86_400
const AHEAD_SECONDS = 400 * DAY_SECONDS

/** Another process, whose clock is `shift_seconds` ahead. */
let shift_seconds = 0

const test = await useTestApp()
// The real clock, because the other process compares its own with that of Postgres.
test.clock.advance(Date.now() - test.clock.now().getTime())
const wrong = await openApplication(test.deps.config.DATABASE_URL!, {
  env: {},
  clock: () => new Date(Date.now() + shift_seconds * 1000),
  databaseTime: () => readDatabaseTime(test.db),
})
afterAll(async () => {
  await wrong.close()
})

async function readiness(): Promise<{ status: number; checks: Record<string, boolean> }> {
  const { statusCode: status, ...answer } = await wrong.app.inject('/readyz')
  return { status, checks: answer.json().checks }
}

describe('readiness', () => {
  it.each([AHEAD_SECONDS, -DAY_SECONDS, 150, -150])(
    'ends with a clock %i seconds ahead, until it is right',
    async (seconds) => {
      shift_seconds = 0
      expect(await readiness()).toMatchObject({ status: 200, checks: { clock: true, signing_key: true } })
      shift_seconds = seconds
      expect(await readiness()).toMatchObject({
        status: 503,
        checks: { database: true, writes: true, clock: false },
      })
      expect((await wrong.app.inject('/healthz')).statusCode).toBe(200)
      shift_seconds = 0
      expect(await readiness()).toMatchObject({ status: 200, checks: { clock: true } })
    },
  )

  it.each([90, -90])('lasts with a clock %i seconds ahead', async (seconds) => {
    shift_seconds = seconds
    expect(await readiness()).toMatchObject({ status: 200, checks: { clock: true, signing_key: true } })
  })

  it('lasts with a slow clock at the first start, whose key begins by the time of Postgres', async () => {
    shift_seconds = -90
    const now = await readDatabaseTime(test.db)
    await test.db.transaction().execute(async (tx) => {
      await tx.updateTable('signing_keys').set({ signs_from: now }).execute()
    })
    const slow = await openApplication(test.deps.config.DATABASE_URL!, {
      env: {},
      clock: () => new Date(Date.now() - 90_000),
      databaseTime: () => readDatabaseTime(test.db),
    })
    expect((await slow.app.inject('/readyz')).json()).toMatchObject({ checks: { signing_key: true } })
    await slow.close()
  })
})

describe('the comparison', () => {
  /** A process and a Postgres whose clocks the test moves, and how often Postgres was asked. */
  function twoClocks() {
    const clocks = { here: Date.now(), there: Date.now(), asked: 0 }
    const check = openClockCheck({
      clock: () => new Date(clocks.here),
      databaseTime: async () => {
        clocks.asked += 1
        return new Date(clocks.there)
      },
    })
    return { clocks, check }
  }

  it('allows two minutes either way, and no more', async () => {
    const { clocks, check } = twoClocks()
    for (const sign of [1, -1]) {
      clocks.here = clocks.there + sign * APART_SECONDS_MAX * 1000
      expect(await check.secondsApart()).toBeUndefined()
      clocks.here += sign * 1000
      expect(await check.secondsApart()).toBe(sign * (APART_SECONDS_MAX + 1))
    }
  })

  it('asks Postgres at once when the clock jumps, and not at every use', async () => {
    const { clocks, check } = twoClocks()
    for (let use = 0; use < 5; use += 1) expect(await check.secondsApart()).toBeUndefined()
    expect(clocks.asked).toBe(1)
    clocks.here += AHEAD_SECONDS * 1000
    expect(await check.secondsApart()).toBe(AHEAD_SECONDS)
    clocks.there = clocks.here
    expect(await check.secondsApart()).toBeUndefined()
    expect(clocks.asked).toBe(3)
  })

  it('blames no clock for an answer that comes late', async () => {
    let here = Date.now()
    const check = openClockCheck({
      clock: () => new Date(here),
      databaseTime: async () => {
        const there = new Date(here)
        here += 10 * 60_000
        return there
      },
    })
    expect(await check.secondsApart()).toBeUndefined()
  })
})

describe('a process 400 days ahead', () => {
  it('ends nothing, even in a round that does not rest', async () => {
    await switchMandates(test)
    const merchant = await makeMerchant(test)
    await giveRight(test, merchant)
    const member = await makePerson(test, { points: 10n })
    await member.signIn()
    const mandate_id = await makeMandate(test, merchant, member)
    await merchant.process({ amount: '5', description: 'x', order_id: 'one' })
    const staff_id = await makeForumStaff(7n, {})
    const act = { kind: 'setting', setting: 'mandates', value: 'off' } as const
    const actor = { actor_id: staff_id, ip: '127.0.0.1' }
    await propose(test.deps, act, actor)
    await deleteExpiredRows(test.deps)
    await closeDueDays(test.deps)
    await keepDueProof(test.deps)
    await rotateDueSigningKeys(test.deps)
    const before = await state()

    shift_seconds = AHEAD_SECONDS
    const { deps } = wrong
    expect(await finishMandates(deps)).toBe(0)
    expect(await expireOrders(deps)).toBe(0)
    await deleteExpiredRows(deps)
    await closeDueDays(deps)
    expect(await keepDueProof(deps)).toBeUndefined()
    await rotateDueSigningKeys(deps)
    await lapseRights(deps, { hasApi: false })
    // The same proposal is open still, so this writes none.
    expect(await propose(deps, act, actor)).toBeUndefined()

    expect(await state()).toEqual(before)
    const now = test.clock.now()
    expect(await findMandate(test.db, { mandate_id }, now)).toMatchObject({ status: 'active' })
    const order = await findOrder(test.db, { app_id: merchant.id, door: 'hmac', order_id: 'one' })
    expect(order).toMatchObject({ status: 'unpaid' })
    expect(await isAdmin(staff_id)).toBe(true)
  })

  it('counts no later answer of the forum than now against staff', async () => {
    const checked_at = new Date(test.clock.now().getTime() + AHEAD_SECONDS * 1000)
    const staff_id = await makeForumStaff(8n, { checked_at, failures: 1 })
    await lapseRights(test.deps, { hasApi: true })
    expect(await isAdmin(staff_id)).toBe(true)
  })

  /** Makes an administrator of the forum, whom it has just confirmed. */
  async function makeForumStaff(
    forum_id: bigint,
    facts: { checked_at?: Date; failures?: number },
  ): Promise<bigint> {
    const { id, username } = await makePerson(test)
    const now = test.clock.now()
    await setRows(test, 'users', { id }, { is_admin: true, forum_id, password_hash: null })
    await test.db
      .insertInto('forum_members')
      .values({
        user_id: id,
        username,
        staff_confirmed_at: now,
        next_check_at: now,
        score_due_at: now,
        ...facts,
      })
      .execute()
    return id
  }

  async function isAdmin(id: bigint): Promise<boolean> {
    const row = await test.db.selectFrom('users').where('id', '=', id).select('is_admin').executeTakeFirst()
    return row!.is_admin
  }

  async function state() {
    const tables = [
      'proposals',
      'books_days',
      'books_proofs',
      'signing_keys',
      ...SWEPT.map(({ table }) => table),
    ]
    const counts: Record<string, unknown> = {}
    for (const table of tables) {
      if (table === 'limit_counters') continue
      const { rows } = await sql`select count(*)::integer as n from ${sql.table(table)}`.execute(test.db)
      counts[table] = rows[0]
    }
    return counts
  }
})

describe('rounds', () => {
  /** A log that keeps its records. */
  function keptLog(): { log: FastifyBaseLogger; records: { level: number; msg: string }[] } {
    const records: { level: number; msg: string }[] = []
    const stream = new Writable({
      write(line, _, done) {
        records.push(JSON.parse(String(line)))
        done()
      },
    })
    return { log: Fastify({ logger: { level: 'info', stream } }).log, records }
  }

  it('rest while the clock is wrong, and go on when it is right again', async () => {
    let runs = 0
    const round = whileClockIsRight(wrong.deps.clockCheck, async () => {
      runs += 1
    })
    for (const [seconds, expected] of [
      [0, 1],
      [AHEAD_SECONDS, 1],
      [-DAY_SECONDS, 1],
      [0, 2],
    ] as const) {
      shift_seconds = seconds
      await round(() => false)
      expect(runs).toBe(expected)
    }
  })

  it('have a reason in the log, and an end', async () => {
    const { log, records } = keptLog()
    const report = makeClockReport(wrong.deps, log)
    for (const seconds of [0, -DAY_SECONDS, 0, 0]) {
      shift_seconds = seconds
      await report()
    }
    expect(records.map(({ level, msg }) => [level, msg.replace(/864\d\d/, '86400')])).toEqual([
      [50, expect.stringContaining(`is ${DAY_SECONDS} seconds behind Postgres': synchronise both by NTP`)],
      [30, expect.stringContaining('right again')],
    ])
  })
})

describe('the doctor', () => {
  it.each([
    [
      AHEAD_SECONDS,
      /^The clock of this machine is 345\d+ seconds ahead of Postgres': .* not ready, and its rounds rest$/,
    ],
    [
      -DAY_SECONDS,
      /^The clock of this machine is 86\d+ seconds behind Postgres': .* not ready, and its rounds rest$/,
    ],
    [60, /^The clock of this machine is \d+ seconds ahead of Postgres': synchronise both by NTP$/],
  ])('names a clock %i seconds ahead', async (seconds, fault) => {
    const clock = () => new Date(Date.now() + seconds * 1000)
    const { config } = test.deps
    const installation: Installation = { config, clock, db: test.db, url: '', refusal: undefined }
    expect(await examineClock(installation)).toEqual({ state: 'fault', fault: expect.stringMatching(fault) })
  })
})
