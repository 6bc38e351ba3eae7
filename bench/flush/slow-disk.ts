/** Starts the built-in Postgres on a disk whose flush takes as long as the bench says, and counts the flushes. Needs Linux and a C compiler. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createCluster, startServer } from '../../src/database/embedded/server.ts'
import { chooseHome, serverUser, usableBinaries } from '../../src/database/embedded/user.ts'

const execute = promisify(execFile)
const PASSWORD = 'slow-disk'
const PROGRAMS = ['postgres', 'initdb', 'pg_ctl']

export type SlowDisk = {
  /** The address of its database. */
  url: string
  /** Sets how long each flush takes from now on. */
  setFlush(ms: number): Promise<void>
  /** Returns the statements that asked for the flushes since the last call. */
  takeAskers(): Promise<string[]>
  stop(): Promise<void>
}

export async function startSlowDisk(): Promise<SlowDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-flush-'))
  await chmod(folder, 0o755)
  const user = await serverUser(join(folder, 'postgres'))
  const home = await chooseHome(folder, user)
  const disk = join(folder, 'disk')
  await mkdir(disk)
  const setFlush = async (ms: number) => {
    const microseconds = new Uint32Array([ms * 1000])
    await writeFile(join(disk, 'delay'), microseconds, { flag: 'r+' })
  }
  for (const name of ['delay', 'flushes']) await writeFile(join(disk, name), Buffer.alloc(4))
  await truncate(join(disk, 'flushes'))
  if (user) await chown(join(disk, 'flushes'), user.uid, user.gid)
  const library = join(disk, 'slow-disk.so')
  await execute('cc', [
    '-O2',
    '-Wall',
    '-shared',
    '-fPIC',
    join(import.meta.dirname, 'slow-disk.c'),
    '-o',
    library,
  ])
  const bin = join(disk, 'bin')
  await wrapPrograms(bin, await usableBinaries(home, user), { LD_PRELOAD: library, SLOW_DISK: disk })
  const cluster = { data: join(home, 'postgres'), bin, user }
  await createCluster(cluster, PASSWORD)
  const server = await startServer(cluster, { settings: { wal_sync_method: 'fdatasync' } })
  return {
    url: `postgres://tessera:${PASSWORD}@127.0.0.1:${server.port}/tessera`,
    setFlush,
    async takeAskers() {
      const text = await readFile(join(disk, 'flushes'), 'utf8')
      await truncate(join(disk, 'flushes'))
      return text.split('\n').slice(0, -1)
    },
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Makes programs of the same names that run the real ones with these variables, because the built-in Postgres passes none on. */
async function wrapPrograms(bin: string, real: string, variables: Record<string, string>): Promise<void> {
  await mkdir(bin)
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`)
  for (const name of PROGRAMS)
    await writeFile(join(bin, name), `#!/bin/sh\n${exports.join('')}exec '${join(real, name)}' "$@"\n`, {
      mode: 0o755,
    })
}
