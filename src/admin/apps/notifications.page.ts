/** /admin/notifications: what is due and at which hosts, pausing one of them, and every notification with its attempts. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { type NotificationList, notificationPages } from '../../payment/notifications/notifications.page.ts'
import { pauseHost, resumeHost } from '../../payment/notifications/pausing.ts'
import { outboxFigures } from '../../payment/notifications/redelivery.ts'
import type { PaymentDeps } from '../../payment/notifications/worker.ts'
import { AppError } from '../../platform/errors.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/notifications': NotificationList & { figures: Awaited<ReturnType<typeof outboxFigures>> }
  }
}

const PATH = '/admin/notifications'

const HostForm = z.object({
  host: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[^\s/?#]{1,255}$/, 'The name of a host'),
  reason: z.string().trim().min(1, 'Say why').max(500, 'At most 500 characters'),
})

/** Below requireAdmin. */
export function notificationAdminPages(app: FastifyInstance, deps: PaymentDeps): void {
  notificationPages(app, deps, {
    path: PATH,
    standing: () => ({ role: 'administrator' }),
    open: async () => {
      const figures = await outboxFigures(deps.db, deps.clock())
      return (reply, list) => reply.page('admin/notifications', { ...list, figures })
    },
  })

  const preHandler = requireFreshSignIn(deps, { page: PATH })
  for (const [act, verb] of [
    ['pause', pauseHost],
    ['resume', resumeHost],
  ] as const) {
    app.post(`${PATH}/hosts/${act}`, { preHandler }, async (request, reply) => {
      const form = HostForm.safeParse(request.body)
      if (!form.success) throw new AppError('invalid_form', form.error.issues[0]!.message)
      await verb(deps, { ...form.data, actor_id: sessionOf(request).user.id, ip: request.ip })
      return reply.redirect(PATH, 303)
    })
  }
}
