/**
 * The primary of two Postgres is killed under load, and its standby takes over. The service is told nothing: what leads
 * it to the primary leads it to the other one. No acknowledged payment or charge is lost, none happens twice.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { POSTGRES_15 } from '../harness/postgres-15.ts'
import { openChargeVisits } from './charge-visits.ts'
import { HAS_PATRONI, startPatroni } from './patroni.ts'
import { startReplicated } from './replicated.ts'
import { IS_FULL } from './rounds.ts'
import { openVisits, type Visits } from './visits.ts'
import { type ShopWorld, startShopWorld, type Told } from './world.ts'

const CALLERS = 8
/** How long the first of them may take, with the service just started. */
const LEAD_MS_MAX = 60_000
const AFTER_MS = 1_000
/** What a buyer is to wait at most, once there is a primary again. */
const BACK_MS_MAX = 10_000

type Lose = () => Promise<void>

/** Calls all the time, during which the primary is lost. */
async function loseThePrimary<Visit extends { told: Told[] }>(
  visits: Visits<Visit>,
  lose: Lose,
): Promise<void> {
  const ended: (Visit & { at: number })[] = []
  let isOpen = true
  const caller = async () => {
    while (isOpen) ended.push({ ...(await visits.visit()), at: performance.now() })
  }
  const load = Promise.all(Array.from({ length: CALLERS }, caller))
  // The await below reports their errors.
  load.catch(() => {})
  await vi.waitUntil(() => ended.length >= CALLERS, { timeout: LEAD_MS_MAX })
  await lose()
  const promoted = performance.now()
  await sleep(AFTER_MS)
  isOpen = false
  await load

  const back = ended.find(({ at }) => at > promoted)!.at - promoted
  if (IS_FULL) console.log(`Served again ${Math.round(back)} ms after the promotion`)
  expect(back).toBeLessThan(BACK_MS_MAX)
  // Or it had struck nobody.
  expect(ended.some(({ told }) => told.some(({ tries }) => tries > 1))).toBe(true)
  await Promise.all(ended.map(visits.expectSameAnswers))
  await visits.expectNothingLostOrDoubled()
}

const CASES = Object.entries({
  payments: async (world: ShopWorld, lose: Lose) => loseThePrimary(openVisits(world), lose),
  charges: async (world: ShopWorld, lose: Lose) => loseThePrimary(await openChargeVisits(world), lose),
})

describe('a failover loses and doubles nothing acknowledged, and takes seconds', () => {
  let world: ShopWorld
  let dataDir: string
  let close: () => Promise<void>

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tessera-failover-'))
  })
  afterEach(async () => {
    await world.close()
    await close()
    await rm(dataDir, { recursive: true })
  })

  it.skipIf(POSTGRES_15 === undefined).each(CASES)(
    'by hand, under %s',
    { timeout: 180_000 },
    async (_name, loseUnder) => {
      const postgres = await startReplicated(POSTGRES_15!)
      close = postgres.close
      world = await startShopWorld(postgres.url(), dataDir)
      await loseUnder(world, async () => {
        await postgres.failOver()
        world.leadTo(postgres.url())
      })
    },
  )

  // Patroni leaves a dead primary its place for 20 s, which is long for every day.
  it.skipIf(!IS_FULL || POSTGRES_15 === undefined || !HAS_PATRONI)(
    'by Patroni, etcd and HAProxy, without anybody',
    { timeout: 300_000 },
    async () => {
      const patroni = await startPatroni(POSTGRES_15!)
      close = patroni.close
      world = await startShopWorld(patroni.url, dataDir)
      await loseThePrimary(openVisits(world), patroni.killPrimary)
    },
  )
})
