/** Rules for every address: health, errors as page or JSON, headers and languages. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makePerson } from './harness/cast.ts'
import { browser, startTestApp, useTestApp } from './harness/harness.ts'
import { messages } from './harness/messages.ts'

const test = await useTestApp()

describe('health', () => {
  it('tells a running process from a ready one', async () => {
    expect((await test.app.inject('/healthz')).json()).toEqual({ status: 'ok' })
    const ready = await test.app.inject('/readyz')
    expect(ready.json()).toEqual({
      status: 'ready',
      checks: { database: true, migrations: true, writes: true, clock: true, signing_key: true },
    })
    const expectNotReady = async () => {
      const broken = await test.app.inject('/readyz')
      expect(broken.statusCode).toBe(503)
      expect(broken.json()).toMatchObject({ status: 'not ready', checks: { migrations: false } })
    }
    await sql`alter table schema_migrations rename to hidden`.execute(test.db)
    await expectNotReady()
    await sql`alter table hidden rename to schema_migrations`.execute(test.db)
    // The same number of migrations but others, and then one that an upgrade added.
    await sql`
      update schema_migrations set name = name || '.new' where name = (select min(name) from schema_migrations)`.execute(
      test.db,
    )
    await expectNotReady()
    await sql`
      insert into schema_migrations (name, checksum)
      select replace(name, '.new', ''), checksum from schema_migrations where name like '%.new'`.execute(
      test.db,
    )
    await expectNotReady()
    await sql`delete from schema_migrations where name like '%.new'`.execute(test.db)
    expect((await test.app.inject('/readyz')).statusCode).toBe(200)
  })
})

describe('errors', () => {
  it('are pages for people and JSON for scripts, with a reference', async () => {
    const page = await browser(test).get('/nowhere')
    expect(page.status).toBe(404)
    expect(page.body).toContain(messages.en.errors.title.not_found)
    for (const path of ['/', '/launch']) expect(page.body).toContain(`href="${path}"`)
    expect(page.body).toMatch(/Reference <code>req-/)
    const json = await test.app.inject({ url: '/nowhere', headers: { accept: 'application/json' } })
    expect(json.statusCode).toBe(404)
    expect(json.json()).toEqual({
      error: 'not_found',
      error_type: 'not_found',
      message: expect.any(String),
      request_id: expect.stringMatching(/^req-[a-z0-9]{8}-/),
    })
    expect(json.headers['x-request-id']).toBe(json.json().request_id)
    const machine = await test.app.inject({ method: 'POST', url: '/oauth2/token' })
    expect(machine.headers['x-request-id']).toMatch(/^req-/)
    expect(machine.headers['x-request-id']).not.toBe(json.headers['x-request-id'])
  })

  it('leave a member the navigation, and lead a visitor on', async () => {
    const member = await (await makePerson(test)).signIn()
    for (const [path, status] of [
      ['/nowhere', 404],
      ['/account/nowhere', 404],
      ['/admin', 403],
    ] as const) {
      const page = await member.get(path)
      expect(page.status).toBe(status)
      for (const link of ['/account', '/account/profile', '/payment/applications'])
        expect(page.body).toContain(`href="${link}"`)
      expect(page.body.match(/class="button primary"/g)).toHaveLength(1)
      expect(await member.get(path, { accept: 'application/json' })).toMatchObject({ status })
      expect((await browser(test).get(path)).body).not.toContain('href="/account/profile"')
    }
    for (const [path, isInMenu] of [
      ['/account', false],
      ['/account/alerts', true],
    ] as const) {
      const { body } = await member.get(path)
      expect(body.includes('<a href="#menu" aria-current="true">')).toBe(isInMenu)
    }
    const away = await member.submit(await member.get('/nowhere'), '/sign-out')
    expect(away.status).toBe(303)
  })

  it('of ours tell nothing but the reference', async () => {
    await sql`alter table users rename to gone`.execute(test.db)
    const client = browser(test)
    client.cookies.set('tessera_session', 'anything')
    const page = await client.get('/account')
    const told = await client.get('/account', { accept: 'application/json' })
    await sql`alter table gone rename to users`.execute(test.db)
    for (const { status, body } of [page, told]) {
      expect(status).toBe(500)
      expect(body).toContain(messages.en.errors.title.internal_error)
      expect(body).not.toMatch(/users|relation|select/i)
    }
    expect(page.body).toContain(`href="/account">${messages.en.errors.tryAgain}</a>`)
  })
})

describe('pages', () => {
  it('carry the headers against framing, caching, leaks and scripts', async () => {
    const { headers, body } = await browser(test).get('/sign-in')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data: https: http://127.0.0.1:* http://localhost:*; connect-src 'self'; form-action 'self' https: http://127.0.0.1:* http://localhost:*; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(body).not.toMatch(/<script(?![^>]*src=)|style=|onclick=|https?:\/\//)
  })

  it('in production set __Host- cookies, demand https and open no loopback', async () => {
    const live = await startTestApp({ PUBLIC_URL: 'https://id.example.org' })
    const response = await live.app.inject({ url: '/sign-in', headers: { accept: 'text/html' } })
    expect(String(response.headers['set-cookie'])).toMatch(
      /^__Host-visitor=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(response.headers['strict-transport-security']).toBe('max-age=31536000')
    expect(response.headers['content-security-policy']).toContain("form-action 'self' https:;")
    await live.close()
  })

  it('speak the remembered language, else the browser’s, else English', async () => {
    const get = async (headers: Record<string, string>) => (await browser(test).get('/sign-in', headers)).body
    expect(await get({})).toContain('<html lang="en">')
    expect(await get({ 'accept-language': 'zh-TW,en;q=0.5' })).toContain('<html lang="zh-CN">')
    expect(await get({ 'accept-language': 'zh;q=0.3,en-GB' })).toContain('<html lang="en">')
    expect(await get({ 'accept-language': 'fr,zh;q=0' })).toContain('<html lang="en">')
    const client = browser(test)
    const page = await client.get('/sign-in')
    const switched = await client.submit(page, '/language', { language: 'zh-CN' })
    expect(switched).toMatchObject({ status: 303, location: '/sign-in' })
    expect((await client.get('/sign-in', { 'accept-language': 'en' })).body).toContain('<html lang="zh-CN">')
    expect(
      (await client.submit(page, '/language', { language: 'xx', return_to: '//evil.example' })).location,
    ).toBe('/')
  })

  it('follow a member’s chosen language into every browser of theirs', async () => {
    const alice = await makePerson(test)
    const first = await alice.signIn()
    const other = await (await makePerson(test)).signIn()
    await first.submit(await first.get('/account/profile'), '/language', { language: 'zh-CN' })
    const elsewhere = await alice.signIn()
    const english = { 'accept-language': 'en' }
    expect((await elsewhere.get('/account', english)).body).toContain('<html lang="zh-CN">')
    expect((await other.get('/account', english)).body).toContain('<html lang="en">')
    // A sign-in in another language does not choose that language.
    const [row] = await test.db.selectFrom('users').where('id', '=', alice.id).select('language').execute()
    expect(row).toEqual({ language: 'zh-CN' })
    await elsewhere.submit(await elsewhere.get('/account'), '/language', { language: 'en' })
    expect((await first.get('/account')).body).toContain('<html lang="en">')
  })

  it('offer the other language on the answer to a form, at the page of the form', async () => {
    const client = browser(test)
    const page = await client.get('/sign-in?return_to=%2Faccount')
    const refused = await client.submit(page, '/sign-in', { username: 'nobody', password: 'wrong' })
    expect(refused.status).toBe(401)
    const chosen = await client.submit(refused, '/language', { language: 'zh-CN' })
    expect(chosen).toMatchObject({
      status: 303,
      location: '/sign-in?return_to=%2Faccount&login_hint=nobody',
    })
  })

  it('serve their few files from addresses that change with the content', async () => {
    const { body } = await browser(test).get('/')
    const links = [...body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!)
    expect(links.length).toBeGreaterThan(2)
    for (const link of new Set(links)) {
      const file = await test.app.inject(link)
      expect(file.statusCode).toBe(200)
      expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      const old = await test.app.inject(link.replace(/[0-9a-f]{8}/, '00000000'))
      expect(old.headers['cache-control']).toBe('no-cache')
    }
    expect((await test.app.inject('/assets/x/..%2f..%2fpackage.json')).statusCode).toBe(404)
  })
})
