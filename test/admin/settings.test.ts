/**
 * Site settings: a group is saved at once or not at all, and the history names the administrator.
 * spec/pages 3.1.
 */
import { describe, expect, it } from 'vitest'
import { percentOf, shareOf } from '../../src/admin/wording/percent.ts'
import { SETTING_NAMES, type SettingName } from '../../src/core/setting-values.ts'
import { openSettings } from '../../src/core/settings.ts'
import { sampleAddress } from '../../src/web/site.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'

const { settings: t } = messages.en
const { names } = t

const test = await useTestApp()
const person = await makePerson(test, { username: 'admin', is_admin: true })
const username = person.username
const admin = await person.signIn()

const PATH = '/admin/settings'
const AREAS = ['brand', 'payments', 'transfers', 'mandates', 'links', 'signIn', 'forum', 'limits', 'notices']
const pathOf = (area: string) => `${PATH}?area=${area}`

/** The hidden fields of the form. They say what the page showed. */
const formOf = async (area: string) => (await admin.get(pathOf(area))).form(PATH)
/** Posts only these fields, as for a form of which they are all. */
async function change(fields: Record<string, string>) {
  const { form_token = '' } = await formOf('payments')
  return admin.post(PATH, { form_token, ...fields })
}
const stored = () => test.db.selectFrom('site_settings').select(['name', 'value']).orderBy('name').execute()

describe('the page', () => {
  it('has every setting once, in one of its groups', async () => {
    const pages = await Promise.all(AREAS.map((area) => admin.get(pathOf(area))))
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]))
    const bodies = pages.map(({ body }) => body)
    for (const name of SETTING_NAMES)
      expect([name, bodies.filter((body) => body.includes(`id="value-${name}"`)).length]).toEqual([name, 1])
    expect(bodies.join()).not.toContain('undefined')
  })

  it('enters each as its kind, in units of people', async () => {
    const bodies = await Promise.all(AREAS.map(async (area) => (await admin.get(pathOf(area))).body))
    const html = bodies.join()
    const fieldOf = (name: string) =>
      new RegExp(`<(input|textarea)[^>]*id="value-${name}"[^>]*>`).exec(html)![0]
    expect(fieldOf('registration')).toMatch(/type="checkbox"[^>]*role="switch"[^>]*value="open">/)
    expect(fieldOf('points_transfers')).toMatch(/value="on" checked>/)
    expect(fieldOf('order_expiry_minutes')).toMatch(/inputmode="numeric"[^>]* value="30"/)
    expect(fieldOf('points_payment_fee_rate')).toMatch(/inputmode="decimal"[^>]* value="5"/)
    expect(fieldOf('points_transfer_fee_rate_tl4')).toContain('value="0.5"')
    expect(fieldOf('points_transfer_max_amount_tl4')).toContain('value="100,000"')
    expect(fieldOf('announcement_en')).toMatch(/^<textarea[^>]* maxlength="500"/)
    expect(html).toMatch(/id="value-points_payment_fee_rate"[^>]*><span>%<\/span>/)
  })

  it('finds a setting by its words in either language, and by its key', async () => {
    for (const q of ['payment fee', '付款手续费', 'points_payment_fee_rate']) {
      const { body } = await admin.get(`${PATH}/find?${new URLSearchParams({ q })}`)
      expect(body).toContain('href="/admin/settings?area=payments#value-points_payment_fee_rate"')
    }
    const nothing = await admin.get(`${PATH}/find?q=nothing-of-this-name`)
    expect(nothing.body).toContain(t.notFound)
  })
})

describe('percent', () => {
  it.each([
    ['0', '0'],
    ['5', '0.05'],
    ['5 %', '0.05'],
    ['0.5', '0.005'],
    ['12.25', '0.1225'],
    ['100', '1'],
    ['0.0001', '0.000001'],
  ])('%s is stored as %s', (percent, share) => {
    expect(shareOf(percent)).toBe(share)
    expect(percentOf(share)).toBe(percent.replace(' %', ''))
  })

  it.each(['', '-1', 'five', '1,5', '0.12345', '5 5'])('%j is refused', (percent) =>
    expect(shareOf(percent)).toBeUndefined(),
  )

  it('is read from every way to write a share', () => {
    expect(['0.10', '0.1', '1.000000', '0.05'].map(percentOf)).toEqual(['10', '10', '100', '5'])
  })
})

describe('a mistake', () => {
  it.each([
    ['order_expiry_minutes', '0', 'number'],
    ['points_payment_fee_rate', '101', 'rate'],
    ['points_transfer_min_amount_tl0', '5万', 'points'],
    ['points_transfer_daily_limit_tl0', 'none', 'pointsOrNone'],
    ['forum_leaderboard_id', '0', 'idOrNone'],
    ['registration', 'perhaps', 'choice'],
    ['announcement_en', 'x'.repeat(501), 'text'],
    ['forum_group_aliases', 'x', 'pairs'],
    ['site_accent', 'green', 'colour'],
    ['time_zone', 'Mars/Olympus', 'timeZone'],
    ['link_terms', 'javascript:alert(1)', 'link'],
  ] as const)('in %s is marked beside it, in the language of the page', async (name, value, rule) => {
    const before = await stored()
    const { form_token = '' } = await formOf('payments')
    for (const language of ['en', 'zh-CN'] as const) {
      const text = messages[language].settings.must[rule]({
        min: '1',
        max: rule === 'text' ? '500' : '10,080',
      })
      const answer = await admin.post(PATH, { form_token, [name]: value }, { 'accept-language': language })
      expect(answer.status).toBe(400)
      expect(new RegExp(`id="value-${name}-problem">([^<]*)`).exec(answer.body)![1]).toBe(text)
      expect(answer.body).toMatch(new RegExp(`id="value-${name}"[^>]*aria-invalid="true"`))
    }
    expect(await stored()).toEqual(before)
  })

  it.each([
    ['points_payment_fee_rate', '-1'],
    ['points_transfer_min_amount_tl4', '1.5'],
    ['order_expiry_minutes', ''],
    ['order_expiry_minutes', '0x10'],
    ['limit_pages', ''],
  ])('in %s, %j, is refused', async (name, value) => {
    const before = await stored()
    expect((await change({ [name]: value })).status).toBe(400)
    expect(await stored()).toEqual(before)
  })

  it('keeps everything from being saved, and what was typed', async () => {
    const before = await stored()
    const answer = await change({ order_expiry_minutes: '44', alert_key_hours: 'many' })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatch(/id="value-order_expiry_minutes"[^>]* value="44"/)
    expect(answer.body).toMatch(/id="value-alert_key_hours"[^>]* value="many"/)
    expect(textOf(answer.body)).toContain(`${t.wrong(1)} · ${t.nothingSaved}`)
    expect(await stored()).toEqual(before)
  })
})

describe('changes', () => {
  it('of one form are saved together, each with its history, and say what was done', async () => {
    let elapsed_ms = 0
    const elsewhere = openSettings(test.db, () => elapsed_ms)
    expect((await elsewhere.read()).order_expiry_minutes).toBe(30)
    const form = { ...(await formOf('payments')), access_keys: 'on' }
    const changed = { order_expiry_minutes: ' 45 ', alert_key_hours: '12' }
    const typed = { ...form, ...changed, points_payment_fee_rate: '5' }
    const saved = await admin.post(PATH, typed)
    expect(saved).toMatchObject({ status: 303, location: pathOf('payments') })
    const page = textOf((await admin.get(pathOf('payments'))).body)
    const { minutes } = t.units
    const change = t.change(names.order_expiry_minutes.label, `30 ${minutes}`, `45 ${minutes}`)
    expect(page).toContain(t.savedAll(2, change + t.separator))
    expect(page).toContain(t.changedBy(username))
    expect(await test.deps.settings.read()).toMatchObject({ order_expiry_minutes: 45, alert_key_hours: 12 })
    elapsed_ms = 2_000
    expect((await elsewhere.read()).order_expiry_minutes).toBe(30)
    elapsed_ms = 2_001
    expect((await elsewhere.read()).order_expiry_minutes).toBe(45)
    const audit = await rowsOf(test, 'audit_log', { action: 'setting.change' })
    expect(new Map(audit.map(({ subject, detail }) => [subject, detail]))).toEqual(
      new Map([
        ['alert_key_hours', { before: null, after: '12' }],
        ['order_expiry_minutes', { before: null, after: '45' }],
      ]),
    )
    const log = textOf((await admin.get('/admin/audit?action=setting.change')).body)
    const act = messages.en.console.acts.names['setting.change']
    expect(log).toContain(`${act} · ${names.order_expiry_minutes.label}`)
    expect(log).toContain(`→ 45 ${minutes}`)
  })

  it('are none when nothing differs from what the page showed', async () => {
    const before = await stored()
    const form = await formOf('transfers')
    const typed = { ...form, points_transfers: 'on', payouts: 'on', points_transfer_fee_rate_tl0: '10.0' }
    expect(await admin.post(PATH, typed)).toMatchObject({ status: 303, location: pathOf('transfers') })
    expect((await admin.get(pathOf('transfers'))).body).toContain(t.nothingChanged)
    expect(await stored()).toEqual(before)
  })

  it('of importance are confirmed with their effect, and a switch turned off counts', async () => {
    const { points_transfers: _, ...form } = await formOf('transfers')
    const asked = await admin.post(PATH, form)
    expect(asked.status).toBe(200)
    const { on, off } = t.choices
    expect(textOf(asked.body)).toContain(t.change(names.points_transfers.label, on, off))
    expect(asked.body).toContain(t.effects.points_transfers.off)
    expect(textOf(asked.body)).toContain(t.confirm.title(t.groups.transfers))
    // A question is a sheet of its own, without the search of the area.
    expect(asked.body).not.toContain('type="search"')
    expect(asked.body).toContain('<button class="danger ')
    expect((await test.deps.settings.read()).points_transfers).toBe('on')
    expect(await admin.submit(asked, PATH)).toMatchObject({ status: 303, location: pathOf('transfers') })
    expect((await test.deps.settings.read()).points_transfers).toBe('off')

    const fee = await change({ points_payment_fee_rate: '4' })
    expect(textOf(fee.body)).toContain(t.change(names.points_payment_fee_rate.label, '5%', '4%'))
    expect(fee.body).toContain(t.effects.feeOfPayments('50', '40'))
    expect(textOf(fee.body)).toContain(t.confirm.title(t.groups.payments))
    expect(fee.body).not.toContain('class="danger ')
    await admin.submit(fee, PATH)
    expect((await test.deps.settings.read()).points_payment_fee_rate).toBe('0.04')
  })

  it('that another administrator made meanwhile are not overwritten', async () => {
    const mine = await formOf('limits')
    await change({ limit_pages: '200' })
    const answer = await admin.post(PATH, { ...mine, limit_pages: '400' })
    expect(answer.status).toBe(400)
    expect(answer.body).toContain(t.changedMeanwhile(`200 ${t.units.perMinute}`))
    expect(answer.body).toMatch(/id="value-limit_pages"[^>]* value="400"/)
    const limit_pages = mine['shown.limit_pages']!
    const untouched = await admin.post(PATH, { ...mine, limit_pages, limit_exports: '6' })
    expect(untouched.status).toBe(303)
    expect(await test.deps.settings.read()).toMatchObject({ limit_pages: 200, limit_exports: 6 })
  })
})

it('a form with an unknown name is refused', async () => {
  const before = await stored()
  expect((await change({ no_such_setting: '5' })).status).toBe(400)
  expect(await stored()).toEqual(before)
})

describe('a switch', () => {
  it.each([
    ['apps_by_any_token', 'open', 'draft'],
    ['registration', 'open', 'closed'],
  ])('%s is turned off and on', async (name, on, off) => {
    const turn = async (isOn: boolean) => {
      const page = await admin.get(pathOf('signIn'))
      const shown = page.form(PATH)[`shown.${name}`]!
      const { form_token = '' } = page.form(PATH)
      const fields = { form_token, [`shown.${name}`]: shown, ...(isOn && { [name]: on }) }
      const asked = await admin.post(PATH, fields)
      const answer = asked.status === 200 ? await admin.submit(asked, PATH) : asked
      expect(answer.status).toBe(303)
      return (await test.deps.settings.read())[name as 'registration']
    }
    const first = (await test.deps.settings.read())[name as 'registration'] === on
    expect(await turn(!first)).toBe(first ? off : on)
    expect(await turn(first)).toBe(first ? on : off)
  })
})

describe('bounds of transfers', () => {
  it('refuse a smallest transfer above the largest, over stored values and defaults', async () => {
    const [least, most] = ['points_transfer_min_amount_tl1', 'points_transfer_max_amount_tl1'] as const
    const before = await stored()
    for (const form of [{ [least]: '5001' }, { [least]: '30', [most]: '20' }]) {
      const answer = await change(form)
      expect(answer.status).toBe(400)
      expect(answer.body).toContain(t.crossed)
      expect(await stored()).toEqual(before)
    }
    expect((await change({ [least]: '5001', [most]: '6000', confirmed: 'yes' })).status).toBe(303)
    const lower = await change({ [most]: '5000' })
    expect([lower.status, lower.body.includes(t.crossed)]).toEqual([400, true])
  })

  it('move together in both directions', async () => {
    const [least, most] = ['points_transfer_min_amount_tl4', 'points_transfer_max_amount_tl4'] as const
    for (const [small, large] of [
      ['10', '20'],
      ['30', '40'],
      ['1', '2'],
    ] as const) {
      expect((await change({ [least]: small, [most]: large, confirmed: 'yes' })).status).toBe(303)
      for (const [name, value] of [
        [least, small],
        [most, large],
      ] as const)
        expect(await stored()).toContainEqual({ name, value })
    }
  })

  it('are refused by the database where both are stored', async () => {
    await change({
      points_transfer_min_amount_tl3: '30',
      points_transfer_max_amount_tl3: '40',
      confirmed: 'yes',
    })
    for (const [name, value] of [
      ['points_transfer_min_amount_tl3', '41'],
      ['points_transfer_max_amount_tl3', '9'],
    ] as const)
      await expect(
        test.db.updateTable('site_settings').set({ value }).where('name', '=', name).execute(),
      ).rejects.toMatchObject({ constraint: 'site_settings_transfer_bounds' })
  })

  it('that are set at once see each other', async () => {
    const by = { actor_id: null, ip: null, now: test.clock.now() }
    const set = (name: SettingName, value: string) =>
      test.deps.settings.change({ name, value, ...by }).catch((error) => error.code)
    const answers = await Promise.all([
      set('points_transfer_min_amount_tl2', '9000'),
      set('points_transfer_max_amount_tl2', '8000'),
    ])
    expect(answers.sort()).toEqual(['invalid_form', true])
  })
})

it('a change needs a recent sign-in, and returns to its group', async () => {
  const stale = await (await makePerson(test, { is_admin: true })).signIn()
  const page = await stale.get(pathOf('signIn'))
  test.clock.advance(10 * 60_000 + 1)
  const before = await stored()
  const refused = await stale.submit(page, PATH, { registration: 'open' })
  expect(refused.status).toBe(409)
  expect(refused.body).toContain(messages.en.security.signInAgain.text(10))
  expect(refused.body).toContain(`return_to=${encodeURIComponent(pathOf('signIn'))}&`)
  expect(await stored()).toEqual(before)
  expect((await stale.get(PATH)).status).toBe(200)
})

describe('the colour of the site', () => {
  const brand = async (fields: Record<string, string>, window = admin) =>
    window.post(PATH, { ...(await window.get(pathOf('brand'))).form(PATH), ...fields })

  it('is shown in a sample of both modes before it is saved, beside all that was typed', async () => {
    const before = await stored()
    const stale = await (await makePerson(test, { is_admin: true })).signIn()
    test.clock.advance(10 * 60_000 + 1)
    const typed = { site_name_en: 'Spark <Forum>', site_accent: '8A3B6D' }
    for (const [pressed, colour] of [
      ['', '#8a3b6d'],
      ['#3b4fa8', '#3b4fa8'],
    ] as const) {
      const { status, body } = await brand({ ...typed, try: pressed }, stale)
      expect(status).toBe(200)
      expect(body).toContain(t.colour.triedText(colour))
      expect(body).toContain(`href="${sampleAddress(colour)}"`)
      expect(body).toContain('value="Spark &lt;Forum&gt;"')
      expect(body).toMatch(new RegExp(`id="value-site_accent"[^>]* value="${pressed || typed.site_accent}"`))
    }
    expect((await stale.get(`${pathOf('brand')}&try=%238a3b6d`)).body).toContain(sampleAddress('#8a3b6d'))
    expect(await stored()).toEqual(before)
  })

  it('that is too light comes with the nearest readable one', async () => {
    const again = await (await makePerson(test, { is_admin: true })).signIn()
    const refused = await brand({ site_accent: '#ffe680' }, again)
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(`problem">${t.colour.tooLight('#9f860a')}<`)
    expect(refused.body).toMatch(new RegExp(`value="#9f860a">.*${t.colour.use('#9f860a')}</button>`))
    expect((await brand({ site_accent: '#ffe680', try: '' }, again)).body).toContain(
      t.colour.tooLight('#9f860a'),
    )
    expect((await brand({ site_accent: 'ABC', try: '' }, again)).body).toContain(t.colour.tooLight('#7a8b9c'))
    expect((await brand({ site_accent: '9F860A' }, again)).status).toBe(303)
    expect((await test.deps.settings.read()).site_accent).toBe('#9f860a')
  })
})
