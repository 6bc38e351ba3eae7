/** OmniAuth with OpenID Connect (Debian: ruby-omniauth-openid-connect). */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { debianVersion, isSkipped, recipe } from './recipes.ts'
import { startWorld, visit, type World } from './world.ts'

describe.skipIf(isSkipped(debianVersion('ruby-omniauth-openid-connect')))('OmniAuth', () => {
  const { versions, code } = recipe('OmniAuth')
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())

  it.each(['RS256', 'ES256'] as const)('signs in with %s by its recipe, and out', (alg) => {
    const command = ['ruby', join(import.meta.dirname, 'programs/omniauth-site.rb')]
    const site = { command, code: code[0]!, callback: '/auth/tessera/callback', alg }
    return visit(world, site, async (browser) => {
      expect(JSON.parse((await browser.go('/auth/tessera', {})).body)).toMatchObject({
        version: versions[0],
        auth: {
          uid: String(world.person.id),
          info: { name: 'Alice Archer', email: 'alice@example.org', nickname: world.person.username },
          extra: { raw_info: { groups: expect.arrayContaining(['book-lovers']) } },
        },
      })
      const left = await browser.go('/auth/tessera/logout')
      expect([left.status, left.url]).toEqual([200, `${world.op.issuer}/oauth2/logout/done`])
    })
  })
})
