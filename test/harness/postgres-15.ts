/** The oldest supported Postgres with all of its programs, if it is installed. */
import { existsSync } from 'node:fs'
import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startServer } from '../../src/database/embedded/server.ts'
import { run, serverUser } from '../../src/database/embedded/user.ts'
import { SERVER_SETTINGS } from './global-setup.ts'
import { makeScratchFolder } from './scratch.ts'

/** The folders of its programs in Debian and in the image of Postgres. */
export const POSTGRES_15_PLACES = ['/usr/lib/postgresql/15/bin', '/usr/local/bin']
/** The folder of its programs, if it is installed. */
export const POSTGRES_15 = POSTGRES_15_PLACES.find((folder) => existsSync(join(folder, 'initdb')))

/** Starts a server in memory, with the role `tessera`, which needs no password and owns nothing yet. */
export async function startPostgres15(bin: string): Promise<{ port: number; stop: () => Promise<void> }> {
  const folder = await makeScratchFolder()
  const data = join(folder, 'postgres')
  const user = await serverUser(data)
  await mkdir(data)
  if (user !== undefined) await chown(data, user.uid, user.gid)
  const options = ['--username=tessera', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  await run(join(bin, 'initdb'), ['-D', data, ...options], { user })
  const { port, stop } = await startServer({ data, bin, user }, { settings: SERVER_SETTINGS })
  return {
    port,
    async stop() {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}
