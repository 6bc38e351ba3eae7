/**
 * The navigation of one payment application: the pages that the member may open, and how many things wait on each:
 * notifications that its shop has not confirmed.
 */
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { AttemptOutcome, NotificationKind } from '../../database/tables/notifications.ts'
import type { StepTimes } from '../../egress/request.ts'
import type { AreaLink, AreaNav } from '../../web/views.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import type { Permitted, Right } from '../rights/rights.ts'

/** The navigation, and the failures that it counts. */
export type Area = { nav: AreaNav; trouble: Trouble | undefined }

type Shown = Pick<Permitted, 'id' | 'payment_id' | 'pid' | 'name' | 'logo_url' | 'book' | 'rights'>

/** Makes the navigation for every page of the application. */
export async function areaOf({ db, settings }: Core, request: FastifyRequest, owned: Shown): Promise<Area> {
  const { locale } = request
  const [trouble, others] = await Promise.all([
    troubleOf(db, owned.id),
    otherAppsOf(db, sessionOf(request).user.id, owned.id),
  ])
  const { mandates, links, payouts } = settings.latest()
  const shown = {
    failing: trouble?.failing ?? 0,
    others,
    ...{ hasMandates: mandates === 'on', hasLinks: links === 'on', hasPayouts: payouts === 'on' },
  }
  return { nav: navOf(owned, locale.t, shown), trouble }
}

type Named = Pick<Shown, 'payment_id' | 'pid' | 'name' | 'logo_url' | 'book'>

/** Applications that the switcher names. The list of a member's applications has all. */
const OTHERS_MAX = 5

/** The newest other applications of a member, own ones and those of a team. */
async function otherAppsOf(db: Db, user_id: bigint, app_id: bigint): Promise<Named[]> {
  const { rows } = await sql<Named>`
    select app.payment_id, app.pid, app.name, app.logo_url, app.book
    from (
      (select id from payment_apps where applicant_id = ${user_id} order by applicant_id desc, id desc limit ${OTHERS_MAX + 1})
      union all
      (select app_id from payment_app_members where user_id = ${user_id} and accepted_at is not null
        order by user_id desc, app_id desc limit ${OTHERS_MAX + 1})
    ) as mine
    join payment_apps as app on app.id = mine.id
    where app.id <> ${app_id}
    order by app.id desc limit ${OTHERS_MAX}`.execute(db)
  return rows
}

/** Makes the navigation of a page that needs nothing else of the area. */
export async function navFor(deps: Core, request: FastifyRequest, owned: Shown): Promise<AreaNav> {
  return (await areaOf(deps, request, owned)).nav
}

function navOf(
  owned: Shown,
  t: FastifyRequest['locale']['t'],
  {
    failing,
    others,
    hasMandates,
    hasLinks,
    hasPayouts,
  }: { failing: number; others: Named[]; hasMandates: boolean; hasLinks: boolean; hasPayouts: boolean },
): AreaNav {
  const base = `${APPLICATIONS}/${owned.payment_id}`
  const { shop, merchantTabs: tabs } = t
  const may = (right: Right) => owned.rights.includes(right)
  const noteOf = ({ book, pid }: Pick<Named, 'book' | 'pid'>) =>
    `${book === 'test' ? shop.test : `${shop.live} ·`} pid\u00A0${pid}`
  const developers: AreaLink[] = [{ href: `${base}/developers`, label: shop.keys, icon: 'key' }]
  if (may('keys.manage'))
    developers.push({ href: `${base}/access-keys`, label: t.accessKeys.title, icon: 'shield' })
  if (may('settings.edit')) developers.push({ href: `${base}/events`, label: tabs.events, icon: 'external' })
  if (may('signatures.debug'))
    developers.push({ href: `${base}/signatures`, label: tabs.signatures, icon: 'code' })
  if (may('addresses.try'))
    developers.push({ href: `${base}/addresses`, label: tabs.addresses, icon: 'globe' })
  return {
    label: shop.label(owned.name),
    back: { href: APPLICATIONS, label: shop.back },
    app: {
      name: owned.name,
      logo_url: owned.logo_url,
      note: noteOf(owned),
      href: APPLICATIONS,
      others: others.map((other) => ({
        ...{ name: other.name, logo_url: other.logo_url, note: noteOf(other) },
        href: `${APPLICATIONS}/${other.payment_id}`,
      })),
    },
    groups: [
      {
        links: [
          { href: base, label: shop.overview, icon: 'chart', isAlone: true },
          { href: `${base}/orders`, label: tabs.orders, icon: 'receipt' },
          ...(hasLinks ? [{ href: `${base}/links`, label: tabs.links, icon: 'link' as const }] : []),
          {
            href: `${base}/notifications`,
            label: tabs.notifications,
            icon: 'bell',
            ...(failing > 0 && { count: failing }),
          },
          { href: `${base}/transfers`, label: tabs.transfers, icon: 'swap' },
          ...(hasPayouts ? [{ href: `${base}/payouts`, label: tabs.payouts, icon: 'gift' as const }] : []),
          ...(hasMandates
            ? [{ href: `${base}/mandates`, label: tabs.mandates, icon: 'refresh' as const }]
            : []),
          { href: `${base}/statistics`, label: tabs.statistics, icon: 'scale' },
        ],
      },
      { title: shop.developers, links: developers },
      {
        links: [
          { href: `${base}/team`, label: shop.team, icon: 'users' },
          { href: `${base}/settings`, label: shop.settings, icon: 'sliders' },
        ],
      },
    ],
  }
}

/** The newest notifications that are looked at, so that every page costs the same. */
const LOOKED_THROUGH_MAX = 500

export type Trouble = {
  /** The notifications that failed at least once and are not confirmed; those among them that get no further attempt. */
  failing: number
  given_up: number
  /** The latest failure, and the first one of its host. */
  host: string
  outcome: AttemptOutcome
  detail: string | null
  response_status: number | null
  is_tls: boolean
  step_ms: StepTimes | null
  since: Date
  /** The notification that failed last. Any 2xx status confirms it, unless it is of the gateway. */
  id: bigint
  kind: NotificationKind
}

/** Reads what is wrong with an application's notifications. Undefined if nothing is. */
async function troubleOf(db: Db, app_id: bigint): Promise<Trouble | undefined> {
  const { rows } = await sql<Trouble>`
    select (count(*) over ())::integer as failing, (count(*) filter (where status = 'failed') over ())::integer as given_up,
      host, outcome, detail, response_status, is_tls, step_ms, min(first_at) over (partition by host) as since, id, kind
    from (
      select recent.id, recent.host, recent.kind, recent.status, latest.outcome, latest.detail, latest.response_status, latest.started_at, latest.step_ms,
        coalesce(latest.url like 'https:%', false) as is_tls,
        (select min(started_at) from notification_attempts where notification_id = recent.id) as first_at
      from (
        select n.id, n.host, n.kind, n.status, n.attempts from notifications as n
        where ${rowsOfApp('n', app_id)} order by n.app_id desc, n.id desc limit ${LOOKED_THROUGH_MAX}
      ) as recent
      cross join lateral (
        select outcome, detail, response_status, url, started_at, step_ms from notification_attempts
        where notification_id = recent.id order by claim desc limit 1
      ) as latest
      where (recent.status = 'failed' or (recent.status = 'due' and recent.attempts > 0))
        and latest.outcome not in ('delivered', 'withdrawn')
        and (recent.kind = 'gateway' or exists (select from payment_apps where id = ${app_id} and events_url is not null))
    ) as failed
    order by started_at desc limit 1`.execute(db)
  return rows[0]
}
