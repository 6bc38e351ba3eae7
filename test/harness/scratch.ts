/** Creates the folders of tests, in memory if there is room, because nothing in them needs to survive. */
import { chmod, mkdtemp, readFile, realpath, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3

/** A new folder that every user may enter, because Postgres is another user when root runs the tests. */
export async function makeScratchFolder(): Promise<string> {
  const place = (await hasRoom(MEMORY)) ? MEMORY : tmpdir()
  const folder = await realpath(await mkdtemp(join(place, 'tessera-test-')))
  await chmod(folder, 0o755)
  return folder
}

/** Whether programs may run there too, which containers often forbid. */
async function hasRoom(folder: string): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const mount = mounts.split('\n').find((line) => line.split(' ')[1] === folder)
  if (mount === undefined || mount.includes('noexec')) return false
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize >= ROOM_BYTES
}
