/**
 * Makes, starts and stops one Postgres cluster on this machine. A cluster is made completely or not at all. A guard ends
 * the server with its owner. Only a process that is proven to be this cluster's server is stopped.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chown, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastLines, type OsUser, run, spawnOptions } from './user.ts'

const POLL_MS = 10
const START_MS = 60_000
const RETRY_MS = 10_000
const SHUTDOWN_MS = [
  ['SIGINT', 15_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/** Temporary faults: another program took the port, or processes of an earlier server are still ending. */
const PASSING =
  /could not create any TCP\/IP sockets|pre-existing shared memory block|lock file "postmaster.pid"/

const SETTINGS = { max_connections: '50', jit: 'off', timezone: 'UTC' }

/**
 * Runs Postgres as its child and ends it when stdin closes. The owner has the other end of stdin, and the kernel closes it
 * however the owner dies. The guard repeats its signal each second, because a Postgres that has just started ignores it.
 * It escalates the signal, because a Postgres whose backend was killed may hang. The guard ignores the signals that a
 * service manager sends to all processes, so that it does not end first.
 */
const GUARD = `
trap '' HUP INT TERM
exec 3<&0
"$@" 3<&- </dev/null &
postgres=$!
{
  while read -r line <&3; do :; done
  tries=0 signal=INT
  while kill -$signal $postgres; do
    sleep 1
    tries=$((tries + 1))
    if [ $tries -ge 15 ]; then signal=QUIT; fi
    if [ $tries -ge 20 ]; then signal=KILL; fi
  done
} >/dev/null 2>&1 &
exec 3<&-
wait $postgres
code=$?
kill -KILL $!
exit $code`

export type Cluster = { data: string; bin: string; user: OsUser | undefined }
export type ServerOptions = {
  /** Server settings that add to the defaults or replace them. They cannot change where the server listens. */
  settings?: Record<string, string>
  /** Receives each line that the server writes. */
  log?: (line: string) => void
}
export type Server = { port: number; stop: () => Promise<void> }

/** Makes the cluster in a temporary folder and renames it when complete, so a killed start leaves no partial cluster. */
export async function createCluster({ data, bin, user }: Cluster, password: string): Promise<void> {
  const home = dirname(data)
  // The initdb of a killed start may still write there. Then the next start removes its files.
  for (const name of await readdir(home))
    if (name.startsWith('postgres.new-')) await rm(join(home, name), { recursive: true }).catch(() => {})
  const unfinished = await mkdtemp(join(home, 'postgres.new-'))
  try {
    if (user) await chown(unfinished, user.uid, user.gid)
    // The built-in provider has Unicode on every system. The C library's C.UTF-8 is missing on some.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = ['--username=tessera', '--auth-local=reject', '--auth-host=scram-sha-256']
    await run(join(bin, 'initdb'), ['-D', unfinished, ...access, ...locale], { user })
    const fresh = { data: unfinished, bin, user }
    await setPassword(fresh, password)
    await runSingle(fresh, 'create database tessera')
    await rename(unfinished, data)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Sets the password of the role `tessera` while the server is stopped. */
export async function setPassword(cluster: Cluster, password: string): Promise<void> {
  await runSingle(cluster, `alter role tessera password '${password}'`)
}

async function runSingle(cluster: Cluster, statement: string): Promise<void> {
  // An error must end the program and must not print the statement, which may contain the password.
  const flags = ['-c', 'exit_on_error=on', '-c', 'log_min_error_statement=panic']
  const args = ['--single', '-D', cluster.data, ...flags, 'postgres']
  const env = await staleOwner(cluster)
  await run(join(cluster.bin, 'postgres'), args, { user: cluster.user, env, input: `${statement}\n` })
}

/**
 * Starts the server and returns when it accepts connections. The cluster's earlier server must have ended. Throws Error
 * with the server's last lines when it does not start.
 */
export async function startServer(cluster: Cluster, options: ServerOptions): Promise<Server> {
  const began = Date.now()
  for (;;) {
    const port = await freePort()
    const { child, ended, output } = await launch(cluster, port, options)
    const stop = async () => {
      for (const handle of handlesOf(child)) handle.ref()
      child.stdin?.end()
      await stopPostmaster(cluster)
      await ended
    }
    if (await becomesReady(cluster, port, ended, began + START_MS)) {
      // The server must not keep an owner alive that has nothing left to do.
      for (const handle of handlesOf(child)) handle.unref()
      return { port, stop }
    }
    await stop()
    if (Date.now() > began + RETRY_MS || !PASSING.test(output()))
      throw new Error(`Postgres did not start:\n${output()}`)
    await sleep(POLL_MS)
  }
}

async function launch(
  cluster: Cluster,
  port: number,
  options: ServerOptions,
): Promise<{ child: ChildProcess; ended: Promise<void>; output: () => string }> {
  const where = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' }
  const flags = Object.entries({
    shared_buffers: sharedBuffers(),
    ...SETTINGS,
    ...options.settings,
    ...where,
  })
  const postgres = join(cluster.bin, 'postgres')
  const args = ['-D', cluster.data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const [command, commandArgs] =
    process.platform === 'win32' ? [postgres, args] : ['/bin/sh', ['-c', GUARD, 'sh', postgres, ...args]]
  const child = spawn(command, commandArgs, {
    ...spawnOptions(cluster.user, await staleOwner(cluster)),
    // A process group of its own: Ctrl-C goes to the owner's whole group, and the owner needs Postgres to drain.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let output = ''
  createInterface({ input: child.stderr! }).on('line', (line) => {
    output = lastLines(`${output}\n${line}`)
    options.log?.(line)
  })
  child.stdin?.on('error', () => {})
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      output = error.message
      resolve()
    })
  })
  return { child, ended, output: () => output }
}

function handlesOf(child: ChildProcess): { ref(): void; unref(): void }[] {
  return [child, child.stdin as Socket, child.stderr as Socket]
}

async function becomesReady(
  cluster: Cluster,
  port: number,
  ended: Promise<void>,
  deadline: number,
): Promise<boolean> {
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!over && Date.now() < deadline) {
    const postmaster = await findPostmaster(cluster)
    if (postmaster?.ready && postmaster.port === port) return true
    await sleep(POLL_MS)
  }
  return false
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Ends the cluster's server if it runs, with stronger signals after each timeout. Throws Error if it does not end. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  for (const [signal, patience] of SHUTDOWN_MS) {
    const postmaster = await findPostmaster(cluster)
    if (!postmaster) return
    await send(signal, postmaster.pid, cluster)
    const deadline = Date.now() + patience
    while (Date.now() < deadline && (await findPostmaster(cluster))) await sleep(POLL_MS)
  }
  if (await findPostmaster(cluster)) throw new Error(`The Postgres of ${cluster.data} does not end`)
}

async function send(signal: NodeJS.Signals, pid: number, cluster: Cluster): Promise<void> {
  // Windows has no such signals. There pg_ctl sends Postgres's own, which only a Postgres receives.
  if (process.platform === 'win32')
    return run(join(cluster.bin, 'pg_ctl'), ['kill', signal.slice(3), String(pid)], cluster).catch(() => {})
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

type Postmaster = { pid: number; port: number; ready: boolean }

/** Returns the running server of this cluster. It checks the process, because the system may have reused the pid. */
async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const lines = await pidFile(cluster)
  const pid = Number(lines[0])
  if (!(pid > 0) || !(await isPostmasterOf(cluster, pid))) return undefined
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

async function pidFile({ data }: Cluster): Promise<string[]> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  return text.split('\n')
}

async function isPostmasterOf({ data, bin }: Cluster, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    // A server's working directory is its data directory. Inodes are compared, because it may have been moved.
    const facts = [stat(`/proc/${pid}/cwd`), stat(data), readFile(`/proc/${pid}/cmdline`, 'utf8')] as const
    const [cwd, own, command] = await Promise.all(facts).catch(() => [])
    return cwd?.ino === own?.ino && cwd?.dev === own?.dev && !!command?.split('\0')[0]?.endsWith('/postgres')
  }
  const proof =
    process.platform === 'win32'
      ? // Succeeds only if the number in the pid file is that of a Postgres.
        run(join(bin, 'pg_ctl'), ['status', '-D', data], { user: undefined })
      : run('/bin/sh', ['-c', `ps -ww -o args= -p ${pid} | grep -qF "/postgres -D $1 "`, 'sh', data], {
          user: undefined,
        })
  return proof.then(
    () => true,
    () => false,
  )
}

/** Whether a process with this pid runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Postgres refuses to start while any process of its user has the pid of a left-over pid file, except its ancestors. This
 * variable names that pid as an ancestor. Postgres's check of shared memory still applies.
 */
async function staleOwner(cluster: Cluster): Promise<Record<string, string>> {
  const pid = Math.abs(Number((await pidFile(cluster))[0]))
  return pid > 0 ? { PG_GRANDPARENT_PID: String(pid) } : {}
}

const MIB = 1024 * 1024
/** Most of the gain comes with the first 256 MB: the function that pays takes 0.92 to 0.95 of its time with 32 MB. */
const BUFFERS_MAX_MIB = 256
const BUFFERS_MIN_MIB = 32
/** The service, the connections and the system's cache of files need the rest. */
const SHARE = 16

/** The setting `shared_buffers` for a machine with this memory in bytes: a sixteenth of it, and 32 to 256 MB. */
export function sharedBuffers(memory: number = memoryOfMachine()): string {
  const mib = Math.floor(memory / MIB / SHARE)
  return `${Math.min(BUFFERS_MAX_MIB, Math.max(BUFFERS_MIN_MIB, mib))}MB`
}

/** The memory of the machine, or the limit of the container, in bytes. */
function memoryOfMachine(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
