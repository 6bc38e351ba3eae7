// This room: mounts the payment area: machine interfaces, pages of payers and pages of merchants.
// Verbs: paymentPlugin, merchantPages.
/** The pages of a merchant: the list of payment applications, and the pages of each application. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../accounts/session/session.ts'
import { openFairQueue } from '../platform/fair-queue.ts'
import { appListPages } from './apps/apps.page.ts'
import { areaOf, type Trouble } from './apps/area.ts'
import { developerPages } from './apps/developers.page.ts'
import { goLivePages } from './apps/go-live.page.ts'
import { handoverPages } from './apps/handover.page.ts'
import { settingsPages } from './apps/settings.page.ts'
import { teamPages } from './apps/team.page.ts'
import { codePages } from './links/codes.page.ts'
import { teamLinkPages } from './links/links.page.ts'
import { messagePages } from './links/messages.page.ts'
import { ownLinksPage } from './links/own.page.ts'
import { pictureForm } from './links/picture.page.ts'
import { sharePage } from './links/share.page.ts'
import { accessKeyPages } from './merchant/access-keys.page.ts'
import { addressPages } from './merchant/addresses.page.ts'
import { merchantMandatePages } from './merchant/mandates.page.ts'
import { orderPages } from './merchant/orders.page.ts'
import { overviewPage } from './merchant/overview.page.ts'
import { roundForms, roundPages } from './merchant/round.page.ts'
import { statisticsPage } from './merchant/statistics.page.ts'
import { transferPages } from './merchant/transfers.page.ts'
import { type Hop, hopsOf } from './notifications/hops.ts'
import { type NotificationList, notificationPages } from './notifications/notifications.page.ts'
import { readNotifications } from './notifications/redelivery.ts'
import type { PaymentDeps } from './notifications/worker.ts'
import type { PlaceOrder } from './orders/place.ts'
import { payoutPages } from './payouts/payouts.page.ts'
import type { OwnedRequest } from './rights/owned.ts'
import { getPermitted, type Permitted } from './rights/rights.ts'

declare module '../web/views.ts' {
  interface PageData {
    'payment/notifications/notifications': NotificationList & {
      owned: Permitted
      nav: AreaNav
      trouble: Trouble | undefined
      hops: Hop[]
      /** The order, transfer or mandate whose notification failed last. */
      lastFailed: string | undefined
    }
  }
}

/** Registers /payment/applications, everything under it, and /payment/links. Lists and statistics share one fair queue. */
export async function merchantPages(
  app: FastifyInstance,
  deps: PaymentDeps,
  placeOrder: PlaceOrder,
): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const queue = openFairQueue()

  appListPages(app, deps)
  overviewPage(app, deps, queue)
  await settingsPages(app, deps)
  goLivePages(app, deps)
  developerPages(app, deps, roundPages(deps))
  roundForms(app, deps, placeOrder)
  orderPages(app, deps, queue)
  addressPages(app, deps)
  transferPages(app, deps)
  await payoutPages(app, deps)
  merchantMandatePages(app, deps)
  await teamLinkPages(app, deps)
  ownLinksPage(app, deps)
  accessKeyPages(app, deps)
  await codePages(app, deps, queue)
  await pictureForm(app, deps)
  messagePages(app, deps)
  sharePage(app, deps)
  teamPages(app, deps)
  handoverPages(app, deps)
  statisticsPage(app, deps, queue)
  notificationPages(app, deps, {
    path: '/payment/applications/:payment_id/notifications',
    reader: (request) => ({ role: 'team', user_id: sessionOf(request).user.id }),
    open: async (request, right) => {
      const { payment_id } = (request as OwnedRequest).params
      const owned = await getPermitted(deps.db, payment_id, sessionOf(request).user.id, right)
      return async (reply, list) => {
        const { nav, trouble } = await areaOf(deps, request, owned)
        const hops = trouble === undefined ? [] : hopsOf(trouble)
        const reader = { role: 'team', user_id: sessionOf(request).user.id } as const
        const last = trouble && { payment_id, before: trouble.id + 1n }
        const [failed] = last ? (await readNotifications(deps.db, reader, last, 1)).rows : []
        const shown = { ...list, owned, nav, trouble, hops, lastFailed: failed?.transaction_id }
        return reply.page('payment/notifications/notifications', shown)
      }
    },
  })
}
