/** OmniAuth with OpenID Connect (Debian: ruby-omniauth-openid-connect). */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeParty } from '../relying-party.ts'
import { debianVersion, filledIn, isSkipped, recipe } from './recipes.ts'
import { freeSite, PROGRAMS_MS_MAX, siteBrowser, startProgram, startWorld, type World } from './world.ts'

describe.skipIf(isSkipped(debianVersion('ruby-omniauth-openid-connect')))(
  'OmniAuth',
  { timeout: PROGRAMS_MS_MAX },
  () => {
    const { versions, code } = recipe('OmniAuth')
    let world: World
    beforeAll(async () => {
      world = await startWorld()
    })
    afterAll(() => world.close())

    it.each(['RS256', 'ES256'] as const)('signs in with %s by its recipe, and out', async (alg) => {
      const site = await freeSite()
      const app = await makeParty(world.test, {
        redirect_uris: [`${site}/auth/tessera/callback`],
        id_token_signed_response_alg: alg,
      })
      const program = join(import.meta.dirname, 'programs/omniauth-site.rb')
      const running = startProgram('ruby', [program, new URL(site).host], {
        env: {
          CLIENT_SECRET: app.client_secret,
          RECIPE: filledIn(code[0]!, {
            'https://YOUR-TESSERA': world.op.issuer,
            'YOUR-CLIENT-ID': app.client_id,
            'https://app.example': site,
          }),
        },
      })
      try {
        const browser = siteBrowser(site, world)
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
      } finally {
        await running.stop()
      }
    })
  },
)
