/** The geometry of a bar chart that is drawn on the server: pure, in the units of its view box. */

const WIDTH = 600
const HEIGHT = 160
/** Of a bar's place; the rest is the gap to the next. */
const BAR_SHARE = 0.72

export type BarChart = {
  viewBox: string
  /** What the top line stands for: 1, 2 or 5 times a power of ten. */
  top: number
  /** All bars as one path, and those of their parts: an element for each would make a heavy page. */
  whole: string
  part: string
}

/** @param values of the bars, none below zero, each with the part of it that is drawn in full colour. */
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
