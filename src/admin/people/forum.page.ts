// This room: the administrators’ pages of members, groups and the forum.
// Verbs: memberPages, groupPages, forumPages.
/** /admin/forum shows the state of the forum connection, and whether its member data is up to date. */
import type { FastifyInstance } from 'fastify'
import { type ForumState, forumState, lacksClaims } from '../../accounts/forum-sync/state.ts'
import { type Collision, collisions } from '../../accounts/local-groups.ts'
import type { Core } from '../../core/core.ts'
import { themeArchive } from './theme-archive.ts'

const THEME = '/admin/forum/tessera-theme.tar.gz'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/people/forum': ForumState & {
      forumUrl: string | undefined
      hasApi: boolean
      /** Without an API key only the answers at sign-in state rights and groups. */
      lacksClaims: boolean
      collisions: Collision[]
      isWalletShown: boolean
      /** The registrable domain decides, and only the operator knows it. This is what both addresses show. */
      serviceUrl: string
      themeUrl: string
    }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function forumPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/forum', async (_request, reply) => {
    const [state, found, isWithoutClaims] = await Promise.all([
      forumState(deps.db, deps.clock()),
      collisions(deps),
      lacksClaims(deps.db),
    ])
    const { DISCOURSE_URL, DISCOURSE_API_KEY } = deps.config
    const hasApi = DISCOURSE_API_KEY !== undefined
    return reply.page('admin/people/forum', {
      ...state,
      forumUrl: DISCOURSE_URL,
      hasApi,
      lacksClaims: !hasApi && isWithoutClaims,
      collisions: found,
      isWalletShown: deps.settings.latest().forum_wallet === 'on',
      serviceUrl: deps.config.PUBLIC_URL,
      themeUrl: THEME,
    })
  })

  app.get(THEME, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('content-disposition', 'attachment; filename="tessera-theme.tar.gz"')
      .type('application/gzip')
      .send(await themeArchive(deps.config)),
  )
}
