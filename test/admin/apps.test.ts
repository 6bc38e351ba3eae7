/**
 * /admin/apps and /admin/audit: administrators review, suspend and reinstate registered applications.
 * spec/registry 4.1 and 4.2.
 */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { type Page, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { setRows } from '../harness/rows.ts'
import { countLive, makeOwnedApp, storedApp, TYPED, toldSecret, trailOf } from '../identity/owned-app.ts'
import {
  authorizationUrl,
  authorize,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  refresh,
  userinfo,
  withoutWriting,
} from '../identity/relying-party.ts'

const { registeredApps: t, registry } = messages.en

const test = await useTestApp()
const root = await makePerson(test, { username: 'root', is_admin: true })
const adminId = root.id
const admin = await root.signIn()

const pathOf = ({ client_id }: { client_id: string }) => `/admin/apps/${client_id}`

async function submit(party: { client_id: string }, act: string, fields: Record<string, string> = {}) {
  const path = pathOf(party)
  return admin.submit(await admin.get(path), `${path}/${act}`, fields)
}

it('an application that nobody registered is not found', async () => {
  expect((await admin.get('/admin/apps/nobody')).status).toBe(404)
  const { form_token = '' } = (await admin.get('/apps')).form('/apps')
  for (const act of ['suspend', 'reinstate', 'review', 'reset-secret']) {
    const fields = { form_token, reason: 'why', reviewed: 'yes' }
    const answer = await withoutWriting(test, () => admin.post(`/admin/apps/nobody/${act}`, fields))
    expect([act, answer.status]).toEqual([act, 404])
  }
})

describe('the list', () => {
  it('finds by part of name, client_id or owner, whatever they hold', async () => {
    const a = await makeOwnedApp(test, { name: 'Zebra 100% _x' })
    const b = await makeOwnedApp(test, { name: 'Zebra 1000 yx' })
    const found = async (q: string, only = 'all') => {
      const { body } = await admin.get(`/admin/apps?${new URLSearchParams({ q, status: only })}`)
      return [a, b].map(({ party }) => body.includes(`href="${pathOf(party)}"`))
    }
    expect(await found('zebra')).toEqual([true, true])
    expect(await found('100%')).toEqual([true, false])
    expect(await found('_x')).toEqual([true, false])
    expect(await found('\\')).toEqual([false, false])
    expect(await found(b.party.client_id)).toEqual([false, true])
    expect(await found(`@${b.owner.username.toUpperCase()}`)).toEqual([false, true])
    await submit(a.party, 'suspend', { reason: 'why', confirmed: 'yes' })
    await submit(b.party, 'review', { reviewed: 'yes' })
    expect(await found('zebra', 'suspended')).toEqual([true, false])
    expect(await found('zebra', 'unreviewed')).toEqual([true, false])
    expect(await found('zebra', 'nonsense')).toEqual([true, true])
  })

  it('goes on page after page', async () => {
    const owner = await makePerson(test)
    const app = {
      owner_id: owner.id,
      redirect_uris: ['https://a.example/'],
      allow_groups: [],
      deny_groups: [],
    }
    const many = Array.from({ length: 51 }, (_, n) => ({
      ...app,
      client_id: `paged${n}`,
      name: `Paged ${n}`,
    }))
    await test.db.insertInto('oauth_apps').values(many).execute()
    const first = await admin.get('/admin/apps?q=Paged')
    const next = /href="(\/admin\/apps\?q=[^"]*before=\d+)"/.exec(first.body)![1]!.replace(/&amp;/g, '&')
    const second = await admin.get(next)
    expect(first.body.match(/href="\/admin\/apps\/paged/g)).toHaveLength(50)
    expect(second.body.match(/href="\/admin\/apps\/paged/g)).toHaveLength(1)
    expect(second.body).not.toMatch(/href="[^"]*before=/)
  })
})

describe('a suspended application', () => {
  it('signs no member in, and stops its tokens until reinstated', async () => {
    const { client, owner, party } = await makeOwnedApp(test)
    const member = await (await makePerson(test)).signIn()
    const tokens = await obtainTokens(test, member, party)
    const { code } = await authorize(member, party)
    const other = await (await makePerson(test)).signIn()
    const consentPage = await other.get(authorizationUrl(party))

    const asked = await submit(party, 'suspend', { reason: 'Sends <spam>' })
    expect(asked.body).toContain(t.suspendQuestion('Reading Club'))
    expect(await storedApp(test, party)).toMatchObject({ suspended_at: null })
    const answer = await admin.submit(asked, `${pathOf(party)}/suspend`)
    expect(answer).toMatchObject({ status: 303, location: pathOf(party) })

    await withoutWriting(test, async () => {
      const error = (name: string) => ({ status: 401, body: { error: name } })
      expect(await userinfo(test, tokens.access_token)).toMatchObject(error('invalid_token'))
      expect(await refresh(test, party, tokens.refresh_token)).toMatchObject(error('invalid_client'))
      expect((await exchange(test, party, code)).body.error).toBe('invalid_client')
      const apps = await getJson(test, '/api/apps', { authorization: `Bearer ${tokens.access_token}` })
      expect(apps.status).toBe(401)
    })
    for (const parameters of [{}, { prompt: 'none' }]) {
      const page = await member.get(authorizationUrl(party, parameters))
      expect(page.status).toBe(403)
      expect(page.location).toBeUndefined()
      expect(page.body).toContain(messages.en.identity.suspended.title('Reading Club'))
      expect(page.body).not.toContain('spam')
    }
    const script = await getJson(test, authorizationUrl(party), { accept: 'application/json' })
    expect(script).toMatchObject({ status: 403, body: { error: 'access_denied' } })
    const late = await withoutWriting(test, () =>
      other.submit(consentPage, '/oauth2/consent', { decision: 'allow' }),
    )
    expect(late.status).toBe(403)

    const ownPage = await client.get(`/apps/${party.client_id}`)
    expect(ownPage.body).toContain('Sends &lt;spam&gt;')
    expect(ownPage.body).toContain(registry.suspendedText)

    await submit(party, 'reinstate', { reason: 'Promised to stop' })
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    expect((await refresh(test, party, tokens.refresh_token)).status).toBe(200)
    expect((await member.get(authorizationUrl(party))).status).toBe(303)
    const [free, suspended] = [{ suspended: false }, { suspended: true }]
    const [reason, promise] = ['Sends <spam>', 'Promised to stop']
    const by = { actor_id: adminId, ip: '127.0.0.1' }
    expect(await trailOf(test, party)).toEqual([
      { ...by, action: 'oauth_app.suspended', detail: { before: free, after: suspended, reason } },
      {
        ...by,
        action: 'oauth_app.reinstated',
        detail: { before: { ...suspended, reason }, after: free, reason: promise },
      },
    ])
    expect(owner.id).not.toBe(adminId)
  })

  it('cannot be suspended twice, nor reinstated twice', async () => {
    const { party } = await makeOwnedApp(test)
    const path = pathOf(party)
    const page = await admin.get(path)
    const suspend = () => admin.submit(page, `${path}/suspend`, { reason: 'why', confirmed: 'yes' })
    const statuses = (await Promise.all([suspend(), suspend(), suspend()])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([303, 409, 409])
    const suspended = await admin.get(path)
    const reinstate = () => admin.submit(suspended, `${path}/reinstate`, { reason: 'why' })
    expect((await reinstate()).status).toBe(303)
    expect((await withoutWriting(test, reinstate)).status).toBe(409)
    expect(await trailOf(test, party)).toHaveLength(2)
  })
})

describe('a reset secret', () => {
  it('is shown once, ends all others, and stands in the owner’s history', async () => {
    const { client, party } = await makeOwnedApp(test)
    const { code } = await authorize(client, party)
    const asked = await submit(party, 'reset-secret')
    expect(asked.body).toContain(t.resetQuestion('Reading Club'))
    expect(await trailOf(test, party)).toEqual([])
    const { location } = await admin.submit(asked, `${pathOf(party)}/reset-secret`)
    const answer = await admin.get(location!)
    expect(answer.status).toBe(200)
    expect(await admin.get(location!)).toMatchObject({ status: 303, location: pathOf(party) })
    expect(answer.headers['cache-control']).toBe('no-store')
    const client_secret = toldSecret(answer)
    expect((await exchange(test, party, code)).status).toBe(401)
    expect((await exchange(test, { ...party, client_secret }, code)).status).toBe(200)
    expect(await countLive(test, party)).toBe(1)
    const own = await client.get(`/apps/${party.client_id}/history`)
    expect(own.body).toContain(registry.acts.secret_reset)
    const [entry, ...others] = await trailOf(test, party)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ action: 'oauth_app.secret_reset', actor_id: adminId })
    for (const text of [own.body, JSON.stringify(entry!.detail), (await admin.get(pathOf(party))).body]) {
      expect(text).not.toContain(client_secret)
      expect(text).not.toContain(party.client_secret)
    }
  })

  it('is not for a public application, which has none', async () => {
    const owned = await makeOwnedApp(test)
    const before = await admin.get(pathOf(owned.party))
    await setRows(test, 'oauth_apps', { id: owned.party.id }, { token_endpoint_auth_method: 'none' })
    const action = `${pathOf(owned.party)}/reset-secret`
    expect((await admin.get(pathOf(owned.party))).body).not.toContain(action)
    expect(
      (await withoutWriting(test, () => admin.submit(before, action, { confirmed: 'yes' }))).status,
    ).toBe(409)
  })
})

describe('the mark of the staff', () => {
  it('is given and taken away, each once', async () => {
    const { client, party } = await makeOwnedApp(test)
    await submit(party, 'review', { reviewed: 'yes' })
    expect(await storedApp(test, party)).toMatchObject({
      reviewed_at: test.clock.now(),
      reviewed_by: adminId,
    })
    await withoutWriting(test, () => submit(party, 'review', { reviewed: 'yes' }))
    expect((await client.get(`/apps/${party.client_id}`)).body).toContain(messages.en.common.reviewed)
    await submit(party, 'review', { reviewed: 'no' })
    expect(await storedApp(test, party)).toMatchObject({ reviewed_at: null, reviewed_by: null })
    expect((await trailOf(test, party)).map(({ action, detail }) => [action, detail])).toEqual([
      ['oauth_app.reviewed', { before: { reviewed: false }, after: { reviewed: true } }],
      ['oauth_app.review_withdrawn', { before: { reviewed: true }, after: { reviewed: false } }],
    ])
  })

  it('covers what was shown, not what its owner changed since', async () => {
    const { client, party, settings } = await makeOwnedApp(test)
    const shown = await admin.get(pathOf(party))
    const mark = (page: Page) => admin.submit(page, `${pathOf(party)}/review`, { reviewed: 'yes' })
    const edit = async (redirect_uris: string) =>
      client.submit(await client.get(settings), settings, { ...TYPED, redirect_uris })
    await edit('https://elsewhere.example/callback')
    await withoutWriting(test, async () => expect((await mark(shown)).status).toBe(409))
    expect(await storedApp(test, party)).toMatchObject({ reviewed_at: null })

    await edit(party.redirect_uri)
    expect((await mark(shown)).status).toBe(303)
    expect(await storedApp(test, party)).toMatchObject({ reviewed_by: adminId })
  })
})

describe('the audit log', () => {
  it('is filtered by subject, action or area, and escapes what it shows', async () => {
    const { client, party, settings } = await makeOwnedApp(test)
    const other = await makeParty(test)
    await submit(party, 'suspend', { reason: '<script>', confirmed: 'yes' })
    await client.submit(await client.get(settings), settings, {
      name: 'x',
      redirect_uris: 'https://x.example/',
    })
    const seen = async (filter: Record<string, string>) => {
      const { body, status } = await admin.get(`/admin/audit?${new URLSearchParams(filter)}`)
      expect(status).toBe(200)
      expect(body).not.toContain('<script>')
      return [
        ...body.matchAll(
          /<a href="[^"]*action=[^"]*" title="([^"]*)"><b>[^<]*<\/b><\/a><i class="mid">.*?<a[^>]* title="([^"]*)"/g,
        ),
      ].map(([, action, subject]) => `${action} ${subject === party.client_id ? 'ours' : subject}`)
    }
    const { client_id: subject } = party
    const all = ['oauth_app.updated ours', 'oauth_app.suspended ours', 'oauth_app.registered ours']
    expect(await seen({ subject })).toEqual(all)
    expect(await seen({ subject, action: 'oauth_app' })).toEqual(all)
    expect(await seen({ subject, action: 'oauth_app.suspended' })).toEqual([all[1]])
    expect(await seen({ subject, action: 'oauth' })).toEqual([])
    expect(await seen({ action: 'oauth_app.registered' })).toContain(
      `oauth_app.registered ${other.client_id}`,
    )
    expect(await seen({ subject: 'x'.repeat(300), before: '-1' })).not.toEqual([])
  })

  it('goes on page after page, and leaves out nothing', async () => {
    const row = { action: 'paging.tried', subject: 'paging', detail: '{}' }
    await test.db.insertInto('audit_log').values(Array(120).fill(row)).execute()
    const ids: string[] = []
    let address: string | undefined = '/admin/audit?subject=paging&action='
    let pages = 0
    while (address !== undefined) {
      const { body }: { body: string } = await admin.get(address)
      ids.push(...[...body.matchAll(/#(\d+)<\/span>/g)].map((match) => match[1]!))
      address = /href="(\/admin\/audit\?[^"]*before=\d+)"/.exec(body)?.[1]?.replace(/&amp;/g, '&')
      pages += 1
    }
    expect(pages).toBe(5)
    expect(new Set(ids).size).toBe(120)
    expect(ids).toEqual([...ids].sort((a, b) => Number(b) - Number(a)))
  })
})
