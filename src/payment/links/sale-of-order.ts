/** The sale of a link that one order is, for the page of the order. Codes are masked. spec/links 4.3. */
import type { Core } from '../../core/core.ts'
import type { DeliveryKind } from '../../database/tables/links.ts'
import { type SoldCode, salesOfLink } from './sales.ts'

/** Codes of a sale that the page shows. */
const CODES_SHOWN = 5

export type SaleOfOrder = {
  slug: string
  title: string
  kind: DeliveryKind
  units: number
  /** What was sold, once it is paid. */
  sold: { codes: SoldCode[] } | undefined
}

export async function saleOfOrder(
  deps: Pick<Core, 'db' | 'secrets'>,
  order_id: bigint,
): Promise<SaleOfOrder | undefined> {
  const sale = await deps.db
    .selectFrom('link_orders as sale')
    .innerJoin('links as link', 'link.id', 'sale.link_id')
    .where('sale.order_id', '=', order_id)
    .select(['link.id', 'link.slug', 'link.title', 'link.delivery', 'sale.units', 'sale.sold_total'])
    .executeTakeFirst()
  if (sale === undefined) return undefined
  const { id, slug, title, delivery: kind, units, sold_total } = sale
  if (sold_total === null) return { slug, title, kind, units, sold: undefined }
  const before = BigInt(sold_total) + 1n
  // Every code is masked, so the owner does not matter.
  const link = { id, applicant_id: 0n }
  const sales = await salesOfLink(deps, link, { before, limit: 1 }, { isFull: false, most: CODES_SHOWN })
  return { slug, title, kind, units, sold: { codes: sales[0]?.codes ?? [] } }
}
