/** Lists the texts of the rooms of payment. */

import type { Texts, Translated } from '../web/languages.ts'
import { accessKeys } from './access-keys/access-keys.texts.ts'
import { alerts } from './alerts/alerts.texts.ts'
import { area, paymentApps, tabs, terms, testMode } from './apps/apps.texts.ts'
import { developers, merchantGateway } from './apps/developers.texts.ts'
import { goLive } from './apps/go-live.texts.ts'
import { handover, team } from './apps/team.texts.ts'
import { pay, payments } from './buyer/pay.texts.ts'
import { mistakes } from './diagnosis/mistakes.texts.ts'
import { signatures } from './diagnosis/signatures.texts.ts'
import { events } from './events/events.texts.ts'
import { refused } from './gateway/refused.texts.ts'
import { paymentLinks, receiptMail } from './links/links.texts.ts'
import { teamLinks } from './links/team-links.texts.ts'
import { mandateOffer } from './mandates/offer.texts.ts'
import { ownMandates } from './mandates/own.texts.ts'
import {
  merchantAddresses,
  merchantMandates,
  merchantOrders,
  merchantTransfers,
} from './merchant/orders.texts.ts'
import { overview, statistics } from './merchant/overview.texts.ts'
import { round } from './merchant/round.texts.ts'
import { notifications } from './notifications/notifications.texts.ts'
import { refundRequests } from './orders/refund-requests.texts.ts'
import { merchantPayouts } from './payouts/payouts.texts.ts'
import { tips } from './tips/tips.texts.ts'

export const texts = {
  pay,
  payments,
  paymentLinks,
  receiptMail,
  teamLinks,
  tips,
  mandateOffer,
  ownMandates,
  gatewayRefused: refused,
  paymentApps,
  accessKeys,
  merchantTabs: tabs,
  shop: area,
  developers,
  team: { ...team, handover },
  terms,
  testMode,
  goLive,
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
  merchantPayouts,
  merchantMandates,
  refundRequests,
  round,
} satisfies Texts

declare module '../web/languages.ts' {
  interface Messages extends Translated<typeof texts> {}
}
