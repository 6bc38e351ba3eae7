/**
 * One attempt to tell a merchant: a request that follows no redirect, takes 10 seconds and 64 KiB at most, and connects
 * only where the egress guard lets it. However it ends is an outcome, never an exception.
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
/** How long an address of several is tried alone. */
const CONNECT_STEP_MS = 2_500

export type Attempt = {
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  response_body: string | null
}

/** What is sent. The URL may be signed, so it goes into no log and no error. */
export type Message = {
  url: string
  headers?: Record<string, string>
  /** With one it is a POST, and any 2xx confirms it; else a GET, confirmed by a last line that is the word success. */
  body?: string
}

/** Sends one notification. */
export type Deliver = (message: Message) => Promise<Attempt>

/** Where an attempt is, told when its time is over. */
type Phase = 'dns' | 'connect' | 'tls' | 'answer' | 'body'

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
 * The request, on a connection of its own: none is kept that was judged at another time. Host header and certificate
 * are those of the name; the connection goes to the addresses given and nowhere else.
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

/** Reads no more of an answer than decides: all of a right one, and of any other what is kept of it. */
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
 * What a body says before the word success, which is all of it or its last line that is not empty: a server that shows
 * its warnings has done its work. Undefined without that word. decisions.md 12.4. White space includes the byte order mark.
 */
function beforeSuccess(body: string): string | undefined {
  const text = body.trim()
  if (SUCCESS.test(text)) return ''
  const lines = text.split(/[\r\n]+/)
  return SUCCESS.test(lines.pop()!.trim()) ? lines.join('\n').trim() : undefined
}

/** Postgres stores no NUL, and a character cut in two is none. */
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
