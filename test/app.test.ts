/** Rules for every address: health, errors as page or JSON, headers, languages, and no 500 for bad input. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cookieHeader } from './harness/browser.ts'
import { makePerson } from './harness/cast.ts'
import { browser, startTestApp, type TestApp } from './harness/harness.ts'
import { times } from './harness/thoroughness.ts'

let test: TestApp
beforeAll(async () => {
  test = await startTestApp()
})
afterAll(() => test.close())

describe('health', () => {
  it('tells a running process from a ready one', async () => {
    expect((await test.app.inject('/healthz')).json()).toEqual({ status: 'ok' })
    const ready = await test.app.inject('/readyz')
    expect(ready.json()).toEqual({
      status: 'ready',
      checks: { database: true, migrations: true, writes: true, signing_key: true },
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
    expect(page.body).toContain('Page not found')
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

  it('of ours tell nothing but the reference', async () => {
    await sql`alter table users rename to gone`.execute(test.db)
    const client = browser(test)
    client.cookies.set('tessera_session', 'anything')
    const page = await client.get('/account')
    const told = await client.get('/account', { accept: 'application/json' })
    await sql`alter table gone rename to users`.execute(test.db)
    for (const { status, body } of [page, told]) {
      expect(status).toBe(500)
      expect(body).toContain('Something went wrong on our side')
      expect(body).not.toMatch(/users|relation|select/i)
    }
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
      const old = await test.app.inject(link.replace(/[0-9a-f]{12}/, '000000000000'))
      expect(old.headers['cache-control']).toBe('no-cache')
    }
    expect((await test.app.inject('/assets/x/..%2f..%2fpackage.json')).statusCode).toBe(404)
  })
})

/** A repeatable stream of choices: the same seed makes the same requests. */
function random(seed: number) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return { pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]! }
}

describe('bad input', () => {
  const nasty = [
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'NaN',
    'null',
    'x'.repeat(9_000),
    '\0',
    '\ud800',
    '💥',
    "' or 1=1 --",
    '<script>',
    '../..',
    '__proto__',
    '%',
    '%zz',
    'txn_000000000000000000000000',
    '9'.repeat(40),
  ]
  const names = [
    'username',
    'password',
    'return_to',
    'form_token',
    'language',
    'amount',
    'order_id',
    'signature',
    'transaction_id',
    'expected_amount',
    'name',
    'callback_url',
    'decision',
    'reason',
    'client_id',
    'redirect_uri',
    'response_type',
    'scope',
    'state',
    'code',
    'grant_type',
    'refresh_token',
    'prompt',
    'max_age',
    'nonce',
    'code_challenge',
    '__proto__',
    'constructor',
  ]
  const types = [
    'application/x-www-form-urlencoded',
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/xml',
    '',
    'application/json; charset=utf-7',
  ]

  it('to any route in any method answers below 500 and moves nothing', async () => {
    const routes = listRoutes(test)
    expect(routes.length).toBeGreaterThan(20)
    const member = await (await makePerson(test, { points: 100n, is_admin: true })).signIn()
    const token = (await member.get('/account')).form('/sign-out').form_token!
    const rows = async () =>
      (
        await sql<{
          n: string
        }>`select (select count(*) from journal) || ',' || (select count(*) from orders) || ',' || (select count(*) from payment_apps) as n`.execute(
          test.db,
        )
      ).rows[0]!.n
    const before = await rows()
    const { pick } = random(20_260_101)
    for (let i = 0; i < times(2_000, 200); i += 1) {
      const route = pick(routes)
      const path = route.url.replace(/:\w+|\*/g, () => safeEncode(pick(nasty).slice(0, 150)) || 'x')
      const pairs = Array.from({ length: pick([0, 1, 2, 5]) }, () => [pick(names), pick(nasty)] as const)
      const form = pairs
        .map(([name, value]) => `${name}=${pick([true, false]) ? value : safeEncode(value)}`)
        .join('&')
      const isJson = pick([true, false])
      const response = await test.app.inject({
        method: route.method,
        url: `${path}${pick([true, false]) ? `?${form.replace(/[^\x21-\x7e]/g, '%FF')}` : ''}`,
        headers: {
          accept: pick(['text/html', 'application/json', '*/*', '']),
          'content-type': pick(types),
          cookie: cookieHeader(member),
          authorization: pick(['', 'Basic x', 'Basic Og==', 'Bearer x', 'Bearer', 'Digest y']),
          'accept-language': pick(['', 'zh', '*;q=2', ';;;']),
        },
        ...(route.method === 'GET'
          ? {}
          : { payload: isJson ? JSON.stringify(Object.fromEntries(pairs)) : `form_token=${token}&${form}` }),
      })
      expect(response.statusCode, `${route.method} ${path} ${form.slice(0, 200)}`).toBeLessThan(500)
    }
    expect(await rows()).toBe(before)
  })
})

function safeEncode(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : '%ED%A0%80'
}

/** Every route of the application except health and sign-out, from the router itself. */
function listRoutes({ app }: TestApp): { method: 'GET' | 'POST'; url: string }[] {
  const routes: { method: 'GET' | 'POST'; url: string }[] = []
  const stack: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const match = /^([│ ]*)(?:├──|└──) (\S+)(?: \((.+)\))?$/.exec(line)
    if (match === null) continue
    const depth = match[1]!.length / 4
    stack.splice(depth, stack.length, match[2]!)
    for (const method of (match[3] ?? '').split(', ')) {
      const url = stack.join('')
      if ((method === 'GET' || method === 'POST') && url !== '/sign-out' && url !== '/readyz')
        routes.push({ method, url })
    }
  }
  return routes
}
