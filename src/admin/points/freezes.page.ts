/**
 * Freezes and unfreezes a member's wallet or an order, and suspends and reinstates a payment application, in two steps:
 * a page explains the act, and the same form confirms it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import type { Core } from '../../core/core.ts'
import { reviewPaymentApp } from '../../payment/apps/review.ts'
import { actorOf, Confirmed, idIn, ReasonForm, readForm } from '../acts/form.ts'
import { type FreezeAct, freezeOrder, freezeWallet, unfreezeOrder, unfreezeWallet } from './freezes.ts'

const FreezeForm = ReasonForm.extend({ confirmed: Confirmed })

type Act = (deps: Core, id: string, act: FreezeAct) => Promise<void>
type OneThing = FastifyRequest<{ Params: { id: string } }>

type Thing = 'wallets' | 'orders' | 'payment-applications'

/** The acts by the path segment of each kind of thing. */
const THINGS: Record<Thing, { freeze: Act; unfreeze: Act }> = {
  wallets: {
    freeze: (deps, id, act) => freezeWallet(deps, idIn(id, 'member'), act),
    unfreeze: (deps, id, act) => unfreezeWallet(deps, idIn(id, 'member'), act),
  },
  orders: { freeze: freezeOrder, unfreeze: unfreezeOrder },
  'payment-applications': {
    freeze: (deps, payment_id, { reason, actor_id }) =>
      reviewPaymentApp(deps, { payment_id, decision: 'suspend', reason, reviewer_id: actor_id }),
    unfreeze: (deps, payment_id, { reason, actor_id }) =>
      reviewPaymentApp(deps, { payment_id, decision: 'reinstate', reason, reviewer_id: actor_id }),
  },
}

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/freeze': {
      thing: Thing
      act: 'freeze' | 'unfreeze'
      id: string
      reason: string
      page: string
    }
  }
  interface PartData {
    'admin/points/freeze-form': { thing: Thing; act: 'freeze' | 'unfreeze'; page: string }
  }
}

/** Registers POST …/freeze and …/unfreeze of each kind. The caller's scope must require an administrator. */
export function freezePages(app: FastifyInstance, deps: Core): void {
  for (const thing of Object.keys(THINGS) as Thing[]) {
    for (const act of ['freeze', 'unfreeze'] as const) {
      const pageOf = (request: FastifyRequest) =>
        `/admin/${thing}/${encodeURIComponent((request as OneThing).params.id)}`
      const preHandler = requireFreshSignIn(deps, { page: pageOf })
      app.post(`/admin/${thing}/:id/${act}`, { preHandler }, async (request: OneThing, reply) =>
        freeze(request, reply, deps, { thing, act, carryOut: THINGS[thing][act], page: pageOf(request) }),
      )
    }
  }
}

type Asked = { thing: Thing; act: 'freeze' | 'unfreeze'; carryOut: Act; page: string }

async function freeze(
  request: OneThing,
  reply: FastifyReply,
  deps: Core,
  { thing, act, carryOut, page }: Asked,
): Promise<FastifyReply> {
  const { reason, confirmed } = readForm(FreezeForm, request.body)
  const { id } = request.params
  if (confirmed === undefined) return reply.page('admin/points/freeze', { thing, act, id, reason, page })
  await carryOut(deps, id, { reason, ...actorOf(request) })
  return reply.redirect(page, 303)
}
