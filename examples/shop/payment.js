// @ts-check
/**
 * Being paid in points: all that a merchant needs of Tessera's HMAC payment API, to be copied.
 *
 * What is signed: every parameter of a message except `signature`, with its raw value (not URL-encoded), sorted by
 * name and joined as `a=1&b=2`. The key is the SHA-256 of the token as 64 hexadecimal characters, used as text; that
 * is the Secret Key of the application's page. The signature is the HMAC-SHA-256 of the string, in lower-case hex.
 * The same key signs what you send (initiate, query) and what comes back (the callback).
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
    // A refusal says what is wrong in `error`, and by number in `errors[0].code`.
    if (!response.ok) throw new Error(`Tessera refused ${path}: ${answer.error}`)
    return answer
  }

  return {
    /**
     * Opens a payment. Send the buyer to the answer's `payment_url`; the same order_id again gives the same payment.
     * @param {{ id: string, amount: number, description: string }} order `amount` is in whole points.
     * @returns {Promise<{ payment_url: string, transaction_id: string, status: string, amount: number }>}
     */
    start: ({ id, amount, description }) =>
      post(`/payment/pay/${paymentId}/process`, { amount: String(amount), description, order_id: id }),

    /**
     * How a payment stands: `status` is completed once it is paid. Ask whenever the buyer has not come back.
     * @param {string} transaction_id
     * @returns {Promise<Record<string, any>>}
     */
    query: (transaction_id) => post(`/payment/query/${paymentId}`, { transaction_id }),

    /**
     * The parameters of a callback if Tessera signed exactly these, otherwise undefined. Anybody can send a browser
     * to the callback address with made-up parameters, so believe nothing that has not been through here.
     * @param {URLSearchParams} query
     * @returns {Record<string, string> | undefined}
     */
    verifyCallback(query) {
      const parameters = Object.fromEntries(query)
      // Two values of one name: one might be verified and the other used.
      if (Object.keys(parameters).length !== query.size) return undefined
      const expected = Buffer.from(sign(parameters, key))
      const received = Buffer.from(parameters.signature ?? '')
      // In constant time: `===` answers sooner the earlier the texts differ, and so helps to guess.
      const isGenuine = received.length === expected.length && timingSafeEqual(received, expected)
      return isGenuine ? parameters : undefined
    },
  }
}
