/** Finds links whose titles hold a name that is not their owner's, for staff. spec/links 5.3. */
import { sql } from 'kysely'
import { columnsOf } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'

/** Names of a title. */
const NAMES_MAX = 3
/** Of a skeleton. Shorter names, such as three letters, are part of too many words. */
const NAME_BYTES_MIN = 4

/** A name in a title: of the site, without a path, or of an application. */
export type NameInTitle = { name: string; href: string | null; username: string | null }

/**
 * Finds the names of the site and of other owners' approved applications in these titles, as they look alike (SQL function
 * name_skeleton). The result is by the id of the link.
 */
export async function namesInTitles(
  db: Db,
  links: readonly { id: bigint; title: string; owner_id: bigint }[],
  siteNames: readonly string[],
): Promise<Map<bigint, NameInTitle[]>> {
  const columns = columnsOf([...links], { id: 'bigint', title: 'text', owner_id: 'bigint' })
  const { rows } = await sql<NameInTitle & { link_id: bigint }>`
    select link.id as link_id, found.name, found.href, found.username
    from (select id, owner_id, name_skeleton(title) as skeleton from unnest(${columns}) as asked (id, title, owner_id)) as link
    cross join lateral (
      (select distinct name, null as href, null as username from unnest(${siteNames}::text[]) as name
        where octet_length(name_skeleton(name)) >= ${NAME_BYTES_MIN} and position(name_skeleton(name) in link.skeleton) > 0)
      union all
      (select app.name, '/admin/payment-applications/' || app.payment_id, owner.username
        from (
          select distinct skeleton
          from generate_series(1, length(link.skeleton)) as place
          cross join lateral names_beginning(substr(link.skeleton, place), ${NAME_BYTES_MIN}) as skeleton
        ) as part
        cross join lateral (
          select name, payment_id, applicant_id from payment_apps
          where name_skeleton = part.skeleton and status = 'approved' and book = 'live' and applicant_id <> link.owner_id
          limit ${NAMES_MAX}
        ) as app
        join users as owner on owner.id = app.applicant_id)
      limit ${NAMES_MAX}
    ) as found`.execute(db)
  return Map.groupBy(rows, ({ link_id }) => link_id)
}
