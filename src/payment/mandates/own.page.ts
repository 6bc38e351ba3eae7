/**
 * /account/mandates: a member's own mandates, each with its charges and its history. To pause and to revoke is one click, and
 * works always. To resume or to allow more is agreeing, which may need a recent sign-in. spec/mandates 2.3.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isFresh, requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { cursor, olderUrl, onePage } from '../../web/lists.ts'
import { Amount, Day, MandateId } from '../wire-fields/fields.ts'
import { beginNextPeriod, changeOwn, pauseOwn, resumeOwn, revokeOwn, setNotice } from './acts.ts'
import type { AgreeingFault } from './agreeing.ts'
import {
  findMandate,
  type Mandate,
  mandatesOfMember,
  mostAddedBy,
  mostLeftOf,
  type NextCharge,
  nextChargeOf,
} from './mandates.ts'
import { latestLastDay } from './offers.ts'
import { type Charged, chargedSoFar, chargesOf, historyOf, refusalsOf, withShops } from './own.ts'
import { dayOf } from './periods.ts'
import { findShop, type Shop } from './shop.ts'

const PAGE = '/account/mandates'
const ONE = `${PAGE}/:mandate_id`

type OwnRequest = FastifyRequest<{ Params: { mandate_id: string } }>
type Own = Mandate & { asked_charge_max: bigint; asked_period_max: bigint; asked_ends_on: string | null }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/mandates/own-mandates': PartData['parts/pager'] & {
      mandates: { mandate: Mandate; shop: Shop; next: NextCharge | undefined }[]
    }
    'payment/mandates/own-mandate': PartData['parts/pager'] & {
      mandate: Own
      shop: Shop
      charges: Awaited<ReturnType<typeof chargesOf>>
      charged: Charged | undefined
      next: NextCharge | undefined
      refusals: Awaited<ReturnType<typeof refusalsOf>>
      history: Awaited<ReturnType<typeof historyOf>>
      /** The most that can be charged until the last day. */
      left: bigint
      /** The days between which the last day may be, and what the latest one adds to that. */
      endsOn: { min: string; max: string; more: bigint }
    }
  }
  interface PartData {
    'payment/mandates/next-charge': { mandate: Mandate; next: NextCharge | undefined }
    'payment/mandates/state': { mandate: Mandate }
    'payment/mandates/state-for-shops': { mandate: Mandate }
    'payment/mandates/caps': { mandate: Mandate }
  }
}

const Asked = z.object({ before: cursor })
const Points = z.string().trim().pipe(Amount).transform(BigInt)
const Version = z.coerce.number().int().catch(0)
const Terms = z.object({
  version: Version,
  charge_max: Points.optional(),
  period_max: Points.optional(),
  ends_on: z.string().trim().pipe(Day),
})
const Resumed = z.object({ version: Version })
const Notice = z.object({ notice: z.enum(['each', 'daily']) })

/** GET the list and one mandate, and its forms …/pause, …/revoke, …/resume, …/terms, …/notice and …/next-period. */
export async function ownMandatePages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const { before } = Asked.parse(request.query)
    const { id } = sessionOf(request).user
    const page = { limit: PAGE_LINES, after: before }
    const { rows: found } = await mandatesOfMember(deps.db, id, page, deps.clock())
    const { rows, next } = onePage(found, PAGE_LINES)
    const mandates = await withShops(deps.db, rows)
    return reply.page('payment/mandates/own-mandates', {
      mandates: mandates.map((one) => ({ ...one, next: nextChargeOf(one.mandate) })),
      before,
      newest: PAGE,
      older: olderUrl(PAGE, {}, next),
    })
  })

  app.get(ONE, async (request: OwnRequest, reply) => showOwn(request, reply, deps))

  app.post(`${ONE}/pause`, async (request: OwnRequest, reply) => {
    const mandate = await pauseOwn(deps, request.params.mandate_id, memberOf(request))
    const { done } = request.locale.t.ownMandates
    const { name } = await findShop(deps.db, mandate.app_id)
    return reply.done(pathOf(request), { text: mandate.status === 'ended' ? done.over : done.paused(name) })
  })

  app.post(`${ONE}/revoke`, async (request: OwnRequest, reply) => {
    const mandate = await revokeOwn(deps, request.params.mandate_id, memberOf(request))
    const { done } = request.locale.t.ownMandates
    const { name } = await findShop(deps.db, mandate.app_id)
    return reply.done(pathOf(request), { text: mandate.reason === 'member' ? done.revoked(name) : done.over })
  })

  agreeingForms(app, deps)

  app.post(`${ONE}/notice`, async (request: OwnRequest, reply) => {
    const { notice } = readForm(request, Notice)
    await setNotice(deps, request.params.mandate_id, notice, memberOf(request))
    const { done } = request.locale.t.ownMandates
    return reply.done(pathOf(request), { text: notice === 'each' ? done.noticeEach : done.noticeDaily })
  })

  app.post(`${ONE}/next-period`, async (request: OwnRequest, reply) => {
    await beginNextPeriod(deps, request.params.mandate_id, memberOf(request))
    return reply.done(pathOf(request), { text: request.locale.t.ownMandates.done.nextPeriod })
  })
}

/** The forms that may let more be charged than before. */
function agreeingForms(app: FastifyInstance, deps: Core): void {
  const askFreshSignIn = requireFreshSignIn(deps)

  app.post(`${ONE}/resume`, async (request: OwnRequest, reply) => {
    const { version } = readForm(request, Resumed)
    const act = await actOf(request, deps, version)
    const fault = await resumeOwn(deps, request.params.mandate_id, act)
    if (fault?.fault === 'not_fresh') return askFreshSignIn(request, reply)
    if (fault !== undefined) throw refusalOf(request, fault)
    const { app_id } = await getOwn(request, deps)
    const { name } = await findShop(deps.db, app_id)
    return reply.done(pathOf(request), { text: request.locale.t.ownMandates.done.resumed(name) })
  })

  app.post(`${ONE}/terms`, async (request: OwnRequest, reply) => {
    const mandate = await getOwn(request, deps)
    const words = wordsOf(request, mandate, deps.clock())
    const { version, ...terms } = readForm(request, Terms, words)
    const act = await actOf(request, deps, version)
    const fault = await changeOwn(deps, mandate.mandate_id, terms, act)
    if (fault?.fault === 'not_fresh') return askFreshSignIn(request, reply)
    if (fault?.fault === 'terms') {
      const { charge_max = mandate.charge_max, period_max = mandate.period_max } = terms
      const field =
        period_max > mandate.asked_period_max
          ? 'period_max'
          : charge_max > mandate.asked_charge_max || charge_max > period_max
            ? 'charge_max'
            : 'ends_on'
      throw new FormRefused({ [field]: words[field]! })
    }
    if (fault !== undefined) throw refusalOf(request, fault)
    const { t, points, dayOfYear } = request.locale
    const changed = await getOwn(request, deps)
    const left = points(mostLeftOf(changed))
    return reply.done(pathOf(request), {
      text: t.ownMandates.done.changed(left, dayOfYear(changed.ends_on!)),
    })
  })
}

const memberOf = (request: FastifyRequest) => ({ user_id: sessionOf(request).user.id, ip: request.ip })
const pathOf = ({ params }: OwnRequest) => `${PAGE}/${params.mandate_id}`

async function actOf(request: FastifyRequest, deps: Core, version: number) {
  const { reauthenticate_minutes } = await deps.settings.read()
  const fresh = isFresh(sessionOf(request), reauthenticate_minutes, deps.clock())
  return { ...memberOf(request), version, isFresh: fresh }
}

/** Why the member cannot agree, as a refusal of the form. */
function refusalOf({ locale }: FastifyRequest, found: AgreeingFault): FormRefused {
  const { t, points } = locale
  const { fault } = found
  if (fault === 'out_of_date' || fault === 'terms' || fault === 'not_fresh')
    return new FormRefused({ '': t.ownMandates.outOfDate }, 'conflict')
  const { title, text } = t.mandateOffer.states[fault]
  const limit = 'limit' in found ? [t.mandateOffer.limit(points(found.limit))] : []
  return new FormRefused({ '': [title + t.common.fullStop, text, ...limit] }, 'conflict')
}

/** Reads the reader's own mandate. Throws not_found for any other. */
async function getOwn(request: OwnRequest, { db, clock }: Core): Promise<Own> {
  const { mandate_id } = request.params
  const mandate = MandateId.safeParse(mandate_id).success
    ? await findMandate(db, { mandate_id }, clock())
    : undefined
  if (mandate === undefined || mandate.user_id !== sessionOf(request).user.id)
    throw new AppError('not_found', 'There is no such mandate')
  const asked = await db
    .selectFrom('mandates')
    .where('id', '=', mandate.id)
    .select(['asked_charge_max', 'asked_period_max', 'asked_ends_on'])
    .executeTakeFirstOrThrow()
  return { ...mandate, ...asked }
}

/** The days between which the last day of a mandate may be. */
function lastDays({ starts_on, asked_ends_on }: Own, now: Date): { min: string; max: string } {
  const today = dayOf(now)
  return { min: starts_on! > today ? starts_on! : today, max: latestLastDay(asked_ends_on, today) }
}

function wordsOf({ locale }: FastifyRequest, mandate: Own, now: Date): Record<string, string> {
  const { mandateOffer: o } = locale.t
  const { min, max } = lastDays(mandate, now)
  return {
    charge_max: o.chargeMaxWrong(locale.points(mandate.asked_charge_max)),
    period_max: o.periodMaxWrong(locale.points(mandate.asked_period_max)),
    ends_on: o.endsOnWrong(locale.dayOfYear(min), locale.dayOfYear(max)),
  }
}

async function showOwn(request: OwnRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { db, clock } = deps
  const mandate = await getOwn(request, deps)
  const { before } = Asked.parse(request.query ?? {})
  const [shop, found, charged, refusals, history] = await Promise.all([
    findShop(db, mandate.app_id),
    chargesOf(db, mandate.id, { before, limit: PAGE_LINES + 1 }),
    chargedSoFar(db, mandate.id),
    refusalsOf(db, mandate.id),
    historyOf(db, mandate.mandate_id),
  ])
  const { rows: charges, next } = onePage(found, PAGE_LINES)
  const days = lastDays(mandate, clock())
  return reply.page('payment/mandates/own-mandate', {
    mandate,
    shop,
    charges,
    charged,
    next: nextChargeOf(mandate),
    refusals,
    history,
    left: mostLeftOf(mandate),
    endsOn: { ...days, more: mostAddedBy(mandate, days.max) },
    before,
    newest: pathOf(request),
    older: olderUrl(pathOf(request), {}, next),
  })
}
