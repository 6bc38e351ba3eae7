/** Builds the application: mounts the areas in order, and answers unknown addresses. spec/limits 3.1. */
import { fastifyCookie } from '@fastify/cookie'
import { fastifyFormbody } from '@fastify/formbody'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { accountsPlugin } from './accounts/plugin.ts'
import { makeFindReader } from './accounts/session/session.ts'
import { adminPlugin } from './admin/plugin.ts'
import { healthRoutes } from './core/health.ts'
import { measureRequests } from './core/metrics.ts'
import { refuseOverload } from './core/overload.ts'
import { docsPlugin } from './docs/plugin.ts'
import { homePages } from './home/home.page.ts'
import { launchPage } from './home/launch.page.ts'
import { answerDocumentsFirst } from './identity/oauth/discovery.ts'
import { identityPlugin } from './identity/plugin.ts'
import type { Parts } from './parts.ts'
import { paymentPlugin, SLASHES_OF_SHOPS } from './payment/plugin.ts'
import { isPaymentId } from './payment/wire-fields/fields.ts'
import { AppError } from './platform/errors.ts'
import { loggerOptions, logRequests, makeRequestIds } from './platform/log.ts'
import { traceRequests } from './platform/tracing.ts'
import { privacyPages } from './privacy/own-data.page.ts'
import { appLogoRoute } from './shops/app-logos.ts'
import { texts } from './texts.ts'
import { registerAssets } from './web/assets.ts'
import { registerNextSteps } from './web/next-steps.ts'
import { registerPages, sendPageError } from './web/pages.ts'
import {
  BODY_BYTES_MAX,
  EncodedBody,
  isCleanValue,
  NotUtf8,
  type Parameters,
  parseParameters,
} from './web/parameters.ts'
import { brandRoutes } from './web/site.ts'

/** The longest is a client_id that is an address. */
const PATH_PARAMETER_LENGTH_MAX = 300
/** A request that is incomplete after this time gets 408, and its connection is closed. Proxies give up earlier. */
const REQUEST_TIMEOUT_MS = 15_000
const HEADERS_TIMEOUT_MS = 12_000
const CHECK_INTERVAL_MS = 1_000

/** An authorization request may have 28 KiB. It grows by two thirds in the address of the sign-in page. */
const HEADERS_BYTES_MAX = 65_536

/** Builds the application from its parts. The caller listens, and closes it. */
export async function buildApp(deps: Parts): Promise<FastifyInstance> {
  const app = Fastify({
    logger: { ...loggerOptions(deps.config), ...(deps.logTo && { stream: deps.logTo }) },
    genReqId: makeRequestIds(),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: deps.config.TRUST_PROXY ?? false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A request on an open connection is answered until the last connection has ended.
    return503OnClosing: false,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      maxHeaderSize: HEADERS_BYTES_MAX,
    },
    // The path cannot be decoded, so no scope and no format of errors is known yet.
    frameworkErrors: (_error, { id }: FastifyRequest, reply: FastifyReply) =>
      reply
        .code(400)
        .header('x-request-id', id)
        .send({ error: 'malformed_request', message: 'The path cannot be decoded', request_id: id }),
    routerOptions: {
      maxParamLength: PATH_PARAMETER_LENGTH_MAX,
      querystringParser: parseQuery,
      ...SLASHES_OF_SHOPS,
    },
  })
  dropLostCallers(app)
  if (deps.tracing !== undefined) traceRequests(app, deps.tracing, isPaymentId)
  answerDocumentsFirst(app, deps)
  await app.register(fastifyCookie)
  await app.register(fastifyFormbody, { parser: parseParameters })
  await registerPages(app, deps, texts)
  registerNextSteps(app)
  logRequests(app)
  if (deps.metrics !== undefined) measureRequests(app, deps.metrics)
  refuseOverload(app, deps)
  refuseUncleanText(app)
  refuseEncodedBodies(app)
  app.setErrorHandler((error, request, reply) => sendPageError(error, request, reply))
  const findReader = makeFindReader(deps)
  app.setNotFoundHandler(async (request, reply) => {
    // Reads the settings for the page header.
    await Promise.all([deps.settings.read(), findReader(request)])
    return notFound(request, reply)
  })

  registerAssets(app)
  brandRoutes(app, deps)
  appLogoRoute(app, deps)
  healthRoutes(app, deps, () => deps.signingKeys.current())
  await app.register(homePages, deps)
  await app.register(launchPage, deps)
  await app.register(accountsPlugin, deps)
  await app.register(identityPlugin, deps)
  await app.register(paymentPlugin, deps)
  await app.register(privacyPages, deps)
  await app.register(adminPlugin, deps)
  await app.register(docsPlugin, deps)
  return app
}

const UNREADABLE_QUERY = Symbol('unreadable query')

/** Keeps an error of the query for a hook, because the router's parser must not throw. */
function parseQuery(text: string): Parameters {
  try {
    return parseParameters(text)
  } catch (error) {
    return Object.assign(Object.create(null), { [UNREADABLE_QUERY]: error })
  }
}

/**
 * Closes requests whose caller has already gone, before their address was read. From the first read on, Node keeps the address, so
 * each request has one until it ends, even if its caller leaves meanwhile.
 */
function dropLostCallers(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    if (socket.remoteAddress !== undefined) return done()
    reply.hijack()
    socket.destroy()
  })
}

/** Refuses compressed bodies (RFC 9110 15.5.16): their size is not known before they are read. */
function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook('onRequest', ({ method, headers }, reply, done) => {
    const coding = headers['content-encoding']?.trim().toLowerCase()
    const isPlain = coding === undefined || coding === '' || coding === 'identity'
    if (isPlain || method === 'GET' || method === 'HEAD') return done()
    reply.header('accept-encoding', 'identity')
    done(new EncodedBody('Send the body without Content-Encoding'))
  })
}

/** Refuses text that Postgres cannot store, or that two parsers would read differently. Throws malformed_request. */
function refuseUncleanText(app: FastifyInstance): void {
  // Hooks of every request use callbacks, which are faster than promises.
  app.addHook('onRequest', (request, _reply, done) => {
    const unreadable = (request.query as Record<symbol, unknown>)[UNREADABLE_QUERY]
    if (unreadable !== undefined) return done(unreadable as Error)
    done(isCleanValue(request.params) ? undefined : new NotUtf8('The path'))
  })
  app.addHook('preValidation', ({ body }, _reply, done) => {
    const isClean = Buffer.isBuffer(body) || isCleanValue(body)
    done(isClean ? undefined : new NotUtf8('The body'))
  })
}

function notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendPageError(new AppError('not_found', 'There is nothing at this address'), request, reply)
}
