/** /admin/audit: the audit log, by subject and action, page after page. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readAudit } from '../audit.ts'
import type { Deps } from '../deps.ts'
import { cursor } from '../web/lists.ts'

const PAGE_LINES = 50

const word = z.string().trim().max(200).catch('')
const Filter = z.object({ subject: word, action: word, before: cursor })

/** Below requireAdmin. */
export function auditPages(app: FastifyInstance, { db }: Deps): void {
  app.get('/admin/audit', async (request, reply) => {
    const { subject, action, before } = Filter.parse(request.query)
    const filter = { subject: subject || undefined, action: action || undefined, before }
    const found = await readAudit(db, filter, PAGE_LINES + 1)
    const entries = found.slice(0, PAGE_LINES)
    const next = found.length > PAGE_LINES ? entries.at(-1)!.id : undefined
    return reply.page('audit', { entries, subject, action, next })
  })
}
