/** /admin/payment-applications/:payment_id shows a payment application: its review, its terms and its history. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { getPaymentApp } from '../../payment/apps/review.ts'
import {
  setTerms,
  TERMS_FIELDS,
  type Terms,
  type TermsInForce,
  termsForm,
  termsOf,
} from '../../payment/apps/terms.ts'
import { actorOf, HISTORY_LINES } from '../acts/form.ts'
import { proposeTerms, type StandingProposal } from '../proposals/proposals.ts'
import { percentOf, shareOf } from '../wording/percent.ts'
import { checkAddresses, lastChecks } from './address-check.ts'
import { likeNamed } from './like-named.ts'

const PATH = '/admin/payment-applications/:payment_id'

type OneApp = FastifyRequest<{ Params: { payment_id: string } }>
type Field = (typeof TERMS_FIELDS)[number]

type Check = Awaited<ReturnType<typeof lastChecks>> extends Map<string, infer One> ? One : never

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/payment-app': {
      app: Awaited<ReturnType<typeof getPaymentApp>>
      terms: TermsInForce
      history: Awaited<ReturnType<typeof readAudit>>
      check: Check | undefined
      alike: Awaited<ReturnType<typeof likeNamed>>
      now: Date
      values: Record<string, unknown>
      problems: Field[]
      standing: StandingProposal | undefined
      isProposal: boolean
    }
  }
  interface PartData {
    'admin/apps/addresses': { check: Check | undefined }
  }
}

/** Refused terms: the entered values, and the invalid fields or the proposal that blocks them. */
type Filled = { values: Record<string, unknown>; problems: Field[]; standing?: StandingProposal }

/** Registers the pages. The caller's scope must require an administrator. */
export function paymentAppAdminPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request: OneApp, reply) => showPaymentApp(request, reply, deps, undefined))

  const guarded = {
    preHandler: requireFreshSignIn(deps, { page: (request) => pathOf(request as OneApp) }),
  }
  app.post(`${PATH}/terms`, guarded, async (request: OneApp, reply) => {
    const typed = (request.body ?? {}) as Record<string, unknown>
    const form = termsForm.safeParse({ ...typed, fee_rate: shareIn(typed.fee_rate) })
    if (!form.success) {
      const problems = TERMS_FIELDS.filter((name) => form.error.issues.some(({ path }) => path[0] === name))
      return showPaymentApp(request, reply, deps, { values: typed, problems })
    }
    const { payment_id } = request.params
    const by = actorOf(request)
    const { t } = request.locale
    if (await setTerms(deps, payment_id, form.data, by)) {
      const { name } = await getPaymentApp(deps.db, payment_id)
      return reply.done(pathOf(request), {
        text: t.console.appTerms.done(name, writtenTerms(request, form.data)),
      })
    }
    const standing = await proposeTerms(deps, payment_id, form.data, by)
    const text = t.console.proposals.proposed
    if (standing === undefined) return reply.done('/admin/proposals', { text, tone: 'warn' })
    return showPaymentApp(request, reply, deps, { values: typed, problems: [], standing })
  })

  app.post(`${PATH}/check`, async (request: OneApp, reply) => {
    const { payment_id } = request.params
    await checkAddresses(deps, payment_id, actorOf(request))
    return reply.done(`${pathOf(request)}#addresses`, { text: request.locale.t.console.review.checked })
  })
}

/** Returns typed percent as a share. An empty field stays empty, and anything else is refused as it is. */
function shareIn(typed: unknown): unknown {
  return typeof typed === 'string' && typed.trim() !== '' ? (shareOf(typed) ?? 'invalid') : typed
}

/** Returns terms in words. */
function writtenTerms(
  { locale }: OneApp,
  { fee_rate, daily_payments_max, daily_transfers_max }: Terms,
): string {
  const c = locale.t.console.appTerms
  const limit = (max: bigint | null) => (max === null ? c.noLimit : locale.points(max))
  const fee = fee_rate === null ? c.siteRate : `${percentOf(fee_rate)} %`
  return c.written(fee, limit(daily_payments_max), limit(daily_transfers_max))
}

function pathOf({ params }: OneApp): string {
  return `/admin/payment-applications/${encodeURIComponent(params.payment_id)}`
}

async function showPaymentApp(
  request: OneApp,
  reply: FastifyReply,
  deps: Core,
  filled: Filled | undefined,
): Promise<FastifyReply> {
  const app = await getPaymentApp(deps.db, request.params.payment_id)
  const [{ second_approver }, terms, history, checks, alike] = await Promise.all([
    deps.settings.read(),
    termsOf(deps, app),
    readAudit(deps.db, { subject: app.payment_id, action: 'payment_app' }, HISTORY_LINES),
    lastChecks(deps.db, [app.payment_id]),
    likeNamed(deps.db, [app.name]),
  ])
  const check = checks.get(app.payment_id)
  const data = {
    app,
    terms,
    history,
    check,
    alike,
    now: deps.clock(),
    values: filled?.values ?? {
      ...terms,
      fee_rate: terms.fee_rate === null ? '' : percentOf(terms.fee_rate),
    },
    problems: filled?.problems ?? [],
    standing: filled?.standing,
    isProposal: second_approver === 'on',
  }
  const status = filled === undefined ? 200 : filled.standing === undefined ? 400 : 409
  return reply.page('admin/apps/payment-app', data, { status })
}
