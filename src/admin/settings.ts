/** The page of site settings: what each is, what it may be, and who changed it when. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { describeSettings, SETTING_NAMES } from '../settings.ts'

const SettingForm = z.object({ name: z.enum(SETTING_NAMES), value: z.string().max(10_000) })

/** GET and POST /admin/settings, inside the administrators' scope. */
export function settingPages(app: FastifyInstance, deps: Deps): void {
  app.get('/admin/settings', async (_request, reply) =>
    reply.page('settings', { settings: await describeSettings(deps.db), problem: undefined }),
  )

  app.post('/admin/settings', async (request, reply) => {
    const form = SettingForm.safeParse(request.body)
    if (!form.success) throw new AppError('invalid_form', 'There is no such setting')
    const { name, value } = form.data
    const actor_id = sessionOf(request).user.id
    try {
      await deps.settings.change({ name, value, actor_id, ip: request.ip, now: deps.clock() })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_form') throw error
      const problem = { name, value, message: error.message }
      return reply.page('settings', { settings: await describeSettings(deps.db), problem }, { status: 400 })
    }
    return reply.redirect(`/admin/settings#${name}`, 303)
  })
}
