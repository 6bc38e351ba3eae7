/** The sets of values of random requests, and a generator of numbers that repeats its choices. */

/** Mulberry32: a small generator with the same numbers on every machine. */
export function randomOf(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    chance: (share: number) => next() < share,
    upTo: (count: number) => Math.floor(next() * count),
    of: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!,
  }
}
export type Random = ReturnType<typeof randomOf>

const words = (text: string) => text.trim().split(/\s+/)

/** Text that Postgres does not store, or that two parsers read differently. */
const UNCLEAN = ['\u0000', 'a\u0000b', '\u0000'.repeat(3), '\ud800', '\ufffd']

/** Bytes, encodings and lengths that parsers, Postgres and pages treat in a special way. */
const HOSTILE = [
  ...Array.from({ length: 8 }, () => UNCLEAN).flat(),
  ...['\u202e', '\u007f', '\r\nset-cookie: a=b'],
  ...['𝒳'.repeat(40), '🦊', '中文', 'é', '\u3000', '\u00a0', 'x\u0301'.repeat(30)],
  ...words('% %zz %00 %c0%af %ff%fe %ed%a0%80 %F0%9F%A6%8A %27%3B-- ../../etc/passwd ..%2f.. \\ & = ; + #'),
  ...["' or 1=1 --", "'; drop table users; --", '<script>alert(1)</script>', '=HYPERLINK("x")', '{{7*7}}'],
  ...['x'.repeat(300), 'x'.repeat(2_000), 'x'.repeat(9_000), 'x'.repeat(20_000), '9'.repeat(400)],
  ...['javascript:alert(1)', 'https://[', 'https://evil.example:99999/', 'https://user@evil.example/'],
]

/** Values of another type or shape than a field has, as text. A JSON body carries them as what they are. */
const MISSHAPEN = [
  ...['', ' ', '\t', 'x', 'undefined', 'a=1&b=2', '1.2.3', 'x y z', 'a,b', 'eyJhbGciOiJub25lIn0.e30.'],
  ...words('null true false 0 -0 1 -1 +1 1.5 007 0x10 1e9 1e400 NaN Infinity 9007199254740993 １０'),
  ...words('99999999999999999999 -99999999999999999999 [] [1] [[]] {} {"a":1} {"__proto__":{"a":1}} "x"'),
  ...words('[object Object] __proto__ constructor toString hasOwnProperty length'),
]

/** Values that some field accepts. Requests also use the names and numbers of their world. */
const PLAUSIBLE = [
  ...words('0 1 2 7 10 0.01 9.90 100 on off asc desc full partial live test month week'),
  ...words('code none login consent select_account query fragment form_post S256 plain openid email'),
  ...words('authorization_code refresh_token password client_credentials token approve reject suspend'),
  ...words('reinstate confirm allow deny cancel refund completed paid pending refunded RSA MD5 jump order'),
  ...words('orders settle xx zh-CN en 2026-01-01 2026-02-30 0000-00-00 2026-01-01T00:00:00Z 1767225600'),
  ...words('17672256000 /account //evil.example https://evil.example/ https://shop.example/x'),
  ...words('http://127.0.0.1:1/x bob@example.org txn_000000000000000000000000 pay_000000000000000000000000'),
  ...['openid profile', 'none login', 'code id_token', 'Tea for two', '茶', 'a'.repeat(43)],
]

export const SETS = { hostile: HOSTILE, misshapen: MISSHAPEN, plausible: PLAUSIBLE }
export type SetName = keyof typeof SETS

export const TYPES = [
  'application/json',
  'application/json; charset=utf-7',
  'multipart/form-data; boundary=fuzz',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/x-www-form-urlencoded, a/b',
  'text/plain',
  'application/xml',
  'nonsense',
  '',
]

export const FORM = 'application/x-www-form-urlencoded'

/** The body of a request: the fields in the format of its type, now and then with faults of encoding. */
export function bodyOf(type: string, fields: [string, string][], set: SetName, random: Random): string {
  if (random.chance(0.05)) return random.of(SETS[set])
  if (type.startsWith('application/json')) return jsonOf(fields, set)
  if (type.startsWith('multipart')) return multipartOf(fields)
  return queryOf(fields, set, random)
}

/** Form-encoded fields. In the set of hostile values, some are not encoded, doubled, or followed by noise. */
export function queryOf(fields: [string, string][], set: SetName, random: Random): string {
  const isBroken = set !== 'plausible' && random.chance(0.25)
  if (!isBroken) return new URLSearchParams(fields).toString()
  const raw = (text: string) => (random.chance(0.3) ? text : encodeURIComponent(text.toWellFormed()))
  const pairs = fields.map(([name, value]) => `${raw(name)}=${raw(value)}`)
  if (random.chance(0.3) && pairs.length > 0) pairs.push(random.of(pairs))
  if (random.chance(0.3)) pairs.push(random.of(SETS[set]))
  return pairs.join(random.of(['&', '&', '&&', ';']))
}

function jsonOf(fields: [string, string][], set: SetName): string {
  const parsed = fields.map(([name, value]) => [name, set === 'misshapen' ? asJson(value) : value])
  return JSON.stringify(Object.fromEntries(parsed))
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function multipartOf(fields: [string, string][]): string {
  const parts = fields.map(
    ([name, value]) => `--fuzz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--fuzz--\r\n`
}
