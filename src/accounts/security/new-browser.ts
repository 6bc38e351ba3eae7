/**
 * Tells a member of a sign-in from a browser that is new to the account: by an alert, and by mail to a confirmed address.
 * spec/accounts 3.4.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { deviceOf } from '../session/device.ts'
import { rememberBrowser } from '../session/known-browser.ts'
import { agentOf } from '../session/session.ts'
import { recordSecurityEvent } from './security-events.ts'

/** Marks the browser of a member who has just signed in as known, and tells the member if it was not. */
export async function noteSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  user_id: bigint,
  deps: Core,
): Promise<void> {
  const browser = rememberBrowser(request, reply, user_id, deps)
  if (browser === undefined) return
  const { ip } = request
  const agent = agentOf(request)
  await deps.db.transaction().execute(async (tx) => {
    const first = await tx
      .updateTable('users')
      .set({ has_signed_in: true })
      .where('id', '=', user_id)
      .where('has_signed_in', '=', false)
      .executeTakeFirst()
    if (first.numUpdatedRows === 1n) return
    await tx
      .insertInto('alerts')
      .values({
        user_id,
        kind: 'new_browser',
        cause: browser,
        facts: JSON.stringify({ ...deviceOf(agent), ip }),
        raised_at: deps.clock(),
      })
      .execute()
    const event = 'sign_in.new_browser'
    await recordSecurityEvent(tx, deps, { event, user_id, actor_id: user_id, ip, agent })
  })
}
