/**
 * Refunds, reversals, grants and adjustments by administrators, in two steps: a page says the effect in figures, and the
 * same form confirms it. The key of the page lets a repeated confirmation act once. Where the site requires a second
 * administrator, the confirmation makes a proposal.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findMembers } from '../../accounts/members.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { randomToken } from '../../platform/secrets.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'
import { findOrders, findTransfers } from '../find/transactions.ts'
import type { PointsAct } from '../proposals/acts.ts'
import { answerProposed } from '../proposals/proposal-words.ts'
import { actOrPropose } from '../proposals/proposals.ts'
import {
  confirmPage,
  isOfMember,
  MemberForm,
  PointsActForm,
  type Sheet,
  sheetOfGrant,
  sheetOfRefund,
  sheetOfReversal,
} from './adjustment-sheets.ts'
import { readGrant, readGrantOfMember, summaryOf } from './grants.ts'
import { quoteRefund, quoteReversal } from './quotes.ts'

const PATH = '/admin/adjustments'
/** Members that the page offers for a part of a name, of at most so many characters. */
const MEANT_MAX = 8
const MEANT_TEXT_MAX = 100
/** Bookmarks may name it. */
const FORMER_PATH = '/admin/corrections'
/** The form of a merchant's refund request is on its own page. */
const REQUEST_PATH = '/admin/refund-requests/accept'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/adjustments': Awaited<ReturnType<typeof find>> & {
      id: string
      /** The username that the page of a member leads here with. */
      member: string
      /** Members that a name without an account may mean. */
      meant: Awaited<ReturnType<typeof findMembers>>
    }
  }
  interface PartData {
    'admin/points/adjustment-refund': {
      order: { id: bigint; transaction_id: string; amount: bigint; refunded_amount: bigint }
    }
    'admin/points/adjustment-reversal': { transfer: { id: bigint; transaction_id: string } }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function adjustmentPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PATH, async ({ query, refused }, reply) => {
    const asked = refused?.typed.transaction_id ?? query.id
    const id = typeof asked === 'string' ? asked.trim() : ''
    const member = typeof query.member === 'string' ? query.member : ''
    const named = refused?.typed.kind === 'member' ? refused.typed.username : member
    const [found, meant] = await Promise.all([find(deps.db, id), meantBy(deps.db, named)])
    return reply.page('admin/points/adjustments', { id, member, meant, ...found })
  })

  app.get(FORMER_PATH, ({ url }, reply) => reply.redirect(url.replace(FORMER_PATH, PATH), 301))

  const preHandler = requireFreshSignIn(deps)
  for (const path of [PATH, REQUEST_PATH])
    app.post(path, { preHandler }, async (request, reply) => {
      if (isOfMember(request.body)) return previewOfMember(request, reply, deps)
      const form = readForm(request, PointsActForm, wordsOf(request.locale))
      const { key } = form
      if (key === undefined) return preview(request, reply, deps, form)
      const act = await readPointsAct(request, deps, { ...form, key })
      // The answer has the figures from before the act.
      const { path, ...done } = await answerOf(request, deps, act)
      const outcome = await actOrPropose(deps, act, actorOf(request))
      if (outcome.state === 'proposed') return answerProposed(reply, outcome.earlier)
      const { repeated } = request.locale.t.adjustments.done
      return reply.done(path, outcome.state === 'done' ? done : { ...done, text: repeated })
    })
}

function wordsOf({ t }: Locale): Record<string, string> {
  const { reason, amount, lines, username } = t.adjustments.problems
  return { reason, amount, lines, username }
}

/** Finds orders and transfers by any of their numbers. */
async function find(db: Db, id: string) {
  if (id === '') return { orders: [], transfers: [] }
  const [orders, transfers] = await Promise.all([findOrders(db, id), findTransfers(db, id)])
  return { orders, transfers }
}

/** Finds the members that a name may mean, or none if it is a username. */
async function meantBy(db: Db, typed: unknown) {
  const name = typeof typed === 'string' ? typed.trim().replace(/^@/, '').slice(0, MEANT_TEXT_MAX) : ''
  if (name === '') return []
  const found = await findMembers(db, name, MEANT_MAX)
  return found.some(({ username }) => username.toLowerCase() === name.toLowerCase()) ? [] : found
}

/** Shows the effect of an act. Throws FormRefused where it cannot be done. */
async function preview(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
  form: PointsActForm,
): Promise<FastifyReply> {
  const sheet = await sheetOf(request, deps, form)
  return confirmPage(reply, sheet, { form, key: randomToken(), isProposal: await needsApproval(deps) })
}

/** Shows what one member gains or loses. The form that confirms it has one line. */
async function previewOfMember(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const { locale } = request
  const { username, direction, amount, reason } = readForm(request, MemberForm, wordsOf(locale))
  const lines = `${username},${direction === 'take' ? '-' : ''}${amount}`
  const sheet = sheetOfGrant(locale, await readGrantOfMember(deps.db, lines, locale))
  const form = { kind: 'points', lines, reason } as const
  return confirmPage(reply, sheet, { form, key: randomToken(), isProposal: await needsApproval(deps) })
}

async function sheetOf({ locale }: FastifyRequest, { db }: Core, form: PointsActForm): Promise<Sheet> {
  const { problems } = locale.t.adjustments
  if (form.kind === 'points') return sheetOfGrant(locale, await readGrant(db, form.lines, locale))
  const act = { transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  const tooPoor = (username: string, have: bigint, need: bigint) =>
    problems.tooPoor(username, locale.points(have), locale.points(need))
  if (form.kind === 'reversal') {
    const quote = await quoteReversal(db, act)
    if (quote === undefined) throw new FormRefused({ '': problems.noTransfer }, 'not_found')
    const { status, recipient, recipient_balance, amount } = quote
    if (status === 'reversed') throw new FormRefused({ '': problems.reversed }, 'conflict')
    if (recipient_balance < amount)
      throw new FormRefused({ '': tooPoor(recipient, recipient_balance, amount) }, 'conflict')
    return sheetOfReversal(locale, quote)
  }
  const amount = BigInt(form.amount)
  const quote = await quoteRefund(db, { ...act, amount })
  if (quote === undefined) throw new FormRefused({ '': problems.noOrder }, 'not_found')
  const { left, amount: whole, payer, payee, payee_balance, fee_part } = quote
  if (amount > left)
    throw new FormRefused({ amount: problems.tooMuch(locale.points(left), locale.points(whole)) }, 'conflict')
  const part = amount - fee_part
  if (payer !== payee && payee_balance < part)
    throw new FormRefused({ amount: tooPoor(payee, payee_balance, part) }, 'conflict')
  return sheetOfRefund(locale, quote, amount)
}

async function needsApproval({ settings }: Core): Promise<boolean> {
  return (await settings.read()).second_approver === 'on'
}

async function readPointsAct(
  { locale }: FastifyRequest,
  { db }: Core,
  form: PointsActForm & { key: string },
): Promise<PointsAct> {
  const { reason, key } = form
  if (form.kind === 'points')
    return { kind: form.kind, reason, key, lines: await readGrant(db, form.lines, locale, false) }
  const act = { reason, key, transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  if (form.kind === 'reversal') return { kind: form.kind, ...act }
  const request = form.request_id === undefined ? {} : { request_id: BigInt(form.request_id) }
  return { kind: form.kind, ...act, ...request, amount: BigInt(form.amount) }
}

type Answer = { path: string; text: string; link?: { href: string; label: string } }

/** Returns where an act leads, and what the page there says of it. */
async function answerOf({ locale }: FastifyRequest, { db }: Core, act: PointsAct): Promise<Answer> {
  const { t, points } = locale
  const { done } = t.adjustments
  if (act.kind === 'points') {
    const { granted, taken, members } = summaryOf(act.lines)
    const text = done.points(points(granted), points(taken), members.length)
    const [only] = members
    if (only === undefined || members.length > 1) return { path: PATH, text }
    return { path: PATH, text, link: { href: `/admin/wallets/${only.user_id}`, label: `@${only.username}` } }
  }
  if (act.kind === 'refund') {
    const quote = await quoteRefund(db, act)
    const { payer = '', app_name = '', left = 0n, amount: whole = 0n } = quote ?? {}
    const text = done.refunded(points(act.amount), points(whole), payer, app_name, points(left - act.amount))
    const path = `/admin/orders/${act.transaction_id}`
    if (act.request_id === undefined) return { path, text }
    return { path: '/admin/refund-requests', text, link: { href: path, label: t.adjustments.toOrder } }
  }
  const { recipient = '', sender = '', amount = 0n, fee_part = 0n } = (await quoteReversal(db, act)) ?? {}
  const text = done.reversed(recipient, points(amount), sender, points(amount + fee_part))
  return { path: `/admin/transfers/${act.transaction_id}`, text }
}
