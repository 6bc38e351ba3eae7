/**
 * The primary of two Postgres is killed under load, and its standby takes over. Nobody tells the service: the address of the
 * database leads to the other server. No acknowledged payment or charge is lost, none happens twice. The other tests leave
 * this one to `npm run faults`.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openChargeVisits } from '../../test/faults/charge-visits.ts'
import { IS_FULL } from '../../test/faults/rounds.ts'
import { openVisits, type Visits } from '../../test/faults/visits.ts'
import { type ShopWorld, startShopWorld, type Told } from '../../test/faults/world.ts'
import { POSTGRES_15 } from '../../test/harness/postgres-15.ts'
import { makeScratchFolder } from '../../test/harness/scratch.ts'
import { until } from '../../test/harness/waiting.ts'
import { HAS_PATRONI, startPatroni } from './patroni.ts'
import { startReplicated } from './replicated.ts'

const CALLERS = 8

/** Loses the primary while callers pay and are charged. Each then ends at least one visit that began afterwards. */
async function loseThePrimary(world: ShopWorld, lose: () => Promise<void>): Promise<void> {
  const kinds = [openVisits(world), await openChargeVisits(world)] as Visits<{ told: Told[] }>[]
  const told: Told[] = []
  const checks: (() => Promise<void>)[] = []
  let visits = 0
  let promoted = Number.POSITIVE_INFINITY
  let back = Number.POSITIVE_INFINITY
  const caller = async ({ visit, expectSameAnswers }: (typeof kinds)[number]) => {
    for (let began = 0; began < promoted; ) {
      began = performance.now()
      const ended = await visit()
      if (promoted < Number.POSITIVE_INFINITY) back = Math.min(back, performance.now() - promoted)
      visits += 1
      told.push(...ended.told)
      checks.push(() => expectSameAnswers(ended))
    }
  }
  const load = Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(kinds[n % kinds.length]!)))
  // A failed caller ends the wait.
  await Promise.race([until(() => visits >= CALLERS), load])
  await lose()
  promoted = performance.now()
  await load
  console.log(`Served again ${Math.round(back)} ms after the promotion`)
  // Otherwise the loss struck nobody.
  expect(told.some(({ tries }) => tries > 1)).toBe(true)
  await Promise.all(checks.map((check) => check()))
  for (const { expectNothingLostOrDoubled } of kinds) await expectNothingLostOrDoubled()
}

describe.skipIf(!IS_FULL || POSTGRES_15 === undefined)('a failover loses and doubles nothing', () => {
  let world: ShopWorld
  let dataDir: string
  let close: () => Promise<void>

  beforeEach(async () => {
    dataDir = await makeScratchFolder()
  })
  afterEach(async () => {
    await world.close()
    await close()
  })

  it('by hand', async () => {
    const postgres = await startReplicated(POSTGRES_15!)
    close = postgres.close
    world = await startShopWorld(postgres.url(), dataDir)
    await loseThePrimary(world, async () => {
      await postgres.failOver()
      world.leadTo(postgres.url())
    })
  })

  it.skipIf(!HAS_PATRONI)('by Patroni, etcd and HAProxy', async () => {
    const patroni = await startPatroni(POSTGRES_15!)
    close = patroni.close
    world = await startShopWorld(patroni.url, dataDir)
    await loseThePrimary(world, patroni.killPrimary)
  })
})
