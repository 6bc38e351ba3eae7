/** The shop behind a mandate, as its member sees it. */
import type { Db } from '../../database/connection.ts'

/** Reads what pages show of applications, and where they lead back to. */
export async function shopsById(db: Db, app_ids: bigint[]): Promise<Map<bigint, Shop>> {
  if (app_ids.length === 0) return new Map()
  const shops = await db
    .selectFrom('payment_apps as app')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('app.id', 'in', app_ids)
    .select(['app.id', 'app.name', 'app.logo_url', 'app.homepage', 'app.callback_url'])
    .select(['owner.username as owner', 'owner.trust_level as owner_level'])
    .execute()
  return new Map(
    shops.map(({ id, homepage, ...shop }) => [
      id,
      { ...shop, exit: homepage ?? new URL(shop.callback_url).origin },
    ]),
  )
}

/** Reads the shop of one application. */
export async function findShop(db: Db, app_id: bigint): Promise<Shop> {
  return (await shopsById(db, [app_id])).get(app_id)!
}

export type Shop = {
  name: string
  logo_url: string | null
  callback_url: string
  /** The owner's name and trust level. */
  owner: string
  owner_level: number
  /** The unsigned link to the shop. */
  exit: string
}
