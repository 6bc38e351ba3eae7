/** /admin/books: the last proof of the books, and a new one at a push of a button. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { keepProof, lastProof } from '../ledger/proofs.ts'

/** Below requireAdmin. */
export function booksPages(app: FastifyInstance, deps: Deps): void {
  // In a large database a proof takes minutes: whoever asks meanwhile waits for the one that runs.
  let running: Promise<unknown> | undefined

  app.get('/admin/books', async (_request, reply) => reply.page('books', { last: await lastProof(deps) }))

  app.post('/admin/books', async (_request, reply) => {
    running ??= keepProof(deps).finally(() => {
      running = undefined
    })
    await running
    return reply.redirect('/admin/books', 303)
  })
}
