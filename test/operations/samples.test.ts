/** The samples of docs/operations and the compose files, as their own programs read them. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { serverUser } from '../../src/database/embedded/user.ts'
import { freePort } from '../harness/free-port.ts'
import { caddyVariables, isWithout, writeNginx } from '../harness/proxies.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { ROOT } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'

const OPERATIONS = join(ROOT, 'docs/operations')
const COMPOSE = 'docker-compose.yml'
const HIGH_AVAILABILITY = 'docs/operations/high-availability/compose.yml'
const PORTS = [21_001, 21_002]

const folder = await makeScratchFolder()
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a program, and returns its exit code and what it says. */
function run(program: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  })
  return { status, said: stdout + stderr }
}

it.skipIf(isWithout('promtool'))('Prometheus takes the alerts', () => {
  const { status, said } = run('promtool', ['check', 'rules', join(OPERATIONS, 'alerts.yml')])
  expect({ status, said }).toMatchObject({ status: 0, said: expect.stringMatching(/SUCCESS: \d+ rules/) })
})

it.skipIf(isWithout('caddy'))('Caddy takes the Caddyfile with the variables of docker compose', () => {
  const file = join(OPERATIONS, 'Caddyfile')
  const { status, said } = run(
    'caddy',
    ['validate', '--config', file, '--adapter', 'caddyfile'],
    caddyVariables(PORTS[0]!, PORTS),
  )
  expect({ status, said }).toMatchObject({ status: 0, said: expect.stringContaining('Valid configuration') })
  const set = Object.keys(caddyVariables(0, []))
  const read = new Set([...readFileSync(file, 'utf8').matchAll(/(?<=\{\$)\w+/g)].map(([name]) => name))
  expect([...read].sort()).toEqual(set.sort())
})

it.skipIf(isWithout('nginx'))('nginx takes its sample', async () => {
  const config = await writeNginx(folder, PORTS[0]!, PORTS)
  const { status, said } = run('nginx', ['-t', '-p', folder, '-c', config])
  expect({ status, said }).toMatchObject({ status: 0, said: expect.stringContaining('test is successful') })
  expect(said).not.toContain('[warn]')
})

it.skipIf(isWithout('systemd-analyze'))('systemd takes every unit', () => {
  const units = readdirSync(OPERATIONS).filter((name) => /\.(?:service|timer)$/.test(name))
  expect(units).toContain('tessera@.service')
  for (const name of units) cpSync(join(OPERATIONS, name), join(folder, name))
  const files = units.map((name) => join(folder, name))
  expect(run('systemd-analyze', ['verify', ...files])).toEqual({ status: 0, said: '' })
})

it.skipIf(isWithout('pgbouncer'))('pgbouncer starts by its sample', async () => {
  const port = await freePort()
  const text = readFileSync(join(OPERATIONS, 'pgbouncer.ini'), 'utf8')
    .replaceAll(/\/(?:var\/run|var\/log|etc)\/\w+/g, folder)
    .replace('listen_port = 6432', `listen_port = ${port}`)
  writeFileSync(join(folder, 'pgbouncer.ini'), text)
  writeFileSync(join(folder, 'userlist.txt'), '"tessera" "a password"')
  const user = await serverUser(folder)
  if (user)
    for (const name of ['.', 'pgbouncer.ini', 'userlist.txt'])
      chownSync(join(folder, name), user.uid, user.gid)
  const child = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const ended = once(child, 'exit')
  await until(() => said.includes('process up') || child.exitCode !== null)
  child.kill('SIGQUIT')
  await ended
  expect(said).toContain(`listening on 127.0.0.1:${port}`)
  expect(said).not.toMatch(/ERROR|FATAL|WARNING/)
})

type Service = { depends_on?: object; networks?: string[]; volumes?: string[] }
type ComposeFile = { services: Record<string, Service>; networks?: object; volumes?: object }

/** Where docker compose is absent, as in the container of continuous integration, only the names are compared. */
const TEMPLATES = ['1panel/tessera/0.1.0', 'dokploy'].map(
  (name) => `docs/operations/templates/${name}/docker-compose.yml`,
)
const COMPOSES = [[COMPOSE], [COMPOSE, HIGH_AVAILABILITY], ...TEMPLATES.map((file) => [file])]

describe.each(COMPOSES.map((files) => [files]))('%s', (files) => {
  // The panels fill in the templates.
  const isWithoutCompose = files[0] !== COMPOSE || run('docker', ['compose', 'version']).status !== 0

  it.skipIf(isWithoutCompose)('docker compose takes', () => {
    const args = ['compose', ...files.flatMap((file) => ['-f', file]), 'config', '--quiet']
    const secrets = { PATRONI_PASSWORD: 'x', REPLICATION_PASSWORD: 'x', POSTGRES_PASSWORD: 'x' }
    expect(run('docker', args, secrets)).toEqual({ status: 0, said: '' })
  })

  it.skipIf(isWithout('python3'))('names services, networks and volumes that it defines', () => {
    const read = 'import json, sys, yaml; print(json.dumps([yaml.safe_load(open(f)) for f in sys.argv[1:]]))'
    const { status, said } = run('python3', ['-c', read, ...files])
    expect({ status, said }).toMatchObject({ status: 0 })
    const parsed: ComposeFile[] = JSON.parse(said)
    const keysOf = (part: keyof ComposeFile) => parsed.flatMap((file) => Object.keys(file[part] ?? {}))
    const [services, networks, volumes] = [keysOf('services'), keysOf('networks'), keysOf('volumes')]
    for (const [name, service] of parsed.flatMap((file) => Object.entries(file.services))) {
      const needed = [service.depends_on ?? []].flatMap((each) =>
        Array.isArray(each) ? each : Object.keys(each),
      )
      const mounted = (service.volumes ?? [])
        .map((each) => each.split(':')[0]!)
        .filter((each) => !/^[./]/.test(each))
      expect([name, needed.filter((each) => !services.includes(each))]).toEqual([name, []])
      expect([name, mounted.filter((each) => !volumes.includes(each))]).toEqual([name, []])
      expect([name, (service.networks ?? []).filter((each) => !networks.includes(each))]).toEqual([name, []])
    }
  })
})
