/**
 * Changes the e-mail address of a local account. A new address takes effect when the member opens the link sent to it,
 * signed in. Applications identify members by the address, so a stranger must not get it confirmed by another person.
 * spec/accounts 4.1.
 */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Language } from '../../web/languages.ts'
import { enqueueMail } from '../people/email.ts'
import type { User } from '../people/users.ts'
import { claimLink, endLinks, issueLink } from './account-links.ts'
import { mails } from './mails.texts.ts'
import { originFacts, recordSecurityEvent } from './security-events.ts'

/** The path of the page that the link opens. */
export const CONFIRM = '/account/email/confirm'
export const LINK_MINUTES = 60

/** Sends the link to the new address. Earlier links end, because one may have gone to a mistyped address. */
export async function requestAddress(
  deps: Core,
  request: {
    user: Pick<User, 'id' | 'username'>
    email: string
    language: Language
    ip: string
    agent: string
  },
): Promise<void> {
  const { user, email, language, ip, agent } = request
  const now = deps.clock()
  const link = { user_id: user.id, purpose: 'confirm_email' } as const
  const expires_at = new Date(now.getTime() + LINK_MINUTES * 60_000)
  await deps.db.transaction().execute(async (tx) => {
    await endLinks(tx, { ...link, now })
    const token = await issueLink(tx, { ...link, email, expires_at })
    const event = {
      event: 'email.requested',
      user_id: user.id,
      actor_id: user.id,
      ip,
      detail: { email },
    } as const
    await recordSecurityEvent(tx, deps, event)
    await enqueueMail(tx, deps, {
      user_id: user.id,
      username: user.username,
      recipient: email,
      language,
      kind: 'email.confirmation',
      content: { ...mails.confirmEmail(email), at: now, facts: originFacts({ agent, ip }) },
      link: `${CONFIRM}?token=${token}`,
      useless_at: expires_at,
    })
  })
}

/** Returns the address to which a usable link of the member was sent last. */
export async function pendingAddress(db: Db, user_id: bigint, now: Date): Promise<string | undefined> {
  const link = await db
    .selectFrom('account_links')
    .where('user_id', '=', user_id)
    .where('purpose', '=', 'confirm_email')
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .select('email')
    .orderBy('expires_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return link?.email
}

/** Sets the link's address, mails the old address, and returns the new one. Returns undefined for an unusable link. */
export async function confirmAddress(
  deps: Core,
  { token, user_id, ...by }: { token: string; user_id: bigint; ip: string; agent: string },
): Promise<string | undefined> {
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .where('password_hash', 'is not', null)
      .select('email')
      .forUpdate()
      .executeTakeFirst()
    const link = await claimLink(tx, { token, user_id, purpose: 'confirm_email', now })
    if (before === undefined || link === undefined) return undefined
    const { email } = link
    const change = { email, email_verified: true, updated_at: now }
    await tx.updateTable('users').set(change).where('id', '=', user_id).execute()
    await recordSecurityEvent(tx, deps, {
      event: 'email.changed',
      user_id,
      actor_id: user_id,
      ...by,
      detail: { from: before.email, to: email },
      notify: before.email === email ? null : before.email,
    })
    return email
  })
}
