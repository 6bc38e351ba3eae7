/** The look-up of a link by its address. */
import type { Selectable } from 'kysely'
import type { Tx } from '../../database/connection.ts'
import type { LinksTable } from '../../database/tables/links.ts'
import { AppError } from '../../platform/errors.ts'
import type { Permitted } from '../rights/rights.ts'

export type Link = Selectable<LinksTable>

/** A link that is made in a transaction, and its application. */
export type MadeLink = { id: bigint; slug: string; app: Permitted }

/** Whether a link only takes a tip: its buyer chooses the amount and gets a receipt alone. */
export function isTip({ amount, delivery }: Pick<Link, 'amount' | 'delivery'>): boolean {
  return amount === null && delivery === 'none'
}

/** Finds a link by its slug, a draft too; with `app`, among the links of that application. Throws not_found. */
export async function getLink(tx: Tx, slug: string, app?: { id: bigint }): Promise<Link> {
  const link = await tx
    .selectFrom('links')
    .where('slug', '=', slug)
    .$if(app !== undefined, (query) => query.where('app_id', '=', app!.id))
    .selectAll()
    .executeTakeFirst()
  if (link === undefined) throw new AppError('not_found', 'There is no such link')
  return link
}
