/**
 * The acts of owners and administrators on registered applications. Each act is one transaction that locks the application's
 * row and writes an audit entry. An owner gets not_found for other members' applications. spec/registry 4.1 and 4.2.
 */
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
import { AppError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/secrets.ts'
import { shareFaceOfSignIn } from '../../shops/faces.ts'
import { linkedPaymentApp, recordLink } from '../../shops/links.ts'
import type { AppValues } from './apps.ts'
import { type Act, columns, lockApp, noSuchApp, type Owned } from './lock.ts'
import { explainReview, requireFreeResource } from './resource-uri.ts'

/** The count of members stops here. */
const MEMBERS_COUNTED_MAX = 10_000

/** The fields that the staff reviews. keep_reviewed_values keeps them. */
const REVIEWED_FIELDS = [
  'name',
  'description',
  'homepage',
  'logo_url',
  'redirect_uris',
  'post_logout_redirect_uris',
  'grant_types',
  'is_listed',
  'resource_uri',
  'backchannel_logout_uri',
] as const satisfies (keyof AppValues)[]

/** Returns the applications of a member, those that wait for confirmation first, then the newest. */
export async function appsOf(db: Db, owner_id: bigint) {
  return db
    .selectFrom('oauth_apps as app')
    .leftJoin('oauth_apps as by', 'by.id', 'app.registered_by_app_id')
    .where('app.owner_id', '=', owner_id)
    .orderBy('app.confirmed_at', (order) => order.desc().nullsFirst())
    .orderBy('app.id', 'desc')
    .select(columns)
    .select('by.name as registered_by')
    .execute()
}

/** Whether a member has registered an application. */
export async function ownsApps(db: Db, owner_id: bigint): Promise<boolean> {
  const one = await db
    .selectFrom('oauth_apps')
    .where('owner_id', '=', owner_id)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return one !== undefined
}

/** `unregistered`: clients that are known by their documents. */
export const APP_STATUSES = ['all', 'suspended', 'unreviewed', 'unconfirmed', 'unregistered'] as const
export type AppStatus = Exclude<(typeof APP_STATUSES)[number], 'all'>

export type AppSearch = {
  /** Part of a name, a client_id, or the owner's username. */
  text: string
  status: AppStatus | 'all'
  /** Only applications registered before this one. */
  before: bigint | undefined
}

/** Finds applications, newest first. */
export async function searchApps(db: Db, { text, status, before }: AppSearch, limit: number) {
  let apps = db
    .selectFrom('oauth_apps as app')
    .leftJoin('users as owner', 'owner.id', 'app.owner_id')
    .orderBy('app.id', 'desc')
    .limit(limit)
    .select(columns)
    .select(['owner.username as owner_username', 'app.document'])
  if (text !== '') {
    const part = `%${text.replace(/[\\%_]/g, '\\$&')}%`
    apps = apps.where((eb) =>
      eb.or([
        eb('app.name', 'ilike', part),
        eb('app.client_id', '=', text),
        eb(sql`app.document ->> 'client_name'`, 'ilike', part),
        eb(sql`lower(owner.username)`, '=', sql<string>`lower(${text.replace(/^@/, '')})`),
      ]),
    )
  }
  if (status !== 'all') apps = apps.where(HAS_STATUS[status])
  if (before !== undefined) apps = apps.where('app.id', '<', before)
  return apps.execute()
}

/** Each status has an index. */
const HAS_STATUS: Record<AppStatus, RawBuilder<boolean>> = {
  suspended: sql`app.suspended_at is not null`,
  unreviewed: sql`app.reviewed_at is null and app.document_url is null`,
  unconfirmed: sql`app.confirmed_at is null`,
  unregistered: sql`app.document_url is not null`,
}

/** Counts the applications of each status. */
export async function countApps(db: Db): Promise<Counts<AppStatus>> {
  const { suspended, unreviewed, unconfirmed, unregistered } = HAS_STATUS
  return countEach(db, {
    all: sql`select from oauth_apps`,
    suspended: sql`select from oauth_apps as app where ${suspended}`,
    unreviewed: sql`select from oauth_apps as app where ${unreviewed}`,
    unconfirmed: sql`select from oauth_apps as app where ${unconfirmed}`,
    unregistered: sql`select from oauth_apps as app where ${unregistered}`,
  })
}

/** Returns an application for its page. Throws not_found, also when `owner_id` is given and another member owns it. */
export async function getApp(db: Db, { client_id, owner_id }: { client_id: string; owner_id?: bigint }) {
  let apps = db
    .selectFrom('oauth_apps as app')
    .leftJoin('users as owner', 'owner.id', 'app.owner_id')
    .leftJoin('oauth_apps as by', 'by.id', 'app.registered_by_app_id')
    .where('app.client_id', '=', client_id)
    .select(columns)
    .select(['owner.username as owner_username', 'by.name as registered_by'])
    .select(['app.document', 'app.fetched_at', 'app.reviewed_values'])
  if (owner_id !== undefined) apps = apps.where('app.owner_id', '=', owner_id)
  const app = await apps.executeTakeFirst()
  if (app === undefined) throw noSuchApp()
  return app
}

/** Counts the members who have authorised the application, up to 10,000; `isMore` tells that there are more. */
export async function countMembers(db: Db, app_id: bigint): Promise<{ count: number; isMore: boolean }> {
  const { count } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('consents')
        .where('app_id', '=', app_id)
        .select('app_id')
        .limit(MEMBERS_COUNTED_MAX + 1)
        .as('member'),
    )
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow()
  return { count: Math.min(Number(count), MEMBERS_COUNTED_MAX), isMore: count > MEMBERS_COUNTED_MAX }
}

/** What a change of an application did. */
export type AppChange = { changed: (keyof AppValues)[]; losesMark: boolean }

/**
 * Writes and records the given fields that changed. A change of a reviewed field removes the mark of the review; the resource
 * stays known until its own address changes. The linked payment application gets a new name or logo too. Throws not_found,
 * ResourceTaken, and FaceOfSuspended when the linked one is suspended.
 */
export async function updateApp(db: Db, owned: Owned & { values: Partial<AppValues> }): Promise<AppChange> {
  const { values } = owned
  return db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, owned)
    const fields = Object.keys(values) as (keyof AppValues)[]
    const changed = fields.filter(
      (field) => values[field] !== undefined && !isDeepStrictEqual(app[field], values[field]),
    )
    if (changed.length === 0) return { changed, losesMark: false }
    const losesMark = app.reviewed_at !== null && REVIEWED_FIELDS.some((field) => changed.includes(field))
    const mark = losesMark ? { reviewed_at: null, reviewed_by: null } : {}
    const isMoved = changed.includes('resource_uri')
    if (isMoved) await requireFreeResource(tx, { ...values, id: app.id })
    await tx
      .updateTable('oauth_apps')
      .set({ ...values, ...mark, ...(isMoved && { reviewed_resource_uri: null }) })
      .where('id', '=', app.id)
      .execute()
    await record(tx, 'updated', owned, { before: pick(app, changed), after: pick(values, changed) })
    if (changed.includes('name') || changed.includes('logo_url')) {
      const { name = app.name, logo_url = app.logo_url } = values
      await shareFaceOfSignIn(tx, app.id, { name, logo_url }, owned)
    }
    if (losesMark) await record(tx, 'review_withdrawn', owned, reviewChange(true))
    return { changed, losesMark }
  })
}

/**
 * Deletes the application with its consents, codes and tokens, if `typed_name` is its name. It locks rows in the order of a
 * token request, so that the two cannot deadlock: first codes and refresh tokens, then their grants and the application.
 * Throws not_found.
 */
export async function deleteApp(
  db: Db,
  owned: Owned & { typed_name: string },
): Promise<{ name: string; members: number } | 'not_confirmed'> {
  return db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, owned)
    if (owned.typed_name.trim() !== app.name) return 'not_confirmed'
    const { id, owner_id: _, ...before } = app
    await sql`select from consents where app_id = ${id} order by user_id for update`.execute(tx)
    await sql`select from authorization_codes where app_id = ${id} or resource_app_id = ${id} order by id for update`.execute(
      tx,
    )
    await sql`
      select from refresh_tokens as token join grants on grants.id = token.grant_id
      where grants.app_id = ${id} or grants.resource_app_id = ${id} order by token.id for update of token`.execute(
      tx,
    )
    const link = await linkedPaymentApp(tx, id)
    const members = await tx
      .selectFrom('consents')
      .where('app_id', '=', id)
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow()
    await tx.deleteFrom('oauth_apps').where('id', '=', id).execute()
    const count = Number(members.count)
    if (link !== undefined)
      await recordLink(tx, 'unlinked', { client_id: app.client_id, payment_id: link.id }, owned)
    await record(tx, 'deleted', owned, { before: { ...before, members: count }, after: null })
    return { name: app.name, members: count }
  })
}

/** Suspends an application. Throws not_found, and conflict when it is suspended already. */
export async function suspendApp(db: Db, act: Act & { reason: string }): Promise<void> {
  const { reason, actor_id, now } = act
  await db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, act)
    if (app.suspended_at !== null) throw new AppError('conflict', 'This application is suspended already')
    await tx
      .updateTable('oauth_apps')
      .set({ suspended_at: now, suspended_by: actor_id, suspended_reason: reason })
      .where('id', '=', app.id)
      .execute()
    const after = { suspended: true }
    await record(tx, 'suspended', act, { before: { suspended: false }, after, reason })
  })
}

/** Ends a suspension; unexpired tokens work again. Throws not_found, and conflict when it is not suspended. */
export async function reinstateApp(db: Db, act: Act & { reason: string }): Promise<void> {
  const { reason } = act
  await db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, act)
    if (app.suspended_at === null) throw new AppError('conflict', 'This application is not suspended')
    await tx
      .updateTable('oauth_apps')
      .set({ suspended_at: null, suspended_by: null, suspended_reason: null })
      .where('id', '=', app.id)
      .execute()
    const before = { suspended: true, reason: app.suspended_reason }
    await record(tx, 'reinstated', act, { before, after: { suspended: false }, reason })
  })
}

/** Confirms an application that another one registered. Throws not_found, and conflict when it is confirmed already. */
export async function confirmApp(db: Db, owned: Owned): Promise<{ name: string }> {
  return db.transaction().execute(async (tx) => {
    const { id, name, confirmed_at } = await lockApp(tx, owned)
    if (confirmed_at !== null) throw new AppError('conflict', 'This application is confirmed already')
    await tx.updateTable('oauth_apps').set({ confirmed_at: owned.now }).where('id', '=', id).execute()
    await record(tx, 'confirmed', owned, { before: { confirmed: false }, after: { confirmed: true } })
    return { name }
  })
}

/** Returns a hash of the reviewed fields, which the review form carries. */
export function reviewedVersion(app: Pick<AppValues, (typeof REVIEWED_FIELDS)[number]>): string {
  return sha256(JSON.stringify(REVIEWED_FIELDS.map((field) => app[field]))).toString('hex')
}

/**
 * Gives or withdraws the mark of a review, and with it the right to its resource. An existing mark keeps its date.
 * Throws not_found, and conflict when the application differs from the version that the administrator has `seen`, nobody owns
 * it, or another reviewed application has its resource.
 */
export async function markReviewed(
  db: Db,
  act: Act & { isReviewed: boolean; seen?: string | undefined },
): Promise<void> {
  const { actor_id, now, isReviewed, seen } = act
  await db.transaction().execute(async (tx) => {
    const app = await lockApp(tx, act)
    if (app.owner_id === null)
      throw new AppError('conflict', 'A client that is known by its document cannot be reviewed')
    if ((app.reviewed_at !== null) === isReviewed) return
    if (isReviewed && seen !== reviewedVersion(app))
      throw new AppError('conflict', 'This application was changed since you looked at it')
    const mark = isReviewed
      ? {
          reviewed_at: now,
          reviewed_by: actor_id,
          reviewed_resource_uri: app.resource_uri,
          reviewed_values: null,
        }
      : { reviewed_at: null, reviewed_by: null, reviewed_resource_uri: null }
    await tx.updateTable('oauth_apps').set(mark).where('id', '=', app.id).execute().catch(explainReview)
    await record(tx, isReviewed ? 'reviewed' : 'review_withdrawn', act, reviewChange(!isReviewed))
  })
}

const reviewChange = (before: boolean) => ({ before: { reviewed: before }, after: { reviewed: !before } })
type AppAct =
  | 'updated'
  | 'confirmed'
  | 'deleted'
  | 'suspended'
  | 'reinstated'
  | 'reviewed'
  | 'review_withdrawn'

async function record(
  tx: Tx,
  act: AppAct,
  { client_id, actor_id, ip }: Act,
  detail: Record<string, unknown>,
): Promise<void> {
  await recordAudit(tx, { actor_id, action: `oauth_app.${act}`, subject: client_id, detail, ip })
}

function pick<T extends object, K extends keyof T>(values: T, names: K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<T, K>
}
