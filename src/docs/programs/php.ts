/** Writes samples for PHP 8 without packages. */
import { appended, type Call, inParts, type Proof, type Value } from './call.ts'

/** Writes a request as a program. */
export function inPhp(call: Call): string {
  const { proof, set, environment, isTimed, fields, json } = call
  const array = fields.map(([name, value]) => `    '${name}' => ${text(value)},`)
  return inParts(
    [
      '<?php',
      ...set.map(([name, value]) => `${variable(name)} = ${text([value])};`),
      ...environment.map(([name]) => `${variable(name)} = getenv('${name}');`),
      ...(isTimed ? ['$timestamp = (string) time();'] : []),
    ],
    [
      ...(fields.length === 0 ? [] : ['$fields = [', ...array, '];']),
      ...(json === undefined ? [] : [`$fields = ${phpArray(json, '')};`]),
      ...(SIGNING[proof] ?? []),
    ],
    sending(call),
  )
}

const textToSign = (kept: string) => [
  'ksort($fields, SORT_STRING);',
  `$pairs = array_map(fn ($name) => "$name={$fields[$name]}", array_keys(${kept}));`,
]
const NOT_EMPTY = `array_filter($fields, fn ($value) => $value !== '')`

const SIGNING: Partial<Record<Proof, string[]>> = {
  hmac: [
    ...textToSign('$fields'),
    `$fields['signature'] = hash_hmac('sha256', implode('&', $pairs), $secret_key);`,
  ],
  md5: [
    ...textToSign(NOT_EMPTY),
    `$fields['sign'] = md5(implode('&', $pairs) . $key);`,
    `$fields['sign_type'] = 'MD5';`,
  ],
  rsa: [
    ...textToSign(NOT_EMPTY),
    '$pem = "-----BEGIN PRIVATE KEY-----\\n" . chunk_split($private_key, 64, "\\n") . "-----END PRIVATE KEY-----";',
    `openssl_sign(implode('&', $pairs), $sign, $pem, OPENSSL_ALGO_SHA256);`,
    `$fields['sign'] = base64_encode($sign);`,
    `$fields['sign_type'] = 'RSA';`,
  ],
}

const MEDIA = { form: 'application/x-www-form-urlencoded', json: 'application/json' }
const BODY = { form: 'http_build_query($fields)', json: 'json_encode($fields)' }

function sending({ proof, method, sentIn, address, isPage }: Call): string[] {
  const url =
    sentIn === 'query' ? `${text(appended(address, '?'))} . http_build_query($fields)` : text(address)
  if (isPage) return ['// A browser opens this address.', `echo ${url}, "\\n";`]
  const headers: string[] = []
  if (proof === 'client') headers.push(`'Authorization: Basic ' . base64_encode("$client_id:$client_secret")`)
  if (proof === 'bearer') headers.push(`"Authorization: Bearer $access_token"`)
  if (sentIn === 'form' || sentIn === 'json') headers.push(`'Content-Type: ${MEDIA[sentIn]}'`)
  const options = [`    'ignore_errors' => true,`]
  if (method === 'post') options.push(`    'method' => 'POST',`)
  if (headers.length > 0)
    options.push(`    'header' => [`, ...headers.map((header) => `        ${header},`), '    ],')
  if (sentIn === 'form' || sentIn === 'json') options.push(`    'content' => ${BODY[sentIn]},`)
  return [
    `$context = stream_context_create(['http' => [`,
    ...options,
    ']]);',
    `echo file_get_contents(${url}, false, $context);`,
  ]
}

const variable = (name: string) => `$${name.toLowerCase()}`

function text(value: Value): string {
  const parts = value.map((part) => (typeof part === 'string' ? quoted(part) : variable(part.name)))
  return parts.join(' . ')
}

const quoted = (words: string) => `'${words.replaceAll(/[\\']/g, '\\$&')}'`

function phpArray(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return quoted(String(value))
  const inner = `${indent}    `
  const lines = Array.isArray(value)
    ? value.map((item) => phpArray(item, inner))
    : Object.entries(value).map(([name, item]) => `${quoted(name)} => ${phpArray(item, inner)}`)
  return lines.length === 0 ? '[]' : `[\n${lines.map((line) => `${inner}${line},\n`).join('')}${indent}]`
}
