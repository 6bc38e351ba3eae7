/** Writes samples for Go with its standard library, as gofmt formats them. */
import { appended, type Call, inParts, type Name, type Proof, type Value } from './call.ts'

/** Writes a request as a program. */
export function inGo(call: Call): string {
  const { proof, set, environment, isTimed, fields } = call
  const { packages, steps } = SIGNING[proof] ?? { packages: [], steps: [] }
  const send = sending(call)
  const imports = [
    ...packages,
    ...(isTimed ? ['strconv', 'time'] : []),
    ...(fields.length > 0 ? ['net/url'] : []),
    ...send.packages,
  ]
  const body = inParts(
    [
      ...environment.map(([name]) => `${variable(name)} := os.Getenv("${name}")`),
      ...(isTimed ? ['timestamp := strconv.FormatInt(time.Now().Unix(), 10)'] : []),
      ...(fields.length === 0 ? [] : ['fields := url.Values{}']),
      ...fields.map(([name, value]) => `fields.Set("${name}", ${text(value)})`),
    ],
    steps,
    send.steps,
  )
  return inParts(
    ['package main'],
    ['import (', ...[...new Set(imports)].toSorted().map((name) => `\t"${name}"`), ')'],
    set.map(([name, value]) => `const ${variable(name)} = ${text([value])}`),
    ['func main() {', body.replaceAll(/^(?=.)/gm, '\t'), '}'],
  )
}

const textToSign = (condition: string) => [
  'var names []string',
  'for name := range fields {',
  ...(condition === ''
    ? ['\tnames = append(names, name)']
    : [`\tif ${condition} {`, '\t\tnames = append(names, name)', '\t}']),
  '}',
  'sort.Strings(names)',
  'for i, name := range names {',
  '\tnames[i] = name + "=" + fields.Get(name)',
  '}',
  'text := strings.Join(names, "&")',
]
const NOT_EMPTY = 'fields.Get(name) != ""'

const SIGNING: Partial<Record<Proof, { packages: string[]; steps: string[] }>> = {
  hmac: {
    packages: ['crypto/hmac', 'crypto/sha256', 'encoding/hex', 'sort', 'strings'],
    steps: [
      ...textToSign(''),
      'mac := hmac.New(sha256.New, []byte(secretKey))',
      'mac.Write([]byte(text))',
      'fields.Set("signature", hex.EncodeToString(mac.Sum(nil)))',
    ],
  },
  md5: {
    packages: ['crypto/md5', 'encoding/hex', 'sort', 'strings'],
    steps: [
      ...textToSign(NOT_EMPTY),
      'sum := md5.Sum([]byte(text + key))',
      'fields.Set("sign", hex.EncodeToString(sum[:]))',
      'fields.Set("sign_type", "MD5")',
    ],
  },
  rsa: {
    packages: [
      'crypto',
      'crypto/rsa',
      'crypto/sha256',
      'crypto/x509',
      'encoding/base64',
      'os',
      'sort',
      'strings',
    ],
    steps: [
      ...textToSign(NOT_EMPTY),
      'der, err := base64.StdEncoding.DecodeString(privateKey)',
      'if err != nil {',
      '\tpanic(err)',
      '}',
      'key, err := x509.ParsePKCS8PrivateKey(der)',
      'if err != nil {',
      '\tpanic(err)',
      '}',
      'sum := sha256.Sum256([]byte(text))',
      'sign, err := rsa.SignPKCS1v15(nil, key.(*rsa.PrivateKey), crypto.SHA256, sum[:])',
      'if err != nil {',
      '\tpanic(err)',
      '}',
      'fields.Set("sign", base64.StdEncoding.EncodeToString(sign))',
      'fields.Set("sign_type", "RSA")',
    ],
  },
}

const MEDIA = { form: 'application/x-www-form-urlencoded', json: 'application/json' }

function sending({ proof, method, sentIn, address, json, isPage }: Call): {
  packages: string[]
  steps: string[]
} {
  const parts = sentIn === 'query' ? [...texts(appended(address, '?')), 'fields.Encode()'] : texts(address)
  if (isPage)
    return {
      packages: ['fmt'],
      steps: ['// A browser opens this address.', `fmt.Println(${parts.join(' + ')})`],
    }
  const url = parts.join('+')
  const packages = ['io', 'net/http', 'os']
  const steps: string[] = []
  let body = 'nil'
  if (sentIn === 'form') body = 'strings.NewReader(fields.Encode())'
  if (sentIn === 'json') {
    steps.push(`body := \`${JSON.stringify(json, null, 2)}\``)
    body = 'strings.NewReader(body)'
  }
  if (body !== 'nil') packages.push('strings')
  steps.push(`request, err := http.NewRequest("${method.toUpperCase()}", ${url}, ${body})`, ...OR_PANIC)
  if (sentIn === 'form' || sentIn === 'json')
    steps.push(`request.Header.Set("Content-Type", "${MEDIA[sentIn]}")`)
  if (proof === 'client') steps.push('request.SetBasicAuth(clientID, clientSecret)')
  if (proof === 'bearer') steps.push('request.Header.Set("Authorization", "Bearer "+accessToken)')
  steps.push('answer, err := http.DefaultClient.Do(request)', ...OR_PANIC)
  steps.push('defer answer.Body.Close()', 'io.Copy(os.Stdout, answer.Body)')
  return { packages, steps }
}

const OR_PANIC = ['if err != nil {', '\tpanic(err)', '}']

const variable = (name: Name) =>
  name
    .toLowerCase()
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/Id$/, 'ID')

const texts = (value: Value) =>
  value.map((part) => (typeof part === 'string' ? JSON.stringify(part) : variable(part.name)))
/** gofmt puts no spaces around the plus between arguments. */
const text = (value: Value) => texts(value).join('+')
