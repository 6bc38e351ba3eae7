/** The canonical string that all three signature schemes share: `k=v` by name in byte order, joined by `&`. */

/** Values stand raw, never URL-encoded. Byte order is not locale order: digits < upper case < `_` < lower case. */
export function canonicalString(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}
