/**
 * Traces as OpenTelemetry tells them: where the time of a request went. Off unless an OTEL_EXPORTER_OTLP_*ENDPOINT is set,
 * and then of our own making at the few places that matter; nothing is patched. A span never holds a query, a header, a
 * body, a form field or a parameter of a statement, and no address beyond what `pathOf` and `inCall` let through.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Link, Span, SpanOptions } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'kysely'

/** What begins traces, and sends them until it is closed. Made by `openTracing`. */
export type Tracing = {
  /** Begins a span below another or a caller's, or below nothing. Undefined when the sampler wants none of it. */
  begin(name: string, options: SpanOptions, parent?: Parent): Scope | undefined
  /** What a caller says that its request belongs to, by the header `traceparent`. */
  callerOf(traceparent: string | undefined): Parent
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>
}

/** A span under way. What happens inside of it can become a span below it. */
export type Scope = { tracing: Tracing; span: Span; context: Context; epoch_ms: number }
/** All spans of a request are timed by one clock, which begins at its epoch, so that none seems to leave the one it is in. */
type Parent = { context: Context; epoch_ms?: number }

/** As the library numbers them: what it is loaded for must not be loaded for two constants. */
const KIND = { server: 1, client: 2 } as const
const STATUS_ERROR = 2

/** Carried by the asynchronous context, so that nothing between a request and its statements need know of it. */
const underWay = new AsyncLocalStorage<Scope | undefined>()

/** The span in which this runs, if there is one. What outlives its request runs in none. */
export function currentScope(): Scope | undefined {
  const scope = underWay.getStore()
  return scope?.span.isRecording() ? scope : undefined
}

/** Runs an act in a span below the one under way. Where there is none it is only run. */
export function inSpan<T>(name: string, act: () => Promise<T>): Promise<T> {
  const scope = currentScope()
  const below = scope?.tracing.begin(name, {}, scope)
  return below === undefined ? act() : inside(below, act)
}

/**
 * Runs an act for many callers at once, in a span that is linked to each of them that is traced, and they to it. It
 * stands in the trace of the first: that is all there is to see for a caller who is alone.
 */
export function inBatch<T>(
  name: string,
  callers: readonly { scope: Scope | undefined }[],
  act: () => Promise<T>,
): Promise<T> {
  const scopes = callers.flatMap(({ scope }) => (scope?.span.isRecording() ? [scope] : []))
  const first = scopes[0]
  if (first === undefined) return underWay.getStore() === undefined ? act() : underWay.run(undefined, act)
  const links = scopes.map(({ span }): Link => ({ context: span.spanContext() }))
  const attributes = { 'tessera.batch.items': callers.length }
  const batch = first.tracing.begin(`batch ${name}`, { attributes, links }, first)
  if (batch === undefined) return underWay.run(undefined, act)
  const link = { context: batch.span.spanContext() }
  for (const { span } of scopes) span.addLink(link)
  return inside(batch, act)
}

/** What is told of a call to another server. */
type Call = { method: string; url: URL | null }
/** How it ended: with a status, or with a word for why not. */
type CallEnd = { status: number | null; failure: string | undefined }

/**
 * Runs a call to another server in a span, below the one under way or in a trace of its own. Of the address only the
 * host is told, because a path or a query may be secret; and the other server is told nothing of the trace.
 */
export function inCall<T>(
  tracing: Tracing | undefined,
  { method, url }: Call,
  act: () => Promise<T>,
  endOf: (result: T) => CallEnd,
): Promise<T> {
  if (tracing === undefined) return act()
  const attributes: Attributes = { 'http.request.method': method }
  if (url !== null) {
    attributes['server.address'] = url.hostname
    attributes['server.port'] = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  }
  const call = tracing.begin(method, { kind: KIND.client, attributes }, currentScope())
  if (call === undefined) return act()
  return inside(call, async () => {
    const result = await act()
    const { status, failure } = endOf(result)
    if (status !== null) call.span.setAttribute('http.response.status_code', status)
    if (failure !== undefined) fail(call.span, failure)
    return result
  })
}

async function inside<T>(scope: Scope, act: () => Promise<T>): Promise<T> {
  try {
    return await underWay.run(scope, act)
  } catch (error) {
    fail(scope.span, kindOf(error))
    throw error
  } finally {
    end(scope)
  }
}

function end({ span, epoch_ms }: Scope): void {
  span.end(epoch_ms + performance.now())
}

/** Messages are not told: those of the database quote what they are about. */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: STATUS_ERROR })
}

/** A code of ours, of Postgres or of Node; there is an end of them. */
function kindOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

/** Told by the pool of each statement that has ended: a span of those that a span under way has waited for. */
export const traceStatement: Logger = (event) => {
  const scope = currentScope()
  if (scope === undefined) return
  const { operation, summary } = summaryOf(event.query.sql)
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.query.summary': summary,
  }
  const startTime = scope.epoch_ms + performance.now() - event.queryDurationMillis
  const statement = scope.tracing.begin(summary, { kind: KIND.client, attributes, startTime }, scope)
  if (statement === undefined) return
  if (event.level === 'error') fail(statement.span, kindOf(event.error))
  end(statement)
}

const OPERATION = /^\s*(select|insert|update|delete|with|begin|start|commit|rollback|set|lock)\b/i
const TARGET = /\b(?:from|into|update|join|table)\s+(?:only\s+|lateral\s+)?"?([a-z_][a-z0-9_]{0,62})/i

/** `SELECT pay_orders`: the verb, and the first table or function named. Values are parameters, and not in the text. */
function summaryOf(text: string): { operation: string; summary: string } {
  const operation = OPERATION.exec(text)?.[1]?.toUpperCase() ?? 'OTHER'
  const target = TARGET.exec(text)?.[1]
  return { operation, summary: target === undefined ? operation : `${operation} ${target}` }
}

type IsName = (parameter: string) => boolean

const HEALTH_ROUTES = new Set(['/healthz', '/readyz'])
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/**
 * One span for each request that is routed, but for health checks; lines of the log about it bear its trace. To be called
 * before all other hooks. @param isName whether a parameter of a path only names something, so that a trace may show it.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing, isName: IsName): void {
  const scopes = new WeakMap<FastifyRequest, Scope>()
  app.addHook('onRequest', (request, reply, done) => {
    const scope = beginRequest(request, tracing, isName)
    if (scope === undefined) return done()
    scopes.set(request, scope)
    request.log = reply.log = request.log.child({ trace_id: scope.span.spanContext().traceId })
    underWay.run(scope, done)
  })
  // What the stream of a body calls back runs in the context of the connection.
  app.addHook('preValidation', (request, _reply, done) => underWay.run(scopes.get(request), done))
  app.addHook('onResponse', (request, reply, done) => {
    const scope = scopes.get(request)
    if (scope !== undefined) {
      const { statusCode } = reply
      scope.span.setAttribute('http.response.status_code', statusCode)
      if (statusCode >= 500) fail(scope.span, String(statusCode))
      end(scope)
    }
    done()
  })
}

function beginRequest(request: FastifyRequest, tracing: Tracing, isName: IsName): Scope | undefined {
  const route = request.routeOptions.url
  if (route !== undefined && HEALTH_ROUTES.has(route)) return undefined
  const method = METHODS.has(request.method) ? request.method : '_OTHER'
  const attributes: Attributes = {
    'http.request.method': method,
    'url.scheme': request.protocol,
    'tessera.request_id': request.id,
  }
  if (route !== undefined) {
    attributes['http.route'] = route
    attributes['url.path'] = pathOf(route, request.params as Record<string, unknown>, isName)
  }
  const { traceparent } = request.headers
  const parent = tracing.callerOf(typeof traceparent === 'string' ? traceparent : undefined)
  const name = route === undefined ? method : `${method} ${route}`
  return tracing.begin(name, { kind: KIND.server, attributes }, parent)
}

/** A number names something. Another parameter of a path may open it, as a transaction_id does. */
const NUMBER = /^\d{1,19}$/

/** The path, with the names of parameters in the place of those that may be secret. Of an address that leads nowhere: none. */
function pathOf(route: string, params: Record<string, unknown>, isName: IsName): string {
  return route.replace(/:(\w+)/g, (name, key: string) => {
    const value = params[key]
    return typeof value === 'string' && (NUMBER.test(value) || isName(value)) ? value : name
  })
}
