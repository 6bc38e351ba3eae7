/**
 * Draws the picture that forums show of a link: the accent of the site, the picture of the link, and the price in digits. It is a
 * PNG, because readers of previews show no SVG. spec/links 4.9. Pure.
 */
import { decode, encode } from 'fast-png'
import { smallPicture } from '../../core/small-picture.ts'

export const PREVIEW = { width: 600, height: 315 } as const
const PICTURE_SIDE = 235
const MARGIN = 40
const CHANNELS = 3
const DIGIT_HEIGHT_MAX = 96
/** Half the width of a stroke, and the room between two signs, for a digit of height 1. */
const STROKE = 0.075
const GAP = 0.2

type Point = [x: number, y: number]
type Sign = { width: number; strokes: Point[][] }
type Colour = [red: number, green: number, blue: number]

/** Part of an ellipse as a line. Degrees begin at the right and go down. */
function arc([x, y]: Point, [wide, high]: Point, from: number, to: number): Point[] {
  const steps = Math.ceil(Math.abs(to - from) / 12)
  return Array.from({ length: steps + 1 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / steps) * Math.PI) / 180
    return [x + wide * Math.cos(angle), y + high * Math.sin(angle)]
  })
}

/** The strokes of each sign, from the top at 0 to the base line at 1. */
const SIGNS: { [sign: string]: Sign } = {
  0: { width: 0.56, strokes: [arc([0.28, 0.5], [0.28, 0.5], 0, 360)] },
  1: {
    width: 0.26,
    strokes: [
      [
        [0, 0.2],
        [0.26, 0],
        [0.26, 1],
      ],
    ],
  },
  2: { width: 0.56, strokes: [[...arc([0.28, 0.28], [0.27, 0.28], 190, 395), [0.02, 1], [0.56, 1]]] },
  3: {
    width: 0.54,
    strokes: [[...arc([0.26, 0.25], [0.24, 0.25], 205, 450), ...arc([0.26, 0.75], [0.27, 0.25], 270, 515)]],
  },
  4: {
    width: 0.6,
    strokes: [
      [
        [0.44, 1],
        [0.44, 0],
        [0, 0.7],
        [0.6, 0.7],
      ],
    ],
  },
  5: {
    width: 0.55,
    strokes: [[[0.5, 0], [0.09, 0], [0.05, 0.46], ...arc([0.27, 0.68], [0.28, 0.32], 222, 510)]],
  },
  6: {
    width: 0.56,
    strokes: [arc([0.28, 0.68], [0.28, 0.32], 0, 360), arc([0.54, 0.68], [0.54, 0.68], 180, 262)],
  },
  7: {
    width: 0.54,
    strokes: [
      [
        [0, 0],
        [0.54, 0],
        [0.18, 1],
      ],
    ],
  },
  8: {
    width: 0.56,
    strokes: [arc([0.28, 0.24], [0.24, 0.24], 0, 360), arc([0.28, 0.74], [0.28, 0.26], 0, 360)],
  },
  9: {
    width: 0.56,
    strokes: [arc([0.28, 0.32], [0.28, 0.32], 0, 360), arc([0.02, 0.32], [0.54, 0.68], 0, 82)],
  },
  ',': {
    width: 0.1,
    strokes: [
      [
        [0.08, 0.98],
        [0.02, 1.14],
      ],
    ],
  },
  '+': {
    width: 0.44,
    strokes: [
      [
        [0, 0.56],
        [0.44, 0.56],
      ],
      [
        [0.22, 0.34],
        [0.22, 0.78],
      ],
    ],
  },
}
export type Preview = {
  /** Whole points. A free price is the least, followed by a plus sign. */
  points: bigint
  isFree: boolean
  accent: string
  /** The colour that is readable on the accent. */
  on: string
  /** A stored picture. */
  picture: Buffer | undefined
}

/** Draws the preview of a link. */
export function drawPreview({ points, isFree, accent, on, picture }: Preview): Buffer {
  const data = new Uint8Array(PREVIEW.width * PREVIEW.height * CHANNELS)
  const ground = colourOf(accent)
  for (let at = 0; at < data.length; at += CHANNELS) data.set(ground, at)
  const small = picture && readable(smallPicture(picture, PICTURE_SIDE))
  if (small !== undefined) drawPicture(data, small)
  const left = small === undefined ? MARGIN : MARGIN * 2 + PICTURE_SIDE
  const price = points.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',')
  const signs = [...price, ...(isFree ? ['+'] : [])].map((sign) => SIGNS[sign]!)
  drawSigns(data, signs, { left, right: PREVIEW.width - MARGIN }, colourOf(on))
  return Buffer.from(encode({ ...PREVIEW, data, channels: CHANNELS, depth: 8 }))
}

const colourOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Colour

/** Decodes a picture. Undefined for one of less than a byte a pixel, which the decoder leaves packed. */
function readable(png: Buffer) {
  const image = decode(png)
  return image.depth === 8 && image.channels === 4 ? image : undefined
}

/** Draws the picture on a white square with the margin of the preview. */
function drawPicture(data: Uint8Array, { width, data: pixels }: ReturnType<typeof decode>): void {
  const inset = Math.floor((PICTURE_SIDE - width) / 2)
  for (let y = 0; y < PICTURE_SIDE; y += 1)
    for (let x = 0; x < PICTURE_SIDE; x += 1) {
      const [column, row] = [x - inset, y - inset]
      const isInside = column >= 0 && row >= 0 && column < width && row < width
      const from = (row * width + column) * 4
      const opacity = isInside ? pixels[from + 3]! / 255 : 0
      const to = ((y + MARGIN) * PREVIEW.width + x + MARGIN) * CHANNELS
      for (let part = 0; part < CHANNELS; part += 1)
        data[to + part] = Math.round((isInside ? pixels[from + part]! : 0) * opacity + 255 * (1 - opacity))
    }
}

/** Draws signs in the middle between two sides, as large as they fit. */
function drawSigns(
  data: Uint8Array,
  signs: Sign[],
  { left, right }: { left: number; right: number },
  colour: Colour,
): void {
  const wide = signs.reduce((sum, { width }) => sum + width, 0) + GAP * (signs.length - 1) + 2 * STROKE
  const height = Math.min(DIGIT_HEIGHT_MAX, (right - left) / wide)
  const top = (PREVIEW.height - height) / 2
  let x = left + (right - left - wide * height) / 2 + STROKE * height
  for (const { width, strokes } of signs) {
    drawSign(data, strokes, { x, y: top, height, width }, colour)
    x += (width + GAP) * height
  }
}

/** Draws a sign. A pixel is coloured by its distance from the nearest stroke, which makes the edges smooth. */
function drawSign(
  data: Uint8Array,
  strokes: Point[][],
  { x, y, height, width }: { x: number; y: number; height: number; width: number },
  colour: Colour,
): void {
  const lines = strokes.map((stroke) => stroke.map(([a, b]): Point => [x + a * height, y + b * height]))
  const reach = STROKE * height
  const [first, last] = [Math.floor(x - reach - 1), Math.ceil(x + width * height + reach + 1)]
  // A comma goes below the base line.
  const [top, bottom] = [Math.floor(y - reach - 1), Math.ceil(y + height * 1.15 + reach + 1)]
  for (let row = Math.max(0, top); row <= Math.min(PREVIEW.height - 1, bottom); row += 1)
    for (let column = Math.max(0, first); column <= Math.min(PREVIEW.width - 1, last); column += 1) {
      const covered = Math.min(1, Math.max(0, reach + 0.5 - distance(lines, [column + 0.5, row + 0.5])))
      if (covered === 0) continue
      const at = (row * PREVIEW.width + column) * CHANNELS
      for (const [part, value] of colour.entries())
        data[at + part] = Math.round(data[at + part]! * (1 - covered) + value * covered)
    }
}

/** The distance of a point from the nearest line. */
function distance(lines: Point[][], [x, y]: Point): number {
  let least = Number.POSITIVE_INFINITY
  for (const line of lines)
    for (let i = 1; i < line.length; i += 1) {
      const from = line[i - 1]!
      const dx = line[i]![0] - from[0]
      const dy = line[i]![1] - from[1]
      const along = ((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy || 1)
      const part = Math.min(1, Math.max(0, along))
      const away = (x - from[0] - part * dx) ** 2 + (y - from[1] - part * dy) ** 2
      if (away < least) least = away
    }
  return Math.sqrt(least)
}
