/**
 * OpenTelemetry traces, which show where the time of a request went. They are off unless an OTEL_EXPORTER_OTLP_*ENDPOINT is
 * set. This code starts its spans itself at a few places and patches no library. A span never holds a query, a header, a
 * body, a form field or a parameter of a statement. `pathOf` and `inCall` decide what it holds of an address.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Link, Span, SpanOptions } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'kysely'

/** Starts spans and exports them until it is closed. `openTracing` makes it. */
export type Tracing = {
  /** Starts a span below `parent`, or a root span. Returns undefined when the sampler drops it. */
  begin(name: string, options: SpanOptions, parent?: Parent): Scope | undefined
  /** Reads the caller's span from the header `traceparent`. */
  callerOf(traceparent: string | undefined): Parent
  /** Exports the remaining spans, for 3 seconds at most. */
  close(): Promise<void>
}

/** A span that has not ended. Spans started inside it become its children. */
export type Scope = { tracing: Tracing; span: Span; context: Context; epoch_ms: number }
/** All spans of a request use one clock, which starts at `epoch_ms`, so a child never seems to exceed its parent. */
type Parent = { context: Context; epoch_ms?: number }

/** The library's values of SpanKind and SpanStatusCode. They are copied, so that the library is not loaded for them. */
const KIND = { server: 1, client: 2 } as const
const STATUS_ERROR = 2

/** The asynchronous context carries the scope from a request to its statements. */
const currentScopes = new AsyncLocalStorage<Scope | undefined>()

/** Returns the span in which this code runs. Work that outlives its request has no span. */
export function currentScope(): Scope | undefined {
  const scope = currentScopes.getStore()
  return scope?.span.isRecording() ? scope : undefined
}

/** Runs an act in a child of the current span. Without a current span it only runs the act. */
export function inSpan<T>(name: string, act: () => Promise<T>): Promise<T> {
  const scope = currentScope()
  const below = scope?.tracing.begin(name, {}, scope)
  return below === undefined ? act() : inside(below, act)
}

/**
 * Runs an act for many callers at once, in one span. The span is a child of the first traced caller's span, and it and
 * the span of each traced caller link to each other.
 */
export function inBatch<T>(
  name: string,
  callers: readonly { scope: Scope | undefined }[],
  act: () => Promise<T>,
): Promise<T> {
  const scopes = callers.flatMap(({ scope }) => (scope?.span.isRecording() ? [scope] : []))
  const first = scopes[0]
  if (first === undefined)
    return currentScopes.getStore() === undefined ? act() : currentScopes.run(undefined, act)
  const links = scopes.map(({ span }): Link => ({ context: span.spanContext() }))
  const attributes = { 'tessera.batch.items': callers.length }
  const batch = first.tracing.begin(`batch ${name}`, { attributes, links }, first)
  if (batch === undefined) return currentScopes.run(undefined, act)
  const link = { context: batch.span.spanContext() }
  for (const { span } of scopes) span.addLink(link)
  return inside(batch, act)
}

/** A call to another server, as its span shows it. */
type Call = { method: string; url: URL | null }
/** How a call ended: with a status, or with a word for the failure. */
type CallEnd = { status: number | null; failure: string | undefined }

/**
 * Runs a call to another server in a child of the current span, or in a trace of its own. The span shows only the host,
 * because a path or a query may be secret. The call sends no trace header to the other server.
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
    return await currentScopes.run(scope, act)
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

/** Leaves the error's message out, because messages of the database quote rows. */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: STATUS_ERROR })
}

/** Returns an error code of ours, of Postgres or of Node. Their number is bounded. */
function kindOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

/** Makes a span of each finished statement that runs inside a span. The pool calls it. */
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

/** Returns the verb and the first table or function: `SELECT pay_orders`. Values are parameters and not in the text. */
function summaryOf(text: string): { operation: string; summary: string } {
  const operation = OPERATION.exec(text)?.[1]?.toUpperCase() ?? 'OTHER'
  const target = TARGET.exec(text)?.[1]
  return { operation, summary: target === undefined ? operation : `${operation} ${target}` }
}

type IsName = (parameter: string) => boolean

const HEALTH_ROUTES = new Set(['/healthz', '/readyz'])
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/**
 * Makes one span for each request except health checks, and adds its trace id to the log lines of the request. Call it
 * before all other hooks are added.
 * @param isName whether a path parameter only names something, so that a trace may show it.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing, isName: IsName): void {
  const scopes = new WeakMap<FastifyRequest, Scope>()
  app.addHook('onRequest', (request, reply, done) => {
    const scope = beginRequest(request, tracing, isName)
    if (scope === undefined) return done()
    scopes.set(request, scope)
    request.log = reply.log = request.log.child({ trace_id: scope.span.spanContext().traceId })
    currentScopes.run(scope, done)
  })
  // The body's stream calls back in the context of the connection, so the scope is set again here.
  app.addHook('preValidation', (request, _reply, done) => currentScopes.run(scopes.get(request), done))
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

/** A number only names a row. Other parameters may give access, as a transaction_id does. */
const NUMBER = /^\d{1,19}$/

/** Returns the path, and shows the names of parameters that may be secret instead of their values. */
function pathOf(route: string, params: Record<string, unknown>, isName: IsName): string {
  return route.replace(/:(\w+)/g, (name, key: string) => {
    const value = params[key]
    return typeof value === 'string' && (NUMBER.test(value) || isName(value)) ? value : name
  })
}
