// This room: the front page of visitors, a member’s home, and the launch page.
// Verbs: homePages, launchPage, appsFor, homeTiles, ordersToPay.
// Clauses: spec/registry 3.3.
/**
 * The shops and applications that a member owns or uses, and those that the site offers, for the home page and the launch page.
 * One statement reads them all, and looks at a bounded number of rows by indexes, however much the member has done. spec/registry 3.3.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import { containing, rowsOfOne } from '../database/paging.ts'
import { type GroupRules, type MemberStatus, refusalOf } from '../identity/apps/access.ts'

/** The paid orders, the authorised applications and the offers of each kind that are looked at. */
const LOOKED_AT_MAX = 200
/** The tiles of the home page, and the shops that are looked at for them: a linked one may be used already. */
const TILES_MAX = 9
const TILE_SHOPS_MAX = 18
const OFFERED_TILES_MIN = 3
/** The letters of a description on a card. */
const DESCRIPTION_LENGTH_MAX = 80
/** The applications of each kind that a member owns and that begin the member's own list, the newest ones. */
const OWNED_MAX = 4

/** An application or a shop. Linked ones are one shop. */
export type PlacedApp = {
  kind: 'shop' | 'app'
  name: string
  description: string
  logo_url: string | null
  /** Of an owned application the path of its own page. */
  homepage: string | null
  /** Null for a client that nobody registered. */
  owner_username: string | null
  /** Whether a shop was changed since its review. */
  is_changed: boolean
  /** What the member did there last, and when; the time is null for what the member owns or the site offers. */
  use: 'owned' | 'paid' | 'signed_in'
  used_at: Date | null
}

/** The cards of a section, and whether there are more than it shows. */
export type Cards = { apps: PlacedApp[]; isMore: boolean }

/** A row of the statement, with what decides whether it is shown. A shop has no group rules. */
type Candidate = PlacedApp & GroupRules & { id: string; reviewed_at: Date | null }

/** A member, or undefined for a visitor. */
type Reader = (MemberStatus & { id: bigint }) | undefined

/**
 * Returns what the member owns and uses, the last used first, and what the site offers beside it, the newest review first: live shops
 * that were approved, and applications that their owners list and the staff has reviewed, both with a homepage. Leaves out the
 * application of tips, applications whose group rules refuse the member now, unconfirmed and suspended ones, and all whose owner is suspended or
 * banned.
 * @param q only those whose name, description or owner contains it.
 */
export async function appsFor(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  user: Reader,
  { q = '', shops_max = LOOKED_AT_MAX }: { q?: string; shops_max?: number } = {},
): Promise<{ used: PlacedApp[]; offered: PlacedApp[] }> {
  const now = clock()
  const { rows } = await candidates({ user_id: user?.id ?? 0n, now, q, shops_max }).execute(db)
  const isAdmitted = (app: Candidate) =>
    user === undefined || app.use === 'owned' || refusalOf(user, app, now) === undefined
  const shown = new Set<string>()
  const isFirst = ({ id }: Candidate) => !shown.has(id) && Boolean(shown.add(id))
  const apps = rows.filter(isAdmitted).filter(isFirst)
  const isMine = ({ use, used_at }: Candidate) => use === 'owned' || used_at !== null
  const [used, offered] = [apps.filter(isMine), apps.filter((app) => !isMine(app))]
  return { used, offered }
}

/** Returns those of the home page, of a member or of a visitor. */
export async function homeTiles(deps: Pick<Core, 'db' | 'clock'>, user: Reader) {
  const { used, offered } = await appsFor(deps, user, { shops_max: TILE_SHOPS_MAX })
  const tiles = used.slice(0, TILES_MAX)
  return { used: tiles, offered: offered.slice(0, Math.max(OFFERED_TILES_MIN, TILES_MAX - tiles.length)) }
}

/** Returns the first `max` applications as cards, with the beginning of what each says about itself. */
export function cardsOf(apps: readonly PlacedApp[], max: number): Cards {
  const shown = apps.slice(0, max)
  return {
    apps: shown.map((app) => ({ ...app, description: shortened(app.description) })),
    isMore: shown.length < apps.length,
  }
}

function shortened(text: string): string {
  const letters = [...text]
  return letters.length > DESCRIPTION_LENGTH_MAX
    ? `${letters.slice(0, DESCRIPTION_LENGTH_MAX).join('').trimEnd()}…`
    : text
}

/** Linked applications have one homepage. */
const HOMEPAGE = 'coalesce(app.homepage, other.homepage)'

type Asked = { user_id: bigint; now: Date; q: string; shops_max: number }

/** The statement. No member has the number 0. Linked applications have one `id`. */
function candidates({ user_id, now, q, shops_max }: Asked) {
  const holds =
    q === ''
      ? sql``
      : sql` and concat_ws(' ', app.name, app.description, '@' || owner.username) ilike ${containing(q)}`
  const isShown = sql`not is_banned_or_suspended(owner.is_banned, owner.suspended_till, ${now}::timestamptz)${holds}`
  const shopAs = (
    use: string,
    homepage: string,
  ) => sql`'shop' as kind, ${sql.lit(use)} as use, coalesce('shop ' || link.oauth_app_id, 'shop without ' || app.id) as id, app.name, app.description,
      app.logo_url, ${sql.raw(homepage)} as homepage, owner.username as owner_username,
      app.unreviewed_change_at is not null as is_changed, '{}'::text[] as allow_groups, '{}'::text[] as deny_groups, app.reviewed_at`
  // Looked up one by one, because a join could read all members.
  const ownedBy = (id: string) => sql`lateral (
        select username, is_banned, suspended_till from users where id = ${sql.ref(id)} offset 0
      ) as owner on true`
  const shops = sql`payment_apps as app join ${ownedBy('app.applicant_id')}
      left join shop_links as link on link.payment_app_id = app.id
      left join oauth_apps as other on other.id = link.oauth_app_id`
  const signInAs = (
    use: string,
    homepage: string,
  ) => sql`case when other.status = 'approved' then 'shop' else 'app' end as kind, ${sql.lit(use)} as use,
      coalesce('shop ' || link.oauth_app_id, 'app ' || app.id) as id, app.name, app.description, app.logo_url,
      ${sql.raw(homepage)} as homepage, owner.username as owner_username,
      coalesce(other.unreviewed_change_at is not null, false) as is_changed, app.allow_groups, app.deny_groups, app.reviewed_at`
  const signIns = sql`oauth_apps as app left join ${ownedBy('app.owner_id')}
      left join shop_links as link on link.oauth_app_id = app.id
      left join payment_apps as other on other.id = link.payment_app_id`
  // The application of tips has nothing to open: its payers meet it on the pages of tips.
  const isShop = sql`app.book = 'live' and app.status = 'approved' and not app.is_tips`
  const shop = shopAs('paid', HOMEPAGE)
  const signIn = signInAs('signed_in', HOMEPAGE)
  return sql<Candidate>`
    with owned as (
      (select ${shopAs('owned', "'/payment/applications/' || app.payment_id")}, null::timestamptz as used_at from ${shops}
        where app.applicant_id = ${user_id} and ${isShop} and ${isShown}
        order by app.id desc limit ${OWNED_MAX})
      union all
      (select ${signInAs('owned', "'/apps/' || app.client_id")}, null from ${signIns}
        where app.owner_id = ${user_id} and app.suspended_at is null and app.confirmed_at is not null and ${isShown}
        order by app.id desc limit ${OWNED_MAX})
    ),
    paid as materialized (
      select app_id, paid_at from orders where ${rowsOfOne('payer_id', 'id', user_id)} order by payer_id desc, id desc limit ${LOOKED_AT_MAX}
    ),
    allowed as materialized (
      select app_id, greatest(updated_at, (
          select created_at from grants
          where user_id = consents.user_id and app_id = consents.app_id order by id desc limit 1
        )) as at
      from consents where user_id = ${user_id} order by app_id desc limit ${LOOKED_AT_MAX}
    ),
    used as (
      select ${shop}, use.at as used_at
      from (select app_id, max(paid_at) as at from paid group by app_id) as use
      join (${shops}) on app.id = use.app_id
      where ${isShop} and ${isShown}
      union all
      select ${signIn}, allowed.at from allowed join (${signIns}) on app.id = allowed.app_id
      where app.suspended_at is null and app.confirmed_at is not null and ${isShown}
    ),
    offered as (
      (select ${shop}, null::timestamptz as used_at from ${shops}
        where ${isShop} and coalesce(app.homepage, other.homepage) is not null and ${isShown}
        order by app.reviewed_at desc limit ${shops_max})
      union all
      (select ${signIn}, null from ${signIns}
        where app.reviewed_at is not null and app.suspended_at is null and app.homepage is not null and app.is_listed
          and app.confirmed_at is not null and ${isShown}
        order by app.reviewed_at desc limit ${LOOKED_AT_MAX})
    )
    select * from (select * from owned union all select * from used union all select * from offered) as app
    order by use = 'owned' desc, used_at desc nulls last, kind desc, reviewed_at desc`
}
