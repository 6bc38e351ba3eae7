/**
 * Giving back and correcting, in two steps: a page that says what will happen, and the same form confirmed. The key
 * made between the two lets the confirmation act once, however often it is sent.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../accounts/reauthentication.ts'
import { sessionOf } from '../accounts/session.ts'
import type { Db } from '../database/connection.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { postLines, readLines } from '../ledger/point-lines.ts'
import { refundOrder, reverseTransfer } from '../payment/refunds.ts'
import { randomToken } from '../secrets.ts'
import { findOrders, findTransfers } from './find.ts'

const PATH = '/admin/corrections'
const LINES_MAX = 500

const reason = z.string().trim().min(1, 'Say why').max(500, 'At most 500 characters')
const withFee = z.literal('on').optional()
const key = z.string().regex(/^[\w-]{43}$/)
const transactionId = z.string().regex(/^txn_[a-z0-9]{24}$/)

const Correction = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    transaction_id: transactionId,
    amount: z.string().regex(/^[1-9]\d{0,15}$/, 'A whole number of points'),
    with_fee: withFee,
    reason,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('reversal'),
    transaction_id: transactionId,
    with_fee: withFee,
    reason,
    key: key.optional(),
  }),
  z.object({ kind: z.literal('points'), lines: z.string().min(1).max(50_000), reason, key: key.optional() }),
])
type Correction = z.output<typeof Correction>

/** GET and POST /admin/corrections, inside the administrators' scope. */
export function correctionPages(app: FastifyInstance, deps: Deps): void {
  app.get<{ Querystring: Record<string, unknown> }>(PATH, async (request, reply) => {
    const id = typeof request.query.id === 'string' ? request.query.id.trim() : ''
    return reply.page('corrections', { id, ...(await find(deps.db, id)) })
  })

  app.post(PATH, { preHandler: requireFreshSignIn(deps, { page: PATH }) }, async (request, reply) => {
    const form = Correction.safeParse(request.body)
    if (!form.success) throw new AppError('invalid_form', form.error.issues[0]!.message)
    const correction = form.data
    if (correction.key === undefined) return preview(reply, deps, correction)
    await carryOut(request, deps, { ...correction, key: correction.key })
    const id = correction.kind === 'points' ? '' : `?id=${correction.transaction_id}`
    return reply.redirect(`${PATH}${id}`, 303)
  })
}

/** Orders and transfers of this number. */
async function find(db: Db, id: string) {
  if (id === '') return { orders: [], transfers: [] }
  const [orders, transfers] = await Promise.all([findOrders(db, id), findTransfers(db, id)])
  return { orders, transfers }
}

async function preview(reply: FastifyReply, deps: Deps, correction: Correction) {
  const lines = correction.kind === 'points' ? await readLines(deps.db, correction.lines, LINES_MAX) : []
  const found =
    correction.kind === 'points'
      ? { orders: [], transfers: [] }
      : await find(deps.db, correction.transaction_id)
  const isSound = lines.every((line) => line.fault === undefined)
  return reply.page('corrections-confirm', { correction, lines, isSound, ...found, key: randomToken() })
}

async function carryOut(
  request: FastifyRequest,
  deps: Deps,
  correction: Correction & { key: string },
): Promise<void> {
  const actor_id = sessionOf(request).user.id
  const { reason, key } = correction
  const by = { reason, actor_id, ip: request.ip }
  switch (correction.kind) {
    case 'refund': {
      const { transaction_id, with_fee } = correction
      const amount = BigInt(correction.amount)
      return refundOrder(deps, { transaction_id, amount, with_fee: with_fee === 'on', key, ...by })
    }
    case 'reversal': {
      const { transaction_id, with_fee } = correction
      return reverseTransfer(deps, { transaction_id, with_fee: with_fee === 'on', ...by })
    }
    case 'points':
      return postLines(deps, await readLines(deps.db, correction.lines, LINES_MAX), { ...by, key })
  }
}
