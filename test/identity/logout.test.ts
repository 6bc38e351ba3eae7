/** Sign-out through an application, and ID tokens as hints. spec/sign-in 4.1. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { freePort } from '../harness/free-port.ts'
import { type Browser, browser, type Page, startTestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import {
  answerOf,
  authorizationUrl,
  authorize,
  makeParty,
  obtainTokens,
  query,
  suspendApp,
  withoutWriting,
} from './relying-party.ts'

const BYE = 'https://app.example/bye'
const ASKING = 'https://app.example/bye?from=tessera'

const test = await useTestApp()
const party = await makeParty(test, { name: 'Reading Club', post_logout_redirect_uris: [BYE, ASKING] })
const other = await makeParty(test, { post_logout_redirect_uris: ['https://other.example/bye'] })

async function signedIn(app = party): Promise<{ client: Browser; id_token: string }> {
  const client = await (await makePerson(test)).signIn()
  const { id_token } = await obtainTokens(test, client, app)
  return { client, id_token }
}

const logout = (client: Browser, parameters: Record<string, string | undefined>, headers = {}) =>
  client.get(`/oauth2/logout?${query(parameters)}`, headers)

async function isSignedIn(client: Browser): Promise<boolean> {
  const page = await client.get(authorizationUrl(party, { prompt: 'none' }))
  const { error } = answerOf(page)
  return error !== 'login_required'
}

async function isAsked(client: Browser, page: Page, status = 200): Promise<void> {
  expect(page.status).toBe(status)
  expect(page.body).toContain('action="/oauth2/logout/confirm"')
  expect(await isSignedIn(client)).toBe(true)
}

describe('with an ID token of the signed-in member', () => {
  it('keeps the address’s query, and sends no state of its own', async () => {
    const { client, id_token } = await signedIn()
    const plain = { id_token_hint: id_token, post_logout_redirect_uri: ASKING }
    expect((await logout(client, plain)).location).toBe(ASKING)
    expect((await logout(client, { ...plain, state: 's' })).location).toBe(`${ASKING}&state=s`)
  })

  it('that has expired, all the same', async () => {
    const { client, id_token } = await signedIn()
    test.clock.advance(3 * 86_400_000)
    expect((await logout(client, { id_token_hint: id_token, post_logout_redirect_uri: BYE })).location).toBe(
      BYE,
    )
    expect(await isSignedIn(client)).toBe(false)
  })

  it('posted from another site, is repeated as GET', async () => {
    const { client, id_token } = await signedIn()
    const fields = { id_token_hint: id_token, post_logout_redirect_uri: BYE }
    const page = await client.post('/oauth2/logout', fields, { 'sec-fetch-site': 'cross-site' })
    expect(page).toMatchObject({ status: 303, location: `/oauth2/logout?${query(fields)}` })
    expect(await isSignedIn(client)).toBe(true)
    expect((await client.get(page.location!)).location).toBe(BYE)
    expect(await isSignedIn(client)).toBe(false)
  })

  it('ends this session and no other', async () => {
    const person = await makePerson(test)
    const [client, elsewhere] = [await person.signIn(), await person.signIn()]
    const { id_token } = await obtainTokens(test, client, party)
    await logout(client, { id_token_hint: id_token })
    expect(await isSignedIn(client)).toBe(false)
    expect(await isSignedIn(elsewhere)).toBe(true)
  })
})

describe('whoever is not recognised', () => {
  it('without an ID token asks first, and goes on after the click', async () => {
    const { client } = await signedIn()
    const request = { client_id: party.client_id, post_logout_redirect_uri: BYE, state: 's' }
    const page = await logout(client, request)
    await isAsked(client, page)
    expect(page.body).toContain('Reading Club')
    expect(page.body).toContain('app.example')
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;")
    const done = await client.submit(page, '/oauth2/logout/confirm')
    expect(done).toMatchObject({ status: 303, location: `${BYE}?state=s` })
    expect(await isSignedIn(client)).toBe(false)
  })

  it.each(['en', 'zh-CN'] as const)(
    'without an ID token never leads on by a link alone: %s',
    async (language) => {
      const words = messages[language].identity.logout.goOn('Reading Club')
      const request = { client_id: party.client_id, post_logout_redirect_uri: BYE }
      const page = await logout(browser(test), request, { 'accept-language': language })
      expect(page).toMatchObject({ status: 200, location: undefined })
      expect(page.body).toContain(words)
      expect(page.body).toContain(`href="${BYE}"`)
      expect(page.headers['cache-control']).toBe('no-store')
    },
  )

  it('is asked when the ID token is somebody else’s', async () => {
    const { id_token } = await signedIn()
    const { client } = await signedIn()
    const page = await logout(client, { id_token_hint: id_token, post_logout_redirect_uri: BYE })
    await isAsked(client, page)
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:;")
    expect((await client.submit(page, '/oauth2/logout/confirm')).location).toBe(BYE)
  })

  it('reads where the link leads, also to a program on the device', async () => {
    const back = 'com.example.app:/signed-out'
    const native = await makeParty(test, {
      token_endpoint_auth_method: 'none',
      redirect_uris: ['com.example.app:/callback'],
      post_logout_redirect_uris: [back],
    })
    const page = await logout(browser(test), { client_id: native.client_id, post_logout_redirect_uri: back })
    expect(page.body).toContain(`href="${back}"`)
    expect(page.body).toContain('<strong>com.example.app</strong>')
  })

  it('is asked when nothing is said, or only a logout_hint', async () => {
    const { client } = await signedIn()
    await isAsked(client, await logout(client, { logout_hint: party.owner }))
    const page = await logout(client, {})
    await isAsked(client, page)
    const done = await client.submit(page, '/oauth2/logout/confirm')
    expect(done.location).toBe('/oauth2/logout/done')
    expect(await isSignedIn(client)).toBe(false)
  })

  it('and has no session any more is sent on at once', async () => {
    const { id_token } = await signedIn()
    const page = await logout(browser(test), { id_token_hint: id_token, post_logout_redirect_uri: BYE })
    expect(page).toMatchObject({ status: 303, location: BYE })
  })
})

describe.skipIf(isWithoutChromium)('in Chromium', () => {
  /** Serves a page that says goodbye, and returns its origin at this name of the computer. */
  async function serve(host: string, answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    return `http://${host}:${(server.address() as AddressInfo).port}`
  }

  it('the click leads on, also where the application redirects again', async () => {
    const port = await freePort()
    const site = await startTestApp({ PUBLIC_URL: `http://localhost:${port}`, PORT: String(port) })
    onTestFinished(() => site.close())
    await site.app.listen({ port, host: '127.0.0.1' })
    const home = await serve('localhost', (_request, response) => void response.end('Goodbye'))
    const left: string[] = []
    const app = await serve('127.0.0.1', ({ url }, response) => {
      left.push(url!)
      response.writeHead(303, { location: `${home}/goodbye` }).end()
    })
    const leaving = await makeParty(site, { post_logout_redirect_uris: [`${app}/bye`] })
    const { cookies } = await (await makePerson(site)).signIn()
    const context = await (await sharedChromium()).newContext()
    onTestFinished(() => context.close())
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })))
    const page = await context.newPage()
    const request = { client_id: leaving.client_id, post_logout_redirect_uri: `${app}/bye`, state: 'a b&c' }
    await page.goto(`${site.url}/oauth2/logout?${query(request)}`)
    const { signOut } = messages.en.common
    await page.locator('form[action="/oauth2/logout/confirm"]').getByRole('button', { name: signOut }).click()
    await page.getByText('Goodbye').waitFor()
    expect(left.map((url) => new URL(url, app).searchParams.get('state'))).toEqual(['a b&c'])
    await page.goto(site.url)
    await page.getByRole('link', { name: messages.en.common.signIn }).first().waitFor()
  })
})

describe('nobody is sent', () => {
  const wrong: Record<string, () => Record<string, string>> = {
    'to a redirect URI, which is not for this': () => ({ post_logout_redirect_uri: party.redirect_uri }),
    'to another application’s address': () => ({ post_logout_redirect_uri: 'https://other.example/bye' }),
  }

  it.each(Object.entries(wrong))('%s', async (_, parameters) => {
    const { client, id_token } = await signedIn()
    const page = await logout(client, { id_token_hint: id_token, ...parameters() })
    await isAsked(client, page, 400)
    expect(page.body).toContain(messages.en.identity.logout.faults.unknown_address)
    const done = await client.submit(page, '/oauth2/logout/confirm')
    expect(done.location).toBe('/oauth2/logout/done')
  })

  it('by the ID token of another application', async () => {
    const { client, id_token } = await signedIn(other)
    await authorize(client, party)
    const page = await logout(client, { id_token_hint: id_token, post_logout_redirect_uri: BYE })
    await isAsked(client, page, 400)
    const both = { id_token_hint: id_token, client_id: party.client_id, post_logout_redirect_uri: BYE }
    await isAsked(client, await logout(client, both), 400)
  })

  it('to a suspended application', async () => {
    const app = await makeParty(test, { post_logout_redirect_uris: [BYE] })
    const { client, id_token } = await signedIn(app)
    await suspendApp(test, app)
    const page = await logout(client, { id_token_hint: id_token, post_logout_redirect_uri: BYE })
    expect(page.status).toBe(400)
  })

  it('by a script, which gets JSON', async () => {
    const { client } = await signedIn()
    const json = { accept: 'application/json' }
    const page = await logout(client, { post_logout_redirect_uri: BYE }, json)
    expect(page.status).toBe(400)
    expect(JSON.parse(page.body).error).toBe('invalid_redirect_uri')
  })

  it('by a parameter given twice', async () => {
    const { client } = await signedIn()
    const page = await client.get(
      `/oauth2/logout?post_logout_redirect_uri=${BYE}&post_logout_redirect_uri=${BYE}`,
    )
    expect(page.status).toBe(400)
    expect(await isSignedIn(client)).toBe(true)
  })
})

describe('an ID token at the authorization endpoint', () => {
  const ask = (client: Browser, id_token_hint: string, more: Record<string, string> = {}) =>
    client.get(authorizationUrl(party, { id_token_hint, ...more }))

  it('of the signed-in member changes nothing, also when it has expired', async () => {
    const { client, id_token } = await signedIn()
    test.clock.advance(2 * 86_400_000)
    expect(answerOf(await ask(client, id_token)).code).toBeTruthy()
  })

  it('of another application counts too: it says who is meant', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const { id_token } = await obtainTokens(test, client, other)
    await authorize(client, party)
    expect(answerOf(await ask(client, id_token, { prompt: 'none' })).code).toBeTruthy()
  })

  it('of somebody else is login_required when nothing may be asked', async () => {
    const { id_token } = await signedIn()
    const { client } = await signedIn()
    const page = await withoutWriting(test, () => ask(client, id_token, { prompt: 'none' }))
    expect(answerOf(page).error).toBe('login_required')
  })

  it('of another member leads to a sign-in as the one meant', async () => {
    const meant = await makePerson(test)
    const { id_token } = await obtainTokens(test, await meant.signIn(), party)
    const { client } = await signedIn()
    expect((await ask(browser(test), id_token)).location).toMatch(/^\/sign-in\?return_to=/)
    const page = await ask(client, id_token)
    expect(page.status).toBe(303)
    expect(page.location).toMatch(/^\/sign-in\?return_to=/)
    const form = await client.get(page.location!)
    const back = await client.submit(form, '/sign-in', { username: meant.username, password: meant.password })
    const { code } = answerOf(await client.get(back.location!))
    expect(code).toBeTruthy()
  })

  it('tells the application when the wrong member signs in again', async () => {
    const { id_token } = await signedIn()
    const wrong = await makePerson(test)
    const client = await wrong.signIn()
    const form = await client.get((await ask(client, id_token)).location!)
    const back = await client.submit(form, '/sign-in', { username: wrong.username, password: wrong.password })
    expect(answerOf(await client.get(back.location!)).error).toBe('login_required')
  })
})
