/**
 * A round of all lists of a large forum takes few requests and no single read while nothing differs, and after it each change is known.
 * `npm test` has a hundredth of the forum; the whole one, of 200,000 members, is a part of continuous integration. spec/accounts 5.5 and 5.8.
 */
import { afterAll, expect, it } from 'vitest'
import { fetchForumUser } from '../../src/accounts/forum/api.ts'
import { syncWithForum } from '../../src/accounts/forum-sync/sweep.ts'
import { type BigForumSize, bigForumSize, startBigForum } from '../harness/big-forum.ts'
import { START, setSetting, startTestApp } from '../harness/harness.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { hasLeft } from '../harness/thoroughness.ts'

const ROUND_MS = 15_000
const DAY_MS = 86_400_000
const BYTES_MAX = 512 * 1024
const MEMORY_MAX = 200 * 1024 * 1024
const BATCH = 5_000

const isWhole = hasLeft('SCALE')
let now = START
const forum = await startBigForum(bigForumSize(isWhole ? 1 : 0.01), { now: () => now })
const test = await startTestApp({
  DISCOURSE_URL: forum.url,
  DISCOURSE_SECRET: 's'.repeat(32),
  DISCOURSE_API_KEY: 'k'.repeat(32),
})
afterAll(async () => {
  await test.close()
  await forum.close()
})
const { db, clock } = test
const { facts, size } = forum
/** Three members of ten have an account. */
const hasAccount = (id: number) => id % 10 < 3
const accounts = Array.from({ length: size.members }, (_, n) => n + 1).filter(hasAccount)

/** The pages of one pass of each list. A list by hundreds ends with an empty page. */
function requestsOf({ suspended, staff, silenced, levels, groups, members }: BigForumSize): number {
  const lists = [suspended, staff, silenced].map((count) => Math.ceil(count / 100) + 1)
  const pages = [...levels, ...groups, members].map((count) => Math.max(1, Math.ceil(count / 980)))
  return [...lists, ...pages].reduce((sum, count) => sum + count, 1)
}

async function storeAccounts(): Promise<void> {
  await db
    .insertInto('forum_groups')
    .values(size.groups.map((_, group) => ({ id: BigInt(forum.GROUP_ID + group), name: `group${group}` })))
    .execute()
  const until = new Date('2090-01-01')
  for (let from = 0; from < accounts.length; from += BATCH) {
    const ids = accounts.slice(from, from + BATCH)
    const users = await db
      .insertInto('users')
      .values(
        ids.map((id) => ({
          forum_id: BigInt(id),
          username: facts.nameOf(id),
          trust_level: facts.levelOf(id),
          is_admin: facts.isStaff(id),
          suspended_till: facts.isSuspended(id) ? until : null,
        })),
      )
      .returning(['id', 'forum_id'])
      .execute()
    await db
      .insertInto('forum_members')
      .values(
        users.map(({ id, forum_id }) => ({
          user_id: id,
          username: facts.nameOf(Number(forum_id)),
          suspended_till: facts.isSuspended(Number(forum_id)) ? until : null,
          suspended_by: facts.isSuspended(Number(forum_id)) ? ('api' as const) : null,
          silenced_till: facts.isSilenced(Number(forum_id)) ? until : null,
          staff_confirmed_at: facts.isStaff(Number(forum_id)) ? now : null,
          checked_at: now,
          next_check_at: new Date(now.getTime() + DAY_MS),
          score_due_at: new Date(now.getTime() + DAY_MS),
          created_at: now,
        })),
      )
      .execute()
    const held = users.flatMap(({ id, forum_id }) =>
      size.groups.flatMap((_, group) =>
        facts.isIn(Number(forum_id), group)
          ? [
              {
                user_id: id,
                name: `group${group}`,
                forum_group_id: BigInt(forum.GROUP_ID + group),
                from_forum: true,
              },
            ]
          : [],
      ),
    )
    if (held.length > 0) await db.insertInto('user_groups').values(held).execute()
  }
}

async function round(): Promise<void> {
  clock.advance(ROUND_MS)
  now = clock.now()
  await syncWithForum(test.deps, () => false)
}

/** Runs rounds until a pass of each list has begun after this moment and ended, and no hint is left. Returns the minutes. */
async function untilRead(since: Date): Promise<number> {
  for (let rounds = 1; ; rounds += 1) {
    await round()
    const lists = await rowsOf(test, 'forum_sources')
    const isRead = lists
      .filter(({ name }) => name !== 'scores')
      .every(({ started_at, next_page }) => next_page === 0 && started_at !== null && started_at >= since)
    const hint = await db
      .selectFrom('forum_members')
      .where('hinted_at', 'is not', null)
      .select('user_id')
      .limit(1)
      .execute()
    if (isRead && hint.length === 0 && lists.length > size.groups.length) return (rounds * ROUND_MS) / 60_000
  }
}

/** Reads the leaderboard once. Its pass ends at an empty page. */
async function readScores(): Promise<number> {
  await setSetting(test, 'forum_points_bridge', 'on')
  for (;;) {
    await round()
    const { started_at, next_page, pages } = await rowOf(test, 'forum_sources', { name: 'scores' })
    if (started_at !== null && next_page === 0) {
      // Members without a score would be asked for alone a day later.
      await setSetting(test, 'forum_points_bridge', 'off')
      return pages
    }
  }
}

/** Ten minutes of rounds with hints, and more sign-ins than the budget has. Returns how many of those the forum answered. */
async function signInForTenMinutes(): Promise<number> {
  await db
    .updateTable('forum_members')
    .set({ hinted_at: now, hint_is_urgent: true })
    .where('user_id', 'in', (users) => users.selectFrom('users').orderBy('id').limit(200).select('id'))
    .execute()
  let answered = 0
  for (let rounds = 0; rounds < 40; rounds += 1) {
    await round()
    for (const id of accounts.slice(rounds * 8, rounds * 8 + 8))
      if (!('failure' in Object(await fetchForumUser(test.deps, BigInt(id), 'sign_in')))) answered += 1
  }
  return answered
}

it('is read in few requests, and each change is known after a round', { timeout: 600_000 }, async () => {
  await storeAccounts()
  clock.advance(1)
  now = clock.now()
  const memory = process.memoryUsage().rss
  await untilRead(now)
  // The lists of ten minutes are read more than once in that time, so what counts is one pass of each.
  const pages = (await rowsOf(test, 'forum_sources')).reduce((sum, list) => sum + list.pages, 0)
  expect(pages).toBeLessThanOrEqual(requestsOf(size))
  if (isWhole) expect(pages).toBeLessThanOrEqual(450)
  expect(forum.seen).toMatchObject({ single: 0, refused: 0 })
  expect(forum.seen.bytes_max).toBeLessThanOrEqual(BYTES_MAX)
  expect(process.memoryUsage().rss - memory).toBeLessThanOrEqual(MEMORY_MAX)
  expect(await readScores()).toBe(Math.ceil(size.scores / 100) + 1)
  expect(forum.seen).toMatchObject({ single: 0, refused: 0 })

  const part = isWhole ? 1 : 0.1
  const some = (count: number, from: number, isOne: (id: number) => boolean) =>
    accounts.filter((id) => id > from && isOne(id)).slice(0, Math.round(count * part))
  const plain = (id: number) => !facts.isSuspended(id) && !facts.isStaff(id) && !facts.isSilenced(id)
  const suspended = some(100, 0, plain)
  const raised = some(120, suspended.at(-1)!, (id) => plain(id) && facts.levelOf(id) < 4)
  const left = some(50, raised.at(-1)!, (id) => plain(id) && facts.isIn(id, 0))
  const renamed = some(20, left.at(-1)!, plain)
  const deleted = some(10, renamed.at(-1)!, plain)
  for (const id of suspended) forum.change(id, { suspended: true })
  for (const id of raised) forum.change(id, { level: facts.levelOf(id) + 1 })
  for (const id of left) forum.change(id, { outOf: 0 })
  for (const id of renamed) forum.change(id, { username: `renamed${id}` })
  for (const id of deleted) forum.change(id, { isDeleted: true })
  // Names and most groups are read once a day.
  clock.advance(DAY_MS)
  now = clock.now()
  await setRows(test, 'forum_members', {}, { next_check_at: new Date(now.getTime() + 90 * DAY_MS) })
  await untilRead(now)
  const changed = [suspended, raised, left, renamed, deleted].flat()
  const checked = await rowsOf(test, 'forum_members', {}, ['user_id', 'checked_at'])
  expect(
    checked.filter(
      ({ checked_at }) => checked_at! >= now || checked_at! > new Date(START.getTime() + DAY_MS),
    ),
  ).toHaveLength(changed.length)
  const users = await rowsOf(test, 'users', {}, [
    'forum_id',
    'username',
    'trust_level',
    'suspended_till',
    'is_banned',
  ])
  const byId = new Map(users.map((user) => [Number(user.forum_id), user]))
  for (const id of suspended) expect(byId.get(id)!.suspended_till).not.toBeNull()
  for (const id of raised) expect(byId.get(id)!.trust_level).toBe(facts.levelOf(id))
  for (const id of renamed) expect(byId.get(id)!.username).toBe(`renamed${id}`)
  for (const id of deleted) expect(byId.get(id)!.is_banned).toBe(true)
  const stillIn = await rowsOf(test, 'user_groups', { forum_group_id: BigInt(forum.GROUP_ID) })
  expect(stillIn).toHaveLength(accounts.filter((id) => facts.isIn(id, 0)).length)
  // The worker takes 30 requests a minute of 50, so 20 sign-ins have an answer, and the forum refuses none of its 60.
  const single = forum.seen.single
  expect(await signInForTenMinutes()).toBeGreaterThanOrEqual(190)
  expect(forum.seen.single - single).toBeGreaterThanOrEqual(190 + 200)
  expect(forum.seen.refused).toBe(0)
})
