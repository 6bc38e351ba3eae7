/** Writes samples for Python 3 with its standard library. */
import { type Call, inParts, type Proof, type Value } from './call.ts'

/** Writes a request as a program. */
export function inPython(call: Call): string {
  const { proof, set, environment, isTimed, fields, json, sentIn, isPage } = call
  const { modules, steps } = SIGNING[proof] ?? { modules: [], steps: [] }
  const all = [...modules, ...(sentIn === 'json' ? ['json'] : []), ...(isTimed ? ['time'] : [])]
  const object = fields.map(([name, value]) => `    "${name}": ${text(value)},`)
  return inParts(
    [
      ...(all.length === 0 ? [] : [`import ${all.toSorted().join(', ')}`]),
      ...(isPage ? [] : ['from urllib.error import HTTPError']),
      ...(sentIn === 'query' || sentIn === 'form' ? ['from urllib.parse import urlencode'] : []),
      ...(isPage ? [] : ['from urllib.request import Request, urlopen']),
    ],
    [
      ...set.map(([name, value]) => `${name} = ${text([value])}`),
      ...environment.map(([name]) => `${name} = os.environ["${name}"]`),
      ...(isTimed ? ['TIMESTAMP = str(int(time.time()))'] : []),
    ],
    [
      ...(fields.length === 0 ? [] : ['fields = {', ...object, '}']),
      ...(json === undefined ? [] : [`fields = ${JSON.stringify(json, null, 4)}`]),
      ...steps,
    ],
    sending(call),
  )
}

const TEXT = 'text = "&".join(f"{name}={fields[name]}" for name in sorted(fields))'
const TEXT_WITHOUT_EMPTY =
  'text = "&".join(f"{name}={fields[name]}" for name in sorted(fields) if fields[name])'

const SIGNING: Partial<Record<Proof, { modules: string[]; steps: string[] }>> = {
  hmac: {
    modules: ['hashlib', 'hmac'],
    steps: [
      TEXT,
      'fields["signature"] = hmac.new(SECRET_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()',
    ],
  },
  md5: {
    modules: ['hashlib'],
    steps: [
      TEXT_WITHOUT_EMPTY,
      'fields["sign"] = hashlib.md5((text + KEY).encode()).hexdigest()',
      'fields["sign_type"] = "MD5"',
    ],
  },
  rsa: {
    modules: ['base64', 'os', 'subprocess', 'tempfile'],
    steps: [
      TEXT_WITHOUT_EMPTY,
      '# The standard library cannot sign with RSA, so openssl does.',
      'with tempfile.NamedTemporaryFile() as key:',
      '    key.write(base64.b64decode(PRIVATE_KEY))',
      '    key.flush()',
      '    command = ["openssl", "dgst", "-sha256", "-keyform", "DER", "-sign", key.name]',
      '    signed = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)',
      'fields["sign"] = base64.b64encode(signed.stdout).decode()',
      'fields["sign_type"] = "RSA"',
    ],
  },
  client: {
    modules: ['base64'],
    steps: ['basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()'],
  },
}

function sending({ proof, method, sentIn, address, isPage }: Call): string[] {
  const url = text(address, sentIn === 'query' ? '?{urlencode(fields)}' : '')
  if (isPage) return ['# A browser opens this address.', `print(${url})`]
  const given = [url]
  if (sentIn === 'form') given.push('urlencode(fields).encode()')
  if (sentIn === 'json') given.push('json.dumps(fields).encode()')
  if (method === 'post' && sentIn === undefined) given.push('method="POST"')
  const headers: [string, string][] = []
  if (proof === 'client') headers.push(['Authorization', 'f"Basic {basic}"'])
  if (proof === 'bearer') headers.push(['Authorization', 'f"Bearer {ACCESS_TOKEN}"'])
  if (sentIn === 'json') headers.push(['Content-Type', '"application/json"'])
  return [
    `request = Request(${given.join(', ')})`,
    ...headers.map(([name, value]) => `request.add_header("${name}", ${value})`),
    'try:',
    '    answer = urlopen(request, timeout=10)',
    'except HTTPError as refusal:',
    '    answer = refusal',
    'print(answer.read().decode())',
  ]
}

/** @param end what follows in the same text. */
function text(value: Value, end = ''): string {
  const [only] = value
  if (value.length === 1 && end === '') return typeof only === 'string' ? JSON.stringify(only) : only!.name
  const parts = value.map((part) =>
    typeof part === 'string'
      ? JSON.stringify(part).slice(1, -1).replaceAll(/[{}]/g, '$&$&')
      : `{${part.name}}`,
  )
  return `f"${parts.join('')}${end}"`
}
