/** …/payouts: the list, a new payout from a CSV file, and the page of one, which checks a draft and shows the results of the others. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { LineRefusal } from '../../database/tables/payouts.ts'
import { AppError } from '../../platform/errors.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { cursor, olderUrl } from '../../web/lists.ts'
import { acceptFile } from '../../web/parameters.ts'
import { navFor } from '../apps/area.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted, type Right } from '../rights/rights.ts'
import { CSV_BYTES_MAX, type FileFault, readPayoutFile } from './csv.ts'
import { changePayout, createDraft, DRAFT_HOURS, notFound, payDraft } from './drafts.ts'
import { type JudgedPayout, judgePayout } from './judge.ts'
import { merchantPayouts } from './payouts.texts.ts'
import { linesOfPayout, type Payout, type PayoutLineResult, payoutsOfApp, payoutWithId } from './payouts.ts'
import { Reference } from './request.ts'

const PATH = '/payment/applications/:payment_id/payouts'
const PAGE_ROWS = 25
/** Lines that a page shows. The file has all. */
const LINES_SHOWN = 50

const NewForm = z.object({
  reference: z.union([z.literal(''), Reference]).default(''),
  mode: z.enum(['each', 'all']).default('each'),
  file: z.instanceof(Buffer),
})
const Paged = z.object({ before: cursor })

type PayoutRequest = FastifyRequest<{ Params: { payment_id: string; id: string } }>

/** A line that the page names, with why it is not paid. */
type ShownLine = {
  n: number
  line_id: string
  to_username: string
  amount: bigint
  outcome: LineRefusal | null
}

declare module '../../web/views.ts' {
  interface PageData {
    'payment/payouts/payouts': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      payouts: Payout[]
      address: string
    }
    'payment/payouts/new': { owned: Permitted; nav: AreaNav; address: string }
    'payment/payouts/payout': {
      owned: Permitted
      nav: AreaNav
      payout: Payout
      /** Of a draft: what its lines would do now. */
      check: JudgedPayout | undefined
      isOver: boolean
      /** The lines that are not or will not be paid, the first of them. */
      lines: ShownLine[]
      unpaid: number
      address: string
      base: string
    }
  }
}

/** Registers the pages within a browser scope of signed-in members. */
export async function payoutPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.get(PATH, async (request: OwnedRequest, reply) => showList(request, reply, deps))

  app.get(`${PATH}/new`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'settings.edit')
    const nav = await navFor(deps, request, owned)
    return reply.page('payment/payouts/new', { owned, nav, address: addressOf(request) })
  })
  await app.register(async (scope) => uploadForm(scope, deps))

  app.get(`${PATH}/:id`, async (request: PayoutRequest, reply) => showPayout(request, reply, deps))
  app.get(`${PATH}/:id/lines.csv`, async (request: PayoutRequest, reply) => sendLines(request, reply, deps))

  const preHandler = requireFreshSignIn(deps)
  app.post(`${PATH}/:id/pay`, { preHandler }, async (request: PayoutRequest, reply) => {
    await payDraft(deps, request.params.payment_id, idOf(request), actorOf(request)).catch(asRefused(request))
    return reply.done(placeOf(request), { text: request.locale.t.merchantPayouts.done.pay })
  })
  for (const change of ['cancel', 'resume'] as const)
    app.post(`${PATH}/:id/${change}`, async (request: PayoutRequest, reply) => {
      const { payment_id } = request.params
      const isDone = await changePayout(deps, payment_id, { id: idOf(request), change }, actorOf(request))
      const { done } = request.locale.t.merchantPayouts
      return reply.done(placeOf(request), { text: isDone ? done[change] : done.nothing })
    })
}

/** The form that uploads a file, in a scope of its own. */
function uploadForm(scope: FastifyInstance, deps: Core): void {
  acceptFile(scope, 'file', CSV_BYTES_MAX)
  scope.post(`${PATH}/new`, async (request: OwnedRequest, reply) => {
    await permitted(request, deps, 'settings.edit')
    const { t } = request.locale
    const words = t.merchantPayouts
    const { reference, mode, file } = readForm(request, NewForm, {
      reference: words.referenceWrong,
      file: words.faults.no_lines,
    })
    const lines = readPayoutFile(file, mode)
    if ('fault' in lines) throw new FormRefused({ file: sayFault(lines, words) })
    const draft = { reference, mode, lines }
    const id = await createDraft(deps, request.params.payment_id, draft, actorOf(request)).catch(
      asRefused(request, { conflict: { reference: words.referenceUsed } }),
    )
    return reply.redirect(`${addressOf(request)}/${id}`, 303)
  })
}

/** Says which failures of an act its page shows in words of its own, and throws the others as they are. */
function asRefused({ locale }: FastifyRequest, byCode: { [code: string]: Record<string, string> } = {}) {
  return (error: unknown): never => {
    if (!(error instanceof AppError)) throw error
    const { refusals } = locale.t.merchantPayouts
    const problems =
      byCode[error.code] ??
      (error.code in refusals ? { '': refusals[error.code as keyof typeof refusals] } : undefined)
    if (problems === undefined) throw error
    throw new FormRefused(problems, 'conflict')
  }
}

type Words = FastifyRequest['locale']['t']['merchantPayouts']

function sayFault(fault: FileFault, { faults, lineFault, lineQuotes }: Words): string[] {
  if (fault.fault !== 'lines') return [faults[fault.fault]]
  return fault.lines.map(({ line, column }) =>
    column === '"' ? lineQuotes(String(line)) : lineFault(String(line), column),
  )
}

function permitted(request: OwnedRequest, { db }: Core, right: Right) {
  return getPermitted(db, request.params.payment_id, sessionOf(request).user.id, right)
}

const addressOf = (request: OwnedRequest) => `${pathOf(request)}/payouts`
const placeOf = (request: PayoutRequest) => `${addressOf(request)}/${request.params.id}`

/** Throws not_found for a text that is no id. */
function idOf({ params }: PayoutRequest): bigint {
  if (!/^[1-9]\d{0,17}$/.test(params.id)) throw notFound()
  return BigInt(params.id)
}

async function showList(request: OwnedRequest, reply: FastifyReply, deps: Core) {
  const owned = await permitted(request, deps, 'orders.read')
  const { before } = Paged.parse(request.query)
  const [nav, rows] = await Promise.all([
    navFor(deps, request, owned),
    payoutsOfApp(deps.db, owned.id, { before, limit: PAGE_ROWS + 1 }),
  ])
  const address = addressOf(request)
  const payouts = rows.slice(0, PAGE_ROWS)
  const next = rows.length > PAGE_ROWS ? payouts.at(-1)!.id : undefined
  const pager = {
    before,
    isSearch: false,
    newest: address,
    older: olderUrl(address, {}, next),
    lookedBackTo: undefined,
  }
  return reply.page('payment/payouts/payouts', { owned, nav, payouts, address, ...pager })
}

async function found(request: PayoutRequest, deps: Core) {
  const owned = await permitted(request, deps, 'orders.read')
  const payout = await payoutWithId(deps.db, owned.id, idOf(request))
  if (payout === undefined) throw notFound()
  return { owned, payout }
}

async function showPayout(request: PayoutRequest, reply: FastifyReply, deps: Core) {
  const { owned, payout } = await found(request, deps)
  const nav = await navFor(deps, request, owned)
  const page = { owned, nav, payout, address: placeOf(request), base: addressOf(request) }
  if (payout.status !== 'draft') {
    const unpaid = payout.refused + (payout.status === 'cancelled' ? payout.cancelled : 0)
    const status = payout.refused > 0 ? 'refused' : 'cancelled'
    const rows = unpaid > 0 ? await linesOfPayout(deps.db, payout.id, { limit: LINES_SHOWN, status }) : []
    const lines = rows.map(shown)
    return reply.page('payment/payouts/payout', { ...page, check: undefined, isOver: false, lines, unpaid })
  }
  const asked = await linesOfPayout(deps.db, payout.id)
  const payer = { app_id: owned.id, owner_id: payout.owner_id }
  const check = await judgePayout(deps, payer, { reference: payout.reference, lines: asked })
  const refused = check.lines.flatMap((line, i) =>
    line.outcome === null ? [] : [{ ...line, n: i + 1, outcome: line.outcome }],
  )
  const isOver = deps.clock().getTime() - payout.created_at.getTime() >= DRAFT_HOURS * 3_600_000
  const data = { check, isOver, lines: refused.slice(0, LINES_SHOWN), unpaid: refused.length }
  return reply.page('payment/payouts/payout', { ...page, ...data })
}

const shown = ({ n, line_id, to_username, amount, outcome }: PayoutLineResult): ShownLine => ({
  ...{ n, line_id, to_username, amount, outcome },
})

async function sendLines(request: PayoutRequest, reply: FastifyReply, deps: Core) {
  const { payout } = await found(request, deps)
  const lines = await linesOfPayout(deps.db, payout.id)
  const columns = [
    'line_id',
    'user_id',
    'username',
    'amount',
    'fee',
    'status',
    'reason',
    'transaction_id',
    'memo',
  ]
  const rows = lines.map((line) =>
    csvLine([
      ...[
        line.line_id,
        line.to_user_id === 0n ? null : line.to_user_id,
        line.to_username,
        line.amount,
        line.fee,
      ],
      ...[line.status, line.outcome, line.transaction_id, line.memo],
    ]),
  )
  return reply
    .type(CSV_TYPE)
    .header('content-disposition', `attachment; filename="payout-${payout.id}.csv"`)
    .send(BYTE_ORDER_MARK + csvLine(columns) + rows.join(''))
}

/** The words of outcomes, which the compiler compares with those of the database. */
merchantPayouts.outcomes satisfies Record<LineRefusal, unknown>
