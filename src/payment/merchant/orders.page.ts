/** The orders of an application: the searchable list, the page of one order, and the CSV file of a search. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { Turns } from '../../platform/turns.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { cursor, listUrl, olderUrl, searchText } from '../../web/lists.ts'
import { readNotifications } from '../notifications/redelivery.ts'
import { isExpired, statusWord } from '../orders/orders.ts'
import { askRefund, withdrawRefundRequest } from '../orders/refund-requests.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { Amount } from '../values/fields.ts'
import { getOrderRecord, type OrderRecord } from './order-record.ts'
import { countOrders, eachOrder, FATES, type Fate, fateOf, type OrderFilter, ordersOfApp } from './orders.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/orders': PartData['parts/pager'] & {
      owned: Permitted
      orders: (Awaited<ReturnType<typeof ordersOfApp>>['rows'][number] & { fate: Fate })[]
      asked: Asked
      fates: typeof FATES
      address: string
      exportUrl: string
    }
    'payment/merchant/orders-export': {
      owned: Permitted
      rows: number
      isCapped: boolean
      fileUrl: string
      listAddress: string
    }
    'payment/merchant/order': OrderRecord & {
      owned: Permitted
      fate: Fate
      notifications: Awaited<ReturnType<typeof readNotifications>>
      mayRedeliver: boolean
      mayAsk: boolean
      orderUrl: string
      address: string
      listAddress: string
      now: Date
    }
  }
}

const PATH = '/payment/applications/:payment_id/orders'
const EXPORTED_MAX = 50_000
/** The notifications that the page of one order shows. */
const NOTIFICATIONS_MAX = 20
const DAY_MS = 86_400_000

/** An amount with or without separators. */
const amount = z
  .string()
  .transform((text) => text.replaceAll(/[\s,，]/g, ''))
  .pipe(z.union([z.literal('').transform(() => undefined), z.string().regex(/^\d{1,16}$/)]))
  .optional()
const day = z.union([z.literal('').transform(() => undefined), z.iso.date()]).optional()

/** The filter in the query of the list and of the file. */
const Asked = z.object({
  q: searchText,
  buyer: searchText.transform((name) => name.replace(/^@/, '')),
  status: z.union([z.literal('').transform(() => undefined), z.enum(FATES)]).optional(),
  min: amount,
  max: amount,
  from: day,
  until: day,
})
type Asked = z.output<typeof Asked>

/** Reads the filter. Throws invalid_form, because an invalid filter must not list every order. */
function readAsked(query: unknown): Asked {
  const asked = Asked.safeParse(query)
  if (asked.success) return asked.data
  throw new AppError('invalid_form', `This filter cannot be read: ${asked.error.issues[0]!.path.join('.')}`)
}

const RefundForm = z.object({
  amount: z.string().trim().pipe(Amount).transform(BigInt),
  reason: z.string().trim().min(1).max(500),
})

const Paged = z.object({ before: cursor })

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

/** Registers the pages within a browser scope of signed-in members. */
export function orderPages(app: FastifyInstance, deps: Core, turns: Turns): void {
  orderPage(app, deps)
  const permitted = (request: OwnedRequest) =>
    getPermitted(deps.db, request.params.payment_id, sessionOf(request).user.id, 'orders.read')

  app.get(PATH, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request)
    const asked = readAsked(request.query)
    const { before } = Paged.parse(request.query)
    const now = deps.clock()
    const found = await ordersOfApp(deps.db, owned.id, { ...filterOf(asked), before }, now)
    const address = `${pathOf(request)}/orders`
    return reply.page('payment/merchant/orders', {
      owned,
      orders: found.rows.map((order) => ({ ...order, fate: fateOf(order, now) })),
      lookedBackTo: found.looked_back_to,
      asked,
      fates: FATES,
      address,
      exportUrl: listUrl(`${address}/export`, asked),
      older: olderUrl(address, asked, found.next),
      newest: address,
      isSearch: listUrl('', asked) !== '',
      before,
    })
  })

  app.get(`${PATH}/export`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request)
    const asked = readAsked(request.query)
    const found = await turns.take(sessionOf(request).user.id, () =>
      countOrders(deps.db, owned.id, filterOf(asked), deps.clock(), EXPORTED_MAX),
    )
    const address = `${pathOf(request)}/orders`
    return reply.page('payment/merchant/orders-export', {
      owned,
      rows: Math.min(found, EXPORTED_MAX),
      isCapped: found > EXPORTED_MAX,
      fileUrl: listUrl(`${address}/export.csv`, asked),
      listAddress: listUrl(address, asked),
    })
  })

  app.get(`${PATH}/export.csv`, async (request: OwnedRequest, reply) => {
    const { id, payment_id } = await permitted(request)
    const filter = filterOf(readAsked(request.query))
    await deps.limits.hit('order_files', sessionOf(request).user.id.toString())
    const now = deps.clock()
    const today = now.toISOString().slice(0, 10)
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="orders-${payment_id}-${today}.csv"`)
      .type(CSV_TYPE)
      .send(Readable.from(turns.goOn(fileOf(deps, id, filter, now))))
  })
}

type OrderRequest = FastifyRequest<{ Params: { payment_id: string; transaction_id: string } }>

/** The page of one order and the forms of its refund requests. */
function orderPage(app: FastifyInstance, deps: Core): void {
  const orderUrl = (request: OrderRequest) =>
    `${pathOf(request)}/orders/${encodeURIComponent(request.params.transaction_id)}`

  app.get(`${PATH}/:transaction_id`, async (request: OrderRequest, reply) => {
    const user_id = sessionOf(request).user.id
    const { payment_id, transaction_id } = request.params
    const owned = await getPermitted(deps.db, payment_id, user_id, 'orders.read')
    const now = deps.clock()
    const [record, notifications] = await Promise.all([
      getOrderRecord(deps.db, owned.id, transaction_id, now),
      readNotifications(
        deps.db,
        { role: 'team', user_id },
        { payment_id, transaction_id },
        NOTIFICATIONS_MAX,
      ),
    ])
    return reply.page('payment/merchant/order', {
      ...record,
      owned,
      fate: fateOf(record.order, now),
      notifications,
      mayRedeliver: owned.rights.includes('notifications.redeliver'),
      mayAsk: owned.rights.includes('refunds.ask'),
      orderUrl: orderUrl(request),
      address: `${pathOf(request)}/notifications`,
      listAddress: `${pathOf(request)}/orders`,
      now,
    })
  })

  app.post(`${PATH}/:transaction_id/refund-request`, async (request: OrderRequest, reply) => {
    const { payment_id, transaction_id } = request.params
    await getPermitted(deps.db, payment_id, sessionOf(request).user.id, 'refunds.ask')
    const form = RefundForm.safeParse(request.body)
    if (!form.success)
      throw new AppError('invalid_form', 'The number of points or the reason is missing or too long')
    await askRefund(deps, payment_id, { transaction_id, ...form.data }, actorOf(request))
    return reply.redirect(`${orderUrl(request)}#refund`, 303)
  })

  app.post(`${PATH}/:transaction_id/refund-request/withdraw`, async (request: OrderRequest, reply) => {
    const { payment_id, transaction_id } = request.params
    await withdrawRefundRequest(deps, payment_id, transaction_id, actorOf(request))
    return reply.redirect(`${orderUrl(request)}#refund`, 303)
  })
}

/** Days begin at midnight in Asia/Shanghai, as for every daily limit and statistic. */
function filterOf({ q, buyer, status, min, max, from, until }: Asked): OrderFilter {
  const midnight = (text: string | undefined) => text && new Date(`${text}T00:00:00+08:00`)
  const last = midnight(until)
  return {
    text: q || undefined,
    payer: buyer || undefined,
    fate: status,
    min: min === undefined ? undefined : BigInt(min),
    max: max === undefined ? undefined : BigInt(max),
    from: midnight(from) || undefined,
    until: last ? new Date(last.getTime() + DAY_MS) : undefined,
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
