/** …/transfers: the searchable list, and the two-step form that sends a transfer. Repeats of the form send it only once. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findUserByUsername } from '../../accounts/people/users.ts'
import { signInAgainUrl } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { keepForm } from '../../web/forms/kept-forms.ts'
import { cursor, listUrl, olderUrl, searchText } from '../../web/lists.ts'
import { PeriodAsked, spanOf } from '../../web/periods/periods.ts'
import { navFor } from '../apps/area.ts'
import { needsFreshSignIn } from '../buyer/pay.page.ts'
import type { PaymentDeps } from '../notifications/worker.ts'
import { type TransferOffer, transferOffer } from '../orders/transfer-offer.ts'
import { quoteTransfer, sendTransfer, type TransferQuote } from '../orders/transfers.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { Amount, OrderId, UserId } from '../wire-fields/fields.ts'
import { merchantTransfers } from './orders.texts.ts'
import { transfersOfApp } from './transfers.ts'

const PATH = '/payment/applications/:payment_id/transfers'

const Asked = PeriodAsked.extend({ q: searchText })
const Paged = z.object({ before: cursor })

const amount = z.string().trim().pipe(Amount).transform(BigInt)
/** A missing name becomes empty, which no member has. */
const username = z
  .string()
  .catch('')
  .transform((name) => name.trim().replace(/^@/, ''))

const QuoteForm = z.object({
  to_username: username,
  amount,
  order_id: z.union([z.literal(''), OrderId]).default(''),
})
const SendForm = z.object({
  to_user_id: UserId.transform(BigInt),
  to_username: username,
  amount,
  order_id: OrderId,
})
type Sending = z.output<typeof SendForm>

/** Why a transfer was not quoted or sent. */
type Fault = keyof typeof merchantTransfers.faults

const isFault = (code: string): code is Fault => code in merchantTransfers.faults

type Sent = Awaited<ReturnType<typeof transfersOfApp>>['rows'][number]

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/transfers': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      transfers: Sent[]
      offer: TransferOffer
      asked: z.output<typeof Asked>
      address: string
    }
    'payment/merchant/transfer-confirm': {
      owned: Permitted
      sending: Sending
      quote: TransferQuote
      fault: Fault | undefined
      signInUrl: string | undefined
      address: string
    }
  }
}

/** Registers the pages within a browser scope of signed-in members. */
export function transferPages(app: FastifyInstance, deps: PaymentDeps): void {
  app.get(PATH, async (request: OwnedRequest, reply) => showTransfers(request, reply, deps))

  app.post(`${PATH}/quote`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'points.transfer')
    const { faults } = request.locale.t.merchantTransfers
    const { to_username, amount, order_id } = readForm(request, QuoteForm, faults)
    const recipient = await findUserByUsername(deps.db, to_username)
    if (recipient === undefined) throw new FormRefused({ to_username: faults.recipient_mismatch })
    return showConfirmation(request, reply, deps, owned, {
      to_user_id: recipient.id,
      to_username: recipient.username,
      amount,
      order_id: order_id || `console-${randomText(16, LOWER_ALNUM)}`,
    })
  })

  app.post(PATH, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'points.transfer')
    const sending = readForm(request, SendForm)
    if (await needsFreshSignIn(sessionOf(request), sending.amount, deps))
      return showConfirmation(request, reply, deps, owned, sending)
    try {
      const { amount, fee, to_username } = await sendTransfer(
        deps,
        owned.payment_id,
        sending,
        actorOf(request),
      )
      deps.notifier.nudge()
      const { locale } = request
      const text = locale.t.merchantTransfers.sent(locale.points(amount), to_username, locale.points(fee))
      return reply.done(`${pathOf(request)}/transfers`, { text })
    } catch (error) {
      if (!(error instanceof AppError) || !isFault(error.code)) throw error
      return showConfirmation(request, reply, deps, owned, sending, error.code)
    }
  })
}

function permitted(request: OwnedRequest, { db }: PaymentDeps, right: 'orders.read' | 'points.transfer') {
  return getPermitted(db, request.params.payment_id, sessionOf(request).user.id, right)
}

async function showTransfers(request: OwnedRequest, reply: FastifyReply, deps: PaymentDeps) {
  const owned = await permitted(request, deps, 'orders.read')
  const asked = Asked.parse(request.query)
  const { before } = Paged.parse(request.query)
  const { time_zone: zone } = await deps.settings.read()
  const span = spanOf(asked, { now: deps.clock(), zone })
  const [nav, found, offer] = await Promise.all([
    navFor(deps, request, owned),
    transfersOfApp(deps.db, owned.id, { ...span, text: asked.q || undefined, before }),
    transferOffer(deps, owned),
  ])
  const address = `${pathOf(request)}/transfers`
  return reply.page('payment/merchant/transfers', {
    owned,
    nav,
    transfers: found.rows,
    lookedBackTo: found.looked_back_to,
    offer,
    asked,
    before,
    isSearch: listUrl('', asked) !== '',
    address,
    newest: address,
    older: olderUrl(address, asked, found.next),
  })
}

/**
 * Shows the transfer with its cost and limits before it is sent.
 * @param refused the refusal of a sent transfer.
 */
async function showConfirmation(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: PaymentDeps,
  owned: Permitted,
  sending: Sending,
  refused?: Fault,
) {
  const session = sessionOf(request)
  const [quote, isStale] = await Promise.all([
    quoteTransfer(deps, owned.id, sending.amount),
    needsFreshSignIn(session, sending.amount, deps),
  ])
  const address = `${pathOf(request)}/transfers`
  const { to_username, amount, order_id } = sending
  const answers = { path: `${address}/quote`, typed: { to_username, amount: String(amount), order_id } }
  if (isStale) await keepForm(reply, address, answers, deps)
  const data = {
    owned,
    sending,
    quote,
    fault: refused ?? faultOf(owned, sending, quote),
    signInUrl: isStale ? signInAgainUrl(session, address) : undefined,
    address,
  }
  return reply.page('payment/merchant/transfer-confirm', data, {
    status: refused === undefined ? 200 : 409,
    answers,
  })
}

/** Predicts the refusal of post_transfers for the page. post_transfers decides again. */
function faultOf(
  { status, applicant_id }: Permitted,
  { to_user_id, amount }: Sending,
  { min, max, left_today, need, have }: TransferQuote,
): Fault | undefined {
  if (status !== 'approved') return 'application_unusable'
  if (to_user_id === applicant_id) return 'transfer_to_self'
  if (amount < min) return 'below_minimum'
  if (amount > max) return 'above_maximum'
  if (left_today !== null && amount > left_today) return 'daily_limit_reached'
  return need > have ? 'insufficient_points' : undefined
}
