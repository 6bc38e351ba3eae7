/** …/links/:slug/codes and …/sales: what a link sold to whom, its codes, their import and their return. spec/links 3.2, 3.3 and 4.3. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { AppError } from '../../platform/errors.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { cursor, olderUrl, onePage } from '../../web/lists.ts'
import { acceptFile } from '../../web/parameters.ts'
import { navFor } from '../apps/area.ts'
import { statusWord } from '../orders/orders.ts'
import { actorOf, type OwnedRequest } from '../rights/owned.ts'
import { audit, type Permitted } from '../rights/rights.ts'
import { addCodes, BYTES_MAX, takeBackCodes } from './codes.ts'
import { codesIn, sayImported, sayImportFault } from './codes-form.ts'
import { addressOf, findLink, ONE, type ShownLink } from './links.page.ts'
import type { TeamLink } from './reads.ts'
import { eachSale, type Sale, salesOfLink } from './sales.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/codes': SalesPage
    'payment/links/sales': SalesPage
  }
  interface PartData {
    'payment/links/sold-codes': Pick<Sale, 'codes' | 'units'>
    'payment/links/sale-state': Pick<Sale, 'status' | 'refunded_amount'>
  }
}

type SalesPage = {
  owned: Permitted
  nav: Awaited<ReturnType<typeof navFor>>
  link: ShownLink
  sales: Sale[]
  isFull: boolean
  address: string
  newest: string
  older: string | undefined
  before: bigint | undefined
}

/** Codes of one sale on a page. The file has all of them. */
const CODES_SHOWN = 5
const EXPORTED_MAX = 50_000

/** Registers the pages within a browser scope of signed-in members. */
export async function codePages(app: FastifyInstance, deps: Core, queue: FairQueue): Promise<void> {
  const preHandler = requireFreshSignIn(deps)
  app.get(`${ONE}/codes`, async (request: OwnedRequest, reply) =>
    showSales(request, reply, deps, { view: 'codes', isFull: false }),
  )
  app.get(`${ONE}/sales`, async (request: OwnedRequest, reply) =>
    showSales(request, reply, deps, { view: 'sales', isFull: false }),
  )
  app.get(`${ONE}/codes/full`, { preHandler }, async (request: OwnedRequest, reply) =>
    showSales(request, reply, deps, { view: 'codes', isFull: true }),
  )
  app.get(`${ONE}/codes/sold.csv`, { preHandler }, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findCodes(request, deps, 'settings.edit')
    await deps.limits.hit('order_files', sessionOf(request).user.id.toString())
    await auditReading(request, deps, owned, link)
    return sendFile(reply, `codes-${link.slug}.csv`, CSV_TYPE).send(
      Readable.from(queue.runPieces(fileOf(deps, { ...link, applicant_id: owned.applicant_id }))),
    )
  })
  await app.register(async (scope) => importForm(scope, deps))
  takeBackForm(app, deps)
}

/** The form that adds codes, in a scope of its own, because its list is longer than other forms. */
function importForm(scope: FastifyInstance, deps: Core): void {
  acceptFile(scope, 'file', BYTES_MAX, 'codes')
  scope.post(`${ONE}/codes`, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findCodes(request, deps, 'settings.edit')
    const { field, list } = codesIn(request) ?? { field: 'codes', list: '' }
    const done = await addCodes(deps, owned.payment_id, { slug: link.slug, file: list }, actorOf(request))
    if ('fault' in done) throw new FormRefused({ [field]: sayImportFault(request, done) })
    return reply.done(`${addressOf(request, link.slug)}/codes`, { text: sayImported(request, done) })
  })
}

const TakeBack = z.object({
  count: z
    .string()
    .trim()
    .regex(/^([1-9]\d{0,5})?$/)
    .transform((text) => (text === '' ? undefined : Number(text))),
})

/** The form that withdraws unsold codes. Its answer is the only time that they are shown. */
function takeBackForm(app: FastifyInstance, deps: Core): void {
  const guarded = { preHandler: requireFreshSignIn(deps), config: { page: `${ONE}/codes` } }
  app.post(`${ONE}/codes/take-back`, guarded, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findCodes(request, deps, 'settings.edit')
    const { teamLinks: l } = request.locale.t
    const { count } = readForm(request, TakeBack, { count: l.takeBackWrong })
    const codes = await takeBackCodes(deps, owned.payment_id, { slug: link.slug, count }, actorOf(request))
    if (codes.length === 0) throw new FormRefused({ '': l.noneUnsold }, 'conflict')
    return sendFile(reply, `unsold-${link.slug}.txt`, 'text/plain; charset=utf-8').send(
      `${codes.join('\n')}\n`,
    )
  })
}

const sendFile = (reply: FastifyReply, name: string, type: string) =>
  reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(type)

/** A link that sells codes. Throws what findLink throws, and not_found for another. */
async function findCodes(request: OwnedRequest, deps: Core, right: 'orders.read' | 'settings.edit') {
  const found = await findLink(request, deps, right)
  if (found.link.delivery !== 'codes') throw new AppError('not_found', 'This link sells no codes')
  return found
}

async function showSales(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  { view, isFull }: { view: 'codes' | 'sales'; isFull: boolean },
): Promise<FastifyReply> {
  const find = view === 'codes' ? findCodes : findLink
  const { owned, link } = await find(request, deps, isFull ? 'settings.edit' : 'orders.read')
  const before = cursor.parse((request.query as Record<string, unknown>).before)
  const sold = { id: link.id, applicant_id: owned.applicant_id }
  const [nav, found] = await Promise.all([
    navFor(deps, request, owned),
    salesOfLink(deps, sold, { before, limit: PAGE_LINES + 1 }, { isFull, most: CODES_SHOWN }),
  ])
  if (isFull) await auditReading(request, deps, owned, link)
  const { rows: sales, next } = onePage(found, PAGE_LINES)
  const address = addressOf(request, link.slug)
  const newest = `${address}/${view}${isFull ? '/full' : ''}`
  reply.header('cache-control', 'no-store')
  return reply.page(`payment/links/${view}`, {
    ...{ owned, nav, link, sales, isFull, address, newest, before },
    older: olderUrl(newest, {}, next),
  })
}

/** Writes to the audit log that somebody reads sold codes in full. */
async function auditReading(
  request: OwnedRequest,
  { db }: Core,
  { payment_id }: Permitted,
  { slug }: TeamLink,
): Promise<void> {
  await db.transaction().execute((tx) => audit(tx, 'link.read_codes', payment_id, { slug }, actorOf(request)))
}

/** The columns have the names of the API in every language. */
const COLUMNS = ['paid_at', 'transaction_id', 'buyer', 'unit', 'code', 'unit_amount', 'status']

async function* fileOf(deps: Core, link: { id: bigint; applicant_id: bigint }): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(COLUMNS)
  for await (const sales of eachSale(deps, link, EXPORTED_MAX))
    yield sales
      .flatMap((sale) =>
        sale.codes.map(({ shown }, i) =>
          csvLine([
            sale.paid_at,
            sale.transaction_id,
            sale.buyer,
            i + 1,
            shown,
            sale.unit_amount,
            statusWord(sale),
          ]),
        ),
      )
      .join('')
}
