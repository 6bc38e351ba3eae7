/** Reports of a link by members, and what its closed page still shows. spec/links 5.1 and 2.5. */
import { expect, it } from 'vitest'
import { changeLink, createLink, stopLink } from '../../../src/payment/links/acts.ts'
import { setPicture } from '../../../src/payment/links/pictures.ts'
import { reportLink } from '../../../src/payment/links/reports.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { makePerson } from '../../harness/cast.ts'
import { browser, setSetting, useTestApp } from '../../harness/harness.ts'
import { details, IP, makeLink, ownerOf } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowsOf } from '../../harness/rows.ts'
import { picture } from '../../harness/uploads.ts'

const { paymentLinks: l } = messages.en
const test = await useTestApp()
const { deps } = test
const merchant = await makeMerchant(test)
const owner = ownerOf(merchant)
const alice = await makePerson(test)
const staff = await makePerson(test, { is_admin: true })
const visitor = browser(test)
const client = await alice.signIn()
const TEXT = 'The picture is of another shop.'

const reportsOf = async ({ slug }: { slug: string }) => {
  const [link] = await rowsOf(test, 'links', { slug })
  return rowsOf(test, 'link_reports', { link_id: link!.id })
}
const alertsOf = async () =>
  (await rowsOf(test, 'alerts', { app_id: merchant.id })).filter(({ kind }) => kind === 'link_reported')

it('a member reports a link at its page once, and its team gets one alert a day without the text', async () => {
  const manager = await joinTeam(test, merchant, 'manager')
  await joinTeam(test, merchant, 'operator')
  const link = await makeLink(test, merchant)
  const path = `/l/${link.slug}`
  const asked = await visitor.get(`${path}?report=1`)
  expect([asked.status, asked.location]).toEqual([303, expect.stringContaining('/sign-in')])
  const form = await client.get(`${path}?report=1`)
  expect(form.body).toMatch(/<details class="small" open>/)
  expect((await client.submit(form, `${path}/report`, { report: ` ${TEXT}\r\nLook <b>. ` })).status).toBe(303)
  expect(await reportsOf(link)).toMatchObject([
    { user_id: alice.id, text: `${TEXT}\nLook <b>.`, settled_at: null },
  ])
  const after = await client.get(path)
  expect(textOf(after.body)).toContain(l.report.done)
  expect(after.body).not.toContain(`${path}/report`)
  // The form of an old page is sent again.
  expect((await client.submit(form, `${path}/report`, { report: 'Another text of it' })).status).toBe(303)
  expect(await reportsOf(link)).toHaveLength(1)
  const report = async () =>
    reportLink(deps, { slug: link.slug, user_id: (await makePerson(test)).id, text: TEXT })
  await report()
  const alerts = await alertsOf()
  expect(alerts.map(({ user_id }) => user_id).toSorted()).toEqual([merchant.owner.id, manager.id].toSorted())
  expect(JSON.stringify(alerts.map(({ facts }) => facts))).not.toContain('another shop')
  test.clock.advance(86_400_000)
  await report()
  expect(await alertsOf()).toHaveLength(4)
})

it.each(['short tex', 'x'.repeat(501), '         ', `hidden \u202e direction of it`])(
  'a report of %j is refused at its page',
  async (report) => {
    const link = await makeLink(test, merchant)
    const fresh = await alice.signIn()
    const path = `/l/${link.slug}`
    const refused = await fresh.submit(await fresh.get(path), `${path}/report`, { report })
    expect(refused.status).toBe(400)
    expect(textOf(refused.body)).toContain(l.report.wrong)
    expect(refused.body).toContain('<h1>')
    expect(await reportsOf(link)).toEqual([])
  },
)

it('the database keeps one report a member and link, of 10 to 500 characters', async () => {
  const link = await makeLink(test, merchant)
  await reportLink(deps, { slug: link.slug, user_id: alice.id, text: TEXT })
  const { link_id, user_id } = (await reportsOf(link))[0]!
  const add = (text: string, member: bigint) =>
    test.db.insertInto('link_reports').values({ link_id, user_id: member, text }).execute()
  await expect(add(TEXT, user_id)).rejects.toThrow('link_reports_once')
  await expect(add('short tex', staff.id)).rejects.toThrow('link_reports_text')
  await expect(add('x'.repeat(501), staff.id)).rejects.toThrow('link_reports_text')
})

it('a draft is not found, and a closed link takes no report', async () => {
  const draft = await createLink(deps, merchant.payment_id, details(), owner)
  const ended = await makeLink(test, merchant)
  await changeLink(deps, merchant.payment_id, { slug: ended.slug, change: 'end' }, owner)
  const report = (slug: string) => reportLink(deps, { slug, user_id: staff.id, text: TEXT })
  await expect(report(draft)).rejects.toMatchObject({ code: 'not_found' })
  await expect(report('unknown000')).rejects.toMatchObject({ code: 'not_found' })
  await expect(report(ended.slug)).rejects.toMatchObject({ code: 'conflict' })
})

it('a member sends limit_link_reports an hour', async () => {
  await setSetting(test, 'limit_link_reports', '1')
  const member = await makePerson(test)
  const [first, second] = [await makeLink(test, merchant), await makeLink(test, merchant)]
  await reportLink(deps, { slug: first.slug, user_id: member.id, text: TEXT })
  const again = reportLink(deps, { slug: second.slug, user_id: member.id, text: TEXT })
  await expect(again).rejects.toMatchObject({ code: 'too_many_attempts' })
  expect(await reportsOf(second)).toEqual([])
  await setSetting(test, 'limit_link_reports', '10')
})

it('the team is not asked for reports of its own link', async () => {
  const { slug } = await makeLink(test, merchant)
  expect((await (await merchant.owner.signIn()).get(`/l/${slug}`)).body).not.toContain(l.report.title)
  expect((await visitor.get(`/l/${slug}`)).body).toContain(`/l/${slug}?report=1`)
})

it('the reports of a member go with the account', async () => {
  const leaving = await makePerson(test)
  const link = await makeLink(test, merchant)
  await reportLink(deps, { slug: link.slug, user_id: leaving.id, text: TEXT })
  const act = { user_id: leaving.id, actor_id: staff.id, reason: 'asked', ip: IP, give_up: 0n }
  await anonymise(deps, act)
  expect(await reportsOf(link)).toEqual([])
})

it('the page of a stopped link shows its title and its shop alone', async () => {
  const link = await makeLink(test, merchant, {
    title: 'Kites',
    description: 'Borrowed words',
    amount: 4_321n,
  })
  await setPicture(deps, merchant.payment_id, { slug: link.slug, picture: picture(48, 48) }, owner)
  const path = `/l/${link.slug}`
  const open = await visitor.get(path)
  const [address] = /\/l\/[a-z0-9]{10}\/[0-9a-f]{32}\.png/.exec(open.body)!
  for (const part of ['Borrowed words', '4,321', 'og:title']) expect(open.body).toContain(part)
  await stopLink(deps, { slug: link.slug, reason: 'x' }, { user_id: staff.id, ip: IP })
  const closed = await visitor.get(path)
  expect(closed.status).toBe(200)
  for (const part of ['Borrowed words', '4,321', 'og:title', address!])
    expect([part, closed.body.includes(part)]).toEqual([part, false])
  for (const part of ['Kites', `Shop of ${merchant.owner.username}`]) expect(closed.body).toContain(part)
  expect((await visitor.get(address!)).status).toBe(404)
  expect((await (await merchant.owner.signIn()).get(address!)).status).toBe(200)
})
