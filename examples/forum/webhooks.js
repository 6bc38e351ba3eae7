// @ts-check
/** Sends webhooks as Discourse does: signed, and repeated for a while after an error. */
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 20_000
const RETRY_MINUTES = [1, 5, 25, 125]
const GONE = [404, 410]

/**
 * @typedef {{ url: string, secret?: string, isActive?: boolean }} Hook
 * @typedef {{ id: number, type: string, event: string, body: string, answers: (number | 'no answer')[] }} Delivery
 */

/**
 * @param {string} instance the forum's own address
 * @param {number} minuteMs the length of a minute; tests shorten it
 */
export function openWebhooks(instance, minuteMs = 60_000) {
  // A restarted forum must not repeat its IDs.
  let lastId = Date.now()
  const closing = new AbortController()

  /**
   * Sends one event until the receiver accepts it or the attempts end. Resolves to the delivery with all answers.
   * @param {Hook} hook
   * @param {string} type
   * @param {string} event
   * @param {Record<string, unknown>} content
   * @returns {Promise<Delivery>}
   */
  async function emit(hook, type, event, content) {
    lastId += 1
    const delivery = { id: lastId, type, event, body: JSON.stringify({ [type]: content }), answers: [] }
    if (hook.isActive === false) return delivery
    for (const minutes of [0, ...RETRY_MINUTES]) {
      if (minutes > 0) await sleep(minutes * minuteMs, undefined, { signal: closing.signal, ref: false })
      const answer = await send(hook, delivery)
      // Discourse does not repeat an event after a failed connection.
      if (answer === 'no answer' || (answer >= 200 && answer < 300)) return delivery
      const isLast = minutes === RETRY_MINUTES.at(-1)
      if (GONE.includes(answer)) {
        if (isLast) hook.isActive = false
        return delivery
      }
    }
    return delivery
  }

  /**
   * @param {Hook} hook
   * @param {Delivery} delivery
   * @returns {Promise<number | 'no answer'>}
   */
  async function send(hook, delivery) {
    const answer = await fetch(hook.url, {
      method: 'POST',
      headers: headersOf(hook, delivery),
      body: delivery.body,
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).then(
      (response) => response.status,
      () => /** @type {const} */ ('no answer'),
    )
    delivery.answers.push(answer)
    return answer
  }

  /**
   * @param {Hook} hook
   * @param {Delivery} delivery
   */
  function headersOf({ secret }, { id, type, event, body }) {
    return {
      'content-type': 'application/json',
      'user-agent': 'Discourse/3.5.0',
      'x-discourse-instance': instance,
      'x-discourse-event-id': String(id),
      'x-discourse-event-type': type,
      'x-discourse-event': event,
      ...(secret === undefined
        ? {}
        : {
            'x-discourse-event-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
          }),
    }
  }

  return { emit, send, close: () => closing.abort() }
}
