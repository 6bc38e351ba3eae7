/** The buyer's page at payment_url: confirm and pay, or see what has become of the order. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { isFresh, signInAgainUrl } from '../../accounts/reauthentication.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../../accounts/session.ts'
import { makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import type { Deps } from '../../deps.ts'
import { balanceOf } from '../../ledger/wallet.ts'
import { noteView } from '../buyers-orders.ts'
import { paidTrades, tradeMessage } from '../gateway/messages.ts'
import { isoSeconds, signedCallbackUrl } from '../hmac/signature.ts'
import { type CallbackToken, makeCallbackToken } from '../keys.ts'
import { isExpired, type PayOrder, type PayOutcome, statusWord, TRANSACTION_ID } from '../orders.ts'

/** How long a buyer waits for the shop to be told before going back to it. gateway.md 3. */
const FIRST_NOTIFY_MS = 2_000

const PayForm = z.object({ expected_amount: z.string().regex(/^\d{1,16}$/) })

type PayRequest = FastifyRequest<{ Params: { transaction_id: string } }>

/** What a page says about an order that cannot be paid here and now. */
type State = 'paid' | 'refunded' | 'paidByOther' | 'expired' | 'closed' | 'unusable' | 'dailyLimit'

type Refusal = PayOutcome | 'stale_sign_in'

/** GET and POST /payment/pay/:transaction_id, and GET …/return. */
export function payPages(app: FastifyInstance, deps: Deps, payOrder: PayOrder): void {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const loadOrder = makeLoadOrder(deps)
  const callbackToken = makeCallbackToken(deps)
  const show = (request: PayRequest, reply: FastifyReply, refused?: Refusal) =>
    showOrder(request, reply, { deps, loadOrder }, refused)

  app.get('/payment/pay/:transaction_id', async (request: PayRequest, reply) => show(request, reply))

  app.post('/payment/pay/:transaction_id', async (request: PayRequest, reply) => {
    const form = PayForm.safeParse(request.body)
    const { transaction_id } = request.params
    const session = sessionOf(request)
    const payer_id = session.user.id
    const expected_amount = BigInt(form.data?.expected_amount ?? 0)
    // payOrder takes no other amount than the expected one, so this holds for whatever is paid.
    if (await needsFreshSignIn(session, expected_amount, deps)) return show(request, reply, 'stale_sign_in')
    const outcome: PayOutcome =
      form.success && TRANSACTION_ID.test(transaction_id)
        ? await payOrder({ transaction_id, payer_id, expected_amount })
        : 'changed'
    if (outcome === 'paid' || outcome === 'paid_before') {
      const order = await loadOrder(transaction_id)
      // Many shops look at their own records as soon as the buyer is back.
      if (outcome === 'paid' && order!.notify_url !== null)
        await deps.notifier.attempted(order!.id, FIRST_NOTIFY_MS)
      // Given back since: there is nothing to tell.
      if (order!.status === 'paid')
        return reply.redirect(await signedWayBack(deps, order!, callbackToken), 303)
    }
    return show(request, reply, outcome)
  })

  // Signed when it is followed: a link in the page would be stale before the page is.
  app.get('/payment/pay/:transaction_id/return', async (request: PayRequest, reply) => {
    const order = await loadOrder(request.params.transaction_id)
    const reader_id = sessionOf(request).user.id
    if (order === undefined || stateFor(order, reader_id, deps.clock()) !== 'paid')
      return show(request, reply)
    return reply.redirect(await signedWayBack(deps, order, callbackToken), 303)
  })
}

type LoadOrder = (transaction_id: string) => Promise<LoadedOrder | undefined>

/** Makes the look at orders of these pages; those that are asked for together share a statement. */
function makeLoadOrder(deps: Deps): LoadOrder {
  const load = makeBatcher<string, LoadedOrder | undefined>({
    ...deps.batching,
    run: async (transaction_ids) => {
      const orders = await loadOrders(deps.db, transaction_ids)
      const found = new Map(orders.map((order) => [order.transaction_id, order]))
      return transaction_ids.map((transaction_id) => found.get(transaction_id))
    },
  })
  return async (transaction_id) => (TRANSACTION_ID.test(transaction_id) ? load(transaction_id) : undefined)
}

async function loadOrders(db: Db, transaction_ids: string[]) {
  return db
    .selectFrom('orders')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .where('orders.transaction_id', 'in', transaction_ids)
    .selectAll('orders')
    .select([
      'app.name as app_name',
      'app.status as app_status',
      'app.callback_url',
      'applicant.username as applicant_username',
      'applicant.trust_level as applicant_trust_level',
      // As the owner typed it: 100, not 100.000000.
      sql<string | null>`trim_scale(orders.rate)::text`.as('plain_rate'),
    ])
    .execute()
}

type LoadedOrder = Awaited<ReturnType<typeof loadOrders>>[number]

/** Renders the page that fits the order now. A refused payment is answered with 409 and the reason. */
async function showOrder(
  request: PayRequest,
  reply: FastifyReply,
  { deps, loadOrder }: { deps: Deps; loadOrder: LoadOrder },
  refused: Refusal | undefined,
) {
  const order = await loadOrder(request.params.transaction_id)
  if (order === undefined)
    return reply.page('pay-state', { state: 'notFound', order: undefined }, { status: 404 })
  const session = sessionOf(request)
  const { user } = session
  const shop = new URL(wayBack(order)).origin
  const state =
    stateFor(order, user.id, deps.clock()) ?? (refused === 'daily_limit' ? 'dailyLimit' : undefined)
  if (state !== undefined) {
    // Only the payer gets a fresh signed link: nobody else may tell the shop that they have paid.
    const returnUrl = state === 'paid' ? `/payment/pay/${order.transaction_id}/return` : shop
    return reply.page('pay-state', { state, order, returnUrl }, { status: refused === undefined ? 200 : 409 })
  }
  await noteView(deps.db, { user_id: user.id, order_id: order.id, now: deps.clock() })
  const balance = await balanceOf(deps.db, user.id, order.book)
  const isStale = await needsFreshSignIn(session, order.amount, deps)
  const signInUrl = isStale ? signInAgainUrl(session, `/payment/pay/${order.transaction_id}`) : undefined
  return reply.page(
    'pay',
    { order, shop, balance, hasChanged: refused === 'changed', signInUrl },
    { status: refused === undefined ? 200 : 409, leavesSite: order.return_url ?? true },
  )
}

/** Whether the amount is one that the site lets nobody pay on an old sign-in, and this is one. */
async function needsFreshSignIn(session: Session, amount: bigint, deps: Deps): Promise<boolean> {
  const { reauthenticate_above_points, reauthenticate_minutes } = await deps.settings.read()
  if (reauthenticate_above_points === 0 || amount <= BigInt(reauthenticate_above_points)) return false
  return !isFresh(session, reauthenticate_minutes, deps.clock())
}

function stateFor(order: LoadedOrder, reader_id: bigint, now: Date): State | undefined {
  if (order.status === 'paid' || order.status === 'refunded') {
    return order.payer_id === reader_id ? order.status : 'paidByOther'
  }
  if (order.status === 'closed') return 'closed'
  if (isExpired(order, now)) return 'expired'
  return order.app_status === 'approved' ? undefined : 'unusable'
}

/** Where the payer goes on to, as far as an order of the gateway says so. */
function wayBack({ return_url, callback_url }: LoadedOrder): string {
  return return_url ?? callback_url
}

/** The signed way back of a paid order, made fresh each time. decisions.md 5.9. */
async function signedWayBack(deps: Deps, order: LoadedOrder, callbackToken: CallbackToken): Promise<string> {
  if (order.door === 'gateway') {
    const trade = await paidTrades(deps.db).where('orders.id', '=', order.id).executeTakeFirst()
    // Given back in this very moment: there is nothing to tell.
    return trade === undefined ? new URL(wayBack(order)).origin : tradeMessage(deps, trade, wayBack(order))
  }
  const fields = {
    transaction_id: order.transaction_id,
    external_reference: order.order_id,
    amount: String(order.amount),
    platform_fee: String(order.fee),
    merchant_points: String(order.merchant_points),
    status: statusWord(order),
    paid_at: isoSeconds(order.paid_at!),
  }
  return signedCallbackUrl(order.callback_url, fields, await callbackToken(order.app_id))
}
