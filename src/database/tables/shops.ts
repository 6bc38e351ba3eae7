/** Rows of what both kinds of applications share: uploaded logos, and links. */
import type { CreatedAt } from './columns.ts'

type AppLogosTable = { name: string; picture: Buffer; created_at: Date }

/** A sign-in application and a payment application that are one shop. */
type ShopLinksTable = { oauth_app_id: bigint; payment_app_id: bigint; created_at: CreatedAt }

export interface ShopTables {
  app_logos: AppLogosTable
  shop_links: ShopLinksTable
}
