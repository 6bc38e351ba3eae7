/** /admin lists the payment applications to review and the decided ones, and takes the decisions of reviewers. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { lastProof } from '../../ledger/proofs.ts'
import {
  DECISIONS_WITH_REASON,
  decidedPaymentApps,
  reviewPaymentApp,
  reviewQueue,
} from '../../payment/apps/review.ts'
import { AppError } from '../../platform/errors.ts'
import { cursor, listUrl } from '../../web/lists.ts'
import { lastChecks } from './address-check.ts'
import { likeNamed } from './like-named.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/reviews': {
      queue: Awaited<ReturnType<typeof reviewQueue>>
      isFirst: boolean
      later: string | undefined
      checks: Awaited<ReturnType<typeof lastChecks>>
      alike: Awaited<ReturnType<typeof likeNamed>>
      decided: Awaited<ReturnType<typeof decidedPaymentApps>>
      books: Awaited<ReturnType<typeof lastProof>>
      reasonMissing: string | undefined
      now: Date
    }
  }
  interface PartData {
    'admin/apps/applicant': {
      app: {
        applicant_id: bigint
        username: string
        trust_level: number
        member_since: Date
        others?: bigint | null
      }
      now: Date
    }
  }
}

const PATH = '/admin'
const QUEUE_LINES = 50
const Asked = z.object({ after: cursor })

const ReviewForm = z.object({
  decision: z.enum(['approve', 'reject', 'suspend', 'reinstate']),
  reason: z.string().trim().max(500).default(''),
  seen_change_at: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .nullable()
    .default(null),
})

/** Registers the pages. The caller's scope must require an administrator. */
export function reviewPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showAdmin(reply, deps, Asked.parse(request.query)))

  app.post<{ Params: { payment_id: string } }>(
    '/admin/payment-applications/:payment_id/review',
    { preHandler: requireFreshSignIn(deps, { page: PATH }) },
    async (request, reply) => {
      const { payment_id } = request.params
      const form = ReviewForm.safeParse(request.body)
      if (!form.success)
        throw new AppError('invalid_form', 'The decision is missing or the reason is too long')
      const { decision, reason } = form.data
      if (DECISIONS_WITH_REASON.includes(decision) && reason === '')
        return showAdmin(reply, deps, { reasonMissing: payment_id })
      await reviewPaymentApp(deps, { payment_id, ...form.data, reviewer_id: sessionOf(request).user.id })
      return reply.redirect(PATH, 303)
    },
  )
}

/**
 * @param asked.after the queue continues after the application with this ID.
 * @param asked.reasonMissing the Payment ID of a rejection without a reason. The queue begins with that application.
 */
async function showAdmin(
  reply: FastifyReply,
  deps: Core,
  { after, reasonMissing }: { after?: bigint | undefined; reasonMissing?: string },
) {
  const [found, decided, books] = await Promise.all([
    reviewQueue(deps.db, { after, from: reasonMissing }, QUEUE_LINES + 1),
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
  const later = found.length > QUEUE_LINES ? listUrl(PATH, { after: queue.at(-1)!.id }) : undefined
  const data = {
    queue,
    isFirst: after === undefined,
    later,
    checks,
    alike,
    decided,
    books,
    reasonMissing,
    now: deps.clock(),
  }
  return reply.page('admin/apps/reviews', data, { status })
}
