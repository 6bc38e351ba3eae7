/**
 * Finds the one mistake behind a given signature. It tries each usual mistake of the string with the right key and computation,
 * and each wrong key and computation with the right string. Pure. The tables of mistakes and the bounds of spelling.ts bound its
 * cost: every request has fewer than 1,500 candidates and signs fewer than 20 MB.
 */

import type { Field } from '../signing/refused-requests.ts'
import type { Mistake, Way } from './mistakes.ts'
import { type Rules, spellings } from './spelling.ts'

/** The keys of a door, and the ways to sign bytes with them. Those without a mistake are right. */
export type Scheme<Key> = {
  keys: Way<Key>[]
  seals: Way<(bytes: Buffer, key: Key) => Buffer>[]
}

export type Explanation<Key> = { mistakes: Mistake[]; text: string; key: Key }

/** Finds the mistake that yields `target`. Undefined if no usual mistake does. */
export function explain<Key>(
  sent: readonly Field[],
  rules: Rules,
  { keys, seals }: Scheme<Key>,
  target: Buffer,
): Explanation<Key> | undefined {
  const isRight = ({ mistake }: Way<unknown>) => mistake === undefined
  const ways = keys.flatMap((key) =>
    seals.filter((seal) => isRight(key) || isRight(seal)).map((seal) => ({ key, seal })),
  )
  const rightWays = ways.filter(({ key, seal }) => isRight(key) && isRight(seal))
  for (const { text, mistake } of spellings(sent, rules)) {
    const bytes = Buffer.from(text)
    for (const { key, seal } of mistake === undefined ? ways : rightWays)
      if (seal.take(bytes, key.take).equals(target)) {
        const mistakes = [mistake, key.mistake, seal.mistake].filter((each) => each !== undefined)
        return { mistakes, text, key: key.take }
      }
  }
  return undefined
}
