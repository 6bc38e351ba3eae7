/**
 * The link of a sign-in application and a payment application. Members meet the two as one shop, so both rows have one name and
 * one logo, and a change of one row changes both. Each act locks the sign-in application before the payment application.
 * spec/registry 3.4.
 */
import type { Selectable } from 'kysely'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import type { Db, Tx } from '../database/connection.ts'
import type { Tables } from '../database/tables.ts'
import { AppError } from '../platform/errors.ts'

/** What members see of a shop: its name and its logo. */
export type Face = { name: string; logo_url: string | null }

/** The application of the other kind, by its client_id or Payment ID. */
export type Other = Face & { id: string; homepage: string | null }

type SignIn = Pick<Selectable<Tables['oauth_apps']>, 'id' | 'client_id' | 'name' | 'logo_url' | 'reviewed_at'>
type Sells = Pick<Selectable<Tables['payment_apps']>, 'id' | 'payment_id' | 'name' | 'logo_url' | 'status'>
type By = { actor_id: bigint; ip: string; now: Date }

const signInColumns = ['app.id', 'app.client_id', 'app.name', 'app.logo_url', 'app.reviewed_at'] as const
const sellsColumns = ['app.id', 'app.payment_id', 'app.name', 'app.logo_url', 'app.status'] as const

/** The payment application that is linked with a sign-in application. */
export async function linkedPaymentApp(db: Db, oauth_app_id: bigint): Promise<Other | undefined> {
  return db
    .selectFrom('shop_links as link')
    .innerJoin('payment_apps as app', 'app.id', 'link.payment_app_id')
    .where('link.oauth_app_id', '=', oauth_app_id)
    .select(['app.payment_id as id', 'app.name', 'app.logo_url', 'app.homepage'])
    .executeTakeFirst()
}

/** The sign-in application that is linked with a payment application. */
export async function linkedSignInApp(db: Db, payment_app_id: bigint): Promise<Other | undefined> {
  return db
    .selectFrom('shop_links as link')
    .innerJoin('oauth_apps as app', 'app.id', 'link.oauth_app_id')
    .where('link.payment_app_id', '=', payment_app_id)
    .select(['app.client_id as id', 'app.name', 'app.logo_url', 'app.homepage'])
    .executeTakeFirst()
}

/** The payment applications that an owner can link with a sign-in application. */
export async function linkablePaymentApps(db: Db, owner_id: bigint): Promise<Other[]> {
  return db
    .selectFrom('payment_apps as app')
    .leftJoin('shop_links as link', 'link.payment_app_id', 'app.id')
    .where('app.applicant_id', '=', owner_id)
    .where('app.book', '=', 'live')
    .where('app.status', 'in', ['pending', 'approved'])
    .where('link.oauth_app_id', 'is', null)
    .orderBy('app.id')
    .select(['app.payment_id as id', 'app.name', 'app.logo_url', 'app.homepage'])
    .execute()
}

/** The sign-in applications that an owner can link with a payment application. */
export async function linkableSignInApps(db: Db, owner_id: bigint): Promise<Other[]> {
  return db
    .selectFrom('oauth_apps as app')
    .leftJoin('shop_links as link', 'link.oauth_app_id', 'app.id')
    .where('app.owner_id', '=', owner_id)
    .where('app.suspended_at', 'is', null)
    .where('app.confirmed_at', 'is not', null)
    .where('link.oauth_app_id', 'is', null)
    .orderBy('app.id')
    .select(['app.client_id as id', 'app.name', 'app.logo_url', 'app.homepage'])
    .execute()
}

export type Linking = {
  client_id: string
  payment_id: string
  /** The application that gives the shop its name, and its logo if it has one. */
  named_by: 'sign_in' | 'payment'
  actor: { user_id: bigint; ip: string }
}

/** What a link changed of the application that did not name the shop. */
export type Linked = { name: string; nameBefore: string; isNewLogo: boolean; waitsForReview: boolean }

/**
 * Links two applications of the actor, and gives both one name and one logo. The changed one is to be reviewed again, as after
 * any change of them. Throws not_found if the actor does not own both, and conflict if one of them is linked, suspended,
 * rejected or unconfirmed.
 */
export async function linkApps(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  { client_id, payment_id, named_by, actor }: Linking,
): Promise<Linked> {
  const by = { actor_id: actor.user_id, ip: actor.ip, now: clock() }
  return db.transaction().execute(async (tx) => {
    const { signIn, sells } = await lockBoth(tx, { client_id, payment_id, owner_id: actor.user_id })
    const [naming, named] = named_by === 'sign_in' ? [signIn, sells] : [sells, signIn]
    const face = { name: naming.name, logo_url: naming.logo_url ?? named.logo_url }
    const waits = [await writeSignIn(tx, signIn, face, by), await writeSells(tx, sells, face, by)]
    await tx.insertInto('shop_links').values({ oauth_app_id: signIn.id, payment_app_id: sells.id }).execute()
    await recordLink(tx, 'linked', { client_id, payment_id }, by)
    return {
      name: face.name,
      nameBefore: named.name,
      isNewLogo: named.logo_url !== face.logo_url,
      waitsForReview: waits.includes(true),
    }
  })
}

async function lockBoth(
  tx: Tx,
  { client_id, payment_id, owner_id }: { client_id: string; payment_id: string; owner_id: bigint },
): Promise<{ signIn: SignIn; sells: Sells }> {
  const signIn = await tx
    .selectFrom('oauth_apps as app')
    .where('app.client_id', '=', client_id)
    .where('app.owner_id', '=', owner_id)
    .select([...signInColumns, 'app.suspended_at', 'app.confirmed_at'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  const sells = await tx
    .selectFrom('payment_apps as app')
    .where('app.payment_id', '=', payment_id)
    .where('app.applicant_id', '=', owner_id)
    .where('app.book', '=', 'live')
    .select(sellsColumns)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (signIn === undefined || sells === undefined) throw new AppError('not_found', 'No such application')
  if (signIn.suspended_at !== null || signIn.confirmed_at === null)
    throw new AppError('conflict', 'The sign-in application is suspended or not confirmed')
  if (sells.status === 'suspended' || sells.status === 'rejected')
    throw new AppError('conflict', 'The payment application is suspended or rejected')
  // A separate statement, which sees the links that others committed while this one waited.
  const link = await tx
    .selectFrom('shop_links')
    .where((eb) => eb.or([eb('oauth_app_id', '=', signIn.id), eb('payment_app_id', '=', sells.id)]))
    .select('oauth_app_id')
    .executeTakeFirst()
  if (link !== undefined) throw new AppError('conflict', 'One of the two applications is linked already')
  return { signIn, sells }
}

/** Ends a link of the actor's applications. Both keep their name and logo. Throws not_found if there is none. */
export async function unlinkApps(
  { db }: Pick<Core, 'db'>,
  which: { client_id: string } | { payment_id: string },
  { user_id, ip }: Linking['actor'],
): Promise<{ name: string }> {
  return db.transaction().execute(async (tx) => {
    const [column, id] =
      'client_id' in which
        ? (['signs_in.client_id', which.client_id] as const)
        : (['sells.payment_id', which.payment_id] as const)
    const link = await tx
      .selectFrom('shop_links as link')
      .innerJoin('oauth_apps as signs_in', 'signs_in.id', 'link.oauth_app_id')
      .innerJoin('payment_apps as sells', 'sells.id', 'link.payment_app_id')
      .where(column, '=', id)
      .where('signs_in.owner_id', '=', user_id)
      .where('sells.applicant_id', '=', user_id)
      .select(['link.oauth_app_id', 'signs_in.client_id', 'sells.payment_id', 'sells.name'])
      .executeTakeFirst()
    // The row itself says whether another act has ended the link.
    const ended =
      link === undefined
        ? []
        : await tx
            .deleteFrom('shop_links')
            .where('oauth_app_id', '=', link.oauth_app_id)
            .returning('oauth_app_id')
            .execute()
    if (link === undefined || ended.length === 0) throw new AppError('not_found', 'There is no such link')
    await recordLink(tx, 'unlinked', link, { actor_id: user_id, ip })
    return { name: link.name }
  })
}

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

/** Writes the face of a sign-in application. Returns whether the staff's mark is lost. */
async function writeSignIn(tx: Tx, app: SignIn, face: Face, { actor_id, ip }: By): Promise<boolean> {
  const after = changedOf(app, face)
  if (after === undefined) return false
  await tx
    .updateTable('oauth_apps')
    .set({ ...face, reviewed_at: null, reviewed_by: null })
    .where('id', '=', app.id)
    .execute()
  const before = Object.fromEntries(Object.keys(after).map((name) => [name, app[name as keyof Face]]))
  const entry = { actor_id, ip, subject: app.client_id }
  await recordAudit(tx, { ...entry, action: 'oauth_app.updated', detail: { before, after } })
  if (app.reviewed_at === null) return false
  const detail = { before: { reviewed: true }, after: { reviewed: false } }
  await recordAudit(tx, { ...entry, action: 'oauth_app.review_withdrawn', detail })
  return true
}

/** Writes the face of a payment application. Returns whether it waits for another review. */
async function writeSells(tx: Tx, app: Sells, face: Face, { actor_id, ip, now }: By): Promise<boolean> {
  const changed = changedOf(app, face)
  if (changed === undefined) return false
  await tx
    .updateTable('payment_apps')
    .set({ ...face, updated_at: now })
    .where('id', '=', app.id)
    .execute()
  const entry = { actor_id, ip, subject: app.payment_id }
  await recordAudit(tx, { ...entry, action: 'payment_app.edit', detail: changed })
  await recordAudit(tx, { ...entry, action: 'payment_app.change_unreviewed', detail: {} })
  return app.status === 'approved'
}

function changedOf(app: Face, face: Face): Partial<Face> | undefined {
  const changed = {
    ...(app.name !== face.name && { name: face.name }),
    ...(app.logo_url !== face.logo_url && { logo_url: face.logo_url }),
  }
  return Object.keys(changed).length === 0 ? undefined : changed
}

/** Records the start or the end of a link with both applications. */
export async function recordLink(
  tx: Tx,
  act: 'linked' | 'unlinked',
  { client_id, payment_id }: { client_id: string; payment_id: string },
  { actor_id, ip }: { actor_id: bigint | null; ip: string | null },
): Promise<void> {
  const entry = { actor_id, ip }
  await recordAudit(tx, {
    ...entry,
    action: `oauth_app.${act}`,
    subject: client_id,
    detail: { payment_id },
  })
  await recordAudit(tx, {
    ...entry,
    action: `payment_app.${act}`,
    subject: payment_id,
    detail: { client_id },
  })
}
