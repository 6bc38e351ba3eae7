/** POST /admin/settings/logo takes the site's logo as a file. */

import type { FastifyInstance } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { LOGO_BYTES_MAX, uploadLogo } from '../../core/site-logo.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import { acceptFile } from '../../web/parameters.ts'

/** Registers the upload in a scope of its own, because no other form of the service carries files. */
export async function logoPage(app: FastifyInstance, deps: Core): Promise<void> {
  await app.register(async (scope) => {
    acceptFile(scope, 'logo', LOGO_BYTES_MAX)
    const preHandler = requireFreshSignIn(deps)
    scope.post('/admin/settings/logo', { preHandler }, async (request, reply) => {
      const { logo } = (request.body ?? {}) as { logo?: unknown }
      const { settings } = request.locale.t
      const refused = () => new FormRefused({ logo: settings.logo.refused })
      if (!Buffer.isBuffer(logo) || logo.length === 0) throw refused()
      await uploadLogo(deps, { file: logo, ...actorOf(request), now: deps.clock() }).catch(
        (error: unknown) => {
          throw error instanceof AppError && error.code === 'invalid_form' ? refused() : error
        },
      )
      return reply.done('/admin/settings?area=brand', { text: settings.logoUploaded })
    })
  })
}
