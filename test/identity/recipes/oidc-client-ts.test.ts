/** oidc-client-ts in Chromium: a page without a server signs in, refreshes and signs out. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWithoutChromium, sharedChromium } from '../../harness/chromium.ts'
import { makeParty } from '../relying-party.ts'
import { filledIn, isSkipped, NODE_FOLDER, npmVersion, recipe } from './recipes.ts'
import { freeSite, startWorld, type World } from './world.ts'

const LIBRARY = join(NODE_FOLDER, 'node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js')

const version = npmVersion('oidc-client-ts', NODE_FOLDER)

describe.skipIf(isWithoutChromium || isSkipped(version))('oidc-client-ts', () => {
  let world: World
  let site: string
  let server: Server
  beforeAll(async () => {
    world = await startWorld()
    site = await freeSite()
    const app = await makeParty(world.test, {
      redirect_uris: [`${site}/callback`],
      post_logout_redirect_uris: [`${site}/`],
      token_endpoint_auth_method: 'none',
    })
    const settings = filledIn(recipe('oidc-client-ts').code[0]!, {
      'https://YOUR-TESSERA': world.op.issuer,
      'YOUR-CLIENT-ID': app.client_id,
      'https://app.example': site,
    })
    const library = await readFile(LIBRARY, 'utf8')
    const page = `<!doctype html><title>The site</title><script>${library}</script>
      <script>const { UserManager } = oidc\n${settings}\nwindow.manager = manager</script>`
    server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page))
    server.listen(Number(new URL(site).port), '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.close()
    await world.close()
  })

  /** Runs an act of the page's manager, and returns what it learnt of the member. */
  const run = (page: Page, act: 'signinCallback' | 'signinSilent' | 'getUser') =>
    page.evaluate(async (name) => {
      const { manager } = window as unknown as {
        manager: Record<string, () => Promise<{ profile: object; access_token: string } | null>>
      }
      const user = await manager[name]!()
      return user && { profile: user.profile, access_token: user.access_token }
    }, act)
  /** Begins an act that leads the page away, and ends with it. */
  const leave = (page: Page, act: 'signinRedirect' | 'signoutRedirect') =>
    page.evaluate((name) => {
      const { manager } = window as unknown as { manager: Record<string, () => Promise<void>> }
      setTimeout(() => manager[name]!())
    }, act)

  it('signs in, refreshes and signs out by its recipe', async () => {
    expect(recipe('oidc-client-ts').versions).toEqual([version])
    const context = await (await sharedChromium()).newContext({ locale: 'en' })
    try {
      const page = await context.newPage()
      await page.goto(`${site}/`)
      await leave(page, 'signinRedirect')
      await page.fill('input[name=username]', world.person.username)
      await page.fill('input[name=password]', world.person.password)
      await page.press('input[name=password]', 'Enter')
      await page.click('button[name=decision][value=allow]')
      await page.waitForURL(`${site}/callback?**`)
      const user = await run(page, 'signinCallback')
      expect(user?.profile).toMatchObject({
        sub: String(world.person.id),
        name: 'Alice Archer',
        email: 'alice@example.org',
        groups: expect.arrayContaining(['book-lovers']),
      })
      const fresh = await run(page, 'signinSilent')
      expect(fresh?.profile).toMatchObject({ sub: String(world.person.id) })
      expect(fresh?.access_token).not.toBe(user?.access_token)
      await leave(page, 'signoutRedirect')
      await page.waitForURL(`${site}/`)
      expect(await run(page, 'getUser')).toBeNull()
    } finally {
      await context.close()
    }
  })
})
