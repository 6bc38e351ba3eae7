/**
 * The part of a process that delivers notifications. A turn settles what has ended and claims what is due; while it
 * is under way more ends, and the next turn takes that all. It runs at once when somebody has paid here, when an
 * attempt has ended, and every second, for what others have left.
 */
import { Resolver } from 'node:dns/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Core } from '../../core/core.ts'
import { isRefusal } from '../../database/connection.ts'
import type { AttemptOutcome } from '../../database/tables/notifications.ts'
import type { ForcedFault } from '../../database/tables/payments.ts'
import { inCall } from '../../platform/tracing.ts'
import { retireEvents } from '../events/events.ts'
import { signedEvent } from '../events/webhook.ts'
import { tradeMessage } from '../gateway/messages.ts'
import type { GatewayCore } from '../signing/gateway-keys.ts'
import { type Attempt, type Deliver, type Message, makeDelivery } from './delivery.ts'
import { makeEgressGuard, type NameResolver } from './egress.ts'
import { type Claimed, findToTell, nextAttemptAt, type Settlement, type ToTell, takeTurn } from './outbox.ts'

const POLL_MS = 1_000
const TURN_MAX = 64
/** Of this process. A slow host has 16 of them, a slow application 32. */
const UNDER_WAY_MAX = 256
/** An attempt that has ended so many processes in a row counts as failed without another try. */
const INTERRUPTIONS_MAX = 3
/** Orders just told of: somebody may come to wait for one only now. */
const REMEMBERED_MAX = 1_000
/** At the end of a process that cannot reach its database. */
const STOP_TURNS_MAX = 10
/** By Standard Webhooks: nothing is taken here any more. */
const GONE = 410
const DNS = { timeout: 2_000, tries: 2 }

/** What the payment area is opened with. */
export type PaymentDeps = GatewayCore & { notifier: Notifier }

export type Notifier = {
  /** Something may be due: looks at once. */
  nudge(): void
  /** Looks at once, and resolves when a first attempt for this order has ended here, or after that many milliseconds. */
  attempted(order_id: bigint, patience_ms: number): Promise<void>
  /** When a turn last succeeded, for whoever watches the process. */
  lastTurn(): Date | undefined
  start(log: FastifyBaseLogger): void
  /** Claims nothing more; resolves once the attempts under way have ended and are settled. */
  stop(): Promise<void>
}

/** What tests choose themselves: the DNS server, and how long is long. */
export type NotifierOptions = { resolver?: NameResolver; timeout_ms?: number }

type NotifierDeps = Pick<
  GatewayCore,
  'config' | 'db' | 'clock' | 'secrets' | 'gatewayKeys' | 'metrics' | 'tracing'
>

export function openNotifier(deps: NotifierDeps, options: NotifierOptions = {}): Notifier {
  const attempt = makeAttempt(deps, options)
  const bell = makeBell()
  const told = makeWaitingRoom()
  const ended: Settlement[] = []
  let underWay = 0
  /** So many records are settled one by one, because the database has refused one among them. */
  let suspects = 0
  let lastTurn: Date | undefined
  let isStopping = false
  let running: Promise<void> | undefined

  const begin = (claimed: Claimed[], log: FastifyBaseLogger) => {
    underWay += claimed.length
    // Read once for all of them, and not before the next turn may begin.
    const found = findToTell(deps, claimed)
    for (const each of claimed)
      void attempt(each, found, log).then((settlement) => {
        ended.push(settlement)
        underWay -= 1
        bell.ring()
      })
  }
  /** Answers whether there may be more to do at once. */
  const turn = async (log: FastifyBaseLogger): Promise<boolean> => {
    const room = isStopping ? 0 : Math.min(TURN_MAX, UNDER_WAY_MAX - underWay)
    const settled = ended.splice(0, suspects > 0 ? 1 : TURN_MAX)
    suspects = Math.max(0, suspects - 1)
    try {
      const now = deps.clock()
      const claimed = await takeTurn(deps.db, { settled, room, now })
      lastTurn = now
      for (const { order_id } of settled) if (order_id !== undefined) told.call(order_id)
      if (claimed.length > 0) begin(claimed, log)
      return ended.length > 0 || (room > 0 && claimed.length === room)
    } catch (error) {
      log.error({ err: error }, 'notifications could not be claimed or settled')
      if (!isRefusal(error)) ended.push(...settled)
      else if (settled.length > 1) suspects = ended.push(...settled)
      // A record that is refused alone is given up: its claim runs out, and the attempt is made again.
      return false
    }
  }
  const run = async (log: FastifyBaseLogger) => {
    while (!isStopping) if (!(await turn(log))) await bell.heard(POLL_MS)
    while (underWay > 0) await bell.heard(POLL_MS)
    for (let tries = 0; ended.length > 0 && tries < STOP_TURNS_MAX; tries += 1) await turn(log)
  }

  return {
    nudge: bell.ring,
    async attempted(order_id, patience_ms) {
      if (running === undefined) return
      bell.ring()
      await told.wait(String(order_id), patience_ms)
    },
    lastTurn: () => lastTurn,
    start(log) {
      running ??= run(log)
    },
    async stop() {
      isStopping = true
      bell.ring()
      await running
    },
  }
}

/** Makes the one way in which an address of a merchant's is called. */
export function makeDeliver(
  { config, tracing }: Pick<Core, 'config' | 'tracing'>,
  { resolver = new Resolver(DNS), ...limits }: NotifierOptions,
): Deliver {
  const guard = makeEgressGuard(config.NOTIFY_ALLOW_CIDRS ?? [], resolver)
  const deliver = makeDelivery({ guard, userAgent: `Tessera (+${config.PUBLIC_URL})`, ...limits })
  return (message) => {
    const call = { method: message.body === undefined ? 'GET' : 'POST', url: URL.parse(message.url) }
    return inCall(tracing, call, () => deliver(message), endOf)
  }
}

function endOf({ outcome, response_status: status }: Attempt) {
  return { status, failure: outcome === 'delivered' ? undefined : outcome }
}

/** One attempt from its URL to what follows from it. Never throws: what is our own fault is an outcome too. */
function makeAttempt(deps: NotifierDeps, options: NotifierOptions) {
  const { clock } = deps
  const deliver = makeDeliver(deps, options)
  const messageOf = async (toTell: ToTell): Promise<Message> => {
    if ('event' in toTell) return { url: toTell.event.url, ...signedEvent(toTell.event, clock()) }
    return { url: await tradeMessage(deps, toTell.trade, toTell.trade.notify_url!) }
  }
  const tell = async (toTell: ToTell, isFirst: boolean): Promise<Attempt & { url: string | null }> => {
    const message = await messageOf(toTell)
    const forced = isFirst ? forcedOf(toTell) : null
    if (forced === 'notify_refused')
      return { ...withoutAnswer('refused'), url: message.url, detail: 'test mode' }
    if (forced === 'notify_twice') await deliver(message)
    return { url: message.url, ...(await deliver(message)) }
  }
  return async (
    { id, order_id, claims, attempts, interruptions }: Claimed,
    found: Promise<Map<bigint, ToTell>>,
    log: FastifyBaseLogger,
  ): Promise<Settlement> => {
    const started_at = clock()
    const start = performance.now()
    let attempt = withoutAnswer('internal')
    let isGone = false
    try {
      const toTell = (await found).get(id)
      if (interruptions >= INTERRUPTIONS_MAX) attempt = withoutAnswer('interrupted')
      else attempt = toTell === undefined ? withoutAnswer('withdrawn') : await tell(toTell, claims === 1)
      // The gateway's protocol has no such word: to a shop there it is one more answer that is not success.
      if (attempt.response_status === GONE && toTell !== undefined && 'event' in toTell)
        isGone = await retireEvents(deps, toTell.event)
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

/** What a tester has asked to go wrong when the shop is told of the payment. */
function forcedOf(toTell: ToTell): ForcedFault | null {
  if ('trade' in toTell) return toTell.trade.forced
  const { type, subject } = toTell.event
  return type === 'order.paid' && 'order' in subject ? subject.order.forced : null
}

function withoutAnswer(outcome: AttemptOutcome): Attempt & { url: string | null } {
  return { url: null, outcome, detail: null, response_status: null, response_body: null }
}

/** Rung while nobody listens, it is heard by the next who does. */
function makeBell() {
  let isRung = false
  let wake = () => {}
  return {
    ring() {
      isRung = true
      wake()
    },
    /** Resolves when it rings, or after that many milliseconds. */
    async heard(ms: number): Promise<void> {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
      }
      isRung = false
    },
  }
}

/** Those who wait for an attempt for an order, and the orders that nobody need wait for. */
function makeWaitingRoom() {
  const waiting = new Map<string, Set<() => void>>()
  const called = new Set<string>()
  return {
    call(order_id: string) {
      called.add(order_id)
      if (called.size > REMEMBERED_MAX) called.delete(called.values().next().value!)
      for (const tell of waiting.get(order_id) ?? []) tell()
    },
    async wait(order_id: string, ms: number): Promise<void> {
      if (called.has(order_id)) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const others = waiting.get(order_id) ?? new Set()
      waiting.set(order_id, others.add(resolve))
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
      others.delete(resolve)
      if (others.size === 0) waiting.delete(order_id)
    },
  }
}
