// This room: the pages of a member’s account, local groups, and what staff and operators do with members.
// Verbs: createAccount, suspendMember, banMember, reinstateMember, createGroup, rename.
// Tables: users, local_groups, user_groups.
// Clauses: spec/accounts 1.3.
/**
 * GET /forum/wallet.json: the wallet of the signed-in member for a script of the forum's pages. Only the forum's own origin may read it,
 * because Origin alone decides: over plain http a browser sends no Sec-Fetch headers, and a request of a sibling carries the cookie. It
 * notes that the forum asked, and else changes nothing: no cookie, no use of the session. spec/accounts 5.9.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import { networkOf } from '../core/limits.ts'
import { type StatementLine, statementOf, walletOf } from '../ledger/wallet.ts'
import { AppError } from '../platform/errors.ts'
import { isLanguage, type Locale } from '../web/languages.ts'
import { refuseOtherMethods } from '../web/methods.ts'
import { plainText } from '../web/parameters.ts'
import { siteWords } from '../web/site-words.ts'
import { noteContact } from './forum/contacts.ts'
import { dayOfForumScore } from './forum/score-reason.ts'
import { describeMovement } from './movements.ts'
import { peekSession } from './session/session.ts'

const LINES = 5
const TEXT_LENGTH_MAX = 80

const STATUS = {
  not_found: 404,
  origin_not_allowed: 403,
  too_many_requests: 429,
  not_signed_in: 401,
  other_member: 409,
  hidden: 403,
} as const

const Asked = z.object({
  forum_id: z.string().optional().catch(undefined),
  lang: z.string().optional().catch(undefined),
})

/** Mounts the address with an own scope: pages have other errors, and their limit comes before the origin. */
export async function forumWallet(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      vary: 'Origin',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-site',
    })
  })
  app.setErrorHandler((error, _request, reply) => {
    // The root handler renders all other errors, and logs unknown ones.
    if (!(error instanceof AppError) || error.code !== 'method_not_allowed') throw error
    return reply.code(405).send({ error: error.code })
  })
  await refuseOtherMethods(app, async () => {
    app.get('/forum/wallet.json', { exposeHeadRoute: false }, async (request, reply) => {
      const answer = await readWallet(request, reply, deps)
      const isShown = typeof answer === 'object'
      deps.metrics?.forumWallet.inc({ outcome: isShown ? 'shown' : answer })
      return isShown ? answer : reply.code(STATUS[answer]).send({ error: answer })
    })
  })
}

/** Judges a request in the order of the clause. Returns the wallet, or why not. */
async function readWallet(request: FastifyRequest, reply: FastifyReply, deps: Core) {
  const settings = await deps.settings.read()
  const { DISCOURSE_URL } = deps.config
  if (settings.forum_wallet === 'off' || DISCOURSE_URL === undefined) return 'not_found'
  const { origin } = new URL(DISCOURSE_URL)
  if (request.headers.origin !== origin) return 'origin_not_allowed'
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' })
  if (await isFull(reply, deps, 'pages', networkOf(request.ip))) return 'too_many_requests'
  // A database that only reads still shows wallets.
  await noteContact(deps, 'wallet').catch((err) => request.log.warn({ err }, 'The contact was not noted'))
  const session = await peekSession(request, deps)
  if (session !== undefined && (await isFull(reply, deps, 'forum_wallet', String(session.id))))
    return 'too_many_requests'
  if (session === undefined || session.user.must_change_password) return 'not_signed_in'
  const { id } = session.user
  const { forum_id, lang } = Asked.parse(request.query)
  const member = await deps.db
    .selectFrom('users')
    .where('id', '=', id)
    .select(['forum_id', 'shows_wallet_at_forum'])
    .executeTakeFirstOrThrow()
  if (member.forum_id === null || String(member.forum_id) !== forum_id) return 'other_member'
  if (!member.shows_wallet_at_forum) return 'hidden'
  const language = isLanguage(lang) ? lang : request.locale.language
  const [wallet, { rows }] = await Promise.all([
    walletOf(deps.db, id),
    statementOf(deps.db, id, {}, { lines: LINES }),
  ])
  const { locale } = request.server.siteIn(language)
  return {
    forum_id,
    balance: Number(wallet.balance),
    unit: siteWords(settings, language).points,
    frozen: wallet.frozen_reason !== null,
    tips: settings.tips === 'on',
    // Pages of the service write times in this zone too.
    time_zone: settings.time_zone,
    movements: rows.map((line) => ({
      at: line.posted_at.toISOString(),
      kind: line.is_tip && line.kind === 'payment' ? 'tip' : line.kind,
      text: textOf(line, locale),
      amount: Number(line.amount),
    })),
  } satisfies object
}

/** Counts a request. Returns whether there were too many, and says how long to wait. */
async function isFull(
  reply: FastifyReply,
  { limits }: Core,
  limit: 'pages' | 'forum_wallet',
  key: string,
): Promise<boolean> {
  try {
    await limits.take(limit, key)
    return false
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'too_many_attempts') throw error
    reply.header('retry-after', String(error.retry_after_seconds ?? 1))
    return true
  }
}

/** What a movement was. An administrator's reason stays on the member's own pages; only the service's own is shown. */
function textOf(line: StatementLine, locale: Locale): string {
  // The row has the day of a forum score as its time.
  if (line.reason !== null && dayOfForumScore(line.reason) !== undefined)
    return locale.t.account.forumActivity
  const { word, title } = describeMovement({ ...line, reason: null }, locale)
  // The title of a refund is that of what was paid.
  const parts = [line.is_tip ? null : line.app_name, line.kind === 'refund' ? word : null, title]
  const text = plainText(parts.filter((part) => part !== null).join(' · '))
  const characters = Array.from(text)
  if (characters.length <= TEXT_LENGTH_MAX) return text
  return `${characters.slice(0, TEXT_LENGTH_MAX - 1).join('')}…`
}
