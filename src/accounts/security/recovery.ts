/**
 * Recovers a forgotten password. A request is only stored, without reading accounts, so neither the answer nor its time
 * shows whether an account exists. The worker finds the account and mails the link. spec/accounts 4.2.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { Language } from '../../web/languages.ts'
import { enqueueMail, hasMail, type MailContent } from '../people/email.ts'
import { endSessionsOf } from '../session/session.ts'
import { claimLink, endLinks, findLink, issueLink } from './account-links.ts'
import { mails } from './mails.texts.ts'
import { hashPassword } from './password.ts'
import { originFacts, recordSecurityEvent } from './security-events.ts'

export const LINK_MINUTES = 30
const BATCH_MAX = 20
/** Several accounts may have one address. More than this many get no link. */
const ACCOUNTS_MAX = 5
/** The path of the page that the link opens. */
export const NEW_PASSWORD = '/account/recover/password'

/** `return_to` is the path at which the member asked for the sign-in. */
type RecoveryRequest = { name: string; language: Language; ip: string; agent: string; return_to: string }
type Stored = RecoveryRequest & { requested_at: Date }

/** Stores a request for the worker. */
export async function requestRecovery({ db, clock }: Core, request: RecoveryRequest): Promise<void> {
  await db
    .insertInto('recovery_requests')
    .values({ ...request, requested_at: clock() })
    .execute()
}

type NewPassword = { token: string; new_password: string; ip: string; agent?: string; language?: Language }

/**
 * Sets a new password with a link and ends all sessions. Tokens of applications and the second factor stay. Returns the path that
 * the link leads on to and the username, or undefined when it is used or expired, or the account has another address now.
 */
export async function recoverPassword(
  deps: Core,
  { token, new_password, ...by }: NewPassword,
): Promise<{ return_to: string; username: string } | undefined> {
  const now = deps.clock()
  const purpose = 'recover_password'
  // Checked before the expensive hash. claimLink decides.
  const found = await findLink(deps.db, { token, purpose, now })
  if (found === undefined) return undefined
  const password_hash = await hashPassword(new_password)
  return deps.db.transaction().execute(async (tx) => {
    const link = await claimLink(tx, { token, purpose, now })
    if (link === undefined) return undefined
    const { user_id, email, return_to } = link
    const changed = await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: false, updated_at: now })
      .where('id', '=', user_id)
      .where('password_hash', 'is not', null)
      .where('email', '=', email)
      .where('email_verified', '=', true)
      .executeTakeFirst()
    if (changed.numUpdatedRows !== 1n) return undefined
    await endLinks(tx, { user_id, purpose, now })
    await endSessionsOf(tx, deps, user_id)
    await recordSecurityEvent(tx, deps, { event: 'password.recovered', user_id, actor_id: user_id, ...by })
    return { return_to, username: found.username }
  })
}

/** Sends links for stored requests. Each request goes to one process. */
export async function answerRecoveryRequests(deps: Core): Promise<void> {
  if (!hasMail(deps.config)) return
  await deps.db.transaction().execute(async (tx) => {
    const requests = await tx
      .deleteFrom('recovery_requests')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('recovery_requests')
          .orderBy('id')
          .limit(BATCH_MAX)
          .forUpdate()
          .skipLocked()
          .select('id'),
      )
      .returning(['name', 'language', 'ip', 'agent', 'return_to', 'requested_at'])
      .execute()
    for (const request of requests) await sendLinks(tx, deps, request)
  })
}

/** Mails links to the confirmed addresses of local accounts with this name or address, if there are any. */
async function sendLinks(tx: Tx, deps: Core, { requested_at, ...request }: Stored): Promise<void> {
  const { name, language, ip, agent, return_to } = request
  const accounts = await tx
    .selectFrom('users')
    .where(sql<boolean>`(lower(username) = lower(${name}) or lower(email) = lower(${name}))`)
    .where('password_hash', 'is not', null)
    .where('email_verified', '=', true)
    .where('email', 'is not', null)
    .select(['id', 'username', 'email', 'language'])
    .orderBy('id')
    .limit(ACCOUNTS_MAX)
    .execute()
  const content = { ...mails.recovery, at: requested_at, facts: originFacts({ agent, ip }) }
  for (const { id: user_id, username, email, ...account } of accounts)
    await mailRecoveryLink(tx, deps, {
      member: { user_id, username, email: email!, language: account.language ?? language },
      content,
      ip,
      return_to,
    })
}

type Reachable = { user_id: bigint; username: string; email: string; language: Language }

type RecoveryMail = { member: Reachable; content: MailContent; ip: string; return_to?: string }

/** Mails a member a link that sets a new password. The address must be confirmed, or the link does nothing. */
export async function mailRecoveryLink(
  tx: Tx,
  deps: Core,
  { member, content, ip, return_to = '/' }: RecoveryMail,
): Promise<void> {
  const { user_id, username, email, language } = member
  const expires_at = new Date(deps.clock().getTime() + LINK_MINUTES * 60_000)
  const token = await issueLink(tx, { user_id, purpose: 'recover_password', email, expires_at, return_to })
  await recordSecurityEvent(tx, deps, { event: 'password.recovery_sent', user_id, actor_id: null, ip })
  await enqueueMail(tx, deps, {
    user_id,
    username,
    recipient: email,
    language,
    kind: 'password.recovery',
    content,
    link: `${NEW_PASSWORD}?token=${token}`,
    useless_at: expires_at,
  })
}
