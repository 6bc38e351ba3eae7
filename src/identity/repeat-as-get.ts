/**
 * Redirects POST requests of other sites to the same request as GET (OIDC Core 3.1.2.1, RP-Initiated Logout 2), because
 * browsers send no session cookie with such a POST. It does nothing else, so it needs no form token.
 */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../platform/errors.ts'
import type { Parameters } from '../web/parameters.ts'
import { QUERY_BYTES_MAX, queryText } from './oauth/authorization-request.ts'

/** Mounts the redirect of each path in `from` to `to`. It throws invalid_request for a request that is too long. */
export async function repeatAsGet(
  app: FastifyInstance,
  { from, to }: { from: readonly string[]; to: string },
): Promise<void> {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  for (const path of from) {
    app.post<{ Querystring: Parameters; Body: Parameters | undefined }>(path, async (request, reply) => {
      const query = [request.query, request.body ?? {}]
        .map(queryText)
        .filter((text) => text !== '')
        .join('&')
      // A longer request would exceed the header limit, and no page could explain that.
      if (query.length > QUERY_BYTES_MAX) {
        throw new AppError('invalid_request', `The request is longer than ${QUERY_BYTES_MAX} bytes`)
      }
      return reply.header('cache-control', 'no-store').redirect(`${to}?${query}`, 303)
    })
  }
}
