/** /admin/forum shows the state of the forum connection, and whether its member data is up to date. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readContacts } from '../../accounts/forum/contacts.ts'
import { type ForumState, forumState, lacksClaims } from '../../accounts/forum-sync/state.ts'
import { type Collision, collisions } from '../../accounts/local-groups.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import {
  findTipsApp,
  hasTips,
  lastTipAt,
  nameTipsApp,
  type TipsApp,
  tipsCandidates,
} from '../../payment/tips/setup.ts'
import { readForm } from '../../web/forms/forms.ts'
import { type Connection, connectionsOf, FORUM_LINES } from './connections.ts'
import { themeArchive } from './theme-archive.ts'

const THEME = '/admin/forum/tessera-theme.tar.gz'

/** The application of tips, or the applications that can become it. */
type TipsState = {
  isOn: boolean
  app: TipsApp | undefined
  /** Whether another application can still take its place. */
  isOpen: boolean
  candidates: Awaited<ReturnType<typeof tipsCandidates>>
  last_at: Date | null
}

const TipsForm = z.object({ payment_id: z.string().max(64) })

declare module '../../web/views.ts' {
  interface PageData {
    'admin/people/forum': ForumState & {
      connections: Connection[]
      forumUrl: string | undefined
      hasApi: boolean
      /** What the environment needs to connect a forum. */
      lines: string
      collisions: Collision[]
      webhookUrl: string
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
  app.get('/admin/forum', async (request, reply) => {
    const [state, found, isWithoutClaims, tips, contacts] = await Promise.all([
      forumState(deps.db, deps.clock()),
      collisions(deps),
      lacksClaims(deps.db),
      tipsState(deps),
      readContacts(deps.db),
    ])
    const { DISCOURSE_URL, DISCOURSE_API_KEY, PUBLIC_URL } = deps.config
    const hasApi = DISCOURSE_API_KEY !== undefined
    const facts = {
      ...{ state, contacts, config: deps.config, tips },
      lacksClaims: !hasApi && isWithoutClaims,
      isWalletShown: deps.settings.latest().forum_wallet === 'on',
    }
    return reply.page('admin/people/forum', {
      ...state,
      forumUrl: DISCOURSE_URL,
      connections: DISCOURSE_URL === undefined ? [] : connectionsOf(facts, request.locale),
      hasApi,
      lines: FORUM_LINES,
      collisions: found,
      webhookUrl: `${PUBLIC_URL}/forum/webhook`,
      serviceUrl: PUBLIC_URL,
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
    last_at: app === undefined ? null : await lastTipAt(db, app.id),
    candidates: isOpen ? await tipsCandidates(db) : [],
  }
}
