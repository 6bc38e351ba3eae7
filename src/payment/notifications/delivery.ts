/**
 * One attempt to notify a shop: a request without redirects, of at most 10 seconds and 64 KiB, to addresses that the egress
 * guard allows. Every end of it is an outcome, never an exception.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, isIP, type TcpSocketConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import { type Address, bareHost, EgressError, type EgressGuard } from './egress.ts'

export const ATTEMPT_SECONDS_MAX = 10
const BODY_BYTES_MAX = 65_536
const KEPT_BYTES_MAX = 2_048
const DETAIL_LENGTH_MAX = 300
const SUCCESS = /^(?:success|"\s*success\s*")$/i
/** How long one of several addresses is tried before the next one. */
const CONNECT_STEP_MS = 2_500

export type Attempt = {
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  response_body: string | null
}

/** A message to send. The URL may be signed, so no log and no error contains it. */
export type Message = {
  url: string
  headers?: Record<string, string>
  /** A message with a body is a POST, which any 2xx confirms. Without one it is a GET, which a last line `success` confirms. */
  body?: string
}

/** Sends one notification. */
export type Deliver = (message: Message) => Promise<Attempt>

/** The phase of an attempt, which a timeout reports. */
type Phase = 'dns' | 'connect' | 'tls' | 'answer' | 'body'

/** Makes the Deliver of this process. `timeout_ms` bounds the whole attempt. */
export function makeDelivery(options: {
  guard: EgressGuard
  userAgent: string
  timeout_ms?: number
}): Deliver {
  const { guard, userAgent, timeout_ms = ATTEMPT_SECONDS_MAX * 1000 } = options
  return async (message) => {
    const late = Promise.withResolvers<never>()
    late.promise.catch(() => {})
    let isLate = false
    let phase: Phase = 'dns'
    const timer = setTimeout(() => {
      isLate = true
      late.reject(new Error('late'))
    }, timeout_ms)
    const enter = (next: Phase) => {
      phase = next
    }
    try {
      const url = parseUrl(message.url)
      const addresses = await Promise.race([guard(url), late.promise])
      enter('connect')
      const call = makeCall(url, addresses, { 'user-agent': userAgent, ...message.headers }, message, enter)
      late.promise.catch(() => call.destroy())
      const response = await answerTo(call, message.body)
      enter('body')
      return await judge(response, message)
    } catch (error) {
      if (isLate) return failure('timeout', phase)
      if (error instanceof EgressError) return failure(error.reason, error.detail)
      return faultOf(error as NodeJS.ErrnoException, phase)
    } finally {
      clearTimeout(timer)
    }
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new EgressError('bad_address', 'unreadable')
  return url
}

/**
 * Makes the request on a new connection, because a kept one was judged at another time. The Host header and the certificate
 * check use the name; the connection uses only the given addresses.
 */
function makeCall(
  url: URL,
  addresses: Address[],
  ownHeaders: Record<string, string>,
  { body }: Message,
  enter: (phase: Phase) => void,
): ClientRequest {
  const isTls = url.protocol === 'https:'
  const host = bareHost(url)
  const target: TcpSocketConnectOpts = {
    host,
    port: Number(url.port || (isTls ? 443 : 80)),
    lookup: (_name, _options, done) => done(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_STEP_MS,
  }
  const createConnection = () => {
    if (!isTls) return connect(target).once('connect', () => enter('answer'))
    const socket = connectTls({ ...target, servername: isIP(host) === 0 ? host : '' })
    return socket.once('connect', () => enter('tls')).once('secureConnect', () => enter('answer'))
  }
  const headers = { host: url.host, accept: '*/*', 'accept-encoding': 'identity', ...ownHeaders }
  const method = body === undefined ? 'GET' : 'POST'
  return request({ method, path: url.pathname + url.search, headers, createConnection })
}

function answerTo(call: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    call.once('response', resolve).on('error', reject)
    call.end(body)
  })
}

/** Judges a response. Reads the whole body only if its last line decides, otherwise only the part that is kept. */
async function judge(response: IncomingMessage, { body: sent }: Message): Promise<Attempt> {
  const status = response.statusCode!
  const isOk = status >= 200 && status < 300
  const isDecided = !isOk || sent !== undefined
  const bytes_max = isDecided ? KEPT_BYTES_MAX : BODY_BYTES_MAX
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      size += chunk.length
      if (size > bytes_max) break
    }
  } catch (error) {
    if (!isDecided) throw error
  }
  const body = Buffer.concat(chunks)
  const answer = { response_status: status, response_body: keptText(body) }
  if (status >= 300 && status < 400)
    return { outcome: 'redirect', detail: detailOf(response.headers.location), ...answer }
  if (!isOk) return { outcome: 'bad_status', detail: null, ...answer }
  if (isDecided) return { outcome: 'delivered', detail: null, ...answer }
  if (size > bytes_max) return { outcome: 'too_large', detail: null, ...answer }
  const before = beforeSuccess(body.toString())
  if (before === undefined) return { outcome: 'wrong_body', detail: null, ...answer }
  return { outcome: 'delivered', detail: before === '' ? null : detailOf(before)!, ...answer }
}

/**
 * The text before `success`, which must be the whole body or its last non-empty line, because a server may print warnings
 * first. Undefined without `success`. White space includes the byte order mark. decisions.md 12.4.
 */
function beforeSuccess(body: string): string | undefined {
  const text = body.trim()
  if (SUCCESS.test(text)) return ''
  const lines = text.split(/[\r\n]+/)
  return SUCCESS.test(lines.pop()!.trim()) ? lines.join('\n').trim() : undefined
}

/** The kept text of a body, without NUL, which Postgres cannot store, and without a character that is cut in two. */
function keptText(body: Buffer): string {
  return new TextDecoder().decode(body.subarray(0, KEPT_BYTES_MAX), { stream: true }).replaceAll('\0', '')
}

function detailOf(text: string | undefined): string | null {
  return text?.slice(0, DETAIL_LENGTH_MAX).toWellFormed().replaceAll('\0', '') ?? null
}

function faultOf(error: NodeJS.ErrnoException, phase: Phase): Attempt {
  const { code = null } = error
  if (code?.startsWith('HPE_')) return failure('malformed', code)
  if (phase === 'tls') return failure('tls', code)
  if (phase !== 'connect') return failure('cut', code)
  return failure(code === 'ECONNREFUSED' ? 'refused' : 'unreachable', code)
}

const failure = (outcome: AttemptOutcome, detail: string | null): Attempt => ({
  outcome,
  detail,
  response_status: null,
  response_body: null,
})
