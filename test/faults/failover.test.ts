/**
 * The primary of two Postgres is killed under load, and its standby takes over. The service is told nothing: what leads
 * it to the primary leads it to the other one. No acknowledged payment is lost, none happens twice.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES_15 } from '../postgres-15.ts'
import { type Replicated, startReplicated } from './replicated.ts'
import { openVisits, type Visit } from './visits.ts'
import { type ShopWorld, startShopWorld } from './world.ts'

const CALLERS = 8
const LEAD_MS = 1_500
const AFTER_MS = 1_000
/** What a buyer is to wait at most, once there is a primary again. */
const BACK_MS_MAX = 10_000

describe.skipIf(POSTGRES_15 === undefined)('a failover', () => {
  let postgres: Replicated
  let world: ShopWorld
  let dataDir: string

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tessera-failover-'))
    postgres = await startReplicated(POSTGRES_15!)
    world = await startShopWorld(postgres.url(), dataDir)
  }, 120_000)
  afterAll(async () => {
    await world.close()
    await postgres.close()
    await rm(dataDir, { recursive: true })
  })

  it('loses no acknowledged payment, doubles none, and serves again within seconds', async () => {
    const visits = openVisits(world)
    const ended: (Visit & { at: number })[] = []
    let isOpen = true
    const caller = async () => {
      while (isOpen) ended.push({ ...(await visits.visit()), at: performance.now() })
    }
    const load = Promise.all(Array.from({ length: CALLERS }, caller))
    // An error of theirs is reported where they are awaited.
    load.catch(() => {})
    await sleep(LEAD_MS)
    const before = ended.length
    await postgres.failOver()
    const promoted = performance.now()
    world.leadTo(postgres.url())
    await sleep(AFTER_MS)
    isOpen = false
    await load

    expect(before).toBeGreaterThan(0)
    const after = ended.filter(({ at }) => at > promoted)
    expect(after.length).toBeGreaterThan(0)
    expect(after[0]!.at - promoted).toBeLessThan(BACK_MS_MAX)
    // Or it had struck nobody.
    expect(ended.some(({ told }) => told.some(({ tries }) => tries > 1))).toBe(true)
    await Promise.all(ended.map(visits.expectSameAnswers))
    await visits.expectNothingLostOrDoubled()
  }, 120_000)
})
