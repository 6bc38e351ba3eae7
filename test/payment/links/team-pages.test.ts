/** The team's pages of links: the form, the preview, and what a link's team does with it. spec/links 1.1–1.3 and 4.1–4.2. */
import { decode } from 'fast-png'
import decodeQR from 'qr/decode.js'
import { describe, expect, it } from 'vitest'
import { LINKS_MAX } from '../../../src/payment/links/acts.ts'
import { linksOfApp } from '../../../src/payment/links/reads.ts'
import { linkUrl } from '../../../src/payment/links/share.ts'
import { cookieHeader } from '../../harness/browser.ts'
import { makePerson } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { buyAt, linkFields, makeLink, orderAt } from '../../harness/links.ts'
import { textOf, untouchedFields } from '../../harness/markup.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowOf, rowsOf } from '../../harness/rows.ts'

const l = messages.en.teamLinks
const test = await useTestApp()
await setSetting(test, 'limit_links_created', '0')
const merchant = await makeMerchant(test)
const alice = await makePerson(test, { points: 1_000n })
const [owner, viewer, buyer] = [
  await merchant.owner.signIn(),
  await (await joinTeam(test, merchant, 'viewer')).signIn(),
  await alice.signIn(),
]
const LINKS = `/payment/applications/${merchant.payment_id}/links`

/** Saves a new link by its form, and returns its address. */
async function save(fields: Record<string, string>): Promise<string> {
  const saved = await owner.submit(await owner.get(`${LINKS}/new`), `${LINKS}/new`, linkFields(fields))
  expect(saved.status).toBe(303)
  return `${LINKS}/${slugOf(saved.location!.replace(/\/codes$/, ''))}`
}
const slugOf = (address: string) => address.split('/').at(-1)!

describe('the form of a link', () => {
  it('makes a draft, whose team looks at its page and publishes it', async () => {
    const long = '礼'.repeat(4_000)
    const address = await save({
      ...{
        title: ' Lanterns <b> ',
        description: 'One\r\nTwo',
        thanks: 'Glow',
        amount: '25',
        quantity_max: '4',
      },
      ...{ delivery: 'text', delivered_text: long, stock: '9', member_max: '3', min_level: '1' },
      ...{ allow_groups: 'Tea-Club, tea-club, Night', sells_from: '2020-01-01T08:00', sells_until: '' },
      ...{ shows_stock: 'on', amount_min: '3' },
    })
    const slug = slugOf(address)
    expect(await rowOf(test, 'links', { slug })).toMatchObject({
      ...{ title: 'Lanterns <b>', description: 'One\nTwo', state: 'draft', amount: 25n, amount_min: null },
      ...{ quantity_max: 4, stock: 9, member_max: 3, min_level: 1, allow_groups: ['tea-club', 'Night'] },
      // The site is at UTC+8.
      ...{ sells_from: new Date('2020-01-01T00:00:00Z'), sells_until: null, shows_stock: true },
    })
    const shown = await owner.get(address)
    for (const kept of ['2020-01-01T08:00', 'value="tea-club, Night"', 'Lanterns &lt;b&gt;', long])
      expect(shown.body).toContain(kept)
    expect(await buyer.get(`/l/${slug}`)).toMatchObject({ status: 404 })
    const looked = await viewer.get(`/l/${slug}`)
    expect([looked.status, looked.body.includes(l.previewBar)]).toEqual([200, true])
    expect(looked.body).not.toContain(`${address}/publish`)
    // What it delivers is for managers alone.
    expect((await viewer.get(address)).body).not.toContain(long)
    const preview = await owner.get(`/l/${slug}`)
    expect(textOf(preview.body)).toContain('25')
    expect(await owner.submit(preview, `${address}/publish`)).toMatchObject({
      status: 303,
      location: `${address}/share`,
    })
    const share = textOf((await owner.get(`${address}/share`)).body)
    expect(share).toContain(l.changed.publish)
    expect(share).toMatch(new RegExp(`25 points · 9 left · [^ ]+/l/${slug} .* ${l.sales} 0 `))
    const file = await test.app.inject({ url: `${address}/qr.png`, headers: { cookie: cookieHeader(owner) } })
    expect(file.headers['content-disposition']).toBe(`attachment; filename="qr-${slug}.png"`)
    const { width, height, data } = decode(file.rawPayload)
    const pixels = Uint8Array.from({ length: width * height * 4 }, (_, i) =>
      i % 4 === 3 ? 255 : Number(data[i >> 2]),
    )
    expect([width >= 900, decodeQR({ width, height, data: pixels })]).toEqual([
      true,
      linkUrl(test.deps, slug),
    ])
    const published = await buyer.get(`/l/${slug}`)
    expect([published.status, published.body.includes(l.previewBar)]).toEqual([200, false])
    expect(textOf(published.body)).toContain(messages.en.common.reviewed)
  })

  it('calls no application reviewed that is not approved', async () => {
    const waiting = await makeMerchant(test, { approved: false })
    const links = `/payment/applications/${waiting.payment_id}/links`
    const applicant = await waiting.owner.signIn()
    const { location } = await applicant.submit(
      await applicant.get(`${links}/new`),
      `${links}/new`,
      linkFields(),
    )
    const preview = textOf((await applicant.get(`/l/${slugOf(location!)}`)).body)
    expect(preview).toContain(l.previewBar)
    expect(preview).not.toContain(messages.en.common.reviewed)
  })

  it('takes a free price up to the limit of the owner’s level', async () => {
    const free = { price: 'free', amount: '', quantity_max: '', amount_min: '5', suggestions: '10, 50，200' }
    const address = await save({ ...free, amount_max: '5000' })
    expect(await rowOf(test, 'links', { slug: slugOf(address) })).toMatchObject({
      ...{ amount: null, amount_min: 5n, amount_max: 5_000n, suggestions: [10n, 50n, 200n], quantity_max: 1 },
    })
    const form = await owner.get(address)
    for (const fault of [
      { amount_max: '5001' },
      { amount_max: '4' },
      { suggestions: '4' },
      { amount_min: '' },
    ]) {
      const [name] = Object.keys(fault)
      const refused = await owner.submit(form, address, linkFields({ ...free, amount_max: '5000', ...fault }))
      expect([fault, refused.status]).toEqual([fault, 400])
      expect(refused.body).toContain(`id="${name}-problem"`)
    }
  })

  it.each([
    { title: '' },
    { title: 'x'.repeat(81) },
    { title: 'a\u202eb' },
    { description: 'x'.repeat(2_001) },
    { thanks: 'x'.repeat(501) },
    { amount: '0' },
    { amount: '9007199254740991', quantity_max: '2' },
    { quantity_max: '101' },
    { stock: '0' },
    { stock: '1000001' },
    { member_max: '1001' },
    { sells_from: '2026-02-28T99:00' },
    { sells_from: '2026-02-30T08:00' },
    { sells_from: '0026-12-01T08:00' },
    { sells_until: '12026-12-01T08:00' },
    { sells_until: '2020-01-01T08:00', sells_from: '2020-01-01T08:00' },
    { min_level: '5' },
    { allow_groups: Array.from({ length: 11 }, (_, i) => `g${i}`).join() },
    { delivered_text: '', delivery: 'text' },
    { delivered_text: 'x'.repeat(4_001), delivery: 'text' },
    { delivered_url: 'http://example.org/', delivery: 'url' },
    { delivered_url: 'https://a:b@example.org/', delivery: 'url' },
    { delivered_url: `https://example.org/${'x'.repeat(1_000)}`, delivery: 'url' },
    { delivered_url: 'javascript:alert(1)', delivery: 'none' },
  ])('marks the field at fault: %o', async (fields) => {
    const form = await owner.get(`${LINKS}/new`)
    const refused = await owner.submit(form, `${LINKS}/new`, linkFields(fields as Record<string, string>))
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(`id="${Object.keys(fields)[0]}-problem"`)
  })

  it.each([
    { delivery: 'none' },
    { delivery: 'text', delivered: 'First "line"\n<b>' },
    { delivery: 'url', delivered: 'https://example.org/a?b=1&c' },
    { codes: ['K-1', 'K-2'] },
    { delivery: 'none', amount: null, amount_min: 5n, amount_max: 90n, suggestions: [10n, 50n] },
  ] as const)('is saved again as its page shows it, before and after a sale: %o', async (kind) => {
    const sells_until = new Date('2030-01-31T15:59:00Z')
    const over = { ...kind, description: 'A\nB', member_max: 3, sells_until, allow_groups: [], min_level: 1 }
    const link = await makeLink(test, merchant, over as Parameters<typeof makeLink>[2])
    const address = `${LINKS}/${link.slug}`
    const stored = async () => {
      const { updated_at: _, ...row } = await rowOf(test, 'links', { slug: link.slug })
      return { ...row, versions: (await rowsOf(test, 'link_deliveries', { link_id: row.id })).length }
    }
    const before = await stored()
    for (const isSold of [false, true]) {
      if (isSold) await buyAt(test.deps, link, alice, 1, before.amount === null ? 5n : undefined)
      const saved = await owner.post(address, untouchedFields((await owner.get(address)).body, address))
      expect([isSold, saved.status]).toEqual([isSold, 303])
      expect(await stored()).toEqual(before)
    }
    const fields = untouchedFields((await owner.get(address)).body, address)
    expect((await owner.post(address, { ...fields, title: 'Other cats' })).status).toBe(303)
    expect(await stored()).toEqual({ ...before, title: 'Other cats' })
  })

  it('overwrites no change that was made after it was opened, but keeps what was typed', async () => {
    const link = await makeLink(test, merchant)
    const address = `${LINKS}/${link.slug}`
    const [first, second] = [await owner.get(address), await owner.get(address)]
    test.clock.advance(1_000)
    expect((await owner.submit(second, address, linkFields({ amount: '99' }))).status).toBe(303)
    const late = await owner.submit(first, address, linkFields({ title: 'Late cats' }))
    expect([late.status, textOf(late.body).includes(l.changedMeanwhile)]).toEqual([409, true])
    expect(late.body).toContain('value="Late cats"')
    expect(await rowOf(test, 'links', { slug: link.slug })).toMatchObject({
      amount: 99n,
      title: 'Cat stickers',
    })
    const fields = untouchedFields(late.body, address)
    expect((await owner.post(address, { ...fields, amount: '98' })).status).toBe(303)
    expect(textOf((await owner.get(address)).body)).toContain(l.savedPrice)
    expect(await rowOf(test, 'links', { slug: link.slug })).toMatchObject({ amount: 98n, title: 'Late cats' })
  })

  it('says that a sold-out link sells again, and speaks of prices only when one changed', async () => {
    const link = await makeLink(test, merchant, { stock: 1 })
    await buyAt(test.deps, link, alice)
    const address = `${LINKS}/${link.slug}`
    const saved = async (fields: Record<string, string>) => {
      const typed = untouchedFields((await owner.get(address)).body, address)
      expect((await owner.post(address, { ...typed, ...fields })).status).toBe(303)
      return textOf((await owner.get(address)).body)
    }
    expect(await saved({ stock: '5' })).toContain(l.sellsAgain('4'))
    const titled = await saved({ title: 'Other title' })
    expect([titled.includes(l.saved), titled.includes(l.savedPrice)]).toEqual([true, false])
  })

  it('keeps the kind of delivery that a link has sold, and changes no receipt', async () => {
    const link = await makeLink(test, merchant, { delivery: 'text', delivered: 'First' })
    await buyAt(test.deps, link, alice)
    const address = `${LINKS}/${link.slug}`
    const form = await owner.get(address)
    expect(form.body).not.toMatch(/name="delivery" value="none"/)
    const other = await owner.submit(form, address, linkFields({ delivery: 'none' }))
    expect(other.status).toBe(409)
    const text = { delivery: 'text', delivered_text: 'Second' }
    expect((await owner.submit(form, address, linkFields(text))).status).toBe(303)
  })
})

describe('the team of a link', () => {
  it('pauses, resumes and ends it, and the list says where it stands', async () => {
    const link = await makeLink(test, merchant, { title: 'Kites', stock: 5 })
    await buyAt(test.deps, link, alice)
    const address = `${LINKS}/${link.slug}`
    const act = async (name: string, fields: Record<string, string> = {}) =>
      owner.post(`${address}/${name}`, { ...(await owner.get(LINKS)).form('/sign-out'), ...fields })
    const row = async () => {
      const { body } = await viewer.get(LINKS)
      return textOf(body.slice(body.indexOf(address)).split('</tr>')[0]!)
    }
    expect(await row()).toMatch(new RegExp(`1 4 10 ${l.states.on_sale}`))
    expect((await act('pause')).status).toBe(303)
    expect(await row()).toContain(l.states.paused)
    expect(await orderAt(test.deps, link, alice)).toBe('not_on_sale')
    expect((await act('resume')).status).toBe(303)
    // Ending asks first.
    const asked = await act('end')
    expect([asked.status, asked.body.includes(l.ask.end.note)]).toEqual([200, true])
    expect((await act('end', { confirmed: 'yes' })).status).toBe(303)
    expect(await row()).toContain(l.states.ended)
    for (const name of ['publish', 'pause', 'resume', 'delete'])
      expect([name, (await act(name, { confirmed: 'yes' })).status]).toEqual([name, 409])
    expect((await owner.get(address)).body).not.toContain('name="title"')
  })

  it('deletes a draft with its codes, after a question', async () => {
    const address = await save({ delivery: 'codes' })
    const form = (await owner.get(address)).form(`${address}/delete`)
    expect((await owner.post(`${address}/delete`, form)).body).toContain(l.ask.delete.note)
    expect(await owner.post(`${address}/delete`, { ...form, confirmed: 'yes' })).toMatchObject({
      ...{ status: 303, location: LINKS },
    })
    expect(await owner.get(address)).toMatchObject({ status: 303, location: LINKS })
    expect(await rowsOf(test, 'links', { slug: slugOf(address) })).toEqual([])
    expect(await rowsOf(test, 'audit_log', { action: 'link.delete' })).toHaveLength(1)
  })

  it('reads why nothing can be on sale', async () => {
    const address = await save({})
    const publish = async () => {
      const preview = await owner.get(`/l/${slugOf(address)}`)
      return owner.post(`${address}/publish`, preview.form('/language'))
    }
    await setSetting(test, 'links_min_trust_level', '3')
    const refused = await publish()
    expect([refused.status, textOf(refused.body).includes(l.faults.level(3))]).toEqual([409, true])
    expect((await owner.get(`/l/${slugOf(address)}`)).body).not.toContain(`${address}/publish`)
    await setSetting(test, 'links_min_trust_level', '1')
    await setSetting(test, 'links', 'off')
    expect(textOf((await publish()).body)).toContain(l.faults.off(0))
    await setSetting(test, 'links', 'on')
    expect((await publish()).status).toBe(303)
  })

  it('has at most 200 links that are not ended', async () => {
    const crowded = await makeMerchant(test)
    await test.db
      .insertInto('links')
      .values(
        Array.from({ length: LINKS_MAX }, (_, i) => ({
          ...{
            app_id: crowded.id,
            book: 'live' as const,
            slug: `x${String(i).padStart(9, '0')}`,
            title: 'x',
          },
          ...{ description: '', thanks: '', amount: 1n, suggestions: [], quantity_max: 1, min_level: 0 },
          ...{ allow_groups: [], delivery: 'none' as const, shows_stock: true },
        })),
      )
      .execute()
    const page = `/payment/applications/${crowded.payment_id}/links`
    const client = await crowded.owner.signIn()
    const refused = await client.submit(await client.get(`${page}/new`), `${page}/new`, linkFields())
    expect(refused.status).toBe(409)
    const first = await client.get(page)
    expect(first.body.match(/class="what"/g)).toHaveLength(50)
    expect(first.body).toContain('?before=')
  })
})

it('the list adds up what was paid in the last 30 days', async () => {
  const shop = await makeMerchant(test)
  const link = await makeLink(test, shop, { amount: 10n, quantity_max: 5 })
  const other = await makeLink(test, shop, { amount: 7n })
  const day = 86_400_000
  const takenOf = async () => {
    const links = await linksOfApp(test.db, shop.id, { now: test.clock.now(), before: undefined, limit: 9 })
    return links.map(({ slug, taken }) => [slug, taken])
  }
  for (const [days, units] of [
    [0, 3],
    [20, 2],
    [11, 1],
  ] as const) {
    test.clock.advance(days * day)
    await buyAt(test.deps, link, alice, units)
  }
  expect(await takenOf()).toEqual([
    [other.slug, 0n],
    [link.slug, 30n],
  ])
  test.clock.advance(40 * day)
  await buyAt(test.deps, other, alice)
  expect(await takenOf()).toEqual([
    [other.slug, 7n],
    [link.slug, 0n],
  ])
  test.clock.advance(-71 * day)
})
