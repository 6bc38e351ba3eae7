/** What stands between a text and what follows it, in each language. */
import { expect, it } from 'vitest'
import { joinSentences } from '../../src/web/languages.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'

const test = await useTestApp()
const admin = await (await makePerson(test, { is_admin: true })).signIn()

const read = async (path: string, language: string) => {
  const form = (await admin.get(path)).form('/language')
  await admin.post('/language', { ...form, language })
  return (await admin.get(path)).body
}

it('a link follows a space in English, and Chinese punctuation at once', async () => {
  expect(await read('/account/sessions', 'en')).toContain(
    `${messages.en.sessions.applications} <a href="/account/applications">`,
  )
  const reference = async (language: string) =>
    /([^>]{4})<a href="\/docs\/identity"/.exec(await read('/apps', language))![1]
  expect(await reference('en')).toMatch(/\. $/)
  expect(await reference('zh-CN')).toMatch(/。$/)
})

it('a label has the colon of its language', async () => {
  const { id } = await makePerson(test, {})
  const detail = JSON.stringify({ reason: 'Spam' })
  await test.db
    .insertInto('audit_log')
    .values({ actor_id: null, action: 'account.banned', subject: `user:${id}`, detail, ip: null })
    .execute()
  expect(await read(`/admin/members/${id}`, 'en')).toContain(`${messages.en.common.reason}: <bdi>Spam`)
  expect(await read(`/admin/members/${id}`, 'zh-CN')).toContain(
    `${messages['zh-CN'].common.reason}：<bdi>Spam`,
  )
})

it('sentences are joined as their language does', () => {
  expect(joinSentences(['No.', 'Nothing was changed.'])).toBe('No. Nothing was changed.')
  expect(joinSentences(['没有任何更改。', '请重试。'])).toBe('没有任何更改。请重试。')
  expect(joinSentences(['One.'])).toBe('One.')
})
