/**
 * An authenticator and its browser on node:crypto, written from WebAuthn Level 3 without the library of the service. A
 * forgery replaces one part of an answer; everything else stays right and is signed.
 */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import type { KeyAndCertificate } from './certificate.ts'

const FLAGS = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40 }

export type Algorithm = -7 | -8 | -257 | -35

/** What the authenticator is, and what it says of itself. */
export type Traits = {
  alg?: Algorithm
  /** It verifies the member, by a PIN or a fingerprint. */
  verifies?: boolean
  /** The passkey may be synced, and is synced. */
  isSynced?: boolean
  /** Absent for an authenticator that does not count. */
  counter?: number
}

/** The parts of an answer that a forgery replaces. */
export type Forgery = {
  origin?: string
  rp_id?: string
  type?: string
  challenge?: string
  crossOrigin?: boolean
  topOrigin?: string
  flags?: number
  counter?: number
  userHandle?: string | null
  signature?: Buffer
  fmt?: string
  attStmt?: Map<string, unknown>
  /** The maker's key, which attests this one by its certificate. */
  attestedBy?: KeyAndCertificate
  credential_id?: Buffer
}

type CreationOptions = { challenge: string; rp: { id: string }; user: { id: string } }
type RequestOptions = { challenge: string; rpId: string; allowCredentials: { id: string }[] }

export type Authenticator = ReturnType<typeof makeAuthenticator>

/** Makes an authenticator with one key. It answers the options of a page at `origin`. */
export function makeAuthenticator(
  origin: string,
  { alg = -7, verifies = true, isSynced = false, counter }: Traits = {},
) {
  const { publicKey, privateKey } = keyPair(alg)
  const credential_id = randomBytes(32)
  const traits = { verifies, isSynced, counter }
  let userHandle = ''

  const flagsNow = () =>
    FLAGS.UP | (traits.verifies ? FLAGS.UV : 0) | (traits.isSynced ? FLAGS.BE | FLAGS.BS : 0)
  const clientData = (type: string, challenge: string, forgery: Forgery) => {
    const { crossOrigin = false, topOrigin } = forgery
    const said = { type: forgery.type ?? type, challenge: forgery.challenge ?? challenge, crossOrigin }
    return Buffer.from(
      JSON.stringify({ ...said, origin: forgery.origin ?? origin, ...(topOrigin && { topOrigin }) }),
    )
  }
  const authData = (rpId: string, added: number, forgery: Forgery, rest = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5)
    head[0] = (forgery.flags ?? flagsNow()) | added
    if (traits.counter !== undefined) traits.counter += 1
    head.writeUInt32BE(forgery.counter ?? traits.counter ?? 0, 1)
    return Buffer.concat([sha256(forgery.rp_id ?? rpId), head, rest])
  }
  const signed = (data: Buffer, client: Buffer) =>
    alg === -8
      ? sign(null, Buffer.concat([data, sha256(client)]), privateKey)
      : sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)

  return {
    credential_id,
    /** Later answers say this of the authenticator. */
    traits,
    /** Answers a registration, as `PublicKeyCredential.toJSON()` writes it. */
    create(options: string, forgery: Forgery = {}): string {
      const { challenge, rp, user } = JSON.parse(options) as CreationOptions
      userHandle = user.id
      const client = clientData('webauthn.create', challenge, forgery)
      const id = forgery.credential_id ?? credential_id
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const key = cbor(coseKey(publicKey, alg))
      const data = authData(rp.id, FLAGS.AT, forgery, Buffer.concat([Buffer.alloc(16), length, id, key]))
      const fmt = forgery.fmt ?? 'none'
      const { attestedBy } = forgery
      const packed = new Map<string, unknown>(
        attestedBy === undefined
          ? [
              ['alg', alg],
              ['sig', signed(data, client)],
            ]
          : [
              ['alg', -257],
              ['sig', sign('sha256', Buffer.concat([data, sha256(client)]), attestedBy.key)],
              ['x5c', [new X509Certificate(attestedBy.cert).raw]],
            ],
      )
      const attStmt = forgery.attStmt ?? (fmt === 'packed' ? packed : new Map())
      const object = cbor(
        new Map<string, unknown>([
          ['fmt', fmt],
          ['attStmt', attStmt],
          ['authData', data],
        ]),
      )
      return written(id, {
        clientDataJSON: client.toString('base64url'),
        attestationObject: object.toString('base64url'),
        transports: ['internal', 'hybrid'],
      })
    },
    /** Answers a sign-in. */
    get(options: string, forgery: Forgery = {}): string {
      const { challenge, rpId } = JSON.parse(options) as RequestOptions
      const client = clientData('webauthn.get', challenge, forgery)
      const data = authData(rpId, 0, forgery)
      const handle = forgery.userHandle === undefined ? userHandle : forgery.userHandle
      return written(forgery.credential_id ?? credential_id, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: (forgery.signature ?? signed(data, client)).toString('base64url'),
        userHandle: handle ?? undefined,
      })
    },
  }
}

function written(id: Buffer, response: Record<string, unknown>): string {
  const rawId = id.toString('base64url')
  const clientExtensionResults = response.attestationObject === undefined ? {} : { credProps: { rk: true } }
  return JSON.stringify({ id: rawId, rawId, type: 'public-key', clientExtensionResults, response })
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()

function keyPair(alg: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === -8) return generateKeyPairSync('ed25519')
  if (alg === -257) return generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return generateKeyPairSync('ec', { namedCurve: alg === -35 ? 'P-384' : 'P-256' })
}

/** The public key in COSE (RFC 9053). */
function coseKey(key: KeyObject, alg: Algorithm): Map<number, unknown> {
  const jwk = key.export({ format: 'jwk' })
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
  const members: [number, unknown][] =
    alg === -8
      ? [
          [1, 1],
          [3, alg],
          [-1, 6],
          [-2, bytes(jwk.x)],
        ]
      : alg === -257
        ? [
            [1, 3],
            [3, alg],
            [-1, bytes(jwk.n)],
            [-2, bytes(jwk.e)],
          ]
        : [
            [1, 2],
            [3, alg],
            [-1, alg === -35 ? 2 : 1],
            [-2, bytes(jwk.x)],
            [-3, bytes(jwk.y)],
          ]
  return new Map(members)
}

/** Encodes the parts of CBOR (RFC 8949) that attestation objects use. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value)
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value])
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([cborHead(3, text.length), text])
  }
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)])
  if (value instanceof Map)
    return Buffer.concat([
      cborHead(5, value.size),
      ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)]),
    ])
  throw new Error(`No CBOR for ${typeof value}`)
}

function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
}
