/** Summarises rounds: medians, and the lowest and highest round. */
const sorted = (values: number[]) => values.toSorted((a, b) => a - b)

export const median = (values: number[]) => sorted(values)[Math.floor(values.length / 2)]!

export function spread(values: number[], digits = 0): string {
  const [low, high] = [sorted(values)[0]!, sorted(values).at(-1)!]
  return `${median(values).toFixed(digits)} [${low.toFixed(digits)}–${high.toFixed(digits)}]`
}
