/** …/links/:slug/messages: what buyers left, and what the page of the link shows of it. spec/links 2.6. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/paging.ts'
import { cursor, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { navFor } from '../apps/area.ts'
import { actorOf, type OwnedRequest } from '../rights/owned.ts'
import type { Permitted } from '../rights/rights.ts'
import { addressOf, findLink, ONE, type ShownLink } from './links.page.ts'
import { judgeMessage, type LinkMessage, messagesOf } from './messages.ts'

const STATES = ['waiting', 'shown', 'hidden'] as const

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/messages': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      link: ShownLink
      address: string
      messages: LinkMessage[]
      state: (typeof STATES)[number]
      states: readonly (typeof STATES)[number][]
    }
  }
}

const Asked = z.object({ before: cursor, state: z.enum(STATES).catch('waiting') })

/** Registers the pages within a browser scope of signed-in members. */
export function messagePages(app: FastifyInstance, deps: Core): void {
  app.get(`${ONE}/messages`, async (request: OwnedRequest, reply) => {
    const { before, state } = Asked.parse(request.query)
    const { owned, link } = await findLink(request, deps, 'orders.read')
    const found = await messagesOf(deps.db, link.id, state, { before, limit: PAGE_LINES + 1 })
    const { rows: messages, next } = onePage(found, PAGE_LINES)
    const address = addressOf(request, link.slug)
    const filter = state === 'waiting' ? {} : { state }
    return reply.page('payment/links/messages', {
      ...{ owned, link, address, messages, state, states: STATES, before },
      nav: await navFor(deps, request, owned),
      newest: listUrl(`${address}/messages`, filter),
      older: olderUrl(`${address}/messages`, filter, next),
    })
  })

  for (const [act, to] of [
    ['show', 'shown'],
    ['hide', 'hidden'],
  ] as const) {
    const path = `${ONE}/messages/:transaction_id/${act}`
    app.post(path, { config: { page: `${ONE}/messages` } }, async (request: OwnedRequest, reply) => {
      const { slug, transaction_id } = request.params as unknown as { slug: string; transaction_id: string }
      const { payment_id } = request.params
      await judgeMessage(deps, payment_id, { slug, transaction_id, to }, actorOf(request))
      const text = request.locale.t.teamLinks.messagesTab[to === 'shown' ? 'nowShown' : 'nowHidden']
      return reply.done(`${addressOf(request, slug)}/messages`, { text })
    })
  }
}
