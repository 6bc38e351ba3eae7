/**
 * The team of a payment application: members with one role each. The owner invites a member, who accepts or declines and
 * may leave at any time. spec/payment-api 1.5.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import { findUserByUsername } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { revokeKeysMadeBy } from '../access-keys/keys.ts'
import { onceADay, raiseAlert } from '../alerts/alerts.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'

/** Includes invitations. */
export const TEAM_MAX = 20

export const TEAM_ROLES = ['manager', 'operator', 'viewer'] as const
export const teamRole = z.enum(TEAM_ROLES)

type Membership = { username: string; role: z.output<typeof teamRole> }

/** Why an invitation failed: no member has this name, the member is invited or in the team, or the team is full. */
export type InviteFault = 'unknown' | 'known' | 'full'

/** Invites a member, who gets at most one alert a day and no rights before accepting. Throws too_many_attempts. */
export async function inviteMember(
  deps: Core,
  payment_id: string,
  { username, role }: Membership,
  actor: Actor,
): Promise<InviteFault | undefined> {
  await deps.limits.hit('invitations', actor.user_id.toString())
  return deps.db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'team.manage')
    const invited = await findUserByUsername(tx, username)
    if (invited === undefined) return 'unknown'
    if (invited.id === actor.user_id) return 'known'
    const team = await tx
      .selectFrom('payment_app_members')
      .where('app_id', '=', app_id)
      .select('user_id')
      .execute()
    if (team.some(({ user_id }) => user_id === invited.id)) return 'known'
    if (team.length >= TEAM_MAX) return 'full'
    const { user_id: invited_by } = actor
    await tx
      .insertInto('payment_app_members')
      .values({ app_id, user_id: invited.id, role, invited_by, invited_at: deps.clock() })
      .execute()
    await raiseAlert(tx, deps, {
      app_id,
      kind: 'invited',
      cause: onceADay(deps.clock()),
      to: { user_id: invited.id },
    })
    await audit(tx, 'payment_app.invite', payment_id, { user_id: String(invited.id), role }, actor)
    return undefined
  })
}

/** Changes the role of a team member or an invited member. Throws not_found. */
export async function changeRole(
  deps: Core,
  payment_id: string,
  { username, role }: Membership,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'team.manage')
    const changed = await tx
      .updateTable('payment_app_members')
      .set({ role })
      .where('app_id', '=', id)
      .where('user_id', '=', userNamed(username))
      .returning('user_id')
      .executeTakeFirst()
    if (changed === undefined) throw notInTeam()
    await audit(tx, 'payment_app.change_role', payment_id, { user_id: String(changed.user_id), role }, actor)
  })
}

/**
 * Removes a member from the team, or withdraws an invitation. Returns which of the two it was. Throws not_found.
 * @param keys the access keys to revoke, of those that the member has made. spec/access-keys 1.3.
 */
export async function removeMember(
  deps: Core,
  payment_id: string,
  { username, keys }: { username: string; keys: string[] },
  actor: Actor,
): Promise<'member' | 'invitation'> {
  return deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'team.manage')
    const removed = await tx
      .deleteFrom('payment_app_members')
      .where('app_id', '=', id)
      .where('user_id', '=', userNamed(username))
      .returning(['user_id', 'role', 'accepted_at'])
      .executeTakeFirst()
    if (removed === undefined) throw notInTeam()
    const detail = { user_id: String(removed.user_id), role: removed.role }
    await audit(tx, 'payment_app.remove_member', payment_id, detail, actor)
    const { user_id } = removed
    await revokeKeysMadeBy(tx, { app_id: id, payment_id, user_id, keys }, actor, deps.clock())
    return removed.accepted_at === null ? 'invitation' : 'member'
  })
}

/** Removes the acting member from the team. Throws conflict for the owner, who can only hand the application over. */
export async function leaveTeam(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id, role } = await lockPermitted(tx, payment_id, actor, 'application.read')
    if (role === 'owner') throw new AppError('conflict', 'An owner cannot leave an application')
    await tx
      .deleteFrom('payment_app_members')
      .where('app_id', '=', id)
      .where('user_id', '=', actor.user_id)
      .execute()
    await audit(tx, 'payment_app.leave', payment_id, { role }, actor)
  })
}

/** Accepts an invitation. Throws not_found if the member has none. */
export async function acceptInvitation(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const accepted = await tx
      .updateTable('payment_app_members as member')
      .from('payment_apps as app')
      .whereRef('app.id', '=', 'member.app_id')
      .where('app.payment_id', '=', payment_id)
      .where('member.user_id', '=', actor.user_id)
      .where('member.accepted_at', 'is', null)
      .set({ accepted_at: deps.clock() })
      .returning('member.role')
      .executeTakeFirst()
    if (accepted === undefined) throw notInvited()
    await audit(tx, 'payment_app.join', payment_id, { role: accepted.role }, actor)
  })
}

/** Declines an invitation. Throws not_found if the member has none. */
export async function declineInvitation(deps: Core, payment_id: string, actor: Actor): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const declined = await tx
      .deleteFrom('payment_app_members as member')
      .using('payment_apps as app')
      .whereRef('app.id', '=', 'member.app_id')
      .where('app.payment_id', '=', payment_id)
      .where('member.user_id', '=', actor.user_id)
      .where('member.accepted_at', 'is', null)
      .returning('member.role')
      .executeTakeFirst()
    if (declined === undefined) throw notInvited()
    await audit(tx, 'payment_app.decline_invitation', payment_id, { role: declined.role }, actor)
  })
}

/** The team and the invited members, the earliest invitation first. */
export async function teamOf(db: Db, app_id: bigint) {
  return db
    .selectFrom('payment_app_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .where('member.app_id', '=', app_id)
    .orderBy('member.invited_at')
    .orderBy('member.user_id')
    .select([
      'users.id',
      'users.username',
      'users.name',
      'member.role',
      'member.invited_at',
      'member.accepted_at',
    ])
    .execute()
}

/** A member's open invitations, the newest first. */
export async function invitationsOf(db: Db, user_id: bigint) {
  return db
    .selectFrom('payment_app_members as member')
    .innerJoin('payment_apps as app', 'app.id', 'member.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('member.user_id', '=', user_id)
    .where('member.accepted_at', 'is', null)
    .orderBy('member.invited_at', 'desc')
    .select(['app.payment_id', 'app.name', 'owner.username as owner_username'])
    .select(['member.role', 'member.invited_at'])
    .execute()
}

const userNamed = (username: string) =>
  sql<bigint>`(select id from users where lower(username) = lower(${username}))`

const notInTeam = () => new AppError('not_found', 'The team has no member with this name')
const notInvited = () => new AppError('not_found', 'There is no such invitation')
