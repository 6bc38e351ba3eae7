/** The page of payment links for staff: what it finds, and how a link is stopped and allowed again. spec/links 1.2 and 4.5. */
import { expect, it } from 'vitest'
import { createLink } from '../../src/payment/links/acts.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { buyAt, details, makeLink, ownerOf } from '../harness/links.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf } from '../harness/rows.ts'

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
