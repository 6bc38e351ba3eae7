/**
 * Bounds the requests that a process works on at once. More requests would only make all of them wait longer. So they are
 * refused with Retry-After in the format of their door, before their body is read and before any statement.
 *
 * NOTE: @fastify/under-pressure samples the event loop once a second. A busy loop may serve as much as it can, and does not
 * show how many requests wait. So this code counts requests itself. spec/limits 2.3.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, overloaded } from '../platform/errors.ts'
import type { Core } from './core.ts'

/** Slow requests may take one place in four, so that a flood of sign-ins cannot stop payments. */
const SLOW_ONE_IN = 4

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `always`: answered under overload too. `slow`: waits for something slower than the database, such as the hash of a
     * password, a key pair or another server. A function tells for each request, and the same throughout the request.
     */
    admission?: 'always' | 'slow' | ((request: FastifyRequest) => 'slow' | undefined)
  }
  interface FastifyRequest {
    hasPlace: boolean
  }
}

/**
 * Adds the bound to the application. Call it after the hooks that every answer needs, and before any scope. Its hooks
 * throw overloaded, which the scopes render.
 */
export function refuseOverload(app: FastifyInstance, { config, metrics }: Core): void {
  const max = config.REQUESTS_AT_ONCE_MAX
  const slowMax = Math.ceil(max / SLOW_ONE_IN)
  let inHand = 0
  let slowInHand = 0
  const admissionOf = (request: FastifyRequest) => {
    const { admission } = request.routeOptions.config
    return typeof admission === 'function' ? admission(request) : admission
  }
  const refusal = (request: FastifyRequest): AppError | undefined => {
    const admission = admissionOf(request)
    if (admission === 'always') return undefined
    return inHand >= max || (admission === 'slow' && slowInHand >= slowMax) ? overloaded() : undefined
  }
  const count = (request: FastifyRequest, change: 1 | -1) => {
    inHand += change
    if (admissionOf(request) === 'slow') slowInHand += change
    request.hasPlace = change === 1
    metrics?.requestsInHand.set(inHand)
  }
  const leave = (request: FastifyRequest) => {
    if (request.hasPlace) count(request, -1)
  }

  app.decorateRequest('hasPlace', false)
  app.addHook('onRequest', (request, _reply, done) => done(refusal(request)))
  // A request takes its place when its body has arrived. Otherwise slow senders could hold all places.
  app.addHook('preValidation', (request, reply, done) => {
    const error = refusal(request)
    if (error !== undefined || admissionOf(request) === 'always' || reply.raw.closed) return done(error)
    count(request, 1)
    reply.raw.once('close', () => leave(request))
    done()
  })
  // It returns its place when it answers, so a slow reader holds none, or when the caller disconnects earlier.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    leave(request)
    done()
  })
  // Counts the refusals of this file and of the batchers.
  app.addHook('onError', (_request, _reply, error, done) => {
    if (error instanceof AppError && error.code === 'overloaded') metrics?.overloads.inc()
    done()
  })
}
