/** Computes the geometry of charts, in the units of their view boxes. */

const WIDTH = 600
const HEIGHT = 160
/** The share of a bar's slot that the bar fills; the rest is a gap. */
const BAR_SHARE = 0.72
/** The distance of two lines of the scale is one of these times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10]
/** At most so many steps, so that each line of the scale has a label. */
const STEPS_MAX = 4
/** Up to this value at the top, each tile of a bar is one counted thing. Above, a step of the scale has two tiles, or five if it is odd. */
const TILES_MAX = 20
const TILE_GAP = 2

export type BarChart = {
  viewBox: string
  /** The values of the lines, the highest first. The last one is 0. */
  scale: number[]
  /** The value of one tile. */
  tile: number
  /** All bars as the lines of one path, and all parts as another, because an element for each bar would make a heavy page. */
  whole: string
  part: string
  /** The width of these lines, and their dashes, which make tiles of them. */
  width: number
  dashes: string
  lines: string
}

/**
 * Draws a bar chart.
 * @param values of the bars, none below zero, each with the part that is drawn in full colour.
 */
export function barChart(values: { whole: number; part: number }[]): BarChart {
  const most = Math.max(...values.map(({ whole }) => whole), 1)
  const step = stepFor(most)
  const steps = Math.ceil(most / step)
  const top = steps * step
  const slot = WIDTH / values.length
  const bar = (value: number, i: number) =>
    value === 0 ? '' : `M${round((i + 0.5) * slot)} ${HEIGHT}v-${round((value / top) * HEIGHT)}`
  const scale = Array.from({ length: steps + 1 }, (_, i) => top - i * step)
  const tile = top > TILES_MAX ? step / (step % 2 === 0 ? 2 : 5) : 1
  return {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    lines: scale.map((_, i) => `M0 ${round((i / steps) * HEIGHT)}h${WIDTH}`).join(''),
    scale,
    tile,
    whole: values.map(({ whole }, i) => bar(whole, i)).join(''),
    part: values.map(({ part }, i) => bar(part, i)).join(''),
    width: round(slot * BAR_SHARE),
    dashes: `${round((HEIGHT * tile) / top - TILE_GAP)} ${TILE_GAP}`,
  }
}

/** The least whole step with which STEPS_MAX steps reach a value. */
function stepFor(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / STEPS_MAX))
  const step = STEPS.map((each) => each * power).find(
    (each) => each * STEPS_MAX >= most && Number.isInteger(each),
  )
  return step ?? 1
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

const round = (value: number) => Math.round(value * 100) / 100
