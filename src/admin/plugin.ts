/** The administrator's pages, over the verbs of the other areas. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireAdmin, requireUser } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { abusePages } from './abuse.ts'
import { appAdminPages } from './apps.ts'
import { auditPages } from './audit.ts'
import { booksPages } from './books.ts'
import { correctionPages } from './corrections.ts'
import { findPages } from './find.ts'
import { forumPages } from './forum.ts'
import { freezePages } from './freezes.ts'
import { memberPages } from './members.ts'
import { movementPages } from './movements.ts'
import { notificationAdminPages } from './notifications.ts'
import { paymentAppAdminPages } from './payment-apps.ts'
import { proposalPages } from './proposals.ts'
import { refundRequestPages } from './refund-requests.ts'
import { reviewPages } from './reviews.ts'
import { settingPages } from './settings.ts'

export async function adminPlugin(app: FastifyInstance, deps: Deps): Promise<void> {
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
