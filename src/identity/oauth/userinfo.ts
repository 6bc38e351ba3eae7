/** GET and POST /oauth2/userinfo: the current claims about the member of an access token. spec/sign-in 3.1. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { USERINFO_PATHS } from '../apps/addresses.ts'
import { findAppOf, type GetBearer, readBearer } from './bearer.ts'
import { userinfo } from './claims.ts'
import { admitOrigin } from './cross-origin.ts'

/** GET and POST /oauth2/userinfo and /oauth-provider/userinfo in the machine scope. */
export async function userinfoRoutes(
  app: FastifyInstance,
  { getBearer, ...deps }: Pick<Core, 'db'> & { getBearer: GetBearer },
): Promise<void> {
  ignoreBodies(app)
  for (const url of USERINFO_PATHS)
    app.route({
      method: ['GET', 'POST'],
      url,
      handler: (request, reply) => answer(request, reply, deps, getBearer),
    })
}

/** Takes a body of any type, because libraries send some, and reads nothing from it: the token comes in the header. */
function ignoreBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { db }: Pick<Core, 'db'>,
  getBearer: GetBearer,
) {
  const token = readBearer(request.headers.authorization)
  try {
    const { user, app } = await getBearer(token)
    admitOrigin(request, reply, app)
    return userinfo(user)
  } catch (error) {
    // A page must be able to read that its token has expired. Only pages need the search for the application.
    const app = request.headers.origin === undefined ? undefined : await findAppOf(db, token)
    if (app !== undefined) admitOrigin(request, reply, app)
    throw error
  }
}
