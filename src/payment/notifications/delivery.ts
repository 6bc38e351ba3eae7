// This room: the outbox: delivers notifications and events to shops, and repeats what failed.
// Verbs: openNotifier, claimAndSettle, makeDelivery, redeliver, pauseHost.
// Tables: notifications, paused_hosts.
// Clauses: spec/payment-api 5.3; spec/gateway 4.1.
/**
 * One attempt to notify a shop: a guarded request, and at most 64 KiB of its answer. Every end of it is an outcome, never an
 * exception.
 */
import type { IncomingMessage } from 'node:http'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import {
  makeSendRequest,
  type OutgoingRequest,
  type RequestOptions,
  type StepTimes,
} from '../../egress/request.ts'
import type { Config } from '../../platform/config.ts'

const BODY_BYTES_MAX = 65_536
const KEPT_BYTES_MAX = 2_048
const DETAIL_LENGTH_MAX = 300
const SUCCESS = /^(?:success|"\s*success\s*")$/i

export type Attempt = {
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  response_body: string | null
  step_ms: StepTimes
}

/** A message to send. Any 2xx confirms one with a body; a last line `success` confirms one without. */
export type Message = OutgoingRequest

/** Sends one notification. */
export type Deliver = (message: Message) => Promise<Attempt>

/** Makes the Deliver of this process. */
export function makeDelivery(deps: { config: Config }, options: RequestOptions): Deliver {
  const send = makeSendRequest(deps, options)
  return async (message) => {
    const end = await send(message, async (response, step_ms) => ({
      ...(await judge(response, message)),
      step_ms,
    }))
    if (!('fault' in end)) return end
    const { fault, detail, steps } = end
    return { outcome: fault, detail, response_status: null, response_body: null, step_ms: steps }
  }
}

/** Judges a response. Reads the whole body only if its last line decides, otherwise only the part that is kept. */
async function judge(response: IncomingMessage, { body: sent }: Message): Promise<Omit<Attempt, 'step_ms'>> {
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
  if (!isOk) return { outcome: 'bad_status', detail: statusDetail(response, sent), ...answer }
  if (isDecided) return { outcome: 'delivered', detail: null, ...answer }
  if (size > bytes_max) return { outcome: 'too_large', detail: null, ...answer }
  const before = beforeSuccess(body.toString())
  if (before === undefined) return { outcome: 'wrong_body', detail: null, ...answer }
  return { outcome: 'delivered', detail: before === '' ? null : detailOf(before)!, ...answer }
}

/** The common causes of an error status, as the texts name them. Otherwise null. */
function statusDetail({ statusCode = 0, headers }: IncomingMessage, sent: string | undefined): string | null {
  if (statusCode === 403 && headers['cf-mitigated'] !== undefined) return 'challenge'
  if (statusCode >= 520 && statusCode <= 526) return 'origin'
  const allowed = headers.allow?.toUpperCase().split(/[\s,]+/) ?? []
  const isPostOnly = sent === undefined && allowed.includes('POST') && !allowed.includes('GET')
  return statusCode === 405 && isPostOnly ? 'post_only' : null
}

/**
 * The text before `success`, which must be the whole body or its last non-empty line, because a server may print warnings
 * first. Undefined without `success`. White space includes the byte order mark. spec/gateway 4.1.
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
