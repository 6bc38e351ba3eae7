/** /account: a member's balance and statement, searched and paged by its address. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { JournalKind } from '../database/tables.ts'
import type { Deps } from '../deps.ts'
import { purseOf, statementOf } from '../ledger/wallet.ts'
import { cursor, listUrl, searchText } from '../web/lists.ts'
import { sessionOf } from './session.ts'

const PAGE = '/account'
const KINDS = [
  'payment',
  'transfer',
  'refund',
  'reversal',
  'grant',
  'adjustment',
] as const satisfies JournalKind[]

const Asked = z.object({ q: searchText, kind: z.enum(KINDS).optional().catch(undefined), before: cursor })

/** Below requireUser. */
export function walletPage(app: FastifyInstance, { db }: Deps): void {
  app.get(PAGE, async (request, reply) => {
    const { q, kind, before } = Asked.parse(request.query)
    const { id } = sessionOf(request).user
    const [purse, statement] = await Promise.all([
      purseOf(db, id),
      statementOf(db, id, { text: q || undefined, kind, before }),
    ])
    const older = statement.next && listUrl(PAGE, { q, kind, before: statement.next })
    const isSearch = q !== '' || kind !== undefined
    return reply.page('account', { ...purse, statement, q, kind, kinds: KINDS, older, isSearch, before })
  })
}
