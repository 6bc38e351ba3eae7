/** Starts pgbouncer in transaction mode before a database, as operators of many processes do, if it is installed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { serverUser } from '../../src/database/embedded/user.ts'
import { makeScratchFolder } from './scratch.ts'
import { freePort } from './server-process.ts'

/** The program of Debian, unless PGBOUNCER names another. */
const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'
/** Fewer than the clients, so they really share connections. */
const SERVER_CONNECTIONS = 8

/** Kills a program when its standard input closes, so it ends with this process in any case. */
const TIED = 'exec 3<&0; "$@" 3<&- & pid=$!; { read _ <&3; kill -9 $pid; } & exec 3<&-; wait $pid'

export const hasPgbouncer = existsSync(PROGRAM)

/** Starts pgbouncer before the database of this URL. Returns the URL through it. */
export async function startPgbouncer(url: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await makeScratchFolder()
  const { hostname, port, username, password, pathname } = new URL(url)
  const listen_port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const login = `user=${username}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 1000
`,
  )
  const user = await serverUser(folder)
  if (user !== undefined) await chown(file, user.uid, user.gid)
  const child = spawn('/bin/sh', ['-c', TIED, 'sh', PROGRAM, '-q', file], {
    stdio: ['pipe', 'ignore', 'ignore'],
    ...user,
  })
  const through = `postgres://${username}@127.0.0.1:${listen_port}${pathname}`
  while (!(await answers(through))) {
    if (child.exitCode !== null) throw new Error('pgbouncer does not start')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url: through,
    async stop() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}
