/** The picture of a link, and the preview that forums show of it. spec/links 4.8 and 4.9. */
import { decode } from 'fast-png'
import { describe, expect, it } from 'vitest'
import { changeLink, createLink, deleteDraft, editLink } from '../../../src/payment/links/acts.ts'
import { drawPreview, PREVIEW } from '../../../src/payment/links/preview-picture.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { makePerson } from '../../harness/cast.ts'
import { browser, useTestApp } from '../../harness/harness.ts'
import { details, IP, makeLink, ownerOf } from '../../harness/links.ts'
import { makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowOf, rowsOf } from '../../harness/rows.ts'
import { picture, upload } from '../../harness/uploads.ts'

const test = await useTestApp()
const { deps } = test
const merchant = await makeMerchant(test)
const owner = ownerOf(merchant)
const client = await merchant.owner.signIn()
const visitor = browser(test)
const base = `/payment/applications/${merchant.payment_id}/links`
const picturesOf = async (slug: string) => {
  const { id: link_id } = await rowOf(test, 'links', { slug })
  return rowsOf(test, 'link_pictures', { link_id }, ['kind', 'name'])
}
const send = (slug: string, file: Buffer, fields = {}) =>
  upload(test, client, { page: `${base}/${slug}`, url: `${base}/${slug}/picture`, file, fields })
const imageIn = (body: string) => /<meta property="og:image" content="([^"]+)"/.exec(body)?.[1]

describe('the picture of a link', () => {
  it('is uploaded without its metadata, shown beside the price, and taken away', async () => {
    const { slug } = await makeLink(test, merchant)
    expect((await send(slug, picture(48, 48))).statusCode).toBe(303)
    const page = await visitor.get(`/l/${slug}`)
    const [, address] = /class="goods-picture"><img src="([^"]+)"/.exec(page.body)!
    expect(address).toMatch(new RegExp(`^/l/${slug}/[0-9a-f]{32}\\.png$`))
    const answer = await test.app.inject(address!)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/png'])
    expect(answer.rawPayload.includes('where I live')).toBe(false)
    expect((await send(slug, picture(48, 48), { remove: 'yes' })).statusCode).toBe(303)
    expect((await visitor.get(`/l/${slug}`)).body).not.toContain('goods-picture')
    expect((await picturesOf(slug)).map(({ kind }) => kind)).toEqual(['preview'])
  })

  it.each([
    ['no PNG', Buffer.from('<svg onload="alert(1)"/>')],
    ['a picture of 513 pixels', picture(513, 10)],
  ])('is not %s', async (_, file) => {
    const { slug } = await makeLink(test, merchant)
    const refused = await send(slug, file)
    expect([refused.statusCode, refused.body]).toEqual([
      400,
      expect.stringContaining(messages.en.forms.logoRefused),
    ])
    expect((await picturesOf(slug)).map(({ kind }) => kind)).toEqual(['preview'])
  })

  it('of a draft is for its team alone, and goes with the draft', async () => {
    const slug = await createLink(deps, merchant.payment_id, details(), owner)
    await send(slug, picture(48, 48))
    const { name } = (await picturesOf(slug)).find(({ kind }) => kind === 'picture')!
    const address = `/l/${slug}/${name}.png`
    const seen = await client.get(address)
    expect([seen.status, seen.headers['cache-control']]).toEqual([200, expect.stringContaining('private')])
    expect((await visitor.get(address)).status).toBe(404)
    await deleteDraft(deps, merchant.payment_id, { slug }, owner)
    expect(await rowsOf(test, 'link_pictures', { name })).toEqual([])
  })

  it('goes with the account of its owner', async () => {
    const leaving = await makeMerchant(test)
    const { slug } = await makeLink(test, leaving)
    const staff = await makePerson(test, { is_admin: true })
    const act = { user_id: leaving.owner.id, actor_id: staff.id, reason: 'asked', ip: IP, give_up: 0n }
    await anonymise(deps, act)
    expect(await picturesOf(slug)).toEqual([])
  })
})

describe('the preview of a link', () => {
  it('is drawn when the link is saved, and named with its size', async () => {
    const { slug } = await makeLink(test, merchant)
    const { body } = await visitor.get(`/l/${slug}`)
    const image = imageIn(body)
    expect(image).toMatch(new RegExp(`^${test.url}/l/${slug}/[0-9a-f]{32}\\.png$`))
    expect(body).toContain(`<meta property="og:image:width" content="600">`)
    expect(body).toContain(`<meta property="og:image:height" content="315">`)
    const answer = await test.app.inject(new URL(image!).pathname)
    expect(decode(answer.rawPayload)).toMatchObject(PREVIEW)
    const [stored] = await picturesOf(slug)
    await visitor.get(`/l/${slug}`)
    expect(await picturesOf(slug)).toEqual([stored])

    // A new price and a new picture are each another preview. The old address shows the present one.
    const fields = { slug, details: details({ amount: 11n }) }
    await editLink(deps, merchant.payment_id, fields, owner)
    const dearer = imageIn((await visitor.get(`/l/${slug}`)).body)
    expect(dearer).not.toBe(image)
    await send(slug, picture(48, 48))
    const last = imageIn((await visitor.get(`/l/${slug}`)).body)
    expect(new Set([image, dearer, last]).size).toBe(3)
    const [old, present] = await Promise.all(
      [image!, last!].map((each) => test.app.inject(new URL(each).pathname)),
    )
    expect(old!.rawPayload.equals(present!.rawPayload)).toBe(true)
  })

  it('is not named while it shows another price, as after a crash between saving and drawing', async () => {
    const { slug } = await makeLink(test, merchant)
    await test.db.updateTable('links').set({ amount: 99n }).where('slug', '=', slug).execute()
    expect(imageIn((await visitor.get(`/l/${slug}`)).body)).toBeUndefined()
    await changeLink(deps, merchant.payment_id, { slug, change: 'pause' }, owner)
    await editLink(deps, merchant.payment_id, { slug, details: details({ amount: 99n }) }, owner)
    expect(imageIn((await visitor.get(`/l/${slug}`)).body)).toBeDefined()
  })

  it('has other pixels for every price, and room for the highest', () => {
    const colours = { accent: '#0e695f', on: '#ffffff' }
    const drawn = (points: bigint, isFree = false) =>
      drawPreview({ points, isFree, ...colours, picture: undefined }).toString('base64')
    const prices = [...'0123456789'].map((digit) => drawn(BigInt(`1${digit}`)))
    expect(new Set([...prices, drawn(10n, true), drawn(1_000n)]).size).toBe(12)
    const { data, width, height } = decode(Buffer.from(drawn(9_007_199_254_740_991n, true), 'base64'))
    const edges = [0, width - 1].flatMap((x) => Array.from({ length: height }, (_, y) => (y * width + x) * 3))
    expect(new Set(edges.map((at) => data[at]))).toEqual(new Set([0x0e]))
  })

  it('has the picture of the link on white', () => {
    const { data, width } = decode(
      drawPreview({
        points: 5n,
        isFree: false,
        accent: '#000000',
        on: '#ffffff',
        picture: picture(300, 300, 255),
      }),
    )
    expect(data[(150 * width + 150) * 3]).toBe(255)
  })
})
