// This room: HMAC, MD5 and RSA signatures, the keys of payment applications, and the requests that are refused.
// Verbs: sign, verifySignature, signMd5, signRsa, replaceKey, currentKeys, keepRefused, refusedRequests.
// Tables: payment_app_keys, refused_requests.
// Clauses: spec/payment-api 1.4, 2.2–2.5, 3.1–3.3, 4.1–4.2, 5.1–5.3, 6.1; spec/gateway 1.4, 2.1, 3.1.
/** The canonical string that all three signature schemes share: `k=v` sorted by name, joined by `&`. */

/** Values are raw, never URL-encoded. Names sort in byte order: digits < upper case < `_` < lower case. */
export function canonicalString(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** Characters that UTF-16 and UTF-8 order differently: surrogates and the characters above them. */
const ORDERED_DIFFERENTLY = /[\ud800-\uffff]/

/** Compares two texts by their UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  if (ORDERED_DIFFERENTLY.test(a) || ORDERED_DIFFERENTLY.test(b))
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}
