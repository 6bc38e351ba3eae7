/** Reads a signature in the encodings that clients confuse. */
import type { Mistake } from './mistakes.ts'

type Read = { bytes: Buffer; mistakes: Mistake[] }

/** Reads a hash in hex or in a wrong encoding. Undefined for an empty text. */
export function readHash(text: string): Read | undefined {
  const plain = text.trim()
  if (plain === '') return undefined
  const bare = plain.replace(/^0x/i, '').replace(/^["']|["']$/g, '')
  if (/^([0-9a-f]{2})+$/i.test(bare)) {
    const mistakes: Mistake[] = bare === text ? [] : [{ code: 'signature_form', what: 'hex' }]
    return { bytes: Buffer.from(bare, 'hex'), mistakes }
  }
  const base64 = bare.replaceAll(' ', '+')
  const bytes = Buffer.from(base64, /[-_]/.test(base64) ? 'base64url' : 'base64')
  // Two libraries together may yield base64 of the hex.
  const inner = bytes.toString('latin1')
  if (/^([0-9a-f]{2}){8,}$/i.test(inner))
    return { bytes: Buffer.from(inner, 'hex'), mistakes: [{ code: 'signature_form', what: 'base64' }] }
  return { bytes, mistakes: [{ code: 'signature_form', what: 'base64' }] }
}

/** Reads a V2 signature in base64, where a space was a `+` and line breaks are ignored. Undefined for another text. */
export function readBase64(text: string): Read | undefined {
  const plain = text.replaceAll(/[\r\n]/g, '').replaceAll(' ', '+')
  const as = (bytes: Buffer, what: string): Read => ({ bytes, mistakes: [{ code: 'signature_form', what }] })
  if (/^[0-9a-f]{256,}$/i.test(plain)) return as(Buffer.from(plain, 'hex'), 'hex')
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) return { bytes: Buffer.from(plain, 'base64'), mistakes: [] }
  if (/%[0-9a-f]{2}/i.test(text)) return as(Buffer.from(decodeURIComponentLeniently(text), 'base64'), '%2B')
  if (/^[\w-]+={0,2}$/.test(plain)) return as(Buffer.from(plain, 'base64url'), 'base64url')
  return undefined
}

function decodeURIComponentLeniently(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}
