/** Requests that create trades, as shops send them. */
import { type KeyObject, sign as signRsa } from 'node:crypto'
import { gatewayString, signMd5 } from '../../src/payment/signing/gateway.ts'
import type { Request } from '../driver.ts'
import type { Shop } from '../payment/world.ts'

export type Trade = { shop: Shop; out_trade_no: string }

/** Whether the body of an answer holds a trade. The status of a refusal is 200 too. */
export const CREATED = { V1: /"code":1,/, V2: /"code":0,.*"pay_info"/ }

const factsOf = ({ shop, out_trade_no }: Trade): Record<string, string> => ({
  pid: String(shop.pid),
  type: 'alipay',
  out_trade_no,
  notify_url: 'https://shop.example/notify',
  return_url: 'https://shop.example/return',
  name: 'Something of the shop',
  money: '9.90',
})

/** A request of V1, signed with the Merchant KEY. */
export function createV1(trade: Trade): Request {
  const fields = factsOf(trade)
  const sign = signMd5(gatewayString(fields), trade.shop.merchant_key)
  return request('mapi.php', { ...fields, sign, sign_type: 'MD5' })
}

/** A request of V2, signed with the merchant's private key. */
export function createV2(trade: Trade, privateKey: KeyObject): Request {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const fields = { ...factsOf(trade), timestamp, method: 'jump' }
  const sign = signRsa('sha256', Buffer.from(gatewayString(fields)), privateKey).toString('base64')
  return request('pay/create', { ...fields, sign, sign_type: 'RSA' })
}

function request(path: string, fields: Record<string, string>): Request {
  return { method: 'POST', path: `/payment/api/${path}`, body: new URLSearchParams(fields).toString() }
}
