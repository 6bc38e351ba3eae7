/** Folders of the tests: in memory where the machine has room there, since nothing in them needs to survive. */
import { chmod, mkdtemp, readFile, realpath, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3

/** A new folder that every user may enter: where root runs the tests, Postgres is another user. */
export async function makeScratchFolder(): Promise<string> {
  const place = (await hasRoom(MEMORY)) ? MEMORY : tmpdir()
  const folder = await realpath(await mkdtemp(join(place, 'tessera-test-')))
  await chmod(folder, 0o755)
  return folder
}

/** Also for programs: containers often forbid to run any there. */
async function hasRoom(folder: string): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const mount = mounts.split('\n').find((line) => line.split(' ')[1] === folder)
  if (mount === undefined || mount.includes('noexec')) return false
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize >= ROOM_BYTES
}
