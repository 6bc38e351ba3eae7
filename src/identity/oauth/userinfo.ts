/** GET and POST /oauth2/userinfo: the current claims about the member of an access token. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Parameters } from '../../web/parameters.ts'
import { USERINFO_PATHS } from '../apps/addresses.ts'
import { findAppOf, type GetBearer, readBearer } from './bearer.ts'
import { userinfo } from './claims.ts'
import { admitOrigin } from './cross-origin.ts'
import { singleValues } from './parameters.ts'

/** GET and POST /oauth2/userinfo and /oauth-provider/userinfo in the machine scope. */
export function userinfoRoutes(app: FastifyInstance, deps: Core, getBearer: GetBearer): void {
  const verbs = { db: deps.db, getBearer }
  for (const path of USERINFO_PATHS) {
    app.get(path, async (request, reply) => answer(request, reply, undefined, verbs))

    app.post<{ Body: Parameters | undefined }>(path, async (request, reply) => {
      const { access_token } = singleValues(request.body ?? {})
      return answer(request, reply, access_token, verbs)
    })
  }
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  bodyToken: string | undefined,
  { db, getBearer }: { db: Db; getBearer: GetBearer },
) {
  const token = readBearer(request.headers.authorization, bodyToken)
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
