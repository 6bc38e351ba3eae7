/** /admin/payment-applications/:payment_id shows a payment application: its review, its terms and its history. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { HISTORY_LINES } from '../../database/paging.ts'
import { returnWithout } from '../../payment/apps/apps.ts'
import { getPaymentApp } from '../../payment/apps/review.ts'
import { type Terms, type TermsInForce, termsForm, termsOf, textsOf } from '../../payment/apps/terms.ts'
import { linkedSignInApp, type Other } from '../../shops/links.ts'
import { readForm } from '../../web/forms/forms.ts'
import { answerProposed } from '../proposals/proposal-words.ts'
import { actOrPropose } from '../proposals/proposals.ts'
import { inWords, type WordedEntry } from '../wording/audit-words.ts'
import { percentOf, shareOf } from '../wording/percent.ts'
import { addressesOf, checkAddresses, lastChecks } from './address-check.ts'
import { likeNamed } from './like-named.ts'

const PATH = '/admin/payment-applications/:payment_id'

type OneApp = FastifyRequest<{ Params: { payment_id: string } }>

type Check = Awaited<ReturnType<typeof lastChecks>> extends Map<string, infer One> ? One : never

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/payment-app': {
      app: Awaited<ReturnType<typeof getPaymentApp>>
      terms: TermsInForce
      history: WordedEntry[]
      check: Check | undefined
      isCheckable: boolean
      /** The callback address of those that have none of their own. */
      ownReturn: string
      /** The sign-in application that is one shop with it. */
      link: Other | undefined
      alike: Awaited<ReturnType<typeof likeNamed>>
      now: Date
      /** The rate as people type it. */
      feeRate: string
      isProposal: boolean
    }
  }
  interface PartData {
    'admin/apps/addresses': { check: Check | undefined }
  }
}

/** The form takes percent, and the terms are kept as a share. An empty field stays empty; anything else is refused. */
const TermsForm = termsForm.extend({
  fee_rate: z
    .string()
    .transform((typed) => (typed.trim() === '' ? '' : (shareOf(typed) ?? 'invalid')))
    .pipe(termsForm.shape.fee_rate),
})

/** The page of reviews has the form too. */
const CheckForm = z.object({ from: z.literal('reviews').optional().catch(undefined) })

/** Registers the pages. The caller's scope must require an administrator. */
export function paymentAppAdminPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request: OneApp, reply) => showPaymentApp(request, reply, deps))

  const preHandler = requireFreshSignIn(deps)
  app.post(`${PATH}/terms`, { preHandler }, async (request: OneApp, reply) => {
    const { t } = request.locale
    const terms = readForm(request, TermsForm, t.console.appTerms.problems)
    const { payment_id } = request.params
    const act = { kind: 'terms', payment_id, terms: textsOf(terms), reason: terms.reason } as const
    const outcome = await actOrPropose(deps, act, actorOf(request))
    if (outcome.state === 'proposed') return answerProposed(reply, outcome.earlier)
    const { name } = await getPaymentApp(deps.db, payment_id)
    return reply.done(pathOf(request), { text: t.console.appTerms.done(name, writtenTerms(request, terms)) })
  })

  app.post(`${PATH}/check`, async (request: OneApp, reply) => {
    const { payment_id } = request.params
    const { from } = readForm(request, CheckForm)
    await checkAddresses(deps, payment_id, actorOf(request))
    const page = from === 'reviews' ? '/admin/reviews' : `${pathOf(request)}#addresses`
    return reply.done(page, { text: request.locale.t.console.review.checked })
  })
}

/** Returns terms in words. */
function writtenTerms(
  { locale }: OneApp,
  { fee_rate, daily_payments_max, daily_transfers_max }: Terms,
): string {
  const c = locale.t.console.appTerms
  const limit = (max: bigint | null) => (max === null ? c.noLimit : locale.points(max))
  const fee = fee_rate === null ? c.siteRate : `${percentOf(fee_rate)}%`
  return c.written(fee, limit(daily_payments_max), limit(daily_transfers_max))
}

function pathOf({ params }: OneApp): string {
  return `/admin/payment-applications/${encodeURIComponent(params.payment_id)}`
}

async function showPaymentApp(request: OneApp, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const app = await getPaymentApp(deps.db, request.params.payment_id)
  const [{ second_approver }, terms, history, checks, link, alike] = await Promise.all([
    deps.settings.read(),
    termsOf(deps, app),
    readAudit(deps.db, { subject: app.payment_id, action: 'payment_app' }, HISTORY_LINES),
    lastChecks(deps.db, [app.payment_id]),
    linkedSignInApp(deps.db, app.id),
    likeNamed(deps.db, [{ id: app.payment_id, name: app.name, owner_id: app.applicant_id }]),
  ])
  const check = checks.get(app.payment_id)
  const data = {
    app,
    terms,
    history: await inWords(deps.db, request.locale, history),
    check,
    isCheckable: addressesOf(deps, app).length > 0,
    ownReturn: returnWithout(deps),
    link,
    alike,
    now: deps.clock(),
    feeRate: terms.fee_rate === null ? '' : percentOf(terms.fee_rate),
    isProposal: second_approver === 'on',
  }
  return reply.page('admin/apps/payment-app', data)
}
