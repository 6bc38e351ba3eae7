/**
 * POST /forum/webhook: the forum reports a change. A signed event takes away at once, and the worker reads the rest from the
 * API. It answers at once, and an event that arrives twice counts once.
 */
import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { sameText } from '../../platform/secrets.ts'
import { refuseOtherMethods } from '../../web/methods.ts'
import { clientFaultStatus } from '../../web/pages.ts'
import { noteContact } from './contacts.ts'
import { type ForumEvent, receiveEvent } from './events.ts'
import { objectOf } from './facts.ts'
import { BODY_BYTES_MAX } from './requests.ts'

const header = z.string().regex(/^[\x21-\x7e]{1,100}$/)

/** Mounts the machine scope of the forum. It reads no cookie, and verifies the raw body before it parses it. */
export async function forumWebhook(app: FastifyInstance, deps: Core): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.setErrorHandler(sendFault)
  await refuseOtherMethods(app, async () => {
    // An event about a member is as long as the API's answer about that member.
    app.post('/forum/webhook', { bodyLimit: BODY_BYTES_MAX }, async (request) => {
      verifySignature(request, deps.config.DISCOURSE_WEBHOOK_SECRET)
      const event = readEvent(request)
      const [status] = await Promise.all([receiveEvent(deps, event), noteContact(deps, 'webhook')])
      return { status }
    })
  })
}

/** Throws forbidden. NOTE: every refusal is 403, because 404 and 410 would make the forum switch the webhook off. */
function verifySignature({ headers, body }: FastifyRequest, secret: string | undefined): void {
  const sent = headers['x-discourse-event-signature']
  if (secret !== undefined && typeof sent === 'string' && Buffer.isBuffer(body)) {
    const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    if (sameText(sent, expected)) return
  }
  throw new AppError('forbidden', 'The signature is missing or wrong')
}

function readEvent({ headers, body }: FastifyRequest): ForumEvent {
  const event_id = header.safeParse(headers['x-discourse-event-id'])
  const type = header.safeParse(headers['x-discourse-event-type'])
  if (!event_id.success || !type.success)
    throw new AppError('malformed_request', 'The event has no id or no type')
  const name = header.catch('').parse(headers['x-discourse-event'])
  let content: unknown
  try {
    content = JSON.parse((body as Buffer).toString('utf8'))
  } catch {
    throw new AppError('malformed_request', 'The body is not JSON')
  }
  const subject = objectOf(objectOf(content)?.[type.data]) ?? {}
  return { event_id: event_id.data, type: type.data, name, subject }
}

function sendFault(error: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = statusOf(error)
  // The root handler renders all other errors, and logs unknown ones.
  if (status === undefined) throw error
  const code = error instanceof AppError ? error.code : 'malformed_request'
  return reply.code(status).send({ error: code, message: (error as Error).message })
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof AppError)) return clientFaultStatus(error)
  if (error.code === 'overloaded') return undefined
  if (error.code === 'method_not_allowed') return 405
  return error.code === 'forbidden' ? 403 : 400
}
