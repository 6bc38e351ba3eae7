/** GET /launch: the shops and applications that a member uses, and those that the site offers. spec/registry 3.3. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { browserScope, requireUser, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { appsFor, type Cards, cardsOf, type PlacedApp } from './apps.ts'

declare module '../web/views.ts' {
  interface PageData {
    'home/launch': {
      /** What the member searched for; empty shows all. */
      q: string
      used: Cards
      shops: Cards
      apps: Cards
      /** Whether the member owns an application of either kind, listed or not. */
      isOwner: boolean
    }
  }
  interface PartData {
    'home/launch-cards': { cards: Cards }
  }
}

const QUERY_LENGTH_MAX = 100
/** The cards of a section, so that the page stays small. */
const CARDS_MAX = 18

/** GET /launch, for members. */
export async function launchPage(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.get('/launch', async (request, reply) => {
    const q = searched((request.query as Record<string, unknown>).q)
    const { used, offered } = await appsFor(deps, sessionOf(request).user, { q })
    const byName = offered.toSorted((a, b) => compare(a.name, b.name))
    const offeredOf = (kind: PlacedApp['kind']) =>
      cardsOf(
        byName.filter((app) => app.kind === kind),
        CARDS_MAX,
      )
    return reply.page('home/launch', {
      q,
      used: cardsOf(used, CARDS_MAX),
      shops: offeredOf('shop'),
      apps: offeredOf('app'),
      isOwner: await ownsAny(deps, sessionOf(request).user.id),
    })
  })
}

async function ownsAny({ db }: Pick<Core, 'db'>, user_id: bigint): Promise<boolean> {
  const { rows } = await sql<{ owns: boolean }>`
    select exists (select from payment_apps where applicant_id = ${user_id})
      or exists (select from oauth_apps where owner_id = ${user_id}) as owns`.execute(db)
  return rows[0]!.owns
}

const { compare } = new Intl.Collator('zh-CN', { sensitivity: 'base', numeric: true })

function searched(q: unknown): string {
  return typeof q === 'string' ? q.trim().slice(0, QUERY_LENGTH_MAX) : ''
}
