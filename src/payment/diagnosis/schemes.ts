/** The three signature schemes with the keys and computations that clients use by mistake. Pure. */
import {
  constants,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  publicDecrypt,
  verify,
} from 'node:crypto'
import { secretKeyOf } from '../signing/hmac.ts'
import type { Field } from '../signing/refused-requests.ts'
import { type Way, wrong } from './mistakes.ts'
import type { Scheme } from './search.ts'
import type { Rules } from './spelling.ts'

/** A key of an application. `ended_at` is null while the key is valid. */
export type OwnKey<Value> = { value: Value; ended_at: Date | null }

/** All keys that may have made an application's signatures, the newest of each kind first. */
export type OwnKeys = {
  payment_id: string
  pid: bigint
  tokens: OwnKey<string>[]
  merchant_keys: OwnKey<string>[]
  public_keys: OwnKey<KeyObject>[]
  /** The public half of our own key, which signs replies and notifications of V2. */
  platform_key: KeyObject
  /** The valid keys of other applications that the reader may debug too. */
  others: OtherKey[]
}

/** A key of another application of the reader. */
export type OtherKey = { id: bigint; payment_id: string } & (
  | { kind: 'token' | 'merchant_key'; value: string }
  | { kind: 'merchant_public_key'; value: KeyObject }
)

/** What a client took as its key: one of the application's keys as it is, or changed. Undefined for something else. */
export type Source = { kind: 'token' | 'secret_key' | 'merchant_key'; value: string; isChanged: boolean }

/** A key as bytes and ready for HMAC. */
export type Used = { bytes: Buffer; ready: KeyObject; source: Source | undefined }

function used(key: string | Buffer, source: Source | undefined): Used {
  const bytes = Buffer.from(key as string)
  return { bytes, ready: createSecretKey(bytes), source }
}

const asIs = (kind: Source['kind'], value: string): Source => ({ kind, value, isChanged: false })
const changed = (kind: Source['kind'], value: string): Source => ({ kind, value, isChanged: true })

const DAY_LENGTH = 10

/** What a client sends, or receives in a callback. */
const HMAC_KNOWN = [
  ...['amount', 'description', 'order_id', 'transaction_id', 'to_user_id', 'to_username', 'timestamp'],
  ...['limit', 'cursor', 'order', 'since', 'until', 'status', 'mandate_id'],
  ...['reference', 'purpose', 'charge_max', 'period_max', 'period', 'starts_on', 'ends_on', 'user_id'],
  ...['with_token', 'replaces', 'reason'],
  ...['external_reference', 'platform_fee', 'merchant_points', 'paid_at', 'decided_at', 'mandate_status'],
]

/** The optional parameters of an offer of a mandate. Only an offer has a purpose. */
const OFFER_OPTIONAL = [
  ...['amount', 'charge_max', 'period_max', 'starts_on', 'ends_on', 'user_id', 'with_token', 'replaces'],
]

/** The rules of the HMAC API's string to sign, for a request with these parameters. */
export function hmacRules({ payment_id, pid }: OwnKeys, sent: readonly Field[]): Rules {
  const isOffer = sent.some(([name]) => name === 'purpose')
  return {
    unsigned: ['signature'],
    keepsEmpty: true,
    optional: ['timestamp', ...(isOffer ? OFFER_OPTIONAL : ['description'])],
    known: HMAC_KNOWN,
    extras: [
      ['payment_id', payment_id],
      ['pid', String(pid)],
      ['signature', ''],
    ],
  }
}

const GATEWAY_KNOWN = ['pid', 'type', 'out_trade_no', 'notify_url', 'return_url', 'name', 'money', 'param']

/**
 * The rules of the gateway's string to sign.
 * @param sign_type the value that clients of this version sign by mistake.
 */
export function gatewayRules({ merchant_keys }: OwnKeys, sign_type: 'MD5' | 'RSA'): Rules {
  return {
    unsigned: ['sign', 'sign_type'],
    keepsEmpty: false,
    optional: ['type', 'param', 'return_url', 'sitename', 'device', 'clientip'],
    known: [...GATEWAY_KNOWN, 'timestamp', 'trade_no', 'method', 'act'],
    extras: [
      ['sign_type', sign_type],
      ['sign', ''],
      ...merchant_keys.slice(0, 1).map(({ value }): [string, string] => ['key', value]),
    ],
  }
}

/** The Secret Keys of the valid tokens first, then their wrong forms and other wrong keys. */
export function hmacScheme({ tokens, merchant_keys, payment_id, pid }: OwnKeys): Scheme<Used> {
  const keys = tokens.flatMap(({ value: token, ended_at }): Way<Used>[] => {
    const key = secretKeyOf(token)
    const source = asIs('secret_key', key)
    if (ended_at !== null) return [wrong('ended_key', used(key, source), dayOf(ended_at))]
    const made = changed('secret_key', key)
    return [
      { take: used(key, source) },
      wrong('raw_token', used(token, asIs('token', token))),
      wrong('decoded_hex_key', used(Buffer.from(key, 'hex'), made)),
      wrong('upper_case_key', used(key.toUpperCase(), made)),
      wrong('base64_key', used(Buffer.from(key, 'hex').toString('base64'), made)),
      wrong('key_hashed_again', used(secretKeyOf(key), made)),
      wrong('key_hashed_again', used(secretKeyOf(secretKeyOf(key)), made)),
      wrong('key_whitespace', used(`${key}\n`, made)),
      wrong('key_whitespace', used(` ${key}`, made)),
      wrong('key_whitespace', used(`${key} `, made)),
    ]
  })
  keys.push(
    ...merchant_keys.map(({ value }) =>
      wrong('other_key', used(value, asIs('merchant_key', value)), 'Merchant KEY'),
    ),
    wrong('other_key', used(payment_id, undefined), 'Payment ID'),
    wrong('other_key', used(String(pid), undefined), 'pid'),
    wrong('no_key', used('', undefined)),
  )
  return { keys, seals: HMAC_SEALS }
}

type Seal = (bytes: Buffer, key: Used) => Buffer

const digest = (algorithm: string, ...parts: (Buffer | string)[]) =>
  hash(
    algorithm,
    parts.length === 1 ? parts[0]! : Buffer.concat(parts.map((part) => Buffer.from(part as string))),
    'buffer',
  )
const hmac = (algorithm: string, key: Buffer | KeyObject, bytes: Buffer | string) =>
  createHmac(algorithm, key).update(bytes).digest()
const hex = (bytes: Buffer) => bytes.toString('hex')

const HMAC_SEALS: Way<Seal>[] = [
  { take: (bytes, key) => hmac('sha256', key.ready, bytes) },
  ...['sha1', 'md5', 'sha512', 'sha384'].map((name) =>
    wrong<Seal>('algorithm', (bytes, key) => hmac(name, key.ready, bytes), `HMAC-${name.toUpperCase()}`),
  ),
  wrong('not_hmac', (bytes, key) => digest('sha256', bytes, key.bytes)),
  wrong('not_hmac', (bytes, key) => digest('sha256', key.bytes, bytes)),
  wrong('not_hmac', (bytes, key) => digest('sha256', bytes, '&', key.bytes)),
  wrong('not_hmac', (bytes, key) => digest('sha256', bytes, '&key=', key.bytes)),
  wrong('not_hmac', (bytes, key) => digest('md5', bytes, key.bytes)),
  wrong('key_ampersand', (bytes, key) =>
    hmac('sha256', key.ready, Buffer.concat([bytes, Buffer.from('&'), key.bytes])),
  ),
  wrong('key_named', (bytes, key) =>
    hmac('sha256', key.ready, Buffer.concat([bytes, Buffer.from('&key='), key.bytes])),
  ),
  wrong('swapped', (bytes, key) => hmac('sha256', bytes, key.bytes)),
  wrong('hashed_twice', (bytes, key) => hmac('sha256', key.ready, hex(digest('sha256', bytes)))),
  wrong('hashed_twice', (bytes, key) => hmac('sha256', key.ready, digest('sha256', bytes))),
  wrong('hashed_twice', (bytes, key) => digest('sha256', hex(hmac('sha256', key.ready, bytes)))),
  wrong('hashed_twice', (bytes, key) => digest('sha256', hmac('sha256', key.ready, bytes))),
  wrong('hashed_twice', (bytes, key) => hmac('sha256', key.ready, hex(hmac('sha256', key.ready, bytes)))),
]

/** The valid Merchant KEY first, then its wrong forms and other wrong keys. */
export function md5Scheme({ tokens, merchant_keys, payment_id, pid }: OwnKeys): Scheme<Used> {
  const keys = merchant_keys.flatMap(({ value: key, ended_at }): Way<Used>[] => {
    const source = asIs('merchant_key', key)
    if (ended_at !== null) return [wrong('ended_key', used(key, source), dayOf(ended_at))]
    const made = changed('merchant_key', key)
    return [
      { take: used(key, source) },
      wrong('upper_case_key', used(key.toUpperCase(), made)),
      wrong('upper_case_key', used(key.toLowerCase(), made)),
      wrong('key_hashed_again', used(hex(digest('md5', key)), made)),
      wrong('key_whitespace', used(`${key}\n`, made)),
      wrong('key_whitespace', used(` ${key}`, made)),
      wrong('key_whitespace', used(`${key} `, made)),
    ]
  })
  keys.push(
    ...tokens.flatMap(({ value }) => {
      const secret = secretKeyOf(value)
      return [
        wrong('other_key', used(value, asIs('token', value)), 'token'),
        wrong('other_key', used(secret, asIs('secret_key', secret)), 'Secret Key'),
      ]
    }),
    wrong('other_key', used(payment_id, undefined), 'Payment ID'),
    wrong('other_key', used(String(pid), undefined), 'pid'),
    wrong('no_key', used('', undefined)),
  )
  return { keys, seals: MD5_SEALS }
}

const upper = (bytes: Buffer) => hex(bytes).toUpperCase()

const MD5_SEALS: Way<Seal>[] = [
  { take: (bytes, key) => digest('md5', bytes, key.bytes) },
  wrong('key_ampersand', (bytes, key) => digest('md5', bytes, '&', key.bytes)),
  wrong('key_named', (bytes, key) => digest('md5', bytes, '&key=', key.bytes)),
  wrong('key_named', (bytes, key) => digest('md5', bytes, 'key=', key.bytes)),
  wrong('key_in_front', (bytes, key) => digest('md5', key.bytes, bytes)),
  wrong('key_in_front', (bytes, key) => digest('md5', key.bytes, '&', bytes)),
  wrong('key_in_front', (bytes, key) => digest('md5', key.bytes, bytes, key.bytes)),
  wrong('hashed_twice', (bytes, key) => digest('md5', hex(digest('md5', bytes, key.bytes)))),
  wrong('hashed_twice', (bytes, key) => digest('md5', upper(digest('md5', bytes, key.bytes)))),
  wrong('hashed_twice', (bytes, key) => digest('md5', digest('md5', bytes, key.bytes))),
  wrong('hashed_twice', (bytes, key) => digest('md5', hex(digest('md5', bytes)), key.bytes)),
  wrong('signature_form', (bytes, key) => digest('md5', bytes, key.bytes).subarray(4, 12), '16'),
  ...['sha1', 'sha256', 'sha512'].map((name) =>
    wrong<Seal>('algorithm', (bytes, key) => digest(name, bytes, key.bytes), name.toUpperCase()),
  ),
  ...['md5', 'sha256', 'sha1'].map((name) =>
    wrong<Seal>('algorithm', (bytes, key) => hmac(name, key.ready, bytes), `HMAC-${name.toUpperCase()}`),
  ),
]

/** The prefix of a digest inside an RSA signature. RFC 8017, 9.2. */
const DIGEST_INFOS: [algorithm: string, prefix: string][] = [
  ['sha256', '3031300d060960864801650304020105000420'],
  ['sha1', '3021300906052b0e03021a05000414'],
  ['md5', '3020300c06082a864886f70d020505000410'],
  ['sha512', '3051300d060960864801650304020305000440'],
  ['sha384', '3041300d060960864801650304020205000430'],
]

/** The content of an RSA signature, opened with the matching public key. */
export type Opened = { key: OwnKey<KeyObject>; algorithm: string | undefined; content: Buffer }

/** Opens a signature with the matching public key of the application. Undefined if no key matches. */
export function openRsa({ public_keys }: OwnKeys, signature: Buffer): Opened | undefined {
  for (const key of public_keys) {
    let content: Buffer
    try {
      content = publicDecrypt({ key: key.value, padding: constants.RSA_PKCS1_PADDING }, signature)
    } catch {
      continue
    }
    const info = DIGEST_INFOS.find(([, prefix]) => hex(content).startsWith(prefix))
    if (info === undefined) return { key, algorithm: undefined, content }
    return { key, algorithm: info[0], content: content.subarray(info[1].length / 2) }
  }
  return undefined
}

/** Whether this is a PSS signature of these bytes, which clients confuse with PKCS#1 v1.5. */
export function isPss({ public_keys }: OwnKeys, bytes: Buffer, signature: Buffer): boolean {
  return public_keys.some(({ value: key }) =>
    verify('sha256', bytes, { key, padding: constants.RSA_PKCS1_PSS_PADDING }, signature),
  )
}

/** Compares digests, because only the merchant can sign. */
export function rsaScheme({ merchant_keys }: OwnKeys, { algorithm }: Opened): Scheme<undefined> {
  type RsaSeal = (bytes: Buffer) => Buffer
  const name = algorithm ?? 'sha256'
  const seals: Way<RsaSeal>[] = [
    { take: (bytes) => digest(name, bytes) },
    ...merchant_keys.flatMap(({ value: key }): Way<RsaSeal>[] => [
      wrong('key_appended', (bytes) => digest(name, bytes, key)),
      wrong('key_appended', (bytes) => digest(name, bytes, '&key=', key)),
    ]),
    wrong('hashed_twice', (bytes) => digest(name, hex(digest(name, bytes)))),
    wrong('hashed_twice', (bytes) => digest(name, digest(name, bytes))),
    wrong('hashed_twice', (bytes) => digest(name, hex(digest('md5', bytes)))),
    ...(algorithm === undefined
      ? [
          wrong<RsaSeal>('rsa_raw', (bytes) => bytes),
          wrong<RsaSeal>('rsa_raw', (bytes) => Buffer.from(hex(digest('sha256', bytes)))),
          wrong<RsaSeal>('rsa_raw', (bytes) => Buffer.from(hex(digest('md5', bytes)))),
        ]
      : []),
  ]
  return { keys: [{ take: undefined }], seals }
}

/** The day of a moment, in UTC. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, DAY_LENGTH)
}
