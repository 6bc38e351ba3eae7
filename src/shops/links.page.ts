/** The pages that link an application with one of the other kind, and end the link. Both kinds have them. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import { FormRefused, readForm } from '../web/forms/forms.ts'
import type { Locale } from '../web/languages.ts'
import { joinSentences } from '../web/spacing.ts'
import { type Face, FaceOfSuspended } from './faces.ts'
import {
  type Change,
  type Kind,
  linkApps,
  linkablePaymentApps,
  linkableSignInApps,
  linkedPaymentApp,
  linkedSignInApp,
  type Other,
  previewLink,
  previewUnlink,
  unlinkApps,
} from './links.ts'

/** What the page of an application shows of its link. */
export type Shop = {
  kind: Kind
  other: Other | undefined
  /** What its owner can link it with. */
  candidates: Other[]
  isOwn: boolean
  /** Whether members cannot open it from the launch page, because it and the other one have no homepage. */
  hasNoHomepage: boolean
}

/** One answer to the question which name and logo each application has from now on. */
type Answer = { value: string; label: string; change: Change }

declare module '../web/views.ts' {
  interface PageData {
    'shops/faces': {
      title: string
      lead: string
      field: 'named_by' | 'gives_back'
      answers: Answer[]
      chosen: string
      action: string
      button: string
      cancel: string
    }
  }
  interface PartData {
    /** `action` is the address of the application, below which its forms are. */
    'shops/link': { shop: Shop; action: string }
    /** `page` has the field of the homepage. It is empty on that page itself. */
    'shops/no-homepage': { shop: Shop; page?: string }
  }
}

const OtherApp = z.object({ other: z.string().trim().min(1).max(300) })
const LinkForm = z.object({ named_by: z.enum(['sign_in', 'payment']) })
const UnlinkForm = z.object({ gives_back: z.enum(['yes', 'no']) })

type Read = { kind: Kind; app: { id: bigint; homepage: string | null }; owner_id: bigint | undefined }

/** Reads what the page shows of the link. Only the owner can link and unlink. */
export async function shopOf(db: Db, { kind, app, owner_id }: Read): Promise<Shop> {
  const [findOther, findCandidates] =
    kind === 'sign_in' ? [linkedPaymentApp, linkablePaymentApps] : [linkedSignInApp, linkableSignInApps]
  const [other, candidates] = await Promise.all([
    findOther(db, app.id),
    owner_id === undefined ? [] : findCandidates(db, owner_id),
  ])
  const hasNoHomepage = app.homepage === null && (other?.homepage ?? null) === null
  return { kind, other, candidates, isOwn: owner_id !== undefined, hasNoHomepage }
}

export type LinkForms<Request extends FastifyRequest> = {
  kind: Kind
  /** The route of the application. */
  path: string
  /** The identifier of the application that the path names. */
  idOf(request: Request): string
  /** The page of the application that has the links to these pages. */
  backTo(request: Request): string
  /** Throws for a member who may not link the application. */
  permit(request: Request): Promise<unknown>
}

/** The pages and forms …/link and …/unlink of an application. */
export function linkForms<Request extends FastifyRequest>(
  app: FastifyInstance,
  deps: Core,
  { kind, path, idOf, backTo, permit }: LinkForms<Request>,
): void {
  const actorOf = (request: FastifyRequest) => ({ user_id: sessionOf(request).user.id, ip: request.ip })
  /** The two applications that the request names, the other one by its query. */
  const pairOf = (request: Request) => {
    const { success, data } = OtherApp.safeParse(request.query)
    if (!success) throw new AppError('not_found', 'No application to link with')
    const [client_id, payment_id] =
      kind === 'sign_in' ? [idOf(request), data.other] : [data.other, idOf(request)]
    return { client_id, payment_id }
  }
  const whichOf = (request: Request) =>
    kind === 'sign_in' ? { client_id: idOf(request) } : { payment_id: idOf(request) }

  app.get(`${path}/link`, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const pair = { ...pairOf(own), owner_id: sessionOf(request).user.id }
    const { changes, proposed } = await previewLink(deps.db, pair)
    const { shopLink: l } = request.locale.t
    const asked = differenceOf(changes)
    const answers = ([proposed, proposed === 'payment' ? 'sign_in' : 'payment'] as const).map((value) => ({
      value,
      label: asked === 'logo' ? l.keepLogo[value] : l.keep[value](changes[value][value].before.name),
      change: changes[value],
    }))
    return reply.page('shops/faces', {
      title: l.chooses[asked],
      lead: l.chooseLead,
      field: 'named_by',
      // Where both answers do the same, there is nothing to choose.
      answers: asked === 'nothing' ? answers.slice(0, 1) : answers,
      chosen: proposed,
      action: request.url,
      button: l.link,
      cancel: backTo(own),
    })
  })

  app.post(`${path}/link`, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const pair = pairOf(own)
    const { named_by } = readForm(request, LinkForm)
    const change = await linkApps(deps, { ...pair, named_by, actor: actorOf(request) })
    const { done } = request.locale.t.shopLink
    const linked = done.linked(change.payment.after.name)
    return reply.done(backTo(own), { text: joinSentences([linked, ...changedIn(change, request.locale)]) })
  })

  app.get(`${path}/unlink`, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const change = await previewUnlink(deps.db, { ...whichOf(own), owner_id: sessionOf(request).user.id })
    const { shopLink: l } = request.locale.t
    const { payment, sign_in } = change
    const kept = {
      payment: { ...payment, after: payment.before },
      sign_in: { ...sign_in, after: sign_in.before },
    }
    const answers = [
      { value: 'no', label: l.keepBoth, change: kept },
      ...(isChanged(payment) || isChanged(sign_in) ? [{ value: 'yes', label: l.giveBack, change }] : []),
    ]
    return reply.page('shops/faces', {
      title: l.unlinkTitle(payment.before.name),
      lead: answers.length > 1 ? l.unlinkLead : l.unlinkKeeps,
      field: 'gives_back',
      answers,
      chosen: 'no',
      action: request.url,
      button: l.unlink,
      cancel: backTo(own),
    })
  })

  app.post(`${path}/unlink`, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const givesBack = readForm(request, UnlinkForm).gives_back === 'yes'
    const act = unlinkApps(deps, whichOf(own), actorOf(request), { givesBack })
    const change = await unlessSuspended(request, act)
    const { done } = request.locale.t.shopLink
    const changed = changedIn(change, request.locale)
    const kept = changed.length === 0 ? [done.keep(change.payment.after.name)] : changed
    return reply.done(backTo(own), { text: joinSentences([done.unlinked, ...kept]) })
  })
}

/** In what the two answers to a link differ. */
function differenceOf({ sign_in, payment }: { [named_by in Kind]: Change }): keyof Words['chooses'] {
  const [one, other] = [sign_in.payment.after, payment.payment.after]
  const hasSameLogo = one.logo_url === other.logo_url
  if (one.name !== other.name) return hasSameLogo ? 'name' : 'both'
  return hasSameLogo ? 'nothing' : 'logo'
}

type Words = Locale['t']['shopLink']

/** Whether an act changes the name or logo of an application. */
function isChanged({ before, after }: { before: Face; after: Face }): boolean {
  return before.name !== after.name || before.logo_url !== after.logo_url
}

/** Says what an act has changed of the two applications. */
function changedIn(change: Change, { t }: Locale): string[] {
  const { done } = t.shopLink
  const sentences = (['sign_in', 'payment'] as const).flatMap((kind) => {
    const { before, after } = change[kind]
    if (before.name !== after.name) return [done.renamed[kind](before.name, after.name)]
    return before.logo_url === after.logo_url ? [] : [done.newLogo[kind]]
  })
  const waits = change.sign_in.waitsForReview || change.payment.waitsForReview
  return waits ? [...sentences, done.waits] : sentences
}

/** Returns what the act answers. Throws FormRefused when the linked payment application is suspended. */
export async function unlessSuspended<T>({ locale }: FastifyRequest, act: Promise<T>): Promise<T> {
  return act.catch((error) => {
    throw error instanceof FaceOfSuspended
      ? new FormRefused({ '': locale.t.shopLink.suspended }, 'conflict')
      : error
  })
}
