/** What stands between a text and what follows it, in each language. */
import { describe, expect, it } from 'vitest'
import { texts } from '../../src/texts.ts'
import { translate } from '../../src/web/languages.ts'
import { joinSentences, spaceBehind, withSpaceBefore } from '../../src/web/spacing.ts'
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

it('a moment follows a Chinese word at once if it begins with one', async () => {
  for (const language of ['en', 'zh-CN'] as const) {
    const { since } = messages[language].sessions
    const space = language === 'en' ? ' ' : ''
    expect(await read('/account/sessions', language)).toContain(`${since}${space}<time`)
  }
  const behind = (written: string, moment: string) =>
    withSpaceBefore({ res: '', written }, `<time datetime="now">${moment}</time>`).startsWith(' ')
  expect(behind('截至', '今天 10:00')).toBe(false)
  expect(behind('截至', '3月1日')).toBe(true)
  expect(behind('Spark', '今天 10:00')).toBe(true)
})

it('an optional field has the brackets of its language', async () => {
  for (const language of ['en', 'zh-CN'] as const) {
    const { optional } = messages[language].common
    expect(await read('/apps', language)).toContain(
      language === 'en' ? `> (${optional})<` : `>（${optional}）<`,
    )
  }
})

describe('a name in a Chinese text', () => {
  const site = (name: string) => ({ site: name, point: '积分', points: '积分' })
  const signInTo = (name: string) => translate(texts, 'zh-CN', site(name)).signIn.title

  it.each([
    ['星火论坛', '登录星火论坛'],
    ['Spark', '登录 Spark'],
    ['7 号论坛', '登录 7 号论坛'],
    ['🔥火', '登录🔥火'],
    ['《星 火》', '登录《星 火》'],
  ])('%s: a space only beside Latin and digits', (name, title) => {
    expect(signInTo(name)).toBe(title)
    expect(messages['zh-CN'].identity.consent.title(name)).toBe(title)
  })

  it('has the space of each of its edges', () => {
    const { leave } = messages['zh-CN'].team.ask
    expect([leave('星火'), leave('Spark 商店'), leave('商店 Spark')]).toEqual([
      '退出星火的团队？',
      '退出 Spark 商店的团队？',
      '退出商店 Spark 的团队？',
    ])
  })

  it('keeps its spaces beside signs, numbers and other names', () => {
    const { change } = messages['zh-CN'].settings
    expect(change('手续费', '关闭', '开启')).toBe('手续费 关闭 → 开启')
    expect(messages.en.identity.consent.title('星火')).toBe('Sign in to 星火')
  })

  it('gets spaces where a site calls its points in Latin letters', () => {
    const { lead } = translate(texts, 'zh-CN', { site: '星火', point: 'Coin', points: 'Coin' }).front
    expect(lead).toBe('用星火账号登录社区里的应用，用 Coin 向商家付款。')
  })
})

it('sentences are joined as their language does', () => {
  expect(joinSentences(['No.', 'Nothing was changed.'])).toBe('No. Nothing was changed.')
  expect(joinSentences(['没有任何更改。', '请重试。'])).toBe('没有任何更改。请重试。')
  expect(joinSentences(['One.'])).toBe('One.')
})

describe('the space behind a part of a page', () => {
  it('depends on that part, and the text before it is not looked at', () => {
    const unread = (written: string) => ({
      get res(): string {
        throw new Error('looked at')
      },
      written,
    })
    expect(spaceBehind(unread('No.'))).toBe(' ')
    expect(spaceBehind(unread('请重试。'))).toBe('')
    expect(spaceBehind(unread('<strong>请重试。</strong>'))).toBe('')
  })

  it('depends on what stands before an empty part, or before the end of bold text', () => {
    expect(spaceBehind({ res: '请重试。', written: '' })).toBe('')
    expect(spaceBehind({ res: '<strong>请重试。</strong>', written: '</strong>' })).toBe('')
    expect(spaceBehind({ res: '<strong>No.</strong>', written: '</strong>' })).toBe(' ')
    expect(spaceBehind({ res: '' })).toBe(' ')
  })
})
