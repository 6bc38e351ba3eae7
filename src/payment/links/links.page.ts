/** …/links: the links of an application, the form of each, and what its team does with it. spec/links 1.1–1.3 and 4.1. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { LOGO_BYTES_MAX } from '../../core/logo-picture.ts'
import { TABLE_LINES } from '../../database/paging.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, type FormView, readForm } from '../../web/forms/forms.ts'
import { cursor, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { logoIfAny } from '../../web/logo-form.ts'
import { acceptFiles, BODY_BYTES_MAX } from '../../web/parameters.ts'
import { navFor } from '../apps/area.ts'
import { APPLICATION, actorOf, CONFIRMED, isConfirmed, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted, type Permitted, type Right } from '../rights/rights.ts'
import {
  changeLink,
  createLink,
  deleteDraft,
  editLink,
  findSaleFault,
  freeMaxOf,
  type LinkChange,
  type LinkDetails,
  type SaleFault,
} from './acts.ts'
import { BYTES_MAX as CODES_BYTES_MAX, type Imported, insertCodes } from './codes.ts'
import { readCodesOf, sayImported, sayImportFault } from './codes-form.ts'
import { lastDelivery } from './delivery.ts'
import { fieldsOf, type LinkFields, LinkKind, linkForm } from './form.ts'
import { pictureOf, storePicture } from './pictures.ts'
import { getLinkOf, type ListedLink, linksOfApp, type TeamLink } from './reads.ts'
import { linkUrl } from './share.ts'

export const LINKS = `${APPLICATION}/links`
export const ONE = `${LINKS}/:slug`

export type LinkOfRequest = OwnedRequest & { params: { slug: string } }

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/links': PartData['parts/pager'] & {
      owned: Permitted
      nav: AreaNav
      links: ListedLink[]
      address: string
    } & Selling
    'payment/links/new': Editing
    'payment/links/edit': Editing & { link: ShownLink; address: string; picture: string | undefined }
  }
  interface PartData {
    'payment/links/head': { owned: Permitted; link: ShownLink; address: string }
    'payment/links/fields': {
      of: FormView
      fields: LinkFields
      freeMax: bigint
      isKindFixed: boolean
      isNew?: boolean
      /** Whether only a larger stock makes a sold-out link sell. */
      needsStock?: boolean
    }
    'payment/links/limits': { of: FormView; fields: LinkFields; needsStock: boolean }
    'payment/links/codes-fields': { of: FormView }
    'payment/links/picture': { address: string; picture: string | undefined }
    'payment/links/price': Pick<TeamLink, 'amount' | 'amount_min' | 'amount_max'> & { isTest: boolean }
    'payment/links/state': Pick<TeamLink, 'shown'>
    'payment/links/sale-fault': Selling
  }
}

/** A link with the address of its page. */
export type ShownLink = TeamLink & { url: string }

type Selling = { fault: SaleFault | undefined; neededLevel: number }
type Editing = {
  owned: Permitted
  nav: Awaited<ReturnType<typeof navFor>>
  fields: LinkFields
  freeMax: bigint
} & Selling

/** The moment of the change that a form shows. */
const Seen = z.object({
  seen: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
})

/** Two long texts and what is delivered, each percent-encoded. */
const config = { bodyLimit: 2 * BODY_BYTES_MAX }

/** Registers the pages within a browser scope of signed-in members. */
export async function teamLinkPages(app: FastifyInstance, deps: Core): Promise<void> {
  app.get(LINKS, async (request: OwnedRequest, reply) => showLinks(request, reply, deps))

  app.get(`${LINKS}/new`, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'settings.edit')
    return reply.page('payment/links/new', await editing(request, deps, owned, undefined))
  })

  await app.register(async (scope) => newLinkForm(scope, deps))

  app.get(ONE, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'orders.read')
    const link = await shownLink(request, deps, owned).catch(ifMissing)
    // Alerts and mails lead here after the draft was deleted.
    if (link === undefined) {
      const text = request.locale.t.teamLinks.deletedDraft
      return reply.done(`${pathOf(request)}/links`, { text, tone: 'warn' })
    }
    const shown = await editing(request, deps, owned, link)
    const address = addressOf(request, link.slug)
    return reply.page('payment/links/edit', { ...shown, link, address, picture: pictureOf(link) })
  })

  app.post(ONE, config, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findLink(request, deps, 'settings.edit')
    const details = await readLink(request, deps, owned)
    const { seen } = readForm(request, Seen)
    const { teamLinks: l } = request.locale.t
    const isSaved = await editLink(
      deps,
      owned.payment_id,
      { slug: link.slug, details, seen },
      actorOf(request),
    )
    // The page shows the form as it was typed, with the moment of the other change.
    if (!isSaved) throw new FormRefused({ '': l.changedMeanwhile }, 'conflict')
    return reply.done(addressOf(request, link.slug), {
      text: savedText(request, link, await shownLink(request, deps, owned)),
    })
  })

  for (const change of ['publish', 'pause', 'resume', 'end'] as const) changeForm(app, deps, change)

  app.post(`${ONE}/delete`, { config: { page: ONE } }, async (request: OwnedRequest, reply) => {
    const { link, owned } = await findLink(request, deps, 'settings.edit')
    const { teamLinks: l } = request.locale.t
    if (!isConfirmed(request))
      return askFirst(request, reply, { owned, link, act: 'delete', words: l.ask.delete })
    await deleteDraft(deps, owned.payment_id, { slug: link.slug }, actorOf(request))
    return reply.done(`${pathOf(request)}/links`, { text: l.deleted(link.title) })
  })
}

/**
 * The form that makes a draft with its codes and its picture, in a scope of its own because of its files. It stores all of them or
 * nothing.
 */
function newLinkForm(scope: FastifyInstance, deps: Core): void {
  acceptFiles(
    scope,
    { file: CODES_BYTES_MAX, logo: LOGO_BYTES_MAX },
    { field: 'codes', bytes_max: CODES_BYTES_MAX },
  )
  const config = { admission: 'slow' } as const
  scope.post(`${LINKS}/new`, { config }, async (request: OwnedRequest, reply) => {
    const owned = await permitted(request, deps, 'settings.edit')
    const details = await readLink(request, deps, owned)
    // Only a link of codes takes them. A faulty list is refused with every kind, so the merchant sees the fault.
    const sent = readCodesOf(request)
    const list = details.delivery === 'codes' ? sent : undefined
    const picture = logoIfAny(request)
    const actor = actorOf(request)
    if (picture !== undefined) await deps.limits.hit('app_logos', actor.user_id.toString())
    let imported: Imported | undefined
    const slug = await createLink(deps, owned.payment_id, details, actor, async (tx, link) => {
      if (picture !== undefined) await storePicture(tx, deps, link, picture, actor)
      if (list === undefined) return
      const added = await insertCodes(tx, deps, link, list.read, actor)
      if ('fault' in added) throw new FormRefused({ [list.field]: sayImportFault(request, added) })
      imported = added
    })
    const { createdCodes } = request.locale.t.teamLinks
    const page = `/l/${slug}`
    if (imported !== undefined) return reply.done(page, { text: sayImported(request, imported) })
    return details.delivery === 'codes'
      ? reply.done(`${addressOf(request, slug)}/codes`, { text: createdCodes })
      : reply.redirect(page, 303)
  })
}

/** The form that publishes, pauses, resumes or ends a link. Ending asks first, because it is final. */
function changeForm(app: FastifyInstance, deps: Core, change: LinkChange): void {
  app.post(`${ONE}/${change}`, { config: { page: ONE } }, async (request: OwnedRequest, reply) => {
    const { link, owned } = await findLink(request, deps, 'settings.edit')
    const { teamLinks: l } = request.locale.t
    if (change === 'end' && !isConfirmed(request))
      return askFirst(request, reply, { owned, link, act: 'end', words: l.ask.end })
    if (change === 'publish' || change === 'resume') {
      const { fault, neededLevel } = await sellingOf(deps, owned)
      if (fault !== undefined) throw new FormRefused({ '': l.faults[fault](neededLevel) }, 'conflict')
    }
    await changeLink(deps, owned.payment_id, { slug: link.slug, change }, actorOf(request))
    const address = addressOf(request, link.slug)
    const next = change === 'publish' ? `${address}/share` : address
    return reply.done(next, { text: l.changed[change] })
  })
}

function askFirst(
  request: OwnedRequest,
  reply: FastifyReply,
  {
    owned,
    link,
    act,
    words,
  }: {
    owned: Permitted
    link: TeamLink
    act: 'end' | 'delete'
    words: { title: string; note: string; button: string }
  },
): FastifyReply {
  const address = addressOf(request, link.slug)
  return reply.page('confirm', {
    title: words.title,
    shop: owned.name,
    lead: link.title,
    facts: [],
    notes: [words.note],
    action: `${address}/${act}`,
    fields: { ...CONFIRMED },
    button: words.button,
    isDanger: true,
    cancel: address,
  })
}

export const addressOf = (request: OwnedRequest, slug: string) => `${pathOf(request)}/links/${slug}`

function permitted(request: OwnedRequest, { db }: Core, right: Right): Promise<Permitted> {
  return getPermitted(db, request.params.payment_id, sessionOf(request).user.id, right)
}

/** The link of a page. Throws what getPermitted throws, and not_found. */
export async function findLink(
  request: OwnedRequest,
  deps: Core,
  right: Right,
): Promise<{ owned: Permitted; link: ShownLink }> {
  const owned = await permitted(request, deps, right)
  return { owned, link: await shownLink(request, deps, owned) }
}

async function shownLink(request: OwnedRequest, deps: Core, { id }: Permitted): Promise<ShownLink> {
  const { slug } = (request as LinkOfRequest).params
  const link = await getLinkOf(deps.db, id, slug, deps.clock())
  return { ...link, url: linkUrl(deps, slug) }
}

/** Says what a saved link does now that it did not before. */
function savedText(
  { locale }: OwnedRequest,
  before: ShownLink,
  { shown, left, ...after }: ShownLink,
): string {
  const { teamLinks: l } = locale.t
  if (before.shown === 'sold_out' && shown === 'on_sale' && left !== null)
    return l.sellsAgain(locale.points(left))
  const isNewPrice = (['amount', 'amount_min', 'amount_max'] as const).some(
    (price) => before[price] !== after[price],
  )
  return isNewPrice ? l.savedPrice : l.saved
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}

/** Says what each field of a link takes. */
function wordsOf({ locale }: OwnedRequest): Record<string, string> {
  return locale.t.teamLinks.problems
}

/** Reads the form of a link. Throws FormRefused. */
async function readLink(request: OwnedRequest, deps: Core, owned: Permitted): Promise<LinkDetails> {
  const settings = await deps.settings.read()
  const freeMax = await freeMaxOf(deps.db, settings, owned)
  const { t, points } = request.locale
  const words = { ...wordsOf(request), amount_max: t.teamLinks.amountMaxWrong(points(freeMax)) }
  const kind = readForm(request, LinkKind, words)
  return readForm(request, linkForm(kind, { zone: settings.time_zone, freeMax }), words)
}

async function sellingOf(deps: Core, owned: Permitted): Promise<Selling> {
  const settings = await deps.settings.read()
  const fault = await findSaleFault(deps.db, settings, owned)
  return { fault, neededLevel: settings.links_min_trust_level }
}

async function editing(
  request: OwnedRequest,
  deps: Core,
  owned: Permitted,
  link: TeamLink | undefined,
): Promise<Editing> {
  const settings = await deps.settings.read()
  const [nav, selling, freeMax, delivery] = await Promise.all([
    navFor(deps, request, owned),
    sellingOf(deps, owned),
    freeMaxOf(deps.db, settings, owned),
    link && owned.rights.includes('settings.edit') ? lastDelivery(deps.db, deps.secrets, link.id) : undefined,
  ])
  const fields = fieldsOf(link, delivery?.value ?? '', settings.time_zone)
  return { owned, nav, fields, freeMax, ...selling }
}

async function showLinks(request: OwnedRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const owned = await permitted(request, deps, 'orders.read')
  const before = cursor.parse((request.query as Record<string, unknown>).before)
  const [nav, selling, found] = await Promise.all([
    navFor(deps, request, owned),
    sellingOf(deps, owned),
    linksOfApp(deps.db, owned.id, { now: deps.clock(), before, limit: TABLE_LINES + 1 }),
  ])
  const { rows: links, next } = onePage(found, TABLE_LINES)
  const address = `${pathOf(request)}/links`
  return reply.page('payment/links/links', {
    ...{ owned, nav, links, address, before, ...selling },
    newest: listUrl(address, {}),
    older: olderUrl(address, {}, next),
  })
}
