/** /apps/:client_id: an owner manages an application. spec/registry 1.1, 1.4 and 3.1. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { deleteApp } from '../../src/identity/apps/acts.ts'
import { DEVICE_GRANT } from '../../src/identity/apps/apps.ts'
import { addSecret, resetSecret } from '../../src/identity/apps/secrets.ts'
import { changePerson, joinGroup, makePerson } from '../harness/cast.ts'
import { sendSurely } from '../harness/confirming.ts'
import { browser, startTestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf } from '../harness/rows.ts'
import { countLive, makeOwnedApp, storedApp, TYPED, toldSecret, trailOf } from './owned-app.ts'
import {
  authorize,
  changeApp,
  exchange,
  obtainTokens,
  refresh,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const t = messages.en.registry

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const test = await useTestApp()

const PAGES = ['', '/test', '/test/answer', '/access', '/secrets', '/history', '/settings']
const FORMS = [
  ...['/test', '/settings', '/access', '/access/preview', '/secrets', '/secrets/0123456789ab/end', '/delete'],
  ...['/confirm', '/logo/address'],
]

describe('an application’s page', () => {
  it('shows the owner everything but the secret', async () => {
    const { client, party, path } = await makeOwnedApp(test, { name: 'Club <b>' })
    const page = await client.get(path)
    expect(page.status).toBe(200)
    expect(page.body).toContain('Club &lt;b&gt;')
    expect(page.body).toContain(party.client_id)
    expect(page.body).toContain(t.members('0', 0, false))
    expect(page.body).toContain('Created')
    expect(page.body).not.toContain(party.client_secret)
    expect((await client.get('/apps')).body).toContain(`href="${path}"`)
  })

  it('does not exist for anybody else, in any of its forms', async () => {
    const { party, path } = await makeOwnedApp(test)
    const mallory = await (await makePerson(test, { username: 'mallory', is_admin: true })).signIn()
    const { form_token = '' } = (await mallory.get('/apps')).form('/apps')
    for (const page of PAGES) expect([page, (await mallory.get(path + page)).status]).toEqual([page, 404])
    for (const form of FORMS) {
      const fields = { ...TYPED, form_token, client_secret: party.client_secret, typed_name: TYPED.name }
      const answer = await withoutWriting(test, () =>
        mallory.post(path + form, { ...fields, overlap_hours: '0' }),
      )
      expect([form, answer.status]).toEqual([form, 404])
    }
    expect(await countLive(test, party)).toBe(1)
    expect((await mallory.get('/apps/nobody')).status).toBe(404)
    expect((await browser(test).get(path)).location).toBe(`/sign-in?return_to=${encodeURIComponent(path)}`)
  })
})

describe('editing', () => {
  it('changes what differs, and writes down what was before and after', async () => {
    const { client, owner, party, settings } = await makeOwnedApp(test)
    const answer = await client.submit(await client.get(settings), settings, {
      ...TYPED,
      name: 'Book Club',
      homepage: 'https://books.example/about',
      redirect_uris: 'https://books.example/cb\nhttp://localhost:3000/cb',
    })
    expect(answer).toMatchObject({ status: 303, location: settings })
    const changed = {
      name: 'Book Club',
      homepage: 'https://books.example/about',
      redirect_uris: ['https://books.example/cb', 'http://localhost:3000/cb'],
    }
    expect(await storedApp(test, party)).toMatchObject({ ...changed, description: 'Books', allow_groups: [] })
    const before = {
      name: 'Reading Club',
      homepage: null,
      redirect_uris: ['https://app.example/callback'],
    }
    expect(await trailOf(test, party)).toEqual([
      {
        action: 'oauth_app.updated',
        actor_id: owner.id,
        ip: '127.0.0.1',
        detail: { before, after: changed },
      },
    ])
    const page = await client.get(answer.location!)
    expect(page.body).toContain('Saved: name, ')
  })

  it('of the groups leaves everything else, and warns of a level that blocks everyone', async () => {
    const { client, party, path, access } = await makeOwnedApp(test)
    const before = await storedApp(test, party)
    const rules = { allow_groups: 'crew', deny_groups: 'trust_level_0' }
    const answer = await client.submit(await client.get(access), access, rules)
    expect(answer).toMatchObject({ status: 303, location: access })
    const after = { allow_groups: ['crew'], deny_groups: ['trust_level_0'] }
    expect(await storedApp(test, party)).toEqual({ ...before, ...after })
    expect((await client.get(access)).body).toContain(t.deniesLevel(0))
    expect((await client.get(`${path}/history`)).body).toContain(t.fields.deny_groups)
  })

  it('saves groups that are ticked with those that are typed, and offers no private ones', async () => {
    const { client, party, access, owner } = await makeOwnedApp(test)
    await joinGroup(test, (await makePerson(test)).id, 'Testers')
    await sql`insert into forum_groups (id, name) values (901, 'quiet-room')`.execute(test.db)
    const page = await client.get(access)
    for (const name of ['trust_level_4', 'admins', 'Testers'])
      expect(page.body).toContain(`name="allow_choices" value="${name}"`)
    expect(page.body).not.toContain('quiet-room')
    const sent = new URLSearchParams({ ...page.form(access), allow_groups: 'Authors\nquiet-room' })
    for (const name of ['trust_level_3', 'Testers']) sent.append('allow_choices', name)
    expect(await client.post(access, sent.toString())).toMatchObject({ status: 303, location: access })
    const { allow_groups } = (await storedApp(test, party))!
    expect(allow_groups).toEqual(['trust_level_3', 'Testers', 'Authors', 'quiet-room'])

    await changeApp(test, party, { allow_groups: ['Authors', 'testers'] })
    const again = await client.get(access)
    expect(again.body).toContain('name="allow_choices" value="Testers" checked')
    expect(again.body).toContain('>Authors</textarea>')
    const unchanged = { allow_choices: 'Testers', allow_groups: 'Authors' }
    const answer = await withoutWriting(test, () => client.submit(again, access, unchanged))
    expect(answer.status).toBe(303)
    await changePerson(test, owner, { is_admin: true })
    expect((await client.get(access)).body).toContain('value="quiet-room"')
  })

  it('shows a logo that is somewhere else, by its address', async () => {
    const { client, party, path, settings } = await makeOwnedApp(test)
    const logo_url = 'https://books.example/logo.png'
    const answer = await client.submit(await client.get(settings), `${path}/logo/address`, { logo_url })
    expect(answer).toMatchObject({ status: 303, location: settings })
    expect((await storedApp(test, party))!.logo_url).toBe(logo_url)
    expect((await client.get(path)).body).toContain(`src="${logo_url}"`)
  })

  it('that changes nothing writes nothing', async () => {
    const { client, settings } = await makeOwnedApp(test)
    const page = await client.get(settings)
    const answer = await withoutWriting(test, () => client.submit(page, settings, TYPED))
    expect(answer.status).toBe(303)
  })

  it.each([
    ['name', ' '],
    ['description', 'x'.repeat(501)],
    ['homepage', 'http://books.example/'],
    ['homepage', 'javascript:alert(1)'],
    ['homepage', 'https://user@books.example/'],
    ['logo_url', 'http://books.example/logo.png'],
    ['logo_url', '/brand/app.0123456789abcdef0123456789abcdef.png'],
    ['logo_url', 'data:image/png;base64,AAAA'],
    ['logo_url', `https://books.example/${'x'.repeat(500)}`],
    ['logo_url', 'https://books.example/"onload="x'],
    ['redirect_uris', 'https://books.example/*'],
    ['redirect_uris', ''],
    ['allow_groups', 'x'.repeat(101)],
  ])('refuses a wrong %s (%s), keeps what was typed and changes nothing', async (field, text) => {
    const { client, party, path, settings, access } = await makeOwnedApp(test)
    const before = await storedApp(test, party)
    const isGroups = field === 'allow_groups'
    const page = await client.get(isGroups ? access : settings)
    const action = isGroups ? access : field === 'logo_url' ? `${path}/logo/address` : settings
    const typed = { ...(action === settings && { ...TYPED, name: 'Another' }), [field]: text }
    const answer = await withoutWriting(test, () => client.submit(page, action, typed))
    expect(answer.status).toBe(400)
    expect(answer.body).toContain(`id="${field}-problem"`)
    if (action === settings && field !== 'name') expect(answer.body).toContain('value="Another"')
    expect(await storedApp(test, party)).toEqual(before)
  })

  it('of reviewed facts removes the mark; of groups does not', async () => {
    const { client, owner, party, settings, access } = await makeOwnedApp(test)
    const reviewed = { reviewed_at: test.clock.now(), reviewed_by: owner.id }
    await changeApp(test, party, reviewed)
    await client.submit(await client.get(access), access, { allow_groups: 'crew' })
    expect(await storedApp(test, party)).toMatchObject(reviewed)
    await client.submit(await client.get(settings), settings, { ...TYPED, name: 'Your Bank' })
    expect(await storedApp(test, party)).toMatchObject({ reviewed_at: null, reviewed_by: null })
    const actions = (await trailOf(test, party)).map(({ action }) => action)
    expect(actions).toEqual(['oauth_app.updated', 'oauth_app.updated', 'oauth_app.review_withdrawn'])

    for (const more of [
      { backchannel_logout_uri: 'https://app.example/out' },
      { resource_uri: 'https://app.example/service' },
      { grant_types: DEVICE_GRANT },
    ]) {
      await client.submit(await client.get(settings), settings, TYPED)
      await changeApp(test, party, reviewed)
      await client.submit(await client.get(settings), settings, { ...TYPED, ...more })
      expect([more, (await storedApp(test, party))!.reviewed_at]).toEqual([more, null])
    }
  })

  it('a redirect address taken away is good for nothing at once', async () => {
    const { client, party, settings } = await makeOwnedApp(test)
    const { code } = await authorize(client, party)
    await client.submit(await client.get(settings), settings, {
      ...TYPED,
      redirect_uris: 'https://new.example/',
    })
    expect(await exchange(test, party, code)).toMatchObject({ body: { error: 'invalid_redirect_uri' } })
  })
})

describe('the preview of who would get in', () => {
  it('counts by the deciding rule, with a few names, and saves nothing', async () => {
    const own = await startTestApp()
    try {
      const { client, access, owner } = await makeOwnedApp(own)
      await makePerson(own, { username: 'newbie', trust_level: 0 })
      await makePerson(own, { username: 'crewman', trust_level: 1, groups: ['Crew'] })
      await makePerson(own, { username: 'rogue', trust_level: 4, groups: ['Shadow', 'crew'] })
      await makePerson(own, { username: 'basic', trust_level: 1 })
      const hidden = await makePerson(own, { username: 'hidden', trust_level: 4 })
      await changePerson(own, hidden, { is_banned: true })

      const rules = { allow_groups: 'trust_level_2\nCREW', deny_groups: 'shadow' }
      await changePerson(own, owner, { is_admin: true })
      const page = await client.get(access)
      const answer = await withoutWriting(own, () =>
        client.post(`${access}/preview`, { ...page.form(access), ...rules }),
      )
      expect(answer.status).toBe(200)
      const rows = [
        ...answer.body.matchAll(/<dt>([^<]*)<\/dt>\s*<dd><strong class="tone \w+">(\d+)<\/strong>([^\n]*)/g),
      ]
      expect(rows.map(([, label, count]) => [label, count])).toEqual([
        ['Allowed', '2'],
        [t.refusedAllow, '2'],
        ['Refused: member of the group shadow', '1'],
        [t.refusedBarred, '1'],
      ])
      expect(rows[0]![3]).toContain('@crewman')
      expect(rows[0]![3]).toContain(`@${owner.username}`)
      expect(answer.body).not.toContain(hidden.username)
      expect(answer.body).toMatch(/name="deny_choices" value="Shadow" checked/)
    } finally {
      await own.close()
    }
  })

  it('hides members and exact counts of groups its reader is outside', async () => {
    const own = await startTestApp()
    try {
      const { client, access, owner } = await makeOwnedApp(own)
      const [secret] = await Promise.all([
        makePerson(own, { username: 'spy', trust_level: 4, groups: ['Ring'] }),
        ...Array.from({ length: 11 }, () => makePerson(own, { username: 'crewman', groups: ['Crew'] })),
      ])
      await joinGroup(own, owner.id, 'crew')
      const preview = async (allow_groups: string, deny_groups = '') => {
        const form = (await client.get(access)).form(access)
        const { body } = await client.post(`${access}/preview`, {
          ...form,
          allow_groups,
          deny_groups,
        })
        return body.split('id="preview"')[1]!.split('</section>')[0]!
      }
      const rowsOf = (text: string) =>
        [...text.matchAll(/<dt>([^<]*)<\/dt>\s*<dd><strong class="tone \w+">([^<]+)/g)].map((row) =>
          row.slice(1),
        )
      const fewAndMany = [
        ['Allowed', 'fewer than 10'],
        ['Refused', '10 or more'],
      ]
      // A group with one member, without members, or unknown: the answer is the same.
      const asked = ['ring', 'trust_level_4', 'admins', 'nobody-is-in-it', 'RING\ntrust_level_4']
      for (const text of [
        ...(await Promise.all(asked.map((group) => preview(group)))),
        await preview('trust_level_4', 'ring'),
      ]) {
        expect(rowsOf(text)).toEqual(fewAndMany)
        expect(text).not.toContain('@')
      }
      expect(rowsOf(await preview('', 'ring'))).toEqual([
        ['Allowed', '10 or more'],
        ['Refused', 'fewer than 10'],
      ])
      const known = await preview('crew')
      expect(rowsOf(known)[0]).toEqual(['Allowed', '12'])
      expect(known).toContain('@crewman')
      await changePerson(own, owner, { is_admin: true })
      expect(await preview('ring')).toContain(`@${secret.username}`)
    } finally {
      await own.close()
    }
  })

  it('says that denying a level denies every level above', async () => {
    const { client, access } = await makeOwnedApp(test)
    const rules = { deny_groups: 'trust_level_3\ntrust_level_1' }
    const page = await client.get(access)
    const answer = await client.post(`${access}/preview`, { ...page.form(access), ...rules })
    expect(answer.body).toContain(t.deniesLevel(1))
  })
})

describe('a session that has grown old', () => {
  it('makes, ends and deletes nothing until its member signs in again', async () => {
    const { client, party, path, settings, secrets, owner } = await makeOwnedApp(test)
    const page = await client.get(settings)
    const ofSecrets = await client.get(secrets)
    const end = /action="([^"]+\/end)"/.exec(ofSecrets.body)![1]!
    const forms: [string, string, Record<string, string>][] = [
      [secrets, secrets, { client_secret: party.client_secret, overlap_hours: '24' }],
      [secrets, end, {}],
      [settings, `${path}/delete`, { typed_name: TYPED.name }],
    ]
    test.clock.advance(10 * MINUTE_MS + 1)
    for (const [from, action, fields] of forms) {
      const answer = await withoutWriting(test, () =>
        client.submit(from === secrets ? ofSecrets : page, action, fields),
      )
      expect(answer.status).toBe(409)
      expect(answer.body).toContain(`href="/sign-in?return_to=${encodeURIComponent(from)}&amp;login_hint=`)
    }
    expect((await client.submit(page, settings, TYPED)).status).toBe(303)

    const again = await owner.signIn()
    const [, action, fields] = forms[0]!
    expect((await sendSurely(again, await again.get(secrets), action, fields)).answer.status).toBe(303)
    expect((await sendSurely(again, await again.get(secrets), end)).answer.status).toBe(303)
    const [, deletion, name] = forms[2]!
    expect((await again.submit(await again.get(settings), deletion, name)).status).toBe(303)
    expect(await storedApp(test, party)).toBeUndefined()
  })
})

describe('secrets', () => {
  async function addedBy(owned: Awaited<ReturnType<typeof makeOwnedApp>>, fields = {}) {
    const { client, party, secrets: action } = owned
    const shown = { client_secret: party.client_secret, overlap_hours: '24', ...fields }
    const asked = await client.submit(await client.get(action), action, shown)
    if (asked.status !== 200) return asked
    const { location } = await client.submit(asked, action)
    return client.get(location!)
  }

  it('a live one gets a second; the old one ends as announced', async () => {
    const owned = await makeOwnedApp(test)
    const { client, party, path, owner } = owned
    const answer = await addedBy(owned)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const client_secret = toldSecret(answer)
    expect(client_secret).not.toBe(party.client_secret)
    expect((await client.get(path)).body).not.toContain(client_secret)

    const renewed = { ...party, client_secret }
    const person = await (await makePerson(test)).signIn()
    expect((await obtainTokens(test, person, renewed)).token_type).toBe('Bearer')
    expect((await obtainTokens(test, person, party)).token_type).toBe('Bearer')
    test.clock.advance(24 * HOUR_MS)
    const { code } = await authorize(await (await makePerson(test)).signIn(), party)
    expect(await exchange(test, party, code)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    expect((await exchange(test, renewed, code)).status).toBe(200)

    const [entry, ...others] = await trailOf(test, party)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ action: 'oauth_app.secret_added', actor_id: owner.id, ip: '127.0.0.1' })
    const { before, after } = entry!.detail as Record<'before' | 'after', { secrets: unknown[] }>
    expect([before.secrets.length, after.secrets.length]).toEqual([1, 2])
    expect(JSON.stringify(entry!.detail)).not.toContain(client_secret)
    expect(JSON.stringify(entry!.detail)).not.toContain(party.client_secret)
  })

  it.each([
    ['a wrong one is presented', { client_secret: 'x'.repeat(48) }],
    ['none is presented', { client_secret: '' }],
    ['the overlap is none of those offered', { overlap_hours: '9999' }],
  ])('none is made when %s', async (_, fields) => {
    const owned = await makeOwnedApp(test)
    const answer = await withoutWriting(test, () => addedBy(owned, fields))
    expect(answer.status).toBe(400)
    expect(answer.body).not.toMatch(/<code>[A-Za-z0-9]{48}</)
    expect(await countLive(test, owned.party)).toBe(1)
  })

  it('none is made for a foreign or ended one, or beside two', async () => {
    const owned = await makeOwnedApp(test)
    const other = await makeOwnedApp(test)
    const refused = (client_secret: string) => withoutWriting(test, () => addedBy(owned, { client_secret }))
    expect((await refused(other.party.client_secret)).status).toBe(400)
    const second = toldSecret(await addedBy(owned, { overlap_hours: '0' }))
    expect((await refused(owned.party.client_secret)).status).toBe(400)
    const page = await owned.client.get(owned.secrets)
    const third = toldSecret(await addedBy(owned, { client_secret: second, overlap_hours: '1' }))
    const beside = { ...page.form(owned.secrets), client_secret: third, overlap_hours: '0' }
    const answer = await withoutWriting(test, () => owned.client.post(owned.secrets, beside))
    expect(answer.status).toBe(400)
    expect(answer.body).toContain(t.secretProblems.two_live)
    expect(await countLive(test, owned.party)).toBe(2)
  })

  it('asks first, with the effect, and takes no proof of another session', async () => {
    const { client, owner, party, secrets: action } = await makeOwnedApp(test)
    const member = await (await makePerson(test)).signIn()
    await obtainTokens(test, member, party)
    const shown = { client_secret: party.client_secret, overlap_hours: '24' }
    const asked = await withoutWriting(test, async () =>
      client.submit(await client.get(action), action, shown),
    )
    expect(asked.body).toContain(t.sureAdd)
    expect(asked.body).toMatch(new RegExp(`${t.affected}</dt>\\s*<dd[^>]*>1<`))
    expect(asked.body).not.toContain(party.client_secret)
    const elsewhere = await owner.signIn()
    const { form_token = '' } = (await elsewhere.get(action)).form(action)
    const stolen = { ...asked.form(action), form_token }
    const refused = await withoutWriting(test, () => elsewhere.post(action, stolen))
    expect(refused.status).toBe(400)
    const { location } = await client.submit(asked, action)
    expect(toldSecret(await client.get(location!))).not.toBe(party.client_secret)
    expect((await client.get(action)).body).not.toMatch(/<code>[A-Za-z0-9]{48}</)
  })

  it('one can be ended at once, and its tokens stay', async () => {
    const { client, party, secrets } = await makeOwnedApp(test)
    const tokens = await obtainTokens(test, client, party)
    const page = await client.get(secrets)
    const action = /action="([^"]+\/end)"/.exec(page.body)![1]!
    const { asked, answer } = await sendSurely(client, page, action)
    expect(asked.body).toContain(t.sureEndLast('Reading Club'))
    expect(asked.body).toContain('<dd>1</dd>')
    expect(answer).toMatchObject({ status: 303, location: secrets })
    expect((await client.get(secrets)).body).toContain(t.endedLast('').split('… ')[1])
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(401)
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    const again = await withoutWriting(test, () => client.submit(page, action))
    expect(again.status).toBe(404)
    expect((await trailOf(test, party)).map(({ action }) => action)).toEqual(['oauth_app.secret_ended'])
    expect((await client.get(secrets)).body).toContain(t.noSecrets)
  })

  it('their last use is shown, to within minutes', async () => {
    const { client, party, secrets } = await makeOwnedApp(test)
    const used = async () => (await rowOf(test, 'app_secrets', { app_id: party.id })).last_used_at
    expect((await client.get(secrets)).body).toContain('<dd>never</dd>')
    await exchange(test, { ...party, client_secret: 'wrong' }, 'x')
    expect(await used()).toBeNull()
    const first = test.clock.now()
    await exchange(test, party, 'x')
    expect(await used()).toEqual(first)
    test.clock.advance(60_000)
    await exchange(test, party, 'x')
    expect(await used()).toEqual(first)
    test.clock.advance(10 * 60_000)
    await exchange(test, party, 'x')
    expect(await used()).toEqual(test.clock.now())
  })
})

describe('deleting', () => {
  it('ends everything it was given, for who types its name', async () => {
    const { client, owner, party, path, settings } = await makeOwnedApp(test)
    const member = await (await makePerson(test)).signIn()
    const tokens = await obtainTokens(test, member, party)
    const { code } = await authorize(member, party)
    const page = await client.get(settings)
    expect(page.body).toContain(t.members('1', 1, false))

    const wrong = await withoutWriting(test, () =>
      client.submit(page, `${path}/delete`, { typed_name: 'reading club' }),
    )
    expect(wrong.status).toBe(400)
    expect(wrong.body).toContain(t.removeUnconfirmed)

    const right = await client.submit(page, `${path}/delete`, { typed_name: 'Reading Club' })
    expect(right).toMatchObject({ status: 303, location: '/apps' })
    expect((await userinfo(test, tokens.access_token)).status).toBe(401)
    expect((await refresh(test, party, tokens.refresh_token)).body.error).toBe('invalid_client')
    expect((await exchange(test, party, code)).body.error).toBe('invalid_client')
    expect((await client.get(path)).status).toBe(404)
    for (const table of ['app_secrets', 'consents', 'authorization_codes', 'grants'] as const) {
      const left = await test.db.selectFrom(table).where('app_id', '=', party.id).select('app_id').execute()
      expect([table, left]).toEqual([table, []])
    }
    const [entry, ...others] = await trailOf(test, party)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      action: 'oauth_app.deleted',
      actor_id: owner.id,
      detail: { before: { name: 'Reading Club', members: 1, client_id: party.client_id }, after: null },
    })
    expect(JSON.stringify(entry!.detail)).not.toMatch(/"client_secret"|hash/)
  })
})

describe('at once', () => {
  const act = (party: { client_id: string }, id: bigint) => ({
    client_id: party.client_id,
    owner_id: id,
    actor_id: id,
    now: test.clock.now(),
    ip: '127.0.0.1',
  })

  it('of many resets the last alone leaves a secret that works', async () => {
    const { owner, party } = await makeOwnedApp(test)
    const made = await Promise.all(
      Array.from({ length: 6 }, () => resetSecret(test.db, act(party, owner.id))),
    )
    expect(await countLive(test, party)).toBe(1)
    const statuses = []
    for (const { client_secret } of [party, ...made]) {
      statuses.push((await exchange(test, { ...party, client_secret }, 'x')).status)
    }
    expect(statuses.filter((status) => status === 400)).toHaveLength(1)
    expect(await trailOf(test, party)).toHaveLength(6)
  })

  it('of many additions one is made', async () => {
    const { owner, party } = await makeOwnedApp(test)
    const wish = { ...act(party, owner.id), presented: party.client_secret, overlap_hours: 24 }
    const made = await Promise.all(Array.from({ length: 6 }, () => addSecret(test.db, wish)))
    expect(made.filter((one) => 'client_secret' in one)).toHaveLength(1)
    expect(await countLive(test, party)).toBe(2)
    expect(await trailOf(test, party)).toHaveLength(1)
  })

  it('a secret and tokens made during deletion leave nothing behind', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { owner, client, party } = await makeOwnedApp(test)
      const tokens = await obtainTokens(test, client, party)
      const { code } = await authorize(client, party)
      const mine = act(party, owner.id)
      const outcomes = await Promise.allSettled([
        deleteApp(test.db, { ...mine, typed_name: 'Reading Club' }),
        addSecret(test.db, { ...mine, presented: party.client_secret, overlap_hours: 0 }),
        exchange(test, party, code),
        refresh(test, party, tokens.refresh_token),
        userinfo(test, tokens.access_token),
      ])
      expect(outcomes[0]).toEqual({
        status: 'fulfilled',
        value: expect.objectContaining({ name: 'Reading Club' }),
      })
      if (outcomes[1].status === 'rejected') expect(outcomes[1].reason).toMatchObject({ code: 'not_found' })
      for (const outcome of outcomes.slice(2)) {
        const { status } = (outcome as PromiseFulfilledResult<{ status: number }>).value
        expect([200, 400, 401]).toContain(status)
      }
      expect(await storedApp(test, party)).toBeUndefined()
      expect(await countLive(test, party)).toBe(0)
    }
  })
})
