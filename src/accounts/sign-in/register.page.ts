/** /register: anybody makes a local account, if the setting `registration` is open and no forum is configured (spec/accounts 2.7). */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Config } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import { leadsTo, safeBack } from '../../web/back.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { type NextStep, nextStepOf } from '../../web/next-steps.ts'
import { createUser, findUserByUsername, isUsername } from '../people/users.ts'
import { noteSignIn } from '../security/new-browser.ts'
import { ChosenPassword, hashPassword, wordsForChosen } from '../security/password.ts'
import { startSession } from '../session/session.ts'
import { keepAccessUrl } from './keep-access.page.ts'

const REGISTER = '/register'

/** Names that look like those of the site's staff. */
const RESERVED = new Set([
  'admin',
  'administrator',
  'moderator',
  'root',
  'staff',
  'support',
  'system',
  'tessera',
])

const Form = z.object({
  username: z
    .string()
    .trim()
    .refine(isUsername)
    .refine((name) => !RESERVED.has(name.toLowerCase())),
  password: ChosenPassword,
  return_to: z.unknown(),
})

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/register': {
      back: string
      nextStep: NextStep | undefined
    }
  }
}

/** GET and POST /register, in the scope of the sign-in page. Throws not_found while registration is closed. */
export function registrationRoutes(app: FastifyInstance, deps: Core): void {
  const requireOpen = async () => {
    if (!(await isRegistrationOpen(deps)))
      throw new AppError('not_found', 'Accounts are made by the administrators of this site')
  }

  app.get<{ Querystring: Record<string, unknown> }>(
    REGISTER,
    { preHandler: requireOpen },
    async (request, reply) => {
      const back = safeBack(request.refused?.typed.return_to ?? request.query.return_to)
      const shown = { back, nextStep: await nextStepOf(app, back) }
      return reply.page('accounts/sign-in/register', shown, { leavesSite: leadsTo(back) })
    },
  )

  const options = {
    preHandler: requireOpen,
    config: { admission: 'slow', page: registerPage },
  } as const
  app.post(REGISTER, options, async (request, reply) => {
    const { username, password, return_to } = await readRegistration(request, deps)
    const password_hash = await hashPassword(password)
    const user_id = await register(deps, { username, password_hash, ip: request.ip })
    if (user_id === undefined)
      throw new FormRefused({ username: request.locale.t.register.taken }, 'conflict')
    await startSession(request, reply, user_id, ['pwd'], deps)
    await noteSignIn(request, reply, user_id, deps)
    return reply.redirect(keepAccessUrl(safeBack(return_to)), 303)
  })
}

/**
 * Reads the form, and counts it for the address before the expensive hash. A taken name counts too, so that the page does not
 * reveal names without a limit. Throws FormRefused with every fault: a taken name is one also beside a refused password.
 */
async function readRegistration(request: FastifyRequest, deps: Core) {
  const { body, locale } = request
  const { register: r } = locale.t
  const words = { username: r.usernameWrong, password: wordsForChosen(body, 'password', locale.t) }
  const count = () => deps.limits.hit('registrations', networkOf(request.ip))
  try {
    const form = readForm(request, Form, words)
    await count()
    return form
  } catch (error) {
    const name = Form.shape.username.safeParse((body as Record<string, unknown> | undefined)?.username)
    if (!(error instanceof FormRefused) || !name.success) throw error
    await count()
    if ((await findUserByUsername(deps.db, name.data)) === undefined) throw error
    throw new FormRefused({ ...error.problems, username: r.taken })
  }
}

/** The page of a registration form, which is again about to lead to the same page. */
function registerPage({ body }: FastifyRequest): string {
  const back = safeBack((body as Record<string, unknown> | undefined)?.return_to)
  return registerUrl(back)
}

/** Whether registration is open. It is closed while a forum is configured, because a stranger could take a member's name. */
export async function isRegistrationOpen({
  config,
  settings,
}: Pick<Core, 'config' | 'settings'>): Promise<boolean> {
  return admitsRegistration(config, await settings.read())
}

/** Whether registration is open by these settings. */
export function admitsRegistration(
  config: Pick<Config, 'DISCOURSE_URL'>,
  { registration }: Pick<SettingValues, 'registration'>,
): boolean {
  return config.DISCOURSE_URL === undefined && registration === 'open'
}

/** Returns the address of the registration page that returns to `back`, a path of this site. */
export function registerUrl(back: string): string {
  return `${REGISTER}?return_to=${encodeURIComponent(back)}`
}

/** Makes the account and returns its id, or undefined when the name is taken in any case. */
async function register(
  { db }: Core,
  { username, password_hash, ip }: { username: string; password_hash: string; ip: string },
): Promise<bigint | undefined> {
  try {
    return await createUser(db, { username, password_hash }, (tx, id) =>
      recordAudit(tx, {
        actor_id: id,
        action: 'account.registered',
        subject: `user:${id}`,
        detail: { username },
        ip,
      }),
    )
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return undefined
    throw error
  }
}
