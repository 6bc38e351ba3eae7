/** The pages of the second factor: set it up, replace recovery codes, turn it off. They require a fresh sign-in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { encodeQR } from 'qr'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { safeBack } from '../../web/back.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import { PROFILE, requireFreshSignIn } from '../session/reauthentication.ts'
import { relyingPartyId } from '../session/relying-party.ts'
import { agentOf, requireUser, type Session, sessionOf } from '../session/session.ts'
import {
  type Actor,
  findSecondFactor,
  remakeRecoveryCodes,
  turnOffSecondFactor,
  turnOnSecondFactor,
  turnOnWithPasskeys,
} from './second-factor.ts'
import { newTotpSecret, otpauthUri } from './totp.ts'

const PAGE = '/account/second-factor'
const QUIET_ZONE_MODULES = 4

const SetUpForm = z.object({
  setup: z.string().max(1_000),
  code: z.string(),
  return_to: z.string().optional(),
})

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/security/second-factor': { factor: NonNullable<Awaited<ReturnType<typeof findSecondFactor>>> }
    'accounts/security/second-factor-set-up': {
      uri: string
      qr: string
      secret: string
      setup: string
      back: string
      isRequired: boolean
      /** What passkeys can do here: turn the factor on, be added first, or nothing at an IP address. */
      passkeys: 'there' | 'none' | 'no-domain'
    }
    'accounts/security/recovery-codes': { codes: string[]; isNew: boolean; back: string }
  }
}

/** GET /account/second-factor; POST to it, to …/passkeys, …/recovery-codes and …/off. In a browser scope. */
export async function secondFactorPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireLocalAccount)
  app.addHook('preHandler', requireFreshSignIn(deps, { back: PROFILE }))

  app.get<{ Querystring: Record<string, unknown> }>(PAGE, async (request, reply) => {
    const factor = await findSecondFactor(deps.db, sessionOf(request).user.id)
    if (factor !== undefined) return reply.page('accounts/security/second-factor', { factor })
    const { setup, return_to: back } = request.refused?.typed ?? request.query
    // A wrong code keeps the secret.
    const kept = typeof setup === 'string' ? unseal(setup, sessionOf(request), deps) : undefined
    return showSetUp(request, reply, deps, { secret: kept ?? newTotpSecret(), back })
  })

  app.post(PAGE, async (request, reply) => {
    const session = sessionOf(request)
    const form = SetUpForm.safeParse(request.body)
    const secret = form.success ? unseal(form.data.setup, session, deps) : undefined
    if (!form.success || secret === undefined)
      throw new AppError('form_expired', 'This form has expired. Go back, reload the page and try again.')
    const { code, return_to: back } = form.data
    const codes = await turnOnSecondFactor(deps, actor(request), { secret, code: code.replace(/\s/g, '') })
    if (codes === undefined) throw new FormRefused({ code: request.locale.t.security.setUp.wrongCode })
    return reply.page('accounts/security/recovery-codes', { codes, isNew: true, back: ownPage(back) })
  })

  app.post(`${PAGE}/passkeys`, async (request, reply) => {
    const codes = await turnOnWithPasskeys(deps, actor(request))
    return reply.page('accounts/security/recovery-codes', { codes, isNew: true, back: PROFILE })
  })

  app.post(`${PAGE}/recovery-codes`, async (request, reply) => {
    if (!isSure(request)) return askFirst(reply, deps, 'recovery-codes')
    const codes = await remakeRecoveryCodes(deps, actor(request))
    return reply.page('accounts/security/recovery-codes', { codes, isNew: false, back: PAGE })
  })

  app.post(`${PAGE}/off`, async (request, reply) => {
    if (!isSure(request)) return askFirst(reply, deps, 'off')
    await turnOffSecondFactor(deps, actor(request))
    return reply.done(PROFILE, { text: request.locale.t.security.secondFactorGone, tone: 'warn' })
  })
}

function isSure({ body }: FastifyRequest): boolean {
  return (body as Record<string, unknown> | undefined)?.sure === '1'
}

/** Shows what an act ends, in figures. Throws conflict when the factor is off. */
async function askFirst(
  reply: FastifyReply,
  deps: Core,
  act: 'recovery-codes' | 'off',
): Promise<FastifyReply> {
  const { t, time } = reply.request.locale
  const factor = await findSecondFactor(deps.db, sessionOf(reply.request).user.id)
  if (factor === undefined) throw new AppError('conflict', 'There is no second factor')
  const { manage } = t.security
  const words = act === 'off' ? manage.sureOff : manage.sureCodes
  return reply.page('confirm', {
    title: words.title,
    lead: words.lead,
    facts: [
      { term: manage.on, value: time(factor.since) },
      { term: manage.codesThatEnd, value: String(factor.codesLeft) },
    ],
    notes: [factor.hasApp ? words.note : words.noteWithPasskeys],
    action: `${PAGE}/${act}`,
    fields: { sure: '1' },
    button: act === 'off' ? manage.off : manage.remake,
    isDanger: act === 'off',
    cancel: PAGE,
  })
}

/** Throws forbidden for members of the forum. NOTE: they have no password here, and the forum has its own second factor. */
async function requireLocalAccount(request: FastifyRequest): Promise<void> {
  if (!sessionOf(request).user.has_password)
    throw new AppError('forbidden', 'You sign in at the forum: its two-factor sign-in protects this account')
}

async function showSetUp(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
  { secret, back }: { secret: string; back: unknown },
): Promise<FastifyReply> {
  const session = sessionOf(request)
  const uri = otpauthUri(request.localized.site.name, session.user.username, secret)
  const data = {
    uri,
    qr: encodeQR(uri, 'svg', { border: QUIET_ZONE_MODULES }),
    secret: secret.replace(/.{4}(?=.)/g, '$& '),
    setup: seal(secret, session, deps),
    back: ownPage(back),
    isRequired: session.needs_second_factor,
    passkeys: await waysOfPasskeys(session, deps),
  }
  return reply.page('accounts/security/second-factor-set-up', data)
}

async function waysOfPasskeys(
  { user }: Session,
  { db, config }: Core,
): Promise<'there' | 'none' | 'no-domain'> {
  const rp_id = relyingPartyId(config)
  if (rp_id === undefined) return 'no-domain'
  const found = await db
    .selectFrom('passkeys')
    .where('user_id', '=', user.id)
    .where('rp_id', '=', rp_id)
    .select('id')
    .executeTakeFirst()
  return found === undefined ? 'none' : 'there'
}

/** Encrypts the new secret for the form. So opening the page stores nothing, and a wrong code keeps the secret. */
function seal(secret: string, { id }: Session, deps: Core): string {
  return deps.secrets.encrypt(`second factor set up in session ${id}`, secret).toString('base64url')
}

function unseal(setup: string, { id }: Session, deps: Core): string | undefined {
  try {
    return deps.secrets.decrypt(`second factor set up in session ${id}`, Buffer.from(setup, 'base64url'))
  } catch {
    return undefined
  }
}

function actor(request: FastifyRequest): Actor {
  const { id, user } = sessionOf(request)
  return { user_id: user.id, session_id: id, ip: request.ip, agent: agentOf(request) }
}

function ownPage(back: unknown): string {
  return back === undefined ? PROFILE : safeBack(back)
}
