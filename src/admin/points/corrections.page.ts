/**
 * Refunds, reversals, grants and adjustments by administrators, in two steps: a page says the effect in figures, and the
 * same form confirms it. The key of the page lets a repeated confirmation act once. Where the site requires a second
 * administrator, the confirmation makes a proposal.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { postLines } from '../../accounts/points.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { refundOrder, reverseTransfer } from '../../payment/orders/refunds.ts'
import { AppError } from '../../platform/errors.ts'
import { randomToken } from '../../platform/secrets.ts'
import { actorOf, Reason, readForm } from '../acts/form.ts'
import { findOrders, findTransfers } from '../find/transactions.ts'
import type { PointsAct } from '../proposals/acts.ts'
import { propose, type StandingProposal } from '../proposals/proposals.ts'
import { PointsActForm, Typed } from './correction-form.ts'
import { confirmPage, type Sheet, sheetOfGrant, sheetOfRefund, sheetOfReversal } from './correction-sheets.ts'
import { type GrantFault, readGrant, summaryOf } from './grants.ts'
import { quoteRefund, quoteReversal } from './quotes.ts'

const PATH = '/admin/corrections'

/** A form that was refused: what was typed, and why. */
export type RefusedForm = { typed: Typed; problem: string; faults: GrantFault[] }

type Found = Awaited<ReturnType<typeof find>>

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/corrections': Found & {
      id: string
      refused: RefusedForm | undefined
      standing: StandingProposal | undefined
    }
  }
  interface PartData {
    'admin/points/correction-refund': {
      order: { id: bigint; transaction_id: string; amount: bigint; refunded_amount: bigint }
      refused?: RefusedForm | undefined
    }
    'admin/points/correction-reversal': {
      transfer: { id: bigint; transaction_id: string }
      refused?: RefusedForm | undefined
    }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function correctionPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PATH, async (request, reply) => {
    const id = typeof request.query.id === 'string' ? request.query.id.trim() : ''
    return show(reply, deps.db, id)
  })

  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: PATH }) }, async (request, reply) => {
    const form = PointsActForm.safeParse(request.body)
    if (!form.success) return showMistake(request, reply, deps)
    const { data } = form
    if (data.key === undefined) return preview(request, reply, deps, data)
    const { key } = data
    const act = await readPointsAct(deps.db, { ...data, key })
    const by = actorOf(request)
    if (await needsApproval(deps)) {
      const standing = await propose(deps, act, by)
      const id = 'transaction_id' in data ? data.transaction_id : ''
      if (standing !== undefined) return show(reply, deps.db, id, { standing })
      return reply.done('/admin/proposals', {
        text: request.locale.t.console.proposals.proposed,
        tone: 'warn',
      })
    }
    return carryOut(request, reply, deps, { data, act })
  })
}

/** Finds orders and transfers by any of their numbers. */
async function find(db: Db, id: string) {
  if (id === '') return { orders: [], transfers: [] }
  const [orders, transfers] = await Promise.all([findOrders(db, id), findTransfers(db, id)])
  return { orders, transfers }
}

type Obstacle = { refused?: RefusedForm; standing?: StandingProposal; status?: number }

async function show(
  reply: FastifyReply,
  db: Db,
  id: string,
  { refused, standing, status }: Obstacle = {},
): Promise<FastifyReply> {
  const data = { id, refused, standing, ...(await find(db, id)) }
  return reply.page('admin/points/corrections', data, {
    status: status ?? (standing === undefined ? 200 : 409),
  })
}

/** Shows a form again that cannot be read, with what was typed. */
async function showMistake(
  request: FastifyRequest,
  reply: FastifyReply,
  { db }: Core,
): Promise<FastifyReply> {
  const typed = readForm(Typed, request.body)
  const { problems } = request.locale.t.corrections
  const isReasonWrong = !Reason.safeParse(typed.reason).success
  const problem = isReasonWrong ? problems.reason : typed.kind === 'points' ? problems.lines : problems.amount
  const refused = { typed, problem, faults: [] }
  return show(reply, db, typed.transaction_id, { refused, status: 400 })
}

/** Shows the effect of an act, or why it cannot be done. */
async function preview(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
  form: PointsActForm,
): Promise<FastifyReply> {
  const sheet = await sheetOf(request, deps, form)
  if ('problem' in sheet) {
    const id = 'transaction_id' in form ? form.transaction_id : ''
    const refused = { typed: Typed.parse(form), problem: sheet.problem, faults: sheet.faults ?? [] }
    return show(reply, deps.db, id, { refused, status: sheet.status })
  }
  const isProposal = await needsApproval(deps)
  return confirmPage(reply, sheet, { form, key: randomToken(), isProposal, path: PATH })
}

type Hindrance = { problem: string; status: number; faults?: GrantFault[] }

async function sheetOf(
  { locale }: FastifyRequest,
  { db }: Core,
  form: PointsActForm,
): Promise<Sheet | Hindrance> {
  const { problems } = locale.t.corrections
  if (form.kind === 'points') {
    const grant = await readGrant(db, form.lines, locale)
    if ('problem' in grant) return { ...grant, status: 400 }
    return sheetOfGrant(locale, grant.lines)
  }
  const act = { transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  if (form.kind === 'reversal') {
    const quote = await quoteReversal(db, act)
    if (quote === undefined) return { problem: problems.noTransfer, status: 404 }
    if (quote.status === 'reversed') return { problem: problems.reversed, status: 409 }
    if (quote.recipient_balance < quote.amount) {
      const { recipient, recipient_balance, amount } = quote
      const problem = problems.tooPoor(recipient, locale.points(recipient_balance), locale.points(amount))
      return { problem, status: 409 }
    }
    return sheetOfReversal(locale, quote)
  }
  const amount = BigInt(form.amount)
  const quote = await quoteRefund(db, { ...act, amount })
  if (quote === undefined) return { problem: problems.noOrder, status: 404 }
  if (amount > quote.left) {
    return { problem: problems.tooMuch(locale.points(quote.left), locale.points(quote.amount)), status: 409 }
  }
  const part = amount - quote.fee_part
  if (quote.payer !== quote.payee && quote.payee_balance < part) {
    const problem = problems.tooPoor(quote.payee, locale.points(quote.payee_balance), locale.points(part))
    return { problem, status: 409 }
  }
  return sheetOfRefund(locale, quote, amount)
}

async function needsApproval({ settings }: Core): Promise<boolean> {
  return (await settings.read()).second_approver === 'on'
}

async function readPointsAct(db: Db, form: PointsActForm & { key: string }): Promise<PointsAct> {
  const { reason, key } = form
  if (form.kind === 'points') {
    const grant = await readGrant(db, form.lines)
    if ('problem' in grant) throw new AppError('invalid_form', grant.problem)
    return { kind: form.kind, reason, key, lines: grant.lines }
  }
  const act = { reason, key, transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  if (form.kind === 'reversal') return { kind: form.kind, ...act }
  const request = form.request_id === undefined ? {} : { request_id: BigInt(form.request_id) }
  return { kind: form.kind, ...act, ...request, amount: BigInt(form.amount) }
}

/** Acts, and says what was done. */
async function carryOut(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
  { data, act: { kind: _, ...facts } }: { data: PointsActForm; act: PointsAct },
): Promise<FastifyReply> {
  const { t, points } = request.locale
  const { done } = t.corrections
  const act = { ...facts, ...actorOf(request) }
  if ('lines' in act) {
    const isNew = await postLines(deps, act.lines, act)
    const { granted, taken, members } = summaryOf(act.lines)
    const [only] = members
    const text = isNew ? done.points(points(granted), points(taken), members.length) : done.repeated
    const link = members.length === 1 && {
      href: `/admin/wallets/${only!.user_id}`,
      label: `@${only!.username}`,
    }
    return reply.done(PATH, link ? { text, link } : { text })
  }
  if ('amount' in act) {
    const quote = await quoteRefund(deps.db, act)
    const isNew = await refundOrder(deps, act)
    const { payer = '', app_name = '', left = 0n, amount: whole = 0n } = quote ?? {}
    const text = isNew
      ? done.refunded(points(act.amount), points(whole), payer, app_name, points(left - act.amount))
      : done.repeated
    const order = `/admin/orders/${act.transaction_id}`
    if (data.kind !== 'refund' || data.request_id === undefined) return reply.done(order, { text })
    return reply.done('/admin/refund-requests', { text, link: { href: order, label: t.corrections.toOrder } })
  }
  const quote = await quoteReversal(deps.db, act)
  const isNew = await reverseTransfer(deps, act)
  const { recipient = '', sender = '', amount = 0n, fee_part = 0n } = quote ?? {}
  const text = isNew
    ? done.reversed(recipient, points(amount), sender, points(amount + fee_part))
    : done.repeated
  return reply.done(`/admin/transfers/${act.transaction_id}`, { text })
}
