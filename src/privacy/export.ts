/**
 * Exports all data of a member as one JSON document: stable names, times in UTC, points as whole numbers. It contains no
 * secret, and of other people only the data on the member's own pages. It is written in pieces, so that a member with a
 * million orders takes as little memory as one with three.
 */
import { type RawBuilder, sql } from 'kysely'
import { groupsOf, userColumns } from '../accounts/people/users.ts'
import { findSecondFactor } from '../accounts/security/second-factor.ts'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../platform/errors.ts'

const ROWS_MAX = 500

/**
 * A query for rows after a position, in the order of `position`, which the document leaves out. By its index it reads only the
 * rows that it returns.
 */
type List = (user_id: bigint, after: bigint) => RawBuilder<Record<string, unknown> & { position: bigint }>

/** Returns a from clause with `e`: the member's next entries after this one, ROWS_MAX of each wallet at most. */
function entriesOf(user_id: bigint, after: bigint, and: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`
    ledger_accounts as wallet
    join lateral (
      select * from entries where account_id = wallet.id and id > ${after} ${and} order by id limit ${ROWS_MAX}
    ) as e on wallet.user_id = ${user_id}`
}

/** The public id of the mandate of an order. */
const mandateOf = (order: string) =>
  sql`(select mandate_id from mandates where id = ${sql.ref(`${order}.mandate_id`)})`

const LISTS: Record<string, List> = {
  sessions: (id, after) => sql`
    select id as position, auth_time as signed_in_at, amr as methods, ip as address, agent as browser, last_seen_at, expires_at,
      sid
    from sessions where user_id = ${id} and id > ${after}`,
  passkeys: (id, after) => sql`
    select id as position, name, rp_id as site, transports, is_backup_eligible as may_sync, is_backed_up as is_synced,
      is_user_verified, is_discoverable, created_at, last_used_at
    from passkeys where user_id = ${id} and id > ${after}`,
  authorised_applications: (id, after) => sql`
    select app.id as position, app.client_id, app.name, c.scopes, c.created_at as first_allowed_at, c.updated_at as last_changed_at
    from consents as c join oauth_apps as app on app.id = c.app_id where c.user_id = ${id} and app.id > ${after}`,
  application_sign_ins: (id, after) => sql`
    select g.id as position, app.client_id, app.name, g.scopes, g.auth_time as signed_in_at, g.created_at, g.expires_at,
      g.revoked_at, g.is_on_device as on_device
    from grants as g join oauth_apps as app on app.id = g.app_id where g.user_id = ${id} and g.id > ${after}`,
  device_decisions: (id, after) => sql`
    select code.id as position, app.client_id, app.name, code.scopes, code.ip as asked_from, code.agent as program, code.created_at,
      code.allowed_at, code.denied_at, code.redeemed_at
    from device_codes as code join oauth_apps as app on app.id = code.app_id where code.user_id = ${id} and code.id > ${after}`,
  local_groups: (id, after) => sql`
    select local.id as position, local.name, member.created_at as added_at
    from user_groups as member join local_groups as local on local.id = member.local_group_id
    where member.user_id = ${id} and local.id > ${after}`,
  sign_outs_sent: (id, after) => sql`
    select d.id as position, app.client_id, app.name, d.sid, d.created_at, d.attempts, d.outcome, d.ended_at
    from logout_deliveries as d join oauth_apps as app on app.id = d.app_id where d.user_id = ${id} and d.id > ${after}`,
  own_oauth_applications: (id, after) => sql`
    select id as position, client_id, name, description, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri,
      allow_groups, deny_groups, grant_types, resource_uri, homepage, logo_url, suspended_at, suspended_reason, created_at,
      confirmed_at, (
        select sells.payment_id from shop_links as link join payment_apps as sells on sells.id = link.payment_app_id
        where link.oauth_app_id = oauth_apps.id
      ) as linked_payment_id, (
        select jsonb_build_object('oauth_application', link.oauth_app_before, 'payment_application', link.payment_app_before)
        from shop_links as link where link.oauth_app_id = oauth_apps.id
      ) as before_link
    from oauth_apps where owner_id = ${id} and id > ${after}`,
  own_payment_applications: (id, after) => sql`
    select id as position, payment_id, pid, book, name, description, callback_url, homepage, logo_url, status, review_reason,
      exchange_rate, allowed_addresses::text[] as allowed_addresses, order_minutes, notify_url, events_url,
      low_balance_points, mandate_right, mandate_right_purpose, mandate_daily_max, oauth_client_id, created_at
    from payment_apps where applicant_id = ${id} and id > ${after}`,
  teams: (id, after) => sql`
    select app.id as position, app.payment_id, app.name, m.role, m.invited_at, m.accepted_at
    from payment_app_members as m join payment_apps as app on app.id = m.app_id where m.user_id = ${id} and app.id > ${after}`,
  wallet_entries: (id, after) => sql`
    select e.id as position, e.book, j.id as journal, j.kind, j.reference, j.reason, e.amount, j.posted_at
    from ${entriesOf(id, after)} join journal as j on j.id = e.journal_id`,
  orders_bought: (id, after) => sql`
    select o.id as position, o.transaction_id, o.book, app.name as application, o.order_id, o.description, o.amount, o.status,
      o.refunded_amount, o.created_at, o.paid_at, ${mandateOf('o')} as mandate_id
    from orders as o join payment_apps as app on app.id = o.app_id where o.payer_id = ${id} and o.id > ${after}`,
  orders_opened: (id, after) => sql`
    select v.order_id as position, o.transaction_id, app.name as application, o.description, o.amount, v.viewed_at
    from order_views as v join orders as o on o.id = v.order_id join payment_apps as app on app.id = o.app_id
    where v.user_id = ${id} and v.order_id > ${after}`,
  // Without what was delivered, which the receipt shows.
  orders_at_links: (id, after) => sql`
    select s.order_id as position, o.transaction_id, l.slug, l.title, s.units, s.unit_amount, s.name, s.message, o.status,
      s.created_at
    from link_orders as s join links as l on l.id = s.link_id join orders as o on o.id = s.order_id
    where s.for_user_id = ${id} and s.order_id > ${after}`,
  reports_of_links: (id, after) => sql`
    select r.id as position, l.slug, r.text, r.created_at, r.settled_at
    from link_reports as r join links as l on l.id = r.link_id where r.user_id = ${id} and r.id > ${after}`,
  tips_given: (id, after) => sql`
    select o.id as position, o.transaction_id, o.amount, author.username as to_username, tip.post_path as post, o.status, o.paid_at
    from orders as o join tips as tip on tip.order_id = o.id join users as author on author.id = tip.to_user_id
    where o.payer_id = ${id} and o.id > ${after}`,
  // Unpaid ones say nothing of the member.
  tips_received: (id, after) => sql`
    select o.id as position, o.transaction_id, o.amount, o.fee, payer.username as from_username, tip.post_path as post, o.status,
      o.paid_at
    from tips as tip join orders as o on o.id = tip.order_id join users as payer on payer.id = o.payer_id
    where tip.to_user_id = ${id} and tip.order_id > ${after}`,
  links_of_own_applications: (id, after) => sql`
    select l.id as position, app.payment_id, l.slug, l.book, l.state, l.title, l.description, l.thanks, l.amount, l.amount_min,
      l.amount_max, l.suggestions, l.quantity_max, l.stock, l.member_max, l.sells_from, l.sells_until, l.min_level,
      l.allow_groups, l.delivery, l.messages, l.low_stock, l.sale_alerts, l.shows_stock, l.stopped_at, l.stopped_reason, l.created_at, units_sold(l.id) as units_sold
    from payment_apps as app join links as l on l.app_id = app.id where app.applicant_id = ${id} and l.id > ${after}`,
  access_keys_of_own_applications: (id, after) => sql`
    select key.id as position, app.payment_id, key.book, key.public_id as client_id, key.name, key.scopes,
      key.allowed_addresses::text[] as allowed_addresses, maker.username as made_by, key.created_at, key.expires_at,
      key.last_used_at, key.revoked_at
    from payment_apps as app join access_keys as key on key.app_id = app.id join users as maker on maker.id = key.created_by
    where app.applicant_id = ${id} and key.id > ${after}`,
  // Orders of the member's current applications. Payments through former ones are among the entries.
  orders_sold: (id, after) => sql`
    select o.id as position, o.transaction_id, o.trade_no, o.book, app.payment_id, o.door, o.order_id, o.description, o.money,
      o.amount, o.fee, o.merchant_points, o.status, o.refunded_amount, o.created_at, o.expires_at, o.paid_at,
      ${mandateOf('o')} as mandate_id
    from payment_apps as app
    cross join lateral (
      select * from orders where app_id = app.id and id > ${after} order by id limit ${ROWS_MAX}
    ) as o
    where app.applicant_id = ${id}`,
  mandates: (id, after) => sql`
    select m.id as position, m.mandate_id, app.payment_id, app.name as application, m.book, m.kind, m.purpose, m.period,
      m.asked_charge_max, m.asked_period_max, m.charge_max, m.period_max, m.starts_on, m.ends_on, m.with_token, m.status,
      m.ended_reason, m.notice, m.accepted_at, m.agreed_on, m.ended_at
    from mandates as m join payment_apps as app on app.id = m.app_id where m.user_id = ${id} and m.id > ${after}`,
  // Offers too. Of the members who accepted, what the page of the application shows.
  mandates_of_own_applications: (id, after) => sql`
    select m.id as position, m.mandate_id, app.payment_id, m.reference, m.book, m.kind, m.purpose, m.period, m.charge_max,
      m.period_max, m.starts_on, m.ends_on, m.with_token, m.status, m.ended_reason, m.created_at, m.accepted_at, m.ended_at,
      m.user_id, member.username
    from payment_apps as app
    cross join lateral (
      select * from mandates where app_id = app.id and id > ${after} order by id limit ${ROWS_MAX}
    ) as m
    left join users as member on member.id = m.user_id
    where app.applicant_id = ${id}`,
  refused_charges: (id, after) => sql`
    select * from (
      select row_number() over (order by r.mandate_id, r.period, r.outcome) as position, m.mandate_id, r.period, r.outcome,
        r.times, r.last_amount, r.first_at, r.last_at
      from mandates as m join mandate_refusals as r on r.mandate_id = m.id where m.user_id = ${id}
    ) as numbered where position > ${after}`,
  transfers: (id, after) => sql`
    select e.id as position, t.transaction_id, t.book, app.name as application,
      case when t.from_user_id = ${id} then t.order_id end as order_id, t.status, t.amount,
      case when t.from_user_id = ${id} then t.fee end as fee,
      name_now(t.from_user_id, t.from_username) as from_username, name_now(t.to_user_id, t.to_username) as to_username, t.paid_at,
      (select memo from payout_lines where transfer_id = t.id) as memo
    from ${entriesOf(id, after, sql`and exists (select from transfers where journal_id = entries.journal_id)`)}
    join transfers as t on t.journal_id = e.journal_id join payment_apps as app on app.id = t.app_id`,
  payouts: (id, after) => sql`
    select p.id as position, app.payment_id, p.book, p.reference, p.mode, p.status, p.reason, p.created_at, p.finished_at
    from payment_apps as app join payouts as p on p.app_id = app.id where app.applicant_id = ${id} and p.id > ${after}`,
  payout_lines: (id, after) => sql`
    select p.id * 1001 + line.n as position, p.reference, line.line_id, line.to_user_id,
      name_now(line.to_user_id, line.to_username) as to_username, line.amount, line.fee, line.memo, line.status, line.outcome
    from payment_apps as app join payouts as p on p.app_id = app.id join payout_lines as line on line.payout_id = p.id
    where app.applicant_id = ${id} and p.id * 1001 + line.n > ${after}`,
  refunds: (id, after) => sql`
    select e.id as position, o.transaction_id, r.book, r.amount, r.reason, r.refunded_at
    from ${entriesOf(id, after, sql`and exists (select from refunds where journal_id = entries.journal_id)`)}
    join refunds as r on r.journal_id = e.journal_id join orders as o on o.id = r.order_id`,
  refund_requests: (id, after) => sql`
    select r.id as position, o.transaction_id, r.amount, r.reason, r.status, r.asked_at, r.answer, r.decided_at
    from refund_requests as r join orders as o on o.id = r.order_id where r.asked_by = ${id} and r.id > ${after}`,
  alerts: (id, after) => sql`
    select alerts.id as position, app.payment_id, alerts.kind, alerts.facts, alerts.raised_at, alerts.read_at
    from alerts join payment_apps as app on app.id = alerts.app_id where alerts.user_id = ${id} and alerts.id > ${after}`,
  mails: (id, after) => sql`
    select id as position, recipient, kind, subject, created_at, sent_at, given_up_at
    from outgoing_mails where user_id = ${id} and id > ${after}`,
  security_events: (id, after) => sql`
    select id as position, kind, address, at from security_events where user_id = ${id} and id > ${after}`,
  // Acts of the member and acts on the account, without the names and addresses of the staff.
  audit: (id, after) => sql`
    select id as position, action, created_at as at,
      case when actor_id = ${id} then 'member' when actor_id is null then 'service' else 'staff' end as "by",
      case when actor_id = ${id} then subject end as subject, case when actor_id = ${id} then ip end as address
    from audit_log
    where id > ${after} and id in (
      (select id from audit_log where actor_id = ${id} and id > ${after} order by id limit ${ROWS_MAX})
      union (select id from audit_log where subject = ${`user:${id}`} and id > ${after} order by id limit ${ROWS_MAX})
    )`,
}

/**
 * Yields the document in pieces of text. Throws not_found. Each list is read at its own moment, so a later list may contain
 * newer events than an earlier one.
 */
export async function* exportMember(deps: Core, user_id: bigint): AsyncGenerator<string> {
  yield textOf({
    format: 'tessera-member-1',
    exported_at: deps.clock(),
    ...(await factsOf(deps, user_id)),
  }).slice(0, -1)
  for (const [name, list] of Object.entries(LISTS)) {
    yield `,\n${JSON.stringify(name)}:[`
    let after = 0n
    for (let isFirst = true; ; isFirst = false) {
      const { rows } = await sql<Record<string, unknown> & { position: bigint }>`
        select * from (${list(user_id, after)}) as listed order by position limit ${ROWS_MAX}`.execute(
        deps.db,
      )
      if (rows.length > 0)
        yield (isFirst ? '\n' : ',\n') + rows.map(({ position: _, ...row }) => textOf(row)).join(',\n')
      if (rows.length < ROWS_MAX) break
      after = rows.at(-1)!.position
    }
    yield ']'
  }
  yield '}\n'
}

/** Records an export in the audit log. A null `actor_id` is the operator at the command line. */
export async function recordExport(
  { db }: Pick<Core, 'db'>,
  { user_id, actor_id, ip }: { user_id: bigint; actor_id: bigint | null; ip: string | null },
): Promise<void> {
  const entry = { actor_id, action: 'account.exported', subject: `user:${user_id}`, detail: {}, ip }
  await db.transaction().execute((tx) => recordAudit(tx, entry))
}

/** Returns the data that is not a list. Throws not_found. */
async function factsOf({ db }: Core, user_id: bigint) {
  const user = await db
    .selectFrom('users')
    .where('users.id', '=', user_id)
    .select(userColumns)
    .select(['users.language', 'users.created_at', 'users.anonymised_at', 'users.shows_wallet_at_forum'])
    .select(['users.accepts_tips', 'users.mails_receipts'])
    .select(sql<boolean>`users.password_hash is not null`.as('has_password'))
    .executeTakeFirst()
  if (user === undefined) throw new AppError('not_found', 'There is no such member')
  const [forum, factor, wallets] = await Promise.all([
    db
      .selectFrom('forum_members')
      .innerJoin('users', 'users.id', 'forum_members.user_id')
      .where('forum_members.user_id', '=', user_id)
      .select(['users.forum_id', 'forum_members.username', 'forum_members.silenced_till'])
      .select(['forum_members.suspended_till', 'forum_members.is_banned', 'forum_members.checked_at'])
      .executeTakeFirst(),
    findSecondFactor(db, user_id),
    db
      .selectFrom('ledger_accounts')
      .where('user_id', '=', user_id)
      .orderBy('id')
      .select(['book', 'balance', 'frozen_at', 'frozen_reason'])
      .execute(),
  ])
  const { custom_groups: _, ...profile } = user
  return {
    profile: { ...profile, groups: groupsOf(user) },
    forum: forum ?? null,
    second_factor:
      factor === undefined ? null : { since: factor.since, recovery_codes_left: factor.codesLeft },
    wallets,
  }
}

/** Writes ids and points as JSON numbers, as everywhere on the wire. */
function textOf(value: object): string {
  return JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? Number(each) : each))
}
