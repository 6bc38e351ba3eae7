/** All tables. tables/ declares their rows, one file for each area, in the order of the migrations. */
import type { AccessKeysTables } from './tables/access-keys.ts'
import type { AccountsTables } from './tables/accounts.ts'
import type { ForumTables } from './tables/forum.ts'
import type { IdentityTables } from './tables/identity.ts'
import type { LedgerTables } from './tables/ledger.ts'
import type { LinksTables } from './tables/links.ts'
import type { MandatesTables } from './tables/mandates.ts'
import type { NotificationsTables } from './tables/notifications.ts'
import type { PaymentAppTables } from './tables/payment-apps.ts'
import type { PaymentsTables } from './tables/payments.ts'
import type { PayoutsTables } from './tables/payouts.ts'
import type { ServiceTables } from './tables/service.ts'
import type { ShopTables } from './tables/shops.ts'

export interface Tables
  extends AccountsTables,
    ForumTables,
    ServiceTables,
    IdentityTables,
    LedgerTables,
    PaymentAppTables,
    PaymentsTables,
    MandatesTables,
    LinksTables,
    PayoutsTables,
    AccessKeysTables,
    NotificationsTables,
    ShopTables {}
