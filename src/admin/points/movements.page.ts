/**
 * The pages of an order, a transfer, a journal and a member's wallet. Each shows its entries in the ledger, its history,
 * and the acts of an administrator.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { getMember } from '../../accounts/members.ts'
import { reasonOf } from '../../accounts/movements.ts'
import { isBannedOrSuspended } from '../../accounts/people/users.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { HISTORY_LINES, PAGE_LINES } from '../../database/paging.ts'
import { type Journal, LOOKED_THROUGH_MAX, movementsOf, readJournals } from '../../ledger/journals.ts'
import { type Notification, readNotifications } from '../../payment/notifications/redelivery.ts'
import { isExpired } from '../../payment/orders/orders.ts'
import { refundsOf } from '../../payment/orders/refunds.ts'
import { TRANSACTION_ID } from '../../payment/wire-fields/fields.ts'
import { AppError } from '../../platform/errors.ts'
import { cursor, idIn, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { PeriodAsked, spanOf } from '../../web/periods/periods.ts'
import { memberWithWallet } from '../find/of-member.ts'
import { findOrders, findTransfers } from '../find/transactions.ts'
import { inWords, type WordedEntry } from '../wording/audit-words.ts'
import { type ShownMovement, showMovement } from './movement-words.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/points/order': {
      order: Awaited<ReturnType<typeof findOrders>>[number]
      isOver: boolean
      journals: Journal[]
      notification: Notification | undefined
      history: WordedEntry[]
    }
    'admin/points/transfer': {
      transfer: Awaited<ReturnType<typeof findTransfers>>[number]
      journals: Journal[]
      history: WordedEntry[]
    }
    'admin/points/journal': { journal: Journal }
    'admin/points/wallet': PartData['parts/pager'] & {
      member: Awaited<ReturnType<typeof memberWithWallet>>
      account: Awaited<ReturnType<typeof getMember>>
      isBannedOrSuspended: boolean
      movements: ShownMovement[]
      asked: PeriodAsked
      /** The member whose movements with this one are shown, and through how many movements the search for them looks. */
      partner: { id: bigint; username: string } | undefined
      lookedThrough: number
      history: WordedEntry[]
    }
  }
  interface PartData {
    'admin/wording/history': { subject: string; history: WordedEntry[] }
    /** `isAlone`: on the page of the one journal. */
    'admin/points/journals': { journals: Journal[]; isAlone?: boolean }
    'admin/points/movements': { movements: ShownMovement[] }
  }
}

type OneTransaction = FastifyRequest<{ Params: { transaction_id: string } }>

/** `with`: only movements with this member. */
const Paged = z.object({ before: cursor, with: cursor })

/** Registers the pages. The caller's scope must require an administrator. */
export function movementPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/orders/:transaction_id', async (request: OneTransaction, reply) =>
    showOrder(request, reply, deps),
  )
  app.get('/admin/transfers/:transaction_id', async (request: OneTransaction, reply) =>
    showTransfer(request, reply, deps),
  )
  app.get('/admin/journals/:id', async (request: Numbered, reply) => {
    const [journal] = await readJournals(deps.db, [idOf(request)])
    if (journal === undefined) throw nothing()
    const { reason } = journal
    const isPlay = journal.book === 'test' && journal.kind === 'grant'
    const { t, dayOfYear } = request.locale
    const words = reason && reasonOf(reason, { t: t.account, day: dayOfYear }, isPlay)
    return reply.page('admin/points/journal', { journal: { ...journal, reason: words } })
  })
  app.get('/admin/wallets/:id', async (request: Numbered, reply) => showWallet(request, reply, deps))
}

function nothing(): AppError {
  return new AppError('not_found', 'There is no such thing')
}

type Numbered = FastifyRequest<{ Params: { id: string } }>
const idOf = ({ params }: Numbered) => idIn(params.id, 'thing')

async function showOrder(request: OneTransaction, reply: FastifyReply, { db, clock }: Core) {
  const { transaction_id } = request.params
  const [order] = TRANSACTION_ID.test(transaction_id) ? await findOrders(db, transaction_id) : []
  if (order === undefined) throw nothing()
  const [refunds, { rows: notifications }, history] = await Promise.all([
    refundsOf(db, order.id),
    readNotifications(db, { role: 'administrator' }, { transaction_id }, 1),
    readAudit(db, { subject: transaction_id }, HISTORY_LINES),
  ])
  const ids = [order.journal_id, ...refunds.map(({ journal_id }) => journal_id)]
  const journals = await readJournals(
    db,
    ids.filter((id) => id !== null),
  )
  const isOver = isExpired(order, clock())
  return reply.page('admin/points/order', {
    order,
    isOver,
    journals,
    notification: notifications[0],
    history: await inWords(db, request.locale, history),
  })
}

async function showTransfer(request: OneTransaction, reply: FastifyReply, { db }: Core) {
  const { transaction_id } = request.params
  const [transfer] = TRANSACTION_ID.test(transaction_id) ? await findTransfers(db, transaction_id) : []
  if (transfer === undefined) throw nothing()
  const ids = [transfer.journal_id, transfer.reversal_journal_id].filter((id) => id !== null)
  const [journals, history] = await Promise.all([
    readJournals(db, ids),
    readAudit(db, { subject: transaction_id }, HISTORY_LINES),
  ])
  const worded = await inWords(db, request.locale, history)
  return reply.page('admin/points/transfer', { transfer, journals, history: worded })
}

async function showWallet(request: Numbered, reply: FastifyReply, { db, settings, clock }: Core) {
  const user_id = idOf(request)
  const now = clock()
  const asked = PeriodAsked.parse(request.query)
  const { before, with: partner_id } = Paged.parse(request.query)
  const { time_zone: zone } = await settings.read()
  const filter = { ...spanOf(asked, { now, zone }), before, partner_id }
  const [member, account] = await Promise.all([memberWithWallet(db, user_id), getMember(db, user_id)])
  const { account_id } = member
  const [partner, found, history] = await Promise.all([
    partner_id === undefined ? undefined : memberWithWallet(db, partner_id),
    account_id === null ? [] : movementsOf(db, account_id, filter, PAGE_LINES + 1),
    readAudit(db, { subject: `user:${user_id}` }, HISTORY_LINES),
  ])
  const { rows, next } = onePage(found, PAGE_LINES)
  const path = `/admin/wallets/${user_id}`
  return reply.page('admin/points/wallet', {
    member,
    ...{ account, isBannedOrSuspended: isBannedOrSuspended(account, now) },
    movements: rows.map((line) => showMovement(line, user_id, request.locale)),
    history: await inWords(db, request.locale, history),
    asked,
    partner: partner && { id: partner.id, username: partner.username },
    lookedThrough: LOOKED_THROUGH_MAX,
    older: olderUrl(path, { ...asked, with: partner_id?.toString() }, next),
    before,
    newest: path,
    isSearch: partner !== undefined || listUrl('', asked) !== '',
  })
}
