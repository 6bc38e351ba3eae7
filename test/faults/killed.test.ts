/**
 * People pay, transfer, accept mandates and are charged while the service with its worker, Postgres, one of its processes or
 * the connections between them are killed. Who gets no answer asks again. No answer was untrue, and nothing happened twice.
 */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { openChargeVisits } from './charge-visits.ts'
import { IS_FULL } from './rounds.ts'
import { strike } from './strike.ts'
import { openVisits, type Visits } from './visits.ts'
import { type FaultWorld, startFaultWorld, type Told } from './world.ts'

let world: FaultWorld | undefined

beforeAll(async () => {
  if (IS_FULL) world = await startFaultWorld(inject('emptyCluster'))
})
afterAll(() => world?.close())

it.runIf(IS_FULL)(
  'a kill anywhere loses no answer, moves nothing twice and tells each charge once',
  async () => {
    const kinds = [openVisits(world!), await openChargeVisits(world!)] as Visits<{ told: Told[] }>[]
    const askedAgain = await strike(world!, kinds)
    for (const { expectNothingLostOrDoubled } of kinds) await expectNothingLostOrDoubled()
    // Otherwise no fault struck a request, and the test proved nothing.
    expect(askedAgain).toBeGreaterThan(0)
  },
)
