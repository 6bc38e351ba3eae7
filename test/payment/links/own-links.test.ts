/** GET /payment/links: the links that a member can share, which the forum's composer opens. spec/links 4.4. */
import { expect, it } from 'vitest'
import { changeLink } from '../../../src/payment/links/acts.ts'
import { makePerson } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import { buyAt, makeLink, ownerOf } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'

const l = messages.en.teamLinks
const test = await useTestApp()
const PAGE = '/payment/links'

it('lists the links of all applications of a member, and none of others, drafts or ended ones', async () => {
  const merchant = await makeMerchant(test)
  const other = await makeMerchant(test)
  const test_app = await makeMerchant(test, { twinOf: merchant })
  const [shown, paused, ended, strange, play] = [
    await makeLink(test, merchant, { title: 'Lanterns <b>', stock: 5 }),
    await makeLink(test, merchant, { title: 'Paused' }),
    await makeLink(test, merchant, { title: 'Ended' }),
    await makeLink(test, other, { title: 'Of another shop' }),
    await makeLink(test, test_app, { title: 'Play' }),
  ]
  const change = (slug: string, change: 'pause' | 'end') =>
    changeLink(test.deps, merchant.payment_id, { slug, change }, ownerOf(merchant))
  await change(paused.slug, 'pause')
  await change(ended.slug, 'end')
  const owner = await merchant.owner.signIn()
  const { status, body } = await owner.get(PAGE)
  expect(status).toBe(200)
  for (const { slug } of [shown, paused])
    expect(body).toContain(`data-copy="${test.deps.config.PAYMENT_PUBLIC_URL}/l/${slug}"`)
  for (const { slug } of [ended, strange, play]) expect(body).not.toContain(slug)
  expect(body).toContain('Lanterns &lt;b&gt;')
  const alice = await makePerson(test, { points: 100n })
  await buyAt(test.deps, shown, alice)
  expect(textOf((await owner.get(PAGE)).body)).toMatch(
    /Lanterns <b> On sale · 10 points 1 sold · 4 left · 10 in 30 days/,
  )
  expect(body).toContain(`/payment/applications/${merchant.payment_id}/links/new`)

  // A viewer shares links and makes none.
  const viewer = await (await joinTeam(test, merchant, 'viewer')).signIn()
  const seen = (await viewer.get(PAGE)).body
  expect([seen.includes(shown.slug), seen.includes('/links/new')]).toEqual([true, false])
  expect(textOf((await owner.get('/payment/applications')).body)).toContain(l.own.title)
})

it('leads a member without an application to one, and a visitor to the sign-in', async () => {
  const client = await (await makePerson(test)).signIn()
  expect(textOf((await client.get(PAGE)).body)).toContain(l.own.noApp)
  const answer = await test.app.inject({ url: PAGE })
  expect([answer.statusCode, answer.headers.location]).toEqual([
    303,
    `/sign-in?return_to=${encodeURIComponent(PAGE)}`,
  ])
})
