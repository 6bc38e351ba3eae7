/** What a mail looks like: the same words as text and as HTML, nothing of a stranger's as markup. spec/accounts 4.3. */
import { decode, encode } from 'fast-png'
import { expect, it } from 'vitest'
import { type Letter, letterHtml, letterText } from '../../src/accounts/people/letter.ts'
import { smallPicture } from '../../src/core/small-picture.ts'
import { ownLogo } from '../../src/web/assets.ts'
import { unescaped } from '../harness/markup.ts'

const HOSTILE = `<img src="https://evil.example/x.gif" onerror='a()'> & “”`
const letter: Letter = {
  language: 'en',
  site: `Spark ${HOSTILE}`,
  address: 'https://points.example',
  title: `Title ${HOSTILE}`,
  greeting: `Hello ${HOSTILE}`,
  text: `Text ${HOSTILE}`,
  facts: [[`When ${HOSTILE}`, `Now ${HOSTILE}`]],
  answers: [[`You? ${HOSTILE}`, `Nothing ${HOSTILE}`]],
  button: {
    label: `Press ${HOSTILE}`,
    url: 'https://points.example/go?token=x&y="1"',
    isAlarm: true,
    hint: `Copy ${HOSTILE}`,
  },
  note: `Note ${HOSTILE}`,
  footer: [`Sent ${HOSTILE}`],
}
const look = { accent: '', hasLogo: true }

it('the HTML has every word of the text, and no markup of anybody else', () => {
  const html = letterHtml(letter, look)
  const shown = unescaped(html.replace(/<(?:[^>"]|"[^"]*")*>/g, ''))
  for (const word of ['Title', 'Hello', 'Text', 'When', 'Now', 'You?', 'Nothing', 'Press', 'Note', 'Sent'])
    expect(shown, word).toContain(`${word} ${HOSTILE}`)
  for (const word of ['Hello', 'Text', 'When', 'Now', 'You?', 'Nothing', 'Press', 'Note', 'Sent', 'Spark'])
    expect(letterText(letter), word).toContain(`${word} ${HOSTILE}`)
  expect(html.match(/<img[^>]*>/g)).toEqual([expect.stringContaining('src="cid:logo"')])
  const addresses = [...html.matchAll(/\s(?:href|src|background|action)="([^"]*)"/g)].map(([, url]) => url)
  expect(new Set(addresses)).toEqual(
    new Set(['cid:logo', 'https://points.example/', 'https://points.example/go?token=x&amp;y=&quot;1&quot;']),
  )
})

it('every mail says what happened and where before its button, and where to refuse it last', () => {
  const order = ['Text', 'When', 'Press', 'You?', 'Note', 'Sent', 'Stop'].map((word) => `${word} <img`)
  const choice = { label: `Stop ${HOSTILE}`, url: 'https://points.example/stop' }
  for (const isAlarm of [false, true]) {
    const mail = { ...letter, choice, button: { ...letter.button!, isAlarm } }
    for (const written of [letterText(mail), unescaped(letterHtml(mail, look).split('<h1')[1]!)]) {
      const places = order.map((part) => written.indexOf(part))
      expect(Math.min(...places)).toBeGreaterThan(0)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }
  }
})

it('a mail without a logo, facts and button has none', () => {
  const { button: _, note: __, ...rest } = letter
  const html = letterHtml({ ...rest, facts: [], answers: [] }, { ...look, hasLogo: false })
  expect(html).not.toMatch(/<img|class="(well|wide)|Press/)
  expect(letterText({ ...rest, facts: [], answers: [] })).not.toContain('token=')
})

it('the accent of the site colours a button, but not one that says no', () => {
  const button = { ...letter.button!, isAlarm: false }
  const accent = '#7a1fa2'
  expect(letterHtml({ ...letter, button }, { ...look, accent })).toContain(
    `class="go" bgcolor="${accent}" align`,
  )
  expect(letterHtml(letter, { ...look, accent })).toMatch(/class="stop" bgcolor="#a02d1c"/)
})

it('the logo of a mail is a small square, centred, whatever was uploaded', () => {
  expect(decode(ownLogo())).toMatchObject({ width: 84, height: 84 })
  const red = (channels: number, depth: 8 | 16, parts: number[]) => {
    const Parts = depth === 8 ? Uint8Array : Uint16Array
    const data = new Parts(400 * 200 * channels).map((_, i) => parts[i % channels]!)
    return Buffer.from(encode({ width: 400, height: 200, data, channels, depth }))
  }
  const at = (picture: Buffer, x: number, y: number) => {
    const { data, width } = decode(smallPicture(picture, 84))
    return [...data.slice((y * width + x) * 4, (y * width + x) * 4 + 4)]
  }
  for (const [picture, colour] of [
    [red(3, 8, [200, 0, 0]), [200, 0, 0, 255]],
    [red(4, 8, [200, 0, 0, 128]), [200, 0, 0, 128]],
    [red(1, 8, [90]), [90, 90, 90, 255]],
    [red(3, 16, [65_535, 0, 0]), [255, 0, 0, 255]],
  ] as const) {
    expect(at(picture, 42, 42)).toEqual(colour)
    expect(at(picture, 42, 10)).toEqual([0, 0, 0, 0])
  }
  const tiny = Buffer.from(encode({ width: 2, height: 2, data: new Uint8Array(12), channels: 3, depth: 8 }))
  expect(decode(smallPicture(tiny, 84))).toMatchObject({ width: 2, height: 2 })
})
