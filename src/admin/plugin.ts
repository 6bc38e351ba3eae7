/** The administrator's pages, over the verbs of the other areas. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireAdmin, requireUser } from '../accounts/session/session.ts'
import type { PaymentDeps } from '../payment/notifications/worker.ts'
import { abusePages } from './abuse.page.ts'
import { appAdminPages } from './apps.page.ts'
import { auditPages } from './audit.page.ts'
import { booksPages } from './books.page.ts'
import { correctionPages } from './corrections.page.ts'
import { findPages } from './find.page.ts'
import { forumPages } from './forum.page.ts'
import { freezePages } from './freezes.page.ts'
import { memberPages } from './members.page.ts'
import { movementPages } from './movements.page.ts'
import { notificationAdminPages } from './notifications.page.ts'
import { paymentAppAdminPages } from './payment-apps.page.ts'
import { proposalPages } from './proposals.page.ts'
import { refundRequestPages } from './refund-requests.page.ts'
import { reviewPages } from './reviews.page.ts'
import { settingPages } from './settings.page.ts'

export async function adminPlugin(app: FastifyInstance, deps: PaymentDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireAdmin)

  reviewPages(app, deps)
  findPages(app, deps)
  movementPages(app, deps)
  freezePages(app, deps)
  settingPages(app, deps)
  correctionPages(app, deps)
  proposalPages(app, deps)
  memberPages(app, deps)
  refundRequestPages(app, deps)
  appAdminPages(app, deps)
  auditPages(app, deps)
  paymentAppAdminPages(app, deps)
  notificationAdminPages(app, deps)
  booksPages(app, deps)
  forumPages(app, deps)
  abusePages(app, deps)
}
