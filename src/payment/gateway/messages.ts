/**
 * The parameters of the notification and the return of a paid trade, which are the same. Each use builds and signs them
 * again, because V2 clients refuse a timestamp older than 300 s. spec/gateway 4.1.
 */
import type { KeyObject } from 'node:crypto'
import type { PaidOrder } from '../orders/return.ts'
import { gatewayString, signMd5, signRsa } from '../signing/gateway.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { openKey } from '../signing/keys.ts'
import type { MessageV1, MessageV2 } from './shapes.ts'
import { shanghaiTime } from './trade.ts'

type TradeFacts = Pick<
  PaidOrder,
  | 'pid_sent'
  | 'trade_no'
  | 'order_id'
  | 'transaction_id'
  | 'type'
  | 'description'
  | 'money'
  | 'param'
  | 'created_at'
  | 'paid_at'
  | 'buyer'
>

/** The signing key of a trade's messages, by the version that created the trade. */
export type Signer = { protocol: 'v1'; merchant_key: string } | { protocol: 'v2'; platform_key: KeyObject }

/**
 * Appends the signed parameters to `address`, the trade's notify_url or return_url. The result is printable ASCII.
 */
export async function withSignedTrade(
  address: string,
  trade: TradeFacts,
  signer: Signer,
  now: Date,
): Promise<string> {
  return withParameters(address, await tradeParameters(trade, signer, now))
}

/** The signer of a paid order that was read with the rows of its keys. */
export async function signerFrom(
  { gatewayKeys, secrets }: Pick<GatewayCore, 'gatewayKeys' | 'secrets'>,
  { app_id, protocol, merchant_key, platform_private_key_id: platform_private_key }: PaidOrder,
): Promise<Signer> {
  if (protocol === 'v2') {
    const app = { id: app_id, key_ids: { platform_private_key } }
    return { protocol, platform_key: await gatewayKeys.platformKey(app) }
  }
  const key = merchant_key === null ? undefined : openKey(secrets, app_id, 'merchant_key', merchant_key)
  return { protocol: 'v1', merchant_key: required(key) }
}

function required(merchant_key: string | undefined): string {
  if (merchant_key === undefined) throw new Error('An application without its Merchant KEY')
  return merchant_key
}

/** The signed parameters of a trade. Pure. spec/gateway 4.1 and 4.2. */
export async function tradeParameters(
  trade: TradeFacts,
  signer: Signer,
  now: Date,
): Promise<Record<string, string>> {
  const fields = tradeFields(trade, signer.protocol, now)
  const text = gatewayString(fields)
  return signer.protocol === 'v2'
    ? { ...fields, sign: await signRsa(text, signer.platform_key), sign_type: 'RSA' }
    : { ...fields, sign: signMd5(text, signer.merchant_key), sign_type: 'MD5' }
}

/** The signed fields of a trade. */
export function tradeFields(trade: TradeFacts, protocol: 'v1' | 'v2', now: Date): Record<string, string> {
  return nonEmpty({ ...commonFields(trade), ...(protocol === 'v2' && fieldsOfV2(trade, now)) })
}

type Proof = 'sign' | 'sign_type'
type CommonField = Exclude<keyof typeof MessageV1.shape, Proof>
type SignedField = Exclude<keyof typeof MessageV2.shape, Proof>

/** All fields of V1 in the order of its documents. Clients with a fixed list of fields know no others. */
function commonFields(trade: TradeFacts): Record<CommonField, string | null> {
  return {
    pid: trade.pid_sent,
    trade_no: trade.trade_no,
    out_trade_no: trade.order_id,
    type: trade.type,
    name: trade.description,
    money: trade.money,
    trade_status: 'TRADE_SUCCESS',
    param: trade.param,
  }
}

function fieldsOfV2(trade: TradeFacts, now: Date): Record<Exclude<SignedField, CommonField>, string> {
  return {
    api_trade_no: trade.transaction_id,
    addtime: shanghaiTime(trade.created_at),
    endtime: shanghaiTime(trade.paid_at!),
    // Leaves out a name that could begin another field, because the payer chose it and sees the signed return.
    buyer: /&[^&]*=/.test(trade.buyer) ? '' : trade.buyer,
    timestamp: String(Math.floor(now.getTime() / 1000)),
  }
}

/** Drops empty values and `0`, because some clients sign empty values, and PHP's `empty()` drops `0` as well. */
function nonEmpty(fields: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => !['', '0', null].includes(field[1])),
  )
}

/**
 * Adds parameters to the query of an address, before any fragment. They replace parameters of the same name, because of two
 * PHP reads the last and Go the first, and strict clients refuse both.
 */
export function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const [, path = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address)!
  const own = (query ?? '')
    .split('&')
    .filter((part) => part !== '' && !Object.hasOwn(parameters, nameOf(part)))
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return asAscii(`${path}?${[...own, ...added].join('&')}${fragment}`)
}

/** The decoded name of a part of a query. */
function nameOf(part: string): string {
  return [...new URLSearchParams(`&${part}`).keys()][0] ?? ''
}

/** Encodes what a browser would encode, because headers and request lines carry the URL unchanged. */
function asAscii(url: string): string {
  return url.replaceAll(/[^!-~]+/g, (text) => encodeURIComponent(text))
}
