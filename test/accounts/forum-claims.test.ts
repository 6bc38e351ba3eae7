/**
 * Answers of DiscourseConnect that leave claims out, double them or garble them. Only the nonce, the id and the username are
 * needed. All else is unknown then, so nobody gains or loses anything by it.
 */
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { CONNECT_SECRET, forgedAnswer, nonceOf, type TestForum } from '../harness/fake-forum.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { type Browser, browser } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { authorizationUrl, makeParty } from '../identity/relying-party.ts'

const BROKEN = '\uFFFD'

const groups = ['developers', 'writers'].map((name, n) => ({ id: 41 + n, name }))
const [world, alone] = await Promise.all([
  useForumWorld({ groups }),
  useForumWorld({ groups }, { DISCOURSE_API_KEY: undefined }),
])
const { forum } = world
beforeEach(() => {
  forum.fault = undefined
})

type Member = ReturnType<TestForum['join']>

/** Brings an answer with these claims, and returns the browser. */
async function answer(
  member: Pick<Member, 'id' | 'username'>,
  claims: Record<string, string | undefined>,
  here = world,
): Promise<Browser> {
  const client = browser(here.test)
  const start = await client.get('/sign-in/forum?return_to=%2Faccount')
  const all = {
    nonce: nonceOf(start.location!),
    external_id: String(member.id),
    username: member.username,
    ...claims,
  }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  const page = await client.get(forgedAnswer(Object.fromEntries(given) as Record<string, string>))
  expect(page).toMatchObject({ status: 303, location: '/account' })
  return client
}

async function joined(values: Partial<Member> = {}, here = world): Promise<Member> {
  const member = here.forum.join({ groups: [41], moderator: true, ...values })
  await here.signIn(member)
  return member
}

describe('an answer with only the id and the username', () => {
  it('signs in while the API is down, and keeps role, group, name and address', async () => {
    const member = await joined({ name: 'Ada', avatar_url: 'https://forum.example.org/a.png' })
    const before = await world.userOf(member)
    forum.fault = 'down'
    await answer(member, {})
    expect(await world.userOf(member)).toEqual({ ...before, updated_at: expect.any(Date) })
    expect(await world.groupsOf(member)).toEqual(['developers'])
    expect((await world.memberOf(member)).hinted_at).not.toBeNull()
  })

  it.each([
    ['while the API is down', () => world],
    ['without an API key', () => alone],
  ])('does not let a member leave a denied group, %s', async (_, place) => {
    const here = place()
    const member = await joined({}, here)
    const party = await makeParty(here.test, { deny_groups: ['developers'] })
    here.forum.fault = 'down'
    const client = await answer(member, {}, here)
    here.forum.fault = undefined
    expect(await here.groupsOf(member)).toEqual(['developers'])
    expect((await client.get(authorizationUrl(party))).status).toBe(403)
  })

  it('makes an account without an address, which says so and gets alerts only', async () => {
    const newcomer = forum.join()
    forum.fault = 'down'
    const client = await answer(newcomer, {})
    expect(await world.userOf(newcomer)).toMatchObject({
      name: null,
      email: null,
      email_verified: false,
      avatar_url: null,
      trust_level: 0,
      is_admin: false,
      is_moderator: false,
    })
    expect(await world.groupsOf(newcomer)).toEqual([])
    const { body } = await client.get('/account/profile')
    expect(body).toContain(messages.en.profile.noEmailFromForum)
  })

  it('takes all but the address and the avatar from the API', async () => {
    const newcomer = forum.join({ name: 'Bo', trust_level: 3, groups: [41, 42], admin: true })
    await answer(newcomer, {})
    expect(await world.userOf(newcomer)).toMatchObject({
      name: 'Bo',
      email: null,
      trust_level: 3,
      is_admin: true,
    })
    expect(await world.groupsOf(newcomer)).toEqual(['developers', 'writers'])
  })
})

describe('a claim', () => {
  it.each([
    ['email', ''],
    ['email', 'nobody'],
    ['email', `a${BROKEN}@example.org`],
    ['email', 'a\u0000@example.org'],
    ['avatar_url', 'javascript:alert(1)'],
    ['avatar_url', `https://forum.example.org/${BROKEN}.png`],
    ['admin', 'yes'],
    ['moderator', ''],
    ['groups', `developers,wri${BROKEN}ters`],
    ['groups', 'two words'],
    ['groups', 'g'.repeat(101)],
  ])('%s of %j leaves the stored value', async (claim, value) => {
    const member = await joined({ avatar_url: 'https://forum.example.org/a.png', admin: true })
    const before = await world.userOf(member)
    forum.fault = 'down'
    await answer(member, { [claim]: value })
    expect(await world.userOf(member)).toEqual({ ...before, updated_at: expect.any(Date) })
    expect(await world.groupsOf(member)).toEqual(['developers'])
  })

  it.each(['email', 'name', 'avatar_url', 'admin', 'moderator', 'groups', 'card_background_url'])(
    '%s that is doubled is unknown, and does not refuse the sign-in',
    async (claim) => {
      const member = await joined({ name: 'Ada' })
      const before = await world.userOf(member)
      forum.fault = 'down'
      const client = browser(world.test)
      const start = await client.get('/sign-in/forum')
      const claims = new URLSearchParams({
        nonce: nonceOf(start.location!),
        external_id: String(member.id),
        username: member.username,
      })
      for (const value of ['true', 'https://forum.example.org/b@c']) claims.append(claim, value)
      const sso = Buffer.from(claims.toString()).toString('base64')
      const sig = createHmac('sha256', CONNECT_SECRET).update(sso).digest('hex')
      const page = await client.get(`/sign-in/forum/callback?${new URLSearchParams({ sso, sig })}`)
      expect(page.status).toBe(303)
      expect(await world.userOf(member)).toEqual({ ...before, updated_at: expect.any(Date) })
      expect(await world.groupsOf(member)).toEqual(['developers'])
    },
  )

  it('of the name loses the characters that cannot be stored', async () => {
    const newcomer = forum.join()
    forum.fault = 'down'
    await answer(newcomer, { name: `Zo${BROKEN}e\u0000` })
    expect((await world.userOf(newcomer)).name).toBe('Zoe')
    await answer(newcomer, { name: '' })
    expect((await world.userOf(newcomer)).name).toBeNull()
  })

  it('of the groups replaces them when stated and no single read succeeds, even by none', async () => {
    const member = await joined({ groups: [41, 42] })
    forum.fault = 'down'
    await answer(member, { groups: 'writers,trust_level_2' })
    expect(await world.groupsOf(member)).toEqual(['writers'])
    await answer(member, { groups: '' })
    expect(await world.groupsOf(member)).toEqual([])
  })

  it('of a role takes away and gives when no single read succeeds, and confirms', async () => {
    const member = await joined({ moderator: false })
    forum.fault = 'down'
    for (const is_admin of [true, false]) {
      world.test.clock.advance(1_000)
      await answer(member, { admin: String(is_admin), moderator: 'false' })
      expect(await world.userOf(member)).toMatchObject({ is_admin, is_moderator: false })
      expect((await world.memberOf(member)).staff_confirmed_at).toEqual(world.test.clock.now())
    }
  })

  it('of a role gives nothing beside a single read, and takes away what that leaves unknown', async () => {
    const member = await joined({ moderator: true })
    await answer(member, { admin: 'true', moderator: 'false' })
    expect(await world.userOf(member)).toMatchObject({ is_admin: false, is_moderator: true })
    forum.instead.set(member.id, { admin: 'unreadable', moderator: null })
    await answer(member, { admin: 'true', moderator: 'false' })
    expect(await world.userOf(member)).toMatchObject({ is_admin: false, is_moderator: false })
  })
})

it('administrators learn that the forum leaves the claims out', async () => {
  const { forum, test } = alone
  const root = await makePerson(test, { is_admin: true })
  const admin = await root.signIn()
  const warning = messages.en.console.forum.noClaims
  const isWarned = async () => (await admin.get('/admin/forum')).body.includes(warning)
  const member = forum.join()
  await answer(member, { groups: '' }, alone)
  for (let count = 0; count < 19; count += 1) await answer(member, {}, alone)
  expect(await isWarned()).toBe(false)
  await answer(member, {}, alone)
  expect(await isWarned()).toBe(true)
  await answer(member, { admin: 'false' }, alone)
  expect(await isWarned()).toBe(false)
})
