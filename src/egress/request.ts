/**
 * One request to an address that a member registered or the operator named: without redirects, of at most 10 seconds, to addresses that the guard
 * allows. Its end is an answer or a fault, never an exception.
 */
import { Resolver } from 'node:dns/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, isIP, type TcpSocketConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Config } from '../platform/config.ts'
import { type Address, bareHost, EgressError, makeEgressGuard, type NameResolver } from './guard.ts'

export const REQUEST_SECONDS_MAX = 10
/** How long one of several addresses is tried before the next one. */
const CONNECT_STEP_MS = 2_500
const DNS = { timeout: 2_000, tries: 2 }

/** The address may be signed, so no log and no error contains it. */
export type OutgoingRequest = {
  url: string
  headers?: Record<string, string>
  /** A request with a body is a POST, one without is a GET. */
  body?: string
}

/** How long each step of a request took, in milliseconds. A step that did not end has no time. */
export type StepTimes = { [Step in 'dns' | 'connect' | 'tls' | 'answer']?: number }

/** Why a request has no answer. */
export type Fault = {
  fault: EgressError['reason'] | 'refused' | 'unreachable' | 'tls' | 'timeout' | 'cut' | 'malformed'
  /** The error's code, or the phase of a timeout. */
  detail: string | null
  steps: StepTimes
}

/** Options for tests: the DNS server, and the time limit. An anonymous request does not name this site. */
export type RequestOptions = { resolver?: NameResolver; timeout_ms?: number; isAnonymous?: boolean }

/** Sends a request, and returns what `read` makes of the response. The time limit includes `read`. */
export type SendRequest = <Answer>(
  outgoing: OutgoingRequest,
  read: (response: IncomingMessage, steps: StepTimes) => Promise<Answer>,
) => Promise<Answer | Fault>

/** The phase of a request, which a timeout reports. */
type Phase = 'dns' | 'connect' | 'tls' | 'answer' | 'body'

/** Makes the function that sends requests. NOTIFY_ALLOW_CIDRS opens addresses that are not public. */
export function makeSendRequest(
  { config }: { config: Pick<Config, 'PUBLIC_URL' | 'NOTIFY_ALLOW_CIDRS'> },
  {
    resolver = new Resolver(DNS),
    timeout_ms = REQUEST_SECONDS_MAX * 1000,
    isAnonymous = false,
  }: RequestOptions,
): SendRequest {
  const guard = makeEgressGuard(config.NOTIFY_ALLOW_CIDRS ?? [], resolver)
  const usual = isAnonymous ? {} : { 'user-agent': `Tessera (+${config.PUBLIC_URL})` }
  return async (outgoing, read) => {
    const late = Promise.withResolvers<never>()
    late.promise.catch(() => {})
    let isLate = false
    let phase: Phase = 'dns'
    const timer = setTimeout(() => {
      isLate = true
      late.reject(new Error('late'))
    }, timeout_ms)
    const steps: StepTimes = {}
    let since = performance.now()
    const enter = (next: Phase) => {
      const now = performance.now()
      if (phase !== 'body') steps[phase] = Math.round(now - since)
      since = now
      phase = next
    }
    try {
      const url = parseUrl(outgoing.url)
      const addresses = await Promise.race([guard(url), late.promise])
      enter('connect')
      const headers = { ...usual, ...outgoing.headers }
      const call = makeCall(url, addresses, headers, outgoing, enter)
      late.promise.catch(() => call.destroy())
      const response = await answerTo(call, outgoing.body)
      enter('body')
      return await read(response, steps)
    } catch (error) {
      if (isLate) return { fault: 'timeout', detail: phase, steps }
      if (error instanceof EgressError) return { fault: error.reason, detail: error.detail, steps }
      return { ...faultOf(error as NodeJS.ErrnoException, phase), steps }
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
  { body }: OutgoingRequest,
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

function faultOf(error: NodeJS.ErrnoException, phase: Phase): Omit<Fault, 'steps'> {
  const { code = null } = error
  if (code?.startsWith('HPE_')) return { fault: 'malformed', detail: code }
  // OpenSSL's reason for an answer that is not TLS. Its code is often only EPROTO.
  const isPlain = error.message.includes('wrong version number')
  if (phase === 'tls') return { fault: 'tls', detail: isPlain ? 'ERR_SSL_WRONG_VERSION_NUMBER' : code }
  if (phase !== 'connect') return { fault: 'cut', detail: code }
  return { fault: code === 'ECONNREFUSED' ? 'refused' : 'unreachable', detail: code }
}
