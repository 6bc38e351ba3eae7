/** The navigation of one payment application: the places that the member may open, and what needs somebody. */
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { AreaLink, AreaNav } from '../../web/views.ts'
import { APPLICATIONS } from '../rights/owned.ts'
import type { Permitted, Right } from '../rights/rights.ts'
import { type Trouble, troubleOf } from './trouble.ts'

/** The navigation, and the failures that it counts. */
export type Area = { nav: AreaNav; trouble: Trouble | undefined }

type Shown = Pick<Permitted, 'id' | 'payment_id' | 'pid' | 'name' | 'logo_url' | 'book' | 'rights'>

/** Makes the navigation for every page of the application. */
export async function areaOf(
  { db, settings }: Core,
  { locale }: FastifyRequest,
  owned: Shown,
): Promise<Area> {
  const trouble = await troubleOf(db, owned.id)
  const hasMandates = settings.latest().mandates === 'on'
  return { nav: navOf(owned, locale.t, { failing: trouble?.failing ?? 0, hasMandates }), trouble }
}

/** Makes the navigation of a page that needs nothing else of the area. */
export async function navFor(deps: Core, request: FastifyRequest, owned: Shown): Promise<AreaNav> {
  return (await areaOf(deps, request, owned)).nav
}

function navOf(
  owned: Shown,
  t: FastifyRequest['locale']['t'],
  { failing, hasMandates }: { failing: number; hasMandates: boolean },
): AreaNav {
  const base = `${APPLICATIONS}/${owned.payment_id}`
  const { shop, merchantTabs: tabs } = t
  const may = (right: Right) => owned.rights.includes(right)
  const developers: AreaLink[] = [{ href: `${base}/developers`, label: shop.keys, icon: 'key' }]
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
      note: `pid ${owned.pid} · ${owned.book === 'test' ? shop.test : shop.live}`,
      href: APPLICATIONS,
    },
    groups: [
      {
        links: [
          { href: base, label: shop.overview, icon: 'chart', isAlone: true },
          { href: `${base}/orders`, label: tabs.orders, icon: 'receipt' },
          {
            href: `${base}/notifications`,
            label: tabs.notifications,
            icon: 'bell',
            ...(failing > 0 && { count: failing }),
          },
          { href: `${base}/transfers`, label: tabs.transfers, icon: 'swap' },
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
