/** Rows of what both kinds of applications share: uploaded logos, and links. */
import type { ColumnType } from 'kysely'
import type { CreatedAt } from './columns.ts'

type AppLogosTable = { name: string; picture: Buffer; created_at: Date }

/** A sign-in application and a payment application that are one shop. */
type ShopLinksTable = {
  oauth_app_id: bigint
  payment_app_id: bigint
  /** What the link changed of the name and logo of each, as it was before; null if nothing. */
  oauth_app_before: Before
  payment_app_before: Before
  created_at: CreatedAt
}

type Before = ColumnType<{ name?: string; logo_url?: string | null } | null, string | null | undefined, never>

export interface ShopTables {
  app_logos: AppLogosTable
  shop_links: ShopLinksTable
}
