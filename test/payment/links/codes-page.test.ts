/** The codes of a link and its sales, for its team. spec/links 3.2, 3.3 and 4.3. */
import { describe, expect, it } from 'vitest'
import { BYTES_MAX } from '../../../src/payment/links/codes.ts'
import { makePerson } from '../../harness/cast.ts'
import { useTestApp } from '../../harness/harness.ts'
import { buyAt, linkFields, makeLink, type TestLink } from '../../harness/links.ts'
import { textOf } from '../../harness/markup.ts'
import { handOver, joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { refund } from '../../harness/orders.ts'
import { rowsOf } from '../../harness/rows.ts'
import { picture, upload } from '../../harness/uploads.ts'

const l = messages.en.teamLinks
const test = await useTestApp()
const merchant = await makeMerchant(test)
const alice = await makePerson(test, { points: 10_000n })
const [owner, viewer] = [
  await merchant.owner.signIn(),
  await (await joinTeam(test, merchant, 'viewer')).signIn(),
]
const addressOf = ({ slug }: TestLink, { payment_id } = merchant) =>
  `/payment/applications/${payment_id}/links/${slug}`

describe('a new link', () => {
  const LINKS = `/payment/applications/${merchant.payment_id}/links`
  const make = (fields: Record<string, string>, file: Buffer | string = '', name = 'logo') => {
    const typed = { ...linkFields({ title: 'At once', ...fields }) }
    return upload(test, owner, { page: `${LINKS}/new`, url: `${LINKS}/new`, name, file, fields: typed })
  }
  const made = () => rowsOf(test, 'links', { app_id: merchant.id, title: 'At once' }, ['id', 'slug'])

  it('takes its codes and its picture with the first form, and leads to its page', async () => {
    const { statusCode, headers } = await make({ delivery: 'codes', codes: 'N-1\nN-2\nN-1' }, picture(48, 48))
    const [{ id: link_id, slug }] = (await made()) as [{ id: bigint; slug: string }]
    expect([statusCode, headers.location]).toEqual([303, `/l/${slug}`])
    const page = await owner.get(`/l/${slug}`)
    expect(page.body).toContain('class="goods-picture"')
    expect(textOf(page.body)).toContain(`${l.imported(2, 1, 0)} ${l.knownLines('3', 1)}`)
    expect(page.body).toContain(`action="${LINKS}/${slug}/publish"`)
    expect(await rowsOf(test, 'link_codes', { link_id }, ['order_id'])).toHaveLength(2)
    const acts = await rowsOf(test, 'audit_log', { subject: merchant.payment_id }, ['action', 'detail'])
    const ofLink = acts.filter(({ detail }) => (detail as { slug?: string }).slug === slug)
    expect(ofLink.map(({ action }) => action)).toEqual(['link.create', 'link.picture', 'link.add_codes'])
  })

  it('takes its codes from a file, or later', async () => {
    const before = (await made()).length
    expect((await make({ delivery: 'codes' }, 'F-1\nF-2\nF-3', 'file')).statusCode).toBe(303)
    const { headers } = await make({ delivery: 'codes' })
    expect(headers.location).toMatch(/\/codes$/)
    const links = (await made()).slice(before)
    const counts = await Promise.all(
      links.map(({ id }) => rowsOf(test, 'link_codes', { link_id: id }, ['id'])),
    )
    expect(counts.map(({ length }) => length)).toEqual([3, 0])
  })

  it('is not made with a faulty list or picture', async () => {
    const before = await made()
    const faults = [
      [await make({ delivery: 'codes', codes: 'X-1\nX\u00072' }), l.importFaults.line_controls(2)],
      [await make({ delivery: 'codes', codes: 'X-1' }, 'X-2', 'file'), l.pasteOrFile],
      [await make({ delivery: 'codes', codes: 'X-1' }, 'no picture'), messages.en.forms.logoRefused],
    ] as const
    for (const [{ statusCode, body }, fault] of faults)
      expect([statusCode, textOf(body).includes(fault), body.includes('X-1')]).toEqual([400, true, true])
    expect(await made()).toEqual(before)
  })

  it('of a test application is not made with more codes than it may have', async () => {
    const twin = await makeMerchant(test, { isTest: true })
    const links = `/payment/applications/${twin.payment_id}/links`
    const codes = Array.from({ length: 101 }, (_, i) => `T-${i}`).join('\n')
    const answer = await upload(test, await twin.owner.signIn(), {
      ...{ page: `${links}/new`, url: `${links}/new`, file: '' },
      fields: linkFields({ delivery: 'codes', codes }),
    })
    expect([answer.statusCode, textOf(answer.body).includes(l.importFaults.too_many_unsold('100'))]).toEqual([
      400,
      true,
    ])
    expect(await rowsOf(test, 'links', { app_id: twin.id })).toEqual([])
  })

  it('of a test application costs play points wherever its price appears', async () => {
    const twin = await makeMerchant(test, { isTest: true })
    const links = `/payment/applications/${twin.payment_id}/links`
    const link = await makeLink(test, twin, { amount: 40n })
    const client = await twin.owner.signIn()
    const share = await client.get(`${links}/${link.slug}/share`)
    expect(share.body.match(/40 play points/g)!.length).toBeGreaterThanOrEqual(3)
    expect(share.body).not.toContain('40 points')
    expect((await client.get(`/l/${link.slug}/button.svg`)).body).toContain('40 play points')
  })
})

describe('the import of codes', () => {
  it('counts what it adds, and names the lines of known codes', async () => {
    const link = await makeLink(test, merchant, { codes: ['A-0001', 'A-0002'] })
    await buyAt(test.deps, link, alice)
    const page = `${addressOf(link)}/codes`
    const codes = 'B-1\r\n\r\nA-0001\nB-2\nA-0002\n'
    const added = await owner.submit(await owner.get(page), page, { codes })
    const report = textOf((await owner.get(added.location!)).body)
    expect(report).toContain(l.imported(2, 2, 1))
    expect(report).toContain(l.knownLines('3, 5', 2))
    // The file of the same codes adds none. It may be longer than other forms.
    const file = Buffer.from(`\ufeffB-1\n${Array.from({ length: 9_000 }, (_, i) => `C-${i}`).join('\n')}`)
    expect((await upload(test, owner, { page, url: page, name: 'file', file })).statusCode).toBe(303)
    expect(textOf((await owner.get(page)).body)).toContain(l.codesLeft('9,003', 9_003))
  })

  it('refuses a faulty list as a whole, and says which line', async () => {
    const link = await makeLink(test, merchant, { codes: ['A-1'] })
    const page = `${addressOf(link)}/codes`
    const form = await owner.get(page)
    for (const [codes, fault] of [
      [`X-1\n${'x'.repeat(501)}`, l.importFaults.line_too_long(2)],
      ['X-1\nX\u00072', l.importFaults.line_controls(2)],
      ['X-1\nX\u20282', l.importFaults.line_controls(2)],
      ['X-1\n\u200b\u2060', l.importFaults.line_invisible(2)],
      [' \n', l.importFaults.no_codes],
    ] as const) {
      const refused = await owner.submit(form, page, { codes })
      expect([refused.status, textOf(refused.body).includes(fault)]).toEqual([400, true])
    }
    const send = (file: Buffer | string, fields = {}) =>
      upload(test, owner, { page, url: page, name: 'file', file, fields })
    const binary = await send(Buffer.from([0xff, 0xfe, 0x41]))
    expect([binary.statusCode, textOf(binary.body).includes(l.importFaults.not_text)]).toEqual([400, true])
    const both = await send('X-1', { codes: 'X-2' })
    expect([both.statusCode, textOf(both.body).includes(l.pasteOrFile)]).toEqual([400, true])
    const long = Array.from({ length: 10_001 }, (_, i) => `L${i}`).join('\n')
    expect(textOf((await send('', { codes: long })).body)).toContain(l.importFaults.too_many_lines)
    const large = await send('x'.repeat(BYTES_MAX + 1))
    expect([large.statusCode, textOf(large.body).includes(messages.en.errors.tooLarge.advice)]).toEqual([
      413,
      true,
    ])
    expect((await send('', { codes: 'x'.repeat(BYTES_MAX + 1) })).statusCode).toBe(413)
    expect(textOf((await owner.get(page)).body)).toContain(l.codesLeft('1', 1))
  })
})

describe('the codes of a link', () => {
  it('are masked for the team, and in full after a fresh sign-in and in the audit log', async () => {
    const link = await makeLink(test, merchant, {
      codes: ['SECRET-AA-7K2M', 'SHORT-1', 'UNSOLD-99'],
      quantity_max: 2,
    })
    const bought = await buyAt(test.deps, link, alice, 2)
    await refund(test, bought, 20n)
    const page = `${addressOf(link)}/codes`
    for (const client of [viewer, owner])
      for (const place of [page, `${addressOf(link)}/sales`, addressOf(link)]) {
        const { body, status } = await client.get(place)
        expect([place, status, /SECRET|SHORT|UNSOLD/.test(body)]).toEqual([place, 200, false])
      }
    const shown = textOf((await viewer.get(page)).body)
    expect(shown).toContain('••••7K2M ••••')
    expect(shown).toContain(messages.en.payments.fates.refunded)
    expect(shown).toContain(`@${alice.username}`)
    const { transaction_id } = bought
    const order = await viewer.get(`/payment/applications/${merchant.payment_id}/orders/${transaction_id}`)
    const o = messages.en.merchantOrders
    expect(order.body).not.toMatch(/SECRET|SHORT|UNSOLD/)
    expect(textOf(order.body)).toMatch(
      new RegExp(`${o.ofLink} .* ${o.units(2)} ${o.delivered.codes}: ••••7K2M ••••`),
    )
    expect(order.body).toContain(`${addressOf(link)}"`)
    for (const ofShops of [o.request, o.byBrowserOnly]) expect(order.body).not.toContain(ofShops)
    const full = await owner.get(`${page}/full`)
    expect([full.status, full.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(full.body).toContain('SECRET-AA-7K2M')
    expect(full.body).not.toContain('UNSOLD')
    const csv = await owner.get(`${page}/sold.csv`)
    expect(csv.body).toContain(`${alice.username},2,SHORT-1,10,refunded`)
    expect(await rowsOf(test, 'audit_log', { action: 'link.read_codes' })).toHaveLength(2)
    expect(await viewer.get(`${page}/full`)).toMatchObject({ status: 403 })
    test.clock.advance(11 * 60_000)
    for (const place of ['full', 'sold.csv'])
      expect((await owner.get(`${page}/${place}`)).location).toMatch(/^\/sign-in/)
    test.clock.advance(-11 * 60_000)
  })

  it('stay masked for a new owner', async () => {
    const shop = await makeMerchant(test)
    const link = await makeLink(test, shop, { codes: ['FORMER-0001', 'LATER-0002'] })
    await buyAt(test.deps, link, alice)
    const heir = await makePerson(test)
    await handOver(test, shop, heir)
    const client = await heir.signIn()
    const page = `${addressOf(link, shop)}/codes`
    const resume = `${addressOf(link, shop)}/resume`
    await client.submit(await client.get(page), resume)
    await buyAt(test.deps, { ...link, merchant: { ...shop, owner: heir } }, alice)
    const { body } = await client.get(`${page}/full`)
    expect(body).toContain('LATER-0002')
    expect(body).not.toContain('FORMER-0001')
    expect(body).toContain('••••0001')
    expect((await client.get(`${page}/sold.csv`)).body).not.toContain('FORMER-0001')
  })

  it('are taken back as a file, once', async () => {
    const link = await makeLink(test, merchant, { codes: ['T-1', 'T-2', 'T-3'] })
    const page = `${addressOf(link)}/codes`
    const form = await owner.get(page)
    const take = (count: string) => owner.submit(form, `${page}/take-back`, { count })
    const two = await take('2')
    expect([two.status, two.body, two.headers['cache-control']]).toEqual([200, 'T-1\nT-2\n', 'no-store'])
    expect(two.headers['content-disposition']).toContain('attachment')
    expect((await take('')).body).toBe('T-3\n')
    const none = await take('')
    expect([none.status, textOf(none.body).includes(l.noneUnsold)]).toEqual([409, true])
    expect((await take('0')).status).toBe(400)
    expect((await buyAt(test.deps, link, alice)).outcome).toBe('sold_out')
  })

  it('of a link without codes have no page', async () => {
    const link = await makeLink(test, merchant)
    expect((await owner.get(`${addressOf(link)}/codes`)).status).toBe(404)
    await buyAt(test.deps, link, alice)
    expect(textOf((await viewer.get(`${addressOf(link)}/sales`)).body)).toContain(alice.username)
  })
})
