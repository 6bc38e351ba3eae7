/**
 * Refunds, reversals, grants and adjustments by administrators, in two steps: a page explains the act, and the same form
 * confirms it. The key of the page lets a repeated confirmation act once. Where the site requires a second
 * administrator, the confirmation makes a proposal.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { type PointsLine, postLines, readLines } from '../../accounts/points.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { refundOrder, reverseTransfer } from '../../payment/orders/refunds.ts'
import { TransactionId } from '../../payment/values/fields.ts'
import { randomToken } from '../../platform/secrets.ts'
import { actorOf, Reason, readForm } from '../acts/form.ts'
import { findOrders, findTransfers } from '../find/transactions.ts'
import type { PointsAct } from '../proposals/acts.ts'
import { propose, type StandingProposal } from '../proposals/proposals.ts'

const PATH = '/admin/corrections'
const LINES_MAX = 500

const withFee = z.literal('on').optional()
const key = z.string().regex(/^[\w-]{43}$/)

const PointsActForm = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    transaction_id: TransactionId,
    amount: z.string().regex(/^[1-9]\d{0,15}$/, 'A whole number of points'),
    with_fee: withFee,
    reason: Reason,
    /** The merchant's refund request that this refund accepts. */
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
type PointsActForm = z.output<typeof PointsActForm>

type Found = Awaited<ReturnType<typeof find>>

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/corrections': Found & { id: string }
    'admin/points/corrections-confirm': Found & {
      correction: PointsActForm
      lines: PointsLine[]
      isSound: boolean
      isProposal: boolean
      standing: StandingProposal | undefined
      key: string
    }
  }
  interface PartData {
    'admin/points/correction-refund': {
      order: { id: bigint; transaction_id: string; amount: bigint; refunded_amount: bigint }
    }
    'admin/points/correction-reversal': { transfer: { id: bigint; transaction_id: string } }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function correctionPages(app: FastifyInstance, deps: Core): void {
  app.get<{ Querystring: Record<string, unknown> }>(PATH, async (request, reply) => {
    const id = typeof request.query.id === 'string' ? request.query.id.trim() : ''
    return reply.page('admin/points/corrections', { id, ...(await find(deps.db, id)) })
  })

  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: PATH }) }, async (request, reply) => {
    const form = readForm(PointsActForm, request.body)
    const { key } = form
    if (key === undefined) return preview(reply, deps, form)
    const act = await readPointsAct(deps.db, { ...form, key })
    const by = actorOf(request)
    if (await needsApproval(deps)) {
      const standing = await propose(deps, act, by)
      if (standing !== undefined) return preview(reply, deps, { ...form, key: undefined }, standing)
      return reply.redirect('/admin/proposals', 303)
    }
    await carryOut(deps, act, by)
    const id = form.kind === 'points' ? '' : `?id=${form.transaction_id}`
    return reply.redirect(`${PATH}${id}`, 303)
  })
}

/** Finds orders and transfers by any of their numbers. */
async function find(db: Db, id: string) {
  if (id === '') return { orders: [], transfers: [] }
  const [orders, transfers] = await Promise.all([findOrders(db, id), findTransfers(db, id)])
  return { orders, transfers }
}

/** @param standing the proposal that blocks this one. */
async function preview(reply: FastifyReply, deps: Core, form: PointsActForm, standing?: StandingProposal) {
  const lines = form.kind === 'points' ? await readLines(deps.db, form.lines, LINES_MAX) : []
  const found =
    form.kind === 'points' ? { orders: [], transfers: [] } : await find(deps.db, form.transaction_id)
  const isSound = lines.every((line) => line.fault === undefined)
  const isProposal = await needsApproval(deps)
  const key = randomToken()
  const data = { correction: form, lines, isSound, isProposal, standing, ...found, key }
  return reply.page('admin/points/corrections-confirm', data, { status: standing === undefined ? 200 : 409 })
}

async function needsApproval({ settings }: Core): Promise<boolean> {
  return (await settings.read()).second_approver === 'on'
}

async function readPointsAct(db: Db, form: PointsActForm & { key: string }): Promise<PointsAct> {
  const { reason, key } = form
  if (form.kind === 'points')
    return { kind: form.kind, reason, key, lines: await readLines(db, form.lines, LINES_MAX) }
  const act = { reason, key, transaction_id: form.transaction_id, with_fee: form.with_fee === 'on' }
  if (form.kind === 'reversal') return { kind: form.kind, ...act }
  const request = form.request_id === undefined ? {} : { request_id: BigInt(form.request_id) }
  return { kind: form.kind, ...act, ...request, amount: BigInt(form.amount) }
}

async function carryOut(
  deps: Core,
  { kind, ...facts }: PointsAct,
  by: { actor_id: bigint; ip: string },
): Promise<void> {
  const act = { ...facts, ...by }
  if ('lines' in act) await postLines(deps, act.lines, act)
  else if ('amount' in act) await refundOrder(deps, act)
  else await reverseTransfer(deps, act)
}
