/**
 * Delivers notifications within a process. Each claim settles ended attempts and takes due notifications. A claim
 * follows a payment in this process and the end of attempts that end together. It also runs every second, for rows of other
 * processes.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Core } from '../../core/core.ts'
import { gather } from '../../database/batcher.ts'
import { isRefusal } from '../../database/connection.ts'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { ForcedFault } from '../../database/tables/payments.ts'
import type { RequestOptions } from '../../egress/request.ts'
import { inCall } from '../../platform/tracing.ts'
import { retireEvents } from '../events/events.ts'
import { signedEvent } from '../events/webhook.ts'
import { signerFrom, withSignedTrade } from '../gateway/messages.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { type Attempt, type Deliver, type Message, makeDelivery } from './delivery.ts'
import {
  type Claimed,
  type Content,
  claimAndSettle,
  findContents,
  hasOpenAttempt,
  nextAttemptAt,
  type Settlement,
} from './outbox.ts'

const POLL_MS = 1_000
/** A claim looks at every host and application that waits, so few large ones cost less. More would hold up the event loop. */
const CLAIM_MAX = 128
/** The attempts under way in this process. A host gets at most 16 of them, an application 32. */
const UNDER_WAY_MAX = 256
/** An attempt that has crashed this many processes in a row counts as failed. */
const INTERRUPTIONS_MAX = 3
/** The time before the first look for an attempt of another process. It doubles for each next look. */
const FIRST_LOOK_MS = 150
/** The remembered orders with an ended attempt, because a payer may begin to wait only after it. */
const REMEMBERED_MAX = 1_000
/** The last claims of a process that cannot reach its database. */
const STOP_CLAIMS_MAX = 10
/** By Standard Webhooks, the address no longer accepts events. */
const GONE = 410

/** The core with the gateway's keys and the notifier. */
export type PaymentDeps = GatewayCore & { notifier: Notifier }

export type Notifier = {
  /** Claims at once, because a notification may be due. */
  nudge(): void
  /** Forgets the ended attempts for this order, so that the next wait is for a new one. */
  expect(order_id: bigint): void
  /**
   * Claims at once. Resolves when an attempt for this order has ended here, or when none is due or under way at any
   * process, and after `patience_ms` at the latest.
   */
  attempted(order_id: bigint, patience_ms: number): Promise<void>
  /** The time of the last successful claim, for health checks. */
  lastClaim(): Date | undefined
  start(log: FastifyBaseLogger): void
  /** Stops claiming. Resolves after the attempts under way have ended and are settled. */
  stop(): Promise<void>
}

export type NotifierOptions = RequestOptions

type NotifierDeps = Pick<
  GatewayCore,
  'config' | 'db' | 'clock' | 'clockCheck' | 'secrets' | 'settings' | 'gatewayKeys' | 'metrics' | 'tracing'
>

/** Opens the notifier of this process. It does nothing before `start`. */
export function openNotifier(deps: NotifierDeps, options: NotifierOptions = {}): Notifier {
  const signal = makeSignal()
  const waiters = makeWaiters()
  const attempts = openAttempts(deps, makeAttempt(deps, options), signal)
  const claims = openClaims(deps, attempts, waiters)
  let isStopping = false
  let running: Promise<void> | undefined

  const run = async (log: FastifyBaseLogger) => {
    while (!isStopping) {
      await gather(attempts.ended, CLAIM_MAX)
      if (!(await claims.run(log, Math.min(CLAIM_MAX, UNDER_WAY_MAX - attempts.underWay()))))
        await signal.raised(POLL_MS)
    }
    while (attempts.underWay() > 0) await signal.raised(POLL_MS)
    for (let tries = 0; attempts.ended.length > 0 && tries < STOP_CLAIMS_MAX; tries += 1)
      await claims.run(log, 0)
  }

  return {
    nudge: signal.raise,
    expect: (order_id) => waiters.forget(String(order_id)),
    async attempted(order_id, patience_ms) {
      if (running === undefined) return
      signal.raise()
      const order = String(order_id)
      const until = performance.now() + patience_ms
      const left = () => Math.max(0, until - performance.now())
      for (let look_ms = FIRST_LOOK_MS; look_ms < left(); look_ms *= 2) {
        if (await waiters.wait(order, look_ms)) return
        const isOver = hasOpenAttempt(deps.db, order_id, deps.clock()).then(
          (isOpen) => !isOpen,
          () => false,
        )
        // A database that answers late does not prolong the wait.
        if (await Promise.race([isOver, waiters.wait(order, left())])) return waiters.wake(order)
      }
      await waiters.wait(order, left())
    },
    lastClaim: claims.last,
    start(log) {
      running ??= run(log)
    },
    async stop() {
      isStopping = true
      signal.raise()
      await running
    },
  }
}

/** The attempts of this process: those under way, and the ended ones that wait to be settled. */
type Attempts = {
  begin(claimed: Claimed[], log: FastifyBaseLogger): void
  underWay(): number
  ended: Settlement[]
}

function openAttempts(deps: NotifierDeps, attempt: ReturnType<typeof makeAttempt>, signal: Signal): Attempts {
  const ended: Settlement[] = []
  let underWay = 0
  return {
    ended,
    underWay: () => underWay,
    begin(claimed, log) {
      underWay += claimed.length
      // One read serves all of them, and the next claim need not wait for it.
      const found = findContents(deps, claimed)
      for (const each of claimed)
        void attempt(each, found, log).then((settlement) => {
          ended.push(settlement)
          underWay -= 1
          signal.raise()
        })
    },
  }
}

function openClaims(
  { db, clock, clockCheck }: NotifierDeps,
  { ended, begin }: Attempts,
  waiters: ReturnType<typeof makeWaiters>,
) {
  /** The number of records to settle one by one, because the database has refused a batch with one of them. */
  let suspects = 0
  let last: Date | undefined
  return {
    last: () => last,
    /** Settles, and claims as many as there is room for. Returns whether there may be more to do at once. */
    async run(log: FastifyBaseLogger, room: number): Promise<boolean> {
      const settled = ended.splice(0, suspects > 0 ? 1 : CLAIM_MAX)
      suspects = Math.max(0, suspects - 1)
      try {
        // A wrong clock has dated these records, so they are dropped: their claims expire, and the attempts are repeated.
        if ((await clockCheck.secondsApart()) !== undefined) return false
        const now = clock()
        const claimed = await claimAndSettle(db, { settled, room, now })
        last = now
        for (const { order_id } of settled) if (order_id !== undefined) waiters.wake(order_id)
        if (claimed.length > 0) begin(claimed, log)
        return ended.length > 0 || (room > 0 && claimed.length === room)
      } catch (error) {
        log.error({ err: error }, 'notifications could not be claimed or settled')
        if (!isRefusal(error)) ended.push(...settled)
        else if (settled.length > 1) suspects = ended.push(...settled)
        // A record that is refused alone is dropped: its claim expires, and the attempt is repeated.
        return false
      }
    },
  }
}

/** Makes the only function that calls a merchant's address. */
export function makeDeliver(
  { config, tracing }: Pick<Core, 'config' | 'tracing'>,
  options: NotifierOptions,
): Deliver {
  const deliver = makeDelivery({ config }, options)
  return (message) => {
    const call = { method: message.body === undefined ? 'GET' : 'POST', url: URL.parse(message.url) }
    return inCall(tracing, call, () => deliver(message), endOf)
  }
}

function endOf({ outcome, response_status: status }: Attempt) {
  return { status, failure: outcome === 'delivered' ? undefined : outcome }
}

/** Makes the function of one whole attempt. It never throws: an internal fault is an outcome too. */
function makeAttempt(deps: NotifierDeps, options: NotifierOptions) {
  const { clock } = deps
  const deliver = makeDeliver(deps, options)
  const messageOf = async (content: Content): Promise<Message> => {
    if ('event' in content) return { url: content.event.url, ...signedEvent(content.event, clock()) }
    const { order } = content
    const signer = await signerFrom(deps, order)
    return { url: await withSignedTrade(order.notify_url!, order, signer, clock()) }
  }
  const send = async (content: Content, isFirst: boolean): Promise<Attempt & { url: string | null }> => {
    const message = await messageOf(content)
    const forced = isFirst ? forcedOf(content) : null
    if (forced === 'notify_refused')
      return { ...withoutAnswer('refused'), url: message.url, detail: 'test mode' }
    if (forced === 'notify_twice') await deliver(message)
    return { url: message.url, ...(await deliver(message)) }
  }
  return async (
    { id, order_id, claims, attempts, interruptions }: Claimed,
    found: Promise<Map<bigint, Content>>,
    log: FastifyBaseLogger,
  ): Promise<Settlement> => {
    const started_at = clock()
    const start = performance.now()
    let attempt = withoutAnswer('internal')
    let isGone = false
    try {
      const content = (await found).get(id)
      if (interruptions >= INTERRUPTIONS_MAX) attempt = withoutAnswer('interrupted')
      else attempt = content === undefined ? withoutAnswer('withdrawn') : await send(content, claims === 1)
      // Only events know 410 Gone. For a gateway shop it is an answer other than success.
      if (attempt.response_status === GONE && content !== undefined && 'event' in content)
        isGone = await retireEvents(deps, content.event)
    } catch (error) {
      log.error({ err: error, notification_id: id }, 'a notification could not be made')
    }
    const ended_at = clock()
    const duration_ms = Math.round(performance.now() - start)
    deps.metrics?.notifications.observe({ outcome: attempt.outcome }, duration_ms / 1000)
    const isOver = ['delivered', 'withdrawn'].includes(attempt.outcome) || isGone
    return {
      id: String(id),
      claim: claims,
      order_id: order_id?.toString(),
      started_at,
      ended_at,
      duration_ms,
      next_attempt_at: isOver ? null : nextAttemptAt(attempts, ended_at),
      ...attempt,
    }
  }
}

/** The fault that a tester forces for the notification of the payment. */
function forcedOf(content: Content): ForcedFault | null {
  if ('order' in content) return content.order.forced
  const { type, subject } = content.event
  return type === 'order.paid' && 'order' in subject ? subject.order.forced : null
}

function withoutAnswer(outcome: AttemptOutcome): Attempt & { url: string | null } {
  return { url: null, outcome, detail: null, response_status: null, response_body: null, step_ms: {} }
}

type Signal = ReturnType<typeof makeSignal>

/** A signal that wakes the loop. Raised without a listener, it wakes the next listener at once. */
function makeSignal() {
  let isRaised = false
  let wake = () => {}
  return {
    raise() {
      isRaised = true
      wake()
    },
    /** Resolves when it is raised, or after `ms` milliseconds. */
    async raised(ms: number): Promise<void> {
      if (!isRaised) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
      }
      isRaised = false
    },
  }
}

/** The payers who wait for an attempt for their order, and the orders whose attempt has ended. */
function makeWaiters() {
  const waiting = new Map<string, Set<() => void>>()
  const woken = new Set<string>()
  return {
    wake(order_id: string) {
      woken.add(order_id)
      if (woken.size > REMEMBERED_MAX) woken.delete(woken.values().next().value!)
      for (const resolve of waiting.get(order_id) ?? []) resolve()
    },
    forget(order_id: string) {
      woken.delete(order_id)
    },
    /** Returns whether an attempt for the order has ended. */
    async wait(order_id: string, ms: number): Promise<boolean> {
      if (woken.has(order_id)) return true
      const { promise, resolve } = Promise.withResolvers<void>()
      const others = waiting.get(order_id) ?? new Set()
      waiting.set(order_id, others.add(resolve))
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
      others.delete(resolve)
      if (others.size === 0) waiting.delete(order_id)
      return woken.has(order_id)
    },
  }
}
