/**
 * Webhooks of the forum: which events act, what their signed bodies take away, and that they give nothing.
 * spec/accounts 5.4.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import { openMetrics } from '../../src/core/metrics.ts'
import type { TestForum } from '../harness/fake-forum.ts'
import { type ForumWorld, startForumWorld, useForumWorld } from '../harness/forum-world.ts'
import { setRows } from '../harness/rows.ts'
import { hasLeft } from '../harness/thoroughness.ts'
import { makeParty, obtainTokens, refresh } from '../identity/relying-party.ts'

const FOREVER = '3017-01-01T00:00:00.000Z'
const UNTIL = '2050-01-01T00:00:00.000Z'
/** `npm test` sends fewer events at once. */
const EVENTS = hasLeft('SCALE') ? 5_000 : 250

const world = await useForumWorld({ groups: [{ id: 41, name: 'developers' }] })
const { forum, test } = world

type Member = ReturnType<TestForum['join']>

async function joined(values: Partial<Member> = {}, here = world): Promise<Member> {
  const member = here.forum.join(values)
  await here.signIn(member)
  await here.sweep()
  return member
}

const hinted = async (member: Member) => {
  const { hinted_at, hint_is_urgent } = await world.memberOf(member)
  return hinted_at === null ? 'no' : hint_is_urgent ? 'urgent' : 'yes'
}

describe('an event', () => {
  it.each([
    ['user', 'user_updated', 'id', 'yes'],
    ['user', 'user_approved', 'id', 'yes'],
    ['user', 'user_suspended', 'id', 'urgent'],
    ['user', 'user_unsuspended', 'id', 'urgent'],
    ['user', 'user_destroyed', 'id', 'urgent'],
    ['user', 'user_anonymized', 'id', 'yes'],
    ['user_promoted', 'user_promoted', 'id', 'yes'],
    ['group_user', 'user_added_to_group', 'user_id', 'yes'],
    ['group_user', 'user_removed_from_group', 'user_id', 'yes'],
  ])('%s %s hints at its member', async (type, event, field, hint) => {
    const member = await joined()
    const before = await world.events()
    const other = field === 'id' ? 'user_id' : 'id'
    const { answers } = await world.emit(type, event, { [field]: member.id, [other]: 'x' })
    expect(answers).toEqual([200])
    expect(await hinted(member)).toBe(hint)
    expect(await world.hints()).toBe(1)
    expect(await world.events()).toBe(before + 1)
    await world.sweep()
  })

  it.each([
    ['user', 'user_logged_in'],
    ['user', 'user_logged_out'],
    ['user', 'user_created'],
    ['user', 'user_confirmed_email'],
    ['post', 'post_created'],
    ['topic', 'topic_created'],
    ['notification', 'notification_created'],
    ['user_badge', 'user_badge_granted'],
    ['like', 'like_created'],
    ['chat_message', 'chat_message_created'],
    ['group', 'group_created'],
    ['solved', 'accepted_solution'],
    ['ping', 'ping'],
    ['toString', 'toString'],
  ])('%s %s asks for nothing and is not stored', async (type, event) => {
    const member = await joined()
    const before = await world.events()
    const about = { id: member.id, user_id: member.id, suspended_till: UNTIL, admin: false }
    expect((await world.emit(type, event, about)).answers).toEqual([200])
    expect([await world.hints(), await world.events()]).toEqual([0, before])
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null })
  })

  it('about somebody without an account asks for nothing and is not stored', async () => {
    const stranger = forum.join()
    const before = await world.events()
    await world.emit('user', 'user_updated', { id: stranger.id })
    expect([await world.hints(), await world.events()]).toEqual([0, before])
  })

  it('is counted by its type and outcome, unknown types together', async () => {
    const metrics = (await openMetrics({ ...test.deps, config: { ...test.deps.config, METRICS_PORT: 1 } }))!
    const member = await joined()
    test.deps.metrics = metrics
    await world.emit('user', 'user_updated', { id: member.id })
    for (const type of ['post', 'solved', 'reviewable']) await world.emit(type, `${type}_created`, {})
    test.deps.metrics = undefined
    const { text } = await metrics.scrape()
    expect(text.match(/^tessera_forum_events_total\{.*$/gm)?.sort()).toEqual([
      'tessera_forum_events_total{type="other",outcome="ignored"} 2',
      'tessera_forum_events_total{type="post",outcome="ignored"} 1',
      'tessera_forum_events_total{type="user",outcome="noted"} 1',
    ])
    await world.sweep()
  })
})

describe('hints', () => {
  it('of a suspension are read at once, before the others', async () => {
    const [first, second] = [await joined(), await joined()]
    await world.emit('user', 'user_updated', { id: first.id })
    test.clock.advance(60_000)
    await world.emit('user', 'user_suspended', { id: second.id })
    const before = forum.calls.length
    while (await checkNextMember(test.deps));
    expect(forum.calls.slice(before, before + 2)).toEqual(
      [second, first].map(({ id }) => `/admin/users/${id}.json`),
    )
  })

  it('of one member cost one request a minute, however many they are', async () => {
    const member = await joined()
    test.clock.advance(60_000)
    const before = forum.calls.length
    for (let second = 0; second < 120; second += 1) {
      await world.emit('user', 'user_updated', { id: member.id })
      await checkNextMember(test.deps)
      test.clock.advance(1_000)
    }
    expect(forum.calls.length - before).toBe(2)
    await world.sweep()
  })
})

describe('the signed body', () => {
  it('suspends before any request, and applications are told', async () => {
    const member = await joined()
    const client = await world.signIn(member)
    const party = await makeParty(test)
    const tokens = await obtainTokens(test, client, party, { scope: 'openid offline_access' })
    const before = forum.calls.length
    await world.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL })
    expect(forum.calls.length).toBe(before)
    expect(await world.userOf(member)).toMatchObject({ suspended_till: new Date(UNTIL), is_banned: false })
    expect(await world.memberOf(member)).toMatchObject({ suspended_by: 'webhook' })
    expect(await world.isIn(client)).toBe(false)
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(400)
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null })
    expect(await world.memberOf(member)).toMatchObject({ suspended_by: null })
  })

  it(`of ${EVENTS} events at once suspends them all before any request`, { timeout: 120_000 }, async () => {
    const first = 900_000
    const ids = Array.from({ length: EVENTS }, (_, n) => first + n)
    const users = await test.db
      .insertInto('users')
      .values(ids.map((id) => ({ forum_id: BigInt(id), username: `crowd${id}`, trust_level: 1 })))
      .returning(['id', 'username'])
      .execute()
    const now = test.clock.now()
    const [next_check_at, score_due_at] = [new Date('2999-01-01'), new Date('2999-01-01')]
    await test.db
      .insertInto('forum_members')
      .values(
        users.map(({ id, username }) => ({
          ...{ user_id: id, username, checked_at: now, next_check_at, score_due_at, created_at: now },
        })),
      )
      .execute()
    const before = forum.calls.length
    const queue = [...ids]
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
          const { answers } = await world.emit('user', 'user_suspended', { id, suspended_till: UNTIL })
          expect(answers).toEqual([200])
        }
      }),
    )
    expect(forum.calls.length).toBe(before)
    const suspended = await test.db
      .selectFrom('users')
      .where('forum_id', '>=', BigInt(first))
      .where('suspended_till', '=', new Date(UNTIL))
      .select('id')
      .execute()
    expect(suspended).toHaveLength(EVENTS)
    await setRows(test, 'forum_members', {}, { hinted_at: null, hint_is_urgent: false })
  })

  it('bans for a suspension of more than a hundred years', async () => {
    const member = await joined()
    await world.emit('user', 'user_updated', { id: member.id, suspended_till: FOREVER })
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null, is_banned: true })
    await world.emit('user', 'user_updated', { id: member.id, suspended_till: UNTIL })
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null, is_banned: true })
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ is_banned: false })
  })

  it('ends a role, and leaves the other', async () => {
    const member = await joined({ admin: true, moderator: true })
    const client = await world.signIn(member)
    expect((await client.get('/admin')).status).toBe(200)
    await world.emit('user', 'user_updated', { id: member.id, admin: false, moderator: 'false' })
    expect(await world.userOf(member)).toMatchObject({ is_admin: false, is_moderator: true })
    expect((await client.get('/admin')).status).toBe(403)
    expect(await world.auditOf(member)).toEqual([
      { action: 'forum.role_changed', detail: { is_admin: true, is_moderator: true } },
      { action: 'forum.role_changed', detail: { is_admin: false, is_moderator: true } },
    ])
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ is_admin: true, is_moderator: true })
  })

  it('gives nothing: no role, no level, no end of a suspension', async () => {
    const member = await joined({ trust_level: 1 })
    await world.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL })
    for (const suspended_till of [
      null,
      undefined,
      'never',
      '2027-01-01T00:00:00.000Z',
      '2001-01-01T00:00:00Z',
    ])
      await world.emit('user', 'user_unsuspended', {
        id: member.id,
        admin: true,
        moderator: true,
        trust_level: 4,
        suspended_till,
      })
    expect(await world.userOf(member)).toMatchObject({
      is_admin: false,
      is_moderator: false,
      trust_level: 1,
      suspended_till: new Date(UNTIL),
    })
    await world.sweep()
  })

  it.each([['too_large'], ['wrong_member'], ['an API that is down']])(
    'suspends until a usable answer, through %s',
    async (fault) => {
      const member = await joined()
      if (fault === 'too_large') forum.instead.set(member.id, { padding: 'p'.repeat(1_048_576) })
      else if (fault === 'wrong_member') forum.instead.set(member.id, { id: member.id + 1 })
      else forum.fault = 'down'
      await world.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL })
      await checkNextMember(test.deps)
      expect(await world.memberOf(member)).toMatchObject({ failure: expect.any(String) })
      expect(await world.userOf(member)).toMatchObject({ suspended_till: new Date(UNTIL) })
      forum.instead.delete(member.id)
      forum.fault = undefined
      await world.sweep()
      expect(await world.userOf(member)).toMatchObject({ suspended_till: null })
    },
  )

  it('is not undone by an answer that was asked for before', async () => {
    const member = await joined({ admin: true })
    const client = await world.signIn(member)
    await world.emit('user', 'user_unsuspended', { id: member.id })
    const asking = checkNextMember(test.deps)
    test.clock.advance(1)
    await world.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL, admin: false })
    await asking
    expect(await world.userOf(member)).toMatchObject({ suspended_till: new Date(UNTIL), is_admin: false })
    expect(await world.isIn(client)).toBe(false)
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null, is_admin: true })
  })

  it('leaves a longer suspension by an administrator of ours', async () => {
    const member = await joined()
    const ours = new Date('2060-01-01')
    await setRows(test, 'users', { forum_id: BigInt(member.id) }, { suspended_till: ours })
    await world.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL })
    expect(await world.userOf(member)).toMatchObject({ suspended_till: ours })
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ suspended_till: ours })
  })

  it('of a repeated event acts once', async () => {
    const member = await joined()
    const content = { id: member.id, suspended_till: UNTIL }
    const delivery = await world.emit('user', 'user_suspended', content)
    await world.sweep()
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null })
    await forum.webhooks.send({ url: world.hookUrl, secret: forum.env.DISCOURSE_WEBHOOK_SECRET! }, delivery)
    expect(await world.userOf(member)).toMatchObject({ suspended_till: null })
  })
})

describe('without an API key', () => {
  let alone: ForumWorld
  beforeAll(async () => {
    alone = await startForumWorld({}, { DISCOURSE_API_KEY: undefined })
  })
  afterAll(() => alone.close())

  it('only user_unsuspended lifts what a webhook suspended', async () => {
    const member = alone.forum.join()
    await alone.signIn(member)
    const suspended = async () => (await alone.userOf(member)).suspended_till
    await alone.emit('user', 'user_suspended', { id: member.id, suspended_till: UNTIL })
    await alone.emit('user', 'user_updated', { id: member.id })
    expect(await suspended()).toEqual(new Date(UNTIL))
    await alone.emit('user', 'user_unsuspended', { id: member.id, suspended_till: UNTIL })
    expect(await suspended()).toEqual(new Date(UNTIL))
    await alone.emit('user', 'user_unsuspended', { id: member.id })
    expect(await suspended()).toBeNull()
    await alone.signIn(member)
  })
})
