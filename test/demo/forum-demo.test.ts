/** The demo with its forum: a sign-in there signs in here, and points follow the score. */
import { expect, onTestFinished, test } from 'vitest'
import { browserAt, type Page } from '../harness/browser.ts'
import { messages } from '../harness/messages.ts'
import { openSharedDemo } from '../harness/shared-demo.ts'

/** A browser that follows every redirect. Returns the address and text of the last page. */
function follower(base: string) {
  const { get, post } = browserAt(base)
  const follow = async (url: string, { location, body }: Page): Promise<{ url: string; body: string }> => {
    if (location === undefined) return { url, body }
    const next = new URL(location, url).href
    return follow(next, await get(next))
  }
  return async (url: string, fields?: Record<string, string>) =>
    follow(url, fields === undefined ? await get(url) : await post(url, fields))
}

test('a member of the forum signs in without password, and gets points for their score', async () => {
  const { demo, close } = await openSharedDemo()
  onTestFinished(close)
  expect(demo.forum_url).toMatch(/^http:\/\/localhost:\d+$/)
  const visit = follower(demo.base_url)
  const atForum = await visit(`${demo.base_url}/sign-in/forum?return_to=%2Faccount`)
  expect(atForum.url).toBe(`${demo.forum_url}/login`)
  const [, id] = /value="(\d+)">Erin/.exec(atForum.body)!
  const account = await visit(atForum.url, { id: id! })
  expect(account.url).toBe(`${demo.base_url}/account`)
  expect(account.body).toContain('@erin')
  const profile = await visit(`${demo.base_url}/account/profile`)
  expect(profile.body).toContain(`${messages.en.common.trustLevel(2)}, developers`)

  const wallet = async () => (await visit(`${demo.base_url}/account`)).body
  await expect.poll(wallet, { interval: 1_000 }).toContain('1,200')
})
