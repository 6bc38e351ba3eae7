/** /admin/forum: whether what is known of the forum's members is as new as it should be. */
import type { FastifyInstance } from 'fastify'
import { forumState } from '../../accounts/forum/state.ts'
import type { Core } from '../../core/core.ts'

/** Below requireAdmin. */
export function forumPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/forum', async (_request, reply) => {
    const state = await forumState(deps.db, deps.clock())
    const { DISCOURSE_URL, DISCOURSE_API_KEY } = deps.config
    return reply.page('admin/forum', {
      ...state,
      forumUrl: DISCOURSE_URL,
      hasApi: DISCOURSE_API_KEY !== undefined,
    })
  })
}
