/** Starts pgbouncer in transaction mode before a database, as operators of many processes do, if it is installed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { serverUser } from '../../src/database/embedded/user.ts'
import { freePort } from './free-port.ts'
import { makeScratchFolder } from './scratch.ts'

/** The program of Debian, unless PGBOUNCER names another. */
const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'
/** Fewer than the clients, so they really share connections. */
const SERVER_CONNECTIONS = 8

/** Kills a program when its standard input closes, so it ends with this process in any case. */
const TIED = 'exec 3<&0; "$@" 3<&- & pid=$!; { read _ <&3; kill -9 $pid; } & exec 3<&-; wait $pid'

export const hasPgbouncer = existsSync(PROGRAM)

export type Pgbouncer = {
  url: string
  /** The process of pgbouncer itself. */
  pid(): Promise<number>
  stop: () => Promise<void>
}

/** Starts pgbouncer before the database of this URL, on a free port unless one is given. Returns the URL through it. */
export async function startPgbouncer(
  url: string,
  { listen_port, connections = SERVER_CONNECTIONS }: { listen_port?: number; connections?: number } = {},
): Promise<Pgbouncer> {
  const folder = await makeScratchFolder()
  const { hostname, port, username, password, pathname } = new URL(url)
  listen_port ??= await freePort()
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
default_pool_size = ${connections}
max_client_conn = 1000
# After a database that refused, so many seconds pass before it is tried again. The default is 15.
server_login_retry = 1
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
    async pid() {
      const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      return Number(children.split(' ')[0])
    },
    async stop() {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
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
