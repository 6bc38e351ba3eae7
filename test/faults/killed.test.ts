/**
 * People pay, transfer and initiate while the service, Postgres, one of its processes or the connections between them
 * are killed. Whoever is not answered asks again. No answer was untrue: nothing told is lost, and nothing happened twice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { IS_FULL } from './rounds.ts'
import { strike } from './strike.ts'
import { openVisits } from './visits.ts'
import { type FaultWorld, startFaultWorld } from './world.ts'

let world: FaultWorld

beforeAll(async () => {
  world = await startFaultWorld()
}, 120_000)
afterAll(() => world.close())

it(
  'a kill anywhere loses no answer and moves nothing twice',
  async () => {
    const { visit, expectSameAnswers, expectNothingLostOrDoubled } = openVisits(world)
    const askedAgain = await strike(world, visit, expectSameAnswers)
    await expectNothingLostOrDoubled()
    // Or the faults had struck nobody, and proved nothing.
    expect(askedAgain).toBeGreaterThan(0)
  },
  IS_FULL ? 3_600_000 : 120_000,
)
