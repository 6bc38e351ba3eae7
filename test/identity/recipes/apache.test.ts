/** Apache with mod_auth_openidc (Debian: libapache2-mod-auth-openidc). */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { userAgent } from '../conformance-client.ts'
import { makeParty } from '../relying-party.ts'
import { debianVersion, filledIn, isSkipped, recipe } from './recipes.ts'
import { freeSite, type Program, siteBrowser, startProgram, startWorld, type World } from './world.ts'

const NAME = 'Apache mod_auth_openidc'
const MODULES = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'alias',
  'dir',
  'headers',
  'rewrite',
  'auth_openidc',
]
const version = debianVersion('libapache2-mod-auth-openidc')

describe.skipIf(isSkipped(version))(NAME, () => {
  let world: World
  let folder: string
  let site: string
  let apache: Program

  beforeAll(async () => {
    world = await startWorld()
    site = await freeSite()
    folder = await mkdtemp(join(tmpdir(), 'tessera-apache-'))
    const app = await makeParty(world.test, {
      redirect_uris: [`${site}/oidc/callback`],
      post_logout_redirect_uris: [`${site}/bye`],
      backchannel_logout_uri: `${site}/oidc/callback?logout=backchannel`,
    })
    const settings = filledIn(recipe(NAME).code[0]!, {
      'https://YOUR-TESSERA': world.op.issuer,
      'YOUR-CLIENT-ID': app.client_id,
      'https://app.example': site,
      'groups:trust_level_1': 'groups:book-lovers',
    })
    await mkdir(join(folder, 'www'))
    await writeFile(join(folder, 'www/index.html'), 'The books')
    await writeFile(
      join(folder, 'site.conf'),
      `ServerName 127.0.0.1
Listen ${new URL(site).host}
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/pid
Mutex file:${folder} default
ErrorLog ${folder}/log
LogLevel warn
User nobody
Group nogroup
${MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
DocumentRoot ${folder}/www
${settings}
OIDCInfoHook access_token
<Location "/bye">
  Require all granted
  Redirect 410 /bye
</Location>
Header set X-User "expr=%{REMOTE_USER}"
Header set X-Groups "%{OIDC_CLAIM_groups}e"
Header set X-Email "%{OIDC_CLAIM_email}e"
`,
    )
    // Apache gives up the rights of root.
    await chmod(folder, 0o777)
    apache = startProgram('apache2', ['-f', join(folder, 'site.conf'), '-X'], {
      env: { CLIENT_SECRET: app.client_secret, CRYPTO_PASSPHRASE: 'words of the site' },
    })
  })
  afterAll(async () => {
    await apache?.stop()
    await world.close()
    await rm(folder, { recursive: true })
  })

  const token = async (browser: ReturnType<typeof siteBrowser>): Promise<string> =>
    JSON.parse((await browser.go('/oidc/callback?info=json')).body).access_token

  it('signs in, refreshes and signs out by its recipe', async () => {
    expect(recipe(NAME).versions).toEqual([version])
    const browser = siteBrowser(site, world)
    const { status, body, headers } = await browser.go('/index.html')
    expect([status, body], await readFile(join(folder, 'log'), 'utf8')).toEqual([200, 'The books'])
    expect(headers).toMatchObject({ 'x-user': world.person.username, 'x-email': 'alice@example.org' })
    expect(String(headers['x-groups']).split(',')).toContain('book-lovers')

    const first = await token(browser)
    const back = encodeURIComponent(`${site}/index.html`)
    expect((await browser.go(`/oidc/callback?refresh=${back}&access_token=${first}`)).status).toBe(200)
    const second = await token(browser)
    expect(second).not.toBe(first)
    const userinfo = { headers: { authorization: `Bearer ${second}` } }
    expect((await fetch(String(world.op.discovery.userinfo_endpoint), userinfo)).status).toBe(200)

    const left = await browser.go(`/oidc/callback?logout=${encodeURIComponent(`${site}/bye`)}`)
    expect([left.status, left.url]).toEqual([410, `${site}/bye`])
    // The session here has ended as well: the service asks for the password again.
    expect((await fetch(String(world.op.discovery.userinfo_endpoint), userinfo)).status).toBe(401)
  })

  it('learns of a sign-out at the service', async () => {
    world.test.deps.logoutSender.start(world.test.app.log)
    const agent = userAgent(world.op, world.person)
    const browser = siteBrowser(site, { ...world, agent })
    expect((await browser.go('/index.html')).status).toBe(200)
    await token(browser)
    const left = await agent.visit(`${world.op.issuer}/oauth2/logout`)
    expect(left.shown).toContain('logout')
    world.test.deps.logoutSender.nudge()
    // The address of its session's data shows no sign-in page, but that there is no session.
    await expect.poll(async () => (await browser.go('/oidc/callback?info=json')).status).toBe(401)
  })
})
