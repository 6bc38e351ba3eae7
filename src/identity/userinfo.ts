/** GET and POST /oauth2/userinfo: the member behind an access token, as of this moment. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Parameters } from '../web/parameters.ts'
import { getBearer, readBearer } from './bearer.ts'
import { userinfo } from './claims.ts'
import { singleValues } from './parameters.ts'

const PATHS = ['/oauth2/userinfo', '/oauth-provider/userinfo']

export function userinfoRoutes(app: FastifyInstance, deps: Deps): void {
  for (const path of PATHS) {
    app.get(path, async (request) => {
      const { user } = await getBearer(deps.db, readBearer(request.headers.authorization), deps.clock())
      return userinfo(user)
    })

    app.post<{ Body: Parameters | undefined }>(path, async (request) => {
      const { access_token } = singleValues(request.body ?? {})
      const token = readBearer(request.headers.authorization, access_token)
      const { user } = await getBearer(deps.db, token, deps.clock())
      return userinfo(user)
    })
  }
}
