/** /account/statement: the movements of a time as a sheet for paper, between an opening and a closing balance. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../core/core.ts'
import { type StatementSheet, sheetOf } from '../ledger/wallet.ts'
import { refuseQuery } from '../web/forms/forms.ts'
import { cursor, listUrl } from '../web/lists.ts'
import { dayIn } from '../web/periods/days.ts'
import { daysOf, PeriodAsked, spanOf } from '../web/periods/periods.ts'
import { dayFault } from '../web/periods/wrong-days.ts'
import { describeMovement, type Movement } from './movements.ts'
import { sessionOf } from './session/session.ts'

const PAGE = '/account/statement'
/** A sheet has about four pages of paper, and less than 40 KB of HTML. */
const SHEET_LINES = 60

const Asked = PeriodAsked.extend({ book: z.literal('test').optional().catch(undefined), before: cursor })

/** The points that came in or went out, and in how many movements. */
type Sum = { points: bigint; rows: number }

declare module '../web/views.ts' {
  interface PageData {
    'accounts/statement': {
      statement: Omit<StatementSheet, 'lines' | 'earlier'> & { lines: Movement[] }
      came: Sum
      went: Sum
      days: { from: string | undefined; until: string }
      asked: PeriodAsked
      isTest: boolean
      now: Date
      /** The address at which the statement can be compared, and its host. */
      address: string
      host: string
      fileUrl: string
      walletUrl: string
      earlierUrl: string | undefined
      /** The row before which this sheet of a long statement ends, in its number. */
      sheetBefore: string | undefined
      /** Whether later movements of the time are on another sheet. */
      isContinued: boolean
      /** Whether the period goes on, so the last balance is not its closing one. */
      isInterim: boolean
      /** Whether the address asks for days that no sheet can show. */
      isRefused: boolean
    }
  }
}

/** GET /account/statement, in a scope with requireUser. */
export function statementPage(app: FastifyInstance, deps: Core): void {
  app.get(PAGE, async (request, reply) => {
    const { before, book, ...chosen } = Asked.parse(request.query)
    const { time_zone: zone } = await deps.settings.read()
    const now = deps.clock()
    const fault = dayFault(request)
    if (fault !== undefined) refuseQuery(request, { '': fault })
    const asked = Object.values(chosen).some(Boolean) ? chosen : { period: 'month' as const }
    const { from, until = dayIn(zone, now) } = daysOf(asked, { now, zone })
    const wallet = { user_id: sessionOf(request).user.id, book: book ?? ('live' as const) }
    const time = { ...spanOf(asked, { now, zone }), before }
    const { lines, earlier, ...balances } = await sheetOf(deps.db, wallet, time, SHEET_LINES)
    const { PUBLIC_URL } = deps.config
    const fixed = { book, from, until }
    return reply.page('accounts/statement', {
      statement: {
        ...balances,
        lines: lines.map((line) => describeMovement(line, request.locale, book === 'test')),
      },
      came: sumOf(lines.map(({ amount }) => amount).filter((amount) => amount > 0n)),
      went: sumOf(lines.map(({ amount }) => amount).filter((amount) => amount < 0n)),
      days: { from, until },
      asked: { ...chosen, ...asked },
      isTest: book === 'test',
      now,
      address: new URL(listUrl(PAGE, { ...fixed, before }), PUBLIC_URL).href,
      host: new URL(PUBLIC_URL).host,
      fileUrl: listUrl('/account/statement.csv', fixed),
      walletUrl: listUrl('/account', { book }),
      earlierUrl: earlier === undefined ? undefined : listUrl(PAGE, { ...fixed, before: earlier }),
      sheetBefore: before?.toString(),
      isContinued: before !== undefined,
      isInterim: until >= dayIn(zone, now),
      isRefused: fault !== undefined,
    })
  })
}

function sumOf(amounts: bigint[]): Sum {
  return { points: amounts.reduce((sum, amount) => sum + amount, 0n), rows: amounts.length }
}
