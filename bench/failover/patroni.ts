/**
 * Two Postgres 15 under Patroni on loopback, with etcd as their common memory and HAProxy before them: whoever is the
 * primary is found at one address, and nobody but they decide who that is. The programs are Debian's.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type OsUser, serverUser, spawnOptions } from '../../src/database/embedded/user.ts'
import { ask } from '../../test/faults/world.ts'
import { freePort } from '../../test/harness/free-port.ts'
import { makeScratchFolder } from '../../test/harness/scratch.ts'
import { WAIT_MS_MAX, waitUntil } from '../../test/harness/waiting.ts'

const PROGRAMS = ['/usr/bin/etcd', '/usr/bin/patroni', '/usr/sbin/haproxy']
export const HAS_PATRONI = PROGRAMS.every((program) => existsSync(program))

const [ETCD, PATRONI, HAPROXY] = PROGRAMS as [string, string, string]
const ANSWER_MS = 3_000
/** The least that Patroni takes: so long a dead primary may hold its place. */
const TTL_SECONDS = 20

export type Node = {
  name: string
  port: number
  api: number
  data: string
  process: ChildProcess
  start(): ChildProcess
}

export type PatroniOptions = {
  /** Leads others to a port of a node by another port, and a node to etcd. The port may be that of a link. */
  link?: (name: string, port: number) => Promise<number>
  /** Prepares the folder of a node's data before anything is in it. */
  prepare?: (folder: string, user: OsUser | undefined) => Promise<void>
  /** Undoes that once no program uses the folder any more. */
  release?: (folder: string) => Promise<void>
  /** More parameters of Postgres. */
  parameters?: Record<string, string | number>
}

export type Patroni = {
  /** The database, wherever it is now. */
  url: string
  nodes: Node[]
  primary(): Promise<Node | undefined>
  /** Whether there is a primary, and its standby has every commit. */
  isWhole(): Promise<boolean>
  /** Kills the primary and the Patroni beside it, and answers once the other is the primary. */
  killPrimary(): Promise<void>
  /** Lets the two change places, and answers once they have. */
  switchOver(): Promise<void>
  /** Starts the Patroni of a node again, if it has ended. It starts its Postgres. */
  revive(node: Node): void
  close(): Promise<void>
}

export async function startPatroni(bin: string, options: PatroniOptions = {}): Promise<Patroni> {
  const folder = await makeScratchFolder()
  const user = await serverUser(folder)
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const etcd = await startEtcd(folder, user)
  const nodes: Node[] = []
  // Neither may be called `first` or `any`, which mean something else in synchronous_standby_names.
  for (const name of ['node1', 'node2'])
    nodes.push(await startNode(name, { folder, user, bin, etcd: etcd.port, ...options }))
  const front = await startHaproxy(folder, nodes, user)
  const url = `postgres://tessera:tessera@127.0.0.1:${front.port}/postgres`
  // HAProxy leads to both in turn until it has found out which is the primary.
  const isWhole = async () => (await isReplicated(url)) && (await isReplicated(url))
  await waitUntil(isWhole, { timeout: WAIT_MS_MAX, interval: 250, what: 'a standby that has every commit' })
  const becomes = (other: Node) =>
    waitUntil(() => isPrimary(other), {
      timeout: WAIT_MS_MAX,
      interval: 50,
      what: `${other.name} to be primary`,
    })
  return {
    url,
    nodes,
    primary: () => primaryOf(nodes),
    isWhole,
    async killPrimary() {
      const primary = await primaryOf(nodes)
      const other = nodes.find((node) => node !== primary)!
      const pid = await postmasterOf(primary!)
      // Alone, Patroni would start its Postgres again.
      primary!.process.kill('SIGKILL')
      process.kill(pid!, 'SIGKILL')
      await becomes(other)
    },
    async switchOver() {
      const primary = (await primaryOf(nodes))!
      const other = nodes.find((node) => node !== primary)!
      const body = JSON.stringify({ leader: primary.name, candidate: other.name })
      const answer = await fetch(`http://127.0.0.1:${primary.api}/switchover`, { method: 'POST', body })
      if (!answer.ok) throw new Error(`Patroni does not switch over: ${await answer.text()}`)
      await becomes(other)
    },
    revive(node) {
      if (!isRunningProcess(node.process)) node.process = node.start()
    },
    async close() {
      for (const node of nodes) {
        await end(node.process)
        // A Patroni that was killed leaves its Postgres behind.
        const pid = await postmasterOf(node)
        if (pid !== undefined) signal(pid, 'SIGKILL')
        await options.release?.(node.data)
      }
      await end(front.process)
      await end(etcd.process)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The main process of a node's Postgres, while there is one. */
export async function postmasterOf({ data }: Node): Promise<number | undefined> {
  const file = await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(file, 10)
  return Number.isInteger(pid) && signal(pid, 0) ? pid : undefined
}

/** Sends a signal, and answers whether the process was there. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

const isRunningProcess = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

async function startEtcd(folder: string, user: OsUser | undefined) {
  const [port, peers] = [await freePort(), await freePort()]
  const at = `http://127.0.0.1:${port}`
  const among = `http://127.0.0.1:${peers}`
  const started = start(ETCD, user, [
    ...['--data-dir', join(folder, 'etcd')],
    ...['--listen-client-urls', at, '--advertise-client-urls', at],
    ...['--listen-peer-urls', among, '--initial-advertise-peer-urls', among],
    ...['--initial-cluster', `default=${among}`],
  ])
  return { port, process: started }
}

type Surroundings = { folder: string; user: OsUser | undefined; bin: string; etcd: number } & PatroniOptions

async function startNode(
  name: string,
  { folder, user, bin, etcd, link, prepare, parameters }: Surroundings,
): Promise<Node> {
  const [port, api] = [await freePort(), await freePort()]
  const [seen, memory] = [
    (await link?.(`${name} postgres`, port)) ?? port,
    (await link?.(`${name} etcd`, etcd)) ?? etcd,
  ]
  const data = join(folder, name)
  await mkdir(data, { mode: 0o700 })
  await prepare?.(data, user)
  if (user !== undefined) await chown(data, user.uid, user.gid)
  const config = {
    scope: 'tessera',
    name,
    restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
    etcd3: { host: `127.0.0.1:${memory}` },
    bootstrap: {
      dcs: {
        ttl: TTL_SECONDS,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 50, shared_buffers: '32MB', ...parameters },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${seen}`,
      data_dir: join(data, 'postgres'),
      bin_dir: bin,
      pgpass: join(data, 'pgpass'),
      parameters: { unix_socket_directories: data },
      authentication: {
        superuser: { username: 'tessera', password: 'tessera' },
        replication: { username: 'replicator', password: 'replicator' },
      },
    },
  }
  const file = join(folder, `${name}.yml`)
  // Every JSON is YAML.
  await writeFile(file, JSON.stringify(config))
  const startAgain = () => start(PATRONI, user, [file])
  const node = { name, port, api, data, process: startAgain(), start: startAgain }
  // One after the other, so that the second copies the first.
  await waitUntil(() => isRunning(node), { timeout: WAIT_MS_MAX, interval: 250, what: `${name} to run` })
  return node
}

async function startHaproxy(folder: string, nodes: Node[], user: OsUser | undefined) {
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  const servers = nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.api}`)
  const config = [
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    'listen postgres',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  await writeFile(file, `${config.join('\n')}\n`)
  return { port, process: start(HAPROXY, user, ['-f', file]) }
}

function start(program: string, user: OsUser | undefined, args: string[]): ChildProcess {
  return spawn(program, args, { ...spawnOptions(user), stdio: 'ignore' })
}

async function end(child: ChildProcess): Promise<void> {
  if (!isRunningProcess(child)) return
  child.kill('SIGTERM')
  await waitUntil(() => !isRunningProcess(child), { timeout: WAIT_MS_MAX, interval: 50, what: 'an end' })
}

async function answers(node: Node, path: string): Promise<boolean> {
  const at = `http://127.0.0.1:${node.api}/${path}`
  const response = await fetch(at, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined)
  return response?.ok ?? false
}

const isRunning = (node: Node) => answers(node, 'health')
const isPrimary = (node: Node) => answers(node, 'primary')

async function primaryOf(nodes: Node[]): Promise<Node | undefined> {
  for (const node of nodes) if (await isPrimary(node)) return node
  return undefined
}

/** The database of this node alone. */
export const urlOf = ({ port }: Node) => `postgres://tessera:tessera@127.0.0.1:${port}/postgres`

async function isReplicated(url: string): Promise<boolean> {
  const rows = await ask(url, async (db) => {
    const found = await sql`select from pg_stat_replication where sync_state = 'sync'`.execute(db)
    return found.rows
  }).catch(() => [])
  return rows.length === 1
}
