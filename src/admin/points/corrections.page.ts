/**
 * Giving back and correcting, in two steps: a page that says what will happen, and the same form confirmed. The key
 * made between the two lets the confirmation act once, however often it is sent. Where the site asks for a second
 * administrator, confirming proposes it.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { postLines, readLines } from '../../accounts/points.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { keyOfRequest } from '../../payment/orders/refund-requests.ts'
import { refundOrder, reverseTransfer } from '../../payment/orders/refunds.ts'
import { TransactionId } from '../../payment/values/fields.ts'
import { randomToken } from '../../platform/secrets.ts'
import { actorOf, Reason, readForm } from '../acts/form.ts'
import { findOrders, findTransfers } from '../find/find.page.ts'
import { type Correction, propose, type StandingProposal } from '../proposals/proposals.ts'

const PATH = '/admin/corrections'
const LINES_MAX = 500

const withFee = z.literal('on').optional()
const key = z.string().regex(/^[\w-]{43}$/)

const CorrectionForm = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    transaction_id: TransactionId,
    amount: z.string().regex(/^[1-9]\d{0,15}$/, 'A whole number of points'),
    with_fee: withFee,
    reason: Reason,
    /** The merchant's request that is met by it. */
    request_id: z
      .string()
      .regex(/^\d{1,18}$/)
      .optional(),
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('reversal'),
    transaction_id: TransactionId,
    with_fee: withFee,
    reason: Reason,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('points'),
    lines: z.string().min(1).max(50_000),
    reason: Reason,
    key: key.optional(),
  }),
])
type CorrectionForm = z.output<typeof CorrectionForm>

/** GET and POST /admin/corrections, inside the administrators' scope. */
export function correctionPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PATH, async (request, reply) => {
    const id = typeof request.query.id === 'string' ? request.query.id.trim() : ''
    return reply.page('admin/corrections', { id, ...(await find(deps.db, id)) })
  })

  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: PATH }) }, async (request, reply) => {
    const form = readForm(CorrectionForm, request.body)
    const { key } = form
    if (key === undefined) return preview(reply, deps, form)
    const correction = await readCorrection(deps.db, { ...form, key })
    const by = actorOf(request)
    if (await needsApproval(deps)) {
      const standing = await propose(deps, correction, by)
      if (standing !== undefined) return preview(reply, deps, { ...form, key: undefined }, standing)
      return reply.redirect('/admin/proposals', 303)
    }
    await carryOut(deps, correction, by)
    const id = form.kind === 'points' ? '' : `?id=${form.transaction_id}`
    return reply.redirect(`${PATH}${id}`, 303)
  })
}

/** Orders and transfers of this number. */
async function find(db: Db, id: string) {
  if (id === '') return { orders: [], transfers: [] }
  const [orders, transfers] = await Promise.all([findOrders(db, id), findTransfers(db, id)])
  return { orders, transfers }
}

/** @param standing the proposal that stands in the way of this one. */
async function preview(reply: FastifyReply, deps: Core, form: CorrectionForm, standing?: StandingProposal) {
  const lines = form.kind === 'points' ? await readLines(deps.db, form.lines, LINES_MAX) : []
  const found =
    form.kind === 'points' ? { orders: [], transfers: [] } : await find(deps.db, form.transaction_id)
  const isSound = lines.every((line) => line.fault === undefined)
  const isProposal = await needsApproval(deps)
  const request_id = form.kind === 'refund' ? form.request_id : undefined
  const key = request_id === undefined ? randomToken() : keyOfRequest(BigInt(request_id))
  const data = { correction: form, lines, isSound, isProposal, standing, ...found, key }
  return reply.page('admin/corrections-confirm', data, { status: standing === undefined ? 200 : 409 })
}

async function needsApproval({ settings }: Core): Promise<boolean> {
  return (await settings.read()).second_approver === 'on'
}

async function readCorrection(db: Db, form: CorrectionForm & { key: string }): Promise<Correction> {
  const { reason, key } = form
  if (form.kind === 'points')
    return { kind: form.kind, reason, key, lines: await readLines(db, form.lines, LINES_MAX) }
  const act = { reason, key, transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  return form.kind === 'refund'
    ? { kind: form.kind, ...act, amount: BigInt(form.amount) }
    : { kind: form.kind, ...act }
}

async function carryOut(
  deps: Core,
  { kind, ...correction }: Correction,
  by: { actor_id: bigint; ip: string },
): Promise<void> {
  const act = { ...correction, ...by }
  if ('lines' in act) await postLines(deps, act.lines, act)
  else if ('amount' in act) await refundOrder(deps, act)
  else await reverseTransfer(deps, act)
}
