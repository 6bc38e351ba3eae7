/** Makes small copies of stored pictures, for mails. */
import { type DecodedPng, decode, encode } from 'fast-png'

/** Red, green, blue and opacity. */
const CHANNELS = 4

/** Returns a stored picture as a square PNG of at most `sideMax` pixels at each side, centred on a transparent ground. */
export function smallPicture(picture: Buffer, sideMax: number): Buffer {
  const image = decode(picture)
  // Grey of less than a byte a pixel, which the decoder leaves packed. Such a file is small already.
  if (image.depth < 8) return picture
  const longest = Math.max(image.width, image.height)
  const side = Math.min(sideMax, longest)
  const data = new Uint8Array(side * side * CHANNELS)
  const [left, top] = [(longest - image.width) / 2, (longest - image.height) / 2]
  const at = (i: number, margin: number) => Math.round((i * longest) / side - margin)
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const box = { x: [at(x, left), at(x + 1, left)], y: [at(y, top), at(y + 1, top)] } as const
      data.set(meanOf(image, box), (y * side + x) * CHANNELS)
    }
  return Buffer.from(encode({ width: side, height: side, data, channels: CHANNELS, depth: 8 }))
}

type Box = { x: readonly [number, number]; y: readonly [number, number] }

/** Returns the mean colour of a part of a picture. A pixel counts as much as it is opaque; outside of the picture nothing is. */
function meanOf(image: DecodedPng, { x, y }: Box): number[] {
  const sum = [0, 0, 0, 0]
  let count = 0
  for (let row = y[0]; row < y[1]; row += 1)
    for (let column = x[0]; column < x[1]; column += 1) {
      count += 1
      const [red, green, blue, alpha] = pixelOf(image, column, row)
      sum[0]! += red * alpha
      sum[1]! += green * alpha
      sum[2]! += blue * alpha
      sum[3]! += alpha
    }
  const opaque = sum[3] || 1
  return [sum[0]! / opaque, sum[1]! / opaque, sum[2]! / opaque, (255 * sum[3]!) / (count || 1)].map(
    Math.round,
  )
}

type Pixel = [red: number, green: number, blue: number, alpha: number]

/** A pixel's colours from 0 to 255 and its opacity from 0 to 1. */
function pixelOf({ width, height, data, channels, depth }: DecodedPng, x: number, y: number): Pixel {
  if (x < 0 || y < 0 || x >= width || y >= height) return [0, 0, 0, 0]
  const most = 2 ** depth - 1
  const start = (y * width + x) * channels
  // Grey has one colour, which serves for all three.
  const [green, blue] = channels > 2 ? [1, 2] : [0, 0]
  const part = (at: number) => (data[start + at]! / most) * 255
  return [part(0), part(green), part(blue), channels % 2 === 0 ? part(channels - 1) / 255 : 1]
}
