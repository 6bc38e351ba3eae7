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
    with known as materialized (
      select name, name_skeleton(name) as skeleton, null::bigint as owner_id, null as href
      from unnest(${siteNames}::text[]) as name
      union
      select name, name_skeleton(name), applicant_id, '/admin/payment-applications/' || payment_id
      from payment_apps where status = 'approved' and book = 'live'
    )
    select link.id as link_id, found.name, found.href, (select username from users where id = found.owner_id) as username
    from (select id, owner_id, name_skeleton(title) as skeleton from unnest(${columns}) as asked (id, title, owner_id)) as link
    cross join lateral (
      select known.name, known.href, known.owner_id from known
      where octet_length(known.skeleton) >= ${NAME_BYTES_MIN} and position(known.skeleton in link.skeleton) > 0
        and known.owner_id is distinct from link.owner_id
      order by known.href nulls first limit ${NAMES_MAX}
    ) as found`.execute(db)
  return Map.groupBy(rows, ({ link_id }) => link_id)
}
