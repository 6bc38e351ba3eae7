/**
 * Asks the address of UPDATE_NOTICE_URL once a day for a changelog, whatever the number of processes. The request says nothing about
 * this site: it has no user agent, no cookie and no version. spec/limits 5.1.
 */
import type { IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import { EVERYWHERE } from '../egress/guard.ts'
import { makeSendRequest } from '../egress/request.ts'
import { isNewer, readReleases } from '../platform/changelog.ts'

const BYTES_MAX = 256 * 1024

/** Returns why a due request brought no changelog, or undefined. */
export async function askForVersions({
  db,
  config,
  clock,
}: Pick<Core, 'db' | 'config' | 'clock'>): Promise<string | undefined> {
  const url = config.UPDATE_NOTICE_URL
  if (url === undefined || !(await claimDay(db, clock()))) return undefined
  // The operator named the address, so it may be one of an intranet.
  const open = { ...config, NOTIFY_ALLOW_CIDRS: EVERYWHERE }
  const send = makeSendRequest({ config: open }, { isAnonymous: true })
  const end = await send({ url, headers: { accept: 'text/markdown, text/plain' } }, read)
  if ('fault' in end) {
    await db.updateTable('update_notice').set({ fault: end.fault }).execute()
    return end.fault
  }
  await db
    .updateTable('update_notice')
    .set({ heard_at: clock(), fault: null, ...end })
    .execute()
  return undefined
}

/** Whether this process is the one that asks today. */
async function claimDay(db: Core['db'], now: Date): Promise<boolean> {
  const { rows } = await sql`
    insert into update_notice (asked_at) values (${now})
    on conflict (is_only) do update set asked_at = excluded.asked_at
      where update_notice.asked_at <= excluded.asked_at - interval '1 day'
    returning is_only`.execute(db)
  return rows.length > 0
}

type Answer = { changelog: string; newest: string } | { fault: string }

async function read(response: IncomingMessage): Promise<Answer> {
  if (response.statusCode !== 200) {
    response.destroy()
    return { fault: `status ${response.statusCode}` }
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size > BYTES_MAX) return { fault: 'too long' }
  }
  const changelog = Buffer.concat(chunks).toString('utf8')
  // Postgres stores no zero byte.
  const [first, ...others] = changelog.includes('\0') ? [] : readReleases(changelog)
  if (first === undefined) return { fault: 'no changelog' }
  const newest = others.reduce(
    (last, { version }) => (isNewer(version, last) ? version : last),
    first.version,
  )
  return { changelog, newest }
}
