/**
 * Rights of the forum's staff: they lapse when the forum has not confirmed them for long, and return when it does.
 * spec/accounts 5.6.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { ConnectError } from '../../examples/forum/connect.js'
import { syncWithForum } from '../../src/accounts/forum-sync/sweep.ts'
import { setAdministrator } from '../../src/accounts/operator.ts'
import { makePerson } from '../harness/cast.ts'
import type { TestForum } from '../harness/fake-forum.ts'
import { startForumWorld, useForumWorld } from '../harness/forum-world.ts'
import type { Browser } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { setRows } from '../harness/rows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const world = await useForumWorld()
const { forum, test } = world
// The lists confirm too, and so would hide what single reads do.
await setRows(test, 'forum_sources', {}, { retry_at: new Date('2999-01-01') })
afterEach(async () => {
  forum.instead.clear()
  forum.fault = undefined
  // Nobody of an earlier test is read each hour because of a session.
  await test.db.deleteFrom('sessions').execute()
})

type Member = ReturnType<TestForum['join']>

async function joined(values: Partial<Member> = {}, here = world): Promise<[Member, Browser]> {
  const member = here.forum.join(values)
  return [member, await here.signIn(member)]
}

/** Runs rounds of the worker, by default one every hour, as often as staff are read. */
async function passHours(hours: number, round_ms = HOUR_MS): Promise<void> {
  for (let passed = 0; passed < hours * HOUR_MS; passed += round_ms) {
    test.clock.advance(round_ms)
    await syncWithForum(test.deps, () => false)
  }
}

const rights = async (member: Member, here = world) => {
  const { is_admin, is_moderator } = await here.userOf(member)
  return [is_admin, is_moderator]
}
const isAdmin = async (client: Browser) => (await client.get('/admin')).status === 200

// The first test, because each member of the staff costs a request an hour.
it('staff are read each hour, without a session too', async () => {
  const [member] = await joined({ moderator: true })
  await test.db.deleteFrom('sessions').execute()
  await passHours(20)
  const { staff_confirmed_at } = await world.memberOf(member)
  expect(test.clock.now().getTime() - staff_confirmed_at!.getTime()).toBeLessThan(2 * HOUR_MS)
})

const unreadable: [string, () => Record<string, unknown> | ConnectError][] = [
  ['too long', () => ({ padding: 'p'.repeat(1_048_576) })],
  ['about another member', () => ({ id: 1 })],
  ['an error of the forum', () => new ConnectError(500, 'Oops')],
]

describe('a member of the staff whom the API alone cannot show', () => {
  it.each(unreadable)('loses the rights after a day: the answer is %s', async (_, answer) => {
    const [member, client] = await joined({ admin: true, moderator: true })
    await joined()
    forum.instead.set(member.id, answer())
    await passHours(23)
    expect(await rights(member)).toEqual([true, true])
    expect(await isAdmin(client)).toBe(true)
    await passHours(3, 10 * MINUTE_MS)
    expect(await rights(member)).toEqual([false, false])
    expect(await isAdmin(client)).toBe(false)
    const [notice] = messages.en.profile.roleUnconfirmed('…').split('…')
    expect((await client.get('/account/profile')).body).toContain(notice)
    const root = await (await makePerson(test, { is_admin: true })).signIn()
    const page = (await root.get('/admin/forum')).body
    expect(page).toContain(messages.en.console.forum.lapsed)
    expect(page).toContain(`@${member.username}`)

    forum.instead.delete(member.id)
    await world.emit('user', 'user_suspended', { id: member.id })
    await passHours(1)
    expect(await rights(member)).toEqual([true, true])
    expect(await isAdmin(client)).toBe(true)
    expect((await client.get('/account/profile')).body).not.toContain(notice)
    expect((await root.get('/admin/forum')).body).not.toContain(messages.en.console.forum.lapsed)
    expect(await world.auditOf(member)).toEqual([
      { action: 'forum.role_changed', detail: { is_admin: true, is_moderator: true } },
      { action: 'forum.role_lapsed', detail: { is_admin: true, is_moderator: true } },
      { action: 'forum.role_confirmed', detail: { is_admin: true, is_moderator: true } },
    ])
  })

  it('keeps them by a sign-in that states them', async () => {
    const [member] = await joined({ moderator: true })
    const [other] = await joined()
    forum.instead.set(member.id, { id: 1 })
    await passHours(20)
    await world.signIn(member)
    await passHours(20)
    expect(await rights(member)).toEqual([false, true])
    expect((await world.memberOf(other)).failure).toBeNull()
    await passHours(5)
    expect(await rights(member)).toEqual([false, false])
    await world.signIn(member)
    expect(await rights(member)).toEqual([false, true])
  })

  it('keeps those that an operator grants, until the next day', async () => {
    const [member] = await joined({ admin: true })
    await joined()
    forum.instead.set(member.id, { id: 1 })
    await passHours(26)
    expect(await rights(member)).toEqual([false, false])
    await setAdministrator(test.deps, member.username, true)
    await passHours(2)
    expect(await rights(member)).toEqual([true, false])
    await passHours(24)
    expect(await rights(member)).toEqual([false, false])
  })
})

it('an outage of the forum ends no rights, however long', async () => {
  const staff: [Member, Browser][] = []
  for (let count = 0; count < 25; count += 1) {
    staff.push(await joined({ admin: true }))
    test.clock.advance(2_001)
  }
  await passHours(1)
  forum.fault = 'down'
  await passHours(72)
  forum.fault = undefined
  for (let minute = 0; minute < 30; minute += 1) {
    test.clock.advance(MINUTE_MS)
    await syncWithForum(test.deps, () => false)
    for (const [member] of staff) expect(await rights(member)).toEqual([true, false])
  }
})

it('a member whose page the forum cannot show holds up nobody else', async () => {
  const [broken] = await joined()
  const others = []
  for (let count = 0; count < 5; count += 1) others.push((await joined())[0])
  test.clock.advance(HOUR_MS)
  forum.instead.set(broken.id, new ConnectError(500, 'Oops'))
  await world.emit('user', 'user_suspended', { id: broken.id })
  for (let minute = 0; minute < 5; minute += 1) {
    await syncWithForum(test.deps, () => false)
    test.clock.advance(MINUTE_MS)
  }
  for (const other of others)
    expect((await world.memberOf(other)).next_check_at > test.clock.now()).toBe(true)
  expect(await world.memberOf(broken)).toMatchObject({ failure: 'server_error' })
})

it('without an API key rights lapse 30 days after the last statement', async () => {
  const alone = await startForumWorld({}, { DISCOURSE_API_KEY: undefined })
  const [member] = await joined({ admin: true }, alone)
  alone.test.clock.advance(30 * 24 * HOUR_MS)
  await syncWithForum(alone.test.deps, () => false)
  expect(await rights(member, alone)).toEqual([true, false])
  alone.test.clock.advance(1)
  await syncWithForum(alone.test.deps, () => false)
  expect(await rights(member, alone)).toEqual([false, false])
  await alone.signIn(member)
  expect(await rights(member, alone)).toEqual([true, false])
  await alone.close()
})
