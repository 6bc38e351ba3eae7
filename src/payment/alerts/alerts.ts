/**
 * What members are told of their payment applications without having asked: a row on their page of alerts and, where
 * mail can leave, a mail. The row's unique key is what makes one cause one alert, however many processes see it.
 */

import { sql } from 'kysely'
import { enqueueMail } from '../../accounts/people/email.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { AlertKind } from '../../database/tables/notifications.ts'
import type { TeamRole } from '../../database/tables/payment-apps.ts'
import { alerts as texts } from './alerts.texts.ts'

/** Where an alert leads to, below the page of its application. */
const PLACES: Record<AlertKind, string> = {
  reviewed: '',
  notifications_failing: '/notifications',
  key_expiring: '',
  balance_low: '',
  invited: '',
  offered: '/handover',
  received: '',
  given_away: '',
  events_gone: '/events',
}

/** These are about an application that its reader cannot look into (yet, or any more). */
const OUTSIDE: readonly AlertKind[] = ['invited', 'given_away']

export function placeOf({ kind, payment_id }: { kind: AlertKind; payment_id: string }): string {
  return OUTSIDE.includes(kind)
    ? '/payment/applications'
    : `/payment/applications/${payment_id}${PLACES[kind]}`
}

export type Alert = {
  app_id: bigint
  kind: AlertKind
  /** The same for what is the same: an id, a day, a moment. */
  cause: string
  /** What the words are made with, besides the application's name; never a secret. */
  facts?: Record<string, string>
  /** Whom it is for: one member, or whoever has one of these roles; nobody is told for an anonymised owner. */
  to: { user_id: bigint } | { roles: ('owner' | TeamRole)[] }
}

/** The cause of what anybody may do to a member as often as they like: it is told once a day (UTC). */
export function onceADay(now: Date): string {
  return now.toISOString().slice(0, 10)
}

type Telling = Pick<Core, 'config' | 'secrets' | 'clock'>

/** Inside the transaction of what is told. Whoever has been told of this cause is not told again. */
export async function raiseAlert(tx: Tx, deps: Telling, alert: Alert): Promise<void> {
  const { app_id, kind, cause, to } = alert
  const { name, payment_id } = await tx
    .selectFrom('payment_apps')
    .where('id', '=', app_id)
    .select(['name', 'payment_id'])
    .executeTakeFirstOrThrow()
  const facts = { ...alert.facts, app: name }
  const recipients =
    'user_id' in to
      ? sql`select ${to.user_id}::bigint as user_id`
      : sql`select user_id from payment_app_roles where app_id = ${app_id} and role = any(${to.roles}::text[])`
  const { rows } = await sql<{ user_id: bigint }>`
    insert into alerts (user_id, app_id, kind, cause, facts, raised_at)
    select user_id, ${app_id}, ${kind}, ${cause}, ${JSON.stringify(facts)}::jsonb, ${deps.clock()}
    from (${recipients}) as recipient
    join users on users.id = user_id and users.anonymised_at is null
    on conflict on constraint alerts_cause_key do nothing
    returning user_id`.execute(tx)
  for (const { user_id } of rows) await mailAlert(tx, deps, { user_id, kind, payment_id, facts })
}

type Mailed = { user_id: bigint; kind: AlertKind; payment_id: string; facts: Record<string, string> }

async function mailAlert(tx: Tx, deps: Telling, { user_id, kind, payment_id, facts }: Mailed): Promise<void> {
  const user = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .where('email_verified', '=', true)
    .select(['username', 'email', 'language'])
    .executeTakeFirst()
  if (user === undefined || user.email === null) return
  await enqueueMail(tx, deps, {
    user_id,
    recipient: user.email,
    username: user.username,
    language: user.language ?? 'en',
    kind: `alert.${kind}`,
    content: texts.mails[kind](facts),
    link: placeOf({ kind, payment_id }),
  })
}

/** A member's alerts, the newest first. */
export async function readAlerts(
  db: Db,
  user_id: bigint,
  { before, limit }: { before: bigint | undefined; limit: number },
) {
  let alerts = db
    .selectFrom('alerts')
    .innerJoin('payment_apps as app', 'app.id', 'alerts.app_id')
    .where('alerts.user_id', '=', user_id)
    .orderBy('alerts.id', 'desc')
    .limit(limit)
    .select([
      'alerts.id',
      'alerts.kind',
      'alerts.facts',
      'alerts.raised_at',
      'alerts.read_at',
      'app.payment_id',
    ])
  if (before !== undefined) alerts = alerts.where('alerts.id', '<', before)
  return alerts.execute()
}

/** Those up to this one have been read; what was raised since has not. */
export async function markRead(
  db: Db,
  user_id: bigint,
  { upTo, now, ip }: { upTo: bigint; now: Date; ip: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows: count } = await tx
      .updateTable('alerts')
      .set({ read_at: now })
      .where('user_id', '=', user_id)
      .where('id', '<=', upTo)
      .where('read_at', 'is', null)
      .executeTakeFirst()
    if (count === 0n) return
    const detail = { up_to: String(upTo), count: String(count) }
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'alerts.read',
      subject: `user:${user_id}`,
      detail,
      ip,
    })
  })
}
