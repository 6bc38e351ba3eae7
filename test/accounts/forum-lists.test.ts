/**
 * The forum's lists by page: presence takes away at once, absence and all else is a hint, a list that shrank is not believed at once, and
 * a pass goes on where another process stopped. spec/accounts 5.5, 5.7 and 5.8.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suspensionBySingleRead } from '../../src/accounts/forum/suspension.ts'
import { areListsFresh, hintMissing, readNextPage } from '../../src/accounts/forum-sync/passes.ts'
import { checkNextMember, syncWithForum } from '../../src/accounts/forum-sync/sweep.ts'
import type { TestForum } from '../harness/fake-forum.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { makeParty } from '../identity/relying-party.ts'

type Member = ReturnType<TestForum['join']>

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const world = await useForumWorld({ groups: [{ id: 41, name: 'developers' }] })
const { forum, test } = world
const { db } = test

const source = (name: string) => rowOf(test, 'forum_sources', { name })
/** The example forum judges suspensions by the real time. */
const LATER = '2090-01-01T00:00:00.000Z'
const isHinted = async (member: Member) => (await world.memberOf(member)).hinted_at !== null
const isActive = async (member: Member) => {
  const { is_banned, suspended_till } = await world.userOf(member)
  return !is_banned && suspended_till === null
}

/** Reads the pages of one list until its pass ends, and returns what was asked. */
async function pass(name: string): Promise<string[]> {
  await only(name)
  const before = forum.calls.length
  while (await readNextPage(test.deps));
  return forum.calls.slice(before)
}

/** Makes one list due and keeps the others back. */
async function only(name: string): Promise<void> {
  const later = new Date(test.clock.now().getTime() + DAY_MS)
  await db.updateTable('forum_sources').set({ retry_at: later }).where('name', '!=', name).execute()
  await setRows(test, 'forum_sources', { name }, { retry_at: null, started_at: null, next_page: 0 })
}

/** A member with an account whose facts here are those of the forum. */
async function joined(values: Partial<Member> = {}): Promise<Member> {
  const member = forum.join(values)
  await world.signIn(member)
  test.clock.advance(1)
  return member
}

/** Changes a member at the forum, without a webhook. */
function change(member: Member, values: Partial<Member>): void {
  Object.assign(member, values)
  test.clock.advance(1)
}

beforeEach(async () => {
  forum.fault = undefined
  test.clock.advance(MINUTE_MS)
  await setRows(test, 'forum_members', {}, { hinted_at: null, hint_is_urgent: false })
  await setRows(test, 'forum_sources', {}, { failure: null, absent: 0, claimed_until: null })
  await pass('groups')
  test.clock.advance(1)
})

describe('who is on a list', () => {
  it('is suspended at once, until the date of the row, and a single read may end it', async () => {
    const member = await joined()
    const client = await world.signIn(member)
    change(member, { suspended_till: LATER })
    expect(await pass('suspended')).toEqual([
      '/admin/users/list/suspended.json',
      '/admin/users/list/suspended.json',
    ])
    expect(await world.userOf(member)).toMatchObject({ suspended_till: new Date(member.suspended_till!) })
    expect(await world.memberOf(member)).toMatchObject({ suspended_by: 'list' })
    expect(await world.isIn(client)).toBe(false)
    delete member.suspended_till
    test.clock.advance(MINUTE_MS)
    expect(await checkNextMember(test.deps, 'hinted')).toBe(true)
    expect(await isActive(member)).toBe(true)
  })

  it('stays suspended after a single read that was asked for before', async () => {
    const member = await joined()
    const asked_at = test.clock.now()
    change(member, { suspended_till: LATER })
    await pass('suspended')
    const { suspended_till, is_banned, suspended_by, hinted_at } = await world.memberOf(member)
    const known = { suspended_till, is_banned, suspended_by, hinted_at, staff_lapsed_at: null }
    const read = { suspended_till: null }
    expect(suspensionBySingleRead(read, known, asked_at)).toMatchObject({
      suspended_till,
      suspended_by: 'list',
    })
    expect(suspensionBySingleRead(read, known, test.clock.now())).toMatchObject({ suspended_till: null })
  })

  it.each([
    [
      'a right that the list denies',
      { admin: true, moderator: true },
      { admin: false },
      { is_admin: false, is_moderator: true },
    ],
    ['no right that the list gives', {}, { moderator: true }, { is_admin: false, is_moderator: false }],
  ])('of staff: loses %s', async (_, had, now, rights) => {
    const member = await joined(had)
    change(member, { moderator: true, ...now })
    await pass('staff')
    expect(await world.userOf(member)).toMatchObject(rights)
    expect(await isHinted(member)).toBe(true)
  })

  it('of staff: is confirmed without a single read', async () => {
    const member = await joined({ moderator: true })
    test.clock.advance(DAY_MS)
    await pass('staff')
    expect(await world.memberOf(member)).toMatchObject({
      staff_confirmed_at: test.clock.now(),
      hinted_at: null,
    })
  })

  it.each<[string, string, Partial<Member>]>([
    ['a higher level', 'trust_level_3', { trust_level: 3 }],
    ['a group', 'group:41', { groups: [41] }],
    ['another name', 'names', { username: 'renamed-by-the-forum' }],
    ['a silence', 'silenced', { silenced_till: '2090-01-01T00:00:00.000Z' }],
  ])('is hinted for %s, once', async (_, name, values) => {
    const [member, same] = [await joined(), await joined()]
    change(member, values)
    await pass(name)
    expect([await isHinted(member), await isHinted(same)]).toEqual([true, false])
    await world.sweep()
    await pass(name)
    expect([await isHinted(member), (await source(name)).differences]).toEqual([false, 0])
  })
})

describe('who is on no page', () => {
  it.each<[string, string, Partial<Member>, Partial<Member>]>([
    ['a level', 'trust_level_2', {}, { trust_level: 1 }],
    ['a group', 'group:41', { groups: [41] }, { groups: [] }],
    ['a right', 'staff', { admin: true }, { admin: false }],
    ['a suspension', 'suspended', {}, {}],
  ])('is hinted, and keeps %s until a single read', async (kind, name, had, now) => {
    const member = await joined(had)
    if (kind === 'a suspension') {
      change(member, { suspended_till: LATER })
      await pass(name)
      await world.sweep()
      delete member.suspended_till
    } else change(member, now)
    const before = await world.userOf(member)
    test.clock.advance(MINUTE_MS)
    await pass(name)
    expect(await isHinted(member)).toBe(true)
    expect(await world.userOf(member)).toEqual(before)
    await world.sweep()
    expect(await world.userOf(member)).not.toEqual(before)
  })

  it('is read once when the forum has deleted the member', async () => {
    const member = await joined()
    forum.community.members.delete(member.id)
    test.clock.advance(MINUTE_MS)
    await pass('names')
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ is_banned: true })
    test.clock.advance(1)
    for (const name of ['names', 'suspended', 'trust_level_1']) await pass(name)
    expect(await isHinted(member)).toBe(false)
  })
})

describe('the list of groups', () => {
  const group = { id: 41, name: 'developers', automatic: false }
  const { groups: listed } = forum.community
  afterEach(() => listed.set(41, group))
  const listOf = (id: bigint) => rowsOf(test, 'forum_sources', { group_id: id })

  it.each([
    ['another name', () => listed.set(41, { ...group, name: 'coders' }), ['coders']],
    ['no such group', () => listed.delete(41), []],
  ])('leads with %s to hints of its members', async (_, act, names) => {
    const member = await joined({ groups: [41] })
    const held = await db
      .selectFrom('user_groups')
      .where('forum_group_id', '=', 41n)
      .select('user_id')
      .execute()
    act()
    await pass('groups')
    expect((await listOf(41n)).map(({ group_name }) => group_name)).toEqual(names)
    // The answer about one member has the new name. Without the group each member is read.
    expect(await world.hints()).toBe(names.length > 0 ? 1 : held.length)
    expect(held.map(({ user_id }) => user_id)).toContain((await world.userOf(member)).id)
    listed.set(41, group)
    await world.sweep()
  })

  it('has a list of its own read hourly where a rule names it, and else daily', async () => {
    expect(await listOf(41n)).toMatchObject([{ every_minutes: 1_440 }])
    await makeParty(test, { allow_groups: ['Developers'] })
    await pass('groups')
    expect(await listOf(41n)).toMatchObject([{ every_minutes: 60 }])
  })

  it('makes no list of a group whose name is kept here', async () => {
    await db.insertInto('local_groups').values({ name: 'founders' }).execute()
    const kept = ['Founders', 'аdmins']
    for (const [place, name] of kept.entries())
      listed.set(90 + place, { id: 90 + place, name, automatic: false })
    await pass('groups')
    for (const place of kept.keys()) {
      expect(await listOf(BigInt(90 + place))).toEqual([])
      listed.delete(90 + place)
    }
  })
})

describe('a list that shrank', () => {
  const many = 60

  it('hints nobody at first, then few a minute', async () => {
    const members: Member[] = []
    for (let count = 0; count < many; count += 1) members.push(forum.join({ groups: [41] }))
    await storeAccounts(members)
    await pass('group:41')
    await world.sweep()
    for (const member of members) member.groups = []
    test.clock.advance(MINUTE_MS)
    await pass('group:41')
    expect(await source('group:41')).toMatchObject({ failure: 'shrunk', absent: many })
    expect(await world.hints()).toBe(0)
    await setRows(test, 'forum_sources', { name: 'group:41' }, { retry_at: null, started_at: null })
    while (await readNextPage(test.deps));
    expect(await source('group:41')).toMatchObject({ failure: 'shrinking' })
    expect(await world.hints()).toBe(0)
    await hintMissing(test.deps)
    await hintMissing(test.deps)
    expect(await world.hints()).toBe(5)
    for (let minute = 0; minute < many / 5; minute += 1) {
      test.clock.advance(MINUTE_MS)
      await world.resetBudget()
      while (await checkNextMember(test.deps, 'hinted'));
      await hintMissing(test.deps)
    }
    expect(await source('group:41')).toMatchObject({ failure: null })
    expect(await rowsOf(test, 'forum_source_pages', {}, ['page'])).toEqual([])
    for (const member of members) expect(await world.groupsOf(member)).toEqual([])
  }, 60_000)
})

/** Makes accounts of members without a sign-in of each. */
async function storeAccounts(members: Member[]): Promise<void> {
  const now = test.clock.now()
  const users = await db
    .insertInto('users')
    .values(members.map(({ id, username, trust_level }) => ({ forum_id: BigInt(id), username, trust_level })))
    .returning(['id', 'username'])
    .execute()
  await db
    .insertInto('forum_members')
    .values(
      users.map(({ id, username }) => ({
        user_id: id,
        username,
        checked_at: now,
        next_check_at: new Date(now.getTime() + DAY_MS),
        score_due_at: new Date(now.getTime() + 400 * DAY_MS),
        created_at: now,
      })),
    )
    .execute()
  test.clock.advance(1)
}

describe('a pass', () => {
  it('goes on at its next page after the death of a process, and two processes read each page once', async () => {
    const members = Array.from({ length: 205 }, () => forum.join({ suspended_till: LATER }))
    await storeAccounts(members)
    await only('suspended')
    const before = forum.calls.length
    expect(await readNextPage(test.deps)).toBe(true)
    // The second page's process dies after its claim.
    await setRows(
      test,
      'forum_sources',
      { name: 'suspended' },
      { claimed_until: new Date(test.clock.now().getTime() + MINUTE_MS) },
    )
    expect(await readNextPage(test.deps)).toBe(false)
    test.clock.advance(MINUTE_MS + 1)
    await Promise.all(
      [1, 2].map(async () => {
        while (await readNextPage(test.deps));
      }),
    )
    while (await readNextPage(test.deps));
    expect(forum.calls.slice(before)).toHaveLength(4)
    expect(await source('suspended')).toMatchObject({ next_page: 0, pages: 4, failure: null })
    expect(await isActive(members.at(-1)!)).toBe(false)
    // Nobody reads all of them alone in the tests that follow.
    await setRows(test, 'forum_members', {}, { hinted_at: null, next_check_at: new Date('2999-01-01') })
  })

  it('whose process dies after each page reads each page once', async () => {
    const members = Array.from({ length: 305 }, () => forum.join({ silenced_till: LATER }))
    await storeAccounts(members)
    await only('silenced')
    const silenced = forum.community.list('silenced').length
    const before = forum.calls.length
    for (let isGoing = true; isGoing; ) {
      isGoing = await readNextPage(test.deps)
      // Another process dies after it has claimed the next page, and before its request.
      const claimed_until = new Date(test.clock.now().getTime() + MINUTE_MS)
      await setRows(test, 'forum_sources', { name: 'silenced' }, { claimed_until })
      expect(await readNextPage(test.deps)).toBe(false)
      test.clock.advance(MINUTE_MS + 1)
      if ((await source('silenced')).next_page === 0) break
    }
    const pages = Math.ceil(silenced / 100) + 1
    expect(forum.calls.slice(before)).toHaveLength(pages)
    expect(await source('silenced')).toMatchObject({ next_page: 0, pages, rows: silenced, failure: null })
    expect(await rowsOf(test, 'forum_source_pages', {}, ['page'])).toEqual([])
    await setRows(test, 'forum_members', {}, { hinted_at: null, next_check_at: new Date('2999-01-01') })
  })

  it('drops the page of a process that stood still while another went on', async () => {
    await only('suspended')
    let reads = 0
    // The settings are read with the claim, and again before the request.
    const read = async () => {
      reads += 1
      if (reads === 2) {
        await setRows(test, 'forum_sources', { name: 'suspended' }, { claimed_until: null })
        expect(await readNextPage(test.deps)).toBe(true)
      }
      return test.deps.settings.read()
    }
    const before = (await source('suspended')).pass
    await readNextPage({ ...test.deps, settings: { ...test.deps.settings, read } })
    expect(await source('suspended')).toMatchObject({ pass: before + 1, next_page: 2, pages: 1 })
  })

  it.each([
    ['refused', 'lists_refused'],
    ['not_found', 'lists_missing'],
  ] as const)('that is %s stops its list alone, for an hour', async (failure, fault) => {
    await setRows(test, 'forum_api', {}, { paused_until: null })
    forum.fault = fault
    await pass('staff')
    expect(await source('staff')).toMatchObject({ failure, next_page: 0 })
    expect(await rowOf(test, 'forum_api', {})).toMatchObject({ paused_until: null })
    expect(await readNextPage(test.deps)).toBe(false)
    forum.fault = undefined
    test.clock.advance(60 * MINUTE_MS + 1)
    await db
      .updateTable('forum_sources')
      .set({ retry_at: new Date('2999-01-01') })
      .where('name', '!=', 'staff')
      .execute()
    expect(await readNextPage(test.deps)).toBe(true)
  })

  it('makes single reads rare while the lists are fresh', async () => {
    const member = await joined()
    await db.deleteFrom('sessions').execute()
    await setRows(test, 'users', {}, { is_admin: false, is_moderator: false })
    for (const name of ['suspended', 'staff', 'trust_level_1']) await pass(name)
    expect(await areListsFresh(db, test.clock.now())).toBe(true)
    await setRows(
      test,
      'forum_members',
      {},
      { next_check_at: new Date(test.clock.now().getTime() - 2 * DAY_MS), hinted_at: null },
    )
    expect(await checkNextMember(test.deps)).toBe(false)
    test.clock.advance(3 * 60 * MINUTE_MS + 1)
    expect(await areListsFresh(db, test.clock.now())).toBe(false)
    expect(await checkNextMember(test.deps)).toBe(true)
    expect(await isActive(member)).toBe(true)
  })
})

describe('the budget of a minute', () => {
  it('gives the worker three fifths, and hints two of three requests while lists are due', async () => {
    const members = Array.from({ length: 40 }, () => forum.join())
    await storeAccounts(members)
    await setRows(test, 'forum_members', {}, { hinted_at: test.clock.now(), checked_at: null })
    await setRows(test, 'forum_sources', {}, { retry_at: null, started_at: null, next_page: 0 })
    await world.resetBudget()
    const before = forum.calls.length
    await syncWithForum(test.deps, () => false)
    // A deleted member costs a second request, from the budget of sign-ins.
    const asked = forum.calls.slice(before).filter((path) => path !== '/admin/users/-1.json')
    const single = asked.filter((path) => /^\/admin\/users\/\d+\.json$/.test(path))
    expect([asked.length, single.length]).toEqual([30, 20])
  })

  it('pauses twice as long after each failure, until an answer', async () => {
    await only('staff')
    const pauses: number[] = []
    forum.fault = 'down'
    for (let failures = 0; failures < 5; failures += 1) {
      await readNextPage(test.deps)
      const { paused_until } = await rowOf(test, 'forum_api', {})
      pauses.push((paused_until!.getTime() - test.clock.now().getTime()) / 1000)
      test.clock.advance(paused_until!.getTime() - test.clock.now().getTime() + 1)
    }
    expect(pauses).toEqual([60, 120, 240, 480, 600])
    forum.fault = undefined
    await readNextPage(test.deps)
    expect(await rowOf(test, 'forum_api', {})).toMatchObject({ pause_seconds: 0 })
  })
})

it('a list of suspended members that is empty unsuspends none of a thousand', async () => {
  const members = Array.from({ length: 1_000 }, () => forum.join({ suspended_till: LATER }))
  await storeAccounts(members)
  await pass('suspended')
  const suspended = await rowsOf(test, 'forum_members', { suspended_by: 'list' }, ['user_id'])
  expect(suspended.length).toBeGreaterThanOrEqual(members.length)
  // As after the single reads of all of them.
  await setRows(test, 'forum_members', {}, { hinted_at: null })
  const { list } = forum.community
  forum.community.list = () => []
  for (const failure of ['shrunk', 'shrinking']) {
    test.clock.advance(MINUTE_MS)
    await setRows(test, 'forum_sources', { name: 'suspended' }, { retry_at: null, started_at: null })
    while (await readNextPage(test.deps));
    expect(await source('suspended')).toMatchObject({ failure })
    expect(await world.hints()).toBe(0)
  }
  // Few are read a minute, and each single read says that the suspension goes on.
  await hintMissing(test.deps)
  expect(await world.hints()).toBe(5)
  await world.resetBudget()
  while (await checkNextMember(test.deps, 'hinted'));
  forum.community.list = list
  const left = await rowsOf(test, 'users', { suspended_till: null }, ['username'])
  const names = new Set(members.map(({ username }) => username))
  expect(left.filter(({ username }) => names.has(username))).toEqual([])
}, 60_000)
