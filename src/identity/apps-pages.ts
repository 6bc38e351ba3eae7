/** /apps: a member's own applications, and the form that registers another. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import {
  DESCRIPTION_LENGTH_MAX,
  listApps,
  NAME_LENGTH_MAX,
  NewAppForm,
  redirectUriFaultOf,
  registerApp,
} from './apps.ts'
import { discoveryUrl } from './discovery.ts'

const FIELDS = ['name', 'description', 'redirect_uris', 'allow_groups', 'deny_groups'] as const
type Field = (typeof FIELDS)[number]
/** What was typed, as it was typed. */
type Typed = Record<Field, string>

const NOTHING_TYPED: Typed = {
  name: '',
  description: '',
  redirect_uris: '',
  allow_groups: '',
  deny_groups: '',
}

export async function appPages(app: FastifyInstance, deps: Deps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get('/apps', async (request, reply) =>
    reply.page('apps', await pageData(request, NOTHING_TYPED, {}, deps)),
  )

  app.post('/apps', async (request, reply) => {
    const { user } = sessionOf(request)
    const { apps_min_trust_level } = await deps.settings.read()
    if (user.trust_level < apps_min_trust_level) {
      throw new AppError('forbidden', `Registering needs trust level ${apps_min_trust_level}`)
    }
    const typed = typedIn(request.body)
    const form = NewAppForm.safeParse({
      name: typed.name,
      description: typed.description,
      redirect_uris: linesOf(typed.redirect_uris),
      allow_groups: linesOf(typed.allow_groups),
      deny_groups: linesOf(typed.deny_groups),
    })
    if (!form.success) {
      const problems = problemsOf(form.error.issues, request)
      return reply.page('apps', await pageData(request, typed, problems, deps), { status: 400 })
    }
    const credentials = await registerApp(deps.db, { ...form.data, owner_id: user.id, ip: request.ip })
    const registered = { ...form.data, ...credentials }
    return reply.page(
      'app-created',
      { app: registered, discoveryUrl: discoveryUrl(deps.config) },
      { status: 201 },
    )
  })
}

type Problems = Partial<Record<Field, string[]>>

async function pageData(request: FastifyRequest, values: Typed, problems: Problems, deps: Deps) {
  const { user } = sessionOf(request)
  const { apps_min_trust_level } = await deps.settings.read()
  return {
    apps: await listApps(deps.db, user),
    values,
    problems,
    neededTrustLevel: apps_min_trust_level,
    limits: { name: NAME_LENGTH_MAX, description: DESCRIPTION_LENGTH_MAX },
  }
}

function typedIn(body: unknown): Typed {
  const sent = (body ?? {}) as Record<string, unknown>
  const texts = FIELDS.map((field) => [field, typeof sent[field] === 'string' ? sent[field] : ''])
  return Object.fromEntries(texts) as Typed
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** What to say beside each field, in the reader's language; a faulty address is named. */
function problemsOf(issues: z.core.$ZodIssue[], { body, locale }: FastifyRequest): Problems {
  const { problems, faultyUri } = locale.t.identity.apps
  const uris = linesOf(typedIn(body).redirect_uris)
  const found: Problems = {}
  for (const issue of issues) {
    const field = issue.path[0] as Field
    const fault = redirectUriFaultOf(issue)
    const text =
      fault === undefined
        ? problems[field]
        : faultyUri(uris[issue.path[1] as number] ?? '', locale.t.identity.redirectUriFaults[fault])
    found[field] = [...new Set([...(found[field] ?? []), text])]
  }
  return found
}
