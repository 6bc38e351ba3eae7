/**
 * Reads the public key that a merchant pastes, in every usual form, and names the fault of any other text.
 * Pure. spec/gateway 3.1.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

const MODULUS_BITS_MIN = 2048
/** A longer key or exponent makes each verification as slow as many requests. */
const MODULUS_BITS_MAX = 8192
const EXPONENT_MAX = 0xffff_ffffn

/** Why a pasted text cannot verify requests. */
export type PublicKeyFault =
  | 'empty'
  | 'private_key'
  | 'certificate'
  | 'ssh_key'
  | 'several'
  | 'unreadable'
  | 'not_rsa'
  | 'too_short'
  | 'too_long'
  | 'weak_exponent'
  | 'platform_key'

/** A valid RSA key: the base64 of its SPKI, on one line. */
export type PublicKey = { spki_base64: string; bits: number; fingerprint: string }

/**
 * Reads a pasted key: PEM or bare base64, of SPKI or PKCS#1, on one line or wrapped, also in quotes. Refuses every text that
 * contains a private key, because node:crypto would silently derive the public key from it.
 * @param platform_spki our own public key for this application, which the page shows next to the field.
 */
export function readPublicKey(text: string, platform_spki: string): PublicKey | PublicKeyFault {
  // A key copied from a configuration file may have its line breaks written as \n.
  const plain = withoutQuotes(text.replace(/\\r|\\n/g, '\n').trim())
  if (plain === '') return 'empty'
  const body = bodyOf(plain)
  if (typeof body === 'object') return body.fault
  const der = derOf(body)
  if (der === undefined) return 'unreadable'
  const key = readDer(der)
  if (typeof key === 'string') return key
  return judge(key, platform_spki)
}

/** The text between the quotes that a configuration file puts around it. */
function withoutQuotes(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2]?.trim() ?? text
}

/** The name of a public key on pages and in the audit log: the SHA-256 of its SPKI, in hex. */
export function fingerprintOf(spki_base64: string): string {
  return createHash('sha256').update(Buffer.from(spki_base64, 'base64')).digest('hex')
}

/** The base64 of the only key in the text. A PEM label can refuse a text, but cannot vouch for it. */
function bodyOf(text: string): string | { fault: PublicKeyFault } {
  if (/^(ssh-|ecdsa-|sk-)|-BEGIN SSH2/.test(text)) return { fault: 'ssh_key' }
  const labels = [...text.matchAll(/-----BEGIN ([^-]*)-----/g)].map(([, label]) => label!)
  if (labels.some((label) => label.includes('PRIVATE'))) return { fault: 'private_key' }
  if (labels.length > 1) return { fault: 'several' }
  if (labels[0]?.includes('CERTIFICATE')) return { fault: 'certificate' }
  if (labels.length === 0) return text
  return /^-----BEGIN [^-]*-----([^-]*)-----END [^-]*-----$/.exec(text)?.[1] ?? { fault: 'unreadable' }
}

/** The bytes, if they are exactly one DER sequence: a private key could follow the end of a public one. */
function derOf(body: string): Buffer | undefined {
  const base64 = body.replace(/\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const der = Buffer.from(base64, 'base64')
  const [tag, first = 0] = der
  if (tag !== 0x30) return undefined
  const lengthBytes = first < 0x80 ? 0 : first - 0x80
  if (lengthBytes > 3 || der.length < 2 + lengthBytes) return undefined
  const length = lengthBytes === 0 ? first : der.readUIntBE(2, lengthBytes)
  return der.length === 2 + lengthBytes + length ? der : undefined
}

function readDer(der: Buffer): KeyObject | PublicKeyFault {
  if (isPrivateKey(der)) return 'private_key'
  for (const type of ['spki', 'pkcs1'] as const) {
    const key = attempt(() => createPublicKey({ key: der, format: 'der', type }))
    if (key !== undefined) return key
  }
  return attempt(() => new X509Certificate(der)) === undefined ? 'unreadable' : 'certificate'
}

function isPrivateKey(der: Buffer): boolean {
  return (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) => {
    try {
      createPrivateKey({ key: der, format: 'der', type })
      return true
    } catch (error) {
      // An encrypted private key counts as one too.
      return (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE'
    }
  })
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function judge(key: KeyObject, platform_spki: string): PublicKey | PublicKeyFault {
  if (key.asymmetricKeyType !== 'rsa') return 'not_rsa'
  const { modulusLength: bits = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (bits < MODULUS_BITS_MIN) return 'too_short'
  if (bits > MODULUS_BITS_MAX) return 'too_long'
  // With the exponent 1 every text is its own signature.
  if (publicExponent < 3n || publicExponent > EXPONENT_MAX) return 'weak_exponent'
  const spki_base64 = key.export({ type: 'spki', format: 'der' }).toString('base64')
  if (spki_base64 === platform_spki) return 'platform_key'
  return { spki_base64, bits, fingerprint: fingerprintOf(spki_base64) }
}
