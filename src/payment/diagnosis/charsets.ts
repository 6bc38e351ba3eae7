// This room: the signature debugger, which finds the mistake of a pasted or refused request.
// Verbs: readPasted, explain, judge.
/** The character sets of older shops, which the search recognises. Pure. */

const TWO_BYTES_FIRST = 0x81
const TWO_BYTES_LAST = 0xfe
const TRAIL_FIRST = 0x40

/** A character set other than UTF-8. `encode` returns undefined for text that it cannot write. */
export type Charset = { name: string; encode(text: string): Buffer | undefined }

export const CHARSETS: readonly Charset[] = [
  { name: 'GBK', encode: encodeGbk },
  { name: 'Latin-1', encode: encodeLatin1 },
  { name: 'UTF-16', encode: (text) => Buffer.from(text, 'utf16le') },
  // UTF-8 read as Latin-1 and encoded as UTF-8 again.
  { name: 'UTF-8, twice', encode: (text) => Buffer.from(Buffer.from(text).toString('latin1')) },
]

/** Decodes bytes. Names their character set unless it is UTF-8. */
export function decodeText(bytes: Buffer): { text: string; charset?: string } {
  for (const [encoding, charset] of [['utf-8'], ['gbk', 'GBK']] as const) {
    try {
      const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
      return charset === undefined ? { text } : { text, charset }
    } catch {
      // The bytes are in another character set.
    }
  }
  return { text: bytes.toString('latin1'), charset: 'Latin-1' }
}

/** Encodes Latin-1. Writes `?` for a missing character, as PHP and Java do. */
function encodeLatin1(text: string): Buffer {
  return Buffer.from(
    [...text].map((character) => (character > '\u00ff' ? '?' : character)).join(''),
    'latin1',
  )
}

let gbk: Map<string, number> | undefined

/** Encodes GBK. Undefined for text that GBK cannot write. */
function encodeGbk(text: string): Buffer | undefined {
  gbk ??= readGbk()
  const bytes: number[] = []
  for (const character of text) {
    const code = character < '\u0080' ? character.charCodeAt(0) : gbk.get(character)
    if (code === undefined) return undefined
    if (code > 0xff) bytes.push(code >> 8)
    bytes.push(code & 0xff)
  }
  return Buffer.from(bytes)
}

/** Reads the GBK table from the platform's decoder, because the platform has no encoder. */
function readGbk(): Map<string, number> {
  const decoder = new TextDecoder('gbk', { fatal: true })
  const codes = new Map<string, number>()
  for (let lead = TWO_BYTES_FIRST; lead <= TWO_BYTES_LAST; lead += 1) {
    for (let trail = TRAIL_FIRST; trail <= TWO_BYTES_LAST; trail += 1) {
      try {
        codes.set(decoder.decode(Uint8Array.of(lead, trail)), (lead << 8) | trail)
      } catch {
        // GBK does not use this pair.
      }
    }
  }
  return codes
}
