/** The page of a member's name and language. */
import { expect, it } from 'vitest'
import { isHonestProse, isHonestText } from '../../src/web/parameters.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'

const t = messages.en

const PAGE = '/account/profile'

const test = await useTestApp()

const nameOf = async ({ id }: { id: bigint }) =>
  (await test.db.selectFrom('users').where('id', '=', id).select('name').executeTakeFirstOrThrow()).name
const trailOf = ({ id }: { id: bigint }) =>
  rowsOf(test, 'audit_log', { subject: `user:${id}`, action: 'account.renamed' }, ['actor_id', 'detail'])

it('a name is changed, removed, and logged once a change', async () => {
  const alice = await makePerson(test, { name: 'Alice' })
  const client = await alice.signIn()
  const page = await client.get(PAGE)
  expect(page.body).toContain('value="Alice"')
  expect(page.body).toContain(t.common.trustLevel(2))
  expect(page.body).not.toContain('trust_level_')
  expect(await client.submit(page, PAGE, { name: '  爱丽丝 <i> ' })).toMatchObject({ status: 303 })
  expect(await nameOf(alice)).toBe('爱丽丝 <i>')
  expect((await client.get(PAGE)).body).toContain(t.profile.renamed('爱丽丝 &lt;i&gt;'))
  await client.submit(page, PAGE, { name: '爱丽丝 <i>' })
  await client.submit(page, PAGE, { name: '' })
  expect(await nameOf(alice)).toBeNull()
  expect(await trailOf(alice)).toEqual([
    { actor_id: alice.id, detail: { before: { name: 'Alice' }, after: { name: '爱丽丝 <i>' } } },
    { actor_id: alice.id, detail: { before: { name: '爱丽丝 <i>' }, after: { name: null } } },
  ])
})

it('the page tells what each part of the account holds', async () => {
  const { security, sessions, profile } = t
  const alice = await makePerson(test)
  const client = await alice.signIn()
  const before = (await client.get(PAGE)).body
  for (const text of [security.passwordText, sessions.summary(1), profile.authorisedApps(0)])
    expect(before).toContain(text)
  const form = { current_password: alice.password, new_password: 'another password' }
  await client.submit(await client.get('/account/password'), '/account/password', form)
  await signIn(test, alice.username, form.new_password)
  const [, ended] = await rowsOf(test, 'sessions', { user_id: alice.id }, ['id'])
  await setRows(test, 'sessions', { id: ended!.id }, { expires_at: test.clock.now() })
  await signIn(test, alice.username, form.new_password)
  const after = (await client.get(PAGE)).body
  expect(after).toContain(security.passwordSet)
  expect(after).not.toContain(security.passwordText)
  expect(after).toContain(sessions.summary(2))
})

const NO_NAMES = ['x'.repeat(61), 'admin\u202egnp', 'two\nlines', 'nobody\u200bx']
it.each([...NO_NAMES, '\u3164', '\u200d', '\ufe0f\u200d', '\u{e0041}x'])('%j is no name', async (name) => {
  const alice = await makePerson(test, { name: 'Alice' })
  const client = await alice.signIn()
  const answer = await client.submit(await client.get(PAGE), PAGE, { name })
  expect(answer.status).toBe(400)
  expect(answer.body).toContain(t.profile.nameWrong)
  expect(await nameOf(alice)).toBe('Alice')
  expect(await trailOf(alice)).toEqual([])
})

it('a forum name changes at the forum; others need the form', async () => {
  const alice = await makePerson(test, { name: 'Alice' })
  const client = await alice.signIn()
  expect((await client.post(PAGE, { name: 'Mallory' })).status).toBe(403)
  const form = (await client.get(PAGE)).form(PAGE)
  const forum = { password_hash: null, forum_id: 4_712n }
  await test.db.updateTable('users').set(forum).where('id', '=', alice.id).execute()
  expect((await client.get(PAGE)).body).toContain(t.profile.nameAtForum)
  expect((await client.post(PAGE, { ...form, name: 'Mallory' })).status).toBe(403)
  expect(await nameOf(alice)).toBe('Alice')
})

it('a name of emoji and their joints is a name', async () => {
  const alice = await makePerson(test)
  const client = await alice.signIn()
  const name = '👩\u200d🚀 ❤\ufe0f'
  expect((await client.submit(await client.get(PAGE), PAGE, { name })).status).toBe(303)
  expect(await nameOf(alice)).toBe(name)
})

it('an honest text has no invisible or reversing character', () => {
  const span = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const single = [0x61c, 0xfeff, 0xad, 0x180e, 0x34f, 0x3164, 0x115f, 0x1160, 0xffa0, 0x2800]
  const spans = [span(0x200b, 0x200c), span(0x200e, 0x200f), span(0x202a, 0x202e), span(0x2060, 0x206f)]
  const hidden = [...single, ...spans.flat(), ...span(0xe0000, 0xe007f)].map((n) => String.fromCodePoint(n))
  expect(hidden.filter((one) => isHonestText(`a${one}b`))).toEqual([])
  expect(['é', 'e\u0301', '한글', 'สวัสดี', '★', '5', ''].filter((text) => !isHonestText(text))).toEqual([])
  expect(isHonestText('\u0301')).toBe(false)
  expect([isHonestProse('one\r\n\ttwo'), isHonestProse('one\u202e')]).toEqual([true, false])
})
