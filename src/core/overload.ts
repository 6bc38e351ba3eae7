/**
 * How many requests a process has in hand at once. One more would make all wait longer and none be served sooner, so it
 * is told at once when to come back, in the manner of its door: before its body is read, and before any statement.
 *
 * NOTE: Counted here and not left to @fastify/under-pressure, which samples the event loop once a second: a loop that is
 * busy may serve as much as it can, and does not say how many wait.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, overloaded } from '../platform/errors.ts'
import type { Core } from './core.ts'

/** Slow requests may have one place in so many: whoever floods the sign-in keeps nobody from paying. */
const SLOW_ONE_IN = 4

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `always`: answered whatever there is to do. `slow`: waits for something slower than the database, such as the
     * hash of a password, a pair of keys, or another server.
     */
    admission?: 'always' | 'slow'
  }
  interface FastifyRequest {
    hasPlace: boolean
  }
}

/** To be called after what every answer carries, and before any scope. Throws overloaded, for the scopes to render. */
export function refuseOverload(app: FastifyInstance, { config, metrics }: Core): void {
  const max = config.REQUESTS_AT_ONCE_MAX
  const slowMax = Math.ceil(max / SLOW_ONE_IN)
  let inHand = 0
  let slowInHand = 0
  const admissionOf = (request: FastifyRequest) => request.routeOptions.config.admission
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
  // A place is taken once the body has arrived, or slow senders could hold them all for nothing.
  app.addHook('preValidation', (request, reply, done) => {
    const error = refusal(request)
    if (error !== undefined || admissionOf(request) === 'always' || reply.raw.closed) return done(error)
    count(request, 1)
    reply.raw.once('close', () => leave(request))
    done()
  })
  // It is given back with the answer, not when a slow reader has it; and when the caller is gone before that.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    leave(request)
    done()
  })
  // Whoever says that it is too much: this, or a batcher.
  app.addHook('onError', (_request, _reply, error, done) => {
    if (error instanceof AppError && error.code === 'overloaded') metrics?.overloads.inc()
    done()
  })
}
