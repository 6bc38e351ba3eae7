/** The page of payment links for staff: what it finds, what members reported, and how a link is stopped. spec/links 1.2, 4.5, 5.2, 5.3. */
import { expect, it } from 'vitest'
import { createLink } from '../../src/payment/links/acts.ts'
import { reportLink } from '../../src/payment/links/reports.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { buyAt, details, makeLink, ownerOf } from '../harness/links.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const PAGE = '/admin/links'
const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { points: 1_000n })
const admin = await (await makePerson(test, { is_admin: true })).signIn()
const kites = await makeLink(test, merchant, { title: 'Kites <b> of paper' })
const lamps = await makeLink(test, await makeMerchant(test), { title: 'Lamps' })
await createLink(test.deps, merchant.payment_id, details({ title: 'Secret draft' }), ownerOf(merchant))

it('finds links by address, title, application and owner, and no draft', async () => {
  for (const q of [
    '',
    kites.slug,
    `https://x.example/l/${kites.slug}`,
    'of PAPER',
    merchant.payment_id,
    `@${merchant.owner.username}`,
  ]) {
    const { body } = await admin.get(`${PAGE}?${new URLSearchParams({ q })}`)
    expect([q, body.includes(kites.slug), body.includes('Secret draft')]).toEqual([q, true, false])
    expect([q, body.includes(lamps.slug)]).toEqual([q, q === ''])
    expect(body).not.toContain('<b> of')
  }
  expect((await admin.get(`${PAGE}?q=draft`)).body).not.toContain('Secret')
})

it('stops a link with a reason that its team reads, and allows it again as paused', async () => {
  const send = async (act: string, fields: Record<string, string> = {}) =>
    admin.post(`${PAGE}/${kites.slug}/${act}`, { ...(await admin.get(PAGE)).form('/language'), ...fields })
  expect((await send('stop', { reason: ' ' })).status).toBe(400)
  expect((await send('allow')).status).toBe(409)
  expect((await send('stop', { reason: 'Copied <art>' })).status).toBe(303)
  expect((await buyAt(test.deps, kites, buyer)).outcome).toBe('not_on_sale')
  const team = await merchant.owner.signIn()
  const address = `/payment/applications/${merchant.payment_id}/links/${kites.slug}`
  const shown = await team.get(address)
  expect(textOf(shown.body)).toContain('Copied <art>')
  // The team cannot undo it.
  expect((await team.post(`${address}/resume`, shown.form('/language'))).status).toBe(409)
  expect(await rowOf(test, 'links', { slug: kites.slug })).toMatchObject({ state: 'stopped' })
  const [first] = /class="badge[^>]*>([^<]+)</.exec((await admin.get(PAGE)).body)!.slice(1)
  expect(first).toBe(messages.en.teamLinks.states.stopped)
  expect((await send('allow')).status).toBe(303)
  expect(await rowOf(test, 'links', { slug: kites.slug })).toMatchObject({
    state: 'paused',
    stopped_reason: null,
  })
})

it('asks for a recent sign-in', async () => {
  const form = (await admin.get(PAGE)).form('/language')
  test.clock.advance(11 * 60_000)
  const asked = await admin.post(`${PAGE}/${lamps.slug}/stop`, { ...form, reason: 'x' })
  expect([asked.status, asked.body.includes('/sign-in?return_to=')]).toEqual([409, true])
  expect(await rowOf(test, 'links', { slug: lamps.slug })).toMatchObject({ state: 'on_sale' })
})

it('lists reported links first, and dismisses the reports that were shown', async () => {
  const fresh = await (await makePerson(test, { is_admin: true })).signIn()
  const report = async (text: string) =>
    reportLink(test.deps, { slug: kites.slug, user_id: (await makePerson(test)).id, text })
  const open = async () => {
    const { id: link_id } = await rowOf(test, 'links', { slug: kites.slug })
    return (await rowsOf(test, 'link_reports', { link_id, settled_at: null })).length
  }
  const firstSlug = (body: string) => /<code>([a-z0-9]{10})</.exec(body)![1]
  const { c } = { c: messages.en.console.linkReview }
  expect(firstSlug((await fresh.get(PAGE)).body)).toBe(lamps.slug)
  for (let n = 1; n <= 6; n += 1) await report(`The picture is of number ${n} <b>`)
  const page = await fresh.get(PAGE)
  expect(firstSlug(page.body)).toBe(kites.slug)
  const shown = textOf(page.body)
  // Beside the act that clears the link stands the one that stops it.
  const acts = /class="inset stack".*?<\/details>/s.exec(page.body)?.[0]
  for (const act of ['dismiss', 'stop']) expect(acts).toContain(`action="${PAGE}/${kites.slug}/${act}`)
  for (const part of [c.reports(6, false), 'of number 6 <b>', 'of number 2 <b>', c.more(1, false)])
    expect(shown).toContain(part)
  expect(shown).not.toContain('of number 1 <b>')
  // A chip shows the reported ones alone.
  const { body: reported } = await fresh.get(`${PAGE}?show=reported`)
  expect([...reported.matchAll(/<code>([a-z0-9]{10})</g)].map(([, slug]) => slug)).toEqual([kites.slug])
  expect(page.body).toMatch(/href="\/admin\/links"[^>]*>.*6</)
  // A report that comes after the look stays open.
  await report('The seventh is another matter')
  expect((await fresh.submit(page, `${PAGE}/${kites.slug}/dismiss`)).status).toBe(303)
  expect(await open()).toBe(1)
  const left = textOf((await fresh.get(PAGE)).body)
  expect(left).toContain('The seventh is another matter')
  expect(left).not.toContain('of number 6')
  const sent = { ...page.form(`${PAGE}/${kites.slug}/dismiss`), last_id: 'x' }
  expect((await fresh.post(`${PAGE}/${kites.slug}/dismiss`, sent)).status).toBe(400)
  const stop = { ...page.form('/language'), reason: 'Copied' }
  expect((await fresh.post(`${PAGE}/${kites.slug}/stop`, stop)).status).toBe(303)
  expect(await open()).toBe(0)
  expect(
    (await rowsOf(test, 'audit_log', { action: 'link.dismiss_reports' })).map(({ detail }) => detail),
  ).toEqual([{ slug: kites.slug, count: '6' }])
})

it('names the site and other owners’ applications that a title imitates', async () => {
  await setSetting(test, 'site_name_en', 'Spark Forum')
  const fresh = await (await makePerson(test, { is_admin: true })).signIn()
  const other = await makeMerchant(test)
  await test.db.updateTable('payment_apps').set({ name: 'Tea House' }).where('id', '=', other.id).execute()
  const namesOf = async (of: typeof merchant, title: string) => {
    const { slug } = await makeLink(test, of, { title })
    const { body } = await fresh.get(`${PAGE}?q=${slug}`)
    const { names, siteName } = messages.en.console.linkReview
    const text = textOf(body)
    return [
      text.includes(names) && text.includes(siteName),
      body.includes(`applications/${other.payment_id}`),
    ]
  }
  expect(await namesOf(merchant, 'Official Park F0rum points')).toEqual([false, false])
  expect(await namesOf(merchant, 'Official 5PΑRK F0rum points')).toEqual([true, false])
  expect(await namesOf(merchant, 'Vouchers of T e a – H0use')).toEqual([false, true])
  expect(await namesOf(other, 'Vouchers of Tea House')).toEqual([false, true])
  expect(await namesOf(merchant, 'Kites')).toEqual([false, false])
  // In the order of names, another one can stand between a name and the title that begins with it.
  const neighbour = await makeMerchant(test)
  await test.db
    .updateTable('payment_apps')
    .set({ name: 'Tea Houseboat' })
    .where('id', '=', neighbour.id)
    .execute()
  expect(await namesOf(merchant, 'Old tea house, new')).toEqual([false, true])
  expect(await namesOf(merchant, 'Old tea hous')).toEqual([false, false])
})

it('shows the price of each link', async () => {
  const fresh = await (await makePerson(test, { is_admin: true })).signIn()
  const priced = await makeLink(test, merchant, { title: 'Priced', amount: 73n })
  expect(textOf((await fresh.get(`${PAGE}?q=${priced.slug}`)).body)).toContain(
    messages.en.common.points('73', 73n),
  )
})

it('marks a link of a test application, whose price is in play points', async () => {
  const fresh = await (await makePerson(test, { is_admin: true })).signIn()
  const trial = await makeLink(test, await makeMerchant(test, { isTest: true }), {
    title: 'Trial',
    amount: 73n,
  })
  const live = await makeLink(test, merchant, { title: 'Live', amount: 73n })
  const { testMode, playUnit } = messages.en.common
  const shown = async ({ slug }: { slug: string }) => {
    const text = textOf(/<main.*<\/main>/s.exec((await fresh.get(`${PAGE}?q=${slug}`)).body)![0])
    return [testMode, `73 ${playUnit(73n)}`].map((part) => text.includes(part))
  }
  expect(await shown(trial)).toEqual([true, true])
  expect(await shown(live)).toEqual([false, false])
})
