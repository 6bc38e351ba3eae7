/** What a sale delivers, as its buyer reads it. It is stored encrypted. spec/links 3.1 and 3.4. */
import type { Db } from '../../database/connection.ts'
import type { DeliveryKind } from '../../database/tables/links.ts'
import type { Secrets } from '../../platform/secrets.ts'

/** The encryption contexts of deliveries and codes. */
export const deliveryContext = (link_id: bigint) => `link_deliveries ${link_id}`
export const codeContext = (link_id: bigint) => `link_codes ${link_id}`

/** Encrypts a text or an address. */
export function encryptDelivery(secrets: Secrets, link_id: bigint, value: string): Buffer {
  return secrets.encrypt(deliveryContext(link_id), value)
}

/** The last version of a link's text or address. */
export async function lastDelivery(
  db: Db,
  secrets: Secrets,
  link_id: bigint,
): Promise<{ kind: 'text' | 'url'; value: string } | undefined> {
  const last = await db
    .selectFrom('link_deliveries')
    .where('link_id', '=', link_id)
    .orderBy('id', 'desc')
    .limit(1)
    .select(['kind', 'value_encrypted'])
    .executeTakeFirst()
  if (last === undefined) return undefined
  return { kind: last.kind, value: secrets.decrypt(deliveryContext(link_id), last.value_encrypted) }
}

export type Delivered = { kind: DeliveryKind; values: string[] }

/** What a paid order of a link has delivered: the text or the address of its version, or a code for each unit. */
export async function deliveryOf(db: Db, secrets: Secrets, order_id: bigint): Promise<Delivered | undefined> {
  const sale = await db
    .selectFrom('link_orders as sale')
    .innerJoin('links as link', 'link.id', 'sale.link_id')
    .leftJoin('link_deliveries as version', 'version.id', 'sale.delivery_id')
    .where('sale.order_id', '=', order_id)
    .where('sale.sold_total', 'is not', null)
    .select(['sale.link_id', 'link.delivery as kind', 'version.value_encrypted'])
    .executeTakeFirst()
  if (sale === undefined) return undefined
  const { link_id, kind, value_encrypted } = sale
  if (value_encrypted !== null)
    return { kind, values: [secrets.decrypt(deliveryContext(link_id), value_encrypted)] }
  const codes = await db
    .selectFrom('link_codes')
    .where('order_id', '=', order_id)
    .orderBy('unit')
    .select('value_encrypted')
    .execute()
  return { kind, values: codes.map((code) => secrets.decrypt(codeContext(link_id), code.value_encrypted)) }
}
