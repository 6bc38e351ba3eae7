/**
 * What the forum states about a member is judged fact by fact: no text of a member, a moderator or a group keeps a suspension,
 * a role or a group from being learned, and a fact in no right form is unknown, never false.
 * spec/accounts 5.2 and 5.3.
 */
import { describe, expect, it } from 'vitest'
import { checkNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import type { TestForum } from '../harness/fake-forum.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { messages } from '../harness/messages.ts'
import { authorizationUrl, makeParty } from '../identity/relying-party.ts'

const DAY_MS = 86_400_000
const MIB = 1_048_576
const BROKEN = '\uFFFD'

const groups = ['developers', 'writers'].map((name, n) => ({ id: 41 + n, name }))
const world = await useForumWorld({ groups })
const { forum, test } = world

type Member = ReturnType<TestForum['join']>

/** Checks the member by a single read that says this instead. */
async function read(member: Member, instead: Record<string, unknown>): Promise<void> {
  forum.instead.set(member.id, instead)
  await world.emit('user', 'user_unsuspended', { id: member.id })
  const before = forum.calls.length
  expect(await checkNextMember(test.deps)).toBe(true)
  expect(forum.calls.slice(before)).toEqual([`/admin/users/${member.id}.json`])
  // The next hint is newer than this read.
  test.clock.advance(1)
}

async function joined(values: Partial<Member> = {}): Promise<Member> {
  const member = forum.join({ groups: [41], ...values })
  await world.signIn(member)
  test.clock.advance(1)
  return member
}

const inDays = (days: number) => new Date(test.clock.now().getTime() + days * DAY_MS)

describe('a text that nobody can read', () => {
  const bio = {
    id: 41,
    name: 'developers',
    bio_raw: `Since ${BROKEN}`,
    bio_cooked: '\u0000',
    automatic: false,
  }
  it.each([
    ['in the own full name', { name: `Mallory ${BROKEN}` }],
    ['in the reason of the suspension', { suspend_reason: `spam ${BROKEN}`, full_suspend_reason: '\u0000' }],
    ['in a group’s text', { groups: [bio] }],
    ['in a field that nobody knows', { [`odd ${BROKEN}`]: ['\ud800'] }],
    ['in a value deeper than any', { deep: JSON.parse('['.repeat(500) + ']'.repeat(500)) }],
  ])('%s keeps off neither a suspension nor a demotion', async (_, text) => {
    const member = await joined({ admin: true })
    const client = await world.signIn(member)
    expect((await client.get('/admin')).status).toBe(200)
    await read(member, { ...text, admin: false, suspended_till: '2050-01-01T00:00:00.000Z' })
    expect(await world.userOf(member)).toMatchObject({
      is_admin: false,
      suspended_till: new Date('2050-01-01'),
    })
    expect(await world.memberOf(member)).toMatchObject({ failure: null, suspended_by: 'api' })
    expect(await world.groupsOf(member)).toEqual(['developers'])
    expect(await world.isIn(client)).toBe(false)
  })
})

describe('a single read', () => {
  it.each([
    ['', null],
    [null, null],
    [undefined, null],
    [7, null],
    [`Zo${BROKEN}e\u0000 \ud800Ray\u0007`, 'Zoe Ray'],
    ['n'.repeat(256), 'n'.repeat(255)],
    ['😀'.repeat(256), '😀'.repeat(255)],
  ])('with the full name %j gives %j', async (name, stored) => {
    const member = await joined({ name: 'Ada' })
    await read(member, { name })
    expect((await world.userOf(member)).name).toBe(stored)
  })

  it.each([[''], ['a name'], [`name${BROKEN}`], ['name\u0007'], ['n'.repeat(61)], [7], [null], [undefined]])(
    'with the username %j keeps the stored one',
    async (username) => {
      const member = await joined()
      await read(member, { username, trust_level: 4 })
      expect(await world.userOf(member)).toMatchObject({ username: member.username, trust_level: 4 })
      expect((await world.memberOf(member)).username).toBe(member.username)
    },
  )

  it('stores a username composed', async () => {
    const member = await joined()
    await read(member, { username: `Ame\u0301lie${member.id}` })
    expect(await world.nameOf(member)).toBe(`Amélie${member.id}`)
  })

  it.each([[-1], [5], [1.5], ['4'], [null], [undefined]])(
    'with the trust level %j keeps the stored one',
    async (trust_level) => {
      const member = await joined({ trust_level: 3 })
      await read(member, { trust_level, name: 'Read' })
      expect(await world.userOf(member)).toMatchObject({ trust_level: 3, name: 'Read' })
    },
  )

  it.each([['false'], [0], [null], [undefined]])('with the flags %j keeps the roles', async (flag) => {
    const member = await joined({ admin: true, moderator: true })
    const { staff_confirmed_at } = await world.memberOf(member)
    await read(member, { admin: flag, moderator: flag })
    expect(await world.userOf(member)).toMatchObject({ is_admin: true, is_moderator: true })
    expect((await world.memberOf(member)).staff_confirmed_at).toEqual(staff_confirmed_at)
    await read(member, { admin: flag, moderator: false })
    expect(await world.userOf(member)).toMatchObject({ is_admin: true, is_moderator: false })
    expect((await world.memberOf(member)).staff_confirmed_at).toEqual(staff_confirmed_at)
    await read(member, { admin: true, moderator: flag })
    expect((await world.memberOf(member)).staff_confirmed_at).not.toEqual(staff_confirmed_at)
  })

  it.each([[''], ['soon'], ['5'], ['2050-01-01 00:00'], ['2050-13-01T00:00:00Z'], [5], [false], [{}]])(
    'with a suspension until %j suspends for 30 days, again at each read',
    async (suspended_till) => {
      const member = await joined()
      for (let times = 0; times < 2; times += 1) {
        const suspended = inDays(30)
        await read(member, { suspended_till })
        expect((await world.userOf(member)).suspended_till).toEqual(suspended)
        test.clock.advance(DAY_MS)
      }
      await read(member, { suspended_till: null })
      expect((await world.userOf(member)).suspended_till).toBeNull()
    },
  )

  it('with a suspension of more than a hundred years bans', async () => {
    const member = await joined()
    await read(member, { suspended_till: inDays(100 * 365 + 1).toISOString() })
    expect(await world.userOf(member)).toMatchObject({ is_banned: true, suspended_till: null })
    await read(member, { suspended_till: inDays(100 * 365 - 1).toISOString() })
    expect(await world.userOf(member)).toMatchObject({ is_banned: false, suspended_till: expect.any(Date) })
  })

  it('with a silence in no right form keeps the stored one', async () => {
    const member = await joined({ silenced_till: '2050-01-01T00:00:00.000Z' })
    await read(member, { silenced_till: 'soon' })
    expect((await world.memberOf(member)).silenced_till).toEqual(new Date('2050-01-01'))
    await read(member, { silenced_till: null })
    expect((await world.memberOf(member)).silenced_till).toBeNull()
  })

  it('with a silence shows it on the consent page while it lasts', async () => {
    const member = forum.join()
    const client = await world.signIn(member)
    const address = authorizationUrl(await makeParty(test))
    const isShown = async () => (await client.get(address)).body.includes(messages.en.consents.silenced)
    expect(await isShown()).toBe(false)
    await read(member, { silenced_till: inDays(1).toISOString() })
    expect(await isShown()).toBe(true)
    await read(member, { silenced_till: inDays(-1).toISOString() })
    expect(await isShown()).toBe(false)
  })

  it.each([[undefined], [null], [{}], ['developers']])(
    'with the groups %j keeps the stored ones',
    async (groups) => {
      const member = await joined()
      await read(member, { groups, name: 'Read' })
      expect((await world.userOf(member)).name).toBe('Read')
      expect(await world.groupsOf(member)).toEqual(['developers'])
    },
  )

  it('skips elements of the groups that name none, and keeps a group whose name is odd', async () => {
    const member = await joined({ groups: [41, 42] })
    const odd = `writers ${BROKEN}`
    await read(member, {
      groups: [
        null,
        'developers',
        { name: 'nobody' },
        { id: 0, name: 'zero' },
        { id: -5, name: 'bots' },
        { id: '41', name: 'text' },
        { id: 12, name: 'trust_level_2', automatic: true },
        { id: 42, name: odd, automatic: false },
        { id: 42, name: 'doubled', automatic: false },
        { id: 77, name: 'n'.repeat(101), automatic: null },
        { id: 78, name: 'sailors' },
      ],
    })
    expect(await world.groupsOf(member)).toEqual(['group~77', 'sailors', 'writers'])
    await read(member, { groups: [{ id: 77, name: 'pilots' }] })
    expect(await world.groupsOf(member)).toEqual(['pilots'])
  })

  it('counts the first thousand groups', async () => {
    const member = await joined()
    const ids = Array.from({ length: 1_001 }, (_, index) => 2_001 - index)
    await read(member, { groups: ids.map((id) => ({ id, name: `group-${id}` })) })
    const groups = await world.groupsOf(member)
    expect(groups).toHaveLength(1_000)
    expect(groups).not.toContain('group-2001')
    await read(member, { groups: [] })
  })

  it('of a new member leaves level, roles and groups at nothing where it is unknown', async () => {
    const member = forum.join({ trust_level: 4, admin: true, groups: [41] })
    forum.instead.set(member.id, {
      trust_level: '4',
      admin: 'true',
      moderator: null,
      groups: null,
      username: '',
    })
    await world.signIn(member)
    expect(await world.userOf(member)).toMatchObject({
      username: member.username,
      trust_level: 0,
      is_admin: false,
      is_moderator: false,
    })
    expect(await world.groupsOf(member)).toEqual([])
  })
})

describe('the length of an answer', () => {
  it('may be that of 48 groups with long texts', async () => {
    const groups = Array.from({ length: 48 }, (_, index) => ({
      id: 3_000 + index,
      name: `club-${index}`,
      bio_raw: 'b'.repeat(1_400),
    }))
    const member = await joined()
    await read(member, { groups })
    expect(await world.groupsOf(member)).toHaveLength(48)
    await read(member, { groups: [] })
  })

  it('may be a mebibyte, and not a byte more', async () => {
    const member = await joined()
    const bare = JSON.stringify({ ...forum.community.adminView(member), name: 'Long', padding: '' })
    const padding = 'p'.repeat(MIB - bare.length)
    await read(member, { name: 'Long', padding })
    expect((await world.userOf(member)).name).toBe('Long')
    await read(member, { name: 'Longer', padding: `${padding}p` })
    expect((await world.userOf(member)).name).toBe('Long')
    expect(await world.memberOf(member)).toMatchObject({ failure: 'too_large', hinted_at: expect.any(Date) })
  })
})
