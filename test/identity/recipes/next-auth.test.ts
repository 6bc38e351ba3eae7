/** next-auth 4, which is installed in the folder beside this file (`npm ci`). */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeParty } from '../relying-party.ts'
import { changed, filledIn, isSkipped, npmVersion, recipe } from './recipes.ts'
import { freeSite, PROGRAMS_MS_MAX, siteBrowser, startProgram, startWorld, type World } from './world.ts'

const FOLDER = join(import.meta.dirname, 'next-auth')
const version = npmVersion('next-auth', FOLDER)

describe.skipIf(isSkipped(version))('next-auth', { timeout: PROGRAMS_MS_MAX }, () => {
  const [code = ''] = recipe('next-auth').code
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  /** Signs in at a site with this provider. Returns its session, and what next-auth wrote. */
  async function signIn(provider: string, alg: 'RS256' | 'ES256' = 'RS256') {
    const site = await freeSite()
    const app = await makeParty(world.test, {
      redirect_uris: [`${site}/api/auth/callback/tessera`],
      id_token_signed_response_alg: alg,
    })
    const program = startProgram(process.execPath, ['site.mjs'], {
      cwd: FOLDER,
      env: {
        NEXTAUTH_URL: site,
        PROVIDER: filledIn(provider, {
          'https://YOUR-TESSERA': world.op.issuer,
          'YOUR-CLIENT-ID': app.client_id,
        }),
        CLIENT_SECRET: app.client_secret,
      },
    })
    try {
      const browser = siteBrowser(site, world)
      const { csrfToken } = JSON.parse((await browser.go('/api/auth/csrf')).body)
      const form = { csrfToken, callbackUrl: `${site}/api/auth/session` }
      await browser.go('/api/auth/signin/tessera', form)
      const session = JSON.parse((await browser.go('/api/auth/session')).body)
      return { session, output: program.output() }
    } finally {
      await program.stop()
    }
  }

  it('signs in by its recipe', async () => {
    expect(recipe('next-auth').versions).toEqual([version])
    const { session, output } = await signIn(code)
    expect(output).toBe('')
    expect(session).toMatchObject({
      user: { name: 'Alice Archer', email: 'alice@example.org' },
      account: { provider: 'tessera', providerAccountId: String(world.person.id) },
    })
    const headers = { authorization: `Bearer ${session.account.access_token}` }
    expect((await fetch(String(world.op.discovery.userinfo_endpoint), { headers })).status).toBe(200)
  })

  it('signs in with ES256 if the recipe’s setting is added', async () => {
    const setting = "client: { id_token_signed_response_alg: 'ES256' }"
    expect(recipe('next-auth').text).toContain(setting)
    expect((await signIn(code, 'ES256')).session).toEqual({})
    const { session } = await signIn(changed(code, 'idToken:', `${setting},\n  idToken:`), 'ES256')
    expect(session.user.name).toBe('Alice Archer')
  })

  it('refuses an ID token that it was told not to expect', async () => {
    const { session, output } = await signIn(changed(code, 'idToken: true', 'idToken: false'))
    expect(session).toEqual({})
    expect(output).toContain('id_token detected')
  })

  it('learns no name without the scopes', async () => {
    const { session } = await signIn(changed(code, 'openid profile email', 'openid'))
    expect(session.account.providerAccountId).toBe(String(world.person.id))
    expect(session.user).toEqual({})
  })
})
