// This room: writes a call of the API as a program, in six languages.
// Verbs: programsOf, callOf, signedExample.
/** The request of a sample: what a program sets, signs and sends. A generator per language writes it out. */
import { createPrivateKey } from 'node:crypto'
import { canonicalString } from '../../payment/signing/canonical.ts'
import { gatewayString, signMd5, signRsa } from '../../payment/signing/gateway.ts'
import { secretKeyOf, sign } from '../../payment/signing/hmac.ts'
import type { Operation } from '../operations/operation.ts'
import { NOW, type Samples } from '../operations/samples.ts'

/** A variable of the program, by its name in the shell. */
export type Name =
  | 'BASE'
  | 'PAYMENT_ID'
  | 'SECRET_KEY'
  | 'PID'
  | 'KEY'
  | 'PRIVATE_KEY'
  | 'CLIENT_ID'
  | 'CLIENT_SECRET'
  | 'ACCESS_TOKEN'
  | 'TIMESTAMP'
  | 'SIGNATURE'
  | 'SIGN'
type Variable = { name: Name }
/** A text with variables in it. */
export type Value = readonly (string | Variable)[]

/** How a request authenticates its sender. `key` sends the Merchant KEY itself. */
export type Proof = 'hmac' | 'key' | 'md5' | 'rsa' | 'client' | 'bearer' | 'none'

export type Call = {
  proof: Proof
  method: 'get' | 'post'
  /** Where the parameters are sent, if there are any. */
  sentIn: 'query' | 'form' | 'json' | undefined
  /** The constants of the program, in their order. */
  set: readonly (readonly [Name, string])[]
  /** What the program reads from the environment: a private key, which is too long for each program. */
  environment: readonly (readonly [Name, string])[]
  /** Whether TIMESTAMP is used: the second at which the program runs. */
  isTimed: boolean
  /** The address without its query. */
  address: Value
  /** The parameters before they are signed. */
  fields: readonly (readonly [string, Value])[]
  /** The JSON body, in place of the parameters. */
  json: object | undefined
  /** Whether a browser opens the address. */
  isPage: boolean
}

/**
 * Makes the request of an operation's sample.
 * @param base the address of the operation's area.
 */
export function callOf(operation: Operation, samples: Samples, base: string): Call {
  const { area, method, request, answers } = operation
  const proof = proofOf(operation)
  const json = request?.in === 'json' ? request.example(samples) : undefined
  const example = json === undefined ? ((request?.example(samples) ?? {}) as Record<string, string>) : {}
  const known: [string, Value][] = area === 'v1' || area === 'v2' ? [['pid', [{ name: 'PID' }]]] : []
  if (proof === 'key') known.push(['key', [{ name: 'KEY' }]])
  const fields = [
    ...known,
    ...Object.entries(example).map(([name, text]) => [name, withVariable(text, NOW, 'TIMESTAMP')] as const),
  ]
  if (proof === 'hmac' || proof === 'rsa') fields.push(['timestamp', [{ name: 'TIMESTAMP' }]])
  return {
    proof,
    method,
    sentIn: json !== undefined || fields.length > 0 ? request?.in : undefined,
    set: [['BASE', base], ...constantsOf(proof, credentialsOf(area, samples))],
    environment: proof === 'rsa' ? [['PRIVATE_KEY', samples.merchant_private_key]] : [],
    isTimed: fields.some(([, value]) => value.some((part) => isVariable(part, 'TIMESTAMP'))),
    address: [{ name: 'BASE' }, ...withVariable(pathOf(operation, samples), '{payment_id}', 'PAYMENT_ID')],
    fields,
    json,
    isPage: Object.values(answers)[0]!.schema === undefined,
  }
}

/** Joins the parts of a program, with an empty line between them. */
export function inParts(...parts: readonly string[][]): string {
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** Appends to a text. */
export function appended(value: Value, end: string): Value {
  const last = value.at(-1)
  return typeof last === 'string' ? [...value.slice(0, -1), last + end] : [...value, end]
}

/** The path with the example's parameters, except the Payment ID. */
function pathOf({ path, inPath }: Operation, samples: Samples): string {
  return Object.entries(inPath?.(samples) ?? {}).reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, value),
    path,
  )
}

/** The samples with the client and the token of an area. */
function credentialsOf(area: Operation['area'], samples: Samples): Samples {
  const { client_id, client_secret, token } = samples.access
  return area === 'rest' ? { ...samples, client_id, client_secret, access_token: token } : samples
}

function proofOf({ area, path, security }: Operation): Proof {
  if (security === 'accessKey') return 'bearer'
  if (area === 'identity' || area === 'rest') return security ?? 'none'
  if (area === 'payment') return 'hmac'
  if (area === 'v2') return 'rsa'
  return path.includes('/api.php') ? 'key' : 'md5'
}

function constantsOf(proof: Proof, samples: Samples): [Name, string][] {
  const { payment_id, token, pid, merchant_key } = samples
  switch (proof) {
    case 'hmac':
      return [
        ['PAYMENT_ID', payment_id],
        ['SECRET_KEY', secretKeyOf(token)],
      ]
    case 'key':
    case 'md5':
      return [
        ['PID', pid],
        ['KEY', merchant_key],
      ]
    case 'rsa':
      return [['PID', pid]]
    case 'client':
      return [
        ['CLIENT_ID', samples.client_id],
        ['CLIENT_SECRET', samples.client_secret],
      ]
    case 'bearer':
      return [['ACCESS_TOKEN', samples.access_token]]
    case 'none':
      return []
  }
}

/** Reads a placeholder in a text as a variable. */
function withVariable(text: string, placeholder: string, name: Name): Value {
  return text
    .split(placeholder)
    .flatMap((part, i) => (i === 0 ? [part] : [{ name }, part]))
    .filter((part) => part !== '')
}

function isVariable(part: string | Variable, name: Name): boolean {
  return typeof part !== 'string' && part.name === name
}

/** Returns the parameters of an operation's example as sent at `now`, signed with the sample keys. */
export async function signedExample(
  operation: Operation,
  samples: Samples,
  now: Date,
): Promise<Record<string, unknown>> {
  const { proof, set, environment, fields: unsigned, json } = callOf(operation, samples, '')
  if (json !== undefined) return json as Record<string, unknown>
  const values: Partial<Record<Name, string>> = Object.fromEntries([...set, ...environment])
  values.TIMESTAMP = String(Math.floor(now.getTime() / 1000))
  const resolve = (value: Value) =>
    value.map((part) => (typeof part === 'string' ? part : values[part.name])).join('')
  const fields = Object.fromEntries(unsigned.map(([name, value]) => [name, resolve(value)]))
  switch (proof) {
    case 'hmac':
      return { ...fields, signature: sign(values.SECRET_KEY!, canonicalString(fields)) }
    case 'md5':
      return { ...fields, sign: signMd5(gatewayString(fields), values.KEY!), sign_type: 'MD5' }
    case 'rsa': {
      const der = Buffer.from(values.PRIVATE_KEY!, 'base64')
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      return { ...fields, sign: await signRsa(gatewayString(fields), key), sign_type: 'RSA' }
    }
    default:
      return fields
  }
}
