// @ts-check
/**
 * Payments in points: the parts of Tessera's HMAC API that a merchant needs, for you to copy.
 *
 * The text to sign is every parameter of a message except `signature`, with its raw value (not URL-encoded), sorted by
 * name and joined as `a=1&b=2`. The key is the SHA-256 of the token as 64 hexadecimal characters, used as text. It is
 * the Secret Key on the application's page. The signature is the HMAC-SHA-256 of the text, in lower-case hex. The same
 * key signs your requests (initiate, query) and the callback.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

const TIMEOUT_MS = 10_000

/**
 * @param {Record<string, string>} parameters
 * @param {string} key the Secret Key
 */
export function sign(parameters, key) {
  const names = Object.keys(parameters)
    .filter((name) => name !== 'signature')
    .sort()
  const text = names.map((name) => `${name}=${parameters[name]}`).join('&')
  return createHmac('sha256', key).update(text).digest('hex')
}

/**
 * Connects to one payment application.
 * @param {{ url: string, paymentId: string, token: string }} options `token` (tk_…) is a secret: keep it on the server.
 */
export function openPayments({ url, paymentId, token }) {
  const key = createHash('sha256').update(token).digest('hex')

  /**
   * @param {string} path
   * @param {Record<string, string>} parameters
   * @returns {Promise<any>}
   */
  async function post(path, parameters) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...parameters, signature: sign(parameters, key) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = /** @type {Record<string, any>} */ (await response.json())
    // A refusal explains itself in `error`, and has a number in `errors[0].code`.
    if (!response.ok) throw new Error(`Tessera refused ${path}: ${answer.error}`)
    return answer
  }

  return {
    /**
     * Opens a payment. Send the payer to the answer's `payment_url`. A repeated order_id returns the same payment.
     * @param {{ id: string, amount: number, description: string }} order `amount` is in whole points.
     * @returns {Promise<{ payment_url: string, transaction_id: string, status: string, amount: number }>}
     */
    start: ({ id, amount, description }) =>
      post(`/payment/pay/${paymentId}/process`, { amount: String(amount), description, order_id: id }),

    /**
     * Queries a payment. Its `status` is completed once it is paid. Query it when the payer did not return.
     * @param {string} transaction_id
     * @returns {Promise<Record<string, any>>}
     */
    query: (transaction_id) => post(`/payment/query/${paymentId}`, { transaction_id }),

    /**
     * The parameters of a callback that Tessera signed, otherwise undefined. Anyone can open the callback address with
     * made-up parameters, so trust only the result of this function.
     * @param {URLSearchParams} query
     * @returns {Record<string, string> | undefined}
     */
    verifyCallback(query) {
      const parameters = Object.fromEntries(query)
      // With two values of one name, the check could read one and the shop the other.
      if (Object.keys(parameters).length !== query.size) return undefined
      const expected = Buffer.from(sign(parameters, key))
      const received = Buffer.from(parameters.signature ?? '')
      // The comparison takes constant time. `===` is faster for an early difference, which helps an attacker to guess.
      const isGenuine = received.length === expected.length && timingSafeEqual(received, expected)
      return isGenuine ? parameters : undefined
    },
  }
}
