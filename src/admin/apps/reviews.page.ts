/** /admin/reviews lists the payment applications to review and the decided ones, and takes the decisions of reviewers. */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Counts } from '../../database/counts.ts'
import { returnWithout } from '../../payment/apps/apps.ts'
import {
  countReviews,
  DECISIONS_WITH_REASON,
  decidedPaymentApps,
  getPaymentApp,
  reviewPaymentApp,
  reviewQueue,
} from '../../payment/apps/review.ts'
import { linkedSignInApps, type Other } from '../../shops/links.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { Confirmed } from '../../web/forms/reason.ts'
import { cursor, listUrl } from '../../web/lists.ts'
import { addressesOf, lastChecks } from './address-check.ts'
import { likeNamed } from './like-named.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/reviews': {
      queue: Awaited<ReturnType<typeof reviewQueue>>
      after: bigint | undefined
      later: string | undefined
      /** The sign-in applications that are one shop with these, by the ids of these. */
      links: Awaited<ReturnType<typeof linkedSignInApps>>
      checks: Awaited<ReturnType<typeof lastChecks>>
      /** The payment IDs of those with an address that can be checked. */
      checkable: Set<string>
      /** The callback address of those that have none of their own. */
      ownReturn: string
      alike: Awaited<ReturnType<typeof likeNamed>>
      decided: Awaited<ReturnType<typeof decidedPaymentApps>>
      status: 'waiting' | 'decided'
      counts: Counts<'waiting' | 'decided'>
      now: Date
    }
  }
  interface PartData {
    'admin/apps/one-shop': {
      app: { homepage: string | null }
      other: Other
      kind: 'sign_in' | 'payment'
    }
    'admin/apps/changed': {
      reviewed: Record<string, unknown>
      current: Record<string, unknown>
      /** Sign-in applications have none. */
      ownReturn?: string
    }
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

type OneApp = { Params: { payment_id: string } }

const PATH = '/admin/reviews'
const QUEUE_LINES = 50
const Asked = z.object({ after: cursor, show: z.enum(['waiting', 'decided']).catch('waiting') })

const ReviewForm = z.object({
  decision: z.enum(['approve', 'reject', 'suspend', 'reinstate']),
  reason: z.string().trim().max(500).default(''),
  seen_change_at: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .nullable()
    .default(null),
  confirmed: Confirmed,
})

/** Registers the pages. The caller's scope must require an administrator. */
export function reviewPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showReviews(reply, deps, Asked.parse(request.query)))

  const preHandler = requireFreshSignIn(deps)
  // The form is on the page of all reviews, and on the page of the application.
  for (const path of [`${PATH}/:payment_id`, '/admin/payment-applications/:payment_id/review'])
    app.post<OneApp>(path, { preHandler }, async (request, reply) => {
      const { payment_id } = request.params
      const { t } = request.locale
      const form = readForm(request, ReviewForm)
      const { decision, reason } = form
      if (DECISIONS_WITH_REASON.includes(decision) && reason === '')
        throw new FormRefused({ reason: t.admin.reasonMissing })
      const { name, username } = await getPaymentApp(deps.db, payment_id)
      if (decision === 'suspend' && form.confirmed === undefined)
        return confirmSuspension(reply, { name, reason })
      await reviewPaymentApp(deps, { payment_id, ...form, reviewer_id: sessionOf(request).user.id })
      return reply.done(PATH, {
        text: t.console.review.done[decision](name, username),
        link: { href: `/admin/payment-applications/${payment_id}`, label: t.console.review.see },
      })
    })
}

/** Says what a suspension stops before it takes effect. */
function confirmSuspension(
  reply: FastifyReply,
  { name, reason }: { name: string; reason: string },
): FastifyReply {
  const { t } = reply.request.locale
  const c = t.console.freeze
  return reply.page('confirm', {
    title: c.questions['payment-applications'].freeze(name),
    lead: c.texts['payment-applications'].freeze,
    facts: [],
    notes: [`${t.common.reason}${t.common.colon}${reason}`],
    action: reply.request.url,
    fields: { decision: 'suspend', reason, confirmed: 'yes' },
    button: c.titles['payment-applications'].freeze,
    isDanger: true,
    cancel: PATH,
  })
}

/** @param asked.after the queue continues after the application with this ID. */
async function showReviews(
  reply: FastifyReply,
  deps: Core,
  { after, show }: z.output<typeof Asked>,
): Promise<FastifyReply> {
  const isWaiting = show === 'waiting'
  const [found, decided, counts] = await Promise.all([
    isWaiting ? reviewQueue(deps.db, after ?? 0n, QUEUE_LINES + 1) : [],
    isWaiting ? [] : decidedPaymentApps(deps.db),
    countReviews(deps.db),
  ])
  const queue = found.slice(0, QUEUE_LINES)
  const [links, checks, alike] = await Promise.all([
    linkedSignInApps(
      deps.db,
      queue.map(({ id }) => id),
    ),
    lastChecks(
      deps.db,
      queue.map(({ payment_id }) => payment_id),
    ),
    likeNamed(
      deps.db,
      queue.map(({ payment_id: id, name, applicant_id: owner_id }) => ({ id, name, owner_id })),
    ),
  ])
  const later = found.length > QUEUE_LINES ? listUrl(PATH, { after: queue.at(-1)!.id }) : undefined
  const data = {
    queue,
    after,
    later,
    links,
    checks,
    checkable: new Set(
      queue.filter((app) => addressesOf(deps, app).length > 0).map(({ payment_id }) => payment_id),
    ),
    ownReturn: returnWithout(deps),
    alike,
    decided,
    status: show,
    counts,
    now: deps.clock(),
  }
  return reply.page('admin/apps/reviews', data)
}
