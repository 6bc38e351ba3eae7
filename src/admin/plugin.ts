/** The administrator's pages, over the verbs of the other areas. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../accounts/reauthentication.ts'
import { browserScope, requireAdmin, requireUser, sessionOf } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { lastProof } from '../ledger/proofs.ts'
import { lastChecks } from '../payment/address-check.ts'
import {
  DECISIONS_WITH_REASON,
  decidedPaymentApps,
  reviewPaymentApp,
  reviewQueue,
} from '../payment/applications.ts'
import { cursor, listUrl } from '../web/lists.ts'
import { abusePages } from './abuse.ts'
import { appAdminPages } from './apps.ts'
import { auditPages } from './audit.ts'
import { booksPages } from './books.ts'
import { correctionPages } from './corrections.ts'
import { findPages } from './find.ts'
import { forumPages } from './forum.ts'
import { freezePages } from './freezes.ts'
import { likeNamed } from './like-named.ts'
import { memberPages } from './members.ts'
import { movementPages } from './movements.ts'
import { notificationAdminPages } from './notifications.ts'
import { paymentAppAdminPages } from './payment-apps.ts'
import { proposalPages } from './proposals.ts'
import { refundRequestPages } from './refund-requests.ts'
import { settingPages } from './settings.ts'

const PATH = '/admin'
const QUEUE_LINES = 50
const Asked = z.object({ before: cursor })

const ReviewForm = z.object({
  decision: z.enum(['approve', 'reject', 'suspend', 'reinstate']),
  reason: z.string().trim().max(500).default(''),
  seen_change_at: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
})

/** GET /admin, POST /admin/payment-applications/:payment_id/review. */
export async function adminPlugin(app: FastifyInstance, deps: Deps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireAdmin)

  findPages(app, deps)
  movementPages(app, deps)
  freezePages(app, deps)
  settingPages(app, deps)
  correctionPages(app, deps)
  proposalPages(app, deps)
  memberPages(app, deps)
  refundRequestPages(app, deps)
  appAdminPages(app, deps)
  auditPages(app, deps)
  paymentAppAdminPages(app, deps)
  notificationAdminPages(app, deps)
  booksPages(app, deps)
  forumPages(app, deps)
  abusePages(app, deps)
  app.get('/admin', async (request, reply) => showAdmin(reply, deps, Asked.parse(request.query)))

  app.post<{ Params: { payment_id: string } }>(
    '/admin/payment-applications/:payment_id/review',
    { preHandler: requireFreshSignIn(deps, { page: '/admin' }) },
    async (request, reply) => {
      const { payment_id } = request.params
      const form = ReviewForm.safeParse(request.body)
      if (!form.success)
        throw new AppError('invalid_form', 'The decision is missing or the reason is too long')
      const { decision, reason, seen_change_at } = form.data
      if (DECISIONS_WITH_REASON.includes(decision) && reason === '')
        return showAdmin(reply, deps, { reasonMissing: payment_id })
      const reviewer_id = sessionOf(request).user.id
      const review = { payment_id, decision, reason, reviewer_id, seen_change_at: seen_change_at ?? null }
      await reviewPaymentApp(deps, review)
      return reply.redirect('/admin', 303)
    },
  )
}

/** @param asked where the queue goes on, or the application whose rejection came without a reason. */
async function showAdmin(
  reply: FastifyReply,
  deps: Deps,
  { before, reasonMissing }: { before?: bigint | undefined; reasonMissing?: string },
) {
  const [found, decided, books] = await Promise.all([
    reviewQueue(deps.db, { after: before, from: reasonMissing }, QUEUE_LINES + 1),
    decidedPaymentApps(deps.db),
    lastProof(deps),
  ])
  const queue = found.slice(0, QUEUE_LINES)
  const [checks, alike] = await Promise.all([
    lastChecks(
      deps.db,
      queue.map(({ payment_id }) => payment_id),
    ),
    likeNamed(
      deps.db,
      queue.map(({ name }) => name),
    ),
  ])
  const status = reasonMissing === undefined ? 200 : 400
  // What was changed since stands among what waits.
  const settled = decided.filter((app) => app.status === 'suspended' || app.unreviewed_change_at === null)
  const later = found.length > QUEUE_LINES ? listUrl(PATH, { before: queue.at(-1)!.id }) : undefined
  const data = {
    queue,
    before,
    later,
    checks,
    alike,
    decided: settled,
    books,
    reasonMissing,
    now: deps.clock(),
  }
  return reply.page('admin', data, { status })
}
