/**
 * Sends logout tokens within a process. Each claim settles ended attempts and takes due deliveries. A claim runs every second,
 * and after the end of an attempt.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { isRefusal } from '../../database/connection.ts'
import type { LogoutOutcome } from '../../database/tables/identity.ts'
import { makeSendRequest, type RequestOptions, type SendRequest } from '../../egress/request.ts'
import { inCall } from '../../platform/tracing.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import {
  type Claimed,
  type Content,
  claimAndSettle,
  findContents,
  nextAttemptAt,
  type Settlement,
  signLogoutToken,
} from './deliveries.ts'

const POLL_MS = 1_000
/** The attempts under way in this process. Acts in bulk leave some of them to the acts of members. */
const UNDER_WAY_MAX = 16
const BULK_UNDER_WAY_MAX = 12
/** An attempt that has crashed this many processes in a row counts as failed. */
const INTERRUPTIONS_MAX = 3
/** The last claims of a process that cannot reach its database. */
const STOP_CLAIMS_MAX = 10
/** Section 2.8 demands 200. Some frameworks answer an empty 200 as 204. */
const SUCCESS = [200, 204]

export type LogoutSender = {
  /** Claims at once. */
  nudge(): void
  start(log: FastifyBaseLogger): void
  /** Stops claiming. Resolves after the attempts under way have ended and are settled. */
  stop(): Promise<void>
}

type Attempt = { outcome: LogoutOutcome; response_status: number | null }

/** Opens the sender of this process. It does nothing before `start`. */
export function openLogoutSender(deps: IdentityDeps, options: RequestOptions = {}): LogoutSender {
  const attempt = makeAttempt(deps, options)
  const ended: Settlement[] = []
  let underWay = 0
  let isStopping = false
  let running: Promise<void> | undefined
  let rung = Promise.withResolvers<void>()
  const ring = () => rung.resolve()

  const rest = async () => {
    const timer = setTimeout(ring, POLL_MS)
    await rung.promise
    clearTimeout(timer)
    rung = Promise.withResolvers<void>()
  }
  const begin = (claimed: Claimed[], log: FastifyBaseLogger) => {
    underWay += claimed.length
    const found = findContents(
      deps.db,
      claimed.map(({ id }) => id),
    )
    for (const each of claimed)
      void attempt(each, found, log).then((settlement) => {
        ended.push(settlement)
        underWay -= 1
        ring()
      })
  }
  const claim = async (log: FastifyBaseLogger, isLast: boolean): Promise<void> => {
    const settled = ended.splice(0)
    const room = isLast ? 0 : UNDER_WAY_MAX - underWay
    const bulk_room = Math.max(0, BULK_UNDER_WAY_MAX - underWay)
    try {
      // A wrong clock has dated these records, so they are dropped: their claims expire, and the attempts are repeated.
      if ((await deps.clockCheck.secondsApart()) !== undefined) return
      const claimed = await claimAndSettle(deps.db, { settled, room, bulk_room, now: deps.clock() })
      if (claimed.length > 0) begin(claimed, log)
    } catch (error) {
      log.error({ err: error }, 'logout tokens could not be claimed or settled')
      // A refused record is dropped: its claim expires, and the attempt is repeated.
      if (!isRefusal(error)) ended.push(...settled)
    }
  }
  const run = async (log: FastifyBaseLogger) => {
    while (!isStopping) {
      await claim(log, false)
      await rest()
    }
    while (underWay > 0) await rest()
    for (let tries = 0; ended.length > 0 && tries < STOP_CLAIMS_MAX; tries += 1) await claim(log, true)
  }

  return {
    nudge: ring,
    start(log) {
      running ??= run(log)
    },
    async stop() {
      isStopping = true
      ring()
      await running
    },
  }
}

/** Makes the function of one whole attempt. It never throws: an internal fault is an outcome too. */
function makeAttempt(deps: IdentityDeps, options: RequestOptions) {
  const { clock, metrics } = deps
  const send = makeSendRequest(deps, options)
  return async (
    { id, claims, attempts, interruptions }: Claimed,
    found: Promise<Map<bigint, Content>>,
    log: FastifyBaseLogger,
  ): Promise<Settlement> => {
    let attempt: Attempt = { outcome: 'internal', response_status: null }
    try {
      const content = (await found).get(id)
      if (interruptions >= INTERRUPTIONS_MAX) attempt = { outcome: 'interrupted', response_status: null }
      else if (content === undefined) attempt = { outcome: 'withdrawn', response_status: null }
      else attempt = await sendToken(deps, send, content)
    } catch (error) {
      log.error({ err: error, logout_delivery_id: id }, 'a logout token could not be made')
    }
    metrics?.logouts.inc({ outcome: attempt.outcome })
    const ended_at = clock()
    const isOver = attempt.outcome === 'delivered' || attempt.outcome === 'withdrawn'
    const next_attempt_at = isOver ? null : nextAttemptAt(attempts, ended_at)
    return { id: String(id), claim: claims, ended_at, next_attempt_at, ...attempt }
  }
}

async function sendToken(
  { config, signingKeys, clock, tracing }: IdentityDeps,
  send: SendRequest,
  { url, alg, ...ended }: Content,
): Promise<Attempt> {
  const key = await signingKeys.current(alg)
  const logout_token = signLogoutToken(ended, key, clock(), { config })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams({ logout_token }).toString()
  const call = { method: 'POST', url: URL.parse(url) }
  return inCall(
    tracing,
    call,
    async () => {
      const end = await send({ url, headers, body }, judge)
      return 'fault' in end ? { outcome: end.fault, response_status: null } : end
    },
    ({ outcome, response_status: status }) => ({
      status,
      failure: outcome === 'delivered' ? undefined : outcome,
    }),
  )
}

/** Judges a response by its status. The body is not read. */
async function judge(response: IncomingMessage): Promise<Attempt> {
  const status = response.statusCode!
  response.destroy()
  if (SUCCESS.includes(status)) return { outcome: 'delivered', response_status: status }
  return { outcome: status >= 300 && status < 400 ? 'redirect' : 'bad_status', response_status: status }
}
