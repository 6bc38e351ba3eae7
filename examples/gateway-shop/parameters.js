// @ts-check
/** The parts that both versions of the protocol share: the text to sign, and reading and sending parameters. */

/** @typedef {Record<string, string | number>} Parameters the text of an integer in a JSON answer is signed */

/**
 * Every parameter that is not empty, except `sign` and `sign_type`, sorted by name and joined as `a=1&b=2` with its raw
 * value, not URL-encoded. Unknown parameters are signed too, because new ones may come at any time.
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
 * The parameters of a notification or a return. Undefined when a name comes twice, because the check could read one
 * value and the shop the other.
 * @param {URLSearchParams} query
 * @returns {Record<string, string> | undefined}
 */
export function readOnce(query) {
  const parameters = Object.fromEntries(query)
  return Object.keys(parameters).length === query.size ? parameters : undefined
}

const TIMEOUT_MS = 10_000

/**
 * Posts a form and reads the JSON answer. The gateway answers refusals with status 200 too, so check `code`.
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
