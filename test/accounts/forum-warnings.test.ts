/** What `/admin/forum` warns of: of the last hour, and of the last day. spec/accounts 5.8. */
import { describe, expect, it } from 'vitest'
import { type ContactKind, noteContact } from '../../src/accounts/forum/contacts.ts'
import { readNextPage } from '../../src/accounts/forum-sync/passes.ts'
import { forumState } from '../../src/accounts/forum-sync/state.ts'
import { checkNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import { openMetrics } from '../../src/core/metrics.ts'
import { makePerson } from '../harness/cast.ts'
import { useForumWorld } from '../harness/forum-world.ts'
import { setSetting } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf, setRows } from '../harness/rows.ts'

const MINUTE_MS = 60_000
const world = await useForumWorld()
const { forum, test } = world
const t = messages.en.console.forum
const admin = await (await makePerson(test, { is_admin: true })).signIn()
const page = async () => (await admin.get('/admin/forum')).body
const state = () => forumState(test.db, test.clock.now())

/** Makes only the list of suspended members due, and reads it to its end. */
async function passSuspended(after_ms: number): Promise<void> {
  test.clock.advance(after_ms)
  await setRows(test, 'forum_sources', {}, { retry_at: new Date('2999-01-01') })
  await setRows(
    test,
    'forum_sources',
    { name: 'suspended' },
    { retry_at: null, started_at: null, next_page: 0 },
  )
  while (await readNextPage(test.deps));
}

describe('the minutes that a suspension takes', () => {
  it('are the longest of the last day between the beginning of a pass and the end of the next', async () => {
    await passSuspended(0)
    expect((await state()).suspension_minutes).toBe(10)
    await passSuspended(25 * MINUTE_MS)
    expect((await state()).suspension_minutes).toBe(25)
    for (let passes = 0; passes < 3; passes += 1) await passSuspended(10 * MINUTE_MS)
    expect((await state()).suspension_minutes).toBe(25)
    for (let passes = 0; passes < 145; passes += 1) await passSuspended(10 * MINUTE_MS)
    expect((await state()).suspension_minutes).toBe(10)
    expect(await page()).toContain(t.suspension(10))
    test.clock.advance(31 * MINUTE_MS)
    expect((await state()).suspension_minutes).toBeUndefined()
  }, 60_000)
})

describe('the page', () => {
  const badge = async () => /<span class="badge (\w+)">/.exec((await page()).split('</h1>')[1]!)![1]
  /** What the page says of a connection: its badge and its words. */
  const said = async (name: keyof typeof t.names) => {
    const row = new RegExp(`<li id="${name}">.*?(?=<li id=|</section>)`, 's').exec(await page())![0]
    return { tone: /class="badge (\w+)"/.exec(row)![1], text: textOf(row) }
  }

  it('begins with the state of each connection and its last contact', async () => {
    await passSuspended(MINUTE_MS)
    const minutes = (await state()).suspension_minutes!
    await test.db.deleteFrom('forum_contacts').execute()
    const body = await page()
    const found = [...Object.values(t.names), t.figures, t.lists, t.groups].map((text) =>
      body.indexOf(`${text}</`),
    )
    expect(found[0]).toBeGreaterThan(0)
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(await said('signIn')).toMatchObject({ tone: 'hollow' })
    expect((await said('members')).text).toContain(t.suspension(minutes))
    expect(await said('webhook')).toMatchObject({ tone: 'warn' })
    expect((await said('webhook')).text).toContain(`${test.url}/forum/webhook`)
    expect(await badge()).toBe('warn')

    const member = forum.join()
    test.clock.advance(MINUTE_MS)
    await world.signIn(member)
    expect(await said('signIn')).toMatchObject({ tone: 'good' })
    // A ping concerns no member, but it shows that the webhook works.
    await world.emit('ping', 'ping', {})
    const webhook = await said('webhook')
    expect(webhook).toMatchObject({ tone: 'good' })
    expect(webhook.text).toContain(t.webhook.last)
    expect(await badge()).toBe('good')
    await test.db.deleteFrom('forum_event_hours').execute()
  })

  it('says of the wallet whether the forum has asked for it', async () => {
    expect(await said('wallet')).toMatchObject({ tone: 'hollow' })
    await setSetting(test, 'forum_wallet', 'on')
    const waiting = await said('wallet')
    expect(waiting.text).toContain(t.wallet.waiting)
    expect(waiting.text).toContain(t.themeDownload)
    const ask = (origin: string) =>
      test.app.inject({ url: '/forum/wallet.json?forum_id=1', headers: { origin } })
    await ask('https://elsewhere.example.org')
    expect(await said('wallet')).toMatchObject({ tone: 'warn' })
    expect((await ask(forum.url)).statusCode).toBe(401)
    expect((await said('wallet')).text).toContain(t.wallet.last)
    const seen = () => rowsOf(test, 'forum_contacts', { kind: 'wallet' }, ['seen_at'])
    const [first] = await seen()
    // A process notes it once a minute.
    test.clock.advance(MINUTE_MS - 1)
    await ask(forum.url)
    expect(await seen()).toEqual([first])
    test.clock.advance(1)
    await ask(forum.url)
    expect(await seen()).toEqual([{ seen_at: test.clock.now() }])
    await setSetting(test, 'forum_wallet', 'off')
  })

  it('tries to note a contact once a minute, also when the database refuses', async () => {
    const note = () => noteContact(test.deps, 'unknown' as ContactKind)
    await expect(note()).rejects.toThrow('forum_contacts_kind')
    await note()
    test.clock.advance(MINUTE_MS)
    await expect(note()).rejects.toThrow('forum_contacts_kind')
  })

  it('opens the lists when one fails', async () => {
    const opened = async () => new RegExp(`<details open>\\s*<summary><b>${t.lists}`).test(await page())
    expect(await opened()).toBe(false)
    await setRows(test, 'forum_sources', { name: 'staff' }, { failure: 'refused' })
    expect(await opened()).toBe(true)
    await setRows(test, 'forum_sources', { name: 'staff' }, { failure: null })
  })
})

describe('a warning', () => {
  it('is shown for an hour after the forum refused a request (429)', async () => {
    expect(await page()).not.toContain(t.limited)
    forum.fault = 'limited'
    await passSuspended(MINUTE_MS)
    forum.fault = undefined
    expect(await page()).toContain(t.limited)
    test.clock.advance(60 * MINUTE_MS + 1)
    expect((await state()).warnings.isLimited).toBe(false)
  })

  it('is shown while a list is refused, but not without a leaderboard', async () => {
    await setRows(test, 'forum_sources', { name: 'scores' }, { failure: 'not_found' })
    expect(await page()).not.toContain(t.refused)
    forum.fault = 'lists_refused'
    await passSuspended(MINUTE_MS)
    forum.fault = undefined
    expect(await page()).toContain(t.refused)
    await passSuspended(MINUTE_MS)
    expect(await page()).not.toContain(t.refused)
  })

  it('is shown when over nine of ten webhooks of an hour are useless', async () => {
    const member = forum.join()
    await world.signIn(member)
    const emit = async (type: string, times: number) => {
      for (let sent = 0; sent < times; sent += 1) await world.emit(type, `${type}_updated`, { id: member.id })
    }
    await emit('post', 18)
    await emit('user', 1)
    // Too few to say anything.
    expect((await state()).warnings.uselessPercent).toBeNull()
    await emit('user', 1)
    expect((await state()).warnings.uselessPercent).toBeNull()
    await emit('post', 5)
    expect(await page()).toContain(t.useless(92))
    test.clock.advance(3 * 60 * MINUTE_MS)
    expect((await state()).warnings.uselessPercent).toBeNull()
  })

  it('is shown while answers about members cannot be used, and fields of unknown form are counted', async () => {
    const metrics = await openMetrics({ ...test.deps, config: { ...test.deps.config, METRICS_PORT: 9464 } })
    const deps = { ...test.deps, ...(metrics && { metrics }) }
    const member = forum.join()
    await world.signIn(member)
    forum.instead.set(member.id, { trust_level: 'high', suspended_till: 'soon' })
    const hint = async () => {
      test.clock.advance(61_000)
      await setRows(test, 'forum_members', {}, { hinted_at: null, next_check_at: new Date('2999-01-01') })
      const { id } = await world.userOf(member)
      await setRows(test, 'forum_members', { user_id: id }, { hinted_at: test.clock.now(), retry_at: null })
      await checkNextMember(deps, 'hinted')
    }
    await hint()
    const { text } = await metrics!.scrape()
    expect(text).toContain('tessera_forum_unknown_fields_total{field="trust_level"} 1')
    expect(text).toContain('tessera_forum_unknown_fields_total{field="suspended_till"} 1')
    expect(text).not.toContain('unknown_fields_total{field="groups"}')
    forum.instead.set(member.id, { id: 1 })
    await hint()
    expect(await page()).toContain(t.unusable(1, '1'))
    forum.instead.clear()
    await hint()
    expect(await page()).not.toContain(t.unusable(1, '1'))
  })
})
