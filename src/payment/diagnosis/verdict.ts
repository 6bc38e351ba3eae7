/**
 * Judges the signature of a request and its other problems, for the team of the application that it names. Pure.
 */
import { createHash, type KeyObject } from 'node:crypto'
import { canonicalString } from '../signing/canonical.ts'
import { signMd5, verifyMd5, verifyRsa } from '../signing/gateway.ts'
import { secretKeyOf, sign, tokenKeys, verifySignature } from '../signing/hmac.ts'
import { KEPT_KEY, keyFingerprint } from '../signing/keys.ts'
import { fingerprintOf } from '../signing/public-key.ts'
import type { Field } from '../signing/refused-requests.ts'
import type { Mistake } from './mistakes.ts'
import { notesOn } from './notes.ts'
import type { Door, Receiver, Request } from './request.ts'
import {
  dayOf,
  gatewayRules,
  hmacRules,
  hmacScheme,
  isPss,
  md5Scheme,
  type Opened,
  type OtherKey,
  type OwnKeys,
  openRsa,
  rsaScheme,
  type Source,
} from './schemes.ts'
import { type Explanation, explain } from './search.ts'
import { type Rules, rightFields } from './spelling.ts'

/** Shorter secrets would match parts of many values. */
const SECRET_LENGTH_MIN = 6

const SECRET_NAME = /token|secret|passw|pwd|credential|_key$/i

/** Shorter than every RSA signature, longer than every hash. */
const RSA_TEXT_LENGTH_MIN = 150

/** A key by its fingerprint, which does not reveal the key. `isChanged` if the client used it in another form. */
export type KeyFacts = { kind: Source['kind'] | 'public_key'; fingerprint: string; isChanged?: true }

export type Verdict = {
  door: Door
  isRight: boolean
  /** Why the signature is wrong; `unexplained` if no usual mistake explains it. */
  mistakes: Mistake[]
  /** Other reasons for a refusal, and hints. */
  notes: Mistake[]
  /** The service's own result. Only the merchant can make a V2 signature, so V2 has the digest instead. */
  expected: { text: string; signature?: string; digest?: string; key?: KeyFacts }
  received: { signature: string; text?: string; digest?: string; key?: KeyFacts }
}

/** Judges a request with the keys of the application. */
export function judge(asked: Request, receiver: Receiver): Verdict {
  // JSON may hold half a character, and a kept value may be cut within one. UTF-8 cannot write a half.
  const fields = asked.fields.map(([name, value]): Field => [name.toWellFormed(), value.toWellFormed()])
  const request = { ...asked, fields }
  const parameters = Object.assign(Object.create(null), Object.fromEntries(fields)) as Record<string, string>
  const door = doorOf(request, parameters)
  const verdict = JUDGES[door](fields, parameters, receiver.keys)
  const { expected, received } = verdict
  expected.text = withoutKeys(expected.text, request, receiver.keys)
  if (received.text !== undefined) received.text = withoutKeys(received.text, request, receiver.keys)
  const notes = [...verdict.notes, ...notesOn(request, parameters, door, receiver)]
  // The door checks the signature with the keys of the application that the request names.
  const other = notes.find(({ code }) => code === 'other_application')
  if (!verdict.isRight || other === undefined) return { ...verdict, notes }
  return { ...verdict, isRight: false, mistakes: [other], notes: notes.filter((note) => note !== other) }
}

function doorOf({ door, payment_id }: Request, parameters: Record<string, string>): Door {
  const isHmac = door === 'hmac' || (door === undefined && payment_id !== undefined)
  if (isHmac || (door === undefined && parameters.signature !== undefined)) return 'hmac'
  const isGateway =
    door === 'gateway' || ['sign', 'pid', 'out_trade_no', 'notify_url'].some((name) => name in parameters)
  if (!isGateway) return 'hmac'
  return parameters.sign_type === 'RSA' ? 'v2' : 'v1'
}

type Judge = (fields: readonly Field[], parameters: Record<string, string>, keys: OwnKeys) => Verdict
const JUDGES: Record<Door, Judge> = { hmac: judgeHmac, v1: judgeV1, v2: judgeV2 }

function judgeHmac(fields: readonly Field[], parameters: Record<string, string>, keys: OwnKeys): Verdict {
  const rules = hmacRules(keys, fields)
  const live = keys.tokens.filter(({ ended_at }) => ended_at === null)
  const current = live[0] && secretKeyOf(live[0].value)
  const text = stringOf(fields, rules)
  const factsOf = (key: string): KeyFacts => ({ kind: 'secret_key', fingerprint: keyFingerprint(key) })
  const signature = parameters.signature ?? ''
  const base: Verdict = {
    door: 'hmac',
    isRight: false,
    mistakes: [],
    notes: [],
    expected: {
      text,
      ...(current && { signature: sign(current, text), key: factsOf(current) }),
    },
    received: { signature },
  }
  const outcome = verifySignature(
    parameters,
    live.map(({ value }) => tokenKeys(value)),
  )
  if (outcome.isValid) {
    const key = secretKeyOf(live[outcome.key]!.value)
    const isTwice = ![text, withoutEmpty(fields, rules)].some(
      (each) => sign(key, each) === signature.toLowerCase(),
    )
    const notes = [...upperCase(signature), ...(isTwice ? [{ code: 'key_hashed_twice' } as const] : [])]
    return { ...base, isRight: true, notes, received: { signature, text, key: factsOf(key) } }
  }
  const read = readHash(signature)
  if (read === undefined)
    return { ...base, mistakes: [{ code: 'no_signature', what: signatureLike(parameters) }] }
  const foreign = foreignOf(
    keys,
    'token',
    (token) =>
      verifySignature(parameters, [tokenKeys(token)]).isValid ||
      sign(token, text) === signature.toLowerCase(),
  )
  if (foreign !== undefined) return { ...base, mistakes: [foreign] }
  const found = explain(fields, rules, hmacScheme(keys), read.bytes)
  return explained(base, read.mistakes, found, factsOfUsed(found?.key.source))
}

function judgeV1(fields: readonly Field[], parameters: Record<string, string>, keys: OwnKeys): Verdict {
  const rules = gatewayRules(keys, 'MD5')
  const text = stringOf(fields, rules)
  const live = keys.merchant_keys.find(({ ended_at }) => ended_at === null)?.value ?? ''
  const factsOf = (key: string): KeyFacts => ({ kind: 'merchant_key', fingerprint: keyFingerprint(key) })
  const signature = parameters.sign ?? ''
  const base: Verdict = {
    door: 'v1',
    isRight: false,
    mistakes: [],
    notes: [],
    expected: {
      text,
      ...(live !== '' && { signature: signMd5(text, live), key: factsOf(live) }),
    },
    received: { signature },
  }
  const byKey = parameters.sign_type !== 'RSA' && parameters.act !== undefined ? (parameters.key ?? '') : ''
  if (byKey.trim() !== '') {
    const mistakes = judgeKey(byKey, keys)
    return { ...base, isRight: mistakes.length === 0, mistakes }
  }
  if (verifyMd5(parameters, live) !== undefined) {
    return {
      ...base,
      isRight: true,
      notes: upperCase(signature),
      received: { signature, text, key: factsOf(live) },
    }
  }
  if (signature.length >= RSA_TEXT_LENGTH_MIN) {
    // The gateway reads an RSA signature without sign_type as MD5.
    const asV2 = judgeV2(fields, { ...parameters, sign_type: 'RSA' }, keys)
    const rest = asV2.mistakes.filter(({ code }) => code !== 'unexplained' && code !== 'wrong_public_key')
    const mistakes: Mistake[] = [{ code: 'sign_type', what: parameters.sign_type ?? '' }, ...rest]
    return { ...asV2, isRight: false, mistakes }
  }
  const read = readHash(signature)
  if (read === undefined)
    return { ...base, mistakes: [{ code: 'no_signature', what: signatureLike(parameters) }] }
  const foreign = foreignOf(keys, 'merchant_key', (key) => verifyMd5(parameters, key) !== undefined)
  if (foreign !== undefined) return { ...base, mistakes: [foreign] }
  const found = explain(fields, rules, md5Scheme(keys), read.bytes)
  return explained(base, read.mistakes, found, factsOfUsed(found?.key.source))
}

/** Judges the plain KEY that api.php accepts instead of a signature. A kept request has only its fingerprint. */
function judgeKey(sent: string, keys: OwnKeys): Mistake[] {
  const { merchant_keys, tokens } = keys
  const fingerprint = sent.startsWith(KEPT_KEY) ? sent.slice(KEPT_KEY.length) : keyFingerprint(sent)
  const is = (value: string) => keyFingerprint(value) === fingerprint
  for (const { value, ended_at } of merchant_keys) {
    if (is(value)) return ended_at === null ? [] : [{ code: 'ended_key', what: dayOf(ended_at) }]
    if ([value.toLowerCase(), value.toUpperCase()].some(is)) return [{ code: 'upper_case_key' }]
    if ([`${value} `, ` ${value}`, `${value}\n`].some(is)) return [{ code: 'key_whitespace' }]
  }
  if (tokens.some(({ value }) => is(value))) return [{ code: 'other_key', what: 'token' }]
  if (tokens.some(({ value }) => is(secretKeyOf(value)))) return [{ code: 'other_key', what: 'Secret Key' }]
  return [foreignOf(keys, 'merchant_key', is) ?? { code: 'wrong_key' }]
}

/** The mistake of a key of another application of the reader. The answer names no application of somebody else. */
function foreignOf<Kind extends OtherKey['kind']>(
  { others }: OwnKeys,
  kind: Kind,
  fits: (key: Extract<OtherKey, { kind: Kind }>['value']) => boolean,
): Mistake | undefined {
  const found = others.find((other) => other.kind === kind && fits(other.value as never))
  return found && { code: 'foreign_key', what: found.payment_id }
}

function judgeV2(fields: readonly Field[], parameters: Record<string, string>, keys: OwnKeys): Verdict {
  const rules = gatewayRules(keys, 'RSA')
  const text = stringOf(fields, rules)
  const signature = parameters.sign ?? ''
  const live = keys.public_keys.find(({ ended_at }) => ended_at === null)?.value
  const base: Verdict = {
    door: 'v2',
    isRight: false,
    mistakes: [],
    notes: [],
    expected: { text, digest: sha256(text), ...(live && { key: publicFacts(live) }) },
    received: { signature },
  }
  if (live !== undefined && verifyRsa(parameters, live) !== undefined) {
    const received = { signature, text, digest: sha256(text), key: publicFacts(live) }
    return { ...base, isRight: true, received }
  }
  if (verifyRsa(parameters, keys.platform_key) !== undefined) {
    const received = { signature, text, digest: sha256(text), key: publicFacts(keys.platform_key) }
    return { ...base, isRight: true, notes: [{ code: 'signed_by_us' }], received }
  }
  // A library that cannot read the private key sends an empty signature.
  if (signature.trim() === '') {
    const mistake: Mistake =
      parameters.sign === undefined
        ? { code: 'no_signature', what: signatureLike(parameters) }
        : { code: 'rsa_key_unreadable' }
    return { ...base, mistakes: [mistake] }
  }
  if (/^[0-9a-f]{32}$/i.test(signature)) {
    const asV1 = judgeV1(fields, { ...parameters, sign_type: 'MD5' }, keys)
    const rest = asV1.mistakes.filter(({ code }) => code !== 'unexplained')
    return { ...asV1, isRight: false, mistakes: [{ code: 'sign_type', what: 'RSA' }, ...rest] }
  }
  const foreign = foreignOf(keys, 'merchant_public_key', (key) => verifyRsa(parameters, key) !== undefined)
  if (foreign !== undefined) return { ...base, mistakes: [foreign] }
  const read = readBase64(signature)
  if (read === undefined) return { ...base, mistakes: [{ code: 'signature_form', what: '' }] }
  const opened = openRsa(keys, read.bytes)
  if (opened === undefined) {
    const isByPss = isPss(keys, Buffer.from(text), read.bytes)
    const mistake: Mistake = isByPss
      ? { code: 'rsa_pss' }
      : { code: 'wrong_public_key', what: String(read.bytes.length * 8) }
    return { ...base, mistakes: [...read.mistakes, mistake] }
  }
  return judgeOpened(base, opened, read.mistakes, { fields, rules, keys })
}

function judgeOpened(
  base: Verdict,
  opened: Opened,
  already: Mistake[],
  { fields, rules, keys }: { fields: readonly Field[]; rules: Rules; keys: OwnKeys },
): Verdict {
  const { key, algorithm, content } = opened
  const before = [...already]
  if (key.ended_at !== null) before.push({ code: 'ended_key', what: dayOf(key.ended_at) })
  if (algorithm !== undefined && algorithm !== 'sha256')
    before.push({ code: 'algorithm', what: `RSA-${algorithm.toUpperCase()}` })
  const received = { ...base.received, digest: content.toString('hex').slice(0, 128) }
  const found = explain(fields, rules, rsaScheme(keys, opened), content)
  return explained({ ...base, received }, before, found, publicFacts(key.value))
}

function explained(
  base: Verdict,
  already: Mistake[],
  found: Explanation<unknown> | undefined,
  key: KeyFacts | undefined,
): Verdict {
  const made = found?.mistakes ?? [{ code: 'unexplained' } as const]
  return {
    ...base,
    mistakes: [...already, ...made],
    received: { ...base.received, ...(found && { text: found.text }), ...(key && { key }) },
  }
}

/** The key that a client used. Undefined if it used something that is no key. */
function factsOfUsed(source: Source | undefined): KeyFacts | undefined {
  if (source === undefined) return undefined
  const { kind, value, isChanged } = source
  return { kind, fingerprint: keyFingerprint(value), ...(isChanged && { isChanged }) }
}

const publicFacts = (key: KeyObject): KeyFacts => ({
  kind: 'public_key',
  fingerprint: fingerprintOf(key.export({ type: 'spki', format: 'der' }).toString('base64')),
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function stringOf(fields: readonly Field[], rules: Rules): string {
  return canonicalString(Object.fromEntries(rightFields(fields, rules)))
}

function withoutEmpty(fields: readonly Field[], rules: Rules): string {
  return stringOf(fields, { ...rules, keepsEmpty: false })
}

function upperCase(signature: string): Mistake[] {
  return /[A-F]/.test(signature) ? [{ code: 'upper_case_hash' }] : []
}

/** The name of a parameter that looks like the missing signature, or an empty text. */
function signatureLike(parameters: Record<string, string>): string {
  return (
    ['sign', 'signature', 'Signature', 'sig'].find((name) => (parameters[name] ?? '').trim() !== '') ?? ''
  )
}

/**
 * Masks every known key in a text of a request. In a refused request it also masks parameters with the name
 * of a secret. A wrong pid may have sent another application's secret here.
 */
export function withoutKeys(
  text: string,
  { fields, door }: Request,
  { tokens, merchant_keys, others }: OwnKeys,
): string {
  const called = door === undefined ? [] : fields.filter(([name]) => SECRET_NAME.test(name))
  const secrets = [
    ...tokens.flatMap(({ value }) => [value, secretKeyOf(value)]),
    ...merchant_keys.map(({ value }) => value),
    ...others.flatMap((other) => {
      if (other.kind === 'token') return [other.value, secretKeyOf(other.value)]
      return other.kind === 'merchant_key' ? [other.value] : []
    }),
    ...called.map(([, value]) => value).filter((value) => value.length >= SECRET_LENGTH_MIN),
  ]
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, '•••'), text)
}

type Read = { bytes: Buffer; mistakes: Mistake[] }

/** Reads a hash in hex or in a wrong encoding. Undefined for an empty text. */
function readHash(text: string): Read | undefined {
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
function readBase64(text: string): Read | undefined {
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
