// @ts-check
/**
 * Events of payments, as Standard Webhooks 1.0.0 signs them: for you to copy. Tessera sends an event until the shop answers 2xx.
 * So a paid order is known although the payer closed the browser.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'whsec_'
/** An older event may be a replay. */
const AGE_SECONDS_MAX = 300

/**
 * The event that Tessera signed, otherwise undefined.
 * @param {string} secret the secret of the events (whsec_…), from the application's page
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @param {string} body as it arrived: a parsed and rewritten body has another signature
 * @param {Date} now
 * @returns {{ type: string, data: Record<string, any> } | undefined}
 */
export function verifyEvent(secret, headers, body, now = new Date()) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (!(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= AGE_SECONDS_MAX)) return undefined
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  // While a secret is being replaced, there are two signatures.
  const isGenuine = String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((received) => received.length === expected.length && timingSafeEqual(received, expected))
  return isGenuine ? JSON.parse(body) : undefined
}
