/**
 * /admin/audit shows the audit log by actor, action, subject and day, and exports it as CSV. /admin/audit/refusals shows
 * the newest refusals of the security record.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import { type AuditFilter, countAudit, readAudit, recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Count } from '../../database/counts.ts'
import { PAGE_LINES } from '../../database/looking-back.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { cursor, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { actWords } from '../wording/act-words.ts'
import { aboutSubject, factsOf } from './audit-words.ts'
import { countRefusals, newestRefusals } from './refusals.ts'

const PATH = '/admin/audit'
const FILE_LINES_MAX = 100_000
const FILE_READ_LINES = 1_000
const REFUSALS_SHOWN = 100

const word = z.string().trim().max(200).catch('')
/** A day in the site's time zone. */
const day = z
  .string()
  .regex(/^[12]\d{3}-\d\d-\d\d$/)
  .refine((text) => !Number.isNaN(Date.parse(text)))
  .catch('')
const Asked = z.object({
  actor: word.transform((name) => name.replace(/^@/, '')),
  action: word,
  subject: word,
  from: day,
  to: day,
  before: cursor,
})
type Asked = z.output<typeof Asked>

declare module '../../web/views.ts' {
  interface PageData {
    'admin/site/audit': PartData['parts/pager'] & {
      entries: (Awaited<ReturnType<typeof readAudit>>[number] & {
        words: string
        about: ReturnType<typeof aboutSubject>
        facts: ReturnType<typeof factsOf>
      })[]
      filter: Omit<Asked, 'before'>
      file: string
      inFile: Count
      fileLinesMax: number
    }
    'admin/site/refusals': {
      refusals: (Awaited<ReturnType<typeof newestRefusals>>[number] & { words: string })[]
      kind: string
      counts: Awaited<ReturnType<typeof countRefusals>>
      shownMax: number
    }
  }
  interface PartData {
    'admin/site/audit-head': object
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function auditPages(app: FastifyInstance, deps: Core): void {
  const { db } = deps
  app.get(PATH, async (request, reply) => {
    const asked = Asked.parse(request.query)
    const { before, ...filter } = asked
    const sought = await filterOf(deps, asked)
    const [found, inFile] = await Promise.all([
      readAudit(db, sought, PAGE_LINES + 1),
      countAudit(db, { ...sought, before: undefined }),
    ])
    const { rows, next } = onePage(found, PAGE_LINES)
    const { locale } = request
    return reply.page('admin/site/audit', {
      entries: rows.map((entry) => ({
        ...entry,
        words: actWords(locale.t, entry.action),
        about: aboutSubject(locale, entry.subject),
        facts: factsOf(locale, entry),
      })),
      filter,
      ...{ before, isSearch: Object.values(filter).some((value) => value !== ''), newest: PATH },
      older: olderUrl(PATH, filter, next),
      file: listUrl(`${PATH}.csv`, filter),
      inFile,
      fileLinesMax: FILE_LINES_MAX,
    })
  })

  app.get(`${PATH}.csv`, async (request, reply) => {
    const asked = Asked.parse(request.query)
    const { before: _, ...detail } = asked
    const actor_id = sessionOf(request).user.id
    const entry = { actor_id, action: 'audit.export', subject: 'audit_log', detail, ip: request.ip }
    await db.transaction().execute((tx) => recordAudit(tx, entry))
    return reply
      .type(CSV_TYPE)
      .header('content-disposition', 'attachment; filename="audit.csv"')
      .header('cache-control', 'no-store')
      .send(Readable.from(linesOf(db, await filterOf(deps, asked))))
  })

  app.get(`${PATH}/refusals`, async (request, reply) => {
    const { kind } = z.object({ kind: word }).parse(request.query)
    const { t } = request.locale
    const [found, counts] = await Promise.all([
      newestRefusals(db, kind, REFUSALS_SHOWN),
      countRefusals(db, Object.keys(t.console.acts.refusals)),
    ])
    const refusals = found.map((refusal) => ({ ...refusal, words: actWords(t, refusal.kind) }))
    return reply.page('admin/site/refusals', { refusals, kind, counts, shownMax: REFUSALS_SHOWN })
  })
}

async function filterOf(
  { db, settings }: Core,
  { actor, action, subject, from, to, before }: Asked,
): Promise<AuditFilter> {
  const { time_zone } = await settings.read()
  const midnight = async (day: string, daysLater: number) =>
    day === '' ? undefined : midnightOf(db, { day, daysLater, zone: time_zone })
  return {
    actor: actor || undefined,
    action: action || undefined,
    subject: subject || undefined,
    from: await midnight(from, 0),
    // The filter includes the day `to`.
    to: await midnight(to, 1),
    before,
  }
}

/** Returns when a day begins in a time zone. Postgres knows when clocks change. */
async function midnightOf(
  db: Db,
  { day, daysLater, zone }: { day: string; daysLater: number; zone: string },
): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    select (${day}::date + ${daysLater}::integer)::timestamp at time zone ${zone} as at`.execute(db)
  return rows[0]!.at
}

/** Yields the file in pieces while the reader takes them, so a slow reader keeps only one piece in memory. */
async function* linesOf(db: Db, filter: AuditFilter): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(['id', 'time', 'actor', 'action', 'subject', 'detail', 'ip'])
  let before = filter.before
  for (let count = 0; count < FILE_LINES_MAX; count += FILE_READ_LINES) {
    const entries = await readAudit(db, { ...filter, before }, FILE_READ_LINES)
    yield entries
      .map(({ id, created_at, actor, action, subject, detail, ip }) =>
        csvLine([id, created_at, actor, action, subject, JSON.stringify(detail), ip]),
      )
      .join('')
    if (entries.length < FILE_READ_LINES) return
    before = entries.at(-1)!.id
  }
}
