/** /apps: a member's own applications, and the form that registers another. spec/registry 3.1. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { FormView } from '../../web/forms/forms.ts'
import { appsOf } from './acts.ts'
import { NewAppPageForm, OWNED_APPS_MAX, onThisSite, registerApp } from './apps.ts'
import { readAppForm, type Typed, unlessTaken } from './form.ts'
import { showNewSecret } from './new-secret.page.ts'
import { ownAppPages } from './own-app.page.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/apps': Awaited<ReturnType<typeof pageData>>
  }
  interface PartData {
    'identity/apps/fields': { of: FormView; values?: Typed }
    'identity/apps/shown-fields': { of: FormView; values?: Typed }
  }
}

/** GET and POST /apps, and the pages of one application. */
export async function appPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get('/apps', async (request, reply) => reply.page('identity/apps/apps', await pageData(request, deps)))

  app.post('/apps', async (request, reply) => {
    const { user } = sessionOf(request)
    const { apps_min_trust_level } = await deps.settings.read()
    if (user.trust_level < apps_min_trust_level) {
      throw new AppError('forbidden', `Registering needs trust level ${apps_min_trust_level}`)
    }
    const { values } = readAppForm(request, onThisSite(NewAppPageForm, deps.config))
    await deps.limits.hit('apps_created', user.id.toString())
    const registered = await unlessTaken(
      request,
      registerApp(deps.db, { ...values, owner_id: user.id, ip: request.ip }),
    )
    const { client_id, client_secret } = registered
    return showNewSecret(reply, deps, {
      page: `/apps/${client_id}/new-secret`,
      secret: { isNew: true, client_secret },
      done: { text: request.locale.t.identity.created.done(values.name) },
    })
  })

  await ownAppPages(app, deps)
}

async function pageData(request: FastifyRequest, deps: Core) {
  const { user } = sessionOf(request)
  const { apps_min_trust_level } = await deps.settings.read()
  const apps = await appsOf(deps.db, user.id)
  const ownedMax = apps.length < OWNED_APPS_MAX ? undefined : OWNED_APPS_MAX
  // The button above the list opens the form at this address.
  const isNew = 'new' in (request.query as object)
  return { user, apps, neededTrustLevel: apps_min_trust_level, ownedMax, isNew }
}
