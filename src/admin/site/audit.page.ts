// This room: the administrators’ pages of settings, logo and audit log.
// Verbs: settingPages, findSettings, logoPage, auditPages.
/**
 * /admin/audit shows the audit log by actor, action, subject and day, and exports it as CSV. /admin/audit/refusals shows
 * the newest refusals of the security record.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import { type AuditFilter, countAudit, readAudit, recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { type Count, type Counts, countEach } from '../../database/counts.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../../web/csv.ts'
import { listUrl, olderUrl, onePage, Paged, shownRows } from '../../web/lists.ts'
import { PeriodAsked, type Span, spanOf } from '../../web/periods/periods.ts'
import { actWords } from '../wording/act-words.ts'
import {
  type AuditFact,
  aboutSubject,
  namesOf,
  subjectOf,
  subjectsOf,
  type WordedEntry,
  wordsOf,
} from '../wording/audit-words.ts'

const PATH = '/admin/audit'
const FILE_LINES_MAX = 100_000
const FILE_READ_LINES = 1_000
const REFUSALS_SHOWN = 100

const word = z.string().trim().max(200).catch('')
const Asked = PeriodAsked.extend({
  actor: word.transform((name) => name.replace(/^@/, '')),
  action: word,
  subject: word,
})
type Asked = z.output<typeof Asked>
const RefusalsAsked = PeriodAsked.extend({ kind: word })

declare module '../../web/views.ts' {
  interface PageData {
    'admin/site/audit': PartData['parts/pager'] & {
      entries: (WordedEntry & { about: ReturnType<typeof aboutSubject> })[]
      filter: Asked
      file: string
      inFile: Count
      fileLinesMax: number
    }
    'admin/site/refusals': {
      refusals: (Awaited<ReturnType<typeof newestRefusals>>[number] & { words: string })[]
      asked: z.output<typeof RefusalsAsked>
      kinds: { kind: string; href: string }[]
      counts: Awaited<ReturnType<typeof countRefusals>>
      shownMax: number
    }
  }
  interface PartData {
    'admin/site/audit-head': object
    'admin/site/audit-facts': { facts: AuditFact[] }
  }
}

/** Registers the pages. The caller's scope must require an administrator. */
export function auditPages(app: FastifyInstance, deps: Core): void {
  const { db } = deps
  app.get(PATH, async (request, reply) => {
    const filter = Asked.parse(request.query)
    const { before, row } = Paged.parse(request.query)
    const sought = await filterOf(deps, filter)
    const [found, inFile] = await Promise.all([
      readAudit(db, { ...sought, before }, PAGE_LINES + 1),
      countAudit(db, sought),
    ])
    const { rows, next } = onePage(found, PAGE_LINES)
    const { locale } = request
    const names = await namesOf(db, rows.flatMap(subjectsOf))
    return reply.page('admin/site/audit', {
      entries: wordsOf(locale, rows, names).map((entry) => ({
        ...entry,
        about: aboutSubject(locale, entry.subject, names),
      })),
      filter,
      ...{ before, isSearch: listUrl('', filter) !== '', newest: PATH },
      older: olderUrl(PATH, { ...filter, row: String(row + rows.length) }, next),
      shown: shownRows(row, rows.length, { isLast: next === undefined, count: inFile }),
      file: listUrl(`${PATH}.csv`, filter),
      inFile,
      fileLinesMax: FILE_LINES_MAX,
    })
  })

  app.get(`${PATH}.csv`, async (request, reply) => {
    const detail = Asked.parse(request.query)
    const actor_id = sessionOf(request).user.id
    const entry = { actor_id, action: 'audit.export', subject: 'audit_log', detail, ip: request.ip }
    await db.transaction().execute((tx) => recordAudit(tx, entry))
    return reply
      .type(CSV_TYPE)
      .header('content-disposition', 'attachment; filename="audit.csv"')
      .header('cache-control', 'no-store')
      .send(Readable.from(linesOf(db, await filterOf(deps, detail))))
  })

  app.get(`${PATH}/refusals`, async (request, reply) => {
    const asked = RefusalsAsked.parse(request.query)
    const { t } = request.locale
    const { time_zone: zone } = await deps.settings.read()
    const span = spanOf(asked, { now: deps.clock(), zone })
    const kinds = Object.keys(t.console.acts.refusals)
    const [found, counts] = await Promise.all([
      newestRefusals(db, { ...span, kind: asked.kind }, REFUSALS_SHOWN),
      countRefusals(db, kinds, span),
    ])
    const refusals = found.map((refusal) => ({ ...refusal, words: actWords(t, refusal.kind) }))
    return reply.page('admin/site/refusals', {
      refusals,
      asked,
      kinds: ['', ...kinds].map((kind) => ({ kind, href: listUrl(`${PATH}/refusals`, { ...asked, kind }) })),
      counts,
      shownMax: REFUSALS_SHOWN,
    })
  })
}

async function filterOf(
  { db, settings, clock }: Core,
  { actor, action, subject, ...time }: Asked,
): Promise<AuditFilter> {
  const { time_zone: zone } = await settings.read()
  return {
    actor: actor || undefined,
    action: action || undefined,
    subject: (await subjectOf(db, subject)) || undefined,
    ...spanOf(time, { now: clock(), zone }),
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

/** Reads the newest refusals of a time, of one kind or of all, by an index of their time. */
async function newestRefusals(db: Db, { kind, ...span }: Span & { kind: string }, limit: number) {
  return db
    .selectFrom('security_events as event')
    .leftJoin('users', 'users.id', 'event.user_id')
    .$if(kind !== '', (query) => query.where('event.kind', '=', kind))
    .where(isWithin(span))
    .orderBy('event.at', 'desc')
    .limit(limit)
    .select(['event.id', 'event.kind', 'event.user_id', 'event.client_id', 'event.address', 'event.at'])
    .select('users.username')
    .execute()
}

/** Counts the refusals of a time, of each of these kinds, by an index. */
export async function countRefusals(
  db: Db,
  kinds: readonly string[],
  span: Span = {},
): Promise<Counts<string>> {
  const within = isWithin(span)
  const queries = kinds.map((kind) => [
    kind,
    sql`select from security_events as event where kind = ${kind} and ${within} order by at`,
  ])
  return countEach(db, {
    all: sql`select from security_events as event where ${within} order by at`,
    ...Object.fromEntries(queries),
  })
}

function isWithin({ from, until }: Span) {
  const begun = from === undefined ? sql<SqlBool>`true` : sql<SqlBool>`event.at >= ${from}`
  return until === undefined ? begun : sql<SqlBool>`${begun} and event.at < ${until}`
}
