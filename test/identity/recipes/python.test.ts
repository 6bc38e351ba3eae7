/** Django social-auth and Authlib (Debian: python3-django, python3-social-django and python3-jose; python3-authlib and python3-flask). */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changed, debianVersion, isSkipped, recipe } from './recipes.ts'
import { type Site, type SiteBrowser, startWorld, visit, type World } from './world.ts'

/** The python3 of Debian, which its packages belong to. */
const PYTHON = '/usr/bin/python3'
const PROGRAMS = join(import.meta.dirname, 'programs')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** A site of this program. */
const site = (program: string, code: string, callback: string): Site => ({
  command: [PYTHON, join(PROGRAMS, program)],
  code,
  callback,
})

describe.skipIf(
  isSkipped(
    debianVersion('python3-django') &&
      debianVersion('python3-social-django') &&
      debianVersion('python3-jose'),
  ),
)('Django social-auth', () => {
  const { versions, text, code } = recipe('Django social-auth')
  const django = site('django-site.py', code[0]!, '/complete/oidc/')
  const signIn = (browser: SiteBrowser) => browser.go('/login/oidc/')

  it('signs in and refreshes by its recipe', () =>
    visit(world, django, async (browser) => {
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
    visit(world, { ...django, code: changed(django.code, '["groups"]', '[]') }, async (browser) =>
      expect((await signIn(browser)).status).toBe(500),
    ))

  it('signs in with ES256 if the recipe’s setting is added', async () => {
    const setting = 'SOCIAL_AUTH_OIDC_JWT_ALGORITHMS = ["ES256"]'
    expect(text).toContain(setting)
    const signed = { ...django, alg: 'ES256' } as const
    await visit(world, signed, async (browser) => expect((await signIn(browser)).status).toBe(500))
    await visit(world, { ...signed, code: `${django.code}${setting}\n` }, async (browser) =>
      expect((await signIn(browser)).status).toBe(200),
    )
  })
})

describe.skipIf(isSkipped(debianVersion('python3-authlib') && debianVersion('python3-flask')))(
  'Authlib',
  () => {
    const { versions, code } = recipe('Authlib')

    it.each(['RS256', 'ES256'] as const)('signs in with %s and refreshes by its recipe', (alg) =>
      visit(world, { ...site('authlib-site.py', code[0]!, '/callback'), alg }, async (browser) => {
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
