/** What members report of a link, and how staff settles it. spec/links 5.1 and 5.2. */
import { sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { BIGGEST_ID, type Db, type Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { isHonestProse } from '../../web/parameters.ts'
import { onceADay, raiseAlert } from '../alerts/alerts.ts'
import { type Actor, audit, rolesWith } from '../rights/rights.ts'
import { getLink, type Link } from './find.ts'

export const REPORT_LENGTH_MAX = 500
const REPORT_LENGTH_MIN = 10
/** Open reports of a link that the page of the staff shows, and how many it counts. */
const SHOWN_MAX = 5
const COUNTED_MAX = 99

export const ReportField = z
  .string()
  .transform((text) => text.replaceAll('\r\n', '\n').trim())
  .refine((text) => [...text].length >= REPORT_LENGTH_MIN && [...text].length <= REPORT_LENGTH_MAX)
  .refine(isHonestProse)

/** Whether members can report a link in this state. A draft is its team's alone, and nothing is sold at the others. */
export function isReportable({ state }: Pick<Link, 'state'>): boolean {
  return state === 'on_sale' || state === 'paused'
}

/**
 * Keeps the report of a member and alerts the team, once a day. A member's second report of a link changes nothing. Throws not_found,
 * conflict when nothing is sold at the link any more, and too_many_attempts.
 */
export async function reportLink(
  deps: Core,
  { slug, user_id, text }: { slug: string; user_id: bigint; text: string },
): Promise<void> {
  await deps.limits.hit('link_reports', user_id.toString())
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const link = await getLink(tx, slug)
    if (link.state === 'draft') throw new AppError('not_found', 'There is no such link')
    if (!isReportable(link)) throw new AppError('conflict', `This link is ${link.state}`)
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('link_reports')
      .values({ link_id: link.id, user_id, text, created_at: now })
      .onConflict((conflict) => conflict.constraint('link_reports_once').doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows === 0n) return
    await raiseAlert(tx, deps, {
      ...{ app_id: link.app_id, kind: 'link_reported', facts: { link: slug, title: link.title } },
      cause: `${slug} ${onceADay(now)}`,
      to: { roles: rolesWith('settings.edit') },
    })
  })
}

export type OpenReports = Map<
  bigint,
  { count: number; isMore: boolean; last_id: bigint; newest: OpenReport[] }
>
type OpenReport = { id: bigint; username: string; text: string; created_at: Date }

/** The reports of these links that staff has not settled: how many, and the newest of them. */
export async function openReports(db: Db, link_ids: bigint[]): Promise<OpenReports> {
  const { rows } = await sql<OpenReport & { link_id: bigint; count: number }>`
    select report.*, member.username
    from (
      select open.*, row_number() over (partition by link_id order by open.id desc) as place, count(*) over (partition by link_id)::int as count
      from unnest(${link_ids}::bigint[]) as asked (link)
      cross join lateral (
        select id, link_id, user_id, text, created_at from link_reports
        where (link_id, id) > (asked.link, 0) and (link_id, id) < (asked.link, ${BIGGEST_ID}::bigint) and settled_at is null
        order by link_id desc, id desc limit ${COUNTED_MAX + 1}
      ) as open
    ) as report join users as member on member.id = report.user_id
    where report.place <= ${SHOWN_MAX}
    order by report.link_id, report.id desc`.execute(db)
  const found: OpenReports = new Map()
  for (const { link_id, count, ...report } of rows) {
    const of = found.get(link_id) ?? {
      ...{ count: Math.min(count, COUNTED_MAX), isMore: count > COUNTED_MAX, last_id: report.id },
      newest: [],
    }
    of.newest.push(report)
    found.set(link_id, of)
  }
  return found
}

/**
 * Settles the reports of a link as unfounded, as an administrator: those up to the one that was read, so a later one stays open. A
 * repeat does nothing. Throws not_found.
 */
export async function dismissReports(
  { db, clock }: Core,
  { slug, last_id }: { slug: string; last_id: bigint },
  actor: Actor,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const link = await getLink(tx, slug)
    const count = await settleReports(tx, link, { last_id, user_id: actor.user_id, now: clock() })
    if (count === 0n) return
    const { payment_id } = await tx
      .selectFrom('payment_apps')
      .where('id', '=', link.app_id)
      .select('payment_id')
      .executeTakeFirstOrThrow()
    await audit(tx, 'link.dismiss_reports', payment_id, { slug, count: String(count) }, actor)
  })
}

/** Settles the open reports of a link, with `last_id` those up to that one. Returns how many there were. */
export async function settleReports(
  tx: Tx,
  { id }: Pick<Link, 'id'>,
  { last_id, user_id, now }: { last_id?: bigint; user_id: bigint; now: Date },
): Promise<bigint> {
  const { numUpdatedRows } = await tx
    .updateTable('link_reports')
    .set({ settled_at: now, settled_by: user_id })
    .where('link_id', '=', id)
    .where('settled_at', 'is', null)
    .$if(last_id !== undefined, (query) => query.where('id', '<=', last_id!))
    .executeTakeFirst()
  return numUpdatedRows
}
