/** /account: a member's balance and statement, of points or of play points. Its address has the search and the page. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import type { Page } from '../database/looking-back.ts'
import type { JournalKind } from '../database/tables/ledger.ts'
import { type StatementLine, statementOf, type Wallet, walletOf } from '../ledger/wallet.ts'
import { cursor, listUrl, olderUrl, searchText } from '../web/lists.ts'
import { sessionOf } from './session/session.ts'

const PAGE = '/account'
const KINDS = [
  'payment',
  'transfer',
  'refund',
  'reversal',
  'grant',
  'adjustment',
] as const satisfies JournalKind[]

const Asked = z.object({
  q: searchText,
  kind: z.enum(KINDS).optional().catch(undefined),
  before: cursor,
  book: z.literal('test').optional().catch(undefined),
})

declare module '../web/views.ts' {
  interface PageData {
    'accounts/wallet': Wallet &
      PartData['parts/pager'] & {
        play: Wallet
        isTest: boolean
        statement: Page<StatementLine>
        q: string
        kind: JournalKind | undefined
        kinds: typeof KINDS
      }
  }
}

/** GET /account, in a scope with requireUser. */
export function walletPage(app: FastifyInstance, { db }: Core): void {
  app.get(PAGE, async (request, reply) => {
    const { q, kind, before, book } = Asked.parse(request.query)
    const { id } = sessionOf(request).user
    const [live, play, statement] = await Promise.all([
      walletOf(db, id),
      walletOf(db, id, 'test'),
      statementOf(db, id, { text: q || undefined, kind, before }, book),
    ])
    return reply.page('accounts/wallet', {
      ...(book === 'test' ? play : live),
      play,
      isTest: book === 'test',
      statement,
      q,
      kind,
      kinds: KINDS,
      older: olderUrl(PAGE, { book, q, kind }, statement.next),
      newest: listUrl(PAGE, { book }),
      isSearch: q !== '' || kind !== undefined,
      before,
    })
  })
}
