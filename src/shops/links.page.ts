/** The forms that link an application with one of the other kind, and end the link. Both kinds have them on their pages. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import { FormRefused, readForm } from '../web/forms/forms.ts'
import type { Locale } from '../web/languages.ts'
import { joinSentences } from '../web/spacing.ts'
import {
  FaceOfSuspended,
  type Linked,
  linkApps,
  linkablePaymentApps,
  linkableSignInApps,
  linkedPaymentApp,
  linkedSignInApp,
  type Other,
  unlinkApps,
} from './links.ts'

/** The kind of the application whose page it is. */
type Kind = 'sign_in' | 'payment'

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

declare module '../web/views.ts' {
  interface PartData {
    /** `action` is the address of the application, below which its forms are. */
    'shops/link': { app: { name: string }; shop: Shop; action: string }
    'shops/no-homepage': { shop: Shop }
  }
}

const LinkForm = z.object({ other: z.string().trim().min(1).max(300) })

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
  /** The route of the page of the forms. */
  page: string
  /** The identifier of the application that the path names. */
  idOf(request: Request): string
  backTo(request: Request): string
  /** Throws for a member who may not link the application. */
  permit(request: Request): Promise<unknown>
}

/** POST …/link and …/unlink of an application. */
export function linkForms<Request extends FastifyRequest>(
  app: FastifyInstance,
  deps: Core,
  { kind, path, page, idOf, backTo, permit }: LinkForms<Request>,
): void {
  const config = { page }
  const actorOf = (request: FastifyRequest) => ({ user_id: sessionOf(request).user.id, ip: request.ip })

  app.post(`${path}/link`, { config }, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const { other } = readForm(request, LinkForm, { other: request.locale.t.shopLink.missing })
    const [client_id, payment_id] = kind === 'sign_in' ? [idOf(own), other] : [other, idOf(own)]
    const act = { client_id, payment_id, named_by: kind, actor: actorOf(request) }
    const linked = await linkApps(deps, act)
    return reply.done(backTo(own), { text: reportOf(linked, request.locale) })
  })

  app.post(`${path}/unlink`, { config }, async (request, reply) => {
    const own = request as Request
    await permit(own)
    const which = kind === 'sign_in' ? { client_id: idOf(own) } : { payment_id: idOf(own) }
    const { name } = await unlinkApps(deps, which, actorOf(request))
    return reply.done(backTo(own), { text: request.locale.t.shopLink.done.unlinked(name) })
  })
}

function reportOf({ name, nameBefore, isNewLogo, waitsForReview }: Linked, { t }: Locale): string {
  const { done } = t.shopLink
  return joinSentences([
    done.linked(name),
    ...(nameBefore === name ? [] : [done.renamed(nameBefore)]),
    ...(isNewLogo ? [done.newLogo] : []),
    ...(waitsForReview ? [done.waits] : []),
  ])
}

/** Returns what the act answers. Throws FormRefused when the linked payment application is suspended. */
export async function unlessSuspended<T>({ locale }: FastifyRequest, act: Promise<T>): Promise<T> {
  return act.catch((error) => {
    throw error instanceof FaceOfSuspended
      ? new FormRefused({ '': locale.t.shopLink.suspended }, 'conflict')
      : error
  })
}
