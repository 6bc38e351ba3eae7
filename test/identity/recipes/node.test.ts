/** The clients for Node, which are installed in the folder beside this file (`npm ci`). */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changed, isSkipped, NODE_FOLDER, npmVersion, recipe } from './recipes.ts'
import { type Site, type SiteBrowser, startWorld, visit, type World } from './world.ts'

const IS_SKIPPED = isSkipped(npmVersion('next-auth', NODE_FOLDER))

/** Each client's program, the package whose version its recipe names, and the path of its redirect URI. */
const CLIENTS = {
  'Auth.js': { program: 'auth-js.mjs', name: '@auth/core', callback: '/auth/callback/tessera' },
  'next-auth': { program: 'next-auth.mjs', name: 'next-auth', callback: '/api/auth/callback/tessera' },
  'openid-client 5': { program: 'openid-client-5.mjs', name: 'openid-client', callback: '/callback' },
  'passport-oauth2': { program: 'passport-oauth2.mjs', name: 'passport-oauth2', callback: '/callback' },
}
type Client = keyof typeof CLIENTS

describe.skipIf(IS_SKIPPED)('a site for Node', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  function site(client: Client, alg: Site['alg'] = 'RS256', code = recipe(client).code[0]!): Site {
    const { program, callback } = CLIENTS[client]
    return { command: [process.execPath, join(NODE_FOLDER, program)], code, callback, alg }
  }

  /** The session after a sign-in with Auth.js of either version, which answers below this path. */
  async function sessionOf(browser: SiteBrowser, path: string) {
    const { csrfToken } = JSON.parse((await browser.go(`${path}/csrf`)).body)
    await browser.go(`${path}/signin/tessera`, { csrfToken, callbackUrl: `${path}/session` })
    return JSON.parse((await browser.go(`${path}/session`)).body)
  }
  const nextAuth = (code?: string, alg?: Site['alg']) =>
    visit(world, site('next-auth', alg, code), async (browser, program) => ({
      session: await sessionOf(browser, '/api/auth'),
      output: program.output(),
    }))
  const isGood = async (access_token: string) => {
    const headers = { authorization: `Bearer ${access_token}` }
    return (await fetch(String(world.op.discovery.userinfo_endpoint), { headers })).ok
  }

  it.each(Object.keys(CLIENTS) as Client[])('of %s runs in the version that its recipe names', (client) => {
    const { versions } = recipe(client)
    expect(versions).toContain(npmVersion(CLIENTS[client].name, NODE_FOLDER))
  })

  it.each([
    ['Auth.js', '/auth'],
    ['next-auth', '/api/auth'],
  ] as const)('of %s signs in by its recipe', (client, path) =>
    visit(world, site(client), async (browser, program) => {
      const session = await sessionOf(browser, path)
      expect(program.output()).toBe('')
      expect(session).toMatchObject({
        user: { name: 'Alice Archer', email: 'alice@example.org' },
        account: { provider: 'tessera', providerAccountId: String(world.person.id) },
      })
      expect(await isGood(session.account.access_token)).toBe(true)
    }),
  )

  it('of next-auth signs in with ES256 if the recipe’s setting is added', async () => {
    const setting = "client: { id_token_signed_response_alg: 'ES256' }"
    const { text, code } = recipe('next-auth')
    expect(text).toContain(setting)
    expect((await nextAuth(code[0], 'ES256')).session).toEqual({})
    const { session } = await nextAuth(changed(code[0]!, 'idToken:', `${setting},\n  idToken:`), 'ES256')
    expect(session.user.name).toBe('Alice Archer')
  })

  it('of next-auth refuses an ID token that it was told not to expect', async () => {
    const [code = ''] = recipe('next-auth').code
    const { session, output } = await nextAuth(changed(code, 'idToken: true', 'idToken: false'))
    expect(session).toEqual({})
    expect(output).toContain('id_token detected')
  })

  it('of next-auth learns no name without the scopes', async () => {
    const [code = ''] = recipe('next-auth').code
    const { session } = await nextAuth(changed(code, 'openid profile email', 'openid'))
    expect(session.account.providerAccountId).toBe(String(world.person.id))
    expect(session.user).toEqual({})
  })

  it('of openid-client 5 signs in and refreshes, with ES256 if the recipe’s setting is added', async () => {
    const setting = "id_token_signed_response_alg: 'ES256'"
    const { text, code } = recipe('openid-client 5')
    expect(text).toContain(setting)
    const added = changed(code[0]!, 'response_types:', `${setting},\n  response_types:`)
    const sub = String(world.person.id)
    for (const [alg, by] of [
      ['RS256', code[0]],
      ['ES256', added],
    ] as const)
      await visit(world, site('openid-client 5', alg, by), async (browser) =>
        expect(JSON.parse((await browser.go('/')).body)).toMatchObject({
          claims: { sub, preferred_username: world.person.username },
          profile: { sub, email: 'alice@example.org' },
          isRefreshed: true,
        }),
      )
    await visit(world, site('openid-client 5', 'ES256'), async (browser) =>
      expect((await browser.go('/')).body).toContain('ES256'),
    )
  })

  it('of passport-oauth2 signs in with state and PKCE by its recipe', () =>
    visit(world, site('passport-oauth2'), async (browser) => {
      const profile = { sub: String(world.person.id), username: world.person.username }
      expect(JSON.parse((await browser.go('/')).body)).toMatchObject({ profile })
    }))

  it('of passport-oauth2 needs the header for the token that its recipe sets', async () => {
    const code = changed(
      recipe('passport-oauth2').code[0]!,
      'strategy._oauth2.useAuthorizationHeaderforGET(true)',
      '',
    )
    await visit(world, site('passport-oauth2', 'RS256', code), async (browser) =>
      expect((await browser.go('/')).status).toBe(500),
    )
  })
})
