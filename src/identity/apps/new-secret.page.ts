/** Shows the secret of an OAuth application once, with what comes next. */
import type { FastifyReply } from 'fastify'
import type { Core } from '../../core/core.ts'
import { readOnce, showOnce } from '../../web/forms/shown-once.ts'
import type { Report } from '../../web/report.ts'
import { discoveryUrl } from './addresses.ts'
import { type Starter, startersFor } from './starters.ts'

/** The secret, which a public application lacks. `isNew`: of an application that was just made. */
type NewSecret = { client_secret?: string | undefined; isNew?: boolean }
type Made = Parameters<typeof startersFor>[0] & { name: string }

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/new-secret': NewSecret & {
      app: Made
      discoveryUrl: string
      starters: Starter[]
      back: string
      /** Whether the guides have this application of the reader. */
      isOwn: boolean
    }
  }
}

/** Answers a form that made a secret: redirects to the page that shows it once. */
export function showNewSecret(
  reply: FastifyReply,
  deps: Core,
  { page, secret, done }: { page: string; secret: NewSecret; done: Report },
): FastifyReply {
  showOnce(reply, page, secret, deps)
  return reply.done(page, done)
}

/** Answers GET of that page. Without a new secret it leads back to the application. */
export function newSecretPage(
  reply: FastifyReply,
  deps: Core,
  { app, ...shown }: { app: Made; back: string; isOwn: boolean },
): FastifyReply {
  const secret = readOnce<NewSecret>(reply, deps)
  if (secret === undefined) return reply.redirect(shown.back, 303)
  return reply.page('identity/apps/new-secret', {
    app,
    ...secret,
    ...shown,
    discoveryUrl: discoveryUrl(deps.config),
    starters: startersFor(app, deps.config, secret.client_secret),
  })
}
