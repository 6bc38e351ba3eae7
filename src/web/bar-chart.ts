/** Computes the geometry of charts, in the units of their view boxes. */

const WIDTH = 600
const HEIGHT = 160
/** The share of a bar's slot that the bar fills; the rest is a gap. */
const BAR_SHARE = 0.72
/** Up to this value at the top, bars consist of tiles, one for each counted thing. */
const TILES_MAX = 20
const TILE_GAP = 2

export type BarChart = {
  viewBox: string
  /** The value of the top line: 1, 2 or 5 times a power of ten. */
  top: number
  /** All bars as the lines of one path, and all parts as another, because an element for each bar would make a heavy page. */
  whole: string
  part: string
  /** The width of these lines, and their dashes if bars consist of tiles. */
  width: number
  dashes: string | undefined
  /** The lines at the top, in the middle and at the bottom. */
  lines: string
}

/**
 * Draws a bar chart.
 * @param values of the bars, none below zero, each with the part that is drawn in full colour.
 */
export function barChart(values: { whole: number; part: number }[]): BarChart {
  const top = roundUp(Math.max(...values.map(({ whole }) => whole), 1))
  const slot = WIDTH / values.length
  const bar = (value: number, i: number) =>
    value === 0 ? '' : `M${round((i + 0.5) * slot)} ${HEIGHT}v-${round((value / top) * HEIGHT)}`
  return {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    lines: [0, HEIGHT / 2, HEIGHT].map((y) => `M0 ${y}h${WIDTH}`).join(''),
    top,
    whole: values.map(({ whole }, i) => bar(whole, i)).join(''),
    part: values.map(({ part }, i) => bar(part, i)).join(''),
    width: round(slot * BAR_SHARE),
    dashes: top > TILES_MAX ? undefined : `${round(HEIGHT / top - TILE_GAP)} ${TILE_GAP}`,
  }
}

/** The view box of a spark is 100 wide and 20 high; its line keeps one unit from the edges. */
const SPARK = { width: 100, height: 20, edge: 1 }

/** Draws a small line through values, from the least at the bottom to the most at the top. */
export function sparkPath(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const step = values.length > 1 ? SPARK.width / (values.length - 1) : 0
  const rise = (SPARK.height - 2 * SPARK.edge) / (most - least || 1)
  return values
    .map(
      (value, i) =>
        `${i === 0 ? 'M' : 'L'}${round(i * step)} ${round(SPARK.height - SPARK.edge - (value - least) * rise)}`,
    )
    .join('')
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value)!
  return step * power
}

const round = (value: number) => Math.round(value * 100) / 100
