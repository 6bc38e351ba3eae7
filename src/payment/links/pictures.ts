/** The picture of a link, and the preview that forums show of it. spec/links 4.8 and 4.9. */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { coloursOf, OWN_ACCENT } from '../../core/brand.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'
import { getLink, type MadeLink } from './find.ts'
import { drawPreview } from './preview-picture.ts'

/** Members choose these pictures, so the name is longer than a hash that somebody could find a second picture for. */
const NAME_LENGTH = 32
const nameOf = (picture: Buffer) => createHash('sha256').update(picture).digest('hex').slice(0, NAME_LENGTH)

type Priced = { amount: bigint | null; amount_min: bigint | null }

/** What a preview shows: the price and the picture. */
function drawnOf({ amount, amount_min }: Priced, picture: string | null): string {
  return `${amount ?? `${amount_min}+`} ${picture ?? ''}`
}

/** The name of a link's picture of a kind. The query names the link `link`. */
const named = (kind: 'picture' | 'preview'): RawBuilder<string | null> =>
  sql`(select name from link_pictures where link_id = link.id and kind = ${kind})`

/** The names of a link's pictures, for a query that names the link `link`. */
export const PICTURES = {
  picture: named('picture'),
  preview: named('preview'),
  preview_of: sql<
    string | null
  >`(select drawn_of from link_pictures where link_id = link.id and kind = 'preview')`,
}

type Pictured = { slug: string; picture: string | null; preview: string | null; preview_of: string | null }

/** The path of a link's picture. Undefined for a link without one. */
export function pictureOf({ slug, picture }: Pick<Pictured, 'slug' | 'picture'>): string | undefined {
  return picture === null ? undefined : `/l/${slug}/${picture}.png`
}

/** The path of the preview. Undefined while it shows another price or picture than the link has. */
export function previewOf(link: Pictured & Priced): string | undefined {
  const isCurrent = link.preview !== null && link.preview_of === drawnOf(link, link.picture)
  return isCurrent ? `/l/${link.slug}/${link.preview}.png` : undefined
}

/**
 * Stores a picture that encodedAgain returned as that of a link, or takes it away. Throws what lockPermitted throws, not_found, and
 * too_many_attempts.
 */
export async function setPicture(
  deps: Core,
  payment_id: string,
  { slug, picture }: { slug: string; picture: Buffer | null },
  actor: Actor,
): Promise<void> {
  if (picture !== null) await deps.limits.hit('app_logos', actor.user_id.toString())
  await deps.db.transaction().execute(async (tx) => {
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    const link = await getLink(tx, slug, app)
    if (picture !== null) return storePicture(tx, deps, { id: link.id, slug, app }, picture, actor)
    await tx
      .deleteFrom('link_pictures')
      .where('link_id', '=', link.id)
      .where('kind', '=', 'picture')
      .execute()
    await audit(tx, 'link.picture', payment_id, { slug, picture: null }, actor)
  })
  await redrawPreview(deps, slug)
}

/** Stores the picture of a link. The caller has counted it, and draws the preview after its transaction. */
export async function storePicture(
  tx: Tx,
  { clock }: Pick<Core, 'clock'>,
  { id, slug, app }: MadeLink,
  picture: Buffer,
  actor: Actor,
): Promise<void> {
  await store(tx, { link_id: id, kind: 'picture', picture, drawn_of: null, now: clock() })
  await audit(tx, 'link.picture', app.payment_id, { slug, picture: nameOf(picture) }, actor)
}

type Stored = {
  link_id: bigint
  kind: 'picture' | 'preview'
  picture: Buffer
  drawn_of: string | null
  now: Date
}

async function store(db: Db, { link_id, kind, picture, drawn_of, now }: Stored): Promise<void> {
  const row = { name: nameOf(picture), picture, drawn_of, created_at: now }
  await db
    .insertInto('link_pictures')
    .values({ link_id, kind, ...row })
    .onConflict((conflict) => conflict.columns(['link_id', 'kind']).doUpdateSet(row))
    .execute()
}

/**
 * Draws the preview of a link that was saved, unless the stored one shows the same. It follows the transaction, which holds the
 * wallet of payments. If the process ends in between, the page names no preview until the next save.
 */
export async function redrawPreview({ db, settings, clock }: Core, slug: string): Promise<void> {
  const link = await db
    .selectFrom('links as link')
    .where('link.slug', '=', slug)
    .leftJoin('link_pictures as shown', (join) =>
      join.onRef('shown.link_id', '=', 'link.id').on('shown.kind', '=', 'picture'),
    )
    .select(['link.id', 'link.slug', 'link.amount', 'link.amount_min', 'shown.picture as pixels'])
    .select([
      PICTURES.picture.as('picture'),
      PICTURES.preview.as('preview'),
      PICTURES.preview_of.as('preview_of'),
    ])
    .executeTakeFirst()
  if (link === undefined || previewOf(link) !== undefined) return
  const { accent, 'on-accent': on } = coloursOf((await settings.read()).site_accent || OWN_ACCENT, 'light')
  const picture = drawPreview({
    points: link.amount ?? link.amount_min ?? 0n,
    isFree: link.amount === null,
    ...{ accent, on, picture: link.pixels ?? undefined },
  })
  const drawn_of = drawnOf(link, link.picture)
  await store(db, { link_id: link.id, kind: 'preview', picture, drawn_of, now: clock() })
}

/**
 * Returns a picture of a link by its name. The address of a former one shows the present preview, because forums keep addresses for
 * days.
 */
export async function findPicture(db: Db, link_id: bigint, name: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('link_pictures')
    .where('link_id', '=', link_id)
    .where((eb) => eb.or([eb('name', '=', name), eb('kind', '=', 'preview')]))
    .orderBy((eb) => eb('name', '<>', name))
    .select('picture')
    .executeTakeFirst()
  return row?.picture
}
