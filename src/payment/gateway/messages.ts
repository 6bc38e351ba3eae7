/**
 * What a merchant is told about a paid trade: the parameters of the notify and of the browser's return, which are the
 * same. Built and signed anew each time, since verifiers of V2 refuse a timestamp older than 300 s. gateway.md 3.
 */
import type { KeyObject } from 'node:crypto'
import type { Db } from '../../database/connection.ts'
import { gatewayString, signMd5, signRsa } from '../signing/gateway.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import type { MessageV1, MessageV2 } from './shapes.ts'
import { shanghaiTime } from './trade.ts'

/** Orders of the gateway that are paid, and not given back since: nothing is signed for any other. */
export function paidTrades(db: Db) {
  return db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .innerJoin('users as payer', 'payer.id', 'orders.payer_id')
    .where('orders.door', '=', 'gateway')
    .where('orders.status', '=', 'paid')
    .select([
      'orders.id',
      'orders.app_id',
      'orders.protocol',
      'orders.pid_sent',
      'orders.trade_no',
      'orders.order_id',
      'orders.transaction_id',
      'orders.type',
      'orders.description',
      'orders.money',
      'orders.param',
      'orders.notify_url',
      'orders.return_url',
      'orders.forced',
      'orders.created_at',
      'orders.paid_at',
      'payer.username as buyer',
      'app.callback_url',
    ])
}

export type PaidTrade = Awaited<ReturnType<ReturnType<typeof paidTrades>['executeTakeFirstOrThrow']>>

type TradeFacts = Pick<
  PaidTrade,
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

/** What a trade is told about under, by the version that its order was created with. */
export type Signer = { protocol: 'v1'; merchant_key: string } | { protocol: 'v2'; platform_key: KeyObject }

type MessageDeps = Pick<GatewayCore, 'gatewayKeys' | 'clock'>

/**
 * `address`, which is the trade's notify_url or return_url, with the signed parameters: with the keys of its own
 * application that are in force now. Printable ASCII.
 */
export async function tradeMessage(deps: MessageDeps, trade: PaidTrade, address: string): Promise<string> {
  return withParameters(address, await tradeParameters(trade, await signerOf(deps, trade), deps.clock()))
}

async function signerOf({ gatewayKeys }: MessageDeps, { app_id, protocol }: PaidTrade): Promise<Signer> {
  const app = await gatewayKeys.findApp({ app_id })
  if (app === undefined) throw new Error('An order without its application')
  if (protocol === 'v2') return { protocol, platform_key: await gatewayKeys.platformKey(app) }
  if (app.merchant_key === undefined) throw new Error('An application without its Merchant KEY')
  return { protocol: 'v1', merchant_key: app.merchant_key }
}

/** The parameters, signed. Pure. interface.md, Events. */
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

/** What of them is signed. */
export function tradeFields(trade: TradeFacts, protocol: 'v1' | 'v2', now: Date): Record<string, string> {
  return nonEmpty({ ...commonFields(trade), ...(protocol === 'v2' && fieldsOfV2(trade, now)) })
}

type Proof = 'sign' | 'sign_type'
type CommonField = Exclude<keyof typeof MessageV1.shape, Proof>
type SignedField = Exclude<keyof typeof MessageV2.shape, Proof>

/** All of V1, in the order of its documents: clients that rebuild the string from a list know no others. */
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
    // The buyer sees the signed return and chose this name: one in which another field could begin is left out.
    buyer: /&[^&]*=/.test(trade.buyer) ? '' : trade.buyer,
    timestamp: String(Math.floor(now.getTime() / 1000)),
  }
}

/** Some clients sign whatever arrives, empty values too, and PHP's `empty()` drops `0` as well: neither is sent. */
function nonEmpty(fields: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => !['', '0', null].includes(field[1])),
  )
}

/**
 * An address with these parameters in its query, before any fragment. A parameter of the same name that it has
 * already is replaced: of two, PHP would read the last, Go the first, and strict clients refuse both.
 */
export function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const [, path = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address)!
  const own = (query ?? '')
    .split('&')
    .filter((part) => part !== '' && !Object.hasOwn(parameters, nameOf(part)))
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return asAscii(`${path}?${[...own, ...added].join('&')}${fragment}`)
}

/** The name of a part of a query, as its reader will see it. */
function nameOf(part: string): string {
  return [...new URLSearchParams(`&${part}`).keys()][0] ?? ''
}

/** A URL goes into a header and a request line as it is. What a browser would encode is encoded. */
function asAscii(url: string): string {
  return url.replaceAll(/[^!-~]+/g, (text) => encodeURIComponent(text))
}
