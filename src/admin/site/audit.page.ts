/** /admin/audit shows the audit log by actor, action, subject and day, and exports it as CSV. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import { type AuditFilter, readAudit, recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { PAGE_LINES } from '../../database/looking-back.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { cursor, listUrl, olderUrl, onePage } from '../../web/lists.ts'

const PATH = '/admin/audit'
const FILE_LINES_MAX = 100_000
const FILE_READ_LINES = 1_000
const DAY_MS = 86_400_000

const word = z.string().trim().max(200).catch('')
/** A day in UTC, like the times of the log. */
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
      entries: Awaited<ReturnType<typeof readAudit>>
      filter: Omit<Asked, 'before'>
      file: string
      fileLinesMax: number
    }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function auditPages(app: FastifyInstance, { db }: Core): void {
  app.get(PATH, async (request, reply) => {
    const asked = Asked.parse(request.query)
    const { before, ...filter } = asked
    const found = await readAudit(db, filterOf(asked), PAGE_LINES + 1)
    const { rows: entries, next } = onePage(found, PAGE_LINES)
    return reply.page('admin/site/audit', {
      entries,
      filter,
      ...{ before, isSearch: Object.values(filter).some((value) => value !== ''), newest: PATH },
      older: olderUrl(PATH, filter, next),
      file: listUrl(`${PATH}.csv`, filter),
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
      .send(Readable.from(linesOf(db, filterOf(asked))))
  })
}

function filterOf({ actor, action, subject, from, to, before }: Asked): AuditFilter {
  return {
    actor: actor || undefined,
    action: action || undefined,
    subject: subject || undefined,
    from: from === '' ? undefined : new Date(from),
    // The filter includes the day `to`.
    to: to === '' ? undefined : new Date(Date.parse(to) + DAY_MS),
    before,
  }
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
