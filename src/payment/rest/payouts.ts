/** /api/payment/payouts: a program creates payouts, reads, cancels and resumes them. spec/payouts 4.1–4.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { API_PATH } from '../access-keys/token.ts'
import { type Caller, requireApproved, requireReadable } from '../hmac/caller.ts'
import { LIMIT_DEFAULT, readerOf } from '../hmac/shapes.ts'
import { judgePayout } from '../payouts/judge.ts'
import {
  cancelPayout,
  createPayout,
  findPayout,
  linesOfPayout,
  type Payout,
  payoutsOfApp,
  resumePayout,
} from '../payouts/payouts.ts'
import { readPayoutRequest } from '../payouts/request.ts'
import { flatParameters } from '../wire-fields/fields.ts'
import { describeDryRun, describeLine, describePayout } from './payout-answers.ts'
import {
  type DryRunAnswer,
  LinesQuery,
  type PayoutAnswer,
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
