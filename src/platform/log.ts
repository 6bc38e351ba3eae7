/**
 * JSON logs. A request is logged by its route pattern, never its address: query strings carry keys and codes,
 * paths carry transaction ids. Bodies and headers are not logged at all.
 */
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Config } from './config.ts'
import { LOWER_ALNUM, randomText } from './secrets.ts'

/** Should a credential ever be handed to the logger by mistake, these members are blotted out. */
const CREDENTIALS = new Set([
  'authorization',
  'cookie',
  'password',
  'client_secret',
  'code',
  'access_token',
  'refresh_token',
  'id_token',
  'token',
  'secret_key',
  'key',
  'sign',
  'signature',
])
const BLOT = '[redacted]'
/** How far below the members of a line they are looked for. */
const DEPTH_MAX = 2

export function loggerOptions(config: Pick<Config, 'LOG_LEVEL'>) {
  return {
    level: config.LOG_LEVEL,
    // Of the lines that are written, and no others: pino's own redaction would look at every request, written or not.
    formatters: { log: (members: Record<string, unknown>) => blotOut(members) },
    serializers: {
      // A database error's `detail` quotes the row it is about, so only its kind is logged.
      err: (error: Error & { code?: string; constraint?: string; table?: string }) => ({
        type: error.name,
        message: error.message,
        // Not `code`, which is blotted out: an authorization code is a credential.
        error_code: error.code,
        constraint: error.constraint,
        table: error.table,
        stack: error.stack ?? '',
      }),
    },
  } satisfies FastifyServerOptions['logger']
}

/** A copy without credentials. What is no plain object or array is left to its serializer. */
function blotOut(members: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const entries = Object.entries(members).map(([name, value]) => [
    name,
    CREDENTIALS.has(name) ? BLOT : blotWithin(value, depth),
  ])
  return Object.fromEntries(entries)
}

function blotWithin(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return value
  if (Array.isArray(value)) return value.map((each) => blotWithin(each, depth + 1))
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value))
  return isPlain ? blotOut(value as Record<string, unknown>, depth + 1) : value
}

/** Ids of requests, which every line of the log about one bears: no two processes make the same. */
export function makeRequestIds(): () => string {
  const process = randomText(8, LOWER_ALNUM)
  let count = 0
  return () => {
    count += 1
    return `req-${process}-${count.toString(36)}`
  }
}

/**
 * One line a request, once it is answered. Health checks come every few seconds and are left out. Every answer bears the
 * request's id, so that whoever complains of one can name it.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    if (route !== '/healthz' && route !== '/readyz') {
      const ms = Math.round(reply.elapsedTime)
      request.log.info({ method: request.method, route, status: reply.statusCode, ms }, 'request')
    }
    done()
  })
}
