/** The orders of an application: the searchable list, the page of one order, and the CSV file of a search. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Counts } from '../../database/counts.ts'
import { AppError } from '../../platform/errors.ts'
import type { FairQueue } from '../../platform/fair-queue.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { FormRefused, readForm, refuseQuery } from '../../web/forms/forms.ts'
import { Reason } from '../../web/forms/reason.ts'
import { listUrl, olderUrl, Paged, searchText, shownRows } from '../../web/lists.ts'
import { PeriodAsked, StrictPeriodAsked, spanOf } from '../../web/periods/periods.ts'
import { dayFault } from '../../web/periods/wrong-days.ts'
import type { PageData } from '../../web/views.ts'
import { navFor } from '../apps/area.ts'
import { type SaleOfOrder, saleOfOrder } from '../links/sale-of-order.ts'
import { type Notification, readNotifications } from '../notifications/redelivery.ts'
import { isExpired, payUrl, statusWord } from '../orders/orders.ts'
import {
  type Asking,
  askRefund,
  quoteRefundRequest,
  type RefundQuote,
  RefundTooLarge,
  withdrawRefundRequest,
} from '../orders/refund-requests.ts'
import { actorOf, CONFIRMED, isConfirmed, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { Amount } from '../wire-fields/fields.ts'
import { getOrderRecord, type OrderRecord } from './order-record.ts'
import {
  countFates,
  countOrders,
  eachOrder,
  FATES,
  type Fate,
  fateOf,
  type ListedOrder,
  type OrderFilter,
  ordersOfApp,
  withOpenRefundRequest,
} from './orders.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/orders': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      orders: PartData['payment/merchant/order-rows']['orders']
      asked: Asked
      /** The states, each with the address of the list that shows only them. The first one is all. */
      fates: { fate: Fate | undefined; href: string }[]
      counts: Counts<Fate>
      address: string
      exportUrl: string
    }
    'payment/merchant/orders-export': {
      owned: Permitted
      nav: AreaNav
      rows: number
      /** Only so many of the newest orders were looked at. Undefined if all were. */
      among: number | undefined
      fileMax: number
      fileUrl: string
      listAddress: string
    }
    'payment/merchant/order': OrderRecord & {
      /** Of an order at a link: what it sells. */
      sale: SaleOfOrder | undefined
      owned: Permitted
      nav: AreaNav
      fate: Fate
      notifications: Notification[]
      mayRedeliver: boolean
      mayAsk: boolean
      /** Whether the reader came to ask for a refund. */
      asksRefund: boolean
      /** Whether something is about to happen, so that the page looks again by itself. */
      isMoving: boolean
      orderUrl: string
      /** Where the buyer pays. */
      payUrl: string
      address: string
      listAddress: string
      now: Date
    }
  }
  interface PartData {
    'payment/merchant/order-rows': {
      orders: (ListedOrder & { fate: Fate; isRefundAsked?: boolean })[]
      address: string
      isBrief?: boolean
    }
    'payment/merchant/order-refund': PageData['payment/merchant/order']
    'payment/merchant/order-course': PageData['payment/merchant/order']
  }
}

const PATH = '/payment/applications/:payment_id/orders'
const EXPORTED_MAX = 50_000
/** The notifications that the page of one order shows. */
const NOTIFICATIONS_MAX = 20
/** The page waits for a notification that is due within this time. */
const SOON_MS = 90_000

/** An amount with or without separators. */
const amount = z
  .string()
  .transform((text) => text.replaceAll(/[\s,，]/g, ''))
  .pipe(z.union([z.literal('').transform(() => undefined), z.string().regex(/^\d{1,16}$/)]))
  .optional()

/** The filter in the query of the list and of the file. */
const Asked = StrictPeriodAsked.extend({
  q: searchText,
  buyer: searchText.transform((name) => name.replace(/^@/, '')),
  status: z.union([z.literal('').transform(() => undefined), z.enum(FATES)]).optional(),
  min: amount,
  max: amount,
})
type Asked = z.output<typeof Asked>

/** Reads the filter. Throws invalid_form, because an invalid filter must not list every order. */
function readAsked(query: unknown): Asked {
  const asked = Asked.safeParse(query)
  if (asked.success) {
    const { from, until } = asked.data
    if (from === undefined || until === undefined || from <= until) return asked.data
    throw new AppError('invalid_form', 'The first day of this filter is after the last one')
  }
  throw new AppError('invalid_form', `This filter cannot be read: ${asked.error.issues[0]!.path.join('.')}`)
}

/** Reads the filter of the list. The page names wrong days, shows no order, and keeps the days that can be read. */
function readListed(request: FastifyRequest): { fault: string | undefined; asked: Asked } {
  const query = request.query as Record<string, unknown>
  const fault = dayFault(request)
  if (fault === undefined) return { fault, asked: readAsked(query) }
  refuseQuery(request, { '': fault })
  const { from, until } = PeriodAsked.parse(query)
  return { fault, asked: { ...readAsked({ ...query, from: undefined, until: undefined }), from, until } }
}

const RefundForm = z.object({
  amount: z.string().trim().pipe(Amount).transform(BigInt),
  reason: Reason,
})

/** The columns have the names of the API in every language. */
const COLUMNS = [
  'created_at',
  'transaction_id',
  'order_id',
  'trade_no',
  'description',
  'status',
  'expired',
  'buyer',
  'amount',
  'platform_fee',
  'merchant_points',
  'refunded_amount',
  'money',
  'paid_at',
]

/** What a list shows whose days cannot be read. */
const NONE_FOUND: Awaited<ReturnType<typeof ordersOfApp>> = {
  rows: [],
  next: undefined,
  looked_back_to: undefined,
}

/** Registers the pages within a browser scope of signed-in members. */
export function orderPages(app: FastifyInstance, deps: Core, queue: FairQueue): void {
  orderPage(app, deps)
  const permitted = (request: OwnedRequest) =>
    getPermitted(deps.db, request.params.payment_id, sessionOf(request).user.id, 'orders.read')

  app.get(PATH, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request)
    const { fault, asked } = readListed(request)
    const { before, row } = Paged.parse(request.query)
    const now = deps.clock()
    const [nav, filter] = await Promise.all([navFor(deps, request, owned), filterOf(deps, asked)])
    const [found, counts] =
      fault === undefined
        ? await Promise.all([
            ordersOfApp(deps.db, owned.id, { ...filter, before }, now),
            countFates(deps.db, owned.id, filter, now),
          ])
        : [NONE_FOUND, {}]
    const asking = await withOpenRefundRequest(
      deps.db,
      found.rows.map(({ id }) => id),
    )
    const address = `${pathOf(request)}/orders`
    return reply.page('payment/merchant/orders', {
      owned,
      nav,
      orders: found.rows.map((order) => ({
        ...order,
        fate: fateOf(order, now),
        isRefundAsked: asking.has(order.id),
      })),
      lookedBackTo: found.looked_back_to,
      asked,
      fates: [undefined, ...FATES].map((fate) => ({
        fate,
        href: listUrl(address, { ...asked, status: fate }),
      })),
      counts,
      address,
      exportUrl: listUrl(`${address}/export`, asked),
      older: olderUrl(address, { ...asked, row: String(row + found.rows.length) }, found.next),
      shown: shownRows(row, found.rows.length, {
        isLast: found.next === undefined,
        count: counts[asked.status ?? 'all'],
      }),
      newest: address,
      isSearch: fault !== undefined || listUrl('', asked) !== '',
      before,
    })
  })

  app.get(`${PATH}/export`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request)
    const asked = readAsked(request.query)
    const [nav, filter] = await Promise.all([navFor(deps, request, owned), filterOf(deps, asked)])
    const found = await queue.run(sessionOf(request).user.id, () =>
      countOrders(deps.db, owned.id, filter, deps.clock()),
    )
    const address = `${pathOf(request)}/orders`
    return reply.page('payment/merchant/orders-export', {
      owned,
      nav,
      ...found,
      fileMax: EXPORTED_MAX,
      fileUrl: listUrl(`${address}/export.csv`, asked),
      listAddress: listUrl(address, asked),
    })
  })

  app.get(`${PATH}/export.csv`, async (request: OwnedRequest, reply) => {
    const { id, payment_id } = await permitted(request)
    const filter = await filterOf(deps, readAsked(request.query))
    await deps.limits.hit('order_files', sessionOf(request).user.id.toString())
    const now = deps.clock()
    const today = now.toISOString().slice(0, 10)
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="orders-${payment_id}-${today}.csv"`)
      .type(CSV_TYPE)
      .send(Readable.from(queue.runPieces(fileOf(deps, id, filter, now))))
  })
}

type OrderRequest = FastifyRequest<{ Params: { payment_id: string; transaction_id: string } }>

/** The page of one order and the forms of its refund requests. */
function orderPage(app: FastifyInstance, deps: Core): void {
  app.get(`${PATH}/:transaction_id`, async (request: OrderRequest, reply) => {
    const user_id = sessionOf(request).user.id
    const { payment_id, transaction_id } = request.params
    const owned = await getPermitted(deps.db, payment_id, user_id, 'orders.read')
    const now = deps.clock()
    const [nav, record, { rows: notifications }] = await Promise.all([
      navFor(deps, request, owned),
      getOrderRecord(deps.db, owned.id, transaction_id, now),
      readNotifications(
        deps.db,
        { role: 'team', user_id },
        { payment_id, transaction_id },
        NOTIFICATIONS_MAX,
      ),
    ])
    const fate = fateOf(record.order, now)
    const sale = record.order.door === 'link' ? await saleOfOrder(deps, record.order.id) : undefined
    const soon = new Date(now.getTime() + SOON_MS)
    const isAwaited = notifications.some(({ next_attempt_at: next }) => next !== null && next <= soon)
    return reply.page('payment/merchant/order', {
      ...record,
      sale,
      owned,
      nav,
      fate,
      notifications,
      mayRedeliver: owned.rights.includes('notifications.redeliver'),
      mayAsk: owned.rights.includes('refunds.ask'),
      asksRefund: (request.query as Record<string, unknown>).refund !== undefined,
      isMoving: fate === 'open' || isAwaited,
      orderUrl: orderUrl(request),
      payUrl: payUrl(deps, transaction_id),
      address: `${pathOf(request)}/notifications`,
      listAddress: `${pathOf(request)}/orders`,
      now,
    })
  })

  app.post(`${PATH}/:transaction_id/refund-request`, async (request: OrderRequest, reply) => {
    const { payment_id, transaction_id } = request.params
    const user_id = sessionOf(request).user.id
    const owned = await getPermitted(deps.db, payment_id, user_id, 'refunds.ask')
    const asking = { transaction_id, ...readForm(request, RefundForm) }
    const { locale } = request
    const quote = await quoteRefundRequest(deps.db, owned.id, asking).catch((error) => {
      if (!(error instanceof RefundTooLarge)) throw error
      throw new FormRefused(
        { amount: locale.t.refundRequests.tooMuch(locale.points(error.left)) },
        'conflict',
      )
    })
    if (!isConfirmed(request))
      return reply.page('confirm', { shop: owned.name, ...questionOf(request, asking, quote) })
    await askRefund(deps, payment_id, asking, actorOf(request))
    const text = locale.t.refundRequests.done.asked(locale.points(asking.amount), quote.payer)
    return reply.done(orderUrl(request), { text })
  })

  app.post(`${PATH}/:transaction_id/refund-request/withdraw`, async (request: OrderRequest, reply) => {
    const { payment_id, transaction_id } = request.params
    const amount = await withdrawRefundRequest(deps, payment_id, transaction_id, actorOf(request))
    const { locale } = request
    const text = locale.t.refundRequests.done.withdrawn(locale.points(amount))
    return reply.done(orderUrl(request), { text })
  })
}

function orderUrl(request: OrderRequest): string {
  return `${pathOf(request)}/orders/${encodeURIComponent(request.params.transaction_id)}`
}

/** What a refund would take from whom. Only the payee sees the balance of their wallet. */
function questionOf(request: OrderRequest, asking: Asking, quote: RefundQuote): PageData['confirm'] {
  const { locale } = request
  const { ask } = locale.t.refundRequests
  const { points, signed } = locale
  const after = quote.have - quote.from_wallet
  const isPayee = quote.payee_id === sessionOf(request).user.id
  return {
    title: ask.title(points(asking.amount)),
    lead: ask.lead,
    facts: [
      { term: ask.payer(quote.payer), value: signed(asking.amount), tone: 'good' },
      { term: ask.payee(quote.payee), value: signed(-quote.from_wallet), tone: 'bad' },
      { term: ask.fee, value: signed(-quote.from_fee) },
      ...(isPayee
        ? [
            { term: ask.balance, value: points(quote.have) },
            after < 0n
              ? { term: ask.balanceAfter, value: ask.short, tone: 'bad' as const }
              : { term: ask.balanceAfter, value: points(after) },
          ]
        : []),
      { term: locale.t.common.reason, value: asking.reason },
    ],
    notes: [ask.feeNote, ask.readNote],
    action: `${orderUrl(request)}/refund-request`,
    fields: { amount: String(asking.amount), reason: asking.reason, ...CONFIRMED },
    button: ask.button(points(asking.amount)),
    isDanger: false,
    cancel: orderUrl(request),
  }
}

async function filterOf({ settings, clock }: Core, asked: Asked): Promise<OrderFilter> {
  const { q, buyer, status, min, max } = asked
  const { time_zone: zone } = await settings.read()
  return {
    text: q || undefined,
    payer: buyer || undefined,
    fate: status,
    min: min === undefined ? undefined : BigInt(min),
    max: max === undefined ? undefined : BigInt(max),
    ...spanOf(asked, { now: clock(), zone }),
  }
}

async function* fileOf(deps: Core, app_id: bigint, filter: OrderFilter, now: Date): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(COLUMNS)
  for await (const orders of eachOrder(deps.db, app_id, filter, now, EXPORTED_MAX)) {
    const lines = orders.map((order) =>
      csvLine([
        order.created_at,
        order.transaction_id,
        order.order_id,
        order.trade_no,
        order.description,
        statusWord(order),
        String(isExpired(order, now)),
        order.buyer,
        order.amount,
        order.fee,
        order.merchant_points,
        order.refunded_amount,
        order.money,
        order.paid_at,
      ]),
    )
    yield lines.join('')
  }
}
