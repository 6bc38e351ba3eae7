/**
 * The check of uploaded logos. An upload is decoded and encoded again, so what browsers get holds the pixels of a picture
 * and nothing else: no metadata, no markup and no second file format. spec/limits 1.3.
 */
import { inflateSync } from 'node:zlib'
import { convertIndexedToRgb, decode, encode } from 'fast-png'
import { AppError } from '../platform/errors.ts'

/** The largest file, in bytes, and the largest picture, in pixels at each side. */
export const LOGO_BYTES_MAX = 512 * 1024
const LOGO_SIDE_MAX = 512

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** The chunks that make the pixels of a PNG (PNG 3, 5.6). */
const PIXEL_CHUNKS: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])
/** The length, type and checksum of a chunk. */
const CHUNK_FRAME_BYTES = 12
/** Four channels of 16 bits, and a byte for the filter of each of seven interlaced passes' lines. */
const PIXEL_BYTES_MAX = LOGO_SIDE_MAX * LOGO_SIDE_MAX * 8 + LOGO_SIDE_MAX * 16

/** Returns the pixels of a PNG as a new PNG. Throws invalid_form for a file that is no small PNG. */
export function encodedAgain(file: Buffer): Buffer {
  const refused = (why: string) => new AppError('invalid_form', `The logo ${why}`)
  if (file.length > LOGO_BYTES_MAX) throw refused(`is larger than ${LOGO_BYTES_MAX / 1024} KB`)
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw refused('is not a PNG file')
  const [width, height] = [16, 20].map((at) => (file.length < 24 ? 0 : file.readUInt32BE(at))) as [
    number,
    number,
  ]
  if (width > LOGO_SIDE_MAX || height > LOGO_SIDE_MAX)
    throw refused(`is larger than ${LOGO_SIDE_MAX} × ${LOGO_SIDE_MAX} pixels`)
  try {
    const { picture, pixels } = withoutMetadata(file)
    // The decoder sets no limit of its own, and 512 KB can unpack to half a gigabyte.
    inflateSync(pixels, { maxOutputLength: PIXEL_BYTES_MAX })
    const image = decode(picture)
    const { data, channels, depth, palette } = image
    if (palette === undefined) return Buffer.from(encode({ width, height, data, channels, depth }))
    const coloured = convertIndexedToRgb(image)
    return Buffer.from(
      encode({ width, height, data: coloured, channels: coloured.length / (width * height), depth: 8 }),
    )
  } catch {
    throw refused('cannot be read as a PNG picture')
  }
}

/**
 * Returns a PNG with only the chunks that make its pixels, and the compressed pixels. The decoder would also inflate a colour
 * profile (iCCP), without a limit.
 */
function withoutMetadata(file: Buffer): { picture: Buffer; pixels: Buffer } {
  const chunks: Buffer[] = [SIGNATURE]
  const pixels: Buffer[] = []
  for (let at = SIGNATURE.length; at + CHUNK_FRAME_BYTES <= file.length; ) {
    const end = at + CHUNK_FRAME_BYTES + file.readUInt32BE(at)
    const type = file.toString('latin1', at + 4, at + 8)
    if (PIXEL_CHUNKS.has(type)) chunks.push(file.subarray(at, end))
    if (type === 'IDAT') pixels.push(file.subarray(at + 8, end - 4))
    at = end
  }
  return { picture: Buffer.concat(chunks), pixels: Buffer.concat(pixels) }
}
