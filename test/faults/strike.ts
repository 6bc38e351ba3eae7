/** Visitors who come again and again while one part after the other is killed. */
import { createHash } from 'node:crypto'
import { expectSoundBooks } from '../harness/books.ts'
import { ROUNDS, SEED } from './rounds.ts'
import type { Visits } from './visits.ts'
import type { FaultWorld, Told } from './world.ts'

/** They come until the fault is over, so it strikes somebody, however fast they are served. */
const VISITORS = 8
/** The most requests that are sent before the fault. */
const REQUESTS_MAX = 24

/**
 * Lets each fault strike in turn, for ROUNDS rounds, while a request is under way. After each, asks everything of the ended
 * visits once more and proves the books. Returns how many acts had to be asked again.
 */
export async function strike(
  world: FaultWorld,
  kinds: Pick<Visits<{ told: Told[] }>, 'visit' | 'expectSameAnswers'>[],
): Promise<number> {
  const faults = Object.entries(world.faults)
  let askedAgain = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const [name, fault] = faults[round % faults.length]!
    askedAgain += await strikeOnce(world, kinds, { count: requestsBefore(round), fault }).catch((cause) => {
      throw new Error(`Round ${round} of FAULT_SEED=${SEED} failed: ${name}`, { cause })
    })
  }
  return askedAgain
}

/** The same seed strikes after the same numbers of requests. */
function requestsBefore(round: number): number {
  return 1 + (createHash('sha256').update(`${SEED} ${round}`).digest().readUInt32BE() % REQUESTS_MAX)
}

async function strikeOnce(
  world: FaultWorld,
  kinds: Parameters<typeof strike>[1],
  { count, fault }: { count: number; fault: () => Promise<void> },
): Promise<number> {
  const told: Told[] = []
  const checks: (() => Promise<void>)[] = []
  let isOpen = true
  const visitor = async ({ visit, expectSameAnswers }: (typeof kinds)[number]) => {
    do {
      const ended = await visit()
      told.push(...ended.told)
      checks.push(() => expectSameAnswers(ended))
    } while (isOpen)
  }
  const sent = world.untilSent(count)
  const visitors = Promise.all(Array.from({ length: VISITORS }, (_, n) => visitor(kinds[n % kinds.length]!)))
  // A failed visitor ends the wait. The await below reports the others.
  await Promise.race([sent, visitors])
  await fault()
  isOpen = false
  await visitors
  await Promise.all(checks.map((check) => check()))
  await world.withDatabase(expectSoundBooks)
  return told.filter(({ tries }) => tries > 1).length
}
