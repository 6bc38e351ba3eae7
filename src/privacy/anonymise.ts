// This room: a member’s data exported, and an account anonymised.
// Verbs: anonymise, obstaclesOf, recordExport.
// Tables: former_usernames, users.
// Clauses: spec/accounts 1.4.
/**
 * Anonymises an account: its data is removed for good, its row and number stay, and the ledger does not change. Obstacles
 * prevent it until they are settled: they would lose points or leave another member with an open matter.
 * spec/accounts 1.4.
 */
import { type RawBuilder, sql } from 'kysely'
import { isLastAdministrator, lockWithAdministrators, type MemberAct } from '../accounts/members.ts'
import { lockUser } from '../accounts/people/users.ts'
import { recordSecurityEvent } from '../accounts/security/security-events.ts'
import { queueLogoutsOf } from '../accounts/session/ended-sessions.ts'
import { endSessionsOf } from '../accounts/session/session.ts'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import { type Db, isDeadlock, type Tx } from '../database/connection.ts'
import { endGrantsOf } from '../identity/grants/grants.ts'
import { adjustPoints } from '../ledger/points.ts'
import { AppError } from '../platform/errors.ts'

/** How long after a payment its refund must stay possible. */
export const REFUNDABLE_DAYS = 30
const DAY_MS = 86_400_000
const ATTEMPTS_MAX = 3

/** The obstacles, in the order of their report. */
const OBSTACLES = [
  'points',
  'points_coming',
  'frozen',
  'last_administrator',
  'team_roles',
  'oauth_apps',
  'open_orders',
  'refundable_orders',
  'refund_requests',
] as const
export type Obstacle = (typeof OBSTACLES)[number]

/** Counts what closing an account ends: signed-in browsers, authorised applications, and payment applications. */
export async function whatEnds(
  db: Db,
  user_id: bigint,
  now: Date,
): Promise<{ sessions: bigint; consents: bigint; payment_apps: bigint }> {
  const { rows } = await sql<{ sessions: bigint; consents: bigint; payment_apps: bigint }>`
    select (select count(*) from sessions where user_id = ${user_id} and expires_at > ${now}) as sessions,
      (select count(*) from consents where user_id = ${user_id}) as consents,
      (select count(*) from payment_apps where applicant_id = ${user_id}) as payment_apps`.execute(db)
  return rows[0]!
}

/** Returns the obstacles to anonymising a member now, and the whole points of the live wallet. */
export async function obstaclesOf(
  db: Db,
  user_id: bigint,
  now: Date,
): Promise<{ obstacles: Obstacle[]; balance: bigint }> {
  const paid_since = new Date(now.getTime() - REFUNDABLE_DAYS * DAY_MS)
  const mine = sql`(select id from payment_apps where applicant_id = ${user_id} and book = 'live')`
  const wallet = sql`(select id from ledger_accounts where user_id = ${user_id} and book = 'live' and kind = 'wallet')`
  const tests: Record<Exclude<Obstacle, 'points'>, RawBuilder<boolean>> = {
    points_coming: sql`exists (select from forum_scores where user_id = ${user_id} and pending_amount is not null)`,
    frozen: sql`exists (select from ledger_accounts where user_id = ${user_id} and frozen_at is not null)`,
    last_administrator: isLastAdministrator(user_id, now),
    team_roles: sql`exists (
      select from payment_app_members where user_id = ${user_id} and accepted_at is not null
    )`,
    oauth_apps: sql`exists (select from oauth_apps where owner_id = ${user_id})`,
    open_orders: sql`exists (
      select from orders where app_id in ${mine} and status = 'unpaid' and expires_at > ${now}
    )`,
    refundable_orders: sql`has_refundable_order(${user_id}, ${paid_since}::timestamptz)`,
    // Looks up the order of each open request. A join could read all orders.
    refund_requests: sql`exists (
      select from refund_requests as r
      cross join lateral (
        select from orders where id = r.order_id and ${user_id} in (r.asked_by, payer_id, payee_id) limit 1
      ) as o
      where r.status = 'open'
    )`,
  }
  const { rows } = await sql<Record<Exclude<Obstacle, 'points'>, boolean> & { balance: bigint }>`
    select coalesce((select balance from ledger_accounts where id = ${wallet}), 0) as balance,
      ${sql.join(Object.entries(tests).map(([name, test]) => sql`${test} as ${sql.ref(name)}`))}`.execute(db)
  const { balance, ...others } = rows[0]!
  const all = { points: balance !== 0n, ...others }
  return { obstacles: OBSTACLES.filter((name) => all[name]), balance }
}

export type Anonymisation = Omit<MemberAct, 'actor_id' | 'ip'> & {
  /** Null for the operator at the command line. */
  actor_id: bigint | null
  ip: string | null
  /** Whole points that the member gives up with the account: those of the whole wallet, or 0. */
  give_up: bigint
}

/**
 * Anonymises an account. Throws not_found, conflict for an anonymised account, and conflict with the names of the obstacles
 * if there are any; then nothing has changed.
 *
 * It first locks the member's row, so that other acts on the account wait. Then it locks applications, mandates and the wallet
 * in the order of charges, and sessions in the order of the exchange of codes. Last it locks the row against foreign keys: rows
 * written meanwhile exist by then, and the database refuses later ones. An exchange may use a session that began in between
 * and wait for the member's row. Postgres ends that deadlock, and the transaction is repeated.
 */
export async function anonymise(deps: Core, act: Anonymisation): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deps.db.transaction().execute((tx) => anonymiseWithin(tx, deps, act))
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isDeadlock(error)) throw error
    }
  }
}

async function anonymiseWithin(tx: Tx, deps: Core, act: Anonymisation): Promise<void> {
  const { user_id, actor_id, reason, ip, give_up } = act
  const now = deps.clock()
  await lockAccount(tx, user_id)
  const apps = await lockOwnApps(tx, user_id)
  await endMandatesOf(tx, act, now)
  await giveUpPoints(tx, act, now)
  // Makes the wallet if there is none, because it must be closed.
  await sql`select from lock_wallets(array[${user_id}]::bigint[], array['live'])`.execute(tx)
  const { obstacles } = await obstaclesOf(tx, user_id, now)
  if (obstacles.length > 0)
    throw new AppError('conflict', `This account cannot be anonymised yet: ${obstacles.join(', ')}`)

  // One message to each application says more than one for each session.
  await endSessionsOf(tx, deps, user_id, { isTold: false })
  await endGrantsOf(tx, { user_id, now })
  await tx.selectFrom('users').where('id', '=', user_id).select('id').forUpdate().execute()
  await endSessionsOf(tx, deps, user_id, { isTold: false })
  await queueLogoutsOf(tx, { user_id, now })
  await tx.deleteFrom('outgoing_mails').where('user_id', '=', user_id).execute()
  const detail = { reason, given_up: String(give_up) }
  await recordSecurityEvent(tx, deps, { event: 'anonymised', user_id, actor_id, ip, detail })
  await forget(tx, user_id)
  await closeApps(tx, apps, { user_id, actor_id, ip, now })
  await scrub(tx, user_id, now)
}

async function lockAccount(tx: Tx, user_id: bigint): Promise<void> {
  await lockWithAdministrators(tx, user_id)
  const { anonymised_at } = await lockUser(tx, user_id)
  if (anonymised_at !== null) throw new AppError('conflict', 'This account is anonymised already')
}

/** Ends the member's mandates, and those that bind others to the member's applications. */
async function endMandatesOf(tx: Tx, { user_id, actor_id, ip }: Anonymisation, now: Date): Promise<void> {
  await sql`
    select end_mandates(
      array(
        select id from mandates
        where status in ('active', 'paused') and (
          user_id = ${user_id} or app_id in (select id from payment_apps where applicant_id = ${user_id})
        )
      ),
      'account_closed', ${now}::timestamptz, ${actor_id}::bigint, ${ip}, '{"by": "service"}'
    )`.execute(tx)
}

type OwnApp = { id: bigint; payment_id: string; status: string }

async function lockOwnApps(tx: Tx, user_id: bigint): Promise<OwnApp[]> {
  return tx
    .selectFrom('payment_apps')
    .where('applicant_id', '=', user_id)
    .orderBy('id')
    .select(['id', 'payment_id', 'status'])
    .forNoKeyUpdate()
    .execute()
}

/** Posts an adjustment. Throws conflict for more points than the wallet has; remaining points are an obstacle. */
async function giveUpPoints(tx: Tx, { user_id, actor_id, give_up }: Anonymisation, now: Date): Promise<void> {
  if (give_up === 0n) return
  const [reference, reason] = [`account:${user_id}`, 'Given up with the account']
  await adjustPoints(tx, { user_id, amount: -give_up, reference, reason, actor_id, now })
}

/** Deletes the member's credentials, data and addresses. */
async function forget(tx: Tx, user_id: bigint): Promise<void> {
  const { username, email } = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .select(['username', 'email'])
    .executeTakeFirstOrThrow()
  // The last mail to the confirmed address must not refer to the account.
  await tx.updateTable('outgoing_mails').set({ user_id: null }).where('user_id', '=', user_id).execute()
  for (const table of OF_THE_MEMBER) await tx.deleteFrom(table).where('user_id', '=', user_id).execute()
  await tx.deleteFrom('payment_app_offers').where('to_user_id', '=', user_id).execute()
  await tx
    .updateTable('payout_lines')
    .set({ memo: '' })
    .where('to_user_id', '=', user_id)
    .where('memo', '<>', '')
    .execute()
  await tx
    .updateTable('link_orders')
    .set({ name: null, message: null, message_state: null })
    .where('for_user_id', '=', user_id)
    .where('message', 'is not', null)
    .execute()
  await sql`delete from sign_in_attempts where account = lower(${username})`.execute(tx)
  await sql`delete from recovery_requests where lower(name) in (lower(${username}), lower(${email}))`.execute(
    tx,
  )
  await sql`insert into former_usernames (name_hash) values (former_name_hash(${username}))`.execute(tx)
}

const OF_THE_MEMBER = [
  'user_groups',
  'second_factors',
  // After the factor that may need them.
  'passkeys',
  'account_links',
  'consents',
  'authorization_codes',
  'device_codes',
  'grants',
  'security_events',
  'alerts',
  'order_views',
  'link_reports',
  'payment_app_members',
  'forum_scores',
  'forum_members',
] as const

/** Suspends the member's applications: their keys end, and nobody can pay them. */
async function closeApps(
  tx: Tx,
  apps: OwnApp[],
  { user_id, actor_id, ip, now }: { user_id: bigint; actor_id: bigint | null; ip: string | null; now: Date },
): Promise<void> {
  if (apps.length === 0) return
  const ids = apps.map(({ id }) => id)
  await tx.deleteFrom('payment_app_offers').where('app_id', 'in', ids).execute()
  await tx.deleteFrom('payment_app_members').where('app_id', 'in', ids).execute()
  await tx
    .updateTable('payment_app_keys')
    .set({ valid_to: now })
    .where('app_id', 'in', ids)
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', now)]))
    .execute()
  await tx
    .updateTable('payment_apps')
    .set({
      status: sql`case when status in ('pending', 'rejected') then 'rejected' else 'suspended' end`,
      review_reason: 'The account of its owner was anonymised',
      events_url: null,
      notify_url: null,
      low_balance_points: null,
      low_balance_at: null,
      updated_at: now,
    })
    .where('applicant_id', '=', user_id)
    .execute()
  await sql`select revoke_access_keys(array(select id from access_keys where app_id = any(${ids}::bigint[])), ${now})`.execute(
    tx,
  )
  await sql`select close_links(${ids}::bigint[], ${now}::timestamptz)`.execute(tx)
  await sql`
    select cancel_payouts(
      array(select id from payouts where app_id = any (${ids}::bigint[])), 'account_closed', ${now}::timestamptz
    )`.execute(tx)
  for (const { payment_id } of apps) {
    const entry = { actor_id, action: 'payment_app.closed', subject: payment_id, detail: {}, ip }
    await recordAudit(tx, entry)
  }
}

/** Clears the member's row, and closes the wallet, which receives no more points. */
async function scrub(tx: Tx, user_id: bigint, now: Date): Promise<void> {
  await tx
    .updateTable('ledger_accounts')
    .set({ closed_at: now })
    .where('user_id', '=', user_id)
    .where('book', '=', 'live')
    .execute()
  await tx
    .updateTable('users')
    .set({
      username: `deleted-${user_id}`,
      name: null,
      email: null,
      email_verified: false,
      avatar_url: null,
      trust_level: 0,
      is_admin: false,
      is_moderator: false,
      suspended_till: null,
      is_banned: true,
      password_hash: null,
      passkey_handle: null,
      must_change_password: false,
      forum_id: null,
      language: null,
      language_chosen: false,
      anonymised_at: now,
      updated_at: now,
    })
    .where('id', '=', user_id)
    .execute()
}
