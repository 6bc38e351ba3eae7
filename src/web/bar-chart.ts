/** Computes the geometry of a bar chart, in the units of its view box. */

const WIDTH = 600
const HEIGHT = 160
/** The share of a bar's place that the bar fills; the rest is a gap. */
const BAR_SHARE = 0.72

export type BarChart = {
  viewBox: string
  /** The value of the top line: 1, 2 or 5 times a power of ten. */
  top: number
  /** All bars as one path, and all parts as another, because an element for each bar would make a heavy page. */
  whole: string
  part: string
}

/**
 * Draws a bar chart.
 * @param values of the bars, none below zero, each with the part that is drawn in full colour.
 */
export function barChart(values: { whole: number; part: number }[]): BarChart {
  const top = roundUp(Math.max(...values.map(({ whole }) => whole), 1))
  const place = WIDTH / values.length
  const width = round(place * BAR_SHARE)
  const bar = (value: number, i: number) => {
    const height = round((value / top) * HEIGHT)
    return value === 0
      ? ''
      : `M${round(i * place + (place - width) / 2)} ${HEIGHT}v-${height}h${width}v${height}z`
  }
  return {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    top,
    whole: values.map(({ whole }, i) => bar(whole, i)).join(''),
    part: values.map(({ part }, i) => bar(part, i)).join(''),
  }
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value)!
  return step * power
}

const round = (value: number) => Math.round(value * 100) / 100
