// @ts-check
/** What both versions of the protocol share: which parameters are signed, and how they become one text. */

/** @typedef {Record<string, string | number>} Parameters replies in JSON have integers, which are signed as their text */

/**
 * Every parameter that is not empty, except `sign` and `sign_type`, sorted by name and joined as `a=1&b=2` with its raw
 * value, not URL-encoded. Parameters that you do not know are signed too: there may be new ones at any time.
 * @param {Parameters} parameters
 */
export function textToSign(parameters) {
  return Object.keys(parameters)
    .filter((name) => name !== 'sign' && name !== 'sign_type' && parameters[name] !== '')
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
    .join('&')
}

/**
 * The parameters of a notification or a return. Undefined when a name comes twice: one value might be verified and
 * the other used.
 * @param {URLSearchParams} query
 * @returns {Record<string, string> | undefined}
 */
export function readOnce(query) {
  const parameters = Object.fromEntries(query)
  return Object.keys(parameters).length === query.size ? parameters : undefined
}

const TIMEOUT_MS = 10_000

/**
 * Posts a form and reads the JSON that answers it. The gateway answers refusals with status 200 too: look at `code`.
 * @param {string} url
 * @param {Parameters} parameters
 * @returns {Promise<Record<string, any>>}
 */
export async function post(url, parameters) {
  const texts = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(texts),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return /** @type {Record<string, any>} */ (await response.json())
}
