/** /admin/notifications shows due notifications by host, pauses hosts, and lists every notification with its attempts. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import { type NotificationList, notificationPages } from '../../payment/notifications/notifications.page.ts'
import { pauseHost, resumeHost } from '../../payment/notifications/pausing.ts'
import { outboxFigures } from '../../payment/notifications/redelivery.ts'
import type { PaymentDeps } from '../../payment/notifications/worker.ts'
import { readForm } from '../../web/forms/forms.ts'
import { Reason } from '../../web/forms/reason.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/notifications': NotificationList & { figures: Awaited<ReturnType<typeof outboxFigures>> }
  }
}

const PATH = '/admin/notifications'

const HostForm = z.object({
  host: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[^\s/?#]{1,255}$/),
  reason: Reason,
})

/** Registers the pages. The caller's scope must require an administrator. */
export function notificationAdminPages(app: FastifyInstance, deps: PaymentDeps): void {
  notificationPages(app, deps, {
    path: PATH,
    reader: () => ({ role: 'administrator' }),
    open: async () => {
      const figures = await outboxFigures(deps.db, deps.clock())
      return (reply, list) => reply.page('admin/apps/notifications', { ...list, figures })
    },
  })

  const preHandler = requireFreshSignIn(deps)
  for (const [act, verb] of [
    ['pause', pauseHost],
    ['resume', resumeHost],
  ] as const) {
    app.post(`${PATH}/hosts/${act}`, { preHandler }, async (request, reply) => {
      const form = readForm(request, HostForm)
      await verb(deps, { ...form, ...actorOf(request) })
      return reply.done(PATH, { text: request.locale.t.console.hosts.done[act](form.host) })
    })
  }
}
