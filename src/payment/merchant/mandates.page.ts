/** …/mandates: the right to hold mandates, the linked sign-in application, and the mandates of an application. spec/mandates 3.4. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { cursor, listUrl, olderUrl, onePage, searchText } from '../../web/lists.ts'
import { navFor } from '../apps/area.ts'
import { revokeByTeam } from '../mandates/acts.ts'
import { type Mandate, mandatesOfApp } from '../mandates/mandates.ts'
import { askMandateRight, linkSignInApp, PURPOSE_LENGTH } from '../mandates/right.ts'
import { actorOf, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { Description } from '../wire-fields/fields.ts'
import { expectedPoints, type RightState, rightOf, signInAppsOf } from './mandates.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/merchant/mandates': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      right: RightState
      signInApps: Awaited<ReturnType<typeof signInAppsOf>>
      expected: bigint
      mandates: Mandate[]
      q: string
      address: string
    }
  }
}

const PATH = '/payment/applications/:payment_id/mandates'
const Asked = z.object({ q: searchText, before: cursor })
const Ask = z.object({
  purpose: z
    .string()
    .trim()
    .refine((text) => [...text].length >= PURPOSE_LENGTH.min && [...text].length <= PURPOSE_LENGTH.max),
})
const Link = z.object({ client_id: z.string().trim().max(100) })
const Reason = z.object({ reason: z.string().trim().pipe(Description) })

/** Registers the page within a browser scope of signed-in members. */
export function merchantMandatePages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request: OwnedRequest, reply) => showMandates(request, reply, deps))

  app.post(`${PATH}/ask`, async (request: OwnedRequest, reply) => {
    const { merchantMandates: m } = request.locale.t
    const { purpose } = readForm(request, Ask, { purpose: m.purposeHint })
    await askMandateRight(deps, request.params.payment_id, purpose, actorOf(request))
    return reply.done(`${pathOf(request)}/mandates`, { text: m.asked })
  })

  app.post(`${PATH}/link`, async (request: OwnedRequest, reply) => {
    const { merchantMandates: m } = request.locale.t
    const client_id = readForm(request, Link).client_id || null
    if (!(await linkSignInApp(deps, request.params.payment_id, client_id, actorOf(request))))
      throw new FormRefused({ client_id: m.notYours })
    return reply.done(`${pathOf(request)}/mandates`, { text: client_id === null ? m.unlinked : m.linked })
  })

  type One = OwnedRequest & { params: { mandate_id: string } }
  app.post(`${PATH}/:mandate_id/revoke`, async (request: OwnedRequest, reply) => {
    const { merchantMandates: m } = request.locale.t
    const { reason } = readForm(request, Reason, { reason: m.reasonWrong })
    const { mandate_id } = (request as One).params
    const act = { mandate_id, reason }
    const { reference } = await revokeByTeam(deps, request.params.payment_id, act, actorOf(request))
    return reply.done(`${pathOf(request)}/mandates`, { text: m.revoked(reference) })
  })
}

async function showMandates(request: OwnedRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { db, clock } = deps
  const { payment_id } = request.params
  const owned = await getPermitted(db, payment_id, sessionOf(request).user.id, 'orders.read')
  const { q, before } = Asked.parse(request.query ?? {})
  const text = q === '' ? undefined : q.replace(/^@/, '').toLowerCase()
  const address = `${pathOf(request)}/mandates`
  const [nav, right, signInApps, expected, found] = await Promise.all([
    navFor(deps, request, owned),
    rightOf(db, owned.id),
    signInAppsOf(db, owned.applicant_id),
    expectedPoints(db, owned.id, clock()),
    mandatesOfApp(db, owned.id, { limit: PAGE_LINES, after: before, text }, clock()),
  ])
  const { rows: mandates, next } = onePage(found.rows, PAGE_LINES)
  return reply.page('payment/merchant/mandates', {
    owned,
    nav,
    right,
    signInApps,
    expected,
    mandates,
    q,
    before,
    newest: listUrl(address, { q }),
    older: olderUrl(address, { q }, next),
    address,
  })
}
