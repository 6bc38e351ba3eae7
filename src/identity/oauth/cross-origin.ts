/**
 * CORS for the endpoints of programs. A page may read an answer if its origin is that of one of the client's redirect URIs.
 * A preflight does not name the client, so every origin may send requests. These endpoints read no cookie, so such a
 * request acts for no member. spec/sign-in 3.2.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const PREFLIGHT_CACHE_SECONDS = 600

/** Answers preflights for these paths in a scope, and sends `Vary: Origin`, so that caches keep origins apart. */
export function crossOriginScope(app: FastifyInstance, paths: readonly string[]): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'Origin')
    done()
  })
  answerPreflights(app, paths, 'GET, POST')
}

/** Allows pages of any origin to send requests by these methods. Each answer decides who may read it. */
export function answerPreflights(app: FastifyInstance, paths: readonly string[], methods: string): void {
  for (const path of paths) {
    app.options(path, async (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-origin', '*')
        .header('access-control-allow-methods', methods)
        .header('access-control-allow-headers', 'Authorization, Content-Type, MCP-Protocol-Version')
        .header('access-control-max-age', PREFLIGHT_CACHE_SECONDS)
        .send(),
    )
  }
}

/** Allows the requesting page to read the answer, also a failure, if its origin belongs to this client. */
export function admitOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  client: { redirect_uris: string[] },
): void {
  const { origin } = request.headers
  if (origin === undefined || !client.redirect_uris.some((uri) => originOf(uri) === origin)) return
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', 'WWW-Authenticate')
}

/**
 * Returns the origin of a web address. A private-use scheme has none: its `null` is also the origin that a sandboxed frame
 * sends.
 */
function originOf(redirect_uri: string): string | undefined {
  return /^https?:/i.test(redirect_uri) ? new URL(redirect_uri).origin : undefined
}
