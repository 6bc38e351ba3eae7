/** Makes, lists and revokes the access keys of an application. spec/access-keys 1.1–1.3. */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import type { Book } from '../../database/tables/columns.ts'
import { AppError } from '../../platform/errors.ts'
import { ALNUM, LOWER_ALNUM, randomText, sha256 } from '../../platform/secrets.ts'
import { type Actor, audit, lockPermitted, may, type Permitted } from '../rights/rights.ts'

export const SCOPES = [
  'orders:read',
  'orders:write',
  'transfers',
  'payouts',
  'mandates',
] as const satisfies AccessScope[]
/** Scopes that move points out of the owner's wallet. Only the owner may make a key with one of them. */
export const OWNERS_SCOPES: readonly AccessScope[] = ['transfers', 'payouts']

/** Keys of an application that are neither revoked nor expired. */
export const KEYS_MAX = 20
export const DAYS_DEFAULT = 90
export const DAYS_MAX = 366
export const NAME_LENGTH_MAX = 40
const DAY_MS = 86_400_000

const MARKS = { live: '', test: 'test' } as const

/** A random client_id, which shows its book. */
function newPublicId(book: Book): string {
  const id = randomText(20 - MARKS[book].length, LOWER_ALNUM)
  return book === 'live' && id.startsWith(MARKS.test) ? newPublicId(book) : `ak_${MARKS[book]}${id}`
}

export type NewAccessKey = {
  name: string
  scopes: AccessScope[]
  days: number
  allowed_addresses: string[]
}

/** The credentials of a new key. The secret is shown once: only its hash is stored. */
export type AccessKeyCredentials = { client_id: string; client_secret: string }

/** Why no key was made: the setting is off, or the application has KEYS_MAX keys. */
export type KeyFault = 'off' | 'full'

/**
 * Makes a key, or says why not. Throws what lockPermitted throws, and forbidden for a scope that only the owner may give.
 * spec/access-keys 1.2.
 */
export async function createAccessKey(
  deps: Core,
  payment_id: string,
  { name, scopes, days, allowed_addresses }: NewAccessKey,
  actor: Actor,
): Promise<AccessKeyCredentials | KeyFault> {
  const now = deps.clock()
  const { access_keys } = await deps.settings.read()
  const client_secret = `sk_${randomText(40, ALNUM)}`
  return deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    if (!mayGive(app, scopes))
      throw new AppError('forbidden', 'Only the owner may make a key that moves points')
    if (access_keys === 'off') return 'off'
    const { count } = await tx
      .selectFrom('access_keys')
      .where('app_id', '=', app.id)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= KEYS_MAX) return 'full'
    const client_id = newPublicId(app.book)
    await tx
      .insertInto('access_keys')
      .values({
        ...{ app_id: app.id, book: app.book, public_id: client_id, name, scopes },
        secret_hash: sha256(client_secret),
        allowed_addresses: sql`${allowed_addresses}::text[]::inet[]`,
        created_by: actor.user_id,
        created_at: now,
        expires_at: new Date(now.getTime() + days * DAY_MS),
      })
      .execute()
    const detail = { key: client_id, name, scopes, days, allowed_addresses }
    await audit(tx, 'payment_app.create_access_key', payment_id, detail, actor)
    return { client_id, client_secret }
  })
}

/** Whether a member of this role may make a key with these scopes. */
export function mayGive({ role }: Pick<Permitted, 'role'>, scopes: readonly AccessScope[]): boolean {
  return may(role, 'points.transfer') || !scopes.some((scope) => OWNERS_SCOPES.includes(scope))
}

/** Ends a key and its tokens at once. Throws what lockPermitted throws, and not_found for a key that is not live. */
export async function revokeAccessKey(
  deps: Core,
  payment_id: string,
  public_id: string,
  actor: Actor,
): Promise<string> {
  return deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'keys.manage')
    const [ended] = await endKeys(tx, sql`app_id = ${app.id} and public_id = ${public_id}`, deps.clock())
    if (ended === undefined) throw new AppError('not_found', 'There is no such access key')
    await audit(tx, 'payment_app.revoke_access_key', payment_id, { key: public_id, name: ended.name }, actor)
    return ended.name
  })
}

type EndedKey = { public_id: string; name: string }

async function endKeys(tx: Tx, which: ReturnType<typeof sql>, now: Date): Promise<EndedKey[]> {
  const { rows } = await sql<EndedKey>`
    select public_id, name from revoke_access_keys(
      array(select id from access_keys where revoked_at is null and ${which}), ${now}
    )`.execute(tx)
  return rows
}

/** Ends the named keys of an application that a member has made, within the act that removes the member. */
export async function revokeKeysMadeBy(
  tx: Tx,
  {
    app_id,
    payment_id,
    user_id,
    keys,
  }: { app_id: bigint; payment_id: string; user_id: bigint; keys: string[] },
  actor: Actor,
  now: Date,
): Promise<void> {
  if (keys.length === 0) return
  const which = sql`app_id = ${app_id} and created_by = ${user_id} and public_id = any(${keys}::text[])`
  for (const { public_id, name } of await endKeys(tx, which, now))
    await audit(tx, 'payment_app.revoke_access_key', payment_id, { key: public_id, name }, actor)
}

/** Ends any key, as an operator on the command line does. Returns the Payment ID of its application. Throws not_found. */
export async function revokeAnyKey({ db, clock }: Core, public_id: string): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const app = await tx
      .selectFrom('access_keys as key')
      .innerJoin('payment_apps as app', 'app.id', 'key.app_id')
      .where('key.public_id', '=', public_id)
      .select('app.payment_id')
      .executeTakeFirst()
    const [ended] = await endKeys(tx, sql`public_id = ${public_id}`, clock())
    if (app === undefined || ended === undefined)
      throw new AppError('not_found', 'There is no access key in force with this id')
    const detail = { key: public_id, name: ended.name }
    await recordAudit(tx, {
      ...{
        actor_id: null,
        action: 'payment_app.revoke_access_key',
        subject: app.payment_id,
        detail,
        ip: 'command line',
      },
    })
    return app.payment_id
  })
}

/** The keys of an application that are not revoked, the newest first. An expired one is shown for 30 days. */
export async function accessKeysOf(db: Db, app_id: bigint, now: Date) {
  return db
    .selectFrom('access_keys as key')
    .innerJoin('users as maker', 'maker.id', 'key.created_by')
    .where('key.app_id', '=', app_id)
    .where('key.revoked_at', 'is', null)
    .where('key.expires_at', '>', new Date(now.getTime() - 30 * DAY_MS))
    .orderBy('key.app_id', 'desc')
    .orderBy('key.id', 'desc')
    .select(['key.id', 'key.public_id', 'key.name', 'key.scopes', 'key.created_at', 'key.expires_at'])
    .select(['key.last_used_at', 'key.created_by', 'maker.username as made_by'])
    .select(sql<string[]>`key.allowed_addresses::text[]`.as('allowed_addresses'))
    .execute()
}

export type AccessKey = Awaited<ReturnType<typeof accessKeysOf>>[number]
