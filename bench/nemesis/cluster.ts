/**
 * What a run strikes: HAProxy before four processes of the service, pgbouncer, and two Postgres under Patroni. A link that
 * can be cut stands before each process, between each process and pgbouncer, before the database, and between the two
 * Postgres and etcd.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type OsUser, spawnOptions } from '../../src/database/embedded/user.ts'
import { APP_SECRET } from '../../test/faults/world.ts'
import { freePort } from '../../test/harness/free-port.ts'
import { type Pgbouncer, startPgbouncer } from '../../test/harness/pgbouncer.ts'
import { POSTGRES_15 } from '../../test/harness/postgres-15.ts'
import { makeScratchFolder } from '../../test/harness/scratch.ts'
import { ROOT, type ServerProcess, startServer, stopServer } from '../../test/harness/server-process.ts'
import { waitUntil } from '../../test/harness/waiting.ts'
import { HAS_PATRONI, type Patroni, startPatroni } from '../failover/patroni.ts'
import { type Links, startLinks } from './links.ts'

const run = promisify(execFile)

const HAPROXY = '/usr/sbin/haproxy'
const START_MS = 120_000
/** Starts that may fail before the first success. Later the database may be struck at that moment. */
const FIRST_STARTS = 5
const POOL_MAX = 6
/** More than all processes have in a rush, and less than they could have. */
const SERVER_CONNECTIONS = 20
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

export const HAS_CLOCKS = existsSync(FAKETIME)

/** Why no run is possible here, if none is. */
export function obstacle(): string | undefined {
  if (POSTGRES_15 === undefined || !HAS_PATRONI)
    return "It needs Debian's postgresql-15, patroni, etcd-server, haproxy and pgbouncer."
  return undefined
}

/** One process of the service, which may be gone for a while. */
export type Service = {
  name: string
  port: number
  server: ServerProcess | undefined
  clockFile: string
  log: string
}

export type Cluster = {
  /** The front proxy. */
  url: string
  services: Service[]
  patroni: Patroni
  links: Links
  pgbouncer(): Pgbouncer
  /** The disks of the nodes, by their data folders. Empty when mounts are not allowed. */
  disks: ReadonlySet<string>
  killService(service: Service): Promise<void>
  startService(service: Service): Promise<void>
  restartPgbouncer(): Promise<void>
  /** By how many seconds the clock of a process is off. */
  setClock(service: Service, seconds: number): Promise<void>
  close(): Promise<void>
}

export type ClusterOptions = { processes: number; diskMb: number; root?: string }

export async function startCluster({ processes, diskMb, root = ROOT }: ClusterOptions): Promise<Cluster> {
  const folder = await makeScratchFolder()
  const links = startLinks()
  const disks = new Set<string>()
  const closers: (() => Promise<unknown>)[] = [
    () => links.close(),
    () => rm(folder, { recursive: true, force: true }),
  ]
  const close = async () => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop())
      await closer().catch((error) => console.error(error))
  }
  try {
    const patroni = await startPatroni(POSTGRES_15!, {
      link: (name, port) => links.open(name, port),
      prepare: (data, user) => mountDisk(data, user, { diskMb, disks }),
      async release(data) {
        if (disks.has(data)) await run('umount', ['-l', data])
      },
      parameters: {
        max_wal_size: '128MB',
        min_wal_size: '64MB',
        wal_keep_size: '32MB',
        checkpoint_timeout: '60s',
      },
    })
    closers.push(() => patroni.close())
    await run(process.execPath, ['src/cli/tessera.js', 'migrate'], {
      cwd: root,
      env: { PATH: process.env.PATH, DATABASE_URL: patroni.url, APP_SECRET },
    })
    const database = await links.open('database', Number(new URL(patroni.url).port))
    const through = Object.assign(new URL(patroni.url), { port: String(database) }).href
    const listen_port = await freePort()
    const start = () => startPgbouncer(through, { listen_port, connections: SERVER_CONNECTIONS })
    let pgbouncer = await start()
    closers.push(() => pgbouncer.stop())
    const front = await startFront(folder, links, processes)
    closers.push(() => front.stop())
    const fleet = makeFleet({
      folder,
      links,
      root,
      front: front.url,
      ports: front.ports,
      database: pgbouncer.url,
    })
    closers.push(() => fleet.stop())
    await fleet.start()
    return {
      url: front.url,
      patroni,
      links,
      disks,
      pgbouncer: () => pgbouncer,
      async restartPgbouncer() {
        await pgbouncer.stop()
        pgbouncer = await start()
      },
      ...fleet,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Gives a node a disk of its own, which can be full. */
async function mountDisk(
  data: string,
  user: OsUser | undefined,
  { diskMb, disks }: { diskMb: number; disks: Set<string> },
): Promise<void> {
  const owner = user === undefined ? '' : `,uid=${user.uid},gid=${user.gid}`
  const mounted = run('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m,mode=700${owner}`, 'tessera', data])
  await mounted.then(
    () => disks.add(data),
    () => {},
  )
}

/** HAProxy, which gives a process no more requests while it does not answer, and names the process that it asked. */
async function startFront(folder: string, links: Links, processes: number) {
  const port = await freePort()
  const file = join(folder, 'front.cfg')
  const ports = await Promise.all(Array.from({ length: processes }, () => freePort()))
  const servers = await Promise.all(
    ports.map(
      async (to, n) => `  server process${n + 1} 127.0.0.1:${await links.open(`front ${n + 1}`, to)}`,
    ),
  )
  const config = [
    'defaults',
    '  mode http',
    '  timeout connect 1s',
    '  timeout check 2s',
    '  timeout client 60s',
    '  timeout server 15s',
    'frontend clients',
    `  bind 127.0.0.1:${port}`,
    '  http-after-response set-header x-served-by %[srv_name]',
    '  default_backend service',
    'backend service',
    '  balance roundrobin',
    '  option forwardfor',
    '  option httpchk GET /readyz',
    '  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  await writeFile(file, `${config.join('\n')}\n`)
  const child: ChildProcess = spawn(HAPROXY, ['-f', file], { ...spawnOptions(undefined), stdio: 'ignore' })
  return {
    url: `http://127.0.0.1:${port}`,
    ports,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

type Surroundings = {
  folder: string
  links: Links
  root: string
  front: string
  ports: number[]
  database: string
}

function makeFleet({ folder, links, root, front, ports, database }: Surroundings) {
  const services = ports.map(
    (port, n): Service => ({
      name: `process${n + 1}`,
      port,
      server: undefined,
      clockFile: join(folder, `clock${n + 1}`),
      log: '',
    }),
  )
  let isEnding = false
  let hasStarted = false

  async function startService(service: Service): Promise<void> {
    const number = services.indexOf(service) + 1
    const data = join(folder, `data${number}`)
    await mkdir(data, { recursive: true })
    const env = {
      DATABASE_URL: Object.assign(new URL(database), { port: String(await bouncerPort(number)) }).href,
      DATABASE_POOL_MAX: String(POOL_MAX),
      APP_SECRET,
      DATA_DIR: data,
      PORT: String(service.port),
      PUBLIC_URL: front,
      TRUST_PROXY: '127.0.0.1',
      NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
      ...(HAS_CLOCKS && {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: service.clockFile,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        FAKETIME_CACHE_DURATION: '1',
      }),
    }
    // A start needs the database, which may be struck at that moment.
    for (let failures = 0; !isEnding; failures += 1) {
      try {
        service.server = await startServer(env, { root })
        hasStarted = true
        service.server.child.once('exit', () => {
          service.log += service.server?.output() ?? ''
        })
        return
      } catch (error) {
        service.log += (error as Error).message
        if (!hasStarted && failures >= FIRST_STARTS) throw error
        await sleep(500)
      }
    }
  }

  const bouncerPorts = new Map<number, Promise<number>>()
  function bouncerPort(number: number): Promise<number> {
    const port = bouncerPorts.get(number) ?? links.open(`process ${number}`, Number(new URL(database).port))
    bouncerPorts.set(number, port)
    return port
  }

  const setClock = (service: Service, seconds: number) =>
    writeFile(service.clockFile, `${seconds < 0 ? '' : '+'}${seconds}`)
  return {
    services,
    startService,
    setClock,
    async killService(service: Service) {
      if (service.server === undefined) return
      await stopServer(service.server, 'SIGKILL')
      service.server = undefined
    },
    async start() {
      await Promise.all(services.map((service) => setClock(service, 0)))
      // The first one makes the keys.
      for (const service of services) await startService(service)
      const isUp = async () => (await fetch(`${front}/readyz`).catch(() => undefined))?.ok ?? false
      await waitUntil(isUp, { timeout: START_MS, interval: 100, what: 'the front proxy' })
    },
    async stop() {
      isEnding = true
      for (const { server } of services) if (server !== undefined) await stopServer(server, 'SIGKILL')
    },
  }
}

/** All processes of a Postgres, the first one first. */
export async function processesOf(postmaster: number): Promise<number[]> {
  const text = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').catch(() => '')
  return [postmaster, ...text.split(' ').filter(Boolean).map(Number)]
}
