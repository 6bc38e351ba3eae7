/** Where a member applies for payment applications and sees them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../../accounts/session.ts'
import type { Deps } from '../../deps.ts'
import { applicationsOf, applyForPaymentApp, currentKey, paymentAppForm } from '../applications.ts'

const FIELDS = ['name', 'description', 'callback_url'] as const
type Field = (typeof FIELDS)[number]

/** GET and POST /payment/applications. */
export async function paymentAppPages(app: FastifyInstance, deps: Deps): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const form = paymentAppForm(deps.config.production)

  app.get('/payment/applications', async (request, reply) =>
    showApplications(request, reply, deps, { values: {}, problems: [] }),
  )

  app.post('/payment/applications', async (request, reply) => {
    const filled = form.safeParse(request.body)
    if (!filled.success) {
      const problems = FIELDS.filter((field) => filled.error.issues.some((issue) => issue.path[0] === field))
      return showApplications(request, reply, deps, { values: textsOf(request.body), problems })
    }
    const { user } = sessionOf(request)
    const credentials = await applyForPaymentApp(deps, { applicant_id: user.id, ...filled.data })
    return reply.page('payment-app-created', { name: filled.data.name, credentials }, { status: 201 })
  })
}

type Filled = { values: Partial<Record<Field, string>>; problems: Field[] }

async function showApplications(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  { values, problems }: Filled,
) {
  const { user } = sessionOf(request)
  const [{ payment_apps_min_trust_level }, rows] = await Promise.all([
    deps.settings.read(),
    applicationsOf(deps.db, user.id),
  ])
  const applications = await Promise.all(
    rows.map(async (row) => ({ ...row, merchantKey: await currentKey(deps, row.id, 'merchant_key') })),
  )
  return reply.page(
    'payment-apps',
    { applications, values, problems, neededTrustLevel: payment_apps_min_trust_level },
    { status: problems.length > 0 ? 400 : 200 },
  )
}

/** What was typed, to be shown again. */
function textsOf(body: unknown): Filled['values'] {
  const fields = (body ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    FIELDS.map((field) => [field, typeof fields[field] === 'string' ? fields[field] : '']),
  )
}
