/**
 * The names and logos of linked applications: a change of one changes the other. Each act locks the sign-in application before
 * the payment application. spec/registry 3.4.
 */
import type { Selectable } from 'kysely'
import { recordAudit } from '../core/audit.ts'
import type { Tx } from '../database/connection.ts'
import type { Tables } from '../database/tables.ts'
import { AppError } from '../platform/errors.ts'

/** What members see of a shop: its name and its logo. */
export type Face = { name: string; logo_url: string | null }

export type SignIn = Pick<
  Selectable<Tables['oauth_apps']>,
  'id' | 'client_id' | 'name' | 'logo_url' | 'reviewed_at' | 'created_at'
>
export type Sells = Pick<
  Selectable<Tables['payment_apps']>,
  'id' | 'payment_id' | 'name' | 'logo_url' | 'status' | 'created_at'
>
export type By = { actor_id: bigint; ip: string; now: Date }

export const signInColumns = [
  'app.id',
  'app.client_id',
  'app.name',
  'app.logo_url',
  'app.reviewed_at',
  'app.created_at',
] as const
export const sellsColumns = [
  'app.id',
  'app.payment_id',
  'app.name',
  'app.logo_url',
  'app.status',
  'app.created_at',
] as const

/** The linked payment application is suspended, so its name and logo stay. */
export class FaceOfSuspended extends AppError {
  constructor() {
    super('conflict', 'The linked payment application is suspended, so its name and logo stay')
  }
}

/**
 * Gives the linked payment application the same face. Throws FaceOfSuspended. The caller has locked the sign-in application.
 */
export async function shareFaceOfSignIn(tx: Tx, oauth_app_id: bigint, face: Face, by: By): Promise<void> {
  const sells = await tx
    .selectFrom('shop_links as link')
    .innerJoin('payment_apps as app', 'app.id', 'link.payment_app_id')
    .where('link.oauth_app_id', '=', oauth_app_id)
    .select(sellsColumns)
    // The application first, as a hand-over locks them. If that ends the link meanwhile, there is no row.
    .forNoKeyUpdate('app')
    .forKeyShare('link')
    .executeTakeFirst()
  if (sells === undefined) return
  if (sells.status === 'suspended') throw new FaceOfSuspended()
  await writeSells(tx, sells, face, by)
}

/** A sign-in application that is linked with a payment application, and locked. */
export type LockedSignIn = SignIn | undefined

/** Locks the linked sign-in application. An act on a payment application calls it before it locks that. */
export async function lockSignInOf(tx: Tx, payment_id: string): Promise<LockedSignIn> {
  return tx
    .selectFrom('payment_apps as sells')
    .innerJoin('shop_links as link', 'link.payment_app_id', 'sells.id')
    .innerJoin('oauth_apps as app', 'app.id', 'link.oauth_app_id')
    .where('sells.payment_id', '=', payment_id)
    .select(signInColumns)
    .forNoKeyUpdate('app')
    .executeTakeFirst()
}

/** Gives the linked sign-in application the same face. Throws conflict if it is linked with another one than was locked. */
export async function shareFaceOfPayment(
  tx: Tx,
  { id, locked, face }: { id: bigint; locked: LockedSignIn; face: Face },
  by: By,
): Promise<void> {
  const link = await tx
    .selectFrom('shop_links')
    .where('payment_app_id', '=', id)
    .select('oauth_app_id')
    .forKeyShare()
    .executeTakeFirst()
  if (link?.oauth_app_id !== locked?.id)
    throw new AppError('conflict', 'This application was just linked or unlinked')
  if (locked !== undefined) await writeSignIn(tx, locked, face, by)
}

/** Writes the face of a sign-in application. Returns what was there before of what changed. */
export async function writeSignIn(
  tx: Tx,
  app: SignIn,
  face: Face,
  { actor_id, ip }: By,
): Promise<Partial<Face> | null> {
  const change = changedOf(app, face)
  if (change === undefined) return null
  await tx
    .updateTable('oauth_apps')
    .set({ ...face, reviewed_at: null, reviewed_by: null })
    .where('id', '=', app.id)
    .execute()
  const entry = { actor_id, ip, subject: app.client_id }
  await recordAudit(tx, { ...entry, action: 'oauth_app.updated', detail: change })
  if (app.reviewed_at !== null) {
    const detail = { before: { reviewed: true }, after: { reviewed: false } }
    await recordAudit(tx, { ...entry, action: 'oauth_app.review_withdrawn', detail })
  }
  return change.before
}

/** Writes the face of a payment application. Returns what was there before of what changed. */
export async function writeSells(
  tx: Tx,
  app: Sells,
  face: Face,
  { actor_id, ip, now }: By,
): Promise<Partial<Face> | null> {
  const change = changedOf(app, face)
  if (change === undefined) return null
  await tx
    .updateTable('payment_apps')
    .set({ ...face, updated_at: now })
    .where('id', '=', app.id)
    .execute()
  const entry = { actor_id, ip, subject: app.payment_id }
  await recordAudit(tx, { ...entry, action: 'payment_app.edit', detail: change })
  await recordAudit(tx, { ...entry, action: 'payment_app.change_unreviewed', detail: {} })
  return change.before
}

/** What differs of two faces. Undefined if nothing does. */
export function changedOf(
  app: Face,
  face: Face,
): { before: Partial<Face>; after: Partial<Face> } | undefined {
  const changed = (['name', 'logo_url'] as const).filter((field) => app[field] !== face[field])
  if (changed.length === 0) return undefined
  const of = (values: Face) => Object.fromEntries(changed.map((field) => [field, values[field]]))
  return { before: of(app), after: of(face) }
}
