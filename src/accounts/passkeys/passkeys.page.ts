/** /account/passkeys: a member's passkeys. The page requires a fresh sign-in, because a passkey signs in for good. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { isHonestText } from '../../web/parameters.ts'
import { describeDevice } from '../session/device.ts'
import { PROFILE, requireFreshSignIn } from '../session/reauthentication.ts'
import { passkeysAt } from '../session/relying-party.ts'
import { agentOf, requireUser, type Session, sessionOf } from '../session/session.ts'
import { creationOptions } from './options.ts'
import {
  getPasskey,
  handleFor,
  isHandle,
  type OwnPasskey,
  passkeysOf,
  removePasskey,
  renamePasskey,
} from './passkeys.ts'
import { addPasskey, PASSKEYS_MAX } from './register.ts'

export const PASSKEYS = '/account/passkeys'
const NAME_LENGTH_MAX = 60

const NameForm = z.object({ name: z.string().trim().min(1).max(NAME_LENGTH_MAX).refine(isHonestText) })
const NewPasskeyForm = z.object({
  name: z.string().trim().max(NAME_LENGTH_MAX).refine(isHonestText),
  handle: z.string().refine(isHandle),
  credential: z.string(),
})

/** What a refused passkey answers. */
const CODES = {
  expired: 'sign_in_required',
  unverified: 'invalid_form',
  full: 'conflict',
  known: 'conflict',
  needed: 'conflict',
} as const

/** How a passkey is added here, or why it is not. */
export type WayToAdd =
  | { options: string; handle: string; name: string }
  | 'full'
  | 'no-domain'
  | { at: string }

declare module '../../web/views.ts' {
  interface PageData {
    'accounts/passkeys/passkeys': {
      user: Session['user']
      passkeys: (OwnPasskey & { isElsewhere: boolean })[]
      adding: WayToAdd
    }
  }
  interface PartData {
    'accounts/passkeys/add': {
      adding: WayToAdd
      action: string
      hidden?: Record<string, string>
      isShort: boolean
    }
  }
}

/** GET /account/passkeys; POST to it, to …/:id/name and to …/:id/remove. In a browser scope. */
export async function passkeyPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireFreshSignIn(deps, { back: PROFILE }))

  app.get(PASSKEYS, async (request, reply) => show(request, reply, deps))

  app.post(PASSKEYS, { config: { admission: 'slow' } }, async (request, reply) => {
    const name = await addSentPasskey(request, deps)
    return reply.done(PASSKEYS, { text: request.locale.t.security.passkeys.added(name) })
  })

  app.post<{ Params: { id: string } }>(`${PASSKEYS}/:id/name`, async (request, reply) => {
    const { renamed, problems } = request.locale.t.security.passkeys
    const { name } = readForm(request, NameForm, { name: problems.badName })
    await renamePasskey(deps, { ...actOn(request), name })
    return reply.done(PASSKEYS, { text: renamed(name) })
  })

  app.post<{ Params: { id: string } }>(`${PASSKEYS}/:id/remove`, async (request, reply) => {
    const act = actOn(request)
    const passkey = await getPasskey(deps.db, act.user_id, act.id)
    if ((request.body as Record<string, unknown>).sure !== '1') return askFirst(reply, passkey)
    if ((await removePasskey(deps, act)) === 'needed') refuse(request, 'needed')
    const { removed } = request.locale.t.security.passkeys
    return reply.done(PASSKEYS, { text: removed(passkey.name), tone: 'warn' })
  })
}

/** Reads the form with a passkey, adds it for the signed-in member, and returns its name. Throws FormRefused. */
export async function addSentPasskey(request: FastifyRequest, deps: Core): Promise<string> {
  const { problems } = request.locale.t.security.passkeys
  const words = { name: problems.badName, handle: problems.unverified, credential: problems.unverified }
  const form = readForm(request, NewPasskeyForm, words)
  const name = form.name || nameOfBrowser(request)
  const outcome = await addPasskey(deps, request, { ...form, name })
  if (outcome !== 'added') refuse(request, outcome)
  return name
}

/** Throws FormRefused. */
function refuse({ locale }: FastifyRequest, problem: keyof typeof CODES): never {
  throw new FormRefused({ '': locale.t.security.passkeys.problems[problem] }, CODES[problem])
}

async function show(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { user } = sessionOf(request)
  const rp_id = passkeysAt(request.host, deps.config)?.rp_id
  const passkeys = (await passkeysOf(deps.db, user.id)).map((passkey) => ({
    ...passkey,
    isElsewhere: passkey.rp_id !== rp_id,
  }))
  const adding = await wayToAdd(request, passkeys.length, deps)
  return reply.page('accounts/passkeys/passkeys', { user, passkeys, adding })
}

/** Returns how a member with this many passkeys adds another one. */
export async function wayToAdd(request: FastifyRequest, count: number, deps: Core): Promise<WayToAdd> {
  const here = passkeysAt(request.host, deps.config)
  if (here === undefined) return 'no-domain'
  if (count >= PASSKEYS_MAX) return 'full'
  if (!here.mayRegister) return { at: `${deps.config.PUBLIC_URL}${PASSKEYS}` }
  const { id: user_id, username, name } = sessionOf(request).user
  const handle = await handleFor(deps.db, user_id)
  const options = await creationOptions(request, here, { user_id, username, name, handle }, deps)
  return { options, handle, name: nameOfBrowser(request) }
}

function askFirst(reply: FastifyReply, { id, name, created_at, last_used_at }: OwnPasskey): FastifyReply {
  const { t, time } = reply.request.locale
  const words = t.security.passkeys
  return reply.page('confirm', {
    title: words.sureTitle(name),
    lead: words.sureLead,
    facts: [
      { term: words.made, value: time(created_at) },
      { term: words.used, value: last_used_at === null ? words.unused : time(last_used_at) },
    ],
    notes: [words.sureNote],
    action: `${PASSKEYS}/${id}/remove`,
    fields: { sure: '1' },
    button: words.remove,
    isDanger: true,
    cancel: PASSKEYS,
  })
}

/** The name of a passkey whose member types none. */
function nameOfBrowser({ headers, locale }: FastifyRequest): string {
  return describeDevice(headers['user-agent'] ?? '', locale.t)
}

/** Throws not_found for an id that is no number. */
function actOn(request: FastifyRequest) {
  const { id } = request.params as { id: string }
  if (!/^\d{1,18}$/.test(id)) throw new AppError('not_found', 'You have no such passkey')
  return { user_id: sessionOf(request).user.id, id: BigInt(id), ip: request.ip, agent: agentOf(request) }
}
