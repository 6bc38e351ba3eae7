/** GET /launch: the applications that a member uses, and those that their owners list for members. spec/registry 3.3. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { isBannedOrSuspended } from '../accounts/people/users.ts'
import { browserScope, requireUser, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { type GroupRules, type MemberStatus, refusalOf } from './apps/access.ts'

declare module '../web/views.ts' {
  interface PageData {
    'identity/launch': { used: LaunchApp[]; listed: LaunchApp[] }
  }
  interface PartData {
    'identity/launch-cards': { apps: LaunchApp[] }
  }
}

/** GET /launch, for members. */
export async function launchPage(app: FastifyInstance, { db, clock, ...deps }: Core): Promise<void> {
  browserScope(app, { db, clock, ...deps })
  app.addHook('preHandler', requireUser)
  app.get('/launch', async (request, reply) =>
    reply.page('identity/launch', await launchApps(db, sessionOf(request).user, clock())),
  )
}

const APPS_MAX = 200

/** An application on a card. */
export type LaunchApp = {
  name: string
  logo_url: string | null
  homepage: string
  /** Null for a client that nobody registered. */
  owner_username: string | null
  reviewed_at: Date | null
  /** Null for one that the member has not used. */
  last_used_at: Date | null
}

type Row = Omit<LaunchApp, 'homepage'> &
  GroupRules & { id: bigint; homepage: string | null; is_banned: boolean | null; suspended_till: Date | null }

/**
 * Returns what the member uses, the last used first, and what is listed and reviewed, by name; both only with a homepage, where
 * the group rules admit the member now, and neither the application nor its owner is suspended. Unconfirmed ones are left out.
 */
async function launchApps(
  db: Db,
  user: MemberStatus & { id: bigint },
  now: Date,
): Promise<{ used: LaunchApp[]; listed: LaunchApp[] }> {
  const [used, listed] = await Promise.all([usedApps(db, user.id), listedApps(db)])
  const isOpen = (app: Row) =>
    refusalOf(user, app, now) === undefined && !isOfBarredOwner(app, now) && app.homepage !== null
  const known = new Set(used.map(({ id }) => id))
  return {
    used: used.filter(isOpen).map(asCard),
    listed: listed.filter((app) => !known.has(app.id) && isOpen(app)).map(asCard),
  }
}

function isOfBarredOwner({ is_banned, suspended_till }: Row, now: Date): boolean {
  return is_banned !== null && isBannedOrSuspended({ is_banned, suspended_till }, now)
}

async function usedApps(db: Db, user_id: bigint): Promise<Row[]> {
  return appsWithOwners(db)
    .innerJoin('consents as consent', 'consent.app_id', 'app.id')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('grants as family')
          .whereRef('family.user_id', '=', 'consent.user_id')
          .whereRef('family.app_id', '=', 'consent.app_id')
          .select((eb) => eb.fn.max('family.created_at').as('signed_in_at'))
          .as('use'),
      (join) => join.onTrue(),
    )
    .where('consent.user_id', '=', user_id)
    .select(sql<Date>`greatest(consent.updated_at, "use".signed_in_at)`.as('last_used_at'))
    .orderBy('last_used_at', 'desc')
    .limit(APPS_MAX)
    .execute()
}

async function listedApps(db: Db): Promise<Row[]> {
  return appsWithOwners(db)
    .where('app.is_listed', '=', true)
    .where('app.reviewed_at', 'is not', null)
    .orderBy(sql`lower(app.name)`)
    .orderBy('app.id')
    .select(sql<null>`null`.as('last_used_at'))
    .limit(APPS_MAX)
    .execute()
}

function appsWithOwners(db: Db) {
  return db
    .selectFrom('oauth_apps as app')
    .leftJoin('users as owner', 'owner.id', 'app.owner_id')
    .where('app.suspended_at', 'is', null)
    .where('app.confirmed_at', 'is not', null)
    .where('app.homepage', 'is not', null)
    .select(['app.id', 'app.name', 'app.logo_url', 'app.homepage', 'app.reviewed_at'])
    .select(['app.allow_groups', 'app.deny_groups'])
    .select(['owner.username as owner_username', 'owner.is_banned', 'owner.suspended_till'])
}

function asCard({ name, logo_url, homepage, owner_username, reviewed_at, last_used_at }: Row): LaunchApp {
  return { name, logo_url, homepage: homepage!, owner_username, reviewed_at, last_used_at }
}
