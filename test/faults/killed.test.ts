/**
 * People pay, transfer and initiate while the service, Postgres, one of its processes or the connections between them
 * are killed. Whoever is not answered asks again. No answer was untrue: nothing told is lost, and nothing happened twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSoundBooks } from '../harness/books.ts'
import { IS_FULL, ROUNDS } from './rounds.ts'
import { openVisits, type Visit } from './visits.ts'
import { type FaultWorld, startFaultWorld } from './world.ts'

/** Who come again and again, until the fault is over: so it strikes somebody, however fast they are served. */
const VISITORS = 8
/** The longest that the load runs before the fault. */
const LEAD_MS = 150

let world: FaultWorld

beforeAll(async () => {
  world = await startFaultWorld()
}, 120_000)
afterAll(() => world.close())

it(
  'a kill anywhere loses no answer and moves nothing twice',
  async () => {
    const { visit, expectSameAnswers, expectNothingLostOrDoubled } = openVisits(world)
    const faults = Object.values(world.faults)
    let askedAgain = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const ended: Visit[] = []
      let isOpen = true
      const visitor = async () => {
        do ended.push(await visit())
        while (isOpen)
      }
      const visitors = Promise.all(Array.from({ length: VISITORS }, visitor))
      // An error of theirs is reported where they are awaited.
      visitors.catch(() => {})
      await sleep(Math.random() * LEAD_MS)
      await faults[round % faults.length]!()
      isOpen = false
      await visitors
      await Promise.all(ended.map(expectSameAnswers))
      askedAgain += ended.flatMap(({ told }) => told).filter(({ tries }) => tries > 1).length
      await world.withDatabase(expectSoundBooks)
    }
    await expectNothingLostOrDoubled()
    // Or the faults had struck nobody, and proved nothing.
    expect(askedAgain).toBeGreaterThan(0)
  },
  IS_FULL ? 3_600_000 : 120_000,
)
