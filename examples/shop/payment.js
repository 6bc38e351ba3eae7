// @ts-check
/**
 * Payments in points: the parts of Tessera's HMAC API that a merchant needs, for you to copy.
 *
 * The text to sign is every parameter of a message except `signature`, with its raw value (not URL-encoded), sorted by
 * name and joined as `a=1&b=2`. The key is the SHA-256 of the token as 64 hexadecimal characters, used as text. It is
 * the Secret Key on the application's page. The signature is the HMAC-SHA-256 of the text, in lower-case hex. The same
 * key signs your requests and the callbacks.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

const TIMEOUT_MS = 10_000
const UNKNOWN_ORDER = 1007

/**
 * The parts of a mandate's state that the shop uses. Points are whole, days are YYYY-MM-DD.
 * @typedef {{
 *   status: 'pending' | 'active' | 'paused' | 'ended', reason: string | null, user_id: number | null,
 *   charge_max: number, period_max: number, ends_on: string | null, spent: number | null, left: number | null,
 *   resets_at: string | null, next_charge_on: string | null
 * }} MandateState
 */

/** A request that Tessera refused. `code` is the number of the reason, and `data` has its figures. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {number | undefined} code
   * @param {Record<string, any>} data
   */
  constructor(message, code, data) {
    super(message)
    this.code = code
    this.data = data
  }
}

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
    if (!response.ok) throw new Refused(answer.error, answer.errors?.[0]?.code, answer.data ?? {})
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
     * Queries an order. Its `status` is completed once it is paid. Query it when the payer did not return, and when the answer
     * to a charge was lost. Resolves to undefined if Tessera does not know the order.
     * @param {string} order_id
     * @returns {Promise<Record<string, any> | undefined>}
     */
    async query(order_id) {
      try {
        return await post(`/payment/query/${paymentId}`, { order_id })
      } catch (error) {
        if (error instanceof Refused && error.code === UNKNOWN_ORDER) return undefined
        throw error
      }
    },

    /**
     * Sends points to a member. A repeated order_id sends nothing more.
     * @param {{ id: string, to_user_id: string, to_username: string, amount: number }} transfer
     * @returns {Promise<Record<string, any>>}
     */
    transfer: ({ id, amount, ...to }) =>
      post(`/payment/transfer/${paymentId}`, { ...to, amount: String(amount), order_id: id }),

    /**
     * Offers a mandate: `amount` once a period, or any charges within `charge_max` and `period_max`. Send the member to the
     * answer's `mandate_url`, or name its `mandate_id` in a sign-in.
     * @param {Record<string, string | number>} terms
     * @returns {Promise<{ mandate_id: string, mandate_url: string }>}
     */
    offer: (terms) =>
      post(
        `/payment/mandate/${paymentId}/offer`,
        Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)])),
      ),

    /**
     * Queries a mandate.
     * @param {string} mandate_id
     * @returns {Promise<MandateState>}
     */
    mandate: (mandate_id) => post(`/payment/mandate/${paymentId}/query`, { mandate_id }),

    /**
     * Charges an order under a mandate, without the member. A repeated order_id returns the same charge.
     * @param {string} mandate_id
     * @param {{ id: string, amount: number, description: string }} order
     * @returns {Promise<Record<string, any>>}
     */
    charge: (mandate_id, { id, amount, description }) =>
      post(`/payment/mandate/${paymentId}/charge`, {
        mandate_id,
        order_id: id,
        amount: String(amount),
        description,
      }),

    /**
     * Ends a mandate for good. The member is told the reason.
     * @param {string} mandate_id
     * @param {string} reason
     * @returns {Promise<MandateState>}
     */
    revoke: (mandate_id, reason) => post(`/payment/mandate/${paymentId}/revoke`, { mandate_id, reason }),

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
