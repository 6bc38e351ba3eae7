/** /admin/notifications: what is due and which hosts keep failing, and every notification with its attempts. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { outboxFigures } from '../payment/notifications/redelivery.ts'
import { notificationPages } from '../payment/pages/notifications.ts'

/** Below requireAdmin. */
export function notificationAdminPages(app: FastifyInstance, deps: Deps): void {
  notificationPages(app, deps, {
    path: '/admin/notifications',
    view: 'admin-notifications',
    standing: () => ({ role: 'administrator' }),
    facts: async () => ({ figures: await outboxFigures(deps.db, deps.clock()) }),
  })
}
