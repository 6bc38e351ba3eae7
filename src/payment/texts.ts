/** Lists the texts of the rooms of payment. */

import type { Texts, Translated } from '../web/languages.ts'
import { alerts } from './alerts/alerts.texts.ts'
import { paymentApps, testMode } from './apps/apps.texts.ts'
import { area, tabs } from './apps/area.texts.ts'
import { developers } from './apps/developers.texts.ts'
import { merchantGateway } from './apps/gateway-card.texts.ts'
import { handover } from './apps/handover.texts.ts'
import { team } from './apps/team.texts.ts'
import { terms } from './apps/terms.texts.ts'
import { pay } from './buyer/pay.texts.ts'
import { payments } from './buyer/payments.texts.ts'
import { mistakes } from './diagnosis/mistakes.texts.ts'
import { signatures } from './diagnosis/signatures.texts.ts'
import { events } from './events/events.texts.ts'
import { refused } from './gateway/refused.texts.ts'
import { mandateOffer } from './mandates/offer.texts.ts'
import { ownMandates } from './mandates/own.texts.ts'
import { merchantAddresses } from './merchant/addresses.texts.ts'
import { merchantMandates } from './merchant/mandates.texts.ts'
import { merchantOrders } from './merchant/orders.texts.ts'
import { overview } from './merchant/overview.texts.ts'
import { statistics } from './merchant/statistics.texts.ts'
import { merchantTransfers } from './merchant/transfers.texts.ts'
import { notifications } from './notifications/notifications.texts.ts'
import { refundRequests } from './orders/refund-requests.texts.ts'

export const texts = {
  pay,
  payments,
  mandateOffer,
  ownMandates,
  gatewayRefused: refused,
  paymentApps,
  merchantTabs: tabs,
  shop: area,
  developers,
  team: { ...team, handover },
  terms,
  testMode,
  merchantGateway,
  signatures: { ...signatures, mistakes },
  events,
  alerts,
  notifications,
  merchantOverview: overview,
  statistics,
  merchantOrders,
  merchantAddresses,
  merchantTransfers,
  merchantMandates,
  refundRequests,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
