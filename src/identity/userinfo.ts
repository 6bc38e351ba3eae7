/** GET and POST /oauth2/userinfo: the member behind an access token, as of this moment. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Parameters } from '../web/parameters.ts'
import { findAppOf, getBearer, readBearer } from './bearer.ts'
import { userinfo } from './claims.ts'
import { admitOrigin } from './cross-origin.ts'
import { singleValues } from './parameters.ts'

export const USERINFO_PATHS = ['/oauth2/userinfo', '/oauth-provider/userinfo']

export function userinfoRoutes(app: FastifyInstance, deps: Deps): void {
  for (const path of USERINFO_PATHS) {
    app.get(path, async (request, reply) => tell(request, reply, undefined, deps))

    app.post<{ Body: Parameters | undefined }>(path, async (request, reply) => {
      const { access_token } = singleValues(request.body ?? {})
      return tell(request, reply, access_token, deps)
    })
  }
}

async function tell(request: FastifyRequest, reply: FastifyReply, bodyToken: string | undefined, deps: Deps) {
  const token = readBearer(request.headers.authorization, bodyToken)
  try {
    const { user, app } = await getBearer(deps.db, token, deps.clock())
    admitOrigin(request, reply, app)
    return userinfo(user)
  } catch (error) {
    // A page must be able to read that its token has died. Whose that was is looked up for pages only.
    const app = request.headers.origin === undefined ? undefined : await findAppOf(deps.db, token)
    if (app !== undefined) admitOrigin(request, reply, app)
    throw error
  }
}
