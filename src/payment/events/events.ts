/**
 * The address and the secrets of an application's events, which are off until the owner sets an address. The acts write
 * the events themselves, in their transactions.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { AppError } from '../../platform/errors.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { isCallbackUrl } from '../apps/apps.ts'
import { endOfOverlap } from '../apps/key-changes.ts'
import { type Actor, audit, lockPermitted, rolesWith } from '../rights/rights.ts'
import { replaceKey, storeKey } from '../signing/keys.ts'
import { newEventSecret } from './webhook.ts'

const URL_LENGTH_MAX = 1_000

/** Whether the text is an address for events: a callback address that may have a query. */
export function isEventsUrl(text: string, production: boolean): boolean {
  if (text.length > URL_LENGTH_MAX || !/^[!-"$-~]+$/.test(text)) return false
  return isCallbackUrl(text.split('?')[0]!, production)
}

/**
 * Sets the address of events; null switches events off and drops the pending ones. Returns the new secret if there was
 * none, which is shown only this once. Throws invalid_form.
 */
export async function setEventsUrl(
  deps: Core,
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
      .set({ events_url: url, events_gone_at: null, updated_at: deps.clock() })
      .where('id', '=', id)
      .execute()
    if (url === null) await giveUpPending(tx, id, deps.clock()).execute()
    await audit(tx, 'payment_app.set_events_url', payment_id, { url }, actor)
    if (url === null || (await eventSecretsOf(tx, id, deps.clock())).length > 0) return undefined
    const secret = newEventSecret()
    await storeKey(tx, deps.secrets, id, 'event_secret', secret)
    return secret
  })
}

/**
 * Switches the events of an application off after its address answered 410 Gone, which is final by the standard, and
 * alerts its team. Returns false if another address has been set meanwhile. Attempts under way continue to their end.
 */
export async function retireEvents(
  deps: Pick<Core, 'config' | 'db' | 'secrets' | 'clock' | 'settings'>,
  { app_id, url }: { app_id: bigint; url: string },
): Promise<boolean> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const app = await tx
      .updateTable('payment_apps')
      .set({ events_url: null, events_gone_at: now, updated_at: now })
      .where('id', '=', app_id)
      .where('events_url', '=', url)
      .returning('payment_id')
      .executeTakeFirst()
    if (app === undefined) return isOff(tx, app_id)
    await giveUpPending(tx, app_id, now).where('claimed_until', 'is', null).execute()
    await recordAudit(tx, {
      actor_id: null,
      action: 'payment_app.events_gone',
      subject: app.payment_id,
      detail: { url },
      ip: null,
    })
    await raiseAlert(tx, deps, {
      app_id,
      kind: 'events_gone',
      cause: now.toISOString(),
      to: { roles: rolesWith('settings.edit') },
    })
    return true
  })
}

async function isOff(tx: Tx, app_id: bigint): Promise<boolean> {
  const { events_url } = await tx
    .selectFrom('payment_apps')
    .where('id', '=', app_id)
    .select('events_url')
    .executeTakeFirstOrThrow()
  return events_url === null
}

/** The newest notifications that are looked at. An older one that still waits is rare. */
const PENDING_LOOKED_THROUGH = 1_000

/** Counts the events that are still to be sent, and would be given up. */
export async function pendingEvents(db: Core['db'], app_id: bigint): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select count(*) filter (where status = 'due' and kind <> 'gateway')::integer as pending
    from (
      select n.status, n.kind from notifications as n where ${rowsOfApp('n', app_id)}
      order by n.app_id desc, n.id desc limit ${PENDING_LOOKED_THROUGH}
    ) as newest`.execute(db)
  return rows[0]!.pending
}

/** Gives up the pending events of an application. */
function giveUpPending(tx: Tx, app_id: bigint, now: Date) {
  return tx
    .updateTable('notifications')
    .set({ status: 'failed', next_attempt_at: null, claimed_until: null, updated_at: now })
    .where('app_id', '=', app_id)
    .where('kind', '<>', 'gateway')
    .where('status', '=', 'due')
}

export type RotatedEventSecret = { secret: string; previous_until: Date }

/**
 * Issues a new secret, which is shown only this once. For the overlap in hours, each event carries a signature by both
 * secrets; 0 ends the previous secret now. Throws invalid_form, and conflict if the application has no secret.
 */
export async function rotateEventSecret(
  deps: Core,
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

/** The valid secrets without their values, the current one first. */
export async function eventSecretsOf(db: Core['db'], app_id: bigint, now: Date) {
  return db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app_id)
    .where('kind', '=', 'event_secret')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', now)]))
    .orderBy('id', 'desc')
    .select(['created_at', 'valid_to'])
    .execute()
}
