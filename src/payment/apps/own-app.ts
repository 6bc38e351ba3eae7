/** One payment application for its owner and team: its facts, its gateway versions and its low-balance alert. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { z } from 'zod'
import { lockUser } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { isLogoAddress } from '../../shops/app-logos.ts'
import { type Face, type LockedSignIn, lockSignInOf, shareFaceOfPayment } from '../../shops/faces.ts'
import {
  type Actor,
  audit,
  getPermitted,
  lockPermitted,
  type Permitted,
  type Right,
} from '../rights/rights.ts'
import { AddressList, isMerchantUrl } from '../wire-fields/addresses.ts'
import { isCallbackUrl, paymentAppForm, refuseLongQueue } from './apps.ts'

export const ORDER_MINUTES_MIN = 5

/** Points per unit of currency: spec/payment-api 1.2. */
const EXCHANGE_RATE = /^\d{1,6}(\.\d{1,6})?$/

/**
 * The form that edits an application.
 * @param minutes.max the site's order_expiry_minutes. An empty field means as long as that.
 * @param minutes.stored the application's own. It may exceed a lower maximum; orders then last as long as the site sets.
 */
export const paymentAppEdit = (production: boolean, minutes: { max: number; stored: number | null }) =>
  paymentAppForm(production).extend({
    notify_url: z
      .string()
      .trim()
      // The table's check knows the scheme in small letters only.
      .transform((text) => text.replace(/^https?:/i, (scheme) => scheme.toLowerCase()))
      .refine((text) => text === '' || isMerchantUrl(text)),
    homepage: z
      .string()
      .trim()
      .refine((text) => text === '' || isCallbackUrl(text.split(/[?#]/)[0]!, production)),
    logo_url: z
      .string()
      .trim()
      .refine((text) => text === '' || isLogoAddress(text, production))
      // A form without the field keeps the logo.
      .optional(),
    exchange_rate: z
      .string()
      .trim()
      .refine((text) => EXCHANGE_RATE.test(text) && /[1-9]/.test(text)),
    order_minutes: z
      .string()
      .trim()
      .regex(/^\d{0,5}$/)
      .transform((text) => (text === '' ? null : Number(text)))
      .refine(
        (typed) =>
          typed === null || typed === minutes.stored || (typed >= ORDER_MINUTES_MIN && typed <= minutes.max),
      ),
    allowed_addresses: AddressList,
  })

export type PaymentAppEdit = z.output<ReturnType<typeof paymentAppEdit>>

/**
 * Edits an application. An edit of a rejected one applies again. An edit of reviewed facts of an approved one waits for a
 * review, while the application keeps selling. Throws conflict for a suspended one, while PENDING_APPS_MAX applications of
 * the owner are pending, and after a concurrent change. Throws forbidden for a member of the team who changes the name or logo
 * of a linked one.
 */
export async function editPaymentApp(
  deps: Core,
  payment_id: string,
  edit: PaymentAppEdit,
  actor: Actor,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const { status, applicant_id } = await getPermitted(tx, payment_id, actor.user_id, 'settings.edit')
    const isReapplied = status === 'rejected'
    // Locks the member before the application, as every act does.
    if (isReapplied) await lockUser(tx, applicant_id)
    const locked = await lockSignInOf(tx, payment_id)
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    if (app.status === 'suspended') throw suspended()
    if (app.applicant_id !== applicant_id || (app.status === 'rejected') !== isReapplied)
      throw new AppError('conflict', 'This application was just changed by somebody else')
    if (isReapplied) await refuseLongQueue(tx, applicant_id)
    const { allowed_addresses, notify_url, homepage, logo_url, ...rest } = edit
    await shareFace(
      tx,
      {
        app,
        locked,
        face: { name: edit.name, logo_url: logo_url === undefined ? app.logo_url : logo_url || null },
      },
      actor,
      now,
    )
    const before = await tx
      .selectFrom('payment_apps')
      .where('id', '=', app.id)
      .select(edited)
      .executeTakeFirstOrThrow()
    const { unreviewed_change_at, ...after } = await tx
      .updateTable('payment_apps')
      .set({
        ...rest,
        notify_url: notify_url || null,
        homepage: homepage || null,
        ...(logo_url !== undefined && { logo_url: logo_url || null }),
        allowed_addresses: sql`${allowed_addresses}::text[]::inet[]`,
        updated_at: now,
      })
      .$if(isReapplied, (query) => query.set({ status: 'pending', review_reason: null }))
      .where('id', '=', app.id)
      .returning([...edited, 'unreviewed_change_at'])
      .executeTakeFirstOrThrow()
    const change = changeOf(before, after)
    if (isReapplied) await audit(tx, 'payment_app.reapply', payment_id, change, actor)
    else if (Object.keys(change.after).length > 0)
      await audit(tx, 'payment_app.edit', payment_id, change, actor)
    if (unreviewed_change_at?.getTime() === now.getTime())
      await audit(tx, 'payment_app.change_unreviewed', payment_id, {}, actor)
  })
}

/** What an owner edits, as the audit log keeps it. */
const edited = [
  'name',
  'description',
  'callback_url',
  'notify_url',
  'homepage',
  'logo_url',
  'order_minutes',
  sql<string>`trim_scale(exchange_rate)::text`.as('exchange_rate'),
  sql<string[]>`allowed_addresses::text[]`.as('allowed_addresses'),
] as const

/** The values that differ, before and after. */
function changeOf<Facts extends object>(before: Facts, after: Facts) {
  const changed = (Object.keys(after) as (keyof Facts)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  const of = (facts: Facts) => Object.fromEntries(changed.map((name) => [name, facts[name]]))
  return { before: of(before), after: of(after) }
}

/**
 * Sets or removes the logo. Of an approved application this waits for a review, as an edit does. Throws conflict for a
 * suspended one.
 */
export async function setLogo(
  deps: Core,
  payment_id: string,
  logo_url: string | null,
  actor: Actor,
): Promise<{ waitsForReview: boolean }> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const locked = await lockSignInOf(tx, payment_id)
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    if (app.status === 'suspended') throw suspended()
    if (app.logo_url === logo_url) return { waitsForReview: false }
    await shareFace(tx, { app, locked, face: { name: app.name, logo_url } }, actor, now)
    const { unreviewed_change_at } = await tx
      .updateTable('payment_apps')
      .set({ logo_url, updated_at: now })
      .where('id', '=', app.id)
      .returning('unreviewed_change_at')
      .executeTakeFirstOrThrow()
    const change = changeOf({ logo_url: app.logo_url }, { logo_url })
    await audit(tx, 'payment_app.edit', payment_id, change, actor)
    if (unreviewed_change_at !== null) await audit(tx, 'payment_app.change_unreviewed', payment_id, {}, actor)
    return { waitsForReview: unreviewed_change_at !== null && app.status === 'approved' }
  })
}

/** A new name or logo is also that of the linked sign-in application, so only the owner may set it. Throws forbidden. */
async function shareFace(
  tx: Tx,
  { app, locked, face }: { app: Permitted; locked: LockedSignIn; face: Face },
  { user_id, ip }: Actor,
  now: Date,
): Promise<void> {
  if (face.name === app.name && face.logo_url === app.logo_url) return
  if (locked !== undefined && !app.rights.includes('shop.link'))
    throw new AppError('forbidden', 'Only the owner may change the name and logo of linked applications')
  await shareFaceOfPayment(tx, { id: app.id, locked, face }, { actor_id: user_id, ip, now })
}

const suspended = () => new AppError('conflict', 'A suspended application cannot be changed')

/** Switches the versions of the gateway. A version that is off refuses requests, but still sends notifications. */
export async function switchVersions(
  deps: Core,
  payment_id: string,
  enabled: { v1: boolean; v2: boolean },
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    await tx
      .updateTable('payment_apps')
      .set({ v1_enabled: enabled.v1, v2_enabled: enabled.v2, updated_at: deps.clock() })
      .where('id', '=', id)
      .execute()
    await audit(tx, 'payment_app.switch_versions', payment_id, { ...enabled }, actor)
  })
}

/** Sets the balance in points below which the owner gets an alert; null means never. Resets the last alert. */
export async function setLowBalance(
  deps: Core,
  payment_id: string,
  points: bigint | null,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'points.transfer')
    await tx
      .updateTable('payment_apps')
      .set({ low_balance_points: points, low_balance_at: null })
      .where('id', '=', id)
      .execute()
    const detail = { points: points === null ? null : String(points) }
    await audit(tx, 'payment_app.set_low_balance', payment_id, detail, actor)
  })
}

/** One application with the ages of its tokens and the member's role. Throws what getPermitted throws. */
export async function getOwned(deps: Core, payment_id: string, user_id: bigint, right: Right) {
  const { id, role, rights, owner_username } = await getPermitted(deps.db, payment_id, user_id, right)
  const app = await deps.db
    .selectFrom('payment_apps as app')
    .where('app.id', '=', id)
    .select([
      'app.id',
      'app.payment_id',
      'app.pid',
      'app.book',
      'app.live_app_id',
      'app.name',
      'app.description',
      'app.callback_url',
      'app.notify_url',
      'app.order_minutes',
      'app.homepage',
      'app.logo_url',
      'app.status',
      'app.review_reason',
      'app.unreviewed_change_at',
      'app.events_url',
      'app.events_gone_at',
      'app.v1_enabled',
      'app.v2_enabled',
      'app.low_balance_points',
    ])
    .select([
      // Without trailing zeros: 100, not 100.000000.
      sql<string>`trim_scale(app.exchange_rate)::text`.as('exchange_rate'),
      sql<string[]>`app.allowed_addresses::text[]`.as('allowed_addresses'),
    ])
    .executeTakeFirstOrThrow()
  const tokens = await deps.db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app.id)
    .where('kind', '=', 'token')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', deps.clock())]))
    .orderBy('id', 'desc')
    .select(['id', 'created_at', 'last_used_at', 'valid_to', 'is_former_owners'])
    .execute()
  return { ...app, role, rights, owner_username, tokens }
}
