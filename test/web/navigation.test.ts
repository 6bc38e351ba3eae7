/** Which place of the navigation a page belongs to. spec/pages 1.4. */
import { describe, expect, it } from 'vitest'
import { adminNav } from '../../src/admin/navigation/nav.ts'
import { currentLink, navGroupsOf } from '../../src/web/navigation.ts'
import { messages } from '../harness/messages.ts'

describe('the place of a page', () => {
  const links = navGroupsOf(messages.en, { is_admin: false, unread_alerts: 0 }).flatMap(
    (group) => group.links,
  )

  it.each([
    ['/', '/'],
    ['/account', '/account'],
    ['/account?kind=refund', '/account'],
    ['/account/mandates', '/account'],
    ['/account/mandates/mdt_1', '/account'],
    ['/account/payments', '/account/payments'],
    ['/account/sessions', '/account/profile'],
    ['/docs/merchant', '/docs'],
    ['/admin', undefined],
  ])('of %s is %s', (path, place) => {
    expect(currentLink(path, links)).toBe(place)
  })
})

describe('the bar of an administrator on a phone', () => {
  const queues = { reviews: 1, refundRequests: 0, proposals: 0, mandateRights: 0, linkReports: 2 }
  const site = {
    queues,
    hasMandates: true,
    isSetUp: true,
    hasApprovals: false,
    hasSearch: true,
    hasOwnSearch: false,
  }
  const barOf = (changes: Partial<typeof site>) =>
    adminNav(messages.en, { ...site, ...changes }).bar!.map(({ href, count = 0 }) => `${href} ${count}`)

  it('has the queues, and marks the overview for those that have no place in it', () => {
    expect(barOf({})).toEqual([
      '/admin 2',
      '/admin/reviews 1',
      '/admin/refund-requests 0',
      '/admin/members 0',
    ])
    expect(barOf({ hasApprovals: true }).at(-1)).toBe('/admin/proposals 0')
    const proposals = { ...queues, proposals: 3, linkReports: 0 }
    expect(barOf({ queues: proposals })[0]).toBe('/admin 3')
  })

  it('marks members on the page of a wallet, and reviews on that of an application', () => {
    const { groups } = adminNav(messages.en, site)
    const links = groups.flatMap((group) => group.links)
    expect(currentLink('/admin/wallets/7', links)).toBe('/admin/members')
    expect(currentLink('/admin/payment-applications/pay_x', links)).toBe('/admin/reviews')
  })

  it('leads to pages by labels of one line', () => {
    const labels = adminNav(messages.en, site).groups.flatMap(({ links }) => links.map(({ label }) => label))
    expect(labels.filter((label) => label.length > 22)).toEqual([])
  })

  it('has the first steps and the settings on a new site', () => {
    expect(barOf({ isSetUp: false })).toEqual([
      '/admin 0',
      '/admin/overview 3',
      '/admin/members 0',
      '/admin/settings 0',
    ])
  })
})
