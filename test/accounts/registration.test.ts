/** /register: local accounts for visitors, when an administrator has opened registration. spec/accounts 2.7. */
import { expect, it } from 'vitest'
import { keepAccessUrl } from '../../src/accounts/sign-in/keep-access.page.ts'
import type { SettingName } from '../../src/core/setting-values.ts'
import { STALE_TOKEN } from '../harness/browser.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { browser, setSetting, startTestApp, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const PATH = '/register'
const PASSWORD = 'correct horse battery'
const SECRET = 'the secret of the tests, shared with the forum'.replaceAll(' ', '-')

const test = await useTestApp({ TRUST_PROXY: '127.0.0.1' })

async function set(values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await setSetting(test, name as SettingName, value)
}

/** Registers in a new browser, from an address of its own. */
async function register(fields: Record<string, string>, address = '203.0.113.1', query = '') {
  const client = browser(test)
  const headers = { 'x-forwarded-for': address }
  const page = await client.get(PATH + query, headers)
  const form = { password: PASSWORD, ...page.form(PATH), ...fields }
  return { client, answer: await client.post(PATH, form, headers) }
}

const countUsers = async () => (await test.db.selectFrom('users').select('id').execute()).length

it('is closed until an administrator opens it', async () => {
  const client = browser(test)
  expect((await client.get(PATH)).status).toBe(404)
  expect((await client.get('/sign-in')).body).not.toContain(PATH)
  const { form_token = '' } = (await client.get('/sign-in')).form('/sign-in')
  const before = await countUsers()
  const answer = await client.post(PATH, { form_token, username: 'early', password: PASSWORD })
  expect([answer.status, await countUsers()]).toEqual([404, before])
  await set({ registration: 'open' })
  expect((await browser(test).get('/sign-in?return_to=/apps')).body).toContain(`${PATH}?return_to=%2Fapps`)
})

it('makes an ordinary account, signs it in, and leads on', async () => {
  const { client, answer } = await register({ username: 'Nova.1' }, undefined, '?return_to=/account/sessions')
  expect([answer.status, answer.location]).toEqual([303, keepAccessUrl('/account/sessions')])
  // This site sends no mail, and browsers keep no passkeys for its address.
  const asked = await client.get(answer.location!)
  expect([asked.status, asked.location]).toEqual([303, '/account/sessions'])
  const { body, status } = await client.get('/account/sessions')
  expect(status).toBe(200)
  const form_token = /name="form_token" value="([^"]+)"/.exec(body)![1]!
  const email = { form_token, email: 'nova@example.org' }
  expect((await client.post('/account/keep-access/email', email)).status).toBe(404)
  const row = await rowOf(test, 'users', { username: 'Nova.1' })
  expect(row).toMatchObject({ trust_level: 0, is_admin: false, must_change_password: false, forum_id: null })
  const entry = test.db.selectFrom('audit_log').where('subject', '=', `user:${row.id}`)
  expect(await entry.select(['action', 'actor_id', 'ip']).execute()).toEqual([
    { action: 'account.registered', actor_id: row.id, ip: '203.0.113.1' },
  ])
  const alerts = () => rowsOf(test, 'alerts', { user_id: row.id }, ['kind'])
  expect(await alerts()).toEqual([])
  await signIn(test, 'nova.1', PASSWORD)
  expect(await alerts()).toEqual([{ kind: 'new_browser' }])
  // A button of the alert ends all other sessions.
  const warned = await client.get('/account/alerts')
  const [, session] = /<button class="small" name="session" value="(\w+)">/.exec(warned.body)!
  const fields = { ...warned.form('/account/sessions/end'), session: session! }
  const sure = await client.post('/account/sessions/end', fields)
  expect(sure.body).toContain(messages.en.sessions.sureOthers(1))
  await client.submit(sure, '/account/sessions/end')
  expect((await client.get('/account/sessions')).body).toContain('href="/account/password"')
})

it('a refused form is answered once', async () => {
  const lines: string[] = []
  const heard = await startTestApp({ LOG_LEVEL: 'warn' }, (line) => lines.push(line))
  try {
    await setSetting(heard, 'registration', 'open')
    const client = browser(heard)
    const form = (await client.get(PATH)).form(PATH)
    expect((await client.post(PATH, { ...form, username: 'ab', password: PASSWORD })).status).toBe(400)
    // The form of another version leads to its page.
    const older = { ...form, username: 'nova', form_token: 'v9.another-way' }
    expect((await client.post(PATH, older)).status).toBe(303)
    expect(lines).toEqual([])
  } finally {
    await heard.close()
  }
})

it('refuses taken or misleading names, short passwords and foreign forms', async () => {
  const { username: taken } = await makePerson(test)
  const before = await countUsers()
  for (const [fields, status] of [
    [{ username: taken.toUpperCase() }, 409],
    [{ username: 'ab' }, 400],
    [{ username: 'a b c' }, 400],
    [{ username: 'аdmin' }, 400],
    // These capitals become other letters in lower case, which could match another member's name.
    [{ username: 'novİa' }, 400],
    [{ username: 'no\u212aia' }, 400],
    [{ username: 'name~7' }, 400],
    [{ username: 'Admin' }, 400],
    [{ username: 'TESSERA' }, 400],
    [{ username: 'support' }, 400],
    [{ username: 'x'.repeat(31) }, 400],
    [{ username: 'brief', password: 'too short' }, 400],
    [{ username: 'brief', password: 'x'.repeat(201) }, 400],
    [{ username: 'brief', form_token: STALE_TOKEN }, 403],
  ] as const) {
    const { answer } = await register(fields)
    // The hint beside the field does not name the reserved names, so the problem does.
    if (/^(admin|support)$/i.test(fields.username))
      expect(textOf(answer.body)).toContain(messages.en.register.usernameWrong)
    expect([fields, answer.status]).toEqual([fields, status])
  }
  const { answer } = await register({ username: 'leaver', return_to: 'https://evil.example/' })
  expect(answer.location).toBe(keepAccessUrl('/'))
  expect(await countUsers()).toBe(before + 1)
})

it('reports a taken name and a refused password together, and counts the look-up', async () => {
  const { username } = await makePerson(test)
  const { register: r, password: p } = messages.en
  for (const [password, why] of [
    ['too short', p.too_short],
    ['Password2026!', p.common],
  ] as const) {
    const { body, status } = (await register({ username, password }, '203.0.113.7')).answer
    expect(status).toBe(400)
    expect(body).toContain(r.taken)
    expect(body).toContain(why)
    expect(body).not.toContain(messages.en.forms.correct)
  }
  const counted = await rowsOf(test, 'limit_counters', { scope: 'registrations', key: '203.0.113.7' }, [
    'count',
  ])
  expect(counted).toEqual([{ count: 2n }])
})

it('of many with one name at once one gets it', async () => {
  const tries = Array.from({ length: 6 }, (_, n) =>
    register({ username: `Race${n % 2 ? 'r' : 'R'}` }, `198.51.100.${n}`),
  )
  const statuses = (await Promise.all(tries)).map(({ answer }) => answer.status)
  expect(statuses.sort()).toEqual([303, 409, 409, 409, 409, 409])
})

it('is limited for an address, and for no other', async () => {
  await set({ limit_registrations: '2' })
  const statuses = []
  for (let n = 0; n < 4; n += 1)
    statuses.push((await register({ username: `crowd${n}` }, '192.0.2.9')).answer.status)
  expect(statuses).toEqual([303, 303, 429, 429])
  expect((await register({ username: 'elsewhere' }, '192.0.2.200')).answer.status).toBe(303)
})

it('is closed beside a forum, whatever the setting', async () => {
  const beside = await startTestApp({ DISCOURSE_URL: 'https://forum.example.org', DISCOURSE_SECRET: SECRET })
  await beside.db.insertInto('site_settings').values({ name: 'registration', value: 'open' }).execute()
  expect((await beside.deps.settings.read()).registration).toBe('open')
  const client = browser(beside)
  const signInPage = await client.get('/sign-in')
  expect(signInPage.body).not.toContain(PATH)
  const { form_token = '' } = signInPage.form('/sign-in')
  expect((await client.get(PATH)).status).toBe(404)
  expect((await client.post(PATH, { form_token, username: 'stranger', password: PASSWORD })).status).toBe(404)
  const taken = beside.db.selectFrom('users').where('username', '=', 'stranger').select('id')
  expect(await taken.execute()).toEqual([])
  await beside.close()
})
