/** The uploaded logo of the site. spec/limits 1.3. */
import { createHash } from 'node:crypto'
import type { Db } from '../database/connection.ts'
import type { DatabaseTime } from './clock-check.ts'
import type { Settings } from './settings.ts'

/** Former logos stay this long, for the processes and pages that still name them. */
const FORMER_KEPT_MS = 24 * 3_600_000

type Upload = { picture: Buffer; actor_id: bigint; ip: string; now: Date }

/** The address of an uploaded logo. */
const addressOf = (name: string) => `/brand/logo.${name}.png`

/** The name of an uploaded logo by its address. Undefined for no logo, and for one at another address. */
export const uploadedLogo = (address: string) => /^\/brand\/logo\.([0-9a-f]{16})\.png$/.exec(address)?.[1]

/** Stores a picture that encodedAgain returned, and makes it the site's logo. */
export async function uploadLogo(
  { db, settings, databaseTime }: { db: Db; settings: Settings; databaseTime: DatabaseTime },
  { picture, actor_id, ip, now }: Upload,
): Promise<void> {
  const name = createHash('sha256').update(picture).digest('hex').slice(0, 16)
  await db
    .insertInto('site_logos')
    .values({ name, picture, created_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ created_at: now }))
    .execute()
  await settings.change({ name: 'site_logo', value: addressOf(name), actor_id, ip, now })
  await db
    .deleteFrom('site_logos')
    .where('name', '<>', name)
    .where('created_at', '<', new Date((await databaseTime()).getTime() - FORMER_KEPT_MS))
    .execute()
}

/** Returns an uploaded logo. */
export async function findLogo(db: Db, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom('site_logos').where('name', '=', name).select('picture').executeTakeFirst()
  return row?.picture
}
