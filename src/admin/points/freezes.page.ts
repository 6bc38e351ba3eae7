/**
 * Freezes and unfreezes a member's wallet or an order, and suspends and reinstates a payment application, in two steps:
 * a page says the effect in figures, and the same form confirms it.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { balanceOf } from '../../ledger/wallet.ts'
import { getPaymentApp, reviewPaymentApp } from '../../payment/apps/review.ts'
import { AppError } from '../../platform/errors.ts'
import { readForm } from '../../web/forms/forms.ts'
import { Confirmed, ReasonForm } from '../../web/forms/reason.ts'
import type { Locale } from '../../web/languages.ts'
import { idIn } from '../../web/lists.ts'
import { findOrders } from '../find/transactions.ts'
import { type FreezeAct, freezeOrder, freezeWallet, unfreezeOrder, unfreezeWallet } from './freezes.ts'

const FreezeForm = ReasonForm.extend({ confirmed: Confirmed })

type Act = 'freeze' | 'unfreeze'
type OneThing = FastifyRequest<{ Params: Record<string, string> }>
export type Thing = 'wallets' | 'orders' | 'payment-applications'

/** What the page shows about a thing: its name, and the facts that an act changes. */
type Described = { name: string; facts: { term: string; value: string }[] }

/** The acts by the path segment of each kind of thing. */
type Kind = Record<Act, (deps: Core, id: string, act: FreezeAct) => Promise<void>> & {
  /** The parameter that names it in the route of its page. */
  param: string
  describe(deps: Core, id: string, locale: Locale): Promise<Described>
}

const THINGS: Record<Thing, Kind> = {
  wallets: {
    param: 'id',
    freeze: (deps, id, act) => freezeWallet(deps, idIn(id, 'member'), act),
    unfreeze: (deps, id, act) => unfreezeWallet(deps, idIn(id, 'member'), act),
    describe: describeWallet,
  },
  orders: {
    param: 'transaction_id',
    freeze: freezeOrder,
    unfreeze: unfreezeOrder,
    describe: describeOrder,
  },
  'payment-applications': {
    param: 'payment_id',
    freeze: (deps, payment_id, { reason, actor_id }) =>
      reviewPaymentApp(deps, { payment_id, decision: 'suspend', reason, reviewer_id: actor_id }),
    unfreeze: (deps, payment_id, { reason, actor_id }) =>
      reviewPaymentApp(deps, { payment_id, decision: 'reinstate', reason, reviewer_id: actor_id }),
    describe: describeApp,
  },
}

declare module '../../web/views.ts' {
  interface PartData {
    'admin/points/freeze-form': { thing: Thing; act: Act; page: string }
  }
}

/** Registers POST …/freeze and …/unfreeze of each kind. The caller's scope must require an administrator. */
export function freezePages(app: FastifyInstance, deps: Core): void {
  const preHandler = requireFreshSignIn(deps)
  for (const [thing, { param }] of Object.entries(THINGS) as [Thing, Kind][]) {
    for (const act of ['freeze', 'unfreeze'] as const) {
      app.post(`/admin/${thing}/:${param}/${act}`, { preHandler }, async (request: OneThing, reply) =>
        freeze(request, reply, deps, { thing, act }),
      )
    }
  }
}

async function freeze(
  request: OneThing,
  reply: FastifyReply,
  deps: Core,
  { thing, act }: { thing: Thing; act: Act },
): Promise<FastifyReply> {
  const { reason, confirmed } = readForm(request, FreezeForm)
  const id = request.params[THINGS[thing].param]!
  const page = `/admin/${thing}/${encodeURIComponent(id)}`
  const { locale } = request
  const c = locale.t.console.freeze
  const { name, facts } = await THINGS[thing].describe(deps, id, locale)
  if (confirmed !== undefined) {
    await THINGS[thing][act](deps, id, { reason, ...actorOf(request) })
    return reply.done(page, { text: c.done[thing][act](name) })
  }
  return reply.page('confirm', {
    title: c.questions[thing][act](name),
    lead: c.texts[thing][act],
    facts,
    notes: [`${locale.t.common.reason}${locale.t.common.colon}${reason}`],
    action: `${page}/${act}`,
    fields: { reason, confirmed: 'yes' },
    button: c.titles[thing][act],
    isDanger: act === 'freeze',
    cancel: page,
  })
}

async function describeWallet({ db }: Core, id: string, { t, points }: Locale): Promise<Described> {
  const user_id = idIn(id, 'member')
  const member = await db.selectFrom('users').where('id', '=', user_id).select('username').executeTakeFirst()
  if (member === undefined) throw new AppError('not_found', 'There is no such member')
  const balance = points(await balanceOf(db, user_id))
  return { name: `@${member.username}`, facts: [{ term: t.console.freeze.balance, value: balance }] }
}

async function describeOrder(
  { db }: Core,
  transaction_id: string,
  { t, points }: Locale,
): Promise<Described> {
  const [order] = await findOrders(db, transaction_id)
  if (order === undefined) throw new AppError('not_found', 'There is no such order')
  const c = t.console.freeze
  return {
    name: order.description,
    facts: [
      { term: c.application, value: order.app_name },
      { term: c.amount, value: points(order.amount) },
    ],
  }
}

async function describeApp({ db }: Core, payment_id: string, { t }: Locale): Promise<Described> {
  const app = await getPaymentApp(db, payment_id)
  return { name: app.name, facts: [{ term: t.console.freeze.owner, value: `@${app.username}` }] }
}
