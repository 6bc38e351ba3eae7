/** /admin/mandates: the right of applications to hold mandates, the search of mandates, and the end of one. spec/mandates 1.3. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { revokeByStaff } from '../../payment/mandates/acts.ts'
import { decideMandateRight } from '../../payment/mandates/right.ts'
import { Amount } from '../../payment/wire-fields/fields.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { ReasonForm } from '../../web/forms/reason.ts'
import { searchText } from '../../web/lists.ts'
import { type AppWithRight, appsByRight, type FoundMandate, findMandates } from './mandates.ts'

const PATH = '/admin/mandates'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/mandates': { apps: AppWithRight[]; found: FoundMandate[]; q: string }
  }
}

const Asked = z.object({ q: searchText })
const Decided = z.object({
  decision: z.enum(['grant', 'refuse', 'withdraw']),
  daily_max: z
    .string()
    .trim()
    .pipe(z.union([z.literal('').transform(() => undefined), Amount.transform(BigInt)])),
  reason: z.string().trim().max(500).default(''),
})

/** Registers the pages. The caller's scope must require an administrator. */
export function mandateAdminPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showMandates(request, reply, deps))

  const options = { preHandler: requireFreshSignIn(deps), config: { page: PATH } }
  app.post<{ Params: { payment_id: string } }>(
    `${PATH}/rights/:payment_id`,
    options,
    async (request, reply) => {
      const { t, points } = request.locale
      const c = t.console.mandateReview
      const words = { daily_max: c.dailyMaxWrong, reason: c.reasonWrong }
      const { decision, daily_max, reason } = readForm(request, Decided, words)
      const { payment_id } = request.params
      if (decision === 'grant' && daily_max === undefined)
        throw new FormRefused({ daily_max: c.dailyMaxWrong })
      if (decision !== 'grant' && reason === '') throw new FormRefused({ reason: c.reasonWrong })
      const decided =
        decision === 'grant' ? { decision, daily_max: daily_max!, reason } : { decision, reason }
      await decideMandateRight(deps, payment_id, decided, actorOf(request))
      const [app] = await appsByRight(deps.db, payment_id)
      const name = app!.name
      const text = decision === 'grant' ? c.done.grant(name, points(daily_max!)) : c.done[decision](name)
      return reply.done(PATH, { text })
    },
  )

  app.post<{ Params: { mandate_id: string } }>(`${PATH}/:mandate_id/end`, options, async (request, reply) => {
    const { t } = request.locale
    const { reason } = readForm(request, ReasonForm, { reason: t.console.mandateReview.reasonWrong })
    const { mandate_id } = await revokeByStaff(
      deps,
      { mandate_id: request.params.mandate_id, reason },
      actorOf(request),
    )
    return reply.done(`${PATH}?q=${mandate_id}`, { text: t.console.mandateReview.ended(mandate_id) })
  })
}

async function showMandates(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { q } = Asked.parse(request.query ?? {})
  const text = q === '' ? undefined : q.replace(/^@/, '')
  const [apps, found] = await Promise.all([
    appsByRight(deps.db, text),
    text === undefined ? [] : findMandates(deps.db, text, deps.clock()),
  ])
  return reply.page('admin/apps/mandates', { apps, found, q })
}
