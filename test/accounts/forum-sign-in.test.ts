/** Sign-in through the forum, in a browser against a real forum, and every refused answer. spec/accounts 5.1. */
import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSettings } from '../../src/core/settings.ts'
import { registerApp } from '../../src/identity/apps/apps.ts'
import { sha256 } from '../../src/platform/secrets.ts'
import { browserAt } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import {
  answerOf,
  CONNECT_SECRET,
  forgedAnswer,
  logIn,
  nonceOf,
  signInAtForum,
} from '../harness/fake-forum.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { type Browser, browser, startTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { inOneProcess, ONE_TIMER } from '../harness/one-process.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'

const t = messages.en

const groups = ['developers', '茶友'].map((name, n) => ({ id: 41 + n, name }))
const { forum, test, userOf, groupsOf, memberOf } = await useForumWorld({ groups })

/** The state that a refusal must not change. */
async function state() {
  const tables = ['users', 'sessions', 'forum_members', 'user_groups', 'audit_log'] as const
  const counts = tables.map(async (table) => (await rowsOf(test, table)).length)
  const used = await test.db
    .selectFrom('forum_nonces')
    .where('used_at', 'is not', null)
    .select('nonce_hash')
    .execute()
  return [...(await Promise.all(counts)), used.length]
}

describe('the sign-in page', () => {
  it('offers the forum first, and returns to where its reader came from', async () => {
    const { body } = await browser(test).get('/sign-in?return_to=%2Faccount%3Fa%3D1%26b')
    expect(body).toContain('href="/sign-in/forum?return_to=%2Faccount%3Fa%3D1%26b"')
    expect(body).toMatch(new RegExp(`${t.signIn.withForum}[^]* name="password"`))
  })

  it('keeps its order after a wrong password, with the problem at the field', async () => {
    const alice = await makePerson(test)
    const client = browser(test)
    const form = await client.get('/sign-in')
    const typed = { username: alice.username, password: 'not it at all' }
    const { status, body } = await client.submit(form, '/sign-in', typed)
    expect(status).toBe(401)
    const { wrong_credentials, submit, orLocal, withForum } = t.signIn
    const password = /<input type="password"[^>]*>/.exec(body)![0]
    expect(password).toMatch(/ autofocus aria-invalid="true" aria-describedby="problem"/)
    const parts = [
      `>${withForum}<`,
      `>${orLocal}<`,
      password,
      `id="problem">${wrong_credentials}<`,
      `>${submit}</button>`,
    ]
    const places = parts.map((part) => body.indexOf(part))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
    expect(body.match(/class="[^"]*\bprimary\b[^"]*"[^>]*>([^<]*)</)![1]).toBe(submit)
  })

  it('knows nothing of a forum where none is set up', async () => {
    const plain = await startTestApp()
    expect((await browser(plain).get('/sign-in')).body).not.toContain('forum?return_to')
    for (const path of ['/sign-in/forum', '/sign-in/forum/callback?sso=a&sig=b']) {
      const page = await browser(plain).get(path)
      expect(page.status).toBe(404)
      expect(page.body).toContain(t.forum.problems.off.title)
    }
    await plain.close()
  })

  it('still lets local accounts in', async () => {
    const alice = await makePerson(test)
    expect((await (await alice.signIn()).get('/account')).status).toBe(200)
  })
})

describe('the handshake', () => {
  it('signs a member in with everything that the forum says', async () => {
    const member = forum.join({
      username: 'Ångström',
      name: 'Anders Ångström',
      avatar_url: 'https://forum.example.org/a.png',
      trust_level: 3,
      admin: true,
      moderator: true,
      groups: [41, 42],
    })
    const client = browser(test)
    const start = await client.get('/sign-in/forum?return_to=%2Faccount')
    expect(start.status).toBe(303)
    expect(start.location).toMatch(
      new RegExp(`^${forum.url}/session/sso_provider\\?sso=[^&]+&sig=[0-9a-f]{64}$`),
    )
    expect(String(start.headers['set-cookie'])).toMatch(
      /tessera_forum=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax/,
    )
    const page = await client.get(await answerOf(forum, member, start.location!))
    expect(page).toMatchObject({ status: 303, location: '/account' })

    expect(await userOf(member)).toMatchObject({
      username: 'Ångström',
      name: 'Anders Ångström',
      email: member.email,
      email_verified: true,
      avatar_url: 'https://forum.example.org/a.png',
      trust_level: 3,
      is_admin: true,
      is_moderator: true,
      suspended_till: null,
      is_banned: false,
      password_hash: null,
    })
    expect(await groupsOf(member)).toEqual(['developers', '茶友'])
    expect(await memberOf(member)).toMatchObject({ checked_at: test.clock.now(), failure: null })
    const user = await userOf(member)
    const [session] = await rowsOf(test, 'sessions', { user_id: user.id }, ['amr', 'auth_time'])
    expect(session).toEqual({ amr: ['forum'], auth_time: test.clock.now() })
    const account = await client.get('/account/profile')
    expect(account.body).toContain('@Ångström')
    expect(account.body).not.toContain('/account/password')
    expect(account.body).toContain(`href="${forum.url}"`)
  })

  it('waits at the forum for somebody who is not logged in there', async () => {
    const member = forum.join()
    const client = browser(test)
    const start = await client.get('/sign-in/forum?return_to=%2Faccount')
    const atForum = browserAt(forum.url)
    expect(await atForum.get(start.location!)).toMatchObject({ status: 302, location: '/login' })
    await logIn(atForum, member)
    const { location } = await atForum.get(start.location!)
    const url = new URL(location!)
    expect(await client.get(url.pathname + url.search)).toMatchObject({ status: 303, location: '/account' })
  })

  it('keeps only hashes of the nonce and of the browser', async () => {
    const client = browser(test)
    const start = await client.get('/sign-in/forum')
    const rows = await rowsOf(test, 'forum_nonces', { nonce_hash: sha256(nonceOf(start.location!)) })
    expect(rows).toHaveLength(1)
    expect(rows[0]!.browser_hash).toEqual(sha256(client.cookies.get('tessera_forum')!))
  })

  it('goes nowhere but to a path of ours', async () => {
    for (const returnTo of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
      const { page } = await signInAtForum(test, forum, forum.join(), { returnTo })
      expect(page).toMatchObject({ status: 303, location: '/' })
    }
  })

  it('lets two windows of one browser each finish', async () => {
    const member = forum.join()
    const client = browser(test)
    const starts = [await client.get('/sign-in/forum'), await client.get('/sign-in/forum')]
    for (const start of starts)
      expect((await client.get(await answerOf(forum, member, start.location!))).status).toBe(303)
    expect((await client.get('/account')).status).toBe(200)
  })

  it('renews the session of the same member: a new cookie and auth_time, the same sid', async () => {
    const member = forum.join()
    const { client } = await signInAtForum(test, forum, member)
    const first = client.cookies.get('tessera_session')
    const user = await userOf(member)
    const sessions = () =>
      rowsOf(test, 'sessions', { user_id: user.id }, ['id', 'sid', 'auth_time', 'renewals'])
    const [before] = await sessions()
    test.clock.advance(5_000)
    await signInAtForum(test, forum, member, { client })
    expect(client.cookies.get('tessera_session')).not.toBe(first)
    expect(await sessions()).toEqual([{ ...before, auth_time: test.clock.now(), renewals: 1 }])
  })

  it('comes back to the origin that it began at, whatever Host says', async () => {
    const two = await startTestApp({ ...forum.env, PAYMENT_PUBLIC_URL: 'http://localhost:7000' })
    const returnUrlFor = async (host: string) => {
      const response = await two.app.inject({ url: '/sign-in/forum', headers: { host } })
      const sso = new URL(response.headers.location!).searchParams.get('sso')!
      return new URLSearchParams(Buffer.from(sso, 'base64').toString()).get('return_sso_url')
    }
    expect(await returnUrlFor('127.0.0.1:3000')).toBe('http://127.0.0.1:3000/sign-in/forum/callback')
    expect(await returnUrlFor('localhost:7000')).toBe('http://localhost:7000/sign-in/forum/callback')
    expect(await returnUrlFor('evil.example')).toBe('http://127.0.0.1:3000/sign-in/forum/callback')
    await two.close()
  })

  it('sets a __Host- cookie in production', async () => {
    const env = {
      ...forum.env,
      DISCOURSE_URL: 'https://forum.example.org',
      PUBLIC_URL: 'https://id.example.org',
    }
    const live = await startTestApp(env)
    const response = await live.app.inject('/sign-in/forum')
    expect(String(response.headers['set-cookie'])).toMatch(
      /__Host-forum=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax/,
    )
    await live.close()
  })

  it('survives a changed secret: the forum answers with the one that asked', async () => {
    const next = 'the-next-secret-of-the-tests'
    forum.connectSecrets.push(`127.0.0.1|${next}`)
    const member = forum.join()
    const rotated = await startTestApp({ ...forum.env, DISCOURSE_SECRET: next })
    expect((await signInAtForum(rotated, forum, member)).page.status).toBe(303)
    expect((await signInAtForum(test, forum, member)).page.status).toBe(303)
    forum.connectSecrets.pop()
    await rotated.close()
  })
})

it('a member who confirms an act is asked for the sign-in of the account only', async () => {
  const waysOf = async (client: Browser) => {
    const { body } = await client.get('/sign-in?reason=again')
    return [body.includes('href="/sign-in/forum?'), body.includes('id="password"')]
  }
  const { client } = await signInAtForum(test, forum, forum.join())
  expect(await waysOf(client)).toEqual([true, false])
  expect(await waysOf(await (await makePerson(test)).signIn())).toEqual([false, true])
  expect(await waysOf(browser(test))).toEqual([true, true])
})

describe('an answer is refused, and nothing is written,', () => {
  type Problem = keyof typeof t.forum.problems
  const fieldsFor = (nonce: string) => ({
    nonce,
    external_id: '99999',
    username: 'mallory',
    email: 'mallory@example.org',
  })

  async function begin() {
    const client = browser(test)
    const start = await client.get('/sign-in/forum?return_to=%2Faccount')
    return { client, location: start.location!, nonce: nonceOf(start.location!) }
  }

  async function expectRefusal(page: { status: number; body: string }, status: number, problem: Problem) {
    expect(page.status).toBe(status)
    expect(page.body).toContain(`<h1>${t.forum.problems[problem].title}</h1>`)
    expect(page.body).toMatch(/href="\/sign-in\?return_to=/)
  }

  it('when the payload, the signature or the secret is another', async () => {
    const { client, location, nonce } = await begin()
    const good = new URL(await answerOf(forum, forum.join(), location), 'http://us')
    const before = await state()
    const sso = good.searchParams.get('sso')!
    const sig = good.searchParams.get('sig')!
    const decoded = Buffer.from(sso, 'base64').toString()
    const tampered = Buffer.from(decoded.replace('admin=false', 'admin=true')).toString('base64')
    const tries = [
      { sso: tampered, sig },
      { sso, sig: sig.replace(/^./, (c) => (c === '0' ? '1' : '0')) },
      { sso, sig: sig.slice(0, 63) },
      { sso, sig: '' },
      { sso: '', sig },
      { sso: `${sso} `, sig },
    ]
    for (const query of tries) {
      const page = await client.get(`/sign-in/forum/callback?${new URLSearchParams(query)}`)
      await expectRefusal(page, 403, 'bad_signature')
    }
    const other = await client.get(forgedAnswer(fieldsFor(nonce), 'another-secret'))
    await expectRefusal(other, 403, 'bad_signature')
    expect(await state()).toEqual(before)
    // The handshake still works.
    expect((await client.get(good.pathname + good.search)).status).toBe(303)
  })

  it('when it is not one at all', async () => {
    const { client } = await begin()
    const before = await state()
    for (const path of ['', '?sso=a', '?sig=a', '?sso=a&sso=b&sig=c'])
      await expectRefusal(await client.get(`/sign-in/forum/callback${path}`), 400, 'malformed')
    expect(await state()).toEqual(before)
  })

  it.each([
    ['a negative id', { external_id: '-1' }],
    ['no decimal id', { external_id: '1e3' }],
    ['an id of zero', { external_id: '0' }],
    ['an id beyond bigint', { external_id: '9223372036854775808' }],
    ['no id', { external_id: '' }],
    ['no name', { username: '' }],
    ['a name with spaces', { username: 'mal lory' }],
    ['a name of 61 characters', { username: 'm'.repeat(61) }],
    ['no nonce', { nonce: '' }],
    ['a name with U+FFFD', { username: 'mall\uFFFDory' }],
  ])('when it has %s', async (_, fields) => {
    const { client, nonce } = await begin()
    const before = await state()
    const page = await client.get(forgedAnswer({ ...fieldsFor(nonce), ...fields }))
    await expectRefusal(page, 400, 'malformed')
    expect(await state()).toEqual(before)
  })

  it.each(['nonce', 'external_id', 'username'])('when its %s is given twice', async (name) => {
    const { client, nonce } = await begin()
    const payload = `${new URLSearchParams(fieldsFor(nonce))}&${name}=1`
    const sso = Buffer.from(payload).toString('base64')
    const sig = createHmac('sha256', CONNECT_SECRET).update(sso).digest('hex')
    const page = await client.get(`/sign-in/forum/callback?${new URLSearchParams({ sso, sig })}`)
    await expectRefusal(page, 400, 'malformed')
  })

  it('when its nonce is unknown', async () => {
    const { client } = await begin()
    const before = await state()
    await expectRefusal(await client.get(forgedAnswer(fieldsFor('x'))), 400, 'unknown')
    expect(await state()).toEqual(before)
  })

  it('when another browser began it, so a link signs no stranger in', async () => {
    const mallory = await begin()
    const link = await answerOf(forum, forum.join(), mallory.location)
    const victim = await begin()
    const before = await state()
    for (const client of [victim.client, browser(test)]) {
      await expectRefusal(await client.get(link), 403, 'other_browser')
      expect(client.cookies.has('tessera_session')).toBe(false)
    }
    expect(await state()).toEqual(before)
  })

  it('when it comes a second time, at once or later', async () => {
    const member = forum.join()
    const { client, location } = await begin()
    const link = await answerOf(forum, member, location)
    const pages = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const same = browser(test)
        same.cookies.set('tessera_forum', client.cookies.get('tessera_forum')!)
        return same.get(link)
      }),
    )
    expect(pages.filter((page) => page.status === 303)).toHaveLength(1)
    expect(pages.filter((page) => page.status === 409)).toHaveLength(7)
    const before = await state()
    await expectRefusal(await client.get(link), 409, 'used')
    expect(await state()).toEqual(before)
    expect(before[1]).toBe((await state())[1])
  })

  it('when it comes twice to a signed-in member, who may go on', async () => {
    const { client, location } = await begin()
    const link = await answerOf(forum, forum.join(), location)
    await client.get(link)
    const again = await client.get(link)
    expect(again.status).toBe(409)
    expect(again.body).toContain('<a class="button primary block big" href="/account">Continue</a>')
  })

  it('when it took more than ten minutes', async () => {
    const { client, location } = await begin()
    const link = await answerOf(forum, forum.join(), location)
    const before = await state()
    test.clock.advance(10 * 60_000)
    await expectRefusal(await client.get(link), 400, 'expired')
    expect(await state()).toEqual(before)
  })

  it('when the member is suspended there', async () => {
    const member = forum.join()
    const { client, location } = await begin()
    const link = await answerOf(forum, member, location)
    member.suspended_till = new Date(Date.now() + 86_400_000).toISOString()
    const before = await state()
    await expectRefusal(await client.get(link), 403, 'suspended')
    expect(await state()).toEqual(before)
    // The forum itself gives this member nothing more.
    expect(await logIn(browserAt(forum.url), member)).toBe(403)
  })

  it('when the member is banned here', async () => {
    const member = forum.join()
    await signInAtForum(test, forum, member)
    await setRows(test, 'users', { forum_id: BigInt(member.id) }, { is_banned: true })
    const { client, page } = await signInAtForum(test, forum, member)
    await expectRefusal(page, 403, 'suspended')
    expect(client.cookies.has('tessera_session')).toBe(false)
    // The forum does not know a ban by the service, and does not lift it.
    expect((await userOf(member)).is_banned).toBe(true)
  })
})

describe('the API at sign-in', () => {
  it.each(['down', 'huge', 'redirecting', 'garbled', 'limited', 'not_for_you', 'wrong_member'] as const)(
    'may be %s: the last known values count, and it asks again',
    async (fault) => {
      test.clock.advance(3_600_000)
      const member = forum.join({ trust_level: 3, groups: [41] })
      const newcomer = forum.join({ trust_level: 3, groups: [41] })
      await signInAtForum(test, forum, member)
      const asked_at = test.clock.now()
      test.clock.advance(1_000)
      forum.fault = fault
      member.trust_level = 1
      member.email = 'new@example.org'
      const pages = [
        (await signInAtForum(test, forum, member)).page,
        (await signInAtForum(test, forum, newcomer)).page,
      ]
      forum.fault = undefined
      expect(pages.map((page) => page.status)).toEqual([303, 303])
      expect(await userOf(member)).toMatchObject({ trust_level: 3, email: 'new@example.org' })
      expect(await userOf(newcomer)).toMatchObject({ trust_level: 0, email_verified: true })
      expect(await groupsOf(newcomer)).toEqual(['developers'])
      expect(await memberOf(member)).toMatchObject({
        checked_at: asked_at,
        failure: expect.any(String),
        hinted_at: test.clock.now(),
      })
      expect(await memberOf(newcomer)).toMatchObject({ checked_at: null, failure: expect.any(String) })
    },
  )

  it.skipIf(inOneProcess(ONE_TIMER))('is waited for five seconds, then left alone for a minute', async () => {
    test.clock.advance(3_600_000)
    forum.fault = 'slow'
    const elapsed = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(elapsed.signal)
    onTestFinished(() => timeout.mockRestore())
    const before = forum.calls.length
    const signingIn = signInAtForum(test, forum, forum.join())
    await until(() => forum.calls.length > before)
    elapsed.abort(new DOMException('', 'TimeoutError'))
    expect((await signingIn).page.status).toBe(303)
    expect(timeout.mock.calls).toEqual([[5_000]])
    timeout.mockRestore()
    const calls = forum.calls.length
    expect((await signInAtForum(test, forum, forum.join())).page.status).toBe(303)
    expect(forum.calls.length).toBe(calls)
    forum.fault = undefined
    test.clock.advance(60_000)
    await signInAtForum(test, forum, forum.join())
    expect(forum.calls.length).toBe(calls + 1)
  })

  it('may be missing: then only an administrator’s aliases give trust levels', async () => {
    const { DISCOURSE_API_KEY: _, DISCOURSE_WEBHOOK_SECRET: __, ...env } = forum.env
    const alone = await startTestApp(env)
    const member = forum.join({ trust_level: 3, groups: [41] })
    const levels = async () =>
      alone.db.selectFrom('users').where('forum_id', '=', BigInt(member.id)).select('trust_level').execute()
    expect((await signInAtForum(alone, forum, member)).page.status).toBe(303)
    expect(await levels()).toEqual([{ trust_level: 0 }])
    const names = await alone.db.selectFrom('user_groups').select('name').execute()
    expect(names).toEqual([{ name: 'developers' }])
    await alone.close()

    const told = await startTestApp(env)
    const value =
      'trust_level_1 = trust_level_1, trust_level_2=trust_level_2\ntrust_level_3=trust_level_3, Developers=makers'
    await told.db.insertInto('site_settings').values({ name: 'forum_group_aliases', value }).execute()
    await signInAtForum(told, forum, member)
    const row = await told.db.selectFrom('users').select(['trust_level', 'id']).execute()
    expect(row).toMatchObject([{ trust_level: 3 }])
    expect(await told.db.selectFrom('user_groups').select('name').execute()).toEqual([{ name: 'makers' }])
    await told.close()
  })
})

describe('the setting forum_group_aliases', () => {
  it.each([
    ['', true],
    ['开发者 = developers, 信任级别_2=trust_level_2,', true],
    ['developers', false],
    ['a = b = c', false],
    ['two words = developers', false],
    ['= developers', false],
  ])('%j is valid: %s', async (value, isValid) => {
    const name = 'forum_group_aliases'
    await test.db.insertInto('site_settings').values({ name, value }).execute()
    const read = openSettings(test.db).read()
    if (isValid) expect((await read).forum_group_aliases).toBe(value)
    else await expect(read).rejects.toThrow('must be pairs')
    await test.db.deleteFrom('site_settings').where('name', '=', name).execute()
  })
})

describe('an application that demands a new sign-in', () => {
  it.each(['prompt=login', 'max_age=0'])('by %s gets one from the forum', async (demand) => {
    const owner = await makePerson(test)
    const redirect_uri = 'https://app.example.org/callback'
    const { client_id } = await registerApp(test.db, {
      owner_id: owner.id,
      name: 'An application',
      description: '',
      redirect_uris: [redirect_uri],
      allow_groups: [],
      deny_groups: [],
    })
    const member = forum.join()
    const { client } = await signInAtForum(test, forum, member)
    test.clock.advance(60_000)
    const query = new URLSearchParams({ response_type: 'code', client_id, redirect_uri, scope: 'openid' })
    const demanded = await client.get(`/oauth2/auth?${query}&${demand}`)
    expect(demanded.location).toMatch(/^\/sign-in\?return_to=/)
    const signInPage = await client.get(demanded.location!)
    const [, href] = /href="(\/sign-in\/forum\?[^"]+)"/.exec(signInPage.body)!
    const start = await client.get(href!.replaceAll('&amp;', '&'))
    const back = await client.get(await answerOf(forum, member, start.location!))
    expect(back.location).toMatch(/^\/oauth2\/auth\?/)
    // The service asks for consent, and not for another sign-in.
    expect((await client.get(back.location!)).status).toBe(200)
    const user = await userOf(member)
    const sessions = await rowsOf(test, 'sessions', { user_id: user.id }, ['auth_time'])
    expect(sessions).toEqual([{ auth_time: test.clock.now() }])
  })
})

describe('an account of the forum', () => {
  it('has no password here: it is told where it signs in', async () => {
    const { client } = await signInAtForum(test, forum, forum.join())
    expect(await client.get('/account/password')).toMatchObject({ status: 303, location: '/account/profile' })
    const page = await client.get('/account')
    const fields = {
      ...page.form('/sign-out'),
      current_password: 'x'.repeat(12),
      new_password: 'y'.repeat(12),
    }
    expect((await client.post('/account/password', fields)).status).toBe(403)
    expect(await client.get('/account')).toMatchObject({ status: 200 })
  })

  it('cannot be entered with a password', async () => {
    const member = forum.join()
    await signInAtForum(test, forum, member)
    const client = browser(test)
    const page = await client.get('/sign-in')
    for (const password of ['', ' ', 'null', 'correct horse battery'])
      expect((await client.submit(page, '/sign-in', { username: member.username, password })).status).toBe(
        401,
      )
  })
})
