/** `tessera group …` and the doctor's word on groups of the forum. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { startTestForum } from '../harness/fake-forum.ts'
import { useTestApp } from '../harness/harness.ts'
import { environmentOf, tesseraAt, toldAt } from '../harness/operator.ts'
import { rowsOf } from '../harness/rows.ts'
import { makeParty } from '../identity/relying-party.ts'

const test = await useTestApp()

const tessera = (...words: string[]) => tesseraAt(environmentOf(test), ...words)
const told = (...words: string[]) => toldAt(environmentOf(test), ...words)
const acts = (subject: string) => rowsOf(test, 'audit_log', { subject }, ['action', 'actor_id'])

describe('local groups', () => {
  it('are created, listed, filled, emptied and deleted, each act in the audit log', async () => {
    const [alice, bob] = [await makePerson(test), await makePerson(test, { username: 'bob' })]
    expect(await told('group', 'create', 'Crew', '--description', 'Keeps the site running')).toEqual({
      name: 'Crew',
      description: 'Keeps the site running',
    })
    expect(await told('group', 'add', 'crew', alice.username.toUpperCase())).toEqual({
      group: 'Crew',
      username: alice.username,
      is_new: true,
    })
    expect((await tessera('group', 'add', 'crew', bob.username)).out).toBe(
      `${bob.username} is now in Crew.\n`,
    )
    expect((await tessera('group', 'add', 'crew', bob.username)).out).toBe(
      `${bob.username} is already in Crew.\n`,
    )
    expect((await tessera('group', 'list')).out).toBe('Crew  2  Keeps the site running\n')
    expect(await told('group', 'list')).toMatchObject([{ name: 'Crew', members: 2, is_more: false }])
    expect(await told('group', 'members', 'Crew')).toEqual([bob.username, alice.username])
    expect(await told('group', 'remove', 'Crew', bob.username)).toEqual({
      group: 'Crew',
      username: bob.username,
    })
    expect(await acts(`user:${bob.id}`)).toEqual([
      { action: 'group.member_added', actor_id: null },
      { action: 'group.member_removed', actor_id: null },
    ])
    expect((await tessera('group', 'delete', 'crew')).out).toBe('Deleted the group Crew of 1 member.\n')
    expect(await told('group', 'list')).toEqual([])
    expect(await acts('group:Crew')).toEqual([
      { action: 'group.created', actor_id: null },
      { action: 'group.deleted', actor_id: null },
    ])
  })

  it('are refused with wrong names, and unknown ones are named', async () => {
    for (const name of ['trust_level_9', 'Admins'])
      expect(await tessera('group', 'create', name)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is reserved, or looks like a name that is'),
      })
    for (const name of ['two words', 'a\u202eb', '..'])
      expect(await tessera('group', 'create', name)).toMatchObject({
        code: 2,
        err: expect.stringContaining('A group name has 1 to 60 visible characters'),
      })
    expect((await tessera('group', 'create', 'fine', '--description', 'x'.repeat(201))).code).toBe(2)
    await told('group', 'create', 'Taken')
    expect(await tessera('group', 'create', 'taken')).toMatchObject({ code: 1, err: /already/ })
    for (const words of [['delete'], ['members'], ['add', 'x'], ['remove', 'x']]) {
      const [act, ...rest] = words as [string, ...string[]]
      const username = rest.length > 0 ? [(await makePerson(test)).username] : []
      const answer = await tessera('group', act, 'nobody', ...username)
      expect(answer).toMatchObject({ code: 1, err: 'There is no group nobody\n' })
    }
    const stranger = await makePerson(test)
    expect(await tessera('group', 'add', 'taken', 'nobody')).toMatchObject({
      code: 1,
      err: 'There is no member nobody\n',
    })
    expect(await tessera('group', 'remove', 'taken', stranger.username)).toMatchObject({
      code: 1,
      err: 'This member is not in Taken\n',
    })
  })

  it('in rules of applications are deleted only on request', async () => {
    await told('group', 'create', 'ruling')
    const party = await makeParty(test, { deny_groups: ['RULING'] })
    const refused = await tessera('group', 'delete', 'ruling')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('--leave-rules')
    expect(refused.err).toContain(party.client_id)
    expect(await told('group', 'delete', 'ruling', '--leave-rules')).toEqual({ name: 'ruling', members: 0 })
  })
})

it('the doctor names groups of the forum that local groups keep out', async () => {
  const forum = await startTestForum({ groups: [] })
  await test.db.insertInto('forum_groups').values({ id: 7n, name: 'pilots' }).execute()
  const { PUBLIC_URL } = test.deps.config
  const finding = async () => {
    const { out } = await tesseraAt({ ...environmentOf(test), ...forum.env, PUBLIC_URL }, 'doctor', '--json')
    return (JSON.parse(out) as { check: string }[]).find(({ check }) => check === 'forum groups')
  }
  expect(await finding()).toMatchObject({ state: 'good' })
  await test.db.deleteFrom('forum_groups').execute()
  await told('group', 'create', 'Pilots')
  await test.db.insertInto('forum_groups').values({ id: 7n, name: 'pilots' }).execute()
  expect(await finding()).toMatchObject({ state: 'fault', fault: expect.stringContaining(': pilots (7).') })
  await forum.close()
})
