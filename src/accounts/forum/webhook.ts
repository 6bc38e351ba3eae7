/**
 * POST /forum/webhook: the forum says that something has happened. Only the signature is believed, not the content:
 * whoever it is about is asked about again, by the worker. The answer is given at once, and an event that arrives
 * twice counts once.
 */
import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { sameText } from '../../platform/secrets.ts'
import { refuseOtherMethods } from '../../web/methods.ts'
import { clientFaultStatus } from '../../web/pages.ts'
import { hintOneMember } from './groups.ts'

const BODY_BYTES_MAX = 262_144

/** They change nothing about the member, and a busy forum has thousands of them. */
const NO_NEWS = ['user_logged_in', 'user_logged_out']

const header = z.string().regex(/^[\x21-\x7e]{1,100}$/)
const id = z.number().int().transform(BigInt)
const About = z.object({ id: id.optional(), user_id: id.optional() })

type Event = { event_id: string; type: string; name: string; about: z.infer<typeof About> }

/** The machine scope of the forum. It reads no cookie, and the raw body before anything looks into it. */
export async function forumWebhook(app: FastifyInstance, deps: Core): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.setErrorHandler(sendFault)
  await refuseOtherMethods(app, async () => {
    app.post('/forum/webhook', { bodyLimit: BODY_BYTES_MAX }, async (request) => {
      verifySignature(request, deps.config.DISCOURSE_WEBHOOK_SECRET)
      return { status: await receive(deps, readEvent(request)) }
    })
  })
}

/** NOTE: 403 for every refusal, since 404 and 410 would make the forum switch the webhook off. */
function verifySignature({ headers, body }: FastifyRequest, secret: string | undefined): void {
  const sent = headers['x-discourse-event-signature']
  if (secret !== undefined && typeof sent === 'string' && Buffer.isBuffer(body)) {
    const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    if (sameText(sent, expected)) return
  }
  throw new AppError('forbidden', 'The signature is missing or wrong')
}

function readEvent({ headers, body }: FastifyRequest): Event {
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
  const parsed = z.record(z.string(), z.unknown()).safeParse(content)
  const about = About.safeParse(parsed.data?.[type.data])
  return { event_id: event_id.data, type: type.data, name, about: about.data ?? {} }
}

/** Notes the event and whom it is about, together: one that is sent again after a crash finds all done or nothing. */
async function receive({ db, clock }: Core, event: Event): Promise<'noted' | 'ignored' | 'duplicate'> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const noted = await tx
      .insertInto('forum_events')
      .values({ event_id: event.event_id, event: event.name, received_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (noted.numInsertedOrUpdatedRows !== 1n) return 'duplicate'
    return (await hint(tx, event, now)) ? 'noted' : 'ignored'
  })
}

async function hint(tx: Tx, { type, name, about }: Event, now: Date): Promise<boolean> {
  if (NO_NEWS.includes(name)) return false
  if (type === 'group') return about.id !== undefined && hintGroup(tx, about.id, name, now)
  const forum_id = type === 'user' ? about.id : about.user_id
  // Somebody who has never been here is heard of when they come.
  if (forum_id === undefined) return false
  const hinted = await tx
    .updateTable('forum_members')
    .set({ hinted_at: now, retry_at: null })
    .where('user_id', '=', (eb) => eb.selectFrom('users').where('forum_id', '=', forum_id).select('id'))
    .executeTakeFirst()
  return hinted.numUpdatedRows > 0n
}

/** A renamed group is learnt from one of its members. Of a deleted one each member must be asked, in good time. */
async function hintGroup(tx: Tx, group_id: bigint, name: string, now: Date): Promise<boolean> {
  if (name !== 'group_destroyed') {
    await hintOneMember(tx, group_id, now)
    return true
  }
  const due = await tx
    .updateTable('forum_members')
    .set({ next_check_at: now })
    .where('user_id', 'in', (eb) =>
      eb.selectFrom('user_groups').where('forum_group_id', '=', group_id).select('user_id'),
    )
    .executeTakeFirst()
  return due.numUpdatedRows > 0n
}

function sendFault(error: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = statusOf(error)
  // Not ours to explain: the root handler says what every scope does, or logs it and answers without detail.
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
