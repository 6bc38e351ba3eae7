/** Reads QR codes from pages, with a library's decoder and rendered pixels. */
import decodeQR from 'qr/decode.js'

/** The text of the only code on a page or in a picture. */
export function readQr(body: string): string {
  return decodeQR(bitmapOf(/<svg[\s\S]*<\/svg>/.exec(body)![0]))
}

/** The code as a camera would see it: four pixels per module, dark on light. */
function bitmapOf(svg: string): { width: number; height: number; data: Uint8ClampedArray } {
  const modules = Number(/viewBox="0 0 (\d+)/.exec(svg)![1])
  const size = modules * 4
  const data = new Uint8ClampedArray(size * size * 4).fill(255)
  let [x, y] = [0, 0]
  // Each module is drawn as M or m to its corner, then h1v1h-1 and back.
  for (const [, kind, dx, dy] of svg.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1/g)) {
    ;[x, y] = kind === 'M' ? [Number(dx), Number(dy)] : [x + Number(dx), y + Number(dy)]
    for (let i = 0; i < 16; i += 1) {
      const at = ((y * 4 + (i >> 2)) * size + x * 4 + (i & 3)) * 4
      data.fill(0, at, at + 3)
    }
  }
  return { width: size, height: size, data }
}
