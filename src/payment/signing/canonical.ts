/** The canonical string that all three signature schemes share: `k=v` by name in byte order, joined by `&`. */

/** Values stand raw, never URL-encoded. Byte order is not locale order: digits < upper case < `_` < lower case. */
export function canonicalString(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** Characters that UTF-16 orders otherwise than UTF-8: surrogates, and what stands above them. */
const ORDERED_OTHERWISE = /[\ud800-\uffff]/

/** By the bytes of UTF-8. */
export function compareBytes(a: string, b: string): number {
  if (ORDERED_OTHERWISE.test(a) || ORDERED_OTHERWISE.test(b))
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}
