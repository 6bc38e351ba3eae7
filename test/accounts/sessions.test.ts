/** /account/sessions: the browsers that are signed in to an account. spec/accounts 3.1. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { deviceOf } from '../../src/accounts/session/device.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { sendSurely } from '../harness/confirming.ts'
import { type Browser, browser, type Page, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'

const t = messages.en

const PATH = '/account/sessions'
const END = `${PATH}/end`
const SURE = { sure: '1' }
const MINUTE_MS = 60_000
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

const test = await useTestApp({ TRUST_PROXY: '127.0.0.1' })

async function signInWith(person: Person, agent: string, address: string): Promise<Browser> {
  const client = browser(test)
  const { username, password } = person
  const fields = { ...(await client.get('/sign-in')).form('/sign-in'), username, password }
  const answer = await client.post('/sign-in', fields, { 'user-agent': agent, 'x-forwarded-for': address })
  expect(answer.status).toBe(303)
  return client
}

const sessionsOf = ({ id }: Person) =>
  test.db.selectFrom('sessions').where('user_id', '=', id).selectAll().orderBy('id').execute()
const handlesIn = ({ body }: Page) =>
  [...body.matchAll(/name="session" value="([^"]+)" aria-label/g)].map((match) => match[1]!)
const isSignedIn = async (client: Browser) => (await client.get('/account')).status === 200
const auditOf = ({ id }: Person) =>
  rowsOf(test, 'audit_log', { subject: `user:${id}`, action: 'account.sessions_ended' }, [
    'actor_id',
    'detail',
    'ip',
  ])

describe('the list', () => {
  it('names each browser and its address, and marks this one', async () => {
    const alice = await makePerson(test)
    await signInWith(alice, SAFARI, '198.51.100.7')
    const client = await signInWith(alice, FIREFOX, '203.0.113.9')
    const page = await client.get(PATH)
    expect(page.status).toBe(200)
    expect(page.body).toContain(t.sessions.on('Safari', 'iPhone'))
    expect(page.body).toContain('198.51.100.7')
    expect(page.body.replaceAll(/>\s+</g, '><')).toContain(
      `${t.sessions.on('Firefox', 'Linux')}</strong><span class="tag good">${t.sessions.thisOne}`,
    )
    expect(handlesIn(page)).toHaveLength(1)
    const chinese = await client.get(PATH, { 'accept-language': 'zh-CN' })
    expect(chinese.body).toContain(messages['zh-CN'].sessions.on('Safari', 'iPhone'))
    expect((await client.get('/account/profile')).body).toContain(`href="${PATH}"`)
  })

  it('shows nobody else’s, nor any that has expired', async () => {
    const [alice, mallory] = [await makePerson(test), await makePerson(test, { username: 'mallory' })]
    await signInWith(alice, SAFARI, '198.51.100.8')
    const client = await signInWith(mallory, FIREFOX, '203.0.113.9')
    expect((await client.get(PATH)).body).not.toContain('198.51.100.8')
    const again = await signInWith(alice, FIREFOX, '203.0.113.10')
    await setRows(
      test,
      'sessions',
      { user_id: alice.id, ip: '198.51.100.8' },
      { expires_at: test.clock.now() },
    )
    expect((await again.get(PATH)).body).not.toContain('198.51.100.8')
    expect((await browser(test).get(PATH)).location).toBe('/sign-in?return_to=%2Faccount%2Fsessions')
  })

  it('says the last use within minutes, and writes no more often', async () => {
    const alice = await makePerson(test)
    const client = await signInWith(alice, FIREFOX, '203.0.113.9')
    const phone = await signInWith(alice, SAFARI, '198.51.100.7')
    const seen = async () => (await sessionsOf(alice)).map(({ last_seen_at }) => last_seen_at)
    const start = test.clock.now()
    test.clock.advance(5 * MINUTE_MS)
    await client.get('/')
    expect(await seen()).toEqual([start, start])
    test.clock.advance(6 * MINUTE_MS)
    await client.get('/')
    expect(await seen()).toEqual([test.clock.now(), start])
    test.clock.advance(3 * 60 * MINUTE_MS)
    expect((await client.get(PATH)).body).toContain(`>${t.sessions.hoursAgo(3)}`)
    expect((await phone.get(PATH)).body).toContain(`>${t.sessions.justNow}`)
  })

  it('notes the last use without waiting for the disk', async () => {
    const alice = await makePerson(test)
    await signInWith(alice, FIREFOX, '203.0.113.9')
    /** How the transaction of a request at this time commits. */
    const commitAt = (now: Date) =>
      test.db.transaction().execute(async (tx) => {
        await sql`set local synchronous_commit = on`.execute(tx)
        await sql`
          select from use_sessions(
            array(select token_hash from sessions where user_id = ${alice.id}), ${now}::timestamptz,
            ${new Date(now.getTime() - 10 * MINUTE_MS)}::timestamptz, null
          )`.execute(tx)
        const { rows } = await sql<{ how: string }>`
          select current_setting('synchronous_commit') as how`.execute(tx)
        return rows[0]!.how
      })
    const later = new Date(test.clock.now().getTime() + 11 * MINUTE_MS)
    expect([await commitAt(later), await commitAt(later)]).toEqual(['off', 'on'])
  })
})

describe('signing out from afar', () => {
  it('ends the one chosen at its next request, and no other', async () => {
    const alice = await makePerson(test)
    const client = await signInWith(alice, FIREFOX, '203.0.113.9')
    const phone = await signInWith(alice, SAFARI, '198.51.100.7')
    const tablet = await signInWith(alice, 'iPad', '198.51.100.9')
    const page = await client.get(PATH)
    const [newest] = handlesIn(page)
    const asked = await client.submit(page, END, { session: newest! })
    expect(asked.body).toContain('198.51.100.9')
    expect(await isSignedIn(tablet)).toBe(true)
    const answer = await client.submit(asked, END)
    expect(answer).toMatchObject({ status: 303, location: PATH })
    expect([await isSignedIn(client), await isSignedIn(phone), await isSignedIn(tablet)]).toEqual([
      true,
      true,
      false,
    ])
    expect(await auditOf(alice)).toEqual([
      {
        actor_id: alice.id,
        ip: '127.0.0.1',
        detail: {
          before: {
            sessions: [{ ip: '198.51.100.9', agent: 'iPad', auth_time: test.clock.now().toISOString() }],
          },
          after: null,
        },
      },
    ])
    expect((await client.get(PATH)).body).toContain(t.sessions.ended(''))
    expect((await client.submit(page, END, { session: newest! })).status).toBe(404)
  })

  it('ends all others at once, and a second time nothing', async () => {
    const alice = await makePerson(test)
    const clients = [
      await signInWith(alice, FIREFOX, '203.0.113.9'),
      await signInWith(alice, SAFARI, '198.51.100.7'),
      await signInWith(alice, SAFARI, '198.51.100.7'),
    ]
    const page = await clients[0]!.get(PATH)
    const { asked } = await sendSurely(clients[0]!, page, END, { session: 'others' })
    expect(asked.body).toContain(t.sessions.sureOthers(2))
    expect((await clients[0]!.get(PATH)).body).toContain(t.sessions.endedOthers(2))
    expect(await Promise.all(clients.map(isSignedIn))).toEqual([true, false, false])
    expect((await clients[0]!.submit(page, END, { session: 'others' })).status).toBe(303)
    expect(await auditOf(alice)).toHaveLength(1)
  })

  it('is for one’s own alone, by one’s own form', async () => {
    const [alice, mallory] = [await makePerson(test), await makePerson(test, { username: 'mallory' })]
    const victim = await signInWith(alice, FIREFOX, '203.0.113.9')
    const phone = await signInWith(alice, SAFARI, '198.51.100.7')
    const attacker = await signInWith(mallory, FIREFOX, '203.0.113.66')
    const handles = handlesIn(await victim.get(PATH))
    const { form_token = '' } = (await attacker.get(PATH)).form('/sign-out')
    const [session] = handles
    expect((await attacker.post(END, { form_token, ...SURE, session: session! })).status).toBe(404)
    expect((await attacker.post(END, { form_token, ...SURE, session: 'others' })).status).toBe(303)
    expect((await attacker.post(END, { form_token })).status).toBe(404)
    expect((await victim.post(END, { form_token, ...SURE, session: session! })).status).toBe(403)
    expect((await victim.post(END, { ...SURE, session: 'others' })).status).toBe(403)
    expect([await isSignedIn(victim), await isSignedIn(phone)]).toEqual([true, true])
    expect(await auditOf(alice)).toEqual([])
  })
})

describe('a device in words', () => {
  it.each([
    [FIREFOX, 'Firefox', 'Linux'],
    [SAFARI, 'Safari', 'iPhone'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge',
      'Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      'Chrome',
      'macOS',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari',
      'macOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15; SM-S931B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
      'Samsung Internet',
      'Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.60',
      'WeChat',
      'iPhone',
    ],
    [
      'Mozilla/5.0 (X11; CrOS x86_64 16181.61.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      'Chrome',
      'ChromeOS',
    ],
    ['curl/8.14.1', 'curl', undefined],
    ['', undefined, undefined],
  ])('%s', (agent, browserName, system) => {
    expect(deviceOf(agent)).toEqual({ browser: browserName, system })
  })
})
