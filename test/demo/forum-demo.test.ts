/** The demo with its forum as a process: a sign-in there signs in here, and everything ends together. */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { browserAt, type Page } from '../harness/browser.ts'
import {
  cleanUp,
  type DemoProcess,
  makeDataDir,
  spawnDemo,
  startDemoProcess,
  whoOutlives,
} from '../harness/demo-process.ts'
import { freePort } from '../harness/free-port.ts'

const FLAGS = ['--demo', '--forum', '--json']
const ENDING_MS = 60_000
/** The bridge reads a new member's score within a round of the worker. */
const BRIDGE_MS = 120_000

async function start(): Promise<DemoProcess> {
  const dataDir = await makeDataDir()
  const env = { FORUM_PORT: String(await freePort()) }
  const started = await startDemoProcess({ dataDir, env, flags: FLAGS })
  onTestFinished(() => cleanUp(started, dataDir))
  return started
}

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

describe('the demo with a forum', { timeout: 90_000 }, () => {
  test('lets its members in without password, and turns score into points', async () => {
    const { demo, output } = await start()
    expect(output().stderr).toBe('')
    expect(demo.forum_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const visit = follower(demo.base_url)
    const atForum = await visit(`${demo.base_url}/sign-in/forum?return_to=%2Faccount`)
    expect(atForum.url).toBe(`${demo.forum_url}/login`)
    const [, id] = /value="(\d+)">Erin/.exec(atForum.body)!
    const account = await visit(atForum.url, { id: id! })
    expect(account.url).toBe(`${demo.base_url}/account`)
    expect(account.body).toContain('@erin')
    const profile = await visit(`${demo.base_url}/account/profile`)
    expect(profile.body).toContain('Trust level 2, developers')

    const deadline = Date.now() + BRIDGE_MS
    let { body } = account
    while (!body.includes('1,200') && Date.now() < deadline) {
      await sleep(500)
      ;({ body } = await visit(`${demo.base_url}/account`))
    }
    expect(body).toContain('1,200')
  })

  test('ends as a whole, told to or killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { descendants, end } = await start()
      expect(descendants.some(({ command }) => command.endsWith('forum.js'))).toBe(true)
      await end(signal)
      expect(await whoOutlives(descendants, ENDING_MS)).toEqual([])
    }
  })

  test('says which port is taken', async () => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    onTestFinished(() => void other.close())
    const dataDir = await makeDataDir()
    const child = await spawnDemo({ dataDir, env: { FORUM_PORT: String(port) }, flags: FLAGS })
    let stderr = ''
    child.stderr!.on('data', (text) => {
      stderr += text
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, stderr]).toEqual([
      1,
      `Port ${port} is taken by another program: set FORUM_PORT to a free one.\n`,
    ])
  })
})
