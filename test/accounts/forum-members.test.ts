/**
 * Changes of members at the forum: the service learns names, groups, trust levels and suspensions by webhook, sweep
 * and sign-in. spec/accounts 1.1 and 5.5.
 */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { checkNextMember, syncWithForum } from '../../src/accounts/forum-sync/sweep.ts'
import { createGroup, deleteGroup } from '../../src/accounts/local-groups.ts'
import { groupsOf as allGroupsOf } from '../../src/accounts/people/users.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { joinGroup, makePerson } from '../harness/cast.ts'
import { WEBHOOK_SECRET } from '../harness/fake-forum.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { browser, setSetting, startTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { makeParty, obtainTokens, userinfo } from '../identity/relying-party.ts'

const t = messages.en

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const groups = ['developers', 'writers', 'painters'].map((name, n) => ({ id: 41 + n, name }))
const { forum, test, hookUrl, ...world } = await useForumWorld({ groups })
const { userOf, nameOf, memberOf, groupsOf, signIn, isIn, emit, sweep, hints, events } = world
const hook = (secret?: string) => ({ url: hookUrl, ...(secret === undefined ? {} : { secret }) })

describe('names', () => {
  it('follow the forum in case and script, and keep the account', async () => {
    const member = forum.join({ username: 'lower' })
    await signIn(member)
    const { id } = await userOf(member)
    for (const username of ['LOWER', 'Lower', '李雷', 'Ünïcode', 'lower']) {
      member.username = username
      await signIn(member)
      expect(await userOf(member)).toMatchObject({ id, username })
    }
  })

  it('pass to a new holder, and the old holder still gets in', async () => {
    const [first, second] = [forum.join({ username: 'river' }), forum.join({ username: 'brook' })]
    const client = await signIn(first)
    await signIn(second)
    const ids = [(await userOf(first)).id, (await userOf(second)).id]
    first.username = 'stream'
    second.username = 'River'
    await signIn(second)
    expect(await nameOf(second)).toBe('River')
    expect(await nameOf(first)).toBe(`river~${first.id}`)
    expect(await isIn(client)).toBe(true)
    await sweep()
    expect(await nameOf(first)).toBe('stream')
    expect([(await userOf(first)).id, (await userOf(second)).id]).toEqual(ids)
  })

  it.each([
    ['the first signs in first', [0, 1]],
    ['the second signs in first', [1, 0]],
    ['only one signs in', [0]],
    ['both sign in at once', 'together'],
    ['nobody signs in', []],
  ] as const)('that two members swap end up right when %s', async (_, order) => {
    const members = [forum.join(), forum.join()] as const
    for (const member of members) await signIn(member)
    const ids = [(await userOf(members[0])).id, (await userOf(members[1])).id]
    const names = [members[1].username, members[0].username] as const
    members[0].username = names[0]
    members[1].username = names[1]
    if (order === 'together') await Promise.all(members.map((member) => signIn(member)))
    else for (const index of order) await signIn(members[index]!)
    test.clock.advance(24 * HOUR_MS)
    await sweep()
    expect([await nameOf(members[0]), await nameOf(members[1])]).toEqual(names)
    expect([(await userOf(members[0])).id, (await userOf(members[1])).id]).toEqual(ids)
  })

  it('that three members pass around at once end right, without a deadlock', async () => {
    const members = [forum.join(), forum.join(), forum.join()]
    for (const member of members) await signIn(member)
    for (let round = 0; round < 3; round += 1) {
      const [first, ...rest] = members.map((member) => member.username)
      const names = [...rest, first!]
      for (const [index, member] of members.entries()) member.username = names[index]!
      await Promise.all(members.map((member) => signIn(member)))
      await sweep()
      expect(await Promise.all(members.map(nameOf))).toEqual(names)
    }
  })

  it('of two new members, exchanged meanwhile, end right', async () => {
    const members = [forum.join({ username: 'castor' }), forum.join({ username: 'pollux' })]
    const before = await test.db.selectFrom('users').select('id').execute()
    await Promise.all([...members, ...members, ...members].map((member) => signIn(member)))
    const after = await test.db.selectFrom('users').select('id').execute()
    expect(after.length).toBe(before.length + 2)
    expect(await Promise.all(members.map(nameOf))).toEqual(['castor', 'pollux'])
  })

  it('of local accounts stay: the member gets another, recorded once', async () => {
    const local = await makePerson(test, { username: 'keeper' })
    const member = forum.join({ username: local.username.toUpperCase() })
    await signIn(member)
    await signIn(member)
    const user = await userOf(member)
    expect(user.username).toBe(`${local.username.toUpperCase()}~${member.id}`)
    expect((await (await local.signIn()).get('/account')).body).toContain(`@${local.username}`)
    const taken = { subject: `user:${user.id}`, action: 'forum.name_taken' }
    expect(await rowsOf(test, 'audit_log', taken, ['detail'])).toEqual([
      {
        detail: { wanted: local.username.toUpperCase(), given: user.username },
      },
    ])
    await test.db.updateTable('users').set({ username: 'moved-on' }).where('id', '=', local.id).execute()
    await signIn(member)
    expect(await nameOf(member)).toBe(member.username)
  })

  it('of sixty characters leave room for the suffix and its number', async () => {
    const long = 'ü'.repeat(60)
    const [first, second] = [forum.join({ username: long }), forum.join()]
    await signIn(first)
    const suffixed = `${'ü'.repeat(60 - `~${first.id}`.length)}~${first.id}`
    await test.db.insertInto('users').values({ username: suffixed, password_hash: 'x' }).execute()
    first.username = 'short'
    second.username = long
    await signIn(second)
    expect(await nameOf(first)).toBe(`${'ü'.repeat(60 - `~${first.id}~2`.length)}~${first.id}~2`)
    expect(await nameOf(second)).toBe(long)
  })
})

describe('groups', () => {
  it('follow a rename for every member once one is looked up', async () => {
    const members = [forum.join({ groups: [41] }), forum.join({ groups: [41, 42] })]
    for (const member of members) await signIn(member)
    await sweep()
    forum.community.groups.set(41, { id: 41, name: 'engineers', automatic: false })
    const { answers } = await emit('group', 'group_updated', { id: 41, name: 'engineers' })
    expect(answers).toEqual([200])
    test.clock.advance(60_001)
    expect(await checkNextMember(test.deps)).toBe(true)
    expect(await Promise.all(members.map(groupsOf))).toEqual([['engineers'], ['engineers', 'writers']])
    forum.community.groups.set(41, { id: 41, name: 'developers', automatic: false })
    await signIn(members[0]!)
    expect(await Promise.all(members.map(groupsOf))).toEqual([['developers'], ['developers', 'writers']])
  })

  it('whose name another takes over do not carry their members along', async () => {
    const painter = forum.join({ groups: [43] })
    const writer = forum.join({ groups: [42] })
    const both = forum.join({ groups: [42, 43] })
    for (const member of [painter, writer, both]) await signIn(member)
    forum.community.groups.set(42, { id: 42, name: 'painters', automatic: false })
    forum.community.groups.set(43, { id: 43, name: 'Writers', automatic: false })
    // The service has not read group 43 again, so its members must not count as members of the name that 42 has now.
    await signIn(writer)
    expect(await groupsOf(writer)).toEqual(['painters'])
    expect(await groupsOf(painter)).toEqual(['painters~43'])
    await sweep()
    expect(await groupsOf(painter)).toEqual(['Writers'])
    expect(await groupsOf(both)).toEqual(['Writers', 'painters'])
    forum.community.groups.set(42, { id: 42, name: 'writers', automatic: false })
    forum.community.groups.set(43, { id: 43, name: 'painters', automatic: false })
    await signIn(both)
    await sweep()
    expect(await groupsOf(both)).toEqual(['painters', 'writers'])
  })

  it('that look like reserved ones are not imported', async () => {
    const member = forum.join({ groups: [44, 45] })
    forum.community.groups.set(44, { id: 44, name: '\u0430dmins', automatic: false })
    forum.community.groups.set(45, { id: 45, name: 'gardeners', automatic: false })
    await signIn(member)
    expect(await groupsOf(member)).toEqual(['gardeners'])
    forum.community.groups.set(45, { id: 45, name: '\uff33taff', automatic: false })
    await signIn(member)
    expect(await groupsOf(member)).toEqual([])
    forum.community.groups.delete(44)
    forum.community.groups.delete(45)
  })

  it('in another language are the same groups, and custom groups never pass', async () => {
    const member = forum.join({ trust_level: 2, moderator: true, groups: [44] })
    forum.community.groups.set(44, { id: 44, name: 'trust_level_4', automatic: false })
    for (const [id, name] of [
      [2, '版主'],
      [3, '管理人员'],
      [10, '信任级别_0'],
      [11, '信任级别_1'],
      [12, '信任级别_2'],
    ] as const)
      forum.community.groups.set(id, { id, name, automatic: true })
    await signIn(member)
    const user = await userOf(member)
    expect(await groupsOf(member)).toEqual([])
    expect(allGroupsOf({ ...user, custom_groups: await groupsOf(member) })).toEqual([
      'trust_level_0',
      'trust_level_1',
      'trust_level_2',
      'moderators',
    ])
    forum.community.groups.delete(44)
  })

  it('that were given here stay, whatever the forum says', async () => {
    const member = forum.join({ groups: [41] })
    await signIn(member)
    const { id } = await userOf(member)
    await joinGroup(test, id, 'testers')
    member.groups = []
    await signIn(member)
    expect(await groupsOf(member)).toEqual(['testers'])
  })

  it('that get the name of a local group are not imported, and administrators are told', async () => {
    forum.community.groups.set(46, { id: 46, name: 'sailors', automatic: false })
    const members = [forum.join({ groups: [41, 46] }), forum.join({ groups: [46] })]
    for (const member of members) await signIn(member)
    expect(await Promise.all(members.map(groupsOf))).toEqual([['developers', 'sailors'], ['sailors']])
    const root = await makePerson(test, { username: 'root', is_admin: true })
    const by = { actor_id: root.id, ip: null }
    await createGroup(test.deps, { name: 'Captains', description: '' }, by)
    forum.community.groups.set(46, { id: 46, name: 'captains', automatic: false })
    await emit('group', 'group_updated', { id: 46, name: 'captains' })
    await sweep()
    // The sweep asked about one member. The group is renamed for all at once.
    expect(await Promise.all(members.map(groupsOf))).toEqual([['developers'], []])
    await signIn(members[1]!)
    expect(await groupsOf(members[1]!)).toEqual([])
    const admin = await root.signIn()
    const text = textOf(await admin.get('/admin/forum'))
    expect(text).toContain(`${t.console.forum.taken} captains ( 46 → Captains )`)

    await setSetting(test, 'forum_group_aliases', 'captains = skippers')
    await signIn(members[1]!)
    expect(await groupsOf(members[1]!)).toEqual(['skippers'])
    expect((await admin.get('/admin/forum')).body).not.toContain(t.console.forum.taken)
    await setSetting(test, 'forum_group_aliases', 'captains = skippers, writers = Captains')
    expect((await admin.get('/admin/forum')).body).toContain(t.console.forum.taken)
    await setSetting(test, 'forum_group_aliases', '')
    await deleteGroup(test.deps, 'captains', by)
    await signIn(members[1]!)
    expect(await groupsOf(members[1]!)).toEqual(['captains'])
  })

  it('that are deleted go from each member in good time', async () => {
    forum.community.groups.set(45, { id: 45, name: 'guests', automatic: false })
    const members = [forum.join({ groups: [45] }), forum.join({ groups: [45] })]
    for (const member of members) await signIn(member)
    forum.community.groups.delete(45)
    await emit('group', 'group_destroyed', { id: 45, name: 'guests' })
    await sweep()
    expect(await Promise.all(members.map(groupsOf))).toEqual([[], []])
  })
})

describe('suspension', () => {
  const inDays = (days: number) => new Date(test.clock.now().getTime() + days * 86_400_000)

  // The forum uses the real clock for suspensions, so these dates are far ahead of both clocks.
  it('by webhook ends a session at its next request, until lifted', async () => {
    const member = forum.join()
    const client = await signIn(member)
    member.suspended_till = '2050-01-01T00:00:00.000Z'
    const { answers } = await emit('user', 'user_updated', forum.community.publicView(member))
    expect(answers).toEqual([200])
    expect(await isIn(client)).toBe(false)
    expect(await userOf(member)).toMatchObject({
      suspended_till: new Date('2050-01-01'),
      is_banned: false,
    })
    delete member.suspended_till
    await emit('user', 'user_updated', forum.community.publicView(member))
    await sweep()
    expect(await userOf(member)).toMatchObject({ suspended_till: null, is_banned: false })
    expect(await isIn(client)).toBe(true)
  })

  it('for ever is a ban, which the forum can lift again', async () => {
    const member = forum.join()
    const client = await signIn(member)
    member.suspended_till = '3017-01-01T00:00:00.000Z'
    test.clock.advance(HOUR_MS)
    await sweep()
    expect(await userOf(member)).toMatchObject({ suspended_till: null, is_banned: true })
    expect(await isIn(client)).toBe(false)
    delete member.suspended_till
    test.clock.advance(24 * HOUR_MS)
    await sweep()
    expect(await userOf(member)).toMatchObject({ is_banned: false })
  })

  it('from our own console is not lifted by the forum, nor shortened', async () => {
    const member = forum.join()
    await signIn(member)
    const { id } = await userOf(member)
    const ours = inDays(3)
    await setRows(test, 'users', { id }, { suspended_till: ours, is_banned: true })
    await emit('user', 'user_updated', { id: member.id })
    await sweep()
    expect(await userOf(member)).toMatchObject({ suspended_till: ours, is_banned: true })
  })

  it('is found by the sweep alone, without any webhook', async () => {
    const member = forum.join()
    const client = await signIn(member)
    member.suspended_till = '2050-01-01T00:00:00.000Z'
    test.clock.advance(HOUR_MS - 1)
    while (await checkNextMember(test.deps));
    expect(await isIn(client)).toBe(true)
    test.clock.advance(1)
    await sweep()
    expect(await isIn(client)).toBe(false)
  })

  it('by silence is kept and told to applications, and bars no one', async () => {
    const silenced_till = new Date(test.clock.now().getTime() + 30 * MINUTE_MS)
    const member = forum.join({ silenced_till: silenced_till.toISOString() })
    const client = await signIn(member)
    expect((await memberOf(member)).silenced_till).toEqual(silenced_till)
    expect(await isIn(client)).toBe(true)
    const { access_token } = await obtainTokens(test, client, await makeParty(test))
    test.clock.advance(30 * MINUTE_MS - 1)
    expect((await userinfo(test, access_token)).body).toMatchObject({ active: true, silenced: true })
    test.clock.advance(1)
    expect((await userinfo(test, access_token)).body).toMatchObject({ active: true, silenced: false })
  })

  it('aside, a change of role is written down', async () => {
    const member = forum.join()
    await signIn(member)
    Object.assign(member, { admin: true })
    await signIn(member)
    await signIn(member)
    expect(await userOf(member)).toMatchObject({ is_admin: true })
    Object.assign(member, { admin: false })
    await emit('user', 'user_updated', { id: member.id })
    await sweep()
    expect(await userOf(member)).toMatchObject({ is_admin: false })
    expect(await world.auditOf(member)).toEqual([
      { action: 'forum.role_changed', detail: { is_admin: true, is_moderator: false } },
      { action: 'forum.role_changed', detail: { is_admin: false, is_moderator: false } },
    ])
  })

  it('follows from being deleted there', async () => {
    const member = forum.join()
    const client = await signIn(member)
    forum.community.members.delete(member.id)
    await emit('user', 'user_destroyed', { id: member.id })
    await sweep()
    expect(await userOf(member)).toMatchObject({ is_banned: true })
    expect(await isIn(client)).toBe(false)
  })

  it('does not follow from an API key without rights', async () => {
    const members = [forum.join(), forum.join()]
    const clients = await Promise.all(members.map(signIn))
    forum.fault = 'not_for_you'
    test.clock.advance(HOUR_MS)
    for (let count = 0; count < 5; count += 1) {
      await checkNextMember(test.deps)
      test.clock.advance(60_001)
    }
    forum.fault = undefined
    for (const client of clients) expect(await isIn(client)).toBe(true)
    await sweep()
    expect(await userOf(members[0]!)).toMatchObject({ is_banned: false })
  })
})

describe('the webhook', () => {
  const post = (headers: Record<string, string>, body = '{"user":{"id":1}}') =>
    fetch(hookUrl, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  it('answers a ping', async () => {
    const { answers } = await forum.webhooks.emit(hook(WEBHOOK_SECRET), 'ping', 'ping', {})
    expect(answers).toEqual([200])
  })

  it('accepts unknown events and unknown people', async () => {
    await sweep()
    expect((await emit('solved', 'accepted_solution', { id: 7 })).answers).toEqual([200])
    expect((await emit('user', 'user_created', { id: 999_999 })).answers).toEqual([200])
    expect((await emit('user', 'user_created', { id: 'x' })).answers).toEqual([200])
    const member = forum.join()
    await signIn(member)
    expect((await emit('user', 'user_logged_in', { id: member.id })).answers).toEqual([200])
    expect(await hints()).toBe(0)
  })

  it('counts an event once that arrives several times, also at once', async () => {
    const member = forum.join()
    await signIn(member)
    const delivery = await emit('user', 'user_updated', { id: member.id })
    await sweep()
    const before = await events()
    const again = await Promise.all(
      Array.from({ length: 5 }, () => forum.webhooks.send(hook(WEBHOOK_SECRET), delivery)),
    )
    expect(again).toEqual([200, 200, 200, 200, 200])
    expect(await hints()).toBe(0)
    expect(await events()).toBe(before)
    const fresh = { ...delivery, id: delivery.id + 1_000_000 }
    await Promise.all(Array.from({ length: 5 }, () => forum.webhooks.send(hook(WEBHOOK_SECRET), fresh)))
    expect(await events()).toBe(before + 1)
    await sweep()
  })

  it('refuses unsigned bodies, wrong secrets and other bytes', async () => {
    const member = forum.join()
    await signIn(member)
    await sweep()
    const before = [await hints(), await events()]
    const content = { id: member.id }
    // The forum repeats the event and gets the same answer.
    for (const secret of [undefined, 'another-secret'])
      expect((await forum.webhooks.emit(hook(secret), 'user', 'user_updated', content)).answers).toEqual([
        403, 403, 403, 403, 403,
      ])
    const headers = { 'x-discourse-event-id': '1', 'x-discourse-event-type': 'user' }
    for (const signature of ['', 'sha256=', `sha1=${'0'.repeat(40)}`, `sha256=${'0'.repeat(64)}`])
      expect((await post({ ...headers, 'x-discourse-event-signature': signature })).status).toBe(403)
    expect([await hints(), await events()]).toEqual(before)
  })

  it('refuses other formats, large bodies and signed bodies without an event', async () => {
    const signed = (body: string, headers: Record<string, string> = {}) =>
      post(
        {
          'x-discourse-event-id': '1',
          'x-discourse-event-type': 'user',
          'x-discourse-event-signature': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
          ...headers,
        },
        body,
      )
    const before = await events()
    expect((await signed('user[id]=1', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(
      415,
    )
    expect((await signed(`{"user":{"id":1,"bio":"${'x'.repeat(1_048_576)}"}}`)).status).toBe(413)
    expect((await signed('{"user":')).status).toBe(400)
    expect((await signed('{}', { 'x-discourse-event-id': '' })).status).toBe(400)
    expect((await signed('{}', { 'x-discourse-event-id': 'x'.repeat(101) })).status).toBe(400)
    expect(await events()).toBe(before)
    expect((await signed('[]', { 'x-discourse-event-id': 'odd-1' })).status).toBe(200)
  })

  it('refuses everything without a secret, and works once it is set', async () => {
    const { DISCOURSE_WEBHOOK_SECRET: _, ...env } = forum.env
    const deaf = await startTestApp(env)
    const url = `${await deaf.app.listen({ port: 0, host: '127.0.0.1' })}/forum/webhook`
    const hooked = { url, secret: WEBHOOK_SECRET, isActive: true }
    const { answers } = await forum.webhooks.emit(hooked, 'user', 'user_updated', { id: 1 })
    expect(answers).toEqual([403, 403, 403, 403, 403])
    expect(hooked.isActive).toBe(true)
    await deaf.close()
  })

  it('is delivered by the forum’s retries after a fault of ours', async () => {
    const member = forum.join()
    await signIn(member)
    await sweep()
    await sql`alter table forum_events rename to broken`.execute(test.db)
    const emitted = emit('user', 'user_updated', { id: member.id })
    const [, response] = await once(test.app.server, 'request')
    await once(response, 'finish')
    await sql`alter table broken rename to forum_events`.execute(test.db)
    const { answers } = await emitted
    expect(answers[0]).toBe(500)
    expect(answers.at(-1)).toBe(200)
    expect(await hints()).toBe(1)
    await sweep()
  })
})

describe('the sweep', () => {
  it('keeps to the budget of requests, however many processes there are', async () => {
    const members = Array.from({ length: 40 }, () => forum.join())
    for (const member of members) {
      await signIn(member)
      test.clock.advance(2_001)
    }
    test.clock.advance(HOUR_MS)
    const before = forum.calls.length
    const work = async () => {
      for (let count = 0; count < 100 && (await checkNextMember(test.deps)); count += 1);
    }
    await Promise.all(Array.from({ length: 6 }, work))
    expect(forum.calls.length - before).toBe(30)
    // No member was requested twice.
    expect(new Set(forum.calls.slice(before)).size).toBe(30)
    test.clock.advance(59_999)
    await work()
    expect(forum.calls.length - before).toBe(30)
    test.clock.advance(2)
    await work()
    expect(forum.calls.length - before).toBeGreaterThan(40)
    expect(forum.calls.length - before).toBeLessThanOrEqual(60)
    await sweep()
  })

  it('leaves the rest of its budget to the sign-ins', async () => {
    await sweep()
    test.clock.advance(HOUR_MS)
    await setRows(test, 'forum_api', {}, { requests: Array.from({ length: 20 }, () => test.clock.now()) })
    const member = forum.join({ trust_level: 1 })
    const before = forum.calls.length
    for (let count = 0; count < 30; count += 1) await signIn(member)
    expect(forum.calls.length - before).toBe(30)
    // Beyond the budget no sign-in waits: the last known values apply, and the background asks later.
    member.trust_level = 3
    const newcomer = forum.join({ trust_level: 3 })
    await signIn(member)
    await signIn(newcomer)
    expect(forum.calls.length - before).toBe(30)
    expect([await userOf(member), await userOf(newcomer)]).toMatchObject([
      { trust_level: 1 },
      { trust_level: 0 },
    ])
    expect(await memberOf(member)).toMatchObject({ failure: 'over_budget' })
    test.clock.advance(MINUTE_MS)
    for (let count = 0; count < 2; count += 1) expect(await checkNextMember(test.deps)).toBe(true)
    expect([await userOf(member), await userOf(newcomer)]).toMatchObject([
      { trust_level: 3 },
      { trust_level: 3 },
    ])
    test.clock.advance(60_001)
    await sweep()
  })

  it('asks about hints, then staff, then members in session, then the longest unasked', async () => {
    const [idle, older, active, hinted] = [forum.join(), forum.join(), forum.join(), forum.join()]
    const staff = forum.join({ moderator: true })
    const clients = []
    for (const member of [older, idle, active, hinted, staff]) {
      clients.push(await signIn(member))
      test.clock.advance(1_000)
    }
    for (const client of clients.slice(0, 2)) await client.submit(await client.get('/account'), '/sign-out')
    // All other members are not due.
    const ids = await Promise.all(
      [idle, older, active, hinted, staff].map(async (member) => (await userOf(member)).id),
    )
    const far = new Date('2100-01-01')
    await test.db
      .updateTable('forum_members')
      .set({ next_check_at: far, hinted_at: null })
      .where('user_id', 'not in', ids)
      .execute()
    test.clock.advance(HOUR_MS)
    await emit('user', 'user_updated', { id: hinted.id })
    const before = forum.calls.length
    await sweep()
    expect(forum.calls.slice(before)).toEqual(
      [hinted, staff, active, older, idle].map((member) => `/admin/users/${member.id}.json`),
    )
  })

  it('puts an unusable answer off, each time longer, and goes on with the others', async () => {
    const [odd, fine] = [forum.join(), forum.join()]
    await signIn(odd)
    await signIn(fine)
    await sweep()
    forum.instead.set(odd.id, { id: odd.id + 1 })
    for (const [index, minutes] of [15, 60, 240, 1_440, 1_440].entries()) {
      test.clock.advance(MINUTE_MS)
      await emit('user', 'user_suspended', { id: odd.id })
      expect(await checkNextMember(test.deps)).toBe(true)
      expect(await memberOf(odd)).toMatchObject({
        failure: 'wrong_member',
        failures: index + 1,
        claimed_until: null,
        retry_at: new Date(test.clock.now().getTime() + minutes * MINUTE_MS),
      })
    }
    test.clock.advance(MINUTE_MS)
    await emit('user', 'user_updated', { id: fine.id })
    const before = forum.calls.length
    while (await checkNextMember(test.deps));
    const after = forum.calls.slice(before)
    expect(after).toContain(`/admin/users/${fine.id}.json`)
    expect(after).not.toContain(`/admin/users/${odd.id}.json`)
    // A hint that is not urgent waits no longer than a minute.
    forum.instead.delete(odd.id)
    await emit('user', 'user_updated', { id: odd.id })
    expect(await checkNextMember(test.deps)).toBe(false)
    test.clock.advance(MINUTE_MS)
    expect(await checkNextMember(test.deps)).toBe(true)
    expect(await memberOf(odd)).toMatchObject({ failure: null, failures: 0, retry_at: null, hinted_at: null })
  })

  it('puts an answer off that the database refuses, and goes on with the others', async () => {
    const [odd, fine] = [forum.join(), forum.join()]
    await signIn(odd)
    await signIn(fine)
    await sweep()
    await sql`alter table users add constraint users_test check (name <> 'refused')`.execute(test.db)
    forum.instead.set(odd.id, { name: 'refused' })
    for (const member of [odd, fine]) {
      await emit('user', 'user_suspended', { id: member.id })
      test.clock.advance(1)
    }
    await expect(checkNextMember(test.deps)).rejects.toThrow('users_test')
    expect(await memberOf(odd)).toMatchObject({ failure: 'not_saved', failures: 1, claimed_until: null })
    expect(await checkNextMember(test.deps)).toBe(true)
    expect(await memberOf(fine)).toMatchObject({ hinted_at: null })
    await sql`alter table users drop constraint users_test`.execute(test.db)
    test.clock.advance(15 * MINUTE_MS)
    await sweep()
    expect(await memberOf(odd)).toMatchObject({ failure: null, hinted_at: null })
  })

  it('pauses when the forum does not answer, as long as it says', async () => {
    const member = forum.join()
    await signIn(member)
    await sweep()
    for (const [fault, seconds] of [
      ['down', 60],
      ['limited', 17],
      ['redirecting', 60],
    ] as const) {
      forum.fault = fault
      await emit('user', 'user_suspended', { id: member.id })
      const before = forum.calls.length
      expect(await checkNextMember(test.deps)).toBe(false)
      expect(await checkNextMember(test.deps)).toBe(false)
      expect(forum.calls.length - before).toBe(1)
      forum.fault = undefined
      test.clock.advance(seconds * 1_000 - 1)
      expect(await checkNextMember(test.deps)).toBe(false)
      expect(forum.calls.length - before).toBe(1)
      test.clock.advance(1)
      expect(await checkNextMember(test.deps)).toBe(true)
      expect(forum.calls.length - before).toBe(2)
    }
  })

  it('takes over from a process that died, after a minute', async () => {
    const member = forum.join()
    await signIn(member)
    await sweep()
    await emit('user', 'user_suspended', { id: member.id })
    const until = new Date(test.clock.now().getTime() + 60_000)
    await setRows(test, 'forum_members', { user_id: (await userOf(member)).id }, { claimed_until: until })
    expect(await checkNextMember(test.deps)).toBe(false)
    test.clock.advance(60_000)
    expect(await checkNextMember(test.deps)).toBe(true)
    expect(await memberOf(member)).toMatchObject({ hinted_at: null, claimed_until: null })
  })

  it('keeps a hint that comes while the forum is asked', async () => {
    const member = forum.join()
    await signIn(member)
    await sweep()
    await emit('user', 'user_suspended', { id: member.id })
    const asking = checkNextMember(test.deps)
    test.clock.advance(1)
    await setRows(
      test,
      'forum_members',
      { user_id: (await userOf(member)).id },
      { hinted_at: test.clock.now() },
    )
    await asking
    expect((await memberOf(member)).hinted_at).not.toBeNull()
    await sweep()
    expect((await memberOf(member)).hinted_at).toBeNull()
  })

  it('forgets nonces and events of long ago, and stops when told to', async () => {
    await browser(test).get('/sign-in/forum')
    const member = forum.join()
    await signIn(member)
    await emit('user', 'user_updated', { id: member.id })
    test.clock.advance(8 * 24 * HOUR_MS)
    const before = forum.calls.length
    await syncWithForum(test.deps, () => true)
    expect(forum.calls.length).toBe(before)
    await deleteExpiredRows(test.deps)
    for (const table of ['forum_nonces', 'forum_events'] as const)
      expect(await test.db.selectFrom(table).select('created_at').execute()).toEqual([])
  })
})
