// This room: the ways in for local accounts: password, passkey, link, second step, registration.
// Verbs: finishSignIn, beginSecondStep, endSecondStep, useSignInLink.
// Tables: pending_sign_ins.
// Clauses: spec/accounts 2.1–2.2, 2.5–2.7; spec/mandates 2.4.
/**
 * /account/keep-access: after registering, a member adds an e-mail address and a passkey, so that a forgotten password does not
 * end the account. The page can be left at any time, and leads on to where the registration was going (spec/accounts 2.7).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { safeBack } from '../../web/back.ts'
import { type NextStep, nextStepOf } from '../../web/next-steps.ts'
import { addSentPasskey, type WayToAdd, wayToAdd } from '../passkeys/passkeys.page.ts'
import { hasMail } from '../people/email.ts'
import { sendConfirmation } from '../security/email-address.page.ts'
import { LINK_MINUTES, pendingAddress } from '../security/email-address.ts'
import { requireFreshSignIn } from '../session/reauthentication.ts'
import { requireUser, type Session, sessionOf } from '../session/session.ts'

const PAGE = '/account/keep-access'

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/sign-in/keep-access': {
      user: Session['user']
      back: string
      nextStep: NextStep | undefined
      hasMail: boolean
      /** The address that has a link and is not confirmed yet. */
      pending: string | undefined
      /** Undefined where browsers keep no passkey for this address. */
      adding: WayToAdd | undefined
    }
  }
}

/** Returns the address of the page that leads on to `back`, a path of this site. */
export function keepAccessUrl(back: string): string {
  return `${PAGE}?return_to=${encodeURIComponent(back)}`
}

/** GET /account/keep-access, and POST to …/email and …/passkey, in a browser scope. */
export async function keepAccessPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', requireUser)
  const config = { page: ({ body }: FastifyRequest) => keepAccessUrl(backIn(body)) }
  const preHandler = requireFreshSignIn(deps)

  app.get(PAGE, async (request, reply) => {
    const back = backIn(request.refused?.typed ?? request.query)
    const { user } = sessionOf(request)
    const shown = await waysOf(request, deps)
    const isOffered = user.has_password && (shown.hasMail || shown.adding !== undefined)
    if (!isOffered) return reply.redirect(back, 303)
    const nextStep = await nextStepOf(app, back)
    return reply.page('accounts/sign-in/keep-access', { user, back, nextStep, ...shown })
  })

  app.post(`${PAGE}/email`, { preHandler, config }, async (request, reply) => {
    const { user } = sessionOf(request)
    if (!hasMail(deps.config) || !user.has_password)
      throw new AppError('not_found', 'This site asks this member for no address')
    const email = await sendConfirmation(request, deps)
    const text = request.locale.t.keepAccess.sent(email, LINK_MINUTES)
    return reply.done(keepAccessUrl(backIn(request.body)), { text })
  })

  app.post(
    `${PAGE}/passkey`,
    { preHandler, config: { ...config, admission: 'slow' } },
    async (request, reply) => {
      const name = await addSentPasskey(request, deps)
      const text = request.locale.t.security.passkeys.added(name)
      return reply.done(keepAccessUrl(backIn(request.body)), { text })
    },
  )
}

const backIn = (sent: unknown) => safeBack((sent as Record<string, unknown> | undefined)?.return_to)

/** Reads which ways this site offers to the member. */
async function waysOf(request: FastifyRequest, deps: Core) {
  const { user } = sessionOf(request)
  const [pending, adding] = await Promise.all([
    pendingAddress(deps.db, user.id, deps.clock()),
    wayToAdd(request, 0, deps),
  ])
  return {
    hasMail: hasMail(deps.config),
    pending,
    adding: adding === 'no-domain' ? undefined : adding,
  }
}
