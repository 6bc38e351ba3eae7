/** GET /oauth2/auth and its other addresses, and the forms of the consent page. spec/sign-in 1.1. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { browserScope } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { linkedPaymentApp } from '../../shops/links.ts'
import type { NextStep } from '../../web/next-steps.ts'
import { malformed, type Parameters, parseParameters } from '../../web/parameters.ts'
import { AUTHORIZATION_PATH, AUTHORIZATION_PATHS } from '../apps/addresses.ts'
import { isAddress } from '../metadata/client-id.ts'
import type { AuthorizeDeps } from './authorization.ts'
import { type FindingDeps, findTarget } from './authorization-request.ts'
import { authorize } from './authorize.ts'

const ConsentForm = z.object({
  decision: z.enum(['allow', 'deny']),
  query: z.string(),
  seen: z.string().optional(),
})

/** The answer to a request for a mandate, too: `charge` allows it with the sign-in, `only` allows the sign-in only. */
const MandateForm = z.object({ decision: z.enum(['charge', 'only', 'deny']) })

/** Mounts the browser scope: authorization requests, and the answer to the consent page. */
export async function authorizePages(app: FastifyInstance, deps: AuthorizeDeps): Promise<void> {
  browserScope(app, deps)
  neverStored(app)
  app.nextSteps.push(makeDescribeRequest(deps, AUTHORIZATION_PATHS))
  const config = { admission: admissionOf }

  for (const path of AUTHORIZATION_PATHS) {
    // No HEAD, because each request may issue a code.
    app.get<{ Querystring: Parameters }>(path, { exposeHeadRoute: false, config }, async (request, reply) =>
      authorize({ request, reply, sent: request.query, decided: undefined, deps }),
    )
  }

  app.post('/oauth2/consent', { config: { ...config, page: consentPage } }, async (request, reply) => {
    const form = ConsentForm.safeParse(request.body)
    if (!form.success) throw malformed('The consent form is incomplete')
    const { query, ...decision } = form.data
    return authorize({ request, reply, sent: parseParameters(query), decided: decision, deps })
  })
}

/**
 * POST /oauth2/auth/mandate, the answer to a request for a mandate. The request is in the address, because the page shows the
 * fields of this form again when they are faulty.
 */
export async function mandateAnswer(app: FastifyInstance, deps: AuthorizeDeps): Promise<void> {
  browserScope(app, deps)
  neverStored(app)
  const options = { config: { admission: admissionOf, page: AUTHORIZATION_PATH } }
  app.post<{ Querystring: Parameters }>(`${AUTHORIZATION_PATH}/mandate`, options, async (request, reply) => {
    const form = MandateForm.safeParse(request.body)
    if (!form.success) throw malformed('The consent form is incomplete')
    return authorize({ request, reply, sent: request.query, decided: form.data, deps })
  })
}

/** A request of a client that is known by its document may wait for the server that has it. */
function admissionOf({ query, body }: FastifyRequest): 'slow' | undefined {
  const { query: sent } = (body ?? {}) as Record<string, unknown>
  const { client_id } = typeof sent === 'string' ? parsedOrEmpty(sent) : (query as Parameters)
  return typeof client_id === 'string' && isAddress(client_id) ? 'slow' : undefined
}

/** The handler reports what cannot be parsed. */
function parsedOrEmpty(text: string): Parameters {
  try {
    return parseParameters(text)
  } catch {
    return {}
  }
}

/** The page of a consent form is the request that it answers. */
function consentPage({ body }: FastifyRequest): string {
  const { query } = (body ?? {}) as Record<string, unknown>
  return typeof query === 'string' ? `${AUTHORIZATION_PATH}?${query}` : '/'
}

function neverStored(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}

/** Makes the description of these paths. A faulty request and a suspended application get none. */
function makeDescribeRequest(deps: FindingDeps, paths: readonly string[]) {
  return async (path: string): Promise<NextStep | undefined> => {
    const [pathname = '', query = ''] = path.split('?')
    if (!paths.includes(pathname)) return undefined
    try {
      const target = await findTarget(deps, parseParameters(query), undefined)
      if (target === undefined || target.app.suspended_at !== null) return undefined
      const { app } = target
      const { id, name, logo_url } = app
      // An application of a shop may leave the homepage to the other one.
      const shop = app.homepage !== null || id === null ? undefined : await linkedPaymentApp(deps.db, id)
      const exit = app.homepage ?? shop?.homepage ?? undefined
      return { app: { name, logo_url }, order: undefined, isPayment: false, exit }
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }
}
