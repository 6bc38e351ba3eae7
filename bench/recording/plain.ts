/** Replaces the parts of an answer that differ between two runs of the same program: identifiers, secrets, times. */
import type { OutgoingHttpHeaders } from 'node:http'

/** The kinds of random values, the more specific first. */
const DRAWN: [name: string, pattern: RegExp][] = [
  ['seal', /(?<=Sealed up to )\S+/g],
  ['picture', /(?<=<path d=")[^"]{1000,}/g],
  ['request', /\breq-[a-z0-9]+-[a-z0-9]+/g],
  ['jwt', /eyJ[\w-]+\.[\w-]+\.[\w-]+/g],
  ['txn', /txn_[A-Za-z0-9]+/g],
  ['pay', /pay_[a-z0-9]{20}/g],
  ['client', /\b[a-z0-9]{24}\b/g],
  ['token', /(?<![\w-])tk_[A-Za-z0-9]+/g],
  ['event', /(?:evt|msg|whsec|req)_[\w+/=-]+/g],
  ['uuid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g],
  ['pem', /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g],
  ['iso', /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?/g],
  ['day', /\d{4}-\d\d-\d\d/g],
  ['clock', /T\d\d%3A\d\d%3A\d\dZ/g],
  ['known browser', /(?<=tessera_known_)[\w-]+=[^;]+/g],
  ['fingerprint', /\b[0-9a-f]{12}…/g],
  ['base32', /\b(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\b/g],
  ['http-date', /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g],
  ['written-en', /(?:\w{3,9} \d{1,2}, \d{4}(?:, (?:at )?)?|\b)\d{1,2}:\d\d(?::\d\d)?(?:\s?[AP]M)?(?: UTC)?/g],
  ['written-zh', /\d{4}年\d{1,2}月\d{1,2}日(?:\s?\d\d:\d\d(?::\d\d)?)?/g],
  ['number', /\b\d{10,19}\b/g],
  // A token of 32 random bytes may have no digit.
  ['secret', /(?<![\w/+-])(?:(?=[\w/+-]*\d)[\w/+-]{20,}={0,2}|[\w-]{43}(?![\w/+-]))/g],
  ['password', /\b(?:alice|bob|carol|dora|admin)-[a-z0-9]{6}\b/g],
  ['within', /\b\d+ (?:seconds?|minutes?)\b|\d+\s?(?:秒|分钟)/g],
  ['ms', /\b\d+(?:\.\d+)? ms\b/g],
]

/** The kinds that later answers repeat. */
const KEPT = new Set(['txn', 'pay', 'client'])

/** Headers that only describe the connection or the moment. */
const HEADERS_LEFT_OUT = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'x-request-id',
  'etag',
])

/** Makes the function that replaces these values in the texts of one run. A value has the same name in all texts. */
export function makePlain(): (text: string) => string {
  const names = new Map<string, string>()
  return (text) => {
    let plain = text
    for (const [kind, pattern] of DRAWN)
      plain = plain.replace(pattern, (value) => {
        if (value.startsWith('<')) return value
        // A value that is signed or random for each request has no identity to compare.
        if (!KEPT.has(kind)) return `<${kind}>`
        const name = names.get(value) ?? `<${kind} ${names.size + 1}>`
        names.set(value, name)
        return name
      })
    return plain
  }
}

/** The compared headers, one per line. */
export function plainHeaders(headers: OutgoingHttpHeaders, plain: (text: string) => string): string[] {
  return Object.entries(headers)
    .filter(([name]) => !HEADERS_LEFT_OUT.has(name))
    .map(([name, value]) => `${name}: ${plain(String(value))}`)
    .sort()
}
