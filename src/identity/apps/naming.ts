/** Which applications name a group in their rules. Rules name groups by text, so a deleted group stays in them. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** More applications are not listed. */
export const NAMING_APPS_MAX = 50

export type NamingApp = { client_id: string; name: string; allows: boolean; denies: boolean }

/** Returns the applications whose rules name the group, by name. One row more than NAMING_APPS_MAX tells that there are more. */
export async function appsNaming(db: Db, group: string): Promise<NamingApp[]> {
  const { rows } = await sql<NamingApp>`
    select * from (
      select client_id, name,
        lower(${group}) in (select lower(named) from unnest(allow_groups) as named) as allows,
        lower(${group}) in (select lower(named) from unnest(deny_groups) as named) as denies
      from oauth_apps where cardinality(allow_groups) + cardinality(deny_groups) > 0
    ) as app
    where allows or denies order by lower(name), client_id limit ${NAMING_APPS_MAX + 1}`.execute(db)
  return rows
}
