// This room: finds a member, an application, an order or a transfer by any number that people quote.
// Verbs: find, findOrders, findTransfers.
/** /admin/find finds anything by an ID, number or name, and links to its page. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { type Found, find } from './find.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/find/find': { q: string; found: Found[] }
  }
  interface PartData {
    'admin/find/find-box': { q?: string }
  }
}

const Asked = z.object({ q: z.string().trim().max(200).catch('') })

/** Registers the page, which redirects to a single result. The caller's scope must require an administrator. */
export function findPages(app: FastifyInstance, { db }: Core): void {
  app.get('/admin/find', async (request, reply) => {
    const { q } = Asked.parse(request.query)
    const found = q === '' ? [] : await find(db, q)
    if (found.length === 1) return reply.redirect(found[0]!.href, 303)
    return reply.page('admin/find/find', { q, found })
  })
}
