// This room: /admin: the figures of the day, what waits, health, and the first steps of a new site.
// Verbs: readToday, readWaiting, readHealth, readChecklist.
/** The first steps of a new site. The list ends itself when all is done, or when the site has been open for a month. */
import { sql } from 'kysely'
import { findSecondFactor } from '../../accounts/security/second-factor.ts'
import type { Core } from '../../core/core.ts'

export const STEPS = ['name', 'forum', 'mail', 'factor', 'fees', 'application'] as const
export type Step = { name: (typeof STEPS)[number]; isDone: boolean }

/** Days with payments after which a site is no longer new. */
const OPEN_DAYS = 30

/**
 * Returns the first steps, or undefined when the site is past them.
 * @param admin_id the administrator whose own second factor counts, unless every administrator needs one.
 */
export async function readChecklist(deps: Core, admin_id: bigint): Promise<Step[] | undefined> {
  const { db, config, settings } = deps
  const [{ rows }, factor, values] = await Promise.all([
    sql<{ is_open: boolean; has_fees: boolean; has_application: boolean; has_password: boolean }>`
      select
        (select count(*) from (
          select from books_days where paid > 0 limit ${OPEN_DAYS}
        ) as open) >= ${OPEN_DAYS} as is_open,
        exists (
          select from site_settings where name = 'points_payment_fee_rate' or name like 'points\\_transfer\\_fee\\_rate\\_tl_'
        ) or exists (select from books_days where paid > 0) as has_fees,
        exists (select from oauth_apps where owner_id is not null) or exists (select from payment_apps where book = 'live') as has_application,
        (select password_hash is not null from users where id = ${admin_id}) as has_password`.execute(db),
    findSecondFactor(db, admin_id),
    settings.read(),
  ])
  const found = rows[0]!
  if (found.is_open) return undefined
  const done: Record<Step['name'], boolean> = {
    name: values.site_name_en !== '' || values.site_name_zh_cn !== '',
    forum: config.DISCOURSE_URL !== undefined,
    mail: config.SMTP_URL !== undefined,
    // An administrator of the forum has a second factor there.
    factor: values.admins_need_second_factor === 'on' || factor !== undefined || !found.has_password,
    fees: found.has_fees,
    application: found.has_application,
  }
  if (Object.values(done).every(Boolean)) return undefined
  return STEPS.map((name) => ({ name, isDone: done[name] }))
}
