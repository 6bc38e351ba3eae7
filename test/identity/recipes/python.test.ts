/** Django social-auth and Authlib (Debian: python3-django, python3-social-django and python3-jose; python3-authlib and python3-flask). */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeParty } from '../relying-party.ts'
import { changed, debianVersion, filledIn, isSkipped, recipe } from './recipes.ts'
import {
  freeSite,
  PROGRAMS_MS_MAX,
  type SiteBrowser,
  siteBrowser,
  startProgram,
  startWorld,
  type World,
} from './world.ts'

/** The python3 of Debian, which its packages belong to. */
const PYTHON = '/usr/bin/python3'
const PROGRAMS = join(import.meta.dirname, 'programs')

let world: World
let folder: string
beforeAll(async () => {
  world = await startWorld()
  folder = await mkdtemp(join(tmpdir(), 'tessera-python-'))
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

/** Visits a site of this program, whose recipe has the code. */
async function visit<T>(
  { program, code, callback, alg = 'RS256' }: Visit,
  act: (browser: SiteBrowser) => Promise<T>,
): Promise<T> {
  const site = await freeSite()
  const app = await makeParty(world.test, {
    redirect_uris: [site + callback],
    id_token_signed_response_alg: alg,
  })
  const { host } = new URL(site)
  const running = startProgram(PYTHON, [join(PROGRAMS, program), host], {
    env: {
      DATABASE: join(folder, `${app.client_id}.sqlite`),
      CLIENT_SECRET: app.client_secret,
      RECIPE: filledIn(code, {
        'https://YOUR-TESSERA': world.op.issuer,
        'YOUR-CLIENT-ID': app.client_id,
      }),
    },
  })
  try {
    return await act(siteBrowser(site, world))
  } finally {
    await running.stop()
  }
}
type Visit = { program: string; code: string; callback: string; alg?: 'RS256' | 'ES256' }

describe.skipIf(
  isSkipped(
    debianVersion('python3-django') &&
      debianVersion('python3-social-django') &&
      debianVersion('python3-jose'),
  ),
)('Django social-auth', { timeout: PROGRAMS_MS_MAX }, () => {
  const { versions, text, code } = recipe('Django social-auth')
  const django = { program: 'django-site.py', code: code[0]!, callback: '/complete/oidc/' }
  const signIn = (browser: SiteBrowser) => browser.go('/login/oidc/')

  it('signs in and refreshes by its recipe', () =>
    visit(django, async (browser) => {
      const me = JSON.parse((await signIn(browser)).body)
      expect(me).toMatchObject({
        versions,
        username: world.person.username,
        email: 'alice@example.org',
        uid: String(world.person.id),
      })
      const { token } = JSON.parse((await browser.go('/refresh')).body)
      expect(token).not.toBe(me.token)
      const headers = { authorization: `Bearer ${token}` }
      expect((await fetch(String(world.op.discovery.userinfo_endpoint), { headers })).status).toBe(200)
    }))

  it('fails where the groups are not protected', () =>
    visit({ ...django, code: changed(django.code, '["groups"]', '[]') }, async (browser) =>
      expect((await signIn(browser)).status).toBe(500),
    ))

  it('signs in with ES256 if the recipe’s setting is added', async () => {
    const setting = 'SOCIAL_AUTH_OIDC_JWT_ALGORITHMS = ["ES256"]'
    expect(text).toContain(setting)
    const signed = { ...django, alg: 'ES256' } as const
    await visit(signed, async (browser) => expect((await signIn(browser)).status).toBe(500))
    await visit({ ...signed, code: `${django.code}${setting}\n` }, async (browser) =>
      expect((await signIn(browser)).status).toBe(200),
    )
  })
})

describe.skipIf(isSkipped(debianVersion('python3-authlib') && debianVersion('python3-flask')))(
  'Authlib',
  { timeout: PROGRAMS_MS_MAX },
  () => {
    const { versions, code } = recipe('Authlib')

    it.each(['RS256', 'ES256'] as const)('signs in with %s and refreshes by its recipe', (alg) =>
      visit({ program: 'authlib-site.py', code: code[0]!, callback: '/callback', alg }, async (browser) => {
        const sub = String(world.person.id)
        expect(JSON.parse((await browser.go('/')).body)).toMatchObject({
          versions,
          claims: { sub, preferred_username: world.person.username },
          profile: { sub, email: 'alice@example.org', groups: expect.arrayContaining(['book-lovers']) },
          is_refreshed: true,
        })
      }),
    )
  },
)
