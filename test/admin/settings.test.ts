/** Site settings: a change by an administrator takes effect at once, and the history names the administrator. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SETTING_NAMES } from '../../src/core/setting-values.ts'
import { openSettings } from '../../src/core/settings.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, startTestApp, type TestApp } from '../harness/harness.ts'

let test: TestApp
let admin: Browser
let username: string
beforeAll(async () => {
  test = await startTestApp()
  const person = await makePerson(test, { username: 'admin', is_admin: true })
  username = person.username
  admin = await person.signIn()
})
afterAll(() => test.close())

const PATH = '/admin/settings'
const change = async (name: string, value: string) =>
  admin.submit(await admin.get(PATH), PATH, { name, value })
const stored = () => test.db.selectFrom('site_settings').select(['name', 'value']).orderBy('name').execute()

it('every setting is on one page with its default', async () => {
  const first = await admin.get(PATH)
  const areas = [...first.body.matchAll(/href="(\/admin\/settings\?area=\w+)"/g)].map(([, href]) => href!)
  expect(areas).toHaveLength(6)
  const pages = await Promise.all(areas.map((href) => admin.get(href)))
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]))
  const bodies = pages.map(({ body }) => body)
  for (const name of SETTING_NAMES)
    expect(bodies.filter((body) => body.includes(`id="value-${name}"`))).toHaveLength(1)
  expect(bodies.join()).not.toContain('undefined')
})

it('each is entered as its kind: a word, bounded number, or text', async () => {
  const pages = await Promise.all(
    ['site', 'payments', 'transfers', 'signIn', 'forum'].map((area) => admin.get(`${PATH}?area=${area}`)),
  )
  const html = pages.map(({ body }) => body).join()
  expect(pages[1]!.body).toContain('id="value-gateway_at_root"')
  const fieldOf = (name: string) =>
    new RegExp(`<(select|input|textarea)[^>]*id="value-${name}"[^]*?(?=<button)`).exec(html)![0]
  expect(fieldOf('registration')).toMatch(
    /^<select[\s\S]*<option value="closed" selected>closed<[\s\S]*<option value="open">open</,
  )
  expect(fieldOf('payments_read_only')).toMatch(/^<select[\s\S]*<option value="off" selected>/)
  expect(fieldOf('order_expiry_minutes')).toMatch(
    /type="number"[^>]* value="30" min="1" max="10080" step="1"/,
  )
  expect(fieldOf('points_payment_fee_rate')).toMatch(/type="number"[^>]* value="0.05" min="0" max="1"/)
  expect(fieldOf('points_transfer_min_amount_tl0')).toMatch(/type="number"[^>]* value="1"[^>]* required/)
  expect(fieldOf('points_transfer_daily_limit_tl0')).toMatch(/type="number"(?![^>]*required)/)
  expect(fieldOf('announcement_en')).toMatch(/^<textarea[^>]* maxlength="500"/)
})

it.each([
  ['order_expiry_minutes', '0', 'A whole number from 1 to 10,080.', '须为 1 至 10,080 之间的整数。'],
  ['points_payment_fee_rate', '2', 'A share between 0 and 1', '须为 0 到 1 之间的小数'],
  ['points_transfer_min_amount_tl0', 'x', 'A whole number of points.', '须为整数积分。'],
  ['points_transfer_daily_limit_tl0', 'x', 'or nothing.', '须为整数积分，或留空。'],
  ['registration', 'perhaps', 'One of these.', '请从所列选项中选择。'],
  ['announcement_en', 'x'.repeat(501), 'At most 500 characters.', '最多 500 个字符。'],
  ['forum_group_aliases', 'x', 'Pairs like', '须为“开发者 = developers”这样的对应关系'],
])('what %s must be is said in the language of the page', async (name, value, english, chinese) => {
  for (const [language, text] of [
    ['en', english],
    ['zh-CN', chinese],
  ] as const) {
    const form = { ...(await admin.get(PATH)).form(PATH), name, value }
    const answer = await admin.post(PATH, form, { 'accept-language': language })
    expect(answer.status).toBe(400)
    expect(/role="alert"[^>]*>([^<]*)/.exec(answer.body)![1]).toContain(text)
  }
})

it('a change works here at once, elsewhere soon, and keeps its history', async () => {
  const elsewhere = openSettings(test.db)
  expect((await elsewhere.read()).order_expiry_minutes).toBe(30)
  expect(await change('order_expiry_minutes', ' 45 ')).toMatchObject({
    status: 303,
    location: `${PATH}?area=payments#order_expiry_minutes`,
  })
  expect((await test.deps.settings.read()).order_expiry_minutes).toBe(45)
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  expect((await elsewhere.read()).order_expiry_minutes).toBe(45)
  await change('order_expiry_minutes', '60')
  const page = await admin.get(PATH)
  expect(page.body).toMatch(new RegExp(`<code>60</code> @${username}[^]*<code>45</code> @${username}`))
  const audit = await test.db
    .selectFrom('audit_log')
    .where('action', '=', 'setting.change')
    .select(['subject', 'detail'])
    .orderBy('id')
    .execute()
  expect(audit).toEqual([
    { subject: 'order_expiry_minutes', detail: { before: null, after: '45' } },
    { subject: 'order_expiry_minutes', detail: { before: '45', after: '60' } },
  ])
})

it.each([
  ['points_payment_fee_rate', '1.5'],
  ['points_payment_fee_rate', '0.1234567'],
  ['points_payment_fee_rate', 'free'],
  ['points_transfer_fee_rate_tl0', '-0.1'],
  ['points_transfer_min_amount_tl4', '1.5'],
  ['points_transfer_daily_limit_tl1', 'none'],
  ['order_expiry_minutes', '0'],
  ['order_expiry_minutes', ''],
  ['order_expiry_minutes', '0x10'],
  ['limit_pages', ''],
  ['points_transfers', 'perhaps'],
])('%s refuses %j and says why', async (name, value) => {
  const before = await stored()
  const answer = await change(name, value)
  expect(answer.status).toBe(400)
  expect(answer.body).toContain('role="alert"')
  expect(await stored()).toEqual(before)
})

it('refuses members, forms without the token, and unknown names', async () => {
  const before = await stored()
  const member = await (await makePerson(test)).signIn()
  expect((await member.get(PATH)).status).toBe(403)
  const form = (await member.get('/account')).form('/sign-out')
  expect((await member.post(PATH, { ...form, name: 'order_expiry_minutes', value: '5' })).status).toBe(403)
  expect((await admin.post(PATH, { name: 'order_expiry_minutes', value: '5' })).status).toBe(403)
  expect((await change('no_such_setting', '5')).status).toBe(400)
  expect(await stored()).toEqual(before)
})

it('a change needs a recent sign-in, and returns to its area', async () => {
  const stale = await (await makePerson(test, { is_admin: true })).signIn()
  const page = await stale.get(`${PATH}?area=signIn`)
  test.clock.advance(10 * 60_000 + 1)
  const before = await stored()
  const refused = await stale.submit(page, PATH, { name: 'registration', value: 'open' })
  expect(refused.status).toBe(409)
  expect(refused.body).toContain('Nothing was changed.')
  expect(refused.body).toContain(`return_to=${encodeURIComponent(`${PATH}?area=signIn`)}&`)
  expect(await stored()).toEqual(before)
  expect((await stale.get(PATH)).status).toBe(200)
})
