// @ts-check
/**
 * V2 of the protocol, for you to copy. The merchant's private RSA key signs requests, and the platform's key signs
 * answers and notifications. Stolen keys of the merchant cannot fake a payment.
 */
import { createPrivateKey, createPublicKey, sign as rsaSign, verify as rsaVerify } from 'node:crypto'
import { post, readOnce, textToSign } from './parameters.js'

/** @import { Gateway } from './shop.js' */
/** @import { Parameters } from './parameters.js' */

const DRIFT_SECONDS_MAX = 300

/**
 * @param {{ address: string, pid: string, privateKey: string, platformKey: string }} options
 *   `address` ends in a slash: …/payment/. The keys are bare base64: PKCS#8 and SPKI.
 * @returns {Gateway}
 */
export function openV2({ address, pid, ...keys }) {
  const der = (/** @type {string} */ text) =>
    /** @type {const} */ ({ key: Buffer.from(text, 'base64'), format: 'der' })
  const privateKey = createPrivateKey({ ...der(keys.privateKey), type: 'pkcs8' })
  const platformKey = createPublicKey({ ...der(keys.platformKey), type: 'spki' })

  /** @param {Parameters} fields */
  function signed(fields) {
    const parameters = { pid, timestamp: String(now()), ...fields }
    const sign = rsaSign('sha256', Buffer.from(textToSign(parameters)), privateKey).toString('base64')
    return { ...parameters, sign, sign_type: 'RSA' }
  }

  /** Whether the platform signed exactly these parameters a short time ago. @param {Record<string, any>} parameters */
  function isGenuine(parameters) {
    // Without the pattern, a timestamp that is no number would give NaN, and NaN passes the comparison.
    if (!/^\d{10}$/.test(parameters.timestamp)) return false
    if (Math.abs(now() - Number(parameters.timestamp)) > DRIFT_SECONDS_MAX) return false
    const signature = Buffer.from(String(parameters.sign), 'base64')
    return rsaVerify('sha256', Buffer.from(textToSign(parameters)), platformKey, signature)
  }

  /**
   * @param {string} path
   * @param {Parameters} fields
   */
  async function call(path, fields) {
    const answer = await post(`${address}${path}`, signed(fields))
    if (!isGenuine(answer)) throw new Error(`The gateway's answer is not signed by it: ${answer.msg}`)
    if (answer.code !== 0) throw new Error(`The gateway refused ${path}: ${answer.msg}`)
    return answer
  }

  return {
    form: (order) => ({ action: `${address}api/pay/submit`, fields: signed(order) }),

    create: async (order) => (await call('api/pay/create', { ...order, method: 'web' })).pay_info,

    async query(out_trade_no) {
      const answer = await call('api/pay/query', { out_trade_no })
      return answer.status === 1 ? answer : undefined
    },

    verify(query) {
      const parameters = readOnce(query)
      if (parameters === undefined || parameters.pid !== pid || !isGenuine(parameters)) return undefined
      return parameters.trade_status === 'TRADE_SUCCESS' ? parameters : undefined
    },
  }
}

function now() {
  return Math.floor(Date.now() / 1000)
}
