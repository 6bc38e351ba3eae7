// This room: payment links, which sell one thing each on a page of their own, and deliver it in the paying transaction.
// Verbs: createLink, editLink, changeLink, deleteDraft, stopLink, linksOfApp, findLinks, addCodes, takeBackCodes, salesOfLink, placeLinkOrder, deliveryOf, tellOfStock, tellOfSales, mailReceipts, setPicture, judgeMessage, removeMessage, reportLink, dismissReports.
// Tables: links, link_deliveries, link_orders, link_codes, link_pictures, link_reports, receipt_notices.
// Clauses: spec/links 1.1–1.4, 2.1–2.6, 3.1–3.5, 4.1–4.9, 5.1–5.3.
/** What a shop's team and the staff do with a link. spec/links 1.1–1.4. Their locks: migrations/functions/payment/links.sql. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { LinkState } from '../../database/tables/links.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import {
  type Actor,
  audit,
  getPermitted,
  lockPermitted,
  type Permitted,
  rolesWith,
} from '../rights/rights.ts'
import { encryptDelivery, lastDelivery } from './delivery.ts'
import { getLink, type Link, type MadeLink } from './find.ts'
import { redrawPreview } from './pictures.ts'
import { settleReports } from './reports.ts'

/** Links of an application that are not ended. */
export const LINKS_MAX = 200
const SLUG_LENGTH = 10

/** What a link sells, and to whom: the fields of its form. */
export type LinkDetails = Pick<
  Link,
  | ('title' | 'description' | 'thanks' | 'amount' | 'amount_min' | 'amount_max' | 'suggestions')
  | ('quantity_max' | 'stock' | 'member_max' | 'sells_from' | 'sells_until' | 'min_level' | 'allow_groups')
  | ('delivery' | 'shows_stock' | 'low_stock' | 'messages' | 'sale_alerts')
> & {
  /** The text or the address that a buyer gets. Empty for the other kinds. */
  delivered: string
}

/**
 * Makes a draft, and returns its slug. Throws what lockPermitted throws, conflict when the application has LINKS_MAX links,
 * invalid_form for a free price above the owner's limit, and too_many_attempts.
 * @param fill adds what else the draft has, in the same transaction.
 */
export async function createLink(
  deps: Core,
  payment_id: string,
  details: LinkDetails,
  actor: Actor,
  fill?: (tx: Tx, link: MadeLink) => Promise<void>,
): Promise<string> {
  const settings = await deps.settings.read()
  // Counts only for the team, and before the transaction, which would wait for a second connection with its locks.
  await getPermitted(deps.db, payment_id, actor.user_id, 'settings.edit')
  await deps.limits.hit('links_created', payment_id)
  const slug = await deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    const { count } = await tx
      .selectFrom('links')
      .where('app_id', '=', app.id)
      .where('state', '<>', 'ended')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= LINKS_MAX) throw new AppError('conflict', `An application has at most ${LINKS_MAX} links`)
    await requireFreeMax(tx, settings, app, details)
    const { delivered, ...values } = details
    const slug = randomText(SLUG_LENGTH, LOWER_ALNUM)
    const { id } = await tx
      .insertInto('links')
      .values({ ...values, app_id: app.id, book: app.book, slug })
      .returning('id')
      .executeTakeFirstOrThrow()
    await storeDelivery(tx, deps, id, details)
    await audit(tx, 'link.create', payment_id, { slug, title: values.title }, actor)
    await fill?.(tx, { id, slug, app })
    return slug
  })
  await redrawPreview(deps, slug)
  return slug
}

/**
 * Changes a link. Placed orders keep their amounts. With `seen`, the moment of the change that the form shows, it changes nothing after
 * another change, and returns false. Throws conflict for another kind of delivery than the one it has sold.
 */
export async function editLink(
  deps: Core,
  payment_id: string,
  { slug, details, seen }: { slug: string; details: LinkDetails; seen?: Date | undefined },
  actor: Actor,
): Promise<boolean> {
  const settings = await deps.settings.read()
  const isSaved = await deps.db.transaction().execute(async (tx) => {
    const { app, link } = await lockLink(tx, payment_id, slug, actor)
    if (seen !== undefined && seen.getTime() !== link.updated_at.getTime()) return false
    if (link.state === 'ended') throw new AppError('conflict', 'This link has ended')
    if (details.delivery !== link.delivery && (await hasSold(tx, link.id)))
      throw new AppError('conflict', 'A link keeps the kind of delivery that it has sold')
    await requireFreeMax(tx, settings, app, details)
    const { delivered, ...values } = details
    // Alerts that are switched on begin with the next sale.
    const isBegun = link.sale_alerts === 'off' && details.sale_alerts !== 'off'
    const begins = isBegun && { sales_alerted: sql<bigint>`units_sold(id)` }
    await tx
      .updateTable('links')
      .set({ ...values, ...begins, updated_at: deps.clock() })
      .where('id', '=', link.id)
      .execute()
    await storeDelivery(tx, deps, link.id, details)
    await audit(tx, 'link.edit', payment_id, { slug, title: values.title }, actor)
    return true
  })
  if (isSaved) await redrawPreview(deps, slug)
  return isSaved
}

/** The states that an act of the team leads from, and the one that it leads to. */
const CHANGES = {
  publish: { from: ['draft'], to: 'on_sale' },
  pause: { from: ['on_sale'], to: 'paused' },
  resume: { from: ['paused'], to: 'on_sale' },
  end: { from: ['on_sale', 'paused'], to: 'ended' },
} as const satisfies Record<string, { from: LinkState[]; to: LinkState }>

export type LinkChange = keyof typeof CHANGES

/**
 * Publishes, pauses, resumes or ends a link. After pausing or ending, no sale commits. Throws conflict from another state, and
 * when the link may not be on sale. A repeat does nothing.
 */
export async function changeLink(
  deps: Core,
  payment_id: string,
  { slug, change }: { slug: string; change: LinkChange },
  actor: Actor,
): Promise<void> {
  const settings = await deps.settings.read()
  const { from, to } = CHANGES[change]
  await deps.db.transaction().execute(async (tx) => {
    const { app, link } = await lockLink(tx, payment_id, slug, actor)
    if (link.state === to) return
    if (!from.some((state) => state === link.state))
      throw new AppError('conflict', `A link that is ${link.state} cannot ${change}`)
    const fault = to === 'on_sale' ? await findSaleFault(tx, settings, app) : undefined
    if (fault !== undefined) throw new AppError('conflict', `No link may be on sale: ${fault}`)
    await setState(tx, link, to, deps.clock())
    await audit(tx, `link.${change}`, payment_id, { slug }, actor)
  })
}

type Settings = Awaited<ReturnType<Core['settings']['read']>>

/** Why no link of an application may be on sale: the site's setting, the application's review, or its owner's level. */
export type SaleFault = 'off' | 'not_approved' | 'level'

/** Finds why no link of an application may be on sale. */
export async function findSaleFault(
  db: Db,
  { links, links_min_trust_level }: Settings,
  app: Pick<Permitted, 'status' | 'applicant_id'>,
): Promise<SaleFault | undefined> {
  if (links === 'off') return 'off'
  if (app.status !== 'approved') return 'not_approved'
  return (await levelOfOwner(db, app)) < links_min_trust_level ? 'level' : undefined
}

/** The highest price that buyers of an application may choose. */
export async function freeMaxOf(
  db: Db,
  settings: Settings,
  app: Pick<Permitted, 'applicant_id'>,
): Promise<bigint> {
  const level = (await levelOfOwner(db, app)) as 0 | 1 | 2 | 3 | 4
  return BigInt(settings[`links_free_max_tl${level}`])
}

/** Deletes a draft that has no orders, with its codes. Throws conflict for another link. */
export async function deleteDraft(
  deps: Core,
  payment_id: string,
  { slug }: { slug: string },
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { link } = await lockLink(tx, payment_id, slug, actor)
    if (link.state !== 'draft') throw new AppError('conflict', 'Only a draft can be deleted')
    await tx.deleteFrom('link_codes').where('link_id', '=', link.id).execute()
    await tx.deleteFrom('link_pictures').where('link_id', '=', link.id).execute()
    await tx.deleteFrom('link_deliveries').where('link_id', '=', link.id).execute()
    await tx.deleteFrom('links').where('id', '=', link.id).execute()
    await audit(tx, 'link.delete', payment_id, { slug, title: link.title }, actor)
  })
}

/**
 * Stops a link as an administrator, which settles its reports, or with `reason` undefined allows it again, as paused. Throws
 * not_found, and conflict when there is nothing to stop or allow.
 */
export async function stopLink(
  deps: Core,
  { slug, reason }: { slug: string; reason: string | undefined },
  actor: Actor,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ applicant_id: bigint; book: string; payment_id: string }>`
      select app.applicant_id, app.book, app.payment_id from payment_apps as app
      where app.id = (select app_id from links where slug = ${slug}) for no key update`.execute(tx)
    const [app] = rows
    if (app === undefined) throw new AppError('not_found', 'There is no such link')
    await lockOwnersWallet(tx, app)
    const link = await getLink(tx, slug)
    const isStopped = link.state === 'stopped'
    if (isStopped !== (reason === undefined) || link.state === 'ended')
      throw new AppError('conflict', `This link is ${link.state}`)
    const stopped =
      reason === undefined ? {} : { stopped_at: now, stopped_by: actor.user_id, stopped_reason: reason }
    await setState(tx, link, reason === undefined ? 'paused' : 'stopped', now, stopped)
    await audit(
      tx,
      reason === undefined ? 'link.allow' : 'link.stop',
      app.payment_id,
      { slug, reason },
      actor,
    )
    if (reason === undefined) return
    await settleReports(tx, link, { user_id: actor.user_id, now })
    const facts = { link: slug, title: link.title, reason }
    const to = { roles: rolesWith('settings.edit') }
    await raiseAlert(tx, deps, {
      ...{ app_id: link.app_id, kind: 'link_stopped', facts, to },
      cause: `${slug} ${now.toISOString()}`,
    })
  })
}

/**
 * Locks a link for an act that may take something off sale: the application, then its owner's wallet, which every payment to it
 * locks. Throws what lockPermitted throws, and not_found.
 */
export async function lockLink(
  tx: Tx,
  payment_id: string,
  slug: string,
  actor: Actor,
): Promise<{ app: Permitted; link: Link }> {
  const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
  await lockOwnersWallet(tx, app)
  return { app, link: await getLink(tx, slug, app) }
}

/** After this, no payment to the application is under way. The caller has locked the application. */
async function lockOwnersWallet(
  tx: Tx,
  { applicant_id, book }: { applicant_id: bigint; book: string },
): Promise<void> {
  await sql`select from lock_wallets(array[${applicant_id}]::bigint[], array[${book}])`.execute(tx)
}

async function setState(
  tx: Tx,
  { id }: Link,
  state: LinkState,
  now: Date,
  stopped: Partial<Pick<Link, 'stopped_at' | 'stopped_by' | 'stopped_reason'>> = {},
): Promise<void> {
  const none = { stopped_at: null, stopped_by: null, stopped_reason: null }
  await tx
    .updateTable('links')
    .set({ state, ...none, ...stopped, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Stores the text or the address as a new version, unless it is the last one. */
async function storeDelivery(
  tx: Tx,
  { secrets }: Pick<Core, 'secrets'>,
  link_id: bigint,
  { delivery, delivered }: LinkDetails,
): Promise<void> {
  if (delivery !== 'text' && delivery !== 'url') return
  const last = await lastDelivery(tx, secrets, link_id)
  if (last?.kind === delivery && last.value === delivered) return
  const row = { link_id, kind: delivery, value_encrypted: encryptDelivery(secrets, link_id, delivered) }
  await tx.insertInto('link_deliveries').values(row).execute()
}

async function hasSold(tx: Tx, link_id: bigint): Promise<boolean> {
  const { rows } = await sql<{ sold: bigint }>`select units_sold(${link_id}::bigint) as sold`.execute(tx)
  return rows[0]!.sold > 0n
}

async function levelOfOwner(db: Db, { applicant_id }: Pick<Permitted, 'applicant_id'>): Promise<number> {
  const owner = db.selectFrom('users').where('id', '=', applicant_id).select('trust_level')
  return (await owner.executeTakeFirstOrThrow()).trust_level
}

async function requireFreeMax(
  tx: Tx,
  settings: Settings,
  app: Permitted,
  { amount_max }: LinkDetails,
): Promise<void> {
  if (amount_max === null) return
  const max = await freeMaxOf(tx, settings, app)
  if (amount_max > max)
    throw new AppError('invalid_form', `Buyers may choose ${max} points at most, by the owner’s trust level`)
}
