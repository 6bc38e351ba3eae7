/** /admin/books shows the last proof of the books, starts a new one, and shows the daily closes and the platform's fees. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { movementsOf } from '../../ledger/journals.ts'
import { keepProof, lastDays, lastProof } from '../../ledger/proofs.ts'
import { cursor, olderUrl, onePage } from '../../web/lists.ts'
import { type ShownMovement, showMovement } from './movement-words.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/books': {
      last: Awaited<ReturnType<typeof lastProof>>
      days: Awaited<ReturnType<typeof lastDays>>
    }
    'admin/points/fees': PartData['parts/pager'] & {
      last: Awaited<ReturnType<typeof lastProof>>
      movements: ShownMovement[]
    }
  }
  interface PartData {
    'admin/points/books-state': { last: Awaited<ReturnType<typeof lastProof>> }
    'admin/points/days': { days: Awaited<ReturnType<typeof lastDays>> }
  }
}

const FEES = '/admin/books/fees'
const DAYS_SHOWN = 31

/** Registers the pages. The caller's scope must require an administrator. */
export function booksPages(app: FastifyInstance, deps: Core): void {
  // A proof of a large database takes minutes. Further requests wait for the running proof.
  let running: ReturnType<typeof keepProof> | undefined

  app.get('/admin/books', async (_request, reply) => {
    const [last, days] = await Promise.all([lastProof(deps), lastDays(deps.db, DAYS_SHOWN)])
    return reply.page('admin/points/books', { last, days })
  })

  app.get(FEES, async (request, reply) => {
    const { before } = z.object({ before: cursor }).parse(request.query)
    const { id } = await deps.db
      .selectFrom('ledger_accounts')
      .where('kind', '=', 'fee')
      .where('book', '=', 'live')
      .select('id')
      .executeTakeFirstOrThrow()
    const [last, found] = await Promise.all([
      lastProof(deps),
      movementsOf(deps.db, id, { before }, PAGE_LINES + 1),
    ])
    const { rows, next } = onePage(found, PAGE_LINES)
    const movements = rows.map((line) => showMovement(line, undefined, request.locale))
    const older = olderUrl(FEES, {}, next)
    return reply.page('admin/points/fees', { last, movements, older, before, newest: FEES })
  })

  app.post('/admin/books', async (request, reply) => {
    running ??= keepProof(deps).finally(() => {
      running = undefined
    })
    const { isSound } = await running
    const { books } = request.locale.t
    return reply.done('/admin/books', isSound ? { text: books.proven } : { text: books.fail, tone: 'warn' })
  })
}
