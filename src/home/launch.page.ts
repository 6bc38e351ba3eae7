/** GET /launch: the shops and applications that a member uses, and those that the site offers. spec/registry 3.3. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { appsFor, type PlacedApp } from './apps.ts'

declare module '../web/views.ts' {
  interface PageData {
    'home/launch': {
      /** What the member searched for; empty shows all. */
      q: string
      used: PlacedApp[]
      shops: PlacedApp[]
      apps: PlacedApp[]
    }
  }
  interface PartData {
    'home/launch-cards': { apps: PlacedApp[] }
  }
}

const QUERY_LENGTH_MAX = 100

/** GET /launch, for members. */
export async function launchPage(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.get('/launch', async (request, reply) => {
    const q = searched((request.query as Record<string, unknown>).q)
    const { used, offered } = await appsFor(deps, sessionOf(request).user)
    const isFound = (app: PlacedApp) => holds(app, q)
    const byName = offered.filter(isFound).toSorted((a, b) => compare(a.name, b.name))
    return reply.page('home/launch', {
      q,
      used: used.filter(isFound),
      shops: byName.filter(({ kind }) => kind === 'shop'),
      apps: byName.filter(({ kind }) => kind === 'app'),
    })
  })
}

const { compare } = new Intl.Collator('zh-CN', { sensitivity: 'base', numeric: true })

function searched(q: unknown): string {
  return typeof q === 'string' ? q.trim().slice(0, QUERY_LENGTH_MAX) : ''
}

function holds({ name, description, owner_username }: PlacedApp, q: string): boolean {
  const text = `${name} ${description} @${owner_username ?? ''}`
  return text.toLowerCase().includes(q.toLowerCase())
}
