/** The update notice: one request a day that says nothing about the site, and the versions that it tells of. spec/limits 5.1. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { readHealth } from '../../src/admin/dashboard/health.ts'
import { askForVersions } from '../../src/operations/update-notice.ts'
import { VERSION } from '../../src/platform/version.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowOf } from '../harness/rows.ts'

const DAY_MS = 86_400_000
const { dashboard, console: texts } = messages.en

const CHANGELOG = `# Changelog

Words before the first version.

## [99.0.0-rc.1] - 2027-03-01

- **Upgrade:** run \`tessera
  migrate\` <b>first</b>, see [how](https://elsewhere.example/track?site=1).

## v99.0.0 – 2027-04-01

All is new.

## ${VERSION} – 2026-11-27

Known here.
`

let answer: { status: number; body: string; headers?: Record<string, string> }
const requests: { url: string; headers: IncomingHttpHeaders }[] = []
const server = createServer(({ url, headers }, response) => {
  requests.push({ url: url!, headers })
  response.writeHead(answer.status, answer.headers).end(answer.body)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => void server.close())
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
const test = await useTestApp({ UPDATE_NOTICE_URL: `http://${host}/CHANGELOG.md` })
const admin = await makePerson(test, { is_admin: true })
/** Days pass between the tests, and end a session. */
const page = async (path: string) => textOf((await (await admin.signIn()).get(path)).body)

beforeEach(() => {
  test.clock.advance(DAY_MS)
  requests.length = 0
  answer = { status: 200, body: CHANGELOG }
})

it('one of many processes asks once a day, and says nothing about the site', async () => {
  const askAtOnce = () => Promise.all(Array.from({ length: 4 }, () => askForVersions(test.deps)))
  await askAtOnce()
  expect(requests).toEqual([
    {
      url: '/CHANGELOG.md',
      headers: {
        host,
        accept: 'text/markdown, text/plain',
        'accept-encoding': 'identity',
        connection: expect.any(String),
      },
    },
  ])
  test.clock.advance(DAY_MS - 1)
  await askAtOnce()
  expect(requests).toHaveLength(1)
  test.clock.advance(1)
  await askAtOnce()
  expect(requests).toHaveLength(2)
})

it('newer versions stand before the running one, with their notes in plain text', async () => {
  await askForVersions(test.deps)
  expect(await page('/admin/overview')).toContain(`${VERSION} · ${dashboard.newerVersion('99.0.0')}`)
  const shown = await page('/admin/versions')
  expect(shown).toContain(texts.versions.running(VERSION))
  const [newer = '', own] = shown.split(texts.versions.known)
  const inOrder = [
    '99.0.0 2027-04-01 All is new.',
    '99.0.0-rc.1 2027-03-01 Upgrade: run tessera migrate <b>first</b>, see how.',
  ].map((text) => newer.indexOf(text))
  expect(inOrder[0]).toBeGreaterThan(0)
  expect(inOrder[1]).toBeGreaterThan(inOrder[0]!)
  expect(own).toContain(VERSION)
  // The notes of the running version are its own, not those of the answer.
  expect(shown).not.toContain('Known here.')
})

it.each([
  ['status 500', { status: 500, body: CHANGELOG }],
  ['status 302', { status: 302, body: '', headers: { location: `http://${host}/elsewhere` } }],
  ['too long', { status: 200, body: CHANGELOG + ' '.repeat(256 * 1024) }],
  ['no changelog', { status: 200, body: '<h1>404</h1>' }],
])('an answer that is %s leaves the last good one, until the next day', async (fault, bad) => {
  await askForVersions(test.deps)
  test.clock.advance(DAY_MS)
  answer = bad
  expect(await askForVersions(test.deps)).toBe(fault)
  expect(await askForVersions(test.deps)).toBeUndefined()
  expect(requests).toHaveLength(2)
  const shown = await page('/admin/versions')
  expect(shown).toContain(texts.versions.failed(fault))
  expect(shown).toContain('99.0.0')
  test.clock.advance(DAY_MS)
  answer = { status: 200, body: CHANGELOG }
  await askForVersions(test.deps)
  expect((await rowOf(test, 'update_notice', {})).fault).toBeNull()
})

it('without an address nobody is asked, and no version counts as newer', async () => {
  await askForVersions(test.deps)
  test.clock.advance(DAY_MS)
  const off = { ...test.deps, config: { ...test.deps.config, UPDATE_NOTICE_URL: undefined } }
  expect(await askForVersions(off)).toBeUndefined()
  expect(requests).toHaveLength(1)
  expect((await readHealth(test.deps)).version).toEqual({ running: VERSION, newer: '99.0.0' })
  expect((await readHealth(off)).version).toEqual({ running: VERSION, newer: undefined })
})
