/**
 * Finds the mistakes behind a given signature. It tries the right and the wrong ways of every step of signing, with as few
 * mistakes as possible. Pure and bounded.
 */

import type { Field } from '../signing/refused-requests.ts'
import type { Mistake, Way } from './mistakes.ts'
import { everyOrder, pairsLeftOut, type Rules, type Steps, spell, stepsFor } from './spelling.ts'

/**
 * The bound of one search in signed bytes, some tens of milliseconds for every request. It covers every pair of mistakes in
 * a usual request. For a long request, the search skips the last pairs.
 */
const EFFORT_MAX = 6_000_000
/** The fixed cost of one try, in bytes. */
const TRY_BYTES = 1_000

/** The keys of a door, and the ways to sign bytes with them. */
export type Scheme<Key> = {
  keys: Way<Key>[]
  /** A seal returns undefined if it cannot use the key. */
  seals: Way<(bytes: Buffer, key: Key) => Buffer | undefined>[]
}

export type Explanation<Key> = { mistakes: Mistake[]; text: string; key: Key }

/** Finds the mistakes that yield `target`. Undefined if no usual mistakes do. */
export function explain<Key>(
  sent: readonly Field[],
  rules: Rules,
  scheme: Scheme<Key>,
  target: Buffer,
): Explanation<Key> | undefined {
  const steps = stepsFor(sent, rules)
  const effort = { left: EFFORT_MAX }
  const rarer = {
    ...steps,
    fields: [steps.fields[0]!, ...pairsLeftOut(sent, rules)],
    order: [steps.order[0]!, ...everyOrder(sent, rules)],
  }
  return (
    firstFit(steps, scheme, target, 1, effort) ??
    firstFit(rarer, scheme, target, 1, effort) ??
    firstFit(steps, scheme, target, 2, effort)
  )
}

function firstFit<Key>(
  { values, fields, order, join, bytes }: Steps,
  { keys, seals }: Scheme<Key>,
  target: Buffer,
  count: number,
  effort: { left: number },
): Explanation<Key> | undefined {
  for (const spelled of choices({ values, fields, order, join, bytes }, count)) {
    const { taken: ways } = spelled
    const text = spell(ways.values, ways.fields, ways.order, ways.join)
    const written = ways.bytes(text)
    if (written === undefined) continue
    effort.left -= TRY_BYTES + written.length
    for (const { taken, mistakes } of choices({ keys, seals }, count - spelled.mistakes.length)) {
      if (effort.left <= 0) return undefined
      effort.left -= TRY_BYTES + written.length
      if (taken.seals(written, taken.keys)?.equals(target))
        return { mistakes: [...spelled.mistakes, ...mistakes], text, key: taken.keys }
    }
  }
  return undefined
}

type Ways<Taken> = { [Step in keyof Taken]: Way<Taken[Step]>[] }

/** Yields every choice of one way for each step, with at most `count` mistakes. */
function* choices<Taken extends object>(
  ways: Ways<Taken>,
  count: number,
): Generator<{ taken: Taken; mistakes: Mistake[] }> {
  const steps = Object.keys(ways) as (keyof Taken)[]
  const taken = {} as Taken
  const mistakes: Mistake[] = []
  function* from(step: number): Generator<{ taken: Taken; mistakes: Mistake[] }> {
    if (step === steps.length) {
      yield { taken, mistakes: [...mistakes] }
      return
    }
    for (const { take, mistake } of ways[steps[step]!]) {
      taken[steps[step]!] = take
      if (mistake === undefined) yield* from(step + 1)
      else if (mistakes.length < count) {
        mistakes.push(mistake)
        yield* from(step + 1)
        mistakes.pop()
      }
    }
  }
  yield* from(0)
}
