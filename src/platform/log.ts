/**
 * JSON logs. They show a request's route pattern and never its address: query strings carry keys and codes, and
 * paths carry transaction ids. They show no bodies and no headers.
 */
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Config } from './config.ts'
import { LOWER_ALNUM, randomText } from './secrets.ts'

/** The log redacts these members, in case code logs a credential by mistake. */
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
const REDACTED = '[redacted]'
/** How many levels below a line's own members are searched. */
const DEPTH_MAX = 2

/** Returns the options of Fastify's logger, with redaction. */
export function loggerOptions(config: Pick<Config, 'LOG_LEVEL'>) {
  return {
    level: config.LOG_LEVEL,
    // Runs for written lines only. Pino's own redaction would inspect every request, written or not.
    formatters: { log: (members: Record<string, unknown>) => redact(members) },
    serializers: {
      // A database error's `detail` quotes the row it is about, so only its kind is logged.
      err: (error: Error & { code?: string; constraint?: string; table?: string }) => ({
        type: error.name,
        message: error.message,
        // Not named `code`, which is redacted, because an authorization code is a credential.
        error_code: error.code,
        constraint: error.constraint,
        table: error.table,
        stack: error.stack ?? '',
      }),
    },
  } satisfies FastifyServerOptions['logger']
}

/** Copies the members without credentials. Values other than plain objects and arrays are left to their serializers. */
function redact(members: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const entries = Object.entries(members).map(([name, value]) => [
    name,
    CREDENTIALS.has(name) ? REDACTED : redactWithin(value, depth),
  ])
  return Object.fromEntries(entries)
}

function redactWithin(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) return value
  if (Array.isArray(value)) return value.map((each) => redactWithin(each, depth + 1))
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value))
  return isPlain ? redact(value as Record<string, unknown>, depth + 1) : value
}

/** Makes the ids of requests. Each log line about a request has its id, and ids of two processes differ. */
export function makeRequestIds(): () => string {
  const process = randomText(8, LOWER_ALNUM)
  let count = 0
  return () => {
    count += 1
    return `req-${process}-${count.toString(36)}`
  }
}

/**
 * Logs one line for each answered request, except health checks, which arrive every few seconds. Each answer carries
 * the request's id, so a report of a failure can quote it.
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
