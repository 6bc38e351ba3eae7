/** Finds applications whose names look alike, for reviewers. spec/registry 4.3. */
import { sql } from 'kysely'
import { columnsOf } from '../../database/batcher.ts'
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

/** An application under review, by its client_id or Payment ID. A client that nobody registered has no owner. */
type Asked = { id: string; name: string; owner_id: bigint | null }

/**
 * Finds the live applications of both kinds and of other owners whose name looks like that of one of these (SQL function
 * name_skeleton). The result is by the id of the given application.
 */
export async function likeNamed(db: Db, apps: readonly Asked[]): Promise<Map<string, LikeNamed[]>> {
  const columns = columnsOf([...apps], { id: 'text', name: 'text', owner_id: 'bigint' })
  const { rows } = await sql<LikeNamed & { asked: string }>`
    select asked.id as asked, found.*
    from unnest(${columns}) as asked (id, name, owner_id)
    cross join lateral (
      (select 'paymentApp' as kind, app.payment_id as id, app.name, owner.username,
          '/admin/payment-applications/' || app.payment_id as href
        from payment_apps as app join users as owner on owner.id = app.applicant_id
        where app.name_skeleton = name_skeleton(asked.name) and app.book = 'live'
          and app.applicant_id is distinct from asked.owner_id
        order by app.id limit ${LIKE_NAMED_MAX})
      union all
      (select 'oauthApp', app.client_id, app.name, owner.username, '/admin/apps/' || app.client_id
        from oauth_apps as app join users as owner on owner.id = app.owner_id
        where name_skeleton(app.name) = name_skeleton(asked.name) and app.owner_id is distinct from asked.owner_id
        order by app.id limit ${LIKE_NAMED_MAX})
    ) as found`.execute(db)
  return Map.groupBy(rows, ({ asked }) => asked)
}
