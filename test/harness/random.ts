/** Pseudo-random choices that are the same in every run. */

export type Random = {
  below(n: number): number
  pick<T>(list: readonly T[]): T
  /** True once in `of` times. */
  chance(of: number): boolean
}

export function makeRandom(seed: number): Random {
  // Neighbouring seeds would begin alike.
  let state = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 0
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  return { below, pick: (list) => list[below(list.length)]!, chance: (of) => below(of) === 0 }
}
