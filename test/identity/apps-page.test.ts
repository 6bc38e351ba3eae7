/** /apps: a member's own applications, and the form that registers another. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { browser, setSetting, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { makeParty, obtainTokens, type Party, registerByApi, withoutWriting } from './relying-party.ts'

const test = await useTestApp()

const TYPED = {
  name: 'Reading <Club>',
  description: 'Books',
  redirect_uris: 'https://books.example/callback\r\n\r\n  http://localhost:3000/cb  ',
  allow_groups: 'trust_level_1\nCrew',
  deny_groups: '',
}

async function member(values = {}) {
  const client = await (await makePerson(test, values)).signIn()
  return { client, page: await client.get('/apps') }
}

describe('GET /apps', () => {
  it('is for members, who come back to it after signing in', async () => {
    const page = await browser(test).get('/apps')
    expect(page.status).toBe(303)
    expect(page.location).toBe('/sign-in?return_to=%2Fapps')
  })

  it('offers a newcomer the form, and no empty list', async () => {
    const { page } = await member()
    expect(page.body).toContain('action="/apps"')
    expect(page.body).not.toContain(messages.en.identity.apps.empty)
  })

  it('lists the member’s own applications and nobody else’s', async () => {
    const other = await makeParty(test)
    const { client, page } = await member()
    expect(page.status).toBe(200)
    await client.submit(page, '/apps', TYPED)
    const { body } = await client.get('/apps')
    expect(body).toContain('Reading &lt;Club&gt;')
    expect(body).not.toContain(other.client_id)
    // The form is folded below the list, until its button opens it or it is refused.
    const isOpen = (html: string) => /<details [^>]*id="register"( open)?>/.exec(html)![1] !== undefined
    expect(isOpen(body)).toBe(false)
    const opened = await client.get(/href="(\/apps\?new)#register"/.exec(body)![1]!)
    expect(isOpen(opened.body)).toBe(true)
    expect(isOpen((await client.submit(opened, '/apps', { ...TYPED, name: ' ' })).body)).toBe(true)
  })
})

describe('POST /apps', () => {
  it('registers a hundred per member, by the API too, until one goes', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const page = await client.get('/apps')
    const party = await makeParty(test)
    const { access_token } = await obtainTokens(test, client, party)
    await sql`
      insert into oauth_apps (client_id, owner_id, name, redirect_uris)
      select 'many' || lpad(n::text, 20, '0'), ${person.id}, 'Many', array['https://books.example/callback']
      from generate_series(1, 99) as n
    `.execute(test.db)
    const byApi = () =>
      registerByApi(test, access_token, { name: 'Mine', redirect_uris: ['https://app.example/'] })
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, async () => (await byApi()).status),
      ...Array.from({ length: 3 }, async () => (await client.submit(page, '/apps', TYPED)).status),
    ])
    expect(answers.filter((status) => status !== 403)).toHaveLength(1)
    expect((await byApi()).body).toMatchObject({ error: 'access_denied' })
    const full = await client.get('/apps')
    expect(full.body).toContain(messages.en.identity.apps.full(100))
    expect(full.body).not.toContain('name="redirect_uris"')
    await sql`delete from oauth_apps where client_id = 'many' || lpad('1', 20, '0')`.execute(test.db)
    expect((await byApi()).status).toBe(201)
  })

  it('shows the secret once, on a page of its own', async () => {
    const { client, page } = await member()
    const { status, body, location } = await client.submit(page, '/apps', TYPED)
    expect([status, body]).toEqual([303, ''])
    const other = await member()
    other.client.cookies.set('shown_once', client.cookies.get('shown_once')!)
    expect((await other.client.get(location!)).status).toBe(404)
    const answer = await client.get(location!)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const client_id = /<code[^>]*>([a-z0-9]{24})</.exec(answer.body)?.[1]
    const client_secret = /<code>([A-Za-z0-9]{48})</.exec(answer.body)?.[1]
    expect(answer.body).toContain(`CLIENT_SECRET=${client_secret}`)
    expect(client_id).toBeTruthy()
    expect(client_secret).toBeTruthy()
    expect(answer.body).toContain('/.well-known/openid-configuration')
    expect(answer.form('/docs/applications')).toMatchObject({ client_id, return_to: '/docs/sign-in-clients' })
    expect(await client.get(location!)).toMatchObject({ status: 303, location: `/apps/${client_id}` })
    const later = await client.get('/apps')
    expect(later.body).toContain(client_id)
    expect(later.body).not.toContain(client_secret)

    const app = { client_id, client_secret, redirect_uri: 'http://localhost:3000/cb' } as Party
    const tokens = await obtainTokens(test, client, {
      ...app,
      redirect_uri: 'https://books.example/callback',
    })
    expect(tokens.token_type).toBe('Bearer')
  })

  it('registers a public application, which shows no secret anywhere', async () => {
    const { client, page } = await member()
    const { location } = await client.submit(page, '/apps', {
      ...TYPED,
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
      post_logout_redirect_uris: 'https://books.example/bye',
    })
    const answer = await client.get(location!)
    expect(answer.status).toBe(200)
    expect(answer.body).not.toContain('client_secret')
    const client_id = /<code[^>]*>([a-z0-9]{24})</.exec(answer.body)?.[1]
    const own = await client.get(`/apps/${client_id}/settings`)
    expect(own.body).toContain('https://books.example/bye')
    expect(own.body).toContain('<option selected>ES256</option>')
    const secrets = await client.get(`/apps/${client_id}/secrets`)
    expect(secrets.body).toContain(messages.en.identity.apps.isPublic)
    expect(secrets.body).not.toContain('name="client_secret"')
    expect(own.body).not.toContain('name="token_endpoint_auth_method"')
  })

  it('puts faults beside the fields, keeps the input, and registers nothing', async () => {
    const { client, page } = await member()
    const answer = await withoutWriting(test, () =>
      client.submit(page, '/apps', {
        ...TYPED,
        name: ' ',
        description: 'x'.repeat(501),
        redirect_uris: 'http://evil.example/"><b>\nhttps://fine.example/#x\nhttps://fine.example/',
      }),
    )
    expect(answer.status).toBe(400)
    for (const field of ['name', 'description', 'redirect_uris']) {
      expect(answer.body).toContain(`id="${field}-problem"`)
      expect(answer.body).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`))
    }
    for (const language of ['en', 'zh-CN'] as const) {
      const { apps, redirectUriFaults } = messages[language].identity
      const wrong = { ...page.form('/apps'), ...TYPED, redirect_uris: 'nowhere' }
      const { body } = await client.post('/apps', wrong, { 'accept-language': language })
      expect(body).toContain(apps.faultyUri('nowhere', redirectUriFaults.not_absolute))
    }
    expect(answer.body).not.toContain('"><b>')
  })

  it('needs a session', async () => {
    const stranger = browser(test)
    const { form_token } = (await stranger.get('/sign-in')).form('/sign-in')
    const answer = await withoutWriting(test, () =>
      stranger.post('/apps', { ...TYPED, form_token: form_token! }),
    )
    expect(answer.status).toBe(401)
  })

  it('waits for the trust level that the setting asks for', async () => {
    await setSetting(test, 'apps_min_trust_level', '3')
    const { client, page } = await member({ trust_level: 2 })
    expect(page.body).toContain(messages.en.identity.apps.needTrustLevel(3, 2))
    expect(page.body).not.toContain('action="/apps"')
    const { form_token = '' } = page.form('/sign-out')
    const answer = await withoutWriting(test, () => client.post('/apps', { ...TYPED, form_token }))
    expect(answer.status).toBe(403)
    await setSetting(test, 'apps_min_trust_level', '0')
  })
})
