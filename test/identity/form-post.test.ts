/** Answers by response_mode=form_post: a page whose form posts them to the application. spec/sign-in 1.2. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { certificateOf } from '../harness/certificate.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { freePort } from '../harness/free-port.ts'
import {
  type Browser,
  browser,
  type Page,
  startTestApp,
  type TestApp,
  useTestApp,
} from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { answerOf, authorizationUrl, exchange, makeParty } from './relying-party.ts'

const FORM_POST = { response_mode: 'form_post' }

const test = await useTestApp()
const party = await makeParty(test, { redirect_uris: ['https://app.example/callback?tenant=1&x=a'] })

const member = async () => (await makePerson(test)).signIn()
const ask = (client: Browser, more = {}, app = party) =>
  client.get(authorizationUrl(app, { ...FORM_POST, ...more }))

const escaped = (uri: string) => uri.replaceAll('&', '&amp;')

function posted(page: Page, app = party): Record<string, string> {
  expect(page.status).toBe(200)
  expect(page.location).toBeUndefined()
  expect(page.headers['cache-control']).toBe('no-store')
  expect(page.headers['x-frame-options']).toBe('DENY')
  const fields = page.form(escaped(app.redirect_uri))
  expect(fields.iss).toBe(test.url)
  return fields
}

const allow = async (client: Browser, more = {}, app = party) =>
  client.submit(await ask(client, more, app), '/oauth2/consent', { decision: 'allow' })

describe('an answer in a form', () => {
  it('brings the code, state and iss, and the code works', async () => {
    const { code, state, ...rest } = posted(await allow(await member()))
    expect(state).toBe('a state')
    expect(Object.keys(rest)).toEqual(['iss'])
    expect((await exchange(test, party, code)).status).toBe(200)
  })

  it('leaves out a state that was not sent, and keeps quotes and markup', async () => {
    const client = await member()
    expect(posted(await allow(client, { state: undefined }))).not.toHaveProperty('state')
    const state = `"><script>alert('x')</script>&amp;`
    expect(posted(await ask(client, { state })).state).toBe(state)
  })

  it('has a button for browsers without JavaScript, and no inline script', async () => {
    const page = await allow(await member())
    expect(page.body).toContain(messages.en.identity.consent.continueTo('Reading Club'))
    expect(page.body).toMatch(/<script src="\/assets\/[^"]*\/submit\.js" type="module"><\/script>/)
    expect(page.body).not.toMatch(/<script(?![^>]*src=)/)
  })

  it.each([
    ['the member refuses', {}, 'access_denied'],
    ['the scope is too long', { scope: 'x'.repeat(1_025) }, 'invalid_scope'],
    ['the response_type is wrong', { response_type: 'token' }, 'unsupported_response_type'],
    ['PKCE is faulty', { code_challenge: 'x' }, 'invalid_request'],
    ['nobody is signed in, silently', { prompt: 'none' }, 'login_required'],
  ])('brings the error when %s', async (_, more, error) => {
    const client = error === 'login_required' ? browser(test) : await member()
    let page = await ask(client, more)
    if (error === 'access_denied') page = await client.submit(page, '/oauth2/consent', { decision: 'deny' })
    const fields = posted(page)
    expect(fields).toMatchObject({ error, state: 'a state' })
    expect(fields.error_description).toBeTruthy()
    expect(fields).not.toHaveProperty('code')
  })

  it('brings consent_required, and then a code, without a page', async () => {
    const client = await member()
    expect(posted(await ask(client, { prompt: 'none' })).error).toBe('consent_required')
    await allow(client)
    expect(posted(await ask(client, { prompt: 'none' })).code).toBeTruthy()
  })

  it('leads from a group refusal to the application', async () => {
    const closed = await makeParty(test, { allow_groups: ['trust_level_4'] })
    const client = await member()
    const page = await ask(client, {}, closed)
    expect(page.status).toBe(403)
    const answered = { error: 'access_denied', state: 'a state', iss: test.url }
    expect(page.form(escaped(closed.redirect_uri))).toMatchObject(answered)
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https:")
    const answer = await client.get(authorizationUrl(closed, FORM_POST), { accept: 'application/json' })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body)).toMatchObject({
      error: 'access_denied',
      redirect_to: closed.redirect_uri,
      form_parameters: answered,
    })
  })

  it('cannot go to a private-use scheme, and the query says so', async () => {
    const uri = 'com.example.app:/callback'
    const native = await makeParty(test, { redirect_uris: [uri], token_endpoint_auth_method: 'none' })
    const page = await ask(await member(), {}, native)
    expect(answerOf(page, uri)).toMatchObject({ error: 'invalid_request', state: 'a state' })
  })

  it.each(['fragment', 'web_message', 'form_post.jwt'])('is refused for %s, in the query', async (mode) => {
    const page = await ask(await member(), { response_mode: mode })
    expect(answerOf(page, party.redirect_uri)).toMatchObject({ error: 'invalid_request' })
  })

  it('goes by query when the mode is query, absent, empty or repeated', async () => {
    const client = await member()
    await allow(client)
    for (const more of [{ response_mode: 'query' }, { response_mode: undefined }, { response_mode: '' }]) {
      expect(answerOf(await ask(client, more), party.redirect_uri).code).toBeTruthy()
    }
    const twice = await client.get(`${authorizationUrl(party, FORM_POST)}&response_mode=form_post`)
    expect(answerOf(twice, party.redirect_uri).error).toBe('invalid_request')
  })
})

it('the policy of the page admits a program on the member’s computer', async () => {
  const local = await makeParty(test, { redirect_uris: ['http://127.0.0.1:4000/callback'] })
  const page = await allow(await member(), {}, local)
  expect(page.headers['content-security-policy']).toContain(
    "form-action 'self' https: http://127.0.0.1:4000 http://127.0.0.1:* http://localhost:*",
  )
})

describe.skipIf(isWithoutChromium)('in Chromium', () => {
  const STATE = `"><b>'&quot;&amp; 好`
  let site: TestApp

  beforeAll(async () => {
    const port = await freePort()
    site = await startTestApp({ PUBLIC_URL: `http://localhost:${port}`, PORT: String(port) })
    await site.app.listen({ port, host: '127.0.0.1' })
  })
  afterAll(() => site.close())

  async function serve(isTls: boolean, host: string, answer: RequestListener): Promise<string> {
    const own = isTls ? createTlsServer(certificateOf('localhost'), answer) : createServer(answer)
    own.listen(0, '127.0.0.1')
    await once(own, 'listening')
    onTestFinished(async () => {
      own.closeAllConnections()
      own.close()
      await once(own, 'close')
    })
    return `http${isTls ? 's' : ''}://${host}:${(own.address() as AddressInfo).port}`
  }

  it.each([
    ['an https server, without JavaScript', true, false],
    ['a program on this computer', false, true],
  ])('the form reaches %s, which redirects to another origin', async (...row) => {
    const [, isTls, javaScriptEnabled] = row
    const home = await serve(isTls, '127.0.0.1', (_request, response) => void response.end('Welcome home'))
    const got: string[] = []
    const server = await serve(isTls, 'localhost', async (request, response) => {
      if (request.method === 'POST') got.push(await text(request))
      response.writeHead(303, { location: `${home}/welcome` }).end()
    })
    const app = await makeParty(site, { redirect_uris: [`${server}/callback`] })
    const { cookies } = await (await makePerson(site)).signIn()
    const context = await (await sharedChromium()).newContext({ javaScriptEnabled, ignoreHTTPSErrors: true })
    onTestFinished(() => context.close())
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })))
    const page = await context.newPage()
    await page.goto(site.url + authorizationUrl(app, { ...FORM_POST, state: STATE }))
    await page.getByRole('button', { name: 'Allow' }).click()
    if (!javaScriptEnabled)
      await page
        .getByRole('button', { name: messages.en.identity.consent.continueTo('Reading Club') })
        .click()
    await page.getByText('Welcome home').waitFor()
    expect(page.url()).toBe(`${home}/welcome`)
    const [form] = got.map((body) => new URLSearchParams(body))
    expect([got.length, form?.get('state')]).toEqual([1, STATE])
    expect((await exchange(site, app, form!.get('code')!)).status).toBe(200)
  })
})
