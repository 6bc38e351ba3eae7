/** The links of the navigation, and which of them a page belongs to. spec/pages 1.4. */
import type { Messages } from './languages.ts'
import type { AreaLink, AreaNav } from './views.ts'

type Reader = { is_admin: boolean; unread_alerts: number }

/** Returns the links of a member, or of a visitor. */
export function navGroupsOf({ common }: Messages, reader: Reader | undefined): AreaNav['groups'] {
  const building: AreaLink[] = [
    {
      href: '/payment/applications',
      label: common.payments,
      icon: 'shop',
      covers: ['/payment/applications', '/payment/links'],
    },
    { href: '/apps', label: common.applications, icon: 'code' },
    { href: '/docs', label: common.docs, icon: 'book' },
  ]
  if (reader === undefined) return [{ links: building }]
  const own: AreaLink[] = [
    { href: '/', label: common.home, icon: 'home', isAlone: true },
    {
      href: '/account',
      label: common.wallet,
      icon: 'wallet',
      covers: ['/account/mandates', '/account/statement'],
    },
    { href: '/account/payments', label: common.myPayments, short: common.paymentsShort, icon: 'receipt' },
    { href: '/launch', label: common.allApps, short: common.appsShort, icon: 'apps' },
    { href: '/account/applications', label: common.authorisedApps, icon: 'shield' },
    { href: '/account/alerts', label: common.alerts, icon: 'bell', count: reader.unread_alerts },
    { href: '/account/profile', label: common.profile, icon: 'user', covers: ['/account'] },
  ]
  const groups: AreaNav['groups'] = [{ links: own }, { title: common.building, links: building }]
  if (!reader.is_admin) return groups
  return [
    ...groups,
    { title: common.site, links: [{ href: '/admin', label: common.administration, icon: 'sliders' }] },
  ]
}

/** Returns the address of the link that a page belongs to: of several, the longest one. */
export function currentLink(path: string, links: readonly AreaLink[]): string | undefined {
  const pathname = path.split('?')[0]!
  return links
    .flatMap(({ href, covers = [href], isAlone = false }) => covers.map((over) => ({ href, over, isAlone })))
    .filter(
      ({ href, over, isAlone }) => pathname === href || (!isAlone && `${pathname}/`.startsWith(`${over}/`)),
    )
    .sort(
      (a, b) => Number(b.href === pathname) - Number(a.href === pathname) || b.over.length - a.over.length,
    )[0]?.href
}

const HUES = 4

/** Returns the class of the colour behind an initial. A name always has the same. */
export function hueOf(name: string): string {
  const sum = [...name].reduce((total, letter) => (total * 31 + letter.codePointAt(0)!) % 65_521, 7)
  return `hue-${(sum % HUES) + 1}`
}
