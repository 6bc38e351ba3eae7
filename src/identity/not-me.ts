/**
 * “This wasn't me”: locks an account by the link in a mail about a change, for a member who did not make it. The link gives no
 * access. It goes to the address from before the change, which gets the link for a new password. spec/accounts 4.4.
 */

import { sql } from 'kysely'
import { lockUser } from '../accounts/people/users.ts'
import { claimLink, endNewerLinks, findLink } from '../accounts/security/account-links.ts'
import { mails } from '../accounts/security/mails.texts.ts'
import { hashPassword } from '../accounts/security/password.ts'
import { mailRecoveryLink } from '../accounts/security/recovery.ts'
import { keepWithoutPasskeys } from '../accounts/security/second-factor.ts'
import { NOT_ME_DAYS, originFacts, recordSecurityEvent } from '../accounts/security/security-events.ts'
import { endSessionsOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import type { Tx } from '../database/connection.ts'
import { randomToken } from '../platform/secrets.ts'
import type { Language } from '../web/languages.ts'
import { endGrantsOf } from './grants/grants.ts'

const DAY_MS = 86_400_000

/** When the change of a link was made, and since when added passkeys are not trusted. Each older one had its own mail. */
function momentsOf({ expires_at }: { expires_at: Date }) {
  const before = (moment: Date) => new Date(moment.getTime() - NOT_ME_DAYS * DAY_MS)
  const changed_at = before(expires_at)
  return { changed_at, untrusted_since: before(changed_at) }
}

/** What locking would do to the account of a link. Undefined for an unusable link. */
export async function findDenial({ db, clock }: Core, token: string) {
  const link = await findLink(db, { token, purpose: 'not_me', now: clock() })
  if (link === undefined) return undefined
  const { user_id } = link
  const { changed_at, untrusted_since } = momentsOf(link)
  const account = await db
    .selectFrom('users')
    .where('id', '=', user_id)
    .select('email')
    .select([
      sql<boolean>`password_hash is not null`.as('has_password'),
      sql<boolean>`exists (select from second_factors where user_id = users.id)`.as('has_second_factor'),
      sql<boolean>`exists (
        select from passkeys where user_id = users.id and created_at >= ${untrusted_since}
      )`.as('has_new_passkeys'),
    ])
    .executeTakeFirstOrThrow()
  return { ...link, ...account, address: link.email, changed_at, untrusted_since }
}

type Denial = { token: string; ip: string; agent: string; language: Language }

/**
 * Signs the member out of every browser and application, and removes new passkeys. A local account gets back the address of the
 * link and a random password, and the address gets a link to set another. Newer links end, because they may have gone to a
 * stranger. Returns the address, and whether the account had a password; undefined for an unusable link.
 */
export async function denyChange(
  deps: Core,
  denial: Denial,
): Promise<{ address: string; hadPassword: boolean } | undefined> {
  const now = deps.clock()
  const by = { token: denial.token, purpose: 'not_me', now } as const
  const found = await findLink(deps.db, by)
  if (found === undefined) return undefined
  const { user_id } = found
  const password_hash = await hashPassword(randomToken())
  return deps.db.transaction().execute(async (tx) => {
    await lockUser(tx, user_id)
    const link = await claimLink(tx, { ...by, user_id })
    if (link === undefined) return undefined
    await endNewerLinks(tx, { ...link, now })
    const sessions = await endSessionsOf(tx, deps, user_id)
    const grants = await endGrantsOf(tx, { user_id, now })
    const passkeys = await removeNewPasskeys(tx, deps, { user_id, since: momentsOf(link).untrusted_since })
    const member = await tx
      .updateTable('users')
      .set({ password_hash, email: link.email, email_verified: true, updated_at: now })
      .where('id', '=', user_id)
      .where('password_hash', 'is not', null)
      .returning(['username', 'language'])
      .executeTakeFirst()
    const detail = { sessions: sessions.length, grants, passkeys, email: member && link.email }
    await recordSecurityEvent(tx, deps, {
      event: 'locked',
      user_id,
      actor_id: null,
      ip: denial.ip,
      detail,
    })
    if (member !== undefined)
      await mailNewPassword(tx, deps, { user_id, ...member, address: link.email }, denial)
    return { address: link.email, hadPassword: member !== undefined }
  })
}

/** Removes passkeys that a stranger may have added. */
async function removeNewPasskeys(
  tx: Tx,
  deps: Core,
  { user_id, since }: { user_id: bigint; since: Date },
): Promise<number> {
  const older = await tx
    .selectFrom('passkeys')
    .where('user_id', '=', user_id)
    .where('created_at', '<', since)
    .select('id')
    .forShare()
    .execute()
  if (older.length === 0) await keepWithoutPasskeys(tx, deps, user_id)
  const { numDeletedRows } = await tx
    .deleteFrom('passkeys')
    .where('user_id', '=', user_id)
    .where('created_at', '>=', since)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

async function mailNewPassword(
  tx: Tx,
  deps: Core,
  member: { user_id: bigint; username: string; address: string; language: Language | null },
  { ip, agent, language }: Denial,
): Promise<void> {
  const content = { ...mails.lockedOut, at: deps.clock(), facts: originFacts({ agent, ip }) }
  await mailRecoveryLink(tx, deps, {
    member: { ...member, email: member.address, language: member.language ?? language },
    content,
    ip,
  })
}
