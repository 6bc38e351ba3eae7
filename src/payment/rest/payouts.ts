/** /api/payment/payouts: a program creates payouts, reads, cancels and resumes them. spec/payouts 4.1–4.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { API_PATH } from '../access-keys/token.ts'
import { type Caller, requireApproved, requireReadable } from '../hmac/caller.ts'
import { PAYMENT_ERRORS, type PaymentWireCode } from '../hmac/errors.ts'
import { LIMIT_DEFAULT, readerOf } from '../hmac/shapes.ts'
import { refusalOf } from '../orders/transfers.ts'
import { type JudgedPayout, judgePayout } from '../payouts/judge.ts'
import {
  cancelPayout,
  createPayout,
  findPayout,
  linesOfPayout,
  type Payout,
  type PayoutLineResult,
  payoutsOfApp,
  resumePayout,
} from '../payouts/payouts.ts'
import { type PayoutRequest, readPayoutRequest } from '../payouts/request.ts'
import { isoSeconds } from '../signing/hmac.ts'
import { flatParameters } from '../wire-fields/fields.ts'
import {
  type DryRunAnswer,
  LinesQuery,
  type PayoutAnswer,
  type PayoutFields,
  type PayoutLineFields,
  type PayoutLinesPage,
  type PayoutPage,
  PayoutsQuery,
} from './payout-shapes.ts'

const BODY_BYTES_MAX = 512 * 1024
const PATH = `${API_PATH}/payouts`

type Route<Answer extends z.ZodType> = { Reply: z.output<Answer> }
type OfPayout<Answer extends z.ZodType> = Route<Answer> & { Params: { reference: string } }

/** Registers the routes. @param guarded the check of the token. */
export function payoutRoutes(
  app: FastifyInstance,
  deps: Core,
  guarded: { onRequest: (request: FastifyRequest) => Promise<void> },
): void {
  app.post<Route<typeof PayoutAnswer | typeof DryRunAnswer>>(
    PATH,
    { ...guarded, bodyLimit: BODY_BYTES_MAX },
    async (request) => {
      const api = callerOf(request)
      const asked = readPayoutRequest(request.body)
      const payer = { app_id: api.id, owner_id: api.applicant_id }
      if (asked.dry_run) return describeDryRun(asked, await judgePayout(deps, payer, asked))
      return answer(await createPayout(deps, payer, asked, () => requireApproved(api)))
    },
  )

  app.get<Route<typeof PayoutPage>>(PATH, guarded, async (request) => {
    const { id: app_id } = callerOf(request)
    const read = readerOf(PayoutsQuery, flatParameters(request.query))
    const limit = Number(read('limit') ?? LIMIT_DEFAULT)
    const cursor = read('cursor')
    const last = cursor === undefined ? undefined : await findPayout(deps.db, app_id, cursor)
    if (cursor !== undefined && last === undefined) throw wrongCursor()
    const rows = await payoutsOfApp(deps.db, app_id, { before: last?.id, limit: limit + 1 })
    const data = rows.slice(0, limit).map(describePayout)
    return { success: true, data, next_cursor: rows.length > limit ? data.at(-1)!.reference : null }
  })

  app.get<OfPayout<typeof PayoutAnswer>>(`${PATH}/:reference`, guarded, async (request) =>
    answer(await requirePayout(deps, request)),
  )

  app.get<OfPayout<typeof PayoutLinesPage>>(`${PATH}/:reference/lines`, guarded, async (request) => {
    const { id } = await requirePayout(deps, request)
    const read = readerOf(LinesQuery, flatParameters(request.query))
    const limit = Number(read('limit') ?? LIMIT_DEFAULT)
    const status = read('status')
    const after = Number(read('cursor') ?? 0)
    const rows = await linesOfPayout(deps.db, id, {
      after,
      limit: limit + 1,
      ...(status !== undefined && { status }),
    })
    const shown = rows.slice(0, limit)
    const next_cursor = rows.length > limit ? String(shown.at(-1)!.n) : null
    return { success: true, data: shown.map(describeLine), next_cursor }
  })

  app.post<OfPayout<typeof PayoutAnswer>>(`${PATH}/:reference/cancel`, guarded, async (request) => {
    const { id } = await requirePayout(deps, request)
    await cancelPayout(deps.db, id, 'merchant', deps.clock())
    return answer(await requirePayout(deps, request))
  })

  app.post<OfPayout<typeof PayoutAnswer>>(`${PATH}/:reference/resume`, guarded, async (request) => {
    const { id } = await requirePayout(deps, request)
    requireApproved(callerOf(request))
    await resumePayout(deps.db, id, deps.clock())
    return answer(await requirePayout(deps, request))
  })
}

function callerOf({ tokenCaller }: FastifyRequest): Caller {
  requireReadable(tokenCaller!)
  return tokenCaller!
}

type Named = FastifyRequest<{ Params: { reference: string } }>

/** Throws payout_not_found. */
async function requirePayout({ db }: Core, request: Named): Promise<Payout> {
  const payout = await findPayout(db, callerOf(request as FastifyRequest).id, request.params.reference)
  if (payout === undefined) throw new AppError('payout_not_found', 'Payout not found')
  return payout
}

function wrongCursor(): AppError {
  return new AppError('parameter_invalid', 'Invalid cursor: the next_cursor of the page before')
}

const answer = (payout: Payout): z.output<typeof PayoutAnswer> => ({
  success: true,
  ...describePayout(payout),
})

function describePayout(payout: Payout): z.output<typeof PayoutFields> {
  const { reference, status, reason, mode, count, pending, paid, refused, cancelled } = payout
  return {
    ...{ reference, status, reason, mode, count, pending, paid, refused, cancelled },
    amount: Number(payout.amount),
    fee: Number(payout.fee),
    total: Number(payout.amount + payout.fee),
    paid_total: Number(payout.paid_total),
    created_at: isoSeconds(payout.created_at),
    finished_at: payout.finished_at === null ? null : isoSeconds(payout.finished_at),
  }
}

type Judged = Pick<
  PayoutLineResult,
  'line_id' | 'status' | 'outcome' | 'bound' | 'have' | 'fee' | 'transaction_id'
>

function describeLine(line: Judged): z.output<typeof PayoutLineFields> {
  const { line_id, status, outcome, bound, have, transaction_id, fee } = line
  const refusal = outcome === null ? undefined : refusalOf({ outcome, bound, have, transaction_id })
  return {
    ...{ line_id, status },
    code: refusal === undefined ? null : PAYMENT_ERRORS[refusal.code as PaymentWireCode].number,
    message: refusal?.message ?? null,
    transaction_id,
    fee: Number(fee),
  }
}

function describeDryRun(
  { reference, mode }: PayoutRequest,
  { lines, need, have, left_today }: JudgedPayout,
): z.output<typeof DryRunAnswer> {
  const refused = lines.filter(({ status }) => status === 'refused').length
  return {
    success: true,
    dry_run: true,
    ...{ reference, mode, count: lines.length, pending: lines.length - refused, refused },
    need: Number(need),
    have: Number(have),
    left_today: left_today === null ? null : Number(left_today),
    lines: lines.map((line) => ({
      ...describeLine({ ...line, transaction_id: null }),
      warning: line.is_suspended ? ('suspended' as const) : null,
    })),
  }
}
