/**
 * The link of a sign-in application and a payment application. Members meet the two as one shop, so both rows have one name and
 * one logo: faces.ts. Each act locks the sign-in application before the payment application. spec/registry 3.4.
 */
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import type { Db, Tx } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import {
  type By,
  changedOf,
  type Face,
  FaceOfSuspended,
  type Sells,
  type SignIn,
  sellsColumns,
  signInColumns,
  writeSells,
  writeSignIn,
} from './faces.ts'

/** The application of the other kind, by its client_id or Payment ID. */
export type Other = Face & { id: string; homepage: string | null }

/** The kind of an application: members sign in with it, or pay it. */
export type Kind = 'sign_in' | 'payment'

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

/** The sign-in applications that are linked with payment applications, by the ids of those. */
export async function linkedSignInApps(db: Db, payment_app_ids: bigint[]): Promise<Map<bigint, Other>> {
  if (payment_app_ids.length === 0) return new Map()
  const links = await db
    .selectFrom('shop_links as link')
    .innerJoin('oauth_apps as app', 'app.id', 'link.oauth_app_id')
    .where('link.payment_app_id', 'in', payment_app_ids)
    .select(['link.payment_app_id', 'app.client_id as id', 'app.name', 'app.logo_url', 'app.homepage'])
    .execute()
  return new Map(links.map(({ payment_app_id, ...other }) => [payment_app_id, other]))
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

/** How a link or its end changes the two applications. */
export type Change = {
  [kind in Kind]: {
    id: string
    before: Face
    after: Face
    /** Whether the staff has approved the name and logo of before, and has to review the new ones. */
    waitsForReview: boolean
  }
}

/** Two applications by their identifiers, and their owner. */
export type Pair = { client_id: string; payment_id: string; owner_id: bigint }

/**
 * What a link of two applications would change, for each of the two names that can stay. `proposed` is the older application of
 * those that the staff has approved, or the older one if it has approved none. Throws as linkApps does.
 */
export async function previewLink(
  db: Db,
  pair: Pair,
): Promise<{ changes: { [named_by in Kind]: Change }; proposed: Kind }> {
  return db.transaction().execute(async (tx) => {
    const both = await lockBoth(tx, pair)
    const changes = {
      sign_in: changeOf(both, sharedFaces(both, 'sign_in')),
      payment: changeOf(both, sharedFaces(both, 'payment')),
    }
    return { changes, proposed: proposedFace(both) }
  })
}

function proposedFace({ sign_in, payment }: Both): Kind {
  const isApproved = { sign_in: sign_in.reviewed_at !== null, payment: payment.status === 'approved' }
  if (isApproved.sign_in !== isApproved.payment) return isApproved.sign_in ? 'sign_in' : 'payment'
  return sign_in.created_at < payment.created_at ? 'sign_in' : 'payment'
}

export type Linking = {
  client_id: string
  payment_id: string
  /** The application that gives the shop its name, and its logo if it has one. */
  named_by: Kind
  actor: { user_id: bigint; ip: string }
}

/**
 * Links two applications of the actor, and gives both one name and one logo. The link keeps what it changed. The changed one is
 * to be reviewed again, as after any change of them. Throws not_found if the actor does not own both, and conflict if one of
 * them is linked, suspended, rejected or unconfirmed.
 */
export async function linkApps(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  { client_id, payment_id, named_by, actor }: Linking,
): Promise<Change> {
  const by = { actor_id: actor.user_id, ip: actor.ip, now: clock() }
  return db.transaction().execute(async (tx) => {
    const both = await lockBoth(tx, { client_id, payment_id, owner_id: actor.user_id })
    const change = changeOf(both, sharedFaces(both, named_by))
    const [oauth_app_before, payment_app_before] = await writeBoth(tx, both, change, by)
    await tx
      .insertInto('shop_links')
      .values({
        oauth_app_id: both.sign_in.id,
        payment_app_id: both.payment.id,
        oauth_app_before: oauth_app_before && JSON.stringify(oauth_app_before),
        payment_app_before: payment_app_before && JSON.stringify(payment_app_before),
      })
      .execute()
    await recordLink(tx, 'linked', { client_id, payment_id }, by)
    return change
  })
}

type Both = { sign_in: SignIn; payment: Sells }
type Faces = { [kind in Kind]: Face }

function sharedFaces(both: Both, named_by: Kind): Faces {
  const [naming, named] = named_by === 'sign_in' ? [both.sign_in, both.payment] : [both.payment, both.sign_in]
  const face = { name: naming.name, logo_url: naming.logo_url ?? named.logo_url }
  return { sign_in: face, payment: face }
}

function changeOf({ sign_in, payment }: Both, after: Faces): Change {
  const of = (id: string, { name, logo_url }: Face, face: Face, isApproved: boolean) => {
    const before = { name, logo_url }
    return { id, before, after: face, waitsForReview: isApproved && changedOf(before, face) !== undefined }
  }
  return {
    sign_in: of(sign_in.client_id, sign_in, after.sign_in, sign_in.reviewed_at !== null),
    payment: of(payment.payment_id, payment, after.payment, payment.status === 'approved'),
  }
}

/** Writes both faces. Returns what was there before of each that changed. */
async function writeBoth(tx: Tx, both: Both, { sign_in, payment }: Change, by: By) {
  return [
    await writeSignIn(tx, both.sign_in, sign_in.after, by),
    await writeSells(tx, both.payment, payment.after, by),
  ] as const
}

/** Locks two applications of the owner that can be linked. */
async function lockBoth(tx: Tx, { client_id, payment_id, owner_id }: Pair): Promise<Both> {
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
  return { sign_in: signIn, payment: sells }
}

/** One of two linked applications, by its identifier, and their owner. */
type Which = ({ client_id: string } | { payment_id: string }) & { owner_id: bigint }

/** What the end of a link would change if it gives the earlier names and logos back. Throws as unlinkApps does. */
export async function previewUnlink(db: Db, which: Which): Promise<Change> {
  return db.transaction().execute(async (tx) => {
    const link = await lockLinked(tx, which)
    return changeOf(link, earlierFaces(link))
  })
}

/**
 * Ends a link of the actor's applications. With `givesBack`, each gets back what the link changed of its name and logo, which is
 * to be reviewed as after any change; otherwise both keep theirs. Throws not_found if there is no link, and FaceOfSuspended if
 * the name or logo of a suspended payment application would change.
 */
export async function unlinkApps(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  which: { client_id: string } | { payment_id: string },
  { user_id, ip }: Linking['actor'],
  { givesBack = false }: { givesBack?: boolean } = {},
): Promise<Change> {
  const by = { actor_id: user_id, ip, now: clock() }
  return db.transaction().execute(async (tx) => {
    const link = await lockLinked(tx, { ...which, owner_id: user_id })
    await tx.deleteFrom('shop_links').where('oauth_app_id', '=', link.sign_in.id).execute()
    const { client_id } = link.sign_in
    await recordLink(tx, 'unlinked', { client_id, payment_id: link.payment.payment_id }, by)
    const change = changeOf(link, givesBack ? earlierFaces(link) : link)
    if (link.payment.status === 'suspended' && changedOf(link.payment, change.payment.after) !== undefined)
      throw new FaceOfSuspended()
    await writeBoth(tx, link, change, by)
    return change
  })
}

type Linked = Both & { earlier: { [kind in Kind]: Partial<Face> | null } }

/** Locks two linked applications of the owner, and then their link. Throws not_found. */
async function lockLinked(tx: Tx, { owner_id, ...which }: Which): Promise<Linked> {
  const [column, id] =
    'client_id' in which
      ? (['signs_in.client_id', which.client_id] as const)
      : (['sells.payment_id', which.payment_id] as const)
  const ids = await tx
    .selectFrom('shop_links as link')
    .innerJoin('oauth_apps as signs_in', 'signs_in.id', 'link.oauth_app_id')
    .innerJoin('payment_apps as sells', 'sells.id', 'link.payment_app_id')
    .where(column, '=', id)
    .where('signs_in.owner_id', '=', owner_id)
    .select(['link.oauth_app_id', 'link.payment_app_id'])
    .executeTakeFirst()
  if (ids === undefined) throw noLink()
  const sign_in = await tx
    .selectFrom('oauth_apps as app')
    .where('app.id', '=', ids.oauth_app_id)
    .select(signInColumns)
    .forNoKeyUpdate()
    .executeTakeFirst()
  const payment = await tx
    .selectFrom('payment_apps as app')
    .where('app.id', '=', ids.payment_app_id)
    .select(sellsColumns)
    .forNoKeyUpdate()
    .executeTakeFirst()
  // A separate statement, which sees whether another act has ended the link while this one waited.
  const link = await tx
    .selectFrom('shop_links')
    .where('oauth_app_id', '=', ids.oauth_app_id)
    .where('payment_app_id', '=', ids.payment_app_id)
    .select(['oauth_app_before', 'payment_app_before'])
    .forUpdate()
    .executeTakeFirst()
  if (sign_in === undefined || payment === undefined || link === undefined) throw noLink()
  return {
    sign_in,
    payment,
    earlier: { sign_in: link.oauth_app_before, payment: link.payment_app_before },
  }
}

function noLink(): AppError {
  return new AppError('not_found', 'There is no such link')
}

/** What the two applications would be called and show without the link. */
function earlierFaces({ sign_in, payment, earlier }: Linked): Faces {
  const of = ({ name, logo_url }: Face, before: Partial<Face> | null) => ({ name, logo_url, ...before })
  return { sign_in: of(sign_in, earlier.sign_in), payment: of(payment, earlier.payment) }
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
