/** /account/profile: a member's name and language, and links to the account's security. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../platform/errors.ts'
import { readForm } from '../web/forms/forms.ts'
import { isHonestText } from '../web/parameters.ts'
import { rightsUnconfirmedSince } from './forum-sync/state.ts'
import { hasMail } from './people/email.ts'
import { namedGroupsOf } from './people/users.ts'
import { pendingAddress } from './security/email-address.ts'
import { type AccountFacts, accountFacts } from './security/facts.ts'
import { PROFILE } from './session/reauthentication.ts'
import { relyingPartyId } from './session/relying-party.ts'
import { type Session, sessionOf } from './session/session.ts'

const NAME_LENGTH_MAX = 60
const NameForm = z.object({ name: z.string().trim().max(NAME_LENGTH_MAX).refine(isHonestText) })

const WalletForm = z.object({ shows: z.enum(['on', 'off']) })
const ReceiptsForm = z.object({ mails: z.enum(['on', 'off']) })
const TipsForm = z.object({ accepts: z.enum(['on', 'off']) })

declare module '../web/views.ts' {
  interface PageData {
    'accounts/profile': {
      user: Session['user']
      customGroups: string[]
      forumUrl: string | undefined
      /** When the forum last confirmed rights that have lapsed since. */
      unconfirmedSince: Date | null
      hasMail: boolean
      hasPasskeys: boolean
      known: AccountFacts
      /** Whether shops may be permitted to charge later. */
      hasMandates: boolean
      /** The address that has a link and is not confirmed yet. */
      pending: string | undefined
      /** Whether the forum shows the wallet. Undefined where it cannot. */
      isWalletAtForum: boolean | undefined
      /** Whether authors of the forum get tips. Undefined where they cannot. */
      acceptsTips: boolean | undefined
      /** Whether purchases bring a receipt by email. Undefined without a confirmed address. */
      mailsReceipts: boolean | undefined
      path: string
    }
  }
}

/** GET and POST /account/profile, in a scope with requireUser. */
export function profilePages(app: FastifyInstance, deps: Core): void {
  app.get(PROFILE, async (request, reply) => {
    const { user } = sessionOf(request)
    const [unconfirmedSince, known, pending, atForum, mailsReceipts] = await Promise.all([
      rightsUnconfirmedSince(deps.db, user.id),
      accountFacts(deps, user.id),
      pendingAddress(deps.db, user.id, deps.clock()),
      findAtForum(deps, user.id),
      findReceiptChoice(deps, user),
    ])
    return reply.page('accounts/profile', {
      user,
      customGroups: namedGroupsOf(user),
      forumUrl: deps.config.DISCOURSE_URL,
      unconfirmedSince,
      hasMail: hasMail(deps.config),
      hasPasskeys: relyingPartyId(deps.config) !== undefined,
      known,
      hasMandates: deps.settings.latest().mandates === 'on',
      pending,
      ...atForum,
      mailsReceipts,
      path: PROFILE,
    })
  })

  app.post(`${PROFILE}/forum-wallet`, async (request, reply) => {
    const { user } = sessionOf(request)
    const { profile } = request.locale.t
    const is_shown = readForm(request, WalletForm).shows === 'on'
    await choose(
      deps,
      { user_id: user.id, ip: request.ip },
      { column: 'shows_wallet_at_forum', isOn: is_shown },
      { action: 'account.forum_wallet', detail: { is_shown } },
    )
    return reply.done(PROFILE, { text: is_shown ? profile.shownAtForum : profile.hiddenAtForum })
  })

  app.post(`${PROFILE}/receipts`, async (request, reply) => {
    const { user } = sessionOf(request)
    const { profile } = request.locale.t
    const is_wanted = readForm(request, ReceiptsForm).mails === 'on'
    await choose(
      deps,
      { user_id: user.id, ip: request.ip },
      { column: 'mails_receipts', isOn: is_wanted },
      { action: 'account.mails_receipts', detail: { is_wanted } },
    )
    return reply.done(PROFILE, { text: is_wanted ? profile.receiptsMailed : profile.receiptsNotMailed })
  })

  app.post(`${PROFILE}/tips`, async (request, reply) => {
    const { user } = sessionOf(request)
    const { profile } = request.locale.t
    const accepts = readForm(request, TipsForm).accepts === 'on'
    await choose(
      deps,
      { user_id: user.id, ip: request.ip },
      { column: 'accepts_tips', isOn: accepts },
      { action: 'account.accepts_tips', detail: { accepts } },
    )
    return reply.done(PROFILE, { text: accepts ? profile.tipsAccepted : profile.tipsRefused })
  })

  app.post(PROFILE, async (request, reply) => {
    const { user } = sessionOf(request)
    if (!user.has_password) throw new AppError('forbidden', 'The name of this account is kept at the forum')
    const { profile } = request.locale.t
    const { name } = readForm(request, NameForm, { name: profile.nameWrong })
    await rename(deps, { user_id: user.id, name: name || null, ip: request.ip })
    return reply.done(PROFILE, { text: name === '' ? profile.unnamed(user.username) : profile.renamed(name) })
  })
}

/** Sets or removes the name of an account, and records it. */
async function rename(
  { db, clock }: Core,
  { user_id, name, ip }: { user_id: bigint; name: string | null; ip: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .select('name')
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (before.name === name) return
    await tx.updateTable('users').set({ name, updated_at: clock() }).where('id', '=', user_id).execute()
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'account.renamed',
      subject: `user:${user_id}`,
      detail: { before, after: { name } },
      ip,
    })
  })
}

/** What the member has chosen for the forum. Each is undefined where its setting or the account does not allow it. */
async function findAtForum(
  { db, config, settings }: Core,
  user_id: bigint,
): Promise<{ isWalletAtForum: boolean | undefined; acceptsTips: boolean | undefined }> {
  const { forum_wallet, tips } = await settings.read()
  const isOff = config.DISCOURSE_URL === undefined || (forum_wallet === 'off' && tips === 'off')
  const member = isOff
    ? undefined
    : await db
        .selectFrom('users')
        .where('id', '=', user_id)
        .where('forum_id', 'is not', null)
        .select(['shows_wallet_at_forum', 'accepts_tips'])
        .executeTakeFirst()
  return {
    isWalletAtForum: forum_wallet === 'off' ? undefined : member?.shows_wallet_at_forum,
    acceptsTips: tips === 'off' ? undefined : member?.accepts_tips,
  }
}

/** Whether a member with a confirmed address gets receipts by email. Undefined for others, and on a site without mail. */
async function findReceiptChoice(
  { db, config }: Core,
  { id, email, email_verified }: Session['user'],
): Promise<boolean | undefined> {
  if (!hasMail(config) || email === null || !email_verified) return undefined
  const member = await db.selectFrom('users').where('id', '=', id).select('mails_receipts').executeTakeFirst()
  return member?.mails_receipts
}

/** Switches a choice of the member on or off, and records a change. */
async function choose(
  { db, clock }: Core,
  { user_id, ip }: { user_id: bigint; ip: string },
  choice: { column: 'shows_wallet_at_forum' | 'accepts_tips' | 'mails_receipts'; isOn: boolean },
  act: { action: string; detail: Record<string, boolean> },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('users')
      .set({ [choice.column]: choice.isOn, updated_at: clock() })
      .where('id', '=', user_id)
      .where(choice.column, '<>', choice.isOn)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await recordAudit(tx, { actor_id: user_id, ...act, subject: `user:${user_id}`, ip })
  })
}
