/**
 * /apps/:client_id/secrets: the secrets of an application, and the forms that add one and end one. Both need a fresh sign-in,
 * ask first with the effect in figures, and say afterwards what they did. A new secret is shown once.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import type { PageData } from '../../web/views.ts'
import { countMembers, getApp } from './acts.ts'
import { APP_PAGE, type App, navOf, type OneApp, ownedBy } from './area.ts'
import type { Owned } from './lock.ts'
import { newSecretPage, showNewSecret } from './new-secret.page.ts'
import {
  addSecret,
  endSecret,
  judgeSecret,
  LIVE_SECRETS_MAX,
  type LiveSecret,
  liveSecrets,
  OVERLAP_HOURS,
  OVERLAP_HOURS_DEFAULT,
} from './secrets.ts'

const HOUR_MS = 3_600_000

const PAGE = `${APP_PAGE}/secrets`

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-secrets': {
      app: App
      nav: AreaNav
      secrets: LiveSecret[]
      overlap: { hours: number[]; preset: number; canAdd: boolean }
    }
  }
}

type OneSecret = { Params: { client_id: string; fingerprint: string } }

/** On the second page, `proof` is the presented secret, encrypted. */
const NewSecretForm = z.object({
  client_secret: z.string().max(200).default(''),
  proof: z.string().max(1_000).optional(),
  overlap_hours: z.coerce.number().refine((hours) => OVERLAP_HOURS.includes(hours)),
})

/** GET and POST …/secrets, the page that shows a new one once, and …/secrets/:fingerprint/end. */
export function secretPages(app: FastifyInstance, deps: Core): void {
  const preHandler = requireFreshSignIn(deps)
  app.get<OneApp>(PAGE, async (request, reply) => showSecrets(request, reply, deps))

  app.post<OneApp>(PAGE, { preHandler }, async (request, reply) => {
    const owned = ownedBy(request, deps)
    const { client_id, now } = owned
    const { id, name } = await getApp(deps.db, owned)
    const { registry: r } = request.locale.t
    const form = NewSecretForm.safeParse(request.body)
    const wish = form.data ?? { client_secret: '', proof: undefined, overlap_hours: OVERLAP_HOURS_DEFAULT }
    const { overlap_hours } = wish
    const formerUntil = new Date(now.getTime() + overlap_hours * HOUR_MS)
    if (wish.proof === undefined) {
      const judged = judgeSecret(await liveSecrets(deps.db, id, now), wish.client_secret)
      if ('problem' in judged) throw refusalOf(request, judged.problem)
      const proof = seal(request, client_id, wish.client_secret, deps)
      const fields = { proof, overlap_hours: String(overlap_hours) }
      return askToAdd(reply, deps, { id, name, client_id, former: judged.presented, formerUntil, fields })
    }
    const presented = unseal(request, client_id, wish.proof, deps)
    const added = await addSecret(deps.db, { ...owned, presented, overlap_hours })
    if ('problem' in added) throw refusalOf(request, added.problem)
    return showNewSecret(reply, deps, {
      page: `/apps/${client_id}/new-secret`,
      secret: added,
      done: { text: r.newSecret(overlap_hours === 0 ? '' : request.locale.time(formerUntil)) },
    })
  })

  app.get<OneApp>(`${APP_PAGE}/new-secret`, async (request, reply) => {
    const app = await getApp(deps.db, ownedBy(request, deps))
    return newSecretPage(reply, deps, { app, back: `/apps/${app.client_id}`, isOwn: true })
  })

  app.post<OneSecret>(`${PAGE}/:fingerprint/end`, { preHandler }, async (request, reply) => {
    const owned = ownedBy(request, deps)
    const { fingerprint } = request.params
    const { sure } = (request.body ?? {}) as Record<string, unknown>
    if (sure !== '1') return askToEnd(reply, deps, { owned, fingerprint })
    const left = await endSecret(deps.db, { ...owned, fingerprint })
    const { registry: r } = request.locale.t
    return reply.done(`/apps/${owned.client_id}/secrets`, {
      text: left === 0 ? r.endedLast(fingerprint) : r.ended(fingerprint),
      tone: left === 0 ? 'warn' : 'good',
    })
  })
}

async function showSecrets(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const owned = ownedBy(request, deps)
  const app = await getApp(deps.db, owned)
  const secrets = await liveSecrets(deps.db, app.id, owned.now)
  const canAdd = secrets.length < LIVE_SECRETS_MAX
  return reply.page('identity/apps/own-secrets', {
    app,
    nav: navOf(request, app),
    secrets,
    overlap: { hours: OVERLAP_HOURS, preset: OVERLAP_HOURS_DEFAULT, canAdd },
  })
}

/** The second live secret has no field of its own, because the form goes with it. */
function refusalOf({ locale }: FastifyRequest, problem: 'not_live' | 'two_live'): FormRefused {
  const { secretProblems } = locale.t.registry
  return new FormRefused({ [problem === 'not_live' ? 'client_secret' : '']: secretProblems[problem] })
}

type Adding = {
  id: bigint
  name: string
  client_id: string
  former: LiveSecret
  formerUntil: Date
  fields: Record<string, string>
}

async function askToAdd(
  reply: FastifyReply,
  deps: Core,
  { id, name, client_id, former, formerUntil, fields }: Adding,
): Promise<FastifyReply> {
  const { t, time } = reply.request.locale
  const { registry: r } = t
  const endsAtOnce = fields.overlap_hours === '0'
  return reply.page('confirm', {
    title: r.sureAdd,
    lead: endsAtOnce ? r.sureAddAtOnce(name) : r.sureAddText(name, time(formerUntil)),
    facts: [
      ...(await factsOf(reply, deps, { id, secret: former })),
      {
        term: r.formerEnds,
        value: endsAtOnce ? r.overlapHours[0]! : time(formerUntil),
        tone: endsAtOnce ? 'bad' : 'warn',
      },
    ],
    notes: [r.shownOnce, r.tokensStay],
    action: `/apps/${client_id}/secrets`,
    fields,
    button: r.makeSecret,
    isDanger: false,
    cancel: `/apps/${client_id}/secrets`,
  })
}

/** Throws not_found when no live secret has this fingerprint. */
async function askToEnd(
  reply: FastifyReply,
  deps: Core,
  { owned, fingerprint }: { owned: Owned; fingerprint: string },
): Promise<FastifyReply> {
  const { registry: r } = reply.request.locale.t
  const { id, name, client_id } = await getApp(deps.db, owned)
  const live = await liveSecrets(deps.db, id, owned.now)
  const secret = live.find((one) => one.fingerprint === fingerprint)
  if (secret === undefined) throw new AppError('not_found', 'No such secret')
  const isLast = live.length === 1
  return reply.page('confirm', {
    title: r.sureEnd(fingerprint),
    lead: isLast ? r.sureEndLast(name) : r.sureEndText(name),
    facts: [
      ...(await factsOf(reply, deps, { id, secret })),
      { term: r.secretsLeft, value: String(live.length - 1), tone: isLast ? 'bad' : 'good' },
    ],
    notes: [r.tokensStay],
    action: `/apps/${client_id}/secrets/${fingerprint}/end`,
    fields: { sure: '1' },
    button: r.endSecret,
    isDanger: true,
    cancel: `/apps/${client_id}/secrets`,
  })
}

async function factsOf(
  { request }: FastifyReply,
  { db }: Core,
  { id, secret }: { id: bigint; secret: LiveSecret },
): Promise<PageData['confirm']['facts']> {
  const { t, time, points } = request.locale
  const { registry: r } = t
  const { count, isMore } = await countMembers(db, id)
  return [
    { term: r.secret, value: `${secret.fingerprint}…` },
    { term: r.lastUsed, value: secret.last_used_at === null ? r.never : time(secret.last_used_at) },
    { term: r.affected, value: points(count) + (isMore ? '+' : '') },
  ]
}

const purposeOf = (request: FastifyRequest, client_id: string) =>
  `client secret of ${client_id} in session ${sessionOf(request).id}`

function seal(request: FastifyRequest, client_id: string, presented: string, { secrets }: Core): string {
  return secrets.encrypt(purposeOf(request, client_id), presented).toString('base64url')
}

/** Returns text that is no secret when the proof is from elsewhere. */
function unseal(request: FastifyRequest, client_id: string, proof: string, { secrets }: Core): string {
  try {
    return secrets.decrypt(purposeOf(request, client_id), Buffer.from(proof, 'base64url'))
  } catch {
    return ''
  }
}
