// This room: mounts the pages of administrators, which all require a session of one.
// Verbs: adminPlugin.
// Clauses: spec/pages 3.5.
/** Registers the pages of administrators. They call the functions of the other areas. spec/pages 3.5. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireAdmin, requireUser } from '../accounts/session/session.ts'
import type { PaymentDeps } from '../payment/notifications/worker.ts'
import { appAdminPages } from './apps/apps.page.ts'
import { linkAdminPages } from './apps/links.page.ts'
import { mandateAdminPages } from './apps/mandates.page.ts'
import { notificationAdminPages } from './apps/notifications.page.ts'
import { paymentAppAdminPages } from './apps/payment-apps.page.ts'
import { reviewPages } from './apps/reviews.page.ts'
import { dashboardPages } from './dashboard/dashboard.page.ts'
import { linkToNextStep } from './dashboard/first-steps.page.ts'
import { findPages } from './find/find.page.ts'
import { showAdminNav } from './navigation/nav.ts'
import { forumPages } from './people/forum.page.ts'
import { groupPages } from './people/groups.page.ts'
import { memberPages } from './people/members.page.ts'
import { abusePages } from './points/abuse.page.ts'
import { adjustmentPages } from './points/adjustments.page.ts'
import { booksPages } from './points/books.page.ts'
import { freezePages } from './points/freezes.page.ts'
import { movementPages } from './points/movements.page.ts'
import { refundRequestPages } from './points/refund-requests.page.ts'
import { proposalPages } from './proposals/proposals.page.ts'
import { auditPages } from './site/audit.page.ts'
import { logoPage } from './site/logo.page.ts'
import { settingPages } from './site/settings.page.ts'
import { versionsPage } from './site/versions.page.ts'

/** Registers all pages of administrators. Every request requires a session of an administrator. */
export async function adminPlugin(app: FastifyInstance, deps: PaymentDeps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireAdmin)
  showAdminNav(app, deps)

  dashboardPages(app, deps)
  reviewPages(app, deps)
  findPages(app, deps)
  movementPages(app, deps)
  freezePages(app, deps)
  settingPages(app, deps, linkToNextStep)
  await logoPage(app, deps)
  adjustmentPages(app, deps)
  proposalPages(app, deps)
  memberPages(app, deps)
  groupPages(app, deps)
  refundRequestPages(app, deps)
  appAdminPages(app, deps)
  auditPages(app, deps)
  versionsPage(app, deps)
  paymentAppAdminPages(app, deps)
  notificationAdminPages(app, deps)
  linkAdminPages(app, deps)
  mandateAdminPages(app, deps)
  booksPages(app, deps)
  forumPages(app, deps)
  abusePages(app, deps)
}
