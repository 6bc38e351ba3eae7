/**
 * Requests that another site may post through the member's browser (OIDC Core 3.1.2.1, RP-Initiated Logout 2): the
 * session cookie does not travel on such a post, so it is answered with a redirect to the same request as GET. That
 * is all it does, so it needs no form token.
 */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../platform/errors.ts'
import type { Parameters } from '../web/parameters.ts'
import { QUERY_BYTES_MAX, queryText } from './oauth/authorization-request.ts'

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
      // Longer, it would be cut off as a header before any page of ours could say why.
      if (query.length > QUERY_BYTES_MAX) {
        throw new AppError('invalid_request', `The request is longer than ${QUERY_BYTES_MAX} bytes`)
      }
      return reply.header('cache-control', 'no-store').redirect(`${to}?${query}`, 303)
    })
  }
}
