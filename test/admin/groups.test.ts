/** /admin/groups: local groups, their members, and their effect on rules of applications. spec/accounts 1.2. */
import { type RawBuilder, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { addMembers, createGroup, deleteGroup, listGroups } from '../../src/accounts/local-groups.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { joinGroup, makePerson } from '../harness/cast.ts'
import { createDatabase, setSetting, startTestApp, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'
import {
  answerOf,
  authorizationUrl,
  makeParty,
  obtainTokens,
  refresh,
  userinfo,
  withoutWriting,
} from '../identity/relying-party.ts'

const PATH = '/admin/groups'
const t = messages.en.localGroups

/** A Cyrillic letter, full width, a long s, a selector of variants, and a hyphen. */
const LOOKING_RESERVED = [
  '\u0430dmins',
  '\uff41\uff44\uff4d\uff49\uff4e\uff53',
  '\u017ftaff',
  'staff\ufe0f',
  'Trust-Level-1',
]

const test = await useTestApp()
const root = await makePerson(test, { username: 'root', is_admin: true })
const admin = await root.signIn()

const by = () => ({ actor_id: root.id, ip: '203.0.113.7' })
const pathOf = (name: string) => `${PATH}/${encodeURIComponent(name)}`
const create = async (name: string, description = '', client = admin) =>
  client.submit(await client.get(PATH), PATH, { name, description })
const submit = async (name: string, act: string, fields: Record<string, string>, client = admin) =>
  client.submit(await client.get(pathOf(name)), `${pathOf(name)}/${act}`, fields)
const inGroup = async (name: string) =>
  (await rowsOf(test, 'user_groups', { name })).map(({ user_id }) => user_id)
const trailOf = async (subject: string) =>
  (await rowsOf(test, 'audit_log', { subject })).filter(({ action }) => action.startsWith('group.'))
/** The page that an act leads to. */
const led = (answer: { location: string | undefined }) => admin.get(answer.location!)

describe('a local group', () => {
  it('is created, listed with its size, and written down', async () => {
    const answer = await create('棋手', 'Plays chess, on Thursdays')
    expect(answer).toMatchObject({ status: 303, location: pathOf('棋手') })
    expect(textOf(await led(answer))).toContain(t.created('棋手'))
    await joinGroup(test, root.id, '棋手')
    expect(textOf(await admin.get(PATH))).toMatch(/棋手 Plays chess, on Thursdays .* 1 /)
    const detail = { description: 'Plays chess, on Thursdays' }
    expect(await trailOf('group:棋手')).toMatchObject([
      { action: 'group.created', actor_id: root.id, detail, ip: '127.0.0.1' },
    ])
  })

  it.each([
    ['nothing', ''],
    ['a space', 'book club'],
    ['a control character', 'book\u0007club'],
    ['a character that reverses text', 'book\u202eclub'],
    ['an invisible character', 'book\u200bclub'],
    ['61 characters', 'x'.repeat(61)],
    ['a path of dots', '..'],
    ['a trust level', 'Trust_Level_9'],
    ...['Admins', 'moderators', 'banned', 'suspended', 'STAFF', 'everyone'].map((name) => [
      'a reserved name',
      name,
    ]),
    ...LOOKING_RESERVED.map((name) => ['a name that looks reserved', name]),
  ])('is refused with %s as its name', async (_, name) => {
    const answer = await withoutWriting(test, () => create(name!))
    expect(answer.status).toBe(400)
    expect(answer.body).toContain('id="name-problem"')
  })

  it.each(['Trust_Level_9', 'Admins', 'banned', 'two words', 'x'.repeat(61), ...LOOKING_RESERVED])(
    'called %s is refused by the database too',
    async (name) => {
      await expect(sql`insert into local_groups (name) values (${name})`.execute(test.db)).rejects.toThrow(
        /local_groups_name_(free|shape)/,
      )
    },
  )

  it('is refused with a description that is long or reverses text', async () => {
    for (const description of ['x'.repeat(201), 'a\u202eb']) {
      const answer = await withoutWriting(test, () => create('described', description))
      expect([answer.status, answer.body.includes('id="description-problem"')]).toEqual([400, true])
    }
  })

  it('is refused with a name that is taken here, at the forum, or by an alias', async () => {
    await create('Readers')
    await test.db.insertInto('forum_groups').values({ id: 41n, name: 'Gardeners' }).execute()
    const person = await makePerson(test)
    await test.db
      .insertInto('user_groups')
      .values({ user_id: person.id, name: 'Known_by_name', from_forum: true })
      .execute()
    await setSetting(test, 'forum_group_aliases', '开发者 = Developers')
    for (const name of ['readers', 'gardeners', 'known_by_name', '开发者', 'developers']) {
      const answer = await withoutWriting(test, () => create(name))
      expect([name, answer.status]).toEqual([name, 409])
      expect(answer.body).toContain(t.problems.taken)
    }
  })

  it('is refused when there are 200', async () => {
    const own = await startTestApp()
    await sql`insert into local_groups (name) select 'group' || generate_series(1, 200)`.execute(own.db)
    const boss = await makePerson(own, { is_admin: true })
    const client = await boss.signIn()
    const page = await client.get(PATH)
    expect(page.body).toContain(t.full)
    expect(page.body).not.toContain('name="description"')
    const more = createGroup(own.deps, { name: 'group201', description: '' }, { actor_id: boss.id, ip: null })
    await expect(more).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('200') })
    await own.close()
  })

  it('is never renamed', async () => {
    await create('steady')
    const renamed = sql`update local_groups set name = 'other' where name = 'steady'`.execute(test.db)
    await expect(renamed).rejects.toThrow('never renamed')
  })

  it('that does not exist is 404, also for its acts', async () => {
    expect((await admin.get(pathOf('nobody'))).status).toBe(404)
    await create('some')
    const { form_token = '' } = (await admin.get(pathOf('some'))).form(`${pathOf('some')}/add`)
    for (const [act, fields] of [
      ['add', { usernames: root.username }],
      ['remove', { user_id: String(root.id) }],
      ['delete', { typed_name: 'nobody' }],
    ] as const)
      expect((await admin.post(`${pathOf('nobody')}/${act}`, { form_token, ...fields })).status).toBe(404)
  })

  it('has a page whatever characters its name has', async () => {
    for (const name of ['a/b', '100%', 'a?b#c', 'a&b=c', '<b>', `会${'员'.repeat(59)}`]) {
      const answer = await create(name)
      expect([name, answer.status]).toEqual([name, 303])
      expect([name, (await led(answer)).status]).toEqual([name, 200])
      expect((await submit(name, 'add', { usernames: root.username })).status).toBe(303)
      expect((await submit(name, 'delete', { typed_name: name })).status).toBe(303)
    }
  })
})

describe('members', () => {
  it('are added by name, one a line, and shown with the group on their page', async () => {
    await create('crew')
    const [alice, bob] = [await makePerson(test), await makePerson(test, { username: 'bob' })]
    const usernames = `@${alice.username}\r\n\r\n  ${bob.username.toUpperCase()}  \n${alice.username}`
    const answer = await submit('crew', 'add', { usernames })
    expect(textOf(await led(answer))).toContain(t.added('crew', '2', 2, '0', 0))
    expect(await inGroup('crew')).toEqual([alice.id, bob.id])
    expect(await trailOf(`user:${bob.id}`)).toMatchObject([
      { action: 'group.member_added', actor_id: root.id, detail: { group: 'crew' }, ip: '127.0.0.1' },
    ])
    const page = await admin.get(`/admin/members/${bob.id}`)
    expect(page.body).toContain('<a href="/admin/groups/crew">')
    expect(textOf(page)).toContain(messages.en.console.acts.names['group.member_added'])
    expect(textOf(await led(await submit('crew', 'add', { usernames: bob.username })))).toContain(
      t.added('crew', '0', 0, '1', 1),
    )
    expect(await trailOf(`user:${bob.id}`)).toHaveLength(1)
  })

  it('with an unknown name among them are not added, and the name is shown', async () => {
    await create('careful')
    const { username } = await makePerson(test)
    const usernames = `${username}\nnobody-1\nnobody-2`
    const answer = await withoutWriting(test, () => submit('careful', 'add', { usernames }))
    expect(answer.status).toBe(400)
    expect(textOf(answer)).toContain(t.unknown('nobody-1, nobody-2'))
    expect(answer.body).toContain(usernames)
    for (const [text, problem] of [
      [' \n ', t.additionProblems.nobody],
      ['x\n'.repeat(201), t.additionProblems.many],
    ] as const) {
      const refused = await submit('careful', 'add', { usernames: text })
      expect([refused.status, textOf(refused).includes(problem)]).toEqual([400, true])
    }
    expect(await inGroup('careful')).toEqual([])
  })

  it('are listed page after page, and removed', async () => {
    await create('large')
    await sql`insert into users (username, password_hash) select 'large' || generate_series(1, 120), 'x'`.execute(
      test.db,
    )
    const all = Array.from({ length: 120 }, (_, n) => `large${n + 1}`).join('\n')
    expect(textOf(await led(await submit('large', 'add', { usernames: all })))).toContain(
      t.added('large', '120', 120, '0', 0),
    )
    const first = await admin.get(pathOf('large'))
    const next = /href="([^"]*before=\d+)"/.exec(first.body)![1]!
    const second = await admin.get(next)
    const third = await admin.get(/href="([^"]*before=\d+)"/.exec(second.body)![1]!)
    const counts = [first, second, third].map(({ body }) => body.match(/>@large/g)?.length)
    expect(counts).toEqual([50, 50, 20])
    const [last] = (await inGroup('large')).slice(-1)
    const removed = await submit('large', 'remove', { user_id: String(last) })
    expect(textOf(await led(removed))).toContain(t.removed('large120', 'large'))
    expect(await inGroup('large')).not.toContain(last)
    expect((await submit('large', 'remove', { user_id: String(last) })).status).toBe(404)
    expect((await submit('large', 'remove', { user_id: 'x' })).status).toBe(400)
    expect(await trailOf(`user:${last}`)).toMatchObject([
      { action: 'group.member_added' },
      { action: 'group.member_removed', detail: { group: 'large' } },
    ])
  })

  it('leave with the deleted group, whose rules are shown before', async () => {
    await create('ending')
    const party = await makeParty(test, { allow_groups: ['Ending'], deny_groups: ['other'] })
    const person = await makePerson(test, { groups: ['ending'] })
    const page = await admin.get(pathOf('ending'))
    expect(page.body).toContain(`/admin/apps/${party.client_id}`)
    expect(textOf(page)).toContain(t.allows)
    const mistyped = await withoutWriting(test, () => submit('ending', 'delete', { typed_name: 'Ending' }))
    expect([mistyped.status, textOf(mistyped).includes(t.deleteUnconfirmed)]).toEqual([400, true])
    const answer = await submit('ending', 'delete', { typed_name: 'ending' })
    expect(answer).toMatchObject({ status: 303, location: PATH })
    expect(textOf(await led(answer))).toContain(t.deleted('ending', '1', 1n))
    expect(await inGroup('ending')).toEqual([])
    expect(await trailOf('group:ending')).toMatchObject([
      { action: 'group.created' },
      { action: 'group.deleted', detail: { members: '1' } },
    ])
    expect((await (await person.signIn()).get(authorizationUrl(party))).status).toBe(403)
  })
})

describe('rules of applications', () => {
  it('admit members of an allowed local group, until they are removed', async () => {
    await create('founders')
    const party = await makeParty(test, { allow_groups: ['Founders'] })
    const person = await makePerson(test, { trust_level: 0 })
    const client = await person.signIn()
    expect((await client.get(authorizationUrl(party))).status).toBe(403)
    await submit('founders', 'add', { usernames: person.username })
    const tokens = await obtainTokens(test, client, party)
    expect((await userinfo(test, tokens.access_token)).body.groups).toEqual(['trust_level_0', 'founders'])
    await submit('founders', 'remove', { user_id: String(person.id) })
    expect((await userinfo(test, tokens.access_token)).body.groups).toEqual(['trust_level_0'])
    expect((await refresh(test, party, tokens.refresh_token)).body.error).toBe('invalid_grant')
    expect((await client.get(authorizationUrl(party))).status).toBe(403)
  })

  it('refuse members of a denied local group, at the next sign-in and refresh', async () => {
    await create('rowdy')
    const party = await makeParty(test, { deny_groups: ['rowdy'] })
    const person = await makePerson(test)
    const client = await person.signIn()
    const tokens = await obtainTokens(test, client, party)
    await submit('rowdy', 'add', { usernames: person.username })
    expect((await refresh(test, party, tokens.refresh_token)).body.error).toBe('invalid_grant')
    const silent = await client.get(authorizationUrl(party, { prompt: 'none' }))
    expect(answerOf(silent)).toMatchObject({ error: 'access_denied' })
  })
})

describe('two administrators at once', () => {
  it('create a group of one name once', async () => {
    const made = await Promise.allSettled(
      ['twice', 'Twice', 'TWICE'].map((name) => createGroup(test.deps, { name, description: '' }, by())),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of made)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
    const found = (await listGroups(test.db)).filter(({ name }) => name.toLowerCase() === 'twice')
    expect(found).toHaveLength(1)
  })

  it('add the same members once, in whatever order they name them', async () => {
    await createGroup(test.deps, { name: 'raced', description: '' }, by())
    const people = await Promise.all(Array.from({ length: 20 }, () => makePerson(test)))
    const names = people.map(({ username }) => username)
    const additions = await Promise.all(
      [names, names.toReversed(), names, names.toReversed()].map((each) =>
        addMembers(test.deps, 'raced', each, by()),
      ),
    )
    expect(additions.flatMap((each) => ('added' in each ? each.added : []))).toHaveLength(20)
    expect(await inGroup('raced')).toHaveLength(20)
    expect(await trailOf(`user:${people[0]!.id}`)).toHaveLength(1)
  })

  it('leave no members of a group that one of them deletes', async () => {
    await createGroup(test.deps, { name: 'gone', description: '' }, by())
    const people = await Promise.all(Array.from({ length: 10 }, () => makePerson(test)))
    const outcomes = await Promise.allSettled([
      ...people.map(({ username }) => addMembers(test.deps, 'gone', [username], by())),
      deleteGroup(test.deps, 'gone', by()),
    ])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' })
    expect(await inGroup('gone')).toEqual([])
  })
})

describe('a name', () => {
  it('is not taken by a local group while the forum gives it to members', async () => {
    const { id: user_id } = await makePerson(test)
    const creation = await test.db.transaction().execute(async (tx) => {
      await tx.insertInto('user_groups').values({ user_id, name: 'contested', from_forum: true }).execute()
      const creating = createGroup(test.deps, { name: 'Contested', description: '' }, by()).catch(
        (error: unknown) => error,
      )
      await untilBlocked(tx)
      return { creating }
    })
    expect(await creation.creating).toMatchObject({ code: 'conflict' })
  })

  it('of a local group is refused for a row of the forum, also one that waits for its creation', async () => {
    const { id: user_id } = await makePerson(test)
    const insertion = await test.db.transaction().execute(async (tx) => {
      await tx.insertInto('local_groups').values({ name: 'kept' }).execute()
      const inserting = test.db
        .insertInto('user_groups')
        .values({ user_id, name: 'KEPT', from_forum: true })
        .execute()
        .catch((error: unknown) => error)
      await untilBlocked(tx)
      return { inserting }
    })
    expect(await insertion.inserting).toMatchObject({ constraint: 'user_groups_local_name' })
  })

  it('belongs to one source: a membership has the name of its group', async () => {
    const { id: user_id } = await makePerson(test)
    const { id } = await test.db
      .insertInto('local_groups')
      .values({ name: 'exact' })
      .returning('id')
      .executeTakeFirstOrThrow()
    for (const [row, constraint] of [
      [{ name: 'other', local_group_id: id }, 'user_groups_local_group'],
      [{ name: 'exact' }, 'user_groups_one_source'],
      [{ name: 'exact', local_group_id: id, from_forum: true }, 'user_groups_one_source'],
    ] as const) {
      const insertion = test.db
        .insertInto('user_groups')
        .values({ user_id, ...row })
        .execute()
      await expect(insertion).rejects.toMatchObject({ constraint })
    }
  })
})

it('an upgrade makes groups of the rows that no forum gave', async () => {
  const database = await createDatabase()
  const db = openDatabase(database.url, { max: 2, onBroken: () => {} })
  const run = (statement: RawBuilder<unknown>) => statement.execute(db)
  // The tables as they were before.
  await run(sql`drop table local_groups cascade`)
  await run(
    sql`alter table user_groups drop column local_group_id, drop constraint if exists user_groups_one_source`,
  )
  await run(sql`drop index if exists user_groups_forum_name`)
  await run(sql`drop trigger user_groups_not_local on user_groups`)
  await run(sql`drop function local_group_names, refuse_local_name, refuse_local_group, refuse_new_name`)
  await run(sql`delete from schema_migrations where name = '170-local-groups.sql'`)
  await run(sql`delete from schema_functions where name = 'functions/accounts/groups.sql'`)
  await run(
    sql`insert into users (username, password_hash) values ('one', 'x'), ('two', 'x'), ('three', 'x')`,
  )
  await run(sql`
    insert into user_groups (user_id, name, from_forum) select id, given.name, from_forum from users join (values
      ('one', 'Crew', false), ('two', 'crew', false), ('three', 'CREW', true), ('three', 'makers', true)
    ) as given (username, name, from_forum) using (username)`)
  await migrate(database.url)
  const rows = await db
    .selectFrom('user_groups')
    .innerJoin('users', 'users.id', 'user_groups.user_id')
    .leftJoin('local_groups as local', 'local.id', 'user_groups.local_group_id')
    .orderBy('users.id')
    .select(['users.username', 'user_groups.name', 'from_forum', 'local.name as local'])
    .execute()
  const [first] = rows
  expect(rows).toEqual([
    { username: 'one', name: first!.name, from_forum: false, local: first!.name },
    { username: 'two', name: first!.name, from_forum: false, local: first!.name },
    { username: 'three', name: 'makers', from_forum: true, local: null },
  ])
  expect(first!.name.toLowerCase()).toBe('crew')
  await db.destroy()
  await database.drop()
})
