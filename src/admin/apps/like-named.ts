/** Finds applications whose names look alike, for reviewers. spec/registry 4.3. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** At most this many of each kind for each name. */
const LIKE_NAMED_MAX = 10

/** `id` is the Payment ID or the client_id. `href` is the administrators' page of the application. */
export type LikeNamed = {
  id: string
  name: string
  username: string
  kind: 'oauthApp' | 'paymentApp'
  href: string
}

/**
 * Finds the live applications of both kinds whose name looks like one of these (SQL function name_skeleton). The result
 * is by the given name, and includes the application that has that name.
 */
export async function likeNamed(db: Db, names: readonly string[]): Promise<Map<string, LikeNamed[]>> {
  const { rows } = await sql<LikeNamed & { asked: string }>`
    select asked.name as asked, found.*
    from (select distinct unnest(${names}::text[]) as name) as asked
    cross join lateral (
      (select 'paymentApp' as kind, app.payment_id as id, app.name, owner.username,
          '/admin/payment-applications/' || app.payment_id as href
        from payment_apps as app join users as owner on owner.id = app.applicant_id
        where name_skeleton(app.name) = name_skeleton(asked.name) and app.book = 'live'
        order by app.id limit ${LIKE_NAMED_MAX})
      union all
      (select 'oauthApp', app.client_id, app.name, owner.username, '/admin/apps/' || app.client_id
        from oauth_apps as app join users as owner on owner.id = app.owner_id
        where name_skeleton(app.name) = name_skeleton(asked.name)
        order by app.id limit ${LIKE_NAMED_MAX})
    ) as found`.execute(db)
  return Map.groupBy(rows, ({ asked }) => asked)
}
