// @ts-check
/**
 * V1 of the protocol, for you to copy. The signature is the MD5 of the text followed by the Merchant KEY. The same KEY
 * signs your requests and the gateway's messages, so a stolen KEY can fake payments: keep it on the server.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { post, readOnce, textToSign } from './parameters.js'

/** @import { Gateway } from './shop.js' */
/** @import { Parameters } from './parameters.js' */

/**
 * @param {Parameters} parameters
 * @param {string} key
 */
export function sign(parameters, key) {
  return createHash('md5')
    .update(textToSign(parameters) + key)
    .digest('hex')
}

/**
 * @param {{ address: string, pid: string, key: string }} options `address` ends in a slash: …/payment/api/
 * @returns {Gateway}
 */
export function openV1({ address, pid, key }) {
  /** @param {Parameters} parameters */
  const signed = (parameters) => ({ ...parameters, sign: sign(parameters, key), sign_type: 'MD5' })

  return {
    form: (order) => ({ action: `${address}submit.php`, fields: signed({ pid, ...order }) }),

    async create(order) {
      const answer = await post(`${address}mapi.php`, signed({ pid, ...order }))
      if (answer.code !== 1) throw new Error(`The gateway refused the order: ${answer.msg}`)
      return answer.payurl
    },

    async query(out_trade_no) {
      // The request contains the KEY itself. It goes into the body, because logs contain addresses.
      const answer = await post(`${address}api.php`, { act: 'order', pid, key, out_trade_no })
      if (answer.code !== 1) throw new Error(`The gateway refused the query: ${answer.msg}`)
      return answer.status === 1 ? answer : undefined
    },

    verify(query) {
      const parameters = readOnce(query)
      if (parameters === undefined || parameters.pid !== pid) return undefined
      const expected = Buffer.from(sign(parameters, key))
      const received = Buffer.from(parameters.sign ?? '')
      // The comparison takes constant time. `===` is faster for an early difference, which helps an attacker to guess.
      const isGenuine = received.length === expected.length && timingSafeEqual(received, expected)
      return isGenuine && parameters.trade_status === 'TRADE_SUCCESS' ? parameters : undefined
    },
  }
}
