/**
 * A request of the gateway: where its parameters stand, which application it speaks for, and whether it may. By
 * `sign_type` exactly `RSA` it is verified as V2, by anything else as V1, on every path; no other choice is its own.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { networkOf } from '../../core/limits.ts'
import type { ReceivedRequest } from '../../database/tables/payments.ts'
import { sameText } from '../../platform/secrets.ts'
import { receivedRequest } from '../orders/received.ts'
import { verifyMd5, verifyRsa } from '../signing/gateway.ts'
import type { GatewayApp } from '../signing/gateway-apps.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { isAllowedAddress } from '../values/addresses.ts'
import { type FlatParameters, flatParameters } from '../values/parameters.ts'
import { isFresh } from '../values/timestamp.ts'
import { requireOneReading } from './ambiguity.ts'
import { refusal } from './errors.ts'
import { hasTooManyStarts, type Reader } from './readings.ts'

/** In a name, these would let one signed string be read in two ways; and PHP reads brackets as an array. */
const AMBIGUOUS_NAME = /[&=[\]]/

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom a gateway request says it speaks for, once that is looked up: V2 signs even its refusals. */
    gatewayApp: GatewayApp | undefined
  }
}

type Received = Record<string, unknown>

/** The query if it names a pid, else the body: never a mix of both. gateway.md 1.2. */
export function queryOrBody(request: FastifyRequest): Received {
  const query = request.query as Received
  return query.pid === undefined ? body(request) : query
}

/** The body alone: V2's JSON endpoints take nothing from a query. */
export function body(request: FastifyRequest): Received {
  const received = request.body ?? {}
  if (request.headers['content-type']?.startsWith('text/plain')) throw refusal('wrong_content_type')
  if (typeof received !== 'object' || Array.isArray(received)) throw refusal('malformed_request')
  return received as Received
}

/** Query and body together, as the clients of api.php send them. A name in both must have one value. */
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
  /** Without what is empty or blank: verified, they count as absent. */
  parameters: FlatParameters
  /** By which rules the request was verified. */
  protocol: 'v1' | 'v2'
  /** The text that the signature is for, and how we read it; none where the Merchant KEY did instead. */
  signed: { text: string; reader: Reader } | undefined
  /** The request itself, as it may be shown again. */
  asReceived(): ReceivedRequest
  /** The service's own log, in lines of this request. */
  log: FastifyBaseLogger
}

export type Asking = {
  /** Whether the plain Merchant KEY, as the parameter `key`, will do instead of a signature of V1 (api.php). */
  byKey?: boolean
  /** A buyer's browser brings the request, from wherever the buyer is. */
  byBrowser?: boolean
}

/** Finds the application and checks that the request is its own. Throws what gateway.md calls -4, -3 and -2. */
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
    // Counted apart: whoever knows a pid only cannot use up what its application may ask.
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

/** Selling needs an approved application; asking about what was sold, one that was approved. decisions.md 4.8. */
export function requireUsable({ status }: GatewayApp, act: 'sell' | 'ask'): void {
  if (status === 'approved' || (status === 'suspended' && act === 'ask')) return
  throw refusal('application_unusable', status === 'suspended' ? undefined : '支付应用尚未启用')
}

/** The application that the pid names, kept with the request. Throws nothing_sent and unknown_application. */
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

/** Whether a request whose application is known says that it is V2: then its answer is signed, on every path. */
export function isAskedByRsa({ speaksFor }: FastifyRequest): boolean {
  return [(speaksFor?.received as Received | undefined)?.sign_type].flat().includes('RSA')
}

function unambiguous(received: Received): FlatParameters {
  const parameters = flatParameters(received)
  if (Object.keys(parameters).some((name) => AMBIGUOUS_NAME.test(name))) throw refusal('malformed_request')
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

/** What every signed request of an application must hold for us to take it. */
function readerOf(app: GatewayApp, protocol: 'v1' | 'v2', now: Date): Reader {
  const isPid = (value: string) => [String(app.pid), app.payment_id].includes(value.trim())
  const isName = (name: string) => !AMBIGUOUS_NAME.test(name)
  if (protocol === 'v1') return { needs: ['pid'], takes: { pid: isPid }, isName }
  const timestamp = (value: string) => isFresh(value, now)
  return { needs: ['pid', 'timestamp'], takes: { pid: isPid, timestamp }, isName }
}

/** What opens a trade, or says that one is paid: a buyer's browser carries it, signed, from the shop and back. */
const FIELD_OF_BUYERS = /(?:^|&)(?:name|notify_url|trade_status)=/
const INQUIRY = ['act', 'trade_no', 'out_trade_no', 'limit', 'offset', 'page', 'status']

/**
 * Nothing in a signed text says what it is for. So a link or return that a shop had signed for its buyer is refused where
 * it would open the shop's books or close its trade. It is told by what was signed, for its fields can be sent inside the
 * value of one another without a change to that.
 */
export function requireInquiry({ signed, parameters }: Authenticated): void {
  if (signed === undefined) return
  const { text, reader } = signed
  if (FIELD_OF_BUYERS.test(text)) throw refusal('invalid_signature', '签名不是为该接口生成的')
  const read = Object.fromEntries(INQUIRY.map((name) => [name, () => true]))
  requireOneReading(text, parameters, { ...reader, takes: { ...reader.takes, ...read } })
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

function withoutBlanks(parameters: FlatParameters): FlatParameters {
  const present = Object.entries(parameters).filter(([, value]) => value.trim() !== '')
  return Object.assign(Object.create(null), Object.fromEntries(present))
}
