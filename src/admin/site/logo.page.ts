/** POST /admin/settings/logo takes the site's logo as a file. */

import type { FastifyInstance } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { uploadLogo } from '../../core/site-logo.ts'
import { acceptLogo, logoIn } from '../../web/logo-form.ts'

/** Registers the upload. */
export async function logoPage(app: FastifyInstance, deps: Core): Promise<void> {
  await app.register(async (scope) => {
    acceptLogo(scope)
    const preHandler = requireFreshSignIn(deps)
    scope.post('/admin/settings/logo', { preHandler }, async (request, reply) => {
      await uploadLogo(deps, { picture: logoIn(request), ...actorOf(request), now: deps.clock() })
      return reply.done('/admin/settings?area=brand', { text: request.locale.t.settings.logoUploaded })
    })
  })
}
