/** oidc-agent (Debian: oidc-agent-cli), by each of the ways in which it signs in. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GRANT_TYPES } from '../../../src/identity/apps/apps.ts'
import { until } from '../../harness/waiting.ts'
import { userAgent } from '../conformance-client.ts'
import { makeParty } from '../relying-party.ts'
import { changed, debianVersion, filledIn, isSkipped, recipe } from './recipes.ts'
import { type Program, siteBrowser, startProgram, startWorld, type World } from './world.ts'

const LOOPBACK = 'http://localhost:4242'
const SCHEME = 'edu.kit.data.oidc-agent:/redirect'
const version = debianVersion('oidc-agent-cli')

describe.skipIf(isSkipped(version))('oidc-agent', () => {
  const { versions, text, code } = recipe('oidc-agent')
  let world: World
  let home: string
  let env: Record<string, string>
  let client_id: string

  beforeAll(async () => {
    world = await startWorld()
    home = await mkdtemp(join(tmpdir(), 'tessera-agent-'))
    await mkdir(join(home, '.config'))
    env = { HOME: home, PATH: process.env.PATH!, OIDC_ENCRYPTION_PW: 'of the member' }
    // It prints the variables that its commands need, and goes on in the background.
    const { stdout } = await promisify(execFile)('oidc-agent', [], { env })
    for (const [, name, value] of stdout.matchAll(/^(OIDC\w+)=([^;]+);/gm)) env[name!] = value!
    const app = await makeParty(world.test, {
      redirect_uris: [LOOPBACK, SCHEME],
      token_endpoint_auth_method: 'none',
      grant_types: [...GRANT_TYPES],
    })
    client_id = app.client_id
  })
  afterAll(async () => {
    if (env?.OIDCD_PID !== undefined) process.kill(Number(env.OIDCD_PID))
    await world.close()
    await rm(home, { recursive: true })
  })

  /** Starts the recipe's command under this name, without questions and without opening a browser. */
  function generate(name: string, command: string): Program {
    const filled = filledIn(command, {
      'https://YOUR-TESSERA': world.op.issuer,
      'YOUR-CLIENT-ID': client_id,
      'oidc-gen tessera': `oidc-gen ${name} --no-url-call --pw-env --confirm-default --prompt=none`,
    })
    return startProgram('sh', ['-c', filled], { env })
  }

  const address = (program: Program, pattern: RegExp) => until(() => pattern.exec(program.output())?.[0])

  /** The agent's tokens work, also after a refresh. */
  async function checkTokens(name: string) {
    const token = async (...given: string[]) =>
      (await promisify(execFile)('oidc-token', [...given, name], { env })).stdout.trim()
    const tokens = [await token(), await token('--force-new')]
    expect(new Set(tokens).size).toBe(2)
    const headers = { authorization: `Bearer ${tokens[1]}` }
    const answer = await fetch(String(world.op.discovery.userinfo_endpoint), { headers })
    expect(await answer.json()).toMatchObject({ sub: String(world.person.id) })
  }

  async function isFree(port: number): Promise<boolean> {
    const server = createServer().listen(port, 'localhost')
    const isListening = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ])
    server.close()
    return isListening
  }

  it('signs in with a browser by its recipe', async ({ skip }) => {
    expect(versions).toEqual([version])
    skip(process.env.CI !== 'true' && !(await isFree(4242)))
    const program = generate('loopback', code[0]!)
    const begin = await address(program, /^http\S+\/oauth2\/auth\S+/m)
    const arrival = await siteBrowser(LOOPBACK, world).go(begin)
    expect(arrival.body).toContain('Success')
    await program.ended
    await checkTokens('loopback')
  })

  it('signs in with its own scheme', async () => {
    expect(text).toContain(SCHEME)
    const command = changed(code[0]!, LOOPBACK, `${SCHEME} --no-webserver`)
    const program = generate('scheme', command)
    const begin = await address(program, /^http\S+\/oauth2\/auth\S+/m)
    // A desktop passes the address with this scheme to this command.
    const { url } = await userAgent(world.op, world.person).visit(begin)
    expect(url.startsWith(`${SCHEME}?code=`)).toBe(true)
    await promisify(execFile)('oidc-gen', [`--codeExchange=${url}`, '--pw-env', '--prompt=none'], { env })
    await program.stop()
    await checkTokens('scheme')
  })

  it('signs in as a device', async () => {
    expect(text).toContain('`--flow=device`')
    const program = generate('device', changed(code[0]!, '--flow=code', '--flow=device'))
    const user_code = (await address(program, /code: \S{4}-\S{4}/)).slice('code: '.length)
    const phone = await world.person.signIn()
    const shown = await phone.submit(await phone.get('/device'), '/device', { user_code })
    await phone.submit(shown, '/device/decision', { decision: 'allow' })
    await program.ended
    await checkTokens('device')
  })
})
