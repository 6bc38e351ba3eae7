/** /admin/forum shows the state of the forum connection, and whether its member data is up to date. */
import type { FastifyInstance } from 'fastify'
import { type ForumState, forumState } from '../../accounts/forum/state.ts'
import { type Collision, collisions } from '../../accounts/local-groups.ts'
import type { Core } from '../../core/core.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/people/forum': ForumState & {
      forumUrl: string | undefined
      hasApi: boolean
      collisions: Collision[]
    }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function forumPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/forum', async (_request, reply) => {
    const [state, found] = await Promise.all([forumState(deps.db, deps.clock()), collisions(deps)])
    const { DISCOURSE_URL, DISCOURSE_API_KEY } = deps.config
    return reply.page('admin/people/forum', {
      ...state,
      forumUrl: DISCOURSE_URL,
      hasApi: DISCOURSE_API_KEY !== undefined,
      collisions: found,
    })
  })
}
