/** GET /.well-known/webauthn (WebAuthn Level 3, section 5.11): the other origin whose pages may use our passkeys. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import { relatedOrigin } from '../session/relying-party.ts'

const CACHE_SECONDS = 300

/** Answers with the payment origin where browsers need to be told of it, and 404 elsewhere. */
export async function relatedOriginsRoute(app: FastifyInstance, { config }: Core): Promise<void> {
  const origin = relatedOrigin(config)
  app.get('/.well-known/webauthn', async (_request, reply) => {
    if (origin === undefined) return reply.callNotFound()
    return reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`).send({ origins: [origin] })
  })
}
