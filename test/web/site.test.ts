/**
 * What the settings say about every page: words, time zone, colours, logo and links; and the report of an act.
 * spec/pages 1.2 and 2.2, and spec/limits 1.3.
 */
import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sampleAddress } from '../../src/web/site.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { picture, upload as send } from '../harness/uploads.ts'

const test = await useTestApp()

const pageIn = async (language: 'en' | 'zh-CN', path = '/sign-in') =>
  (await test.app.inject({ url: path, headers: { accept: 'text/html', 'accept-language': language } })).body
const set = (name: Parameters<typeof setSetting>[1], value: string) => setSetting(test, name, value)
const titleOf = (page: string) => /<title>([^<]*)</.exec(page)?.[1]

describe('the words of a site', () => {
  it('are its own, and a name in one language serves for both', async () => {
    expect(titleOf(await pageIn('en'))).toContain('Tessera')
    await set('site_name_zh_cn', '星火论坛')
    expect(titleOf(await pageIn('en'))).toContain('星火论坛')
    await set('site_name_en', 'Spark <Forum>')
    expect(titleOf(await pageIn('en'))).toContain('Spark &lt;Forum&gt;')
    expect(titleOf(await pageIn('zh-CN'))).toContain('星火论坛')
  })

  it('name a point on pages, with a capital letter at the beginning of a sentence', async () => {
    const alice = await makePerson(test)
    const window = await alice.signIn()
    await set('point_one_en', 'spark')
    await set('point_many_en', 'sparks')
    await set('point_zh_cn', '星火')
    const english = (await window.get('/account', { 'accept-language': 'en' })).body
    expect(english).toContain('sparks')
    expect(english).not.toMatch(/\bpoints?\b/)
    window.cookies.set('language', 'zh-CN')
    expect((await window.get('/account')).body).toContain('星火')
  })

  it.each([
    ['site_name_en', 'a\nb'],
    ['point_one_en', '\uE001'],
    ['site_accent', '#fff'],
    ['site_accent', '#ffee88'],
    ['site_logo', 'javascript:alert(1)'],
    ['site_logo', '/brand/logo.css'],
    ['link_terms', 'http://example.org'],
    ['link_contact', 'javascript:alert(1)'],
    ['time_zone', 'Mars/Olympus'],
  ] as const)('refuse %s %j', async (name, value) => {
    await expect(set(name, value)).rejects.toMatchObject({ code: 'invalid_form' })
  })
})

describe('the name and logo of a site', () => {
  it('has its colours in a style sheet of their own', async () => {
    await set('site_accent', '#C2410C')
    const [, address] = /href="(\/brand\/[^"]+\.css)"/.exec(await pageIn('en'))!
    const answer = await test.app.inject(address!)
    expect(answer.headers['content-type']).toBe('text/css; charset=utf-8')
    expect(answer.headers['cache-control']).toContain('immutable')
    expect(answer.body).toContain('--accent:#c2410c')
    expect(
      (await test.app.inject(address!.replace(/[0-9a-f]{12}/, '0'.repeat(12)))).headers['cache-control'],
    ).toBe('no-cache')
  })

  it('has a sample of any colour, each mode within its half', async () => {
    const answer = await test.app.inject(sampleAddress('#8A3B6D'))
    expect(answer.headers['cache-control']).toContain('immutable')
    expect(answer.body).toMatch(
      /^\.sample\.light\{color-scheme:light;[^}]*--accent:#8a3b6d[^}]*\}\.sample\.dark\{color-scheme:dark;/,
    )
  })

  it('links to its terms and its forum in the footer', async () => {
    await set('link_terms', 'https://forum.example/terms')
    await set('link_contact', 'mailto:help@forum.example')
    const page = await pageIn('en')
    expect(page).toContain('href="https://forum.example/terms"')
    expect(page).toContain('href="mailto:help@forum.example"')
  })

  it('says its time zone, in which every time is', async () => {
    const alice = await makePerson(test)
    const window = await alice.signIn()
    const timesOn = async () => (await window.get('/account/sessions', { 'accept-language': 'en' })).body
    await set('time_zone', 'Asia/Shanghai')
    expect(await timesOn()).toContain(messages.en.common.timesIn('China Standard Time'))
    const [, moment, before] = /<time datetime="([^"]+)"[^>]*>([^<]+)</.exec(await timesOn())!
    await set('time_zone', 'America/New_York')
    const after = await timesOn()
    expect(after).toContain(messages.en.common.timesIn('Eastern Time'))
    expect(/<time datetime="([^"]+)"[^>]*>([^<]+)</.exec(after)![1]).toBe(moment)
    expect(/<time datetime="([^"]+)"[^>]*>([^<]+)</.exec(after)![2]).not.toBe(before)
  })
})

describe('the uploaded logo', () => {
  const openAdmin = async () => (await makePerson(test, { is_admin: true })).signIn()
  const upload = async (file: Buffer, window?: Browser) =>
    send(test, window ?? (await openAdmin()), {
      page: '/admin/settings?area=brand',
      url: '/admin/settings/logo',
      form: '/admin/settings',
      file,
    })

  it('that breaks off is a bad request', async () => {
    const cookie = cookieHeader(await openAdmin())
    for (const payload of ['form_token=x', '--x\r\ncontent-disposition: form-data; name="logo"\r\n\r\nab']) {
      const response = await test.app.inject({
        method: 'POST',
        url: '/admin/settings/logo',
        headers: {
          cookie,
          accept: 'text/html',
          'sec-fetch-site': 'same-origin',
          'content-type': 'multipart/form-data; boundary=x',
        },
        payload,
      })
      expect(response.statusCode).toBe(400)
    }
  })

  it('is encoded again, without metadata and without what follows the picture', async () => {
    const answer = await upload(Buffer.concat([picture(64, 32), Buffer.from('<script>alert(1)</script>')]))
    expect(answer.statusCode).toBe(303)
    const [, address] = /<img src="(\/brand\/logo\.[0-9a-f]{16}\.png)"/.exec(await pageIn('en'))!
    const logo = await test.app.inject(address!)
    expect(logo.headers['content-type']).toBe('image/png')
    expect(logo.rawPayload.subarray(1, 4).toString()).toBe('PNG')
    expect([logo.rawPayload.readUInt32BE(16), logo.rawPayload.readUInt32BE(20)]).toEqual([64, 32])
    expect(logo.rawPayload.includes('script')).toBe(false)
    expect(logo.rawPayload.includes('where I live')).toBe(false)
  })

  /** The picture with a chunk after its header (IHDR), which has 33 bytes with the signature. */
  const withChunk = (file: Buffer, type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, checksum] = [data.length, crc32(body)].map((value) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value)
      return bytes
    }) as [Buffer, Buffer]
    return Buffer.concat([file.subarray(0, 33), length, body, checksum, file.subarray(33)])
  }
  const BOMB = deflateSync(Buffer.alloc(64 * 1024 * 1024))

  it('is read without its colour profile, which could unpack to any size', async () => {
    // The decoder refuses a profile that is compressed in another way than by zlib (0), if it reads it.
    const profile = (compression: number, data: Buffer) =>
      Buffer.concat([Buffer.from('profile\0'), Buffer.from([compression]), data])
    for (const data of [profile(1, Buffer.from('unreadable')), profile(0, BOMB)])
      expect((await upload(withChunk(picture(32, 32), 'iCCP', data))).statusCode).toBe(303)
  })

  it.each([
    ['pixels that unpack to more than its size', () => withChunk(picture(64, 64), 'IDAT', BOMB)],
    ['no PNG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['too many pixels', () => picture(513, 1)],
    ['a torn file', () => picture(64, 64).subarray(0, 60)],
    ['nothing', () => Buffer.alloc(0)],
  ])('is refused: %s', async (_why, file) => {
    expect((await upload(file())).statusCode).toBe(400)
  })

  it('is refused above its size', async () => {
    expect((await upload(Buffer.alloc(600 * 1024, 1))).statusCode).toBe(413)
  })

  it('is reported once, on the page to which the act leads, in the same session', async () => {
    const [window, other] = [await openAdmin(), await openAdmin()]
    const answer = await upload(picture(32, 32), window)
    const cookie = answer.cookies.find(({ name }) => name === 'report')!
    const isReported = async (at: string, value: string, by = window) => {
      by.cookies.set('report', value)
      return (await by.get(at)).body.includes(messages.en.settings.logoUploaded)
    }
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
    expect(await isReported('/admin/audit', cookie.value)).toBe(false)
    expect(await isReported('/admin/settings?area=brand', cookie.value, other)).toBe(false)
    expect(await isReported('/admin/settings?area=brand', `${cookie.value.split('.')[0]}.x`)).toBe(false)
    expect(await isReported('/admin/settings?area=brand', 'x')).toBe(false)
    expect(await isReported('/admin/settings?area=brand', cookie.value)).toBe(true)
    expect(window.cookies.has('report')).toBe(false)
  })

  it('does not exist under another name', async () => {
    expect((await test.app.inject('/brand/logo.0123456789abcdef.png')).statusCode).toBe(404)
  })
})
