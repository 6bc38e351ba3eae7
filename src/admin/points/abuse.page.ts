// This room: the administrators’ acts on points: refunds, reversals, grants, freezes; and the search for abuse.
// Verbs: quoteRefund, quoteReversal, readGrant, freezeWallet, freezeOrder, ringsOf.
// Tables: ledger_accounts, orders.
// Clauses: spec/points 2.4, 2.6.
/** /admin/abuse shows suspicious patterns: rings, velocity and clusters of new accounts. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import {
  type Cluster,
  clustersByAddress,
  clustersByRecipient,
  type Mover,
  moversOf,
  type Ring,
  ringsOf,
} from './abuse.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/abuse': { rings: Ring[]; movers: Mover[]; byAddress: Cluster[]; byRecipient: Cluster[] }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function abusePages(app: FastifyInstance, { db, clock }: Core): void {
  app.get('/admin/abuse', async (_request, reply) => {
    const now = clock()
    const [rings, movers, byAddress, byRecipient] = await Promise.all([
      ringsOf(db, now),
      moversOf(db, now),
      clustersByAddress(db, now),
      clustersByRecipient(db, now),
    ])
    return reply.page('admin/points/abuse', { rings, movers, byAddress, byRecipient })
  })
}
