/** Which place of the navigation a page belongs to. spec/pages 1.4. */
import { describe, expect, it } from 'vitest'
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
