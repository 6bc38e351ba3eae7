/** …/links/:slug/picture: the form that uploads the picture of a link, or takes it away. spec/links 4.8. */
import type { FastifyInstance } from 'fastify'
import type { Core } from '../../core/core.ts'
import { acceptLogo, logoIn } from '../../web/logo-form.ts'
import { actorOf, type OwnedRequest } from '../rights/owned.ts'
import { addressOf, findLink, ONE } from './links.page.ts'
import { setPicture } from './pictures.ts'

/** Registers the form in a scope of its own, because other forms of a link carry no file. */
export async function pictureForm(app: FastifyInstance, deps: Core): Promise<void> {
  await app.register(async (scope) => {
    acceptLogo(scope)
    const config = { admission: 'slow', page: ONE } as const
    scope.post(`${ONE}/picture`, { config }, async (request: OwnedRequest, reply) => {
      const { owned, link } = await findLink(request, deps, 'settings.edit')
      const { teamLinks: l } = request.locale.t
      const { remove } = request.body as Record<string, unknown>
      const picture = remove === undefined ? logoIn(request) : null
      await setPicture(deps, owned.payment_id, { slug: link.slug, picture }, actorOf(request))
      const text = picture === null ? l.picture.removed : l.picture.uploaded
      return reply.done(addressOf(request, link.slug), { text })
    })
  })
}
