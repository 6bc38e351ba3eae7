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
import {
  type TransferOffer,
  type TransfersClosed,
  transferOffer,
  transfersClosed,
} from '../orders/transfer-offer.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted, type Right } from '../rights/rights.ts'
import { CSV_BYTES_MAX, type FileFault, type LineFault, readPayoutFile } from './csv.ts'
import { changePayout, createDraft, DRAFT_HOURS, notFound, payDraft, unknownMembers } from './drafts.ts'
import { merchantPayouts } from './payouts.texts.ts'
import { findPayout, linesOfPayout, type Payout, paidFeesOf, payoutsOfApp, payoutWithId } from './payouts.ts'
import { Reference } from './request.ts'
import { checkDraft, readResults, type ShownLines, type ShownPayout } from './shown-lines.ts'

const PATH = '/payment/applications/:payment_id/payouts'
const PAGE_ROWS = 25
/** A payout of 1,000 lines takes about five seconds. */
const REFRESH_SECONDS = 3
/** Faults of lines that a page names. It counts the others. */
const FAULTS_SHOWN = 50
/** Characters of a faulty value that its message repeats. */
const VALUE_SHOWN = 40

/** A reference as a person types it. An order_id has no spaces, so they become hyphens. */
const typedReference = z
  .string()
  .transform((text) => text.trim().replaceAll(/\s+/g, '-'))
  .pipe(z.union([z.literal(''), Reference]))

const NewForm = z.object({
  reference: typedReference.default(''),
  mode: z.enum(['each', 'all']).default('each'),
  // A form without a chosen file sends an empty one.
  file: z
    .unknown()
    .optional()
    .transform((file) => (Buffer.isBuffer(file) && file.length > 0 ? file : undefined)),
  lines: z.string().default(''),
})
/** `again`: the id of a payout whose unpaid lines are filled in. */
const Again = z.object({ again: cursor })
/** So many unpaid lines are filled in. More of them are in the file of all lines. */
const AGAIN_MAX = 100
const Paged = z.object({ before: cursor })

type PayoutRequest = FastifyRequest<{ Params: { payment_id: string; id: string } }>

declare module '../../web/views.ts' {
  interface PageData {
    'payment/payouts/payouts': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      payouts: Payout[]
      address: string
      closed: TransfersClosed | undefined
    }
    'payment/payouts/new': {
      owned: Permitted
      nav: AreaNav
      offer: TransferOffer
      address: string
      example: string[]
      /** The lines to begin with. */
      lines: string
    }
    'payment/payouts/payout': ShownPayout & {
      owned: Permitted
      nav: AreaNav
      payout: Payout
      /** The part of what paid lines cost that is fees. It is 0 until the payout has ended. */
      paidFees: bigint
      /** Of a draft: whether it is too old to be paid. */
      isOver: boolean
      /** The form of a new payout with the unpaid lines of this one. */
      again: string | undefined
      /** Why no payout starts now. */
      closed: TransfersClosed | undefined
      address: string
      base: string
    }
  }
  interface PartData {
    'payment/payouts/closed': { owned: Permitted; closed: TransfersClosed }
    'payment/payouts/offer': { offer: TransferOffer; mayPay: boolean }
    /** `column` names what ends a row: why the line is not paid, or its status. `line` is the name of its number. */
    'payment/payouts/lines': {
      shown: ShownLines
      heading: string
      column: 'why' | 'status' | undefined
      line: string
      transfers: string
    }
  }
}

/** Registers the pages within a browser scope of signed-in members. */
export async function payoutPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.get(PATH, async (request: OwnedRequest, reply) => showList(request, reply, deps))

  app.get(`${PATH}/new`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'settings.edit')
    const [nav, lines, offer, closed] = await Promise.all([
      navFor(deps, request, owned),
      unpaidLines(deps, owned.id, Again.parse(request.query).again),
      transferOffer(deps, owned),
      payoutsClosed(deps, owned),
    ])
    const example = exampleFor(request).map((line) => line.trim())
    return reply.page('payment/payouts/new', {
      ...{ owned, nav, address: addressOf(request), example, lines },
      offer: { ...offer, closed: closed ?? offer.closed },
    })
  })
  app.get(`${PATH}/example.csv`, async (request: OwnedRequest, reply) => {
    await permitted(request, deps, 'settings.edit')
    return sendCsv(reply, 'payout-example', exampleFor(request))
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
  acceptFile(scope, 'file', CSV_BYTES_MAX, 'lines')
  scope.post(`${PATH}/new`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'settings.edit')
    const { t } = request.locale
    const words = t.merchantPayouts
    const form = readForm(request, NewForm, { reference: words.referenceWrong })
    const { reference, mode, lines: pasted, file } = form
    if (file !== undefined && pasted.trim() !== '') throw new FormRefused({ file: words.pasteOrFile })
    if (file === undefined && pasted.trim() === '') throw new FormRefused({ file: words.faults.no_lines })
    const lines = readPayoutFile(file ?? Buffer.from(pasted), mode)
    if ('fault' in lines)
      throw new FormRefused({ [pasted.trim() === '' ? 'file' : 'lines']: await sayFault(deps, lines, words) })
    const draft = { reference, mode, lines }
    const id = await createDraft(deps, request.params.payment_id, draft, actorOf(request)).catch(
      async (error) => {
        // Only this refusal has a payout to lead to. Another error may be the database's, which is then not asked again.
        const isUsed = error instanceof AppError && error.code === 'conflict'
        const used = isUsed ? await findPayout(deps.db, owned.id, reference) : undefined
        const link = used && {
          href: `${addressOf(request)}/${used.id}`,
          label: words.openUsed(used.reference),
        }
        return asRefused(request, { conflict: { reference: words.referenceUsed } }, link)(error)
      },
    )
    return reply.redirect(`${addressOf(request)}/${id}`, 303)
  })
}

/** What refuses every new payout of an application, apart from its wallet. */
async function payoutsClosed({ settings }: Core, owned: Permitted): Promise<TransfersClosed | undefined> {
  const values = await settings.read()
  return transfersClosed(values, owned) ?? (values.payouts === 'off' ? 'transfers_disabled' : undefined)
}

/** The lines of a payout that were not paid, as a person types them. Empty without such a payout of the application. */
async function unpaidLines({ db }: Core, app_id: bigint, id: bigint | undefined): Promise<string> {
  const payout = id === undefined ? undefined : await payoutWithId(db, app_id, id)
  if (payout === undefined || payout.finished_at === null) return ''
  const lines = await linesOfPayout(db, payout.id, { status: ['refused', 'cancelled'], limit: AGAIN_MAX })
  // No spreadsheet opens this, so a memo that begins like a formula gets no apostrophe.
  const rows = lines.map(({ to_username, amount, memo }) =>
    [to_username, amount, memo && `"${memo.replaceAll('"', '""')}"`].join(','),
  )
  return ['username,amount,memo', ...rows].join('\n')
}

/** Says which failures of an act its page shows in words of its own, and throws the others as they are. */
function asRefused(
  { locale }: FastifyRequest,
  byCode: { [code: string]: Record<string, string> } = {},
  link?: { href: string; label: string },
) {
  return (error: unknown): never => {
    if (!(error instanceof AppError)) throw error
    const { refusals } = locale.t.merchantPayouts
    const problems =
      byCode[error.code] ??
      (error.code in refusals ? { '': refusals[error.code as keyof typeof refusals] } : undefined)
    if (problems === undefined) throw error
    throw new FormRefused(problems, 'conflict', link)
  }
}

type Words = FastifyRequest['locale']['t']['merchantPayouts']

/** Says every fault in the order of the lines, also names that only the database refuses. */
async function sayFault(deps: Core, fault: FileFault, words: Words): Promise<string[]> {
  if (fault.fault !== 'lines') return [words.faults[fault.fault]]
  const faults = [...fault.lines, ...(await unknownMembers(deps, fault.members))]
  const shown = faults.toSorted((a, b) => a.line - b.line).slice(0, FAULTS_SHOWN)
  const said = shown.map((line) => sayLineFault(line, words))
  const more = faults.length - shown.length
  return more > 0 ? [...said, words.moreFaults(String(more), more)] : said
}

function sayLineFault(fault: LineFault, { lineFaults, lineMissing, lineRepeated }: Words): string {
  const { column, value, first } = fault
  const line = String(fault.line)
  const signs = [...value]
  const shown = signs.length > VALUE_SHOWN ? `${signs.slice(0, VALUE_SHOWN).join('')}…` : value
  if (first !== undefined) return lineRepeated(line, shown, String(first))
  if (value === '' && (column === 'username' || column === 'amount')) return lineMissing[column](line)
  return lineFaults(line, shown)[column]
}

/** The lines of an example, with their line breaks. */
function exampleFor({ locale }: FastifyRequest): string[] {
  const [first, second, third] = locale.t.merchantPayouts.exampleMemos
  const lines = [
    ['username', 'amount', 'memo'],
    ['alice', 50, first!],
    ['bob', 20, second!],
    ['carol', 10, third!],
  ]
  return lines.map(csvLine)
}

function sendCsv(reply: FastifyReply, name: string, lines: string[]): FastifyReply {
  return reply
    .type(CSV_TYPE)
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(BYTE_ORDER_MARK + lines.join(''))
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
  const [nav, rows, closed] = await Promise.all([
    navFor(deps, request, owned),
    payoutsOfApp(deps.db, owned.id, { before, limit: PAGE_ROWS + 1 }),
    payoutsClosed(deps, owned),
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
  return reply.page('payment/payouts/payouts', { owned, nav, payouts, address, closed, ...pager })
}

async function found(request: PayoutRequest, deps: Core) {
  const owned = await permitted(request, deps, 'orders.read')
  const payout = await payoutWithId(deps.db, owned.id, idOf(request))
  if (payout === undefined) throw notFound()
  return { owned, payout }
}

async function showPayout(request: PayoutRequest, reply: FastifyReply, deps: Core) {
  const { owned, payout } = await found(request, deps)
  const [nav, closed, paidFees, lines] = await Promise.all([
    navFor(deps, request, owned),
    payoutsClosed(deps, owned),
    payout.finished_at === null ? 0n : paidFeesOf(deps.db, payout.id),
    payout.status === 'draft' ? checkDraft(deps, payout) : readResults(deps, payout),
  ])
  const isOver = deps.clock().getTime() - payout.created_at.getTime() >= DRAFT_HOURS * 3_600_000
  const address = placeOf(request)
  const base = addressOf(request)
  const unpaid = payout.refused + payout.cancelled
  const mayRepeat = payout.finished_at !== null && unpaid > 0 && unpaid <= AGAIN_MAX
  const again =
    mayRepeat && owned.rights.includes('settings.edit') ? `${base}/new?again=${payout.id}` : undefined
  // The header works in every browser, without a script in the page.
  if (payout.status === 'waiting' || payout.status === 'running') reply.header('refresh', REFRESH_SECONDS)
  return reply.page('payment/payouts/payout', {
    ...{ ...lines, owned, nav, closed, payout, paidFees, isOver, again, address, base },
  })
}

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
  return sendCsv(reply, `payout-${payout.id}`, [csvLine(columns), ...rows])
}

/** The words of outcomes, which the compiler compares with those of the database. */
merchantPayouts.outcomes satisfies Record<LineRefusal, unknown>
