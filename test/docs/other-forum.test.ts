/** The guide to other forums: a forum that answers only what the guide shows passes `tessera doctor --forum`, in both languages. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { examineForumRequests, type Found } from '../../src/cli/doctor/forum.ts'
import { ROOT } from '../harness/server-process.ts'

/** A custom group, the levels that the guide names, and the automatic groups of staff. */
const GROUPS = [1, 2, 3, 10, 11, 12, 13, 14, 41].map((id) => ({
  id,
  name: `group-${id}`,
  automatic: id < 41,
}))

/** Reads the answers of a guide by the request before each. */
function answersIn(guide: string) {
  const jsonAfter = (request: string) => {
    const at = guide.indexOf(`\`GET ${request}`)
    expect(at, request).toBeGreaterThan(-1)
    const [, text] = /(?:`|```json\n)(\{"[^`]*\})/.exec(guide.slice(at))!
    return JSON.parse(text!) as unknown
  }
  const [, system] = /`(\{"id":-1,[^`]*\})`/.exec(guide)!
  return {
    member: jsonAfter('/admin/users/{id}.json'),
    named: jsonAfter('/u/{name}.json'),
    system: JSON.parse(system!) as unknown,
    topic: jsonAfter('/t/{id}.json'),
    group: jsonAfter('/groups/{name}/members.json'),
    leaderboard: jsonAfter('/leaderboard.json'),
  }
}

/** A page after the end of a list. */
const emptied = (body: unknown) =>
  Array.isArray(body) ? [] : { ...(body as object), members: [], users: [] }

/** The path of a request as the guide writes it. */
const asWritten = (path: string) =>
  path
    .replace(/users\/\d+\.json/, 'users/{id}.json')
    .replace(/\/u\/[^/]+\.json/, '/u/{name}.json')
    .replace(/groups\/[^/]+\/members/, 'groups/{name}/members')

it.each(['en', 'zh-CN'])('a forum as the guide in %s shows it passes the doctor', async (language) => {
  const guide = await readFile(join(ROOT, `docs/${language}/other-forum.md`), 'utf8')
  const { member, named, system, group, leaderboard, topic } = answersIn(guide)
  expect(topic).toEqual({ id: expect.any(Number), title: expect.any(String) })
  const bodies: Record<string, unknown> = {
    '/admin/users/42.json': member,
    '/admin/users/-1.json': system,
    '/u/erin.json': named,
    '/groups/search.json': GROUPS,
    '/leaderboard.json': leaderboard,
    ...Object.fromEntries(
      ['suspended', 'staff', 'silenced'].map((list) => [`/admin/users/list/${list}.json`, [member]]),
    ),
    ...Object.fromEntries(GROUPS.map(({ name }) => [`/groups/${name}/members.json`, group])),
  }
  const asked = new Set<string>()
  let heedsPages = true
  const server = createServer(({ url: target = '/', headers }, response) => {
    const { pathname, search } = new URL(target, 'http://x')
    if (pathname === '/session/sso_provider') {
      asked.add(pathname)
      return response.writeHead(302, { location: '/login' }).end()
    }
    const isFar = /page=[1-9]\d{3}|offset=[1-9]/.test(search)
    if (!isFar) asked.add(asWritten(pathname + search))
    expect(headers).toMatchObject({ 'api-key': 'key-of-the-forum', 'api-username': 'system' })
    const body = isFar && heedsPages ? emptied(bodies[pathname]) : bodies[pathname]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { errors: ['nothing'] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const config = {
    PUBLIC_URL: 'https://points.example.org',
    DISCOURSE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    DISCOURSE_SECRET: 'secret-of-the-forum',
    DISCOURSE_API_KEY: 'key-of-the-forum',
    DISCOURSE_API_USERNAME: 'system',
  } as Parameters<typeof examineForumRequests>[0]
  const faultsOf = (found: Found[]) => found.filter(({ state }) => state !== 'good' && state !== 'off')
  const found = await examineForumRequests(config)
  expect(faultsOf(found)).toEqual([])
  expect(found.length).toBeGreaterThan(16)
  for (const path of asked) expect(guide, path).toContain(`GET ${path}`)
  for (const [path, check] of [
    ['/admin/users/-1.json', 'read of the account system'],
    ['/u/erin.json', 'read by name'],
  ] as const) {
    for (const answer of [undefined, { id: 7, user: { id: 7 } }]) {
      bodies[path] = answer
      expect(faultsOf(await examineForumRequests(config)).map((each) => each.check)).toEqual([check])
    }
    // Each answer of the guide is back for the next one.
    bodies[path] = { '/admin/users/-1.json': system, '/u/erin.json': named }[path]
  }
  heedsPages = false
  const checks = faultsOf(await examineForumRequests(config)).map((each) => each.check)
  expect(checks).toEqual(['list staff', 'list names', 'list scores'])
})
