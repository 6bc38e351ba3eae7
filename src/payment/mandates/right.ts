/**
 * The right of a payment application to hold mandates, apart from its approval: spec/mandates 1.3. Its team asks, an
 * administrator decides. The team also names the sign-in application whose tokens may come with charges: spec/mandates 2.4.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { MandateRight } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'

/** How long the purpose may be, in characters. */
export const PURPOSE_LENGTH = { min: 10, max: 500 }

/**
 * Asks for the right. Throws what lockPermitted throws, invalid_form for a purpose that is not 10 to 500 characters long, and
 * conflict for a test application, which needs no right, and unless the right was never given.
 */
export async function askMandateRight(
  { db, clock }: Core,
  payment_id: string,
  purpose: string,
  actor: Actor,
): Promise<void> {
  const length = [...purpose].length
  if (length < PURPOSE_LENGTH.min || length > PURPOSE_LENGTH.max)
    throw new AppError('invalid_form', 'Say in 10 to 500 characters what the application needs mandates for')
  await db.transaction().execute(async (tx) => {
    const { id, book } = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    if (book === 'test') throw new AppError('conflict', 'A test application needs no right')
    const asked = await tx
      .updateTable('payment_apps')
      .set({
        mandate_right: 'asked',
        mandate_right_purpose: purpose,
        mandate_right_by: actor.user_id,
        mandate_right_reason: null,
        mandate_right_at: clock(),
      })
      .where('id', '=', id)
      .where('mandate_right', 'in', ['none', 'refused'])
      .executeTakeFirst()
    if (asked.numUpdatedRows === 0n) throw new AppError('conflict', 'The right was asked for already')
    await audit(tx, 'payment_app.ask_mandates', payment_id, { purpose }, actor)
  })
}

export type RightDecision =
  /** Also changes the daily limit of an application that has the right. Whole points of all charges in a day. */
  { decision: 'grant'; daily_max: bigint } | { decision: 'refuse' | 'withdraw' }

const FROM = {
  grant: ['asked', 'granted', 'withdrawn'],
  refuse: ['asked'],
  withdraw: ['granted'],
} satisfies Record<RightDecision['decision'], MandateRight[]>

const TO = { grant: 'granted', refuse: 'refused', withdraw: 'withdrawn' } as const

/**
 * Decides on the right, by an administrator or by the operator without an id. Withdrawing ends no mandate, and no charge
 * commits after it: it takes the owner's wallet, as a hand-over does. Throws not_found, invalid_form without the reason of a
 * refusal or a withdrawal, and conflict where the right is in another state, or for the application of tips.
 */
export async function decideMandateRight(
  { db, clock }: Core,
  payment_id: string,
  decided: RightDecision & { reason: string },
  { actor_id, ip }: { actor_id: bigint | null; ip: string | null },
): Promise<void> {
  const { decision, reason } = decided
  if (decision !== 'grant' && reason === '')
    throw new AppError('invalid_form', 'This decision needs a reason')
  await db.transaction().execute(async (tx) => {
    const before = await lockApplication(tx, payment_id)
    if (!FROM[decision].some((right) => right === before.mandate_right))
      throw new AppError('conflict', `The right of this application is ${before.mandate_right}`)
    if (before.is_tips && decision === 'grant')
      throw new AppError('conflict', 'This payment application is for tips only')
    const after = {
      mandate_right: TO[decision],
      mandate_daily_max: decided.decision === 'grant' ? decided.daily_max : before.mandate_daily_max,
    }
    await tx
      .updateTable('payment_apps')
      .set({
        ...after,
        mandate_right_by: actor_id,
        mandate_right_reason: reason || null,
        mandate_right_at: clock(),
      })
      .where('id', '=', before.id)
      .execute()
    const detail = { before: textsOf(before), after: textsOf(after), reason }
    await recordAudit(tx, {
      actor_id,
      action: `payment_app.${decision}_mandates`,
      subject: payment_id,
      detail,
      ip,
    })
  })
}

/** Locks the application, then the wallet of its owner, which every charge to it locks. */
async function lockApplication(tx: Tx, payment_id: string) {
  const app = await tx
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select(['id', 'book', 'applicant_id', 'mandate_right', 'mandate_daily_max', 'is_tips'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', 'There is no such payment application')
  await sql`select from lock_wallets(array[${app.applicant_id}]::bigint[], array[${app.book}])`.execute(tx)
  return app
}

function textsOf({
  mandate_right,
  mandate_daily_max,
}: {
  mandate_right: MandateRight
  mandate_daily_max: bigint | null
}): Record<string, string | null> {
  return { mandate_right, mandate_daily_max: mandate_daily_max?.toString() ?? null }
}

/**
 * Names the sign-in application whose access tokens may come with charges; null names none. Both must have the same owner, now
 * and at each use. Throws what lockPermitted throws. Returns false if the owner has no such application.
 */
export async function linkSignInApp(
  { db, clock }: Core,
  payment_id: string,
  client_id: string | null,
  actor: Actor,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { id, applicant_id } = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    if (client_id !== null) {
      const linked = await tx
        .selectFrom('oauth_apps')
        .where('client_id', '=', client_id)
        .where('owner_id', '=', applicant_id)
        .select('id')
        .executeTakeFirst()
      if (linked === undefined) return false
    }
    await tx
      .updateTable('payment_apps')
      .set({ oauth_client_id: client_id, updated_at: clock() })
      .where('id', '=', id)
      .execute()
    await audit(tx, 'payment_app.link_sign_in', payment_id, { client_id }, actor)
    return true
  })
}
