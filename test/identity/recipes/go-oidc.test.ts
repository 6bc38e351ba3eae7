/** go-oidc 2 (Debian: golang-github-coreos-go-oidc-dev, which brings Go). */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeParty } from '../relying-party.ts'
import { changed, debianVersion, filledIn, isSkipped, recipe } from './recipes.ts'
import { freeSite, siteBrowser, startProgram, startWorld, type World } from './world.ts'

const version = debianVersion('golang-github-coreos-go-oidc-dev')
/** Debian's packages are no modules. */
const GO = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }

describe.skipIf(isSkipped(version))('go-oidc', () => {
  const { versions, text, code } = recipe('go-oidc')
  let world: World
  let folder: string
  beforeAll(async () => {
    world = await startWorld()
    folder = await mkdtemp(join(tmpdir(), 'tessera-go-'))
  })
  afterAll(async () => {
    await world.close()
    await rm(folder, { recursive: true })
  })

  /** Signs in at a program of this code. Returns the answer of the program, or what it wrote before it ended. */
  async function signIn(settings: string, alg: 'RS256' | 'ES256' = 'RS256') {
    const site = await freeSite()
    const app = await makeParty(world.test, {
      redirect_uris: [`${site}/callback`],
      id_token_signed_response_alg: alg,
    })
    const filled = filledIn(settings, {
      'https://YOUR-TESSERA': world.op.issuer,
      'YOUR-CLIENT-ID': app.client_id,
      'https://app.example': site,
    })
    const source = await readFile(join(import.meta.dirname, 'programs/go-oidc-site.go'), 'utf8')
    const file = join(folder, `${app.client_id}.go`)
    await writeFile(file, changed(source, '// RECIPE', filled))
    const program = join(folder, app.client_id)
    const env = { PATH: process.env.PATH, HOME: process.env.HOME ?? folder, ...GO }
    await promisify(execFile)('go', ['build', '-o', program, file], { env })
    const running = startProgram(program, [new URL(site).host], {
      env: { CLIENT_SECRET: app.client_secret },
    })
    try {
      return (await Promise.race([siteBrowser(site, world).go('/'), running.ended])) ?? running.output()
    } finally {
      await running.stop()
    }
  }

  it('signs in and refreshes by its recipe', async () => {
    expect(versions).toEqual([version])
    const answer = await signIn(code[0]!)
    expect(JSON.parse((answer as { body: string }).body)).toMatchObject({
      sub: String(world.person.id),
      nonce: 'a nonce',
      profile: { username: world.person.username, groups: expect.arrayContaining(['book-lovers']) },
      isRefreshed: true,
    })
  })

  it('does not start with a slash at the end of the issuer', async () => {
    const written = await signIn(changed(code[0]!, 'YOUR-TESSERA', 'YOUR-TESSERA/'))
    expect(written).toContain('issuer did not match')
  })

  it('signs in with ES256 if the recipe’s setting is added', async () => {
    const setting = 'SupportedSigningAlgs: []string{"ES256"}'
    expect(text).toContain(setting)
    expect(await signIn(code[0]!, 'ES256')).toMatchObject({
      status: 500,
      body: expect.stringContaining('unsupported algorithm'),
    })
    const settings = changed(code[0]!, '"YOUR-CLIENT-ID"})', `"YOUR-CLIENT-ID", ${setting}})`)
    expect(await signIn(settings, 'ES256')).toMatchObject({ status: 200 })
  })
})
