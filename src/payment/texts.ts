/** Lists the texts of the rooms of payment. */

import type { Spoken, Texts } from '../web/languages.ts'
import { alerts } from './alerts/alerts.texts.ts'
import { paymentApps } from './apps/apps.texts.ts'
import { merchantGateway } from './apps/gateway-card.texts.ts'
import { handover } from './apps/handover.texts.ts'
import { tabs } from './apps/tabs.texts.ts'
import { team } from './apps/team.texts.ts'
import { terms } from './apps/terms.texts.ts'
import { testMode } from './apps/test-apps.texts.ts'
import { pay } from './buyer/pay.texts.ts'
import { payments } from './buyer/payments.texts.ts'
import { mistakes } from './diagnosis/mistakes.texts.ts'
import { signatures } from './diagnosis/signatures.texts.ts'
import { events } from './events/events.texts.ts'
import { refused } from './gateway/refused.texts.ts'
import { notifications } from './notifications/notifications.texts.ts'
import { refundRequests } from './orders/refund-requests.texts.ts'
import { sellerAddresses } from './seller/addresses.texts.ts'
import { sellerOrders } from './seller/orders.texts.ts'
import { statistics } from './seller/statistics.texts.ts'
import { sellerTransfers } from './seller/transfers.texts.ts'

export const texts = {
  pay,
  payments,
  gatewayRefused: refused,
  paymentApps,
  merchantTabs: tabs,
  team: { ...team, handover },
  terms,
  testMode,
  merchantGateway,
  signatures: { ...signatures, mistakes },
  events,
  alerts,
  notifications,
  statistics,
  sellerOrders,
  sellerAddresses,
  sellerTransfers,
  refundRequests,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Spoken<typeof texts> {}
}
