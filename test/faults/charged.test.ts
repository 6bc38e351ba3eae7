/**
 * Members accept mandates and are charged while the service with its worker, Postgres, one of its processes or the connections
 * are killed. A shop that has no answer asks again. No charge is lost, made twice or told twice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChargeVisit, openChargeVisits } from './charge-visits.ts'
import { IS_FULL } from './rounds.ts'
import { strike } from './strike.ts'
import type { Visits } from './visits.ts'
import { type FaultWorld, startFaultWorld } from './world.ts'

let world: FaultWorld
let visits: Visits<ChargeVisit>

beforeAll(async () => {
  world = await startFaultWorld()
  visits = await openChargeVisits(world)
}, 120_000)
afterAll(() => world.close())

it(
  'a kill anywhere loses no charge, makes none twice and tells each once',
  async () => {
    const askedAgain = await strike(world, visits.visit, visits.expectSameAnswers)
    await visits.expectNothingLostOrDoubled()
    // Or the faults had struck nobody, and proved nothing.
    expect(askedAgain).toBeGreaterThan(0)
  },
  IS_FULL ? 3_600_000 : 180_000,
)
