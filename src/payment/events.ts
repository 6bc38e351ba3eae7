/**
 * Where an application's events go and what they are signed with: the owner's choice, off until it is made. The events
 * themselves are written by triggers, in the transaction of what they tell of.
 */
import type { Tx } from '../database/connection.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { isCallbackUrl } from './applications.ts'
import { newEventSecret } from './hmac/events.ts'
import { replaceKey, storeKey } from './keys.ts'
import { type Actor, audit, endOfOverlap, lockPermitted } from './ownership.ts'

const URL_LENGTH_MAX = 1_000

/** An address that events are sent to: like a callback's, but it may have a query. */
export function isEventsUrl(text: string, production: boolean): boolean {
  if (text.length > URL_LENGTH_MAX || !/^[!-"$-~]+$/.test(text)) return false
  return isCallbackUrl(text.split('?')[0]!, production)
}

/**
 * Sends events to this address from now on; with null no event is written any more, and those not told yet never are.
 * Answers the new secret when there was none before: it is told this once. Throws invalid_form.
 */
export async function setEventsUrl(
  deps: Deps,
  payment_id: string,
  url: string | null,
  actor: Actor,
): Promise<string | undefined> {
  if (url !== null && !isEventsUrl(url, deps.config.production))
    throw new AppError('invalid_form', 'This is not an address that events can be sent to')
  return deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    await tx
      .updateTable('payment_apps')
      .set({ events_url: url, updated_at: deps.clock() })
      .where('id', '=', id)
      .execute()
    if (url === null) await giveUpEvents(tx, id, deps.clock())
    await audit(tx, 'payment_app.set_events_url', payment_id, { url }, actor)
    if (url === null || (await eventSecretsOf(tx, id, deps.clock())).length > 0) return undefined
    const secret = newEventSecret()
    await storeKey(tx, deps.secrets, id, 'event_secret', secret)
    return secret
  })
}

async function giveUpEvents(tx: Tx, app_id: bigint, now: Date): Promise<void> {
  await tx
    .updateTable('notifications')
    .set({ status: 'failed', next_attempt_at: null, claimed_until: null, updated_at: now })
    .where('app_id', '=', app_id)
    .where('kind', '<>', 'gateway')
    .where('status', '=', 'due')
    .execute()
}

export type RotatedEventSecret = { secret: string; previous_until: Date }

/**
 * Issues a new secret, told this once. For the overlap, in hours, events carry a signature by each; with 0 the previous
 * one ends now. Throws conflict for an application that has none yet.
 */
export async function rotateEventSecret(
  deps: Deps,
  payment_id: string,
  overlap_hours: number,
  actor: Actor,
): Promise<RotatedEventSecret> {
  const now = deps.clock()
  const previous_until = endOfOverlap(now, overlap_hours)
  const secret = newEventSecret()
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    if ((await eventSecretsOf(tx, id, now)).length === 0)
      throw new AppError('conflict', 'There is no secret yet: switch events on first')
    await replaceKey(tx, deps.secrets, id, 'event_secret', secret, { now, previousUntil: previous_until })
    await audit(tx, 'payment_app.rotate_event_secret', payment_id, { overlap_hours }, actor)
  })
  return { secret, previous_until }
}

/** The secrets in force, the current one first, without their values. */
export async function eventSecretsOf(db: Deps['db'], app_id: bigint, now: Date) {
  return db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app_id)
    .where('kind', '=', 'event_secret')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', now)]))
    .orderBy('id', 'desc')
    .select(['created_at', 'valid_to'])
    .execute()
}
