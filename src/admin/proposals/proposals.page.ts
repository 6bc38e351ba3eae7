/** /admin/proposals lists the proposals that wait for a second administrator, and the decided ones. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf, type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { BoundsCrossed } from '../../core/settings.ts'
import type { Counts } from '../../database/counts.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { ReasonForm } from '../../web/forms/reason.ts'
import type { Locale } from '../../web/languages.ts'
import { cursor, idIn, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { settingLabel } from '../wording/setting-words.ts'
import { type ProposedFact, proposedFacts, proposedTitle, type Transaction } from './proposal-words.ts'
import { approveProposal, countProposals, declineProposal, readProposal, readProposals } from './proposals.ts'

type Listed = Awaited<ReturnType<typeof readProposals>>[number] & { title: string; facts: ProposedFact[] }

declare module '../../web/views.ts' {
  interface PageData {
    'admin/proposals/proposals': PartData['parts/pager'] & {
      viewer: Session['user']
      proposals: Listed[]
      show: 'open' | 'all'
      counts: Counts<'open'>
      now: Date
      /** Whether acts wait for a second administrator. */
      isOn: boolean
    }
  }
}

const PATH = '/admin/proposals'
const ALL = `${PATH}?show=all`

const Asked = z.object({ show: z.enum(['open', 'all']).catch('open'), before: cursor })
type OneProposal = FastifyRequest<{ Params: { id: string } }>

/** Registers the pages. The caller's scope must require an administrator. */
export function proposalPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => {
    const { show, before } = Asked.parse(request.query)
    const [found, counts] = await Promise.all([
      readProposals(deps.db, { isOpen: show === 'open', before }, PAGE_LINES + 1),
      countProposals(deps.db),
    ])
    const { rows, next } = onePage(found, PAGE_LINES)
    const things = await transactionsOf(deps.db, rows)
    const proposals = rows.map((row) => ({ ...row, ...inWords(request.locale, row, things) }))
    const older = olderUrl(PATH, { show }, next)
    const newest = listUrl(PATH, { show })
    const { user: viewer } = sessionOf(request)
    const isOn = deps.settings.latest().second_approver === 'on'
    const data = { viewer, proposals, show, counts, isOn, older, before, newest, now: deps.clock() }
    return reply.page('admin/proposals/proposals', data)
  })

  const preHandler = requireFreshSignIn(deps)
  app.post(`${PATH}/:id/approve`, { preHandler }, async (request: OneProposal, reply) => {
    const id = idOf(request)
    await approveProposal(deps, id, actorOf(request)).catch((error: unknown) => {
      throw error instanceof BoundsCrossed ? crossedRefusal(request.locale, error) : error
    })
    const { t } = request.locale
    return reply.done(ALL, { text: t.console.proposals.done.approved(await titleOf(request, deps, id)) })
  })
  app.post(`${PATH}/:id/decline`, { preHandler }, async (request: OneProposal, reply) => {
    const { reason } = readForm(request, ReasonForm)
    const id = idOf(request)
    const by = actorOf(request)
    const decision = await declineProposal(deps, id, { ...by, reason })
    const { done } = request.locale.t.console.proposals
    return reply.done(ALL, { text: done[decision](await titleOf(request, deps, id)) })
  })
}

/** Returns the refusal of an approval that leaves no transfer possible. It names both settings. */
function crossedRefusal(locale: Locale, { least, most }: BoundsCrossed): FormRefused {
  const { crossed } = locale.t.console.proposals
  return new FormRefused({ '': crossed(settingLabel(locale, least), settingLabel(locale, most)) }, 'conflict')
}

function idOf({ params }: OneProposal): bigint {
  return idIn(params.id, 'proposal')
}

type Stored = Awaited<ReturnType<typeof readProposal>>

function inWords(locale: Locale, { act }: Pick<Stored, 'act'>, things: Map<string, Transaction>) {
  return { title: proposedTitle(locale, act), facts: proposedFacts(locale, act, things) }
}

/** Reads the orders and transfers that some proposals are about, by their ids. */
async function transactionsOf(
  db: Core['db'],
  proposals: Pick<Stored, 'act'>[],
): Promise<Map<string, Transaction>> {
  const ids = proposals.flatMap(({ act }) => ('transaction_id' in act ? [act.transaction_id] : []))
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Transaction & { transaction_id: string }>`
    select o.transaction_id, o.description as title, app.name as shop, payer.username as payer
    from orders as o join payment_apps as app on app.id = o.app_id left join users as payer on payer.id = o.payer_id
    where o.transaction_id = any(${ids}::text[])
    union all
    select t.transaction_id, concat('@', name_now(t.from_user_id, t.from_username), ' → @', name_now(t.to_user_id, t.to_username)),
      app.name, null
    from transfers as t join payment_apps as app on app.id = t.app_id where t.transaction_id = any(${ids}::text[])`.execute(
    db,
  )
  return new Map(rows.map(({ transaction_id, ...thing }) => [transaction_id, thing]))
}

async function titleOf({ locale }: FastifyRequest, { db }: Core, id: bigint): Promise<string> {
  return proposedTitle(locale, (await readProposal(db, id)).act)
}
