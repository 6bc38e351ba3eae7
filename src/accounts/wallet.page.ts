/**
 * /account: a member's balance and statement, of points or of play points, and the statement as a CSV file. The address has
 * the search and the page.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import type { Counts } from '../database/counts.ts'
import type { Page } from '../database/paging.ts'
import type { Book } from '../database/tables/columns.ts'
import type { JournalKind } from '../database/tables/ledger.ts'
import {
  countKinds,
  eachMovement,
  type Moved,
  movedThisMonth,
  type StatementFilter,
  statementOf,
  type Wallet,
  walletOf,
} from '../ledger/wallet.ts'
import { openFairQueue } from '../platform/fair-queue.ts'
import { BYTE_ORDER_MARK, CSV_TYPE, csvLine } from '../web/csv.ts'
import type { Locale } from '../web/languages.ts'
import { listUrl, olderUrl, Paged, searchText, shownRows } from '../web/lists.ts'
import { PeriodAsked, spanOf } from '../web/periods/periods.ts'
import { describeMovement, type Movement } from './movements.ts'
import { sessionOf } from './session/session.ts'

const PAGE = '/account'
const FILE = `${PAGE}/statement.csv`
const EXPORTED_MAX = 50_000
const KINDS = [
  'payment',
  'refund',
  'grant',
  'transfer',
  'adjustment',
  'reversal',
] as const satisfies JournalKind[]

const Asked = PeriodAsked.extend({
  q: searchText,
  kind: z.enum(KINDS).optional().catch(undefined),
  book: z.literal('test').optional().catch(undefined),
})
type Asked = z.output<typeof Asked>

declare module '../web/views.ts' {
  interface PageData {
    'accounts/wallet': Wallet &
      PartData['parts/pager'] & {
        play: Wallet
        moved: Moved | undefined
        isTest: boolean
        statement: Omit<Page<Movement>, 'next'>
        asked: Asked
        kinds: { kind: (typeof KINDS)[number] | undefined; href: string }[]
        counts: Counts<(typeof KINDS)[number]>
        /** Whether shops may be permitted to charge later. */
        hasMandates: boolean
        statementUrl: string
        fileUrl: string
        fileMax: number
      }
  }
  interface PartData {
    'accounts/notes': { notes: string[] }
  }
}

/** GET /account and /account/statement.csv, in a scope with requireUser. */
export function walletPage(app: FastifyInstance, deps: Core): void {
  const { db } = deps
  const queue = openFairQueue()

  app.get(PAGE, async (request, reply) => {
    const { asked, filter, book, zone } = await readRequest(request, deps)
    const { before, row } = Paged.parse(request.query)
    const { id } = sessionOf(request).user
    const [live, play, moved, { rows, next, looked_back_to }, counts] = await Promise.all([
      walletOf(db, id),
      walletOf(db, id, 'test'),
      movedThisMonth(db, id, { now: deps.clock(), zone, book }),
      statementOf(db, id, { ...filter, before }, { book }),
      countKinds(db, { user_id: id, book }, filter, KINDS),
    ])
    const isTest = book === 'test'
    return reply.page('accounts/wallet', {
      ...(isTest ? play : live),
      play,
      moved,
      isTest,
      statement: { rows: rows.map((line) => describeMovement(line, request.locale, isTest)), looked_back_to },
      asked,
      kinds: [undefined, ...KINDS].map((kind) => ({ kind, href: listUrl(PAGE, { ...asked, kind }) })),
      counts,
      hasMandates: deps.settings.latest().mandates === 'on',
      statementUrl: listUrl('/account/statement', { ...asked, q: undefined, kind: undefined }),
      fileUrl: listUrl(FILE, asked),
      fileMax: EXPORTED_MAX,
      older: olderUrl(PAGE, { ...asked, row: String(row + rows.length) }, next),
      shown: shownRows(row, rows.length, { isLast: next === undefined, count: counts[asked.kind ?? 'all'] }),
      newest: listUrl(PAGE, { book: asked.book }),
      isSearch: listUrl('', { ...asked, book: undefined }) !== '',
      before,
    })
  })

  app.get(FILE, async (request, reply) => {
    const { filter, book } = await readRequest(request, deps)
    const { id: user_id } = sessionOf(request).user
    await deps.limits.hit('order_files', user_id.toString())
    const movements = eachMovement(db, { user_id, book }, filter, EXPORTED_MAX)
    const today = deps.clock().toISOString().slice(0, 10)
    return reply
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="statement-${today}.csv"`)
      .type(CSV_TYPE)
      .send(Readable.from(queue.runPieces(fileOf(movements, request.locale, book === 'test'))))
  })
}

async function readRequest({ query }: FastifyRequest, { settings, clock }: Core) {
  const asked = Asked.parse(query)
  const { time_zone: zone } = await settings.read()
  const { q, kind } = asked
  const filter: StatementFilter = { text: q || undefined, kind, ...spanOf(asked, { now: clock(), zone }) }
  const book: Book = asked.book ?? 'live'
  return { asked, filter, book, zone }
}

/** The columns have the same names in every language, so that programs can read the file. */
const COLUMNS = [
  'time',
  'kind',
  'text',
  'application',
  'from',
  'to',
  'reason',
  'transaction_id',
  'amount',
  'balance',
]

async function* fileOf(
  movements: AsyncGenerator<Parameters<typeof describeMovement>[0][]>,
  locale: Locale,
  isTest: boolean,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(COLUMNS)
  for await (const lines of movements) {
    const written = lines.map((line) => {
      const { word, title } = describeMovement(line, locale, isTest)
      return csvLine([
        line.posted_at,
        word,
        title,
        line.app_name,
        line.from_username,
        line.to_username,
        line.reason,
        line.transaction_id,
        line.amount,
        line.balance,
      ])
    })
    yield written.join('')
  }
}
