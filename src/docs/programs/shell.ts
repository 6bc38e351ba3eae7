/** Writes samples for a shell with curl and openssl. */
import { type Call, inParts, type Proof, type Value } from './call.ts'

/** Writes a request as a script. */
export function inShell({ proof, set, isTimed, fields, ...request }: Call): string {
  const { steps, proven } = SIGNING[proof] ?? { steps: [], proven: [] }
  const signing = steps.length === 0 ? [] : [`TEXT=${doubleQuoted(textToSign(fields))}`, ...steps]
  return inParts(
    [
      ...set.map(([name, value]) => `${name}=${word([value])}`),
      ...(isTimed ? ['TIMESTAMP=$(date +%s)'] : []),
      ...signing,
    ],
    [curl({ ...request, proof, fields: [...fields, ...proven] })],
  )
}

type Signing = { steps: string[]; proven: [string, Value][] }

const SIGNING: Partial<Record<Proof, Signing>> = {
  hmac: {
    steps: [`SIGNATURE=$(printf %s "$TEXT" | openssl dgst -sha256 -hmac "$SECRET_KEY" -r | cut -d ' ' -f 1)`],
    proven: [['signature', [{ name: 'SIGNATURE' }]]],
  },
  md5: {
    steps: [`SIGN=$(printf %s "$TEXT$KEY" | openssl dgst -md5 -r | cut -d ' ' -f 1)`],
    proven: [
      ['sign', [{ name: 'SIGN' }]],
      ['sign_type', ['MD5']],
    ],
  },
  rsa: {
    steps: [
      'KEY_FILE=$(mktemp)',
      'printf %s "$PRIVATE_KEY" | openssl base64 -d -A > "$KEY_FILE"',
      'SIGN=$(printf %s "$TEXT" | openssl dgst -sha256 -keyform DER -sign "$KEY_FILE" | openssl base64 -A)',
      'rm "$KEY_FILE"',
    ],
    proven: [
      ['sign', [{ name: 'SIGN' }]],
      ['sign_type', ['RSA']],
    ],
  },
}

/** Writes the commands that set what the programs of a request read from the environment. */
export function settingEnvironment({ environment }: Call): string {
  return environment.map(([name, value]) => `export ${name}=${word([value])}`).join('\n')
}

function curl({
  proof,
  method,
  sentIn,
  address,
  fields,
  json,
  isPage,
}: Omit<Call, 'set' | 'environment' | 'isTimed'>): string {
  const parts = ['curl -sS']
  // The status and the redirect show the outcome of an operation without a body.
  if (isPage) parts.push(`-o /dev/null -w '%{http_code} %{redirect_url}\\n'`)
  if (proof === 'client') parts.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
  if (proof === 'bearer') parts.push('-H "Authorization: Bearer $ACCESS_TOKEN"')
  if (sentIn === 'query') parts.push('-G')
  if (method === 'post' && sentIn === undefined) parts.push('-X POST')
  parts.push(doubleQuoted(address))
  const body =
    json === undefined
      ? fields.map(([name, value]) => `--data-urlencode ${word([`${name}=`, ...value])}`)
      : [`-H 'Content-Type: application/json'`, `-d ${word([JSON.stringify(json)])}`]
  return [parts.join(' '), ...body].join(' \\\n  ')
}

/** The text to sign. Programs of other languages sort the names when they run. */
function textToSign(fields: Call['fields']): Value {
  return fields
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value], i) => [`${i === 0 ? '' : '&'}${name}=`, ...value])
}

function doubleQuoted(value: Value): string {
  const inside = value.map((part) =>
    typeof part === 'string' ? part.replaceAll(/[\\"$`]/g, '\\$&') : `$${part.name}`,
  )
  return `"${inside.join('')}"`
}

/** Quotes a word where the shell needs it. */
function word(value: Value): string {
  if (value.some((part) => typeof part !== 'string')) return doubleQuoted(value)
  const text = value.join('')
  return /^[\w.,:@%+=/|-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
