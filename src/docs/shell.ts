/** Builds signed examples of an operation: a shell script that signs when it runs, and the signed values. */
import { createPrivateKey } from 'node:crypto'
import { canonicalString } from '../payment/signing/canonical.ts'
import { gatewayString, signMd5, signRsa } from '../payment/signing/gateway.ts'
import { secretKeyOf, sign, stringToSign } from '../payment/signing/hmac.ts'
import type { Operation } from './operation.ts'
import { NOW, type Samples } from './samples.ts'

type Fields = Record<string, string>
/** How a request authenticates its sender. */
type Proof = 'hmac' | 'key' | 'md5' | 'rsa' | 'none'

function proofOf({ area, path }: Operation): Proof {
  if (area === 'identity') return 'none'
  if (area === 'payment') return 'hmac'
  if (area === 'v2') return 'rsa'
  return path.includes('/api.php') ? 'key' : 'md5'
}

/** The fields of the example before it is signed. `known` gives the pid and key that the example omits. */
function unsignedFields(operation: Operation, samples: Samples, known: { pid: string; key: string }): Fields {
  const fields = (operation.request?.example(samples) ?? {}) as Fields
  switch (proofOf(operation)) {
    case 'hmac':
      return { ...fields, timestamp: NOW }
    case 'key':
      return { pid: known.pid, key: known.key, ...fields }
    case 'md5':
      return { pid: known.pid, ...fields }
    case 'rsa':
      return { pid: known.pid, ...fields, timestamp: NOW }
    case 'none':
      return fields
  }
}

/** The fields of the example as sent at `now`, signed with the sample keys. */
export async function signedExample(
  operation: Operation,
  samples: Samples,
  now: Date,
): Promise<Record<string, unknown>> {
  if (operation.request?.in === 'json') return operation.request.example(samples)
  const seconds = String(Math.floor(now.getTime() / 1000))
  const known = { pid: samples.pid, key: samples.merchant_key }
  const fields = Object.fromEntries(
    Object.entries(unsignedFields(operation, samples, known)).map(([name, value]) => [
      name,
      value.replace(NOW, seconds),
    ]),
  )
  switch (proofOf(operation)) {
    case 'hmac':
      return { ...fields, signature: sign(secretKeyOf(samples.token), stringToSign(fields)) }
    case 'md5':
      return { ...fields, sign: signMd5(gatewayString(fields), samples.merchant_key), sign_type: 'MD5' }
    case 'rsa': {
      const der = Buffer.from(samples.merchant_private_key, 'base64')
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      return { ...fields, sign: await signRsa(gatewayString(fields), key), sign_type: 'RSA' }
    }
    default:
      return fields
  }
}

/**
 * The example as a script for a shell with curl and openssl.
 * @param base the address of the operation's area.
 */
export function shellOf(operation: Operation, samples: Samples, base: string): string {
  const fields = unsignedFields(operation, samples, { pid: '$PID', key: '$KEY' })
  const set: Fields = { BASE: base }
  const steps: string[] = []
  const proven: Fields = { ...fields }
  switch (proofOf(operation)) {
    case 'hmac':
      Object.assign(set, { PAYMENT_ID: samples.payment_id, SECRET_KEY: secretKeyOf(samples.token) })
      steps.push(
        text(canonicalString(fields)),
        `SIGNATURE=$(printf %s "$TEXT" | openssl dgst -sha256 -hmac "$SECRET_KEY" -r | cut -d ' ' -f 1)`,
      )
      proven.signature = '$SIGNATURE'
      break
    case 'key':
      Object.assign(set, { PID: samples.pid, KEY: samples.merchant_key })
      break
    case 'md5':
      Object.assign(set, { PID: samples.pid, KEY: samples.merchant_key })
      steps.push(
        text(gatewayString(fields)),
        `SIGN=$(printf %s "$TEXT$KEY" | openssl dgst -md5 -r | cut -d ' ' -f 1)`,
      )
      Object.assign(proven, { sign: '$SIGN', sign_type: 'MD5' })
      break
    case 'rsa':
      Object.assign(set, { PID: samples.pid, PRIVATE_KEY: samples.merchant_private_key })
      steps.push(
        text(gatewayString(fields)),
        'KEY_FILE=$(mktemp)',
        'printf %s "$PRIVATE_KEY" | openssl base64 -d -A > "$KEY_FILE"',
        'SIGN=$(printf %s "$TEXT" | openssl dgst -sha256 -keyform DER -sign "$KEY_FILE" | openssl base64 -A)',
        'rm "$KEY_FILE"',
      )
      Object.assign(proven, { sign: '$SIGN', sign_type: 'RSA' })
      break
    case 'none':
      if (operation.security === 'client')
        Object.assign(set, { CLIENT_ID: samples.client_id, CLIENT_SECRET: samples.client_secret })
      if (operation.security === 'bearer') set.ACCESS_TOKEN = samples.access_token
  }
  const begin = Object.entries(set).map(([name, value]) => `${name}=${quoted(value)}`)
  if (Object.values(fields).some((value) => value.includes(NOW))) begin.push('TIMESTAMP=$(date +%s)')
  return [...begin, ...steps, '', curl(operation, proven, samples)].join('\n')
}

const text = (toSign: string) => `TEXT="${toSign}"`

function curl(
  { method, path, request, security, answers }: Operation,
  fields: Fields,
  samples: Samples,
): string {
  const isPage = Object.values(answers)[0]!.schema === undefined
  const parts = ['curl -sS']
  // The status and the redirect show the outcome of an operation without a body.
  if (isPage) parts.push(`-o /dev/null -w '%{http_code} %{redirect_url}\\n'`)
  if (security === 'client') parts.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
  if (security === 'bearer') parts.push('-H "Authorization: Bearer $ACCESS_TOKEN"')
  if (method === 'get' && Object.keys(fields).length > 0) parts.push('-G')
  parts.push(`"$BASE${path.replace('{payment_id}', '$PAYMENT_ID')}"`)
  const lines = [parts.join(' ')]
  if (request?.in === 'json') {
    lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(request.example(samples))}'`)
  } else {
    for (const [name, value] of Object.entries(fields))
      lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`)
  }
  return lines.join(' \\\n  ')
}

/** Quotes a word for the shell, which still expands a variable in it. */
function quoted(word: string): string {
  if (word.includes('$')) return `"${word}"`
  return /^[\w.,:@%+=/|-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
