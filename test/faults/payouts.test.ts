/**
 * The worker pays a thousand lines while the service, Postgres, one of its processes and the connections between them are killed. Each
 * line is paid once, and none is lost. spec/payouts 2.6.
 */
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { createPayout } from '../../src/payment/payouts/payouts.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { lines } from '../harness/payouts.ts'
import { until } from '../harness/waiting.ts'
import { IS_FULL } from './rounds.ts'
import { patiently, START_POINTS, startFaultWorld } from './world.ts'

const LINES = 1_000
/** Lines between two faults. A payout goes on for a moment while a fault is prepared. */
const BETWEEN = 150

it.runIf(IS_FULL)(`kills within ${LINES} lines pay each line once`, async () => {
  const world = await startFaultWorld(inject('emptyCluster'))
  const { shop, buyers, withDatabase } = world
  const statesOf = () =>
    patiently(() =>
      withDatabase(async (db) => {
        const { rows } = await sql<{ status: string; paid: number }>`
          select status, (select count(*)::integer from payout_lines where status = 'paid') as paid from payouts`.execute(
          db,
        )
        return rows[0]!
      }),
    )
  await withDatabase(async (db) => {
    const deps = { db, settings: openSettings(db), clock: () => new Date(), limits: { hit: async () => {} } }
    const payer = { app_id: shop.id, owner_id: shop.owner.id }
    const asked = { reference: 'thousand', mode: 'each' as const, lines: lines(LINES, buyers) }
    await createPayout(deps as unknown as Core, payer, asked, () => {})
  })
  const struck: number[] = []
  for (const [i, fault] of Object.values(world.faults).entries()) {
    await until(async () => (await statesOf()).paid >= i * BETWEEN + 50)
    const { status, paid } = await statesOf()
    if (status === 'running') struck.push(paid)
    await fault()
  }
  // Otherwise a fault came after the end, and proved nothing.
  expect(struck, `lines paid at each fault: ${struck}`).toHaveLength(Object.keys(world.faults).length)
  await until(async () => (await statesOf()).status === 'finished')
  await withDatabase(async (db) => {
    const { rows } = await sql<{ transfers: number; lines: number }>`
      select count(*)::integer as transfers, count(distinct line.n)::integer as lines
      from transfers join payout_lines as line on line.transfer_id = transfers.id`.execute(db)
    expect(rows).toEqual([{ transfers: LINES, lines: LINES }])
    const sent = await sql<{ count: number }>`select count(*)::integer as count from transfers`.execute(db)
    expect(sent.rows).toEqual([{ count: LINES }])
    // 10 points and a fee of one point each.
    expect(await balanceOf(db, shop.owner.id)).toBe(START_POINTS - BigInt(LINES) * 11n)
    await expectSoundBooks(db)
  })
  await world.close()
})
