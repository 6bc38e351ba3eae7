/**
 * A forum of many members, made by arithmetic: it answers the lists and single reads of Discourse without a member of its own in memory.
 * Changes are kept apart. It counts requests, and answers 429 beyond 60 in a minute of its own clock.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const LIST_PAGE = 100
/** Administrators' keys of a forum may ask so often in a minute. */
const REQUESTS_A_MINUTE = 60

export type BigForumSize = {
  members: number
  suspended: number
  staff: number
  silenced: number
  /** How many members have at least trust level 1, 2, 3 and 4. */
  levels: readonly [number, number, number, number]
  /** The sizes of the custom groups. */
  groups: readonly number[]
  scores: number
}

/** A forum of 200,000 members, or a part of it. */
export function bigForumSize(part = 1): BigForumSize {
  const some = (count: number) => Math.max(1, Math.round(count * part))
  return {
    members: some(200_000),
    suspended: some(3_000),
    staff: some(40),
    silenced: some(600),
    levels: [some(80_000), some(20_000), some(2_000), some(200)],
    groups: [16_000, 6_000, 4_000, 2_000, ...Array.from({ length: 36 }, () => 100)].map(some),
    scores: some(85_000),
  }
}

type Change = { suspended?: boolean; level?: number; outOf?: number; username?: string; isDeleted?: boolean }

export async function startBigForum(size: BigForumSize, clock: { now(): Date }) {
  const changes = new Map<number, Change>()
  const times: number[] = []
  const seen = { requests: 0, single: 0, refused: 0, bytes_max: 0 }
  const FAR = '2090-01-01T00:00:00.000Z'
  const GROUP_ID = 41

  const changed = (id: number): Change => changes.get(id) ?? {}
  const isThere = (id: number) => id <= size.members && changed(id).isDeleted !== true
  // Each fact has its members at another place, so that they are not the same ones.
  const within = (id: number, count: number, from: number) => (id + from) % size.members < count
  const levelOf = (id: number) =>
    changed(id).level ?? size.levels.filter((count) => within(id, count, 7)).length
  const isSuspended = (id: number) => changed(id).suspended ?? within(id, size.suspended, 101)
  const isStaff = (id: number) => within(id, size.staff, 211)
  const isSilenced = (id: number) => within(id, size.silenced, 307)
  const isIn = (id: number, group: number) =>
    within(id, size.groups[group]!, 401 + group * 13) && changed(id).outOf !== group
  const nameOf = (id: number) => changed(id).username ?? `member${id}`

  function membersWith(has: (id: number) => boolean): number[] {
    const found: number[] = []
    for (let id = 1; id <= size.members; id += 1) if (isThere(id) && has(id)) found.push(id)
    return found
  }
  // A list is made once, until something changes.
  const lists = new Map<string, number[]>()
  function list(name: string, has: (id: number) => boolean): number[] {
    const made = lists.get(name) ?? membersWith(has)
    lists.set(name, made)
    return made
  }

  const view = (id: number) => ({
    id,
    username: nameOf(id),
    name: '',
    admin: isStaff(id),
    moderator: false,
    trust_level: levelOf(id),
    ...(isSuspended(id) && { suspended_till: FAR }),
    ...(isSilenced(id) && { silenced_till: FAR }),
  })
  const single = (id: number) => ({
    ...view(id),
    groups: size.groups.flatMap((_, group) =>
      isIn(id, group) ? [{ id: GROUP_ID + group, name: `group${group}`, automatic: false }] : [],
    ),
  })

  function answer(url: URL): unknown {
    const path = url.pathname
    const page = Number(url.searchParams.get('page') ?? 1)
    const id = Number(/^\/admin\/users\/(-?\d+)\.json$/.exec(path)?.[1] ?? 0)
    if (id === -1) return { id: -1, username: 'system', trust_level: 4, groups: [] }
    if (id > 0) {
      seen.single += 1
      return isThere(id) ? single(id) : undefined
    }
    const kind = /^\/admin\/users\/list\/(suspended|staff|silenced)\.json$/.exec(path)?.[1]
    if (kind !== undefined) {
      const has = { suspended: isSuspended, staff: isStaff, silenced: isSilenced }[kind]!
      return list(kind, has)
        .slice((page - 1) * LIST_PAGE, page * LIST_PAGE)
        .map(view)
    }
    if (path === '/groups/search.json')
      return [
        ...[0, 1, 2, 3, 4].map((level) => ({
          id: 10 + level,
          name: `trust_level_${level}`,
          automatic: true,
        })),
        ...size.groups.map((_, group) => ({ id: GROUP_ID + group, name: `group${group}`, automatic: false })),
      ]
    if (path === '/leaderboard.json')
      return {
        users: Array.from({ length: LIST_PAGE }, (_, place) => page * LIST_PAGE + place + 1)
          .filter((rank) => rank <= size.scores)
          .map((rank) => ({ id: rank, username: nameOf(rank), total_score: size.scores - rank + 1 })),
      }
    const name = /^\/groups\/([^/]+)\/members\.json$/.exec(path)?.[1] ?? ''
    const [, level] = /^trust_level_(\d)$/.exec(name) ?? []
    const [, group] = /^group(\d+)$/.exec(name) ?? []
    if (level === undefined && group === undefined) return undefined
    const members = list(name, (member) =>
      level === undefined ? isIn(member, Number(group)) : levelOf(member) >= Number(level),
    )
    const [limit, offset] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('offset'))]
    return {
      members: members
        .slice(offset, offset + limit)
        .map((member) => ({ id: member, username: nameOf(member) })),
      meta: { total: members.length, limit, offset },
    }
  }

  function send(response: ServerResponse, status: number, value: unknown): void {
    const body = JSON.stringify(value)
    seen.bytes_max = Math.max(seen.bytes_max, body.length)
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '30' }),
    })
    response.end(body)
  }

  const server = createServer((request, response) => {
    const now = clock.now().getTime()
    while (times[0] !== undefined && times[0] <= now - 60_000) times.shift()
    if (times.length >= REQUESTS_A_MINUTE) {
      seen.refused += 1
      return send(response, 429, { errors: ['Slow down.'] })
    }
    times.push(now)
    seen.requests += 1
    const value = answer(new URL(request.url ?? '/', 'http://forum'))
    send(response, value === undefined ? 404 : 200, value ?? { errors: ['Not found.'] })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    size,
    GROUP_ID,
    facts: { levelOf, isSuspended, isStaff, isSilenced, isIn, nameOf },
    /** Changes a member at the forum. */
    change(id: number, values: Change): void {
      changes.set(id, { ...changed(id), ...values })
      lists.clear()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type BigForum = Awaited<ReturnType<typeof startBigForum>>
