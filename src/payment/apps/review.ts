/** Administrators' decisions on payment applications, and the queue of those that wait for a review. */
import { sql } from 'kysely'
import { explainAnonymised } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { COUNTED_MAX, type Counts, countEach } from '../../database/counts.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { raiseAlert } from '../alerts/alerts.ts'

const DECIDED_MAX = 200
export type Decision = 'approve' | 'reject' | 'suspend' | 'reinstate'

/** The state transition of each decision. A change since the approval is approved again. spec/payment-api 1.1. */
const DECISIONS = {
  approve: { from: 'pending', to: 'approved' },
  reject: { from: 'pending', to: 'rejected' },
  suspend: { from: 'approved', to: 'suspended' },
  reinstate: { from: 'suspended', to: 'approved' },
} satisfies Record<Decision, { from: PaymentAppStatus; to: PaymentAppStatus }>

/** The decisions against an owner, who reads the reason. */
export const DECISIONS_WITH_REASON: readonly Decision[] = ['reject', 'suspend']

export type Review = {
  payment_id: string
  decision: Decision
  reason: string
  reviewer_id: bigint
  /** The last change that the reviewer has seen; empty if there was none since the last approval. */
  seen_change_at?: Date | null
}

/**
 * Decides on an application, writes the audit log and alerts the owner. Throws not_found, invalid_form without a needed
 * reason, and conflict if the application's state does not allow the decision or it was changed since the reviewer saw it.
 */
export async function reviewPaymentApp(
  deps: Core,
  { payment_id, decision, reason, reviewer_id, seen_change_at }: Review,
): Promise<void> {
  const now = deps.clock()
  const { from, to } = DECISIONS[decision]
  if (DECISIONS_WITH_REASON.includes(decision) && reason === '') {
    throw new AppError('invalid_form', 'This decision needs a reason')
  }
  await deps.db.transaction().execute(async (tx) => {
    const reviewed = await tx
      .updateTable('payment_apps')
      .set({
        status: to,
        review_reason: reason || null,
        reviewed_by: reviewer_id,
        reviewed_at: now,
        updated_at: now,
      })
      .$if(decision === 'approve', (query) =>
        query
          .set({ unreviewed_change_at: null, reviewed_values: null })
          .where('unreviewed_change_at', 'is not distinct from', seen_change_at ?? null),
      )
      .where('payment_id', '=', payment_id)
      .where((eb) => {
        const isChanged = eb('unreviewed_change_at', 'is not', null)
        const isApprovedAgain = eb.and([eb.lit(decision === 'approve'), eb('status', '=', to), isChanged])
        return eb.or([eb('status', '=', from), isApprovedAgain])
      })
      .returning(['id', 'applicant_id'])
      .executeTakeFirst()
      // The owner's account may be anonymised.
      .catch(explainAnonymised)
    if (reviewed === undefined) throw await explainUndecided(tx, payment_id, decision)
    await recordAudit(tx, {
      actor_id: reviewer_id,
      action: `payment_app.${decision}`,
      subject: payment_id,
      detail: { reason },
      ip: null,
    })
    await raiseAlert(tx, deps, {
      app_id: reviewed.id,
      kind: 'reviewed',
      cause: `${decision} ${now.toISOString()}`,
      facts: { decision, reason, ...(decision === 'approve' && (await readyLinkOf(tx, reviewed.id))) },
      to: { user_id: reviewed.applicant_id },
    })
  })
}

/** The newest draft of a link, if the application has published none: what its owner can sell with now. */
async function readyLinkOf(tx: Tx, app_id: bigint): Promise<{ link: string; title: string } | undefined> {
  return tx
    .selectFrom('links')
    .where('app_id', '=', app_id)
    .where('state', '=', 'draft')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('links').where('app_id', '=', app_id).where('state', '<>', 'draft').select('id')),
      ),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .select(['slug as link', 'title'])
    .executeTakeFirst()
}

async function explainUndecided(tx: Tx, payment_id: string, decision: Decision): Promise<AppError> {
  const { status } = await getPaymentApp(tx, payment_id)
  const isOtherThanSeen = decision === 'approve' && (status === 'pending' || status === 'approved')
  const why = isOtherThanSeen
    ? 'This application was decided on or changed since you opened it'
    : `This application is not ${DECISIONS[decision].from}`
  return new AppError('conflict', why)
}

/** The owner at the last approval, while a change of owner waits for a review. */
const reviewedOwner = sql<bigint>`(app.reviewed_values ->> 'applicant_id')::bigint`

/** What the staff approved last and what it is now, by field, with the names of the owners. */
type Reviewable = { reviewed: Record<string, unknown> | null; current: Record<string, unknown> }

function withReviewed<
  App extends {
    username: string
    reviewed_values: Record<string, unknown> | null
    reviewed_username: string | null
  },
>({ reviewed_values, reviewed_username, ...app }: App) {
  const of = (values: object, username: string | null) => ({ ...values, applicant_id: `@${username ?? ''}` })
  const reviewed = reviewed_values && of(reviewed_values, reviewed_username)
  const values: Reviewable = { reviewed, current: of(app, app.username) }
  return { ...app, ...values }
}

/** New applications, and approved ones that were changed since their approval. Each half has its index. */
const waitsForReview = sql<boolean>`(status = 'pending' or status = 'approved' and unreviewed_change_at is not null)`

/**
 * Applications that wait for a review, the oldest first. `others` counts the owner's other ones.
 * @param after starts after this id.
 */
export async function reviewQueue(db: Db, after: bigint, max: number) {
  const apps = await db
    .selectFrom('payment_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where(waitsForReview)
    .where('app.id', '>', after)
    .orderBy('app.id')
    .limit(max)
    .select(['app.id', 'app.payment_id', 'app.name', 'app.description', 'app.callback_url', 'app.homepage'])
    .select(['app.logo_url', 'app.status', 'app.unreviewed_change_at', 'app.created_at', 'app.applicant_id'])
    .leftJoin('users as former', (join) => join.on('former.id', '=', reviewedOwner))
    .select(['app.reviewed_values', 'former.username as reviewed_username'])
    .select(['owner.username', 'owner.trust_level', 'owner.created_at as member_since'])
    .select((eb) =>
      eb
        .selectFrom('payment_apps as other')
        .whereRef('other.applicant_id', '=', 'app.applicant_id')
        .whereRef('other.id', '<>', 'app.id')
        .select((e) => e.fn.countAll<bigint>().as('count'))
        .as('others'),
    )
    .execute()
  return apps.map(withReviewed)
}

/** One application for an administrator. Throws not_found. */
export async function getPaymentApp(db: Db, payment_id: string) {
  const app = await db
    .selectFrom('payment_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('app.payment_id', '=', payment_id)
    .select(['app.id', 'app.payment_id', 'app.pid', 'app.name', 'app.description', 'app.callback_url'])
    .select(['app.book', 'app.homepage', 'app.exchange_rate', 'app.status', 'app.review_reason'])
    .select(['app.applicant_id', 'app.created_at', 'app.logo_url', 'app.unreviewed_change_at'])
    .leftJoin('users as former', (join) => join.on('former.id', '=', reviewedOwner))
    .select(['app.reviewed_values', 'former.username as reviewed_username'])
    .select(['owner.username', 'owner.trust_level', 'owner.created_at as member_since'])
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', `There is no application ${payment_id}`)
  return withReviewed(app)
}

/** Approved and suspended live applications that wait for no review. */
const isDecided = sql<boolean>`(status in ('approved', 'suspended') and book = 'live' and not ${waitsForReview})`

/** Counts the applications that wait for a review, and the decided ones. */
export async function countReviews(db: Db): Promise<Counts<'waiting' | 'decided'>> {
  return countEach(db, {
    // Each half has its own index.
    waiting: sql`
      (select from payment_apps where status = 'pending' order by id limit ${COUNTED_MAX})
      union all
      (select from payment_apps where status = 'approved' and unreviewed_change_at is not null
      order by id limit ${COUNTED_MAX})`,
    // Most applications are decided, so the count finds its rows at once.
    decided: sql`select from payment_apps where ${isDecided}`,
  })
}

/** Approved and suspended live applications that wait for no review: suspended ones first, then the newest. */
export async function decidedPaymentApps(db: Db) {
  return db
    .selectFrom(
      // Cut before it is joined.
      db
        .selectFrom('payment_apps as app')
        .where(isDecided)
        .orderBy('app.status', 'desc')
        .orderBy('app.id', 'desc')
        .limit(DECIDED_MAX)
        .selectAll()
        .as('app'),
    )
    .orderBy('app.status', 'desc')
    .orderBy('app.id', 'desc')
    .select(['app.payment_id', 'app.name', 'app.status', 'app.review_reason'])
    .select(sql<string>`(select username from users where id = app.applicant_id)`.as('username'))
    .execute()
}
