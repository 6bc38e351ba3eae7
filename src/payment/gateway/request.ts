/**
 * Reads and authenticates a request of the gateway. On every path, `sign_type` of exactly `RSA` selects the verification of
 * V2, and any other value that of V1. spec/gateway 1.2.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { networkOf } from '../../core/limits.ts'
import type { ReceivedRequest } from '../../database/tables/payments.ts'
import { sameText } from '../../platform/secrets.ts'
import { receivedRequest } from '../orders/received.ts'
import { verifyMd5, verifyRsa } from '../signing/gateway.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { isAllowedAddress } from '../wire-fields/addresses.ts'
import { type FlatParameters, flatParameters, isFresh, withoutBlanks } from '../wire-fields/fields.ts'
import { requireOneReading } from './ambiguity.ts'
import { refusal } from './errors.ts'
import { hasTooManyStarts, type Reader } from './readings.ts'

/** In a name, `&` and `=` make a signed string ambiguous, and PHP reads brackets as an array. */
const AMBIGUOUS_NAME = /[&=[\]]/

declare module 'fastify' {
  interface FastifyRequest {
    /** The application that a gateway request names, after its look-up. V2 signs even refusals. */
    gatewayApp: GatewayApp | undefined
  }
}

type Received = Record<string, unknown>

/** The query if it has a pid, otherwise the body, never a mix of both. spec/gateway 1.3. */
export function queryOrBody(request: FastifyRequest): Received {
  const query = request.query as Received
  return query.pid === undefined ? body(request) : query
}

/** Only the body, because V2's JSON endpoints ignore the query. Throws wrong_content_type and malformed_request. */
export function body(request: FastifyRequest): Received {
  const received = request.body ?? {}
  if (request.headers['content-type']?.startsWith('text/plain')) throw refusal('wrong_content_type')
  if (typeof received !== 'object' || Array.isArray(received)) throw refusal('malformed_request')
  return received as Received
}

/** The query and the body together, for the clients of api.php. A name in both must have the same value. */
export function queryAndBody(request: FastifyRequest): Received {
  const merged: Received = Object.assign(Object.create(null), request.query)
  for (const [name, value] of Object.entries(body(request))) {
    const before = merged[name]
    merged[name] = before === undefined || before === value ? value : [before, value]
  }
  return merged
}

export type Authenticated = {
  app: GatewayApp
  /** Without blank values, which count as absent after the verification. */
  parameters: FlatParameters
  /** The version whose rules verified the request. */
  protocol: 'v1' | 'v2'
  /** The signed text and its reader. Undefined if the plain Merchant KEY replaced the signature. */
  signed: { text: string; reader: Reader } | undefined
  /** The request in the form that is kept and shown to the merchant. */
  asReceived(): ReceivedRequest
  /** The log of this request. */
  log: FastifyBaseLogger
}

export type Asking = {
  /** Whether the plain Merchant KEY in `key` may replace a V1 signature (api.php). */
  byKey?: boolean
  /** Whether the payer's browser sends the request, which may come from any address. */
  byBrowser?: boolean
}

/**
 * Finds the application and authenticates the request. Throws the refusals -4, -3 and -2 (spec/gateway 1.9), malformed_request,
 * parameter_ambiguous and too_many_attempts.
 */
export async function authenticate(
  request: FastifyRequest,
  received: Received,
  deps: GatewayCore,
  { byKey = false, byBrowser = false }: Asking = {},
): Promise<Authenticated> {
  const app = await findApp(request, received, deps)
  const parameters = unambiguous(received)
  const protocol = parameters.sign_type === 'RSA' ? 'v2' : 'v1'
  const hasKey = byKey && protocol === 'v1' && !isBlank(parameters.key)
  if (!app.accepts[protocol]) throw refusal('version_off', whyOff(app, protocol))
  const text = hasKey ? undefined : await signedText(parameters, app, deps)
  if (hasKey ? !hasMerchantKey(parameters, app) : text === undefined) {
    // A separate limit: a caller who knows only the pid cannot use up the application's limit.
    await deps.limits.take('api_requests', `${app.id} unsigned ${networkOf(request.ip)}`)
    throw refusal(hasKey ? 'wrong_key' : 'invalid_signature')
  }
  await deps.limits.take('api_requests', app.id.toString())
  if (protocol === 'v2' && !isFresh(parameters.timestamp ?? '', deps.clock()))
    throw refusal('stale_timestamp')
  if (!byBrowser && !isAllowedAddress(request.ip, app.allowed_addresses)) {
    throw refusal('address_not_allowed')
  }
  if (text !== undefined && hasTooManyStarts(text)) {
    throw refusal('parameter_ambiguous', '请求参数中与号过多，无法判断签名原文的含义')
  }
  const signed = text === undefined ? undefined : { text, reader: readerOf(app, protocol, deps.clock()) }
  const asReceived = () => receivedRequest(request, parameters)
  return { app, parameters: withoutBlanks(parameters), protocol, signed, asReceived, log: request.log }
}

/** Throws application_unusable. Selling needs an approved application; a suspended one may still ask. spec/payment-api 1.1. */
export function requireUsable({ status }: GatewayApp, act: 'sell' | 'ask'): void {
  if (status === 'approved' || (status === 'suspended' && act === 'ask')) return
  throw refusal('application_unusable', status === 'suspended' ? undefined : '支付应用尚未启用')
}

/**
 * Finds the application of the pid and keeps it with the request. Throws nothing_sent, malformed_request and
 * unknown_application.
 */
export async function findApp(
  request: FastifyRequest,
  received: Received,
  deps: GatewayCore,
): Promise<GatewayApp> {
  const { pid } = received
  if (Array.isArray(pid)) throw refusal('malformed_request')
  if (isBlank(pid)) throw refusal('nothing_sent', pid === undefined ? undefined : '商户号不能为空')
  request.gatewayApp = await deps.gatewayKeys.findApp({ pid: String(pid).trim() })
  if (request.gatewayApp === undefined) throw refusal('unknown_application')
  request.speaksFor = { app_id: request.gatewayApp.id, door: 'gateway', received }
  return request.gatewayApp
}

/** Whether a request of a known application has sign_type=RSA. Its answer is then signed on every path. */
export function isAskedByRsa({ speaksFor }: FastifyRequest): boolean {
  return [(speaksFor?.received as Received | undefined)?.sign_type].flat().includes('RSA')
}

function unambiguous(received: Received): FlatParameters {
  const parameters = flatParameters(received)
  if (AMBIGUOUS_NAME.test(Object.keys(parameters).join(' '))) throw refusal('malformed_request')
  return parameters
}

function whyOff({ merchant_key, key_ids }: GatewayApp, protocol: 'v1' | 'v2'): string | undefined {
  if (protocol === 'v2' && key_ids.merchant_public_key === null) return '商户未配置公钥'
  if (protocol === 'v1' && merchant_key === undefined) return '商户未配置密钥'
  return undefined
}

function hasMerchantKey({ key = '' }: FlatParameters, { merchant_key }: GatewayApp): boolean {
  return merchant_key !== undefined && sameText(key, merchant_key)
}

async function signedText(
  parameters: FlatParameters,
  app: GatewayApp,
  deps: GatewayCore,
): Promise<string | undefined> {
  if (parameters.sign_type !== 'RSA') return verifyMd5(parameters, app.merchant_key ?? '')
  const publicKey = await deps.gatewayKeys.merchantPublicKey(app)
  return publicKey && verifyRsa(parameters, publicKey)
}

/** The reader of signed requests: the fields and values that we require in every one. spec/gateway 1.5 and 3.2. */
function readerOf(app: GatewayApp, protocol: 'v1' | 'v2', now: Date): Reader {
  const isPid = (value: string) => [String(app.pid), app.payment_id].includes(value.trim())
  const isName = (name: string) => !AMBIGUOUS_NAME.test(name)
  if (protocol === 'v1') return { needs: ['pid'], takes: { pid: isPid }, isName }
  const timestamp = (value: string) => isFresh(value, now)
  return { needs: ['pid', 'timestamp'], takes: { pid: isPid, timestamp }, isName }
}

/** Fields of a new trade or of a return, which pass signed through the payer's browser. */
const FIELD_OF_PAYERS = /(?:^|&)(?:name|notify_url|trade_status)=/
const INQUIRY = ['act', 'trade_no', 'out_trade_no', 'limit', 'offset', 'page', 'status']

/**
 * Refuses a signed link or return of a payer where it could read the shop's trades or close one. A signed text does not name
 * its purpose. The check examines the signed text, because a sender can hide one field in the value of another without
 * changing that text. Throws invalid_signature and parameter_ambiguous.
 */
export function requireInquiry({ signed, parameters }: Authenticated): void {
  if (signed === undefined) return
  const { text, reader } = signed
  if (FIELD_OF_PAYERS.test(text)) throw refusal('invalid_signature', '签名不是为该接口生成的')
  const read = Object.fromEntries(INQUIRY.map((name) => [name, () => true]))
  requireOneReading(text, parameters, { ...reader, takes: { ...reader.takes, ...read } })
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}
