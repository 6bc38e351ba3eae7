/**
 * The test orders that a merchant creates without a program: one of the overview, and the trade of the keys page, whose check says
 * how far its round came.
 */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import type { RoundPages } from '../apps/developers.page.ts'
import { makeDeliver, type PaymentDeps } from '../notifications/worker.ts'
import { payUrl } from '../orders/orders.ts'
import type { PlaceOrder } from '../orders/place.ts'
import { APPLICATION, actorOf, type OwnedRequest } from '../rights/owned.ts'
import { callRefusal, isMerchantUrl } from '../wire-fields/addresses.ts'
import { checkRound, createTestOrder, type OF_LINK, type Round, tryReturn } from './round.ts'

declare module '../../web/views.ts' {
  interface PartData {
    'payment/merchant/round': {
      round: Round | typeof OF_LINK | undefined
      /** The number of the order that was asked for. */
      asked: string | undefined
      owned: PageData['payment/apps/developers']['owned']
    }
  }
}

const DESCRIPTION_MAX = 100
/** At most the play points that a member begins with. */
const AMOUNT_MAX = 1000

const OrderForm = z.object({
  description: z.string().trim().min(1).max(DESCRIPTION_MAX),
  amount: z
    .string()
    .trim()
    .regex(/^[1-9]\d{0,3}$/)
    .transform(Number)
    .refine((points) => points <= AMOUNT_MAX),
})

const url = z
  .string()
  .trim()
  .refine((text) => text === '' || isMerchantUrl(text))
const TradeForm = z.object({ notify_url: url, return_url: url })

/** Registers the forms within the scope of the merchant's pages. */
export function roundForms(app: FastifyInstance, deps: PaymentDeps, placeOrder: PlaceOrder): void {
  const create = async (request: OwnedRequest, asked: Parameters<typeof createTestOrder>[3]) => {
    const { payment_id } = request.params
    const order = await createTestOrder(deps, placeOrder, payment_id, asked, actorOf(request))
    return payUrl(deps, order.transaction_id)
  }

  const ofOverview = { config: { page: APPLICATION } }
  app.post(`${APPLICATION}/test-order`, ofOverview, async (request: OwnedRequest, reply) => {
    const { round } = request.locale.t
    const words = { description: round.descriptionWrong, amount: round.amountWrong(AMOUNT_MAX) }
    const { description, amount } = readForm(request, OrderForm, words)
    return reply.redirect(await create(request, { description, amount: BigInt(amount) }), 303)
  })

  const ofKeys = { config: { page: `${APPLICATION}/developers` } }
  app.post(`${APPLICATION}/test-trade`, ofKeys, async (request: OwnedRequest, reply) => {
    const { round, paymentApps } = request.locale.t
    const { notify_url, return_url } = readForm(request, TradeForm, {
      notify_url: paymentApps.problems.notify_url,
      return_url: paymentApps.problems.notify_url,
    })
    const fault = notify_url === '' ? undefined : callRefusal(notify_url, deps.config)
    if (fault !== undefined) throw new FormRefused({ notify_url: paymentApps.neverCalled[fault] })
    const gateway = { notify_url: notify_url || null, return_url: return_url || null }
    return reply.redirect(await create(request, { description: round.product, amount: 1n, gateway }), 303)
  })
}

/** What the keys page shows of rounds. */
export function roundPages(deps: PaymentDeps): RoundPages {
  const deliver = makeDeliver(deps, {})
  return {
    show: ({ user_id }, owned, number) => checkRound(deps, owned, user_id, number),
    tryReturn: (actor, owned, number) => tryReturn(deps, deliver, owned, { ...actor, number }),
  }
}
