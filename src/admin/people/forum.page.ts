// This room: the administrators’ pages of members, groups and the forum.
// Verbs: memberPages, groupPages, forumPages.
/** /admin/forum shows the state of the forum connection, and whether its member data is up to date. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type ForumState, forumState, lacksClaims } from '../../accounts/forum-sync/state.ts'
import { type Collision, collisions } from '../../accounts/local-groups.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { findTipsApp, hasTips, nameTipsApp, type TipsApp, tipsCandidates } from '../../payment/tips/setup.ts'
import { readForm } from '../../web/forms/forms.ts'
import { themeArchive } from './theme-archive.ts'

const THEME = '/admin/forum/tessera-theme.tar.gz'

/** The application of tips, or the applications that can become it. */
type TipsState = {
  isOn: boolean
  app: TipsApp | undefined
  /** Whether another application can still take its place. */
  isOpen: boolean
  candidates: Awaited<ReturnType<typeof tipsCandidates>>
}

const TipsForm = z.object({ payment_id: z.string().max(64) })

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
      tips: TipsState
    }
  }
  interface PartData {
    'admin/people/forum-lists': { lists: ForumState['lists'] }
  }
}

/** Registers the page. The caller's scope must require an administrator. */
export function forumPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/forum', async (_request, reply) => {
    const [state, found, isWithoutClaims, tips] = await Promise.all([
      forumState(deps.db, deps.clock()),
      collisions(deps),
      lacksClaims(deps.db),
      tipsState(deps),
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
      tips,
    })
  })

  app.post('/admin/forum/tips', { preHandler: requireFreshSignIn(deps) }, async (request, reply) => {
    const { payment_id } = readForm(request, TipsForm)
    const { locale } = request
    await nameTipsApp(deps, payment_id, { user_id: sessionOf(request).user.id, ip: request.ip })
    return reply.done('/admin/forum#tips', { text: locale.t.console.forum.tipsNamed })
  })

  app.get(THEME, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('content-disposition', 'attachment; filename="tessera-theme.tar.gz"')
      .type('application/gzip')
      .send(await themeArchive(deps.config, (await deps.settings.read()).tips === 'on')),
  )
}

async function tipsState({ db, settings }: Core): Promise<TipsState> {
  const app = await findTipsApp(db)
  const isOpen = !(await hasTips(db))
  return {
    isOn: settings.latest().tips === 'on',
    app,
    isOpen,
    candidates: isOpen ? await tipsCandidates(db) : [],
  }
}
