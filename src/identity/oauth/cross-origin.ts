/**
 * Which pages of other sites may call the endpoints of programs and read the answer (CORS): those that stand where
 * the client that is asking may be answered anyway, at the origin of one of its redirect URIs. A preflight cannot say
 * which client it is for, so every origin may ask; no cookie is read here, so asking does nothing in anybody's name.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const PREFLIGHT_CACHE_SECONDS = 600

/** Adds to a scope: answers to preflights for these paths, and the header that keeps caches from mixing origins up. */
export function crossOriginScope(app: FastifyInstance, paths: readonly string[]): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'Origin')
    done()
  })
  answerPreflights(app, paths, 'GET, POST')
}

/** Says to a page of any origin that it may ask there by these methods. What it may read, each answer says itself. */
export function answerPreflights(app: FastifyInstance, paths: readonly string[], methods: string): void {
  for (const path of paths) {
    app.options(path, async (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-origin', '*')
        .header('access-control-allow-methods', methods)
        .header('access-control-allow-headers', 'Authorization, Content-Type')
        .header('access-control-max-age', PREFLIGHT_CACHE_SECONDS)
        .send(),
    )
  }
}

/** Lets the page that asks read the answer, failures included, if it is one of this client's. */
export function admitOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  client: { redirect_uris: string[] },
): void {
  const { origin } = request.headers
  if (origin === undefined || !client.redirect_uris.some((uri) => new URL(uri).origin === origin)) return
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', 'WWW-Authenticate')
}
