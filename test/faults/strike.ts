/** Visitors who come again and again while one part after the other is killed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expectSoundBooks } from '../harness/books.ts'
import { ROUNDS } from './rounds.ts'
import type { FaultWorld, Told } from './world.ts'

/** They come until the fault is over, so it strikes somebody, however fast they are served. */
const VISITORS = 8
/** The longest that the load runs before the fault. */
const LEAD_MS = 150

/**
 * Lets each fault strike in turn, for ROUNDS rounds. After each, asks everything of the ended visits once more and proves the
 * books. Returns how many acts had to be asked again.
 */
export async function strike<Visit extends { told: Told[] }>(
  world: FaultWorld,
  visit: () => Promise<Visit>,
  expectSameAnswers: (visit: Visit) => Promise<void>,
): Promise<number> {
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
    // The await below reports their errors.
    visitors.catch(() => {})
    await sleep(Math.random() * LEAD_MS)
    await faults[round % faults.length]!()
    isOpen = false
    await visitors
    await Promise.all(ended.map(expectSameAnswers))
    askedAgain += ended.flatMap(({ told }) => told).filter(({ tries }) => tries > 1).length
    await world.withDatabase(expectSoundBooks)
  }
  return askedAgain
}
