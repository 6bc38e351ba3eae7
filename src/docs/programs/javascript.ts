/** Writes samples for Node.js, which need no package. */
import { type Call, inParts, type Proof, type Value } from './call.ts'

/** Writes a request as a module. */
export function inJavaScript(call: Call): string {
  const { proof, set, environment, isTimed, fields, json } = call
  const { imports, steps } = SIGNING[proof] ?? {}
  const object = fields.map(([name, value]) => `  ${name}: ${text(value)},`)
  return inParts(
    imports === undefined ? [] : [`import { ${imports} } from 'node:crypto'`],
    [
      ...set.map(([name, value]) => `const ${name} = ${text([value])}`),
      ...environment.map(([name]) => `const { ${name} } = process.env`),
      ...(isTimed ? ['const TIMESTAMP = String(Math.floor(Date.now() / 1000))'] : []),
    ],
    [
      ...(fields.length === 0 ? [] : ['const fields = {', ...object, '}']),
      ...(json === undefined ? [] : [`const fields = ${JSON.stringify(json, null, 2)}`]),
      ...(steps ?? []),
    ],
    sending(call),
  )
}

/** An expression in a template of the program. */
const hole = (expression: string) => `\${${expression}}`

const textToSign = (...kept: string[]) => [
  'const text = Object.keys(fields)',
  ...kept,
  '  .sort()',
  `  .map((name) => \`${hole('name')}=${hole('fields[name]')}\`)`,
  `  .join('&')`,
]
const KEPT = `  .filter((name) => fields[name] !== '')`

const SIGNING: Partial<Record<Proof, { imports: string; steps: string[] }>> = {
  hmac: {
    imports: 'createHmac',
    steps: [
      ...textToSign(),
      `fields.signature = createHmac('sha256', SECRET_KEY).update(text).digest('hex')`,
    ],
  },
  md5: {
    imports: 'createHash',
    steps: [
      ...textToSign(KEPT),
      `fields.sign = createHash('md5').update(text + KEY).digest('hex')`,
      `fields.sign_type = 'MD5'`,
    ],
  },
  rsa: {
    imports: 'createPrivateKey, sign',
    steps: [
      ...textToSign(KEPT),
      `const der = Buffer.from(PRIVATE_KEY, 'base64')`,
      `const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })`,
      `fields.sign = sign('sha256', Buffer.from(text), key).toString('base64')`,
      `fields.sign_type = 'RSA'`,
    ],
  },
}

function sending({ proof, method, sentIn, address, isPage }: Call): string[] {
  const url = text(address, sentIn === 'query' ? `?${hole('new URLSearchParams(fields)')}` : '')
  if (isPage) return ['// A browser opens this address.', `console.log(${url})`]
  const headers: string[] = []
  if (proof === 'client')
    headers.push(
      `authorization: \`Basic ${hole(`btoa(\`${hole('CLIENT_ID')}:${hole('CLIENT_SECRET')}\`)`)}\``,
    )
  if (proof === 'bearer') headers.push(`authorization: \`Bearer ${hole('ACCESS_TOKEN')}\``)
  if (sentIn === 'json') headers.push(`'content-type': 'application/json'`)
  const options: string[] = []
  if (method === 'post') options.push(`  method: 'POST',`)
  if (headers.length > 0) options.push(`  headers: { ${headers.join(', ')} },`)
  if (sentIn === 'form') options.push('  body: new URLSearchParams(fields),')
  if (sentIn === 'json') options.push('  body: JSON.stringify(fields),')
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`
  return [`const answer = await fetch(${url}${given})`, 'console.log(await answer.text())']
}

/** @param end what follows in the same template. */
function text(value: Value, end = ''): string {
  const [only] = value
  if (value.length === 1 && end === '')
    return typeof only === 'string' ? `'${only.replaceAll(/[\\']/g, '\\$&')}'` : only!.name
  const parts = value.map((part) =>
    typeof part === 'string' ? part.replaceAll(/[\\`]|\$(?=\{)/g, '\\$&') : hole(part.name),
  )
  return `\`${parts.join('')}${end}\``
}
