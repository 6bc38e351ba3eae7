/** Settings that the demo turns on. */
import type { SettingName } from '../core/setting-values.ts'
import type { Db } from '../database/connection.ts'

/** Turns settings on. It keeps settings that an administrator has changed. */
export async function turnOn(db: Db, names: SettingName[]): Promise<void> {
  await db
    .insertInto('site_settings')
    .values(names.map((name) => ({ name, value: 'on' })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
