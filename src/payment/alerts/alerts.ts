/**
 * Alerts to members about their payment applications: a row on the page of alerts, and a mail to a verified address. The
 * row's unique key turns one cause into one alert, even if several processes raise it. spec/payment-api 6.3.
 */

import { sql } from 'kysely'
import { enqueueMail } from '../../accounts/people/email.ts'
import { deviceIcon } from '../../accounts/session/device.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { AlertKind, MandateAlertKind } from '../../database/tables/notifications.ts'
import type { TeamRole } from '../../database/tables/payment-apps.ts'
import type { Icon } from '../../web/icons.ts'
import { dateTag, type Language, makeTimes, type Text } from '../../web/languages.ts'
import { markNames } from '../../web/spacing.ts'
import { alerts as texts } from './alerts.texts.ts'

/** The link of each alert, relative to the page of its application. */
const LINKS: Record<Exclude<PaymentAlertKind, MandateAlertKind>, string> = {
  reviewed: '',
  notifications_failing: '/notifications',
  key_expiring: '',
  balance_low: '',
  invited: '',
  offered: '/handover',
  received: '',
  given_away: '',
  events_gone: '/events',
  payout_halted: '/payouts',
  payout_finished: '/payouts',
  link_low: '/links',
  link_sold_out: '/links',
  link_stopped: '/links',
  link_reported: '/links',
  link_sold: '/links',
}

/**
 * The alerts about payment applications. Identity raises those about sign-in applications, accounts those about sign-ins, and the
 * database function count_tip those about tips, which send no mail: spec/tips 3.1.
 */
type PaymentAlertKind = Exclude<AlertKind, 'app_registered' | 'new_browser' | 'tipped'>

/** The alerts about applications that the reader has no role in. */
const OUTSIDE: readonly AlertKind[] = ['invited', 'given_away']

/** The path that an alert links to: the receipt of a charge. Others about a mandate have its id among their facts. */
export function linkOf({ kind, payment_id, facts }: Linked): string {
  if (kind === 'app_registered') return '/apps'
  if (kind === 'new_browser') return '/account/sessions'
  if (kind === 'mandate_charged' && facts.transaction !== undefined)
    return `/payment/pay/${facts.transaction}`
  if (kind === 'tipped') return '/account/statement'
  if (isAboutMandate(kind)) return `/account/mandates/${facts.mandate}`
  if (facts.access_key !== undefined) return `/payment/applications/${payment_id}/access-keys`
  if (facts.link !== undefined) {
    const page = `/payment/applications/${payment_id}/links/${facts.link}`
    return kind === 'link_sold' ? `${page}/sales` : page
  }
  if (facts.payout !== undefined) return `/payment/applications/${payment_id}/payouts/${facts.payout}`
  return OUTSIDE.includes(kind)
    ? '/payment/applications'
    : `/payment/applications/${payment_id}${LINKS[kind]}`
}

type Linked = { kind: AlertKind; payment_id: string | null; facts: Record<string, string> }

function isAboutMandate(kind: AlertKind): kind is MandateAlertKind {
  return kind.startsWith('mandate_')
}

/** The alerts about something that does not work, or soon will not. */
const TROUBLES: readonly AlertKind[] = [
  'notifications_failing',
  'key_expiring',
  'balance_low',
  'events_gone',
  'mandate_refused',
  'mandate_owner',
  'payout_halted',
  'link_low',
  'link_sold_out',
  'link_stopped',
  'link_reported',
]

/** Whether an alert asks for an act, or only tells. */
export function toneOf({ kind }: { kind: AlertKind }): 'warn' | 'plain' {
  return TROUBLES.includes(kind) ? 'warn' : 'plain'
}

/** The icons of kinds that have one of their own. */
const ICONS_OF: Partial<Record<AlertKind, Icon>> = {
  app_registered: 'apps',
  reviewed: 'check',
  key_expiring: 'key',
  balance_low: 'wallet',
  invited: 'users',
  offered: 'swap',
  received: 'swap',
  given_away: 'swap',
  payout_finished: 'gift',
  link_sold: 'receipt',
  tipped: 'gift',
}

/** The icon that shows what an alert is about. */
export function iconOf({ kind, facts }: Pick<Linked, 'kind' | 'facts'>): Icon {
  if (kind === 'new_browser') return deviceIcon(facts.system)
  return ICONS_OF[kind] ?? (toneOf({ kind }) === 'warn' ? 'alert' : isAboutMandate(kind) ? 'refresh' : 'bell')
}

/** The facts that are points, and the form of those that are days. */
const AMOUNTS = ['points', 'net', 'each', 'balance']
const DAY = /^\d{4}-\d\d-\d\d$/

export type Alert = {
  app_id: bigint
  kind: PaymentAlertKind
  /** Identifies the cause: an id, a day or a moment. Raising the same cause again does nothing. */
  cause: string
  /** Values for the text, besides the application's name. Never a secret. */
  facts?: Record<string, string>
  /** One member, or all members with one of these roles. Anonymised members get no alert. */
  to: { user_id: bigint } | { roles: ('owner' | TeamRole)[] }
}

/** The cause of alerts that any member can trigger repeatedly: it allows one a day (UTC). */
export function onceADay(now: Date): string {
  return now.toISOString().slice(0, 10)
}

type AlertDeps = Pick<Core, 'config' | 'secrets' | 'clock' | 'settings'>

/** Raises an alert within the transaction of its cause. A member gets each cause only once. */
export async function raiseAlert(tx: Tx, deps: AlertDeps, alert: Alert): Promise<void> {
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

type Mailed = { user_id: bigint; kind: PaymentAlertKind; payment_id: string; facts: Record<string, string> }

async function mailAlert(
  tx: Tx,
  deps: AlertDeps,
  { user_id, kind, payment_id, facts }: Mailed,
): Promise<void> {
  const user = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .where('email_verified', '=', true)
    .select(['username', 'email', 'language'])
    .executeTakeFirst()
  if (user === undefined || user.email === null) return
  const language = user.language ?? 'en'
  const written = writtenFacts(facts, language)
  await enqueueMail(tx, deps, {
    user_id,
    recipient: user.email,
    username: user.username,
    language,
    kind: `alert.${kind}`,
    content: {
      ...texts.mails[kind](language === 'en' ? written : markNames(written)),
      facts: isAboutMandate(kind) ? chargeFacts(written) : [],
      ...(kind === 'mandate_charged' && facts.at !== undefined && { at: new Date(facts.at) }),
      button: texts.opens[kind === 'reviewed' && facts.link !== undefined ? 'link_low' : kind],
      ...(kind === 'balance_low' && { note: texts.limitIsYours }),
    },
    link: linkOf({ kind, payment_id, facts }),
  })
}

/** Writes the amounts and the days among the facts of an alert as a language does. */
export function writtenFacts(facts: Record<string, string>, language: Language): Record<string, string> {
  const tag = dateTag(language)
  const numbers = new Intl.NumberFormat(tag)
  const { dayOfYear } = makeTimes(tag, 'UTC')
  const write = (name: string, value: string) => {
    if (AMOUNTS.includes(name) && /^\d+$/.test(value)) return numbers.format(BigInt(value))
    return DAY.test(value) ? dayOfYear(value) : value
  }
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, write(name, value)]))
}

/** The facts of a charge, which its reader compares with those of the shop. */
function chargeFacts({ app, points, purpose, balance, next }: Record<string, string>): [Text, Text][] {
  const rows: [Text, Text | undefined][] = [
    [texts.shop, app === undefined ? undefined : texts.asWritten(app)],
    [texts.amount, points === undefined ? undefined : texts.pointsText(points)],
    [texts.purpose, purpose === undefined ? undefined : texts.asWritten(purpose)],
    [texts.balanceAfter, balance === undefined ? undefined : texts.pointsText(balance)],
    [texts.nextCharge, next === undefined ? undefined : texts.asWritten(next)],
  ]
  return rows.filter((row): row is [Text, Text] => row[1] !== undefined)
}

/** The name of the giver of a tip, which is that of the payer today, and the points that came into the wallet. */
const GIFT = sql<{ name: string; net: string } | null>`(
  select jsonb_build_object('name', payer.username, 'net', (orders.amount - orders.fee)::text)
  from orders join users as payer on payer.id = orders.payer_id
  where alerts.kind = 'tipped' and orders.transaction_id = alerts.facts ->> 'tip'
)`

/** A member's alerts, the newest first. */
export async function readAlerts(
  db: Db,
  user_id: bigint,
  { before, limit }: { before: bigint | undefined; limit: number },
) {
  let alerts = db
    .selectFrom('alerts')
    .leftJoin('payment_apps as app', 'app.id', 'alerts.app_id')
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
      GIFT.as('gift'),
    ])
  if (before !== undefined) alerts = alerts.where('alerts.id', '<', before)
  const rows = await alerts.execute()
  return rows.map(({ gift, ...alert }) => ({ ...alert, facts: { ...alert.facts, ...gift } }))
}

/** Marks a member's alerts up to this id as read, and returns how many were unread. Later alerts stay unread. */
export async function markRead(
  db: Db,
  user_id: bigint,
  { upTo, now, ip }: { upTo: bigint; now: Date; ip: string },
): Promise<bigint> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows: count } = await tx
      .updateTable('alerts')
      .set({ read_at: now })
      .where('user_id', '=', user_id)
      .where('id', '<=', upTo)
      .where('read_at', 'is', null)
      .executeTakeFirst()
    if (count === 0n) return count
    const detail = { up_to: String(upTo), count: String(count) }
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'alerts.read',
      subject: `user:${user_id}`,
      detail,
      ip,
    })
    return count
  })
}
