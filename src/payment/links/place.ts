/** The act of ordering at a link. Its rule is the database function place_link_order. spec/links 2.1. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { LOWER_ALNUM, randomText, sha256 } from '../../platform/secrets.ts'
import { isPaused } from '../orders/repeats.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import type { Link } from './find.ts'

export type LinkRefusal =
  | ('not_found' | 'paused' | 'unusable' | 'not_on_sale' | 'not_yet' | 'over' | 'sold_out')
  | ('member_limit' | 'too_many_open' | 'not_allowed' | 'out_of_bounds')

export type LinkPurchase = {
  link: Pick<Link, 'slug' | 'book'> & { applicant_id: bigint }
  user_id: bigint
  units: number
  /** Whole points that the buyer chose, at a free price only. */
  amount: bigint | undefined
  /** What the buyer leaves for the team, if the link takes messages. */
  said?: { name: string; message: string } | undefined
  /** Made with the form: a form that is sent twice orders once. */
  key: string
}

/**
 * Places an order of a link for a member, or finds the one that the same form has placed. The price is the link's. Throws
 * too_many_attempts.
 */
export async function placeLinkOrder(
  deps: Core,
  { link, user_id, units, amount, said, key }: LinkPurchase,
): Promise<{ refusal: LinkRefusal } | { refusal: undefined; transaction_id: string }> {
  if (await isPaused(deps)) return { refusal: 'paused' }
  await deps.limits.hit('link_orders', user_id.toString())
  await countTestOrder(deps, link)
  const { order_expiry_minutes } = await deps.settings.read()
  const now = deps.clock()
  const expires_at = new Date(now.getTime() + order_expiry_minutes * 60_000)
  const { rows } = await sql<{ outcome: 'placed' | 'exists' | LinkRefusal; placed_id: string | null }>`
    select outcome, placed_id from place_link_order(
      ${link.slug}, ${user_id}::bigint, ${units}::integer, ${amount ?? null}::bigint,
      ${orderId(link.slug, user_id, key)}, ${`txn_${randomText(24, LOWER_ALNUM)}`},
      ${expires_at}::timestamptz, ${said?.name ?? null}, ${said?.message ?? null}, ${now}::timestamptz
    )`.execute(deps.db)
  const { outcome, placed_id } = rows[0]!
  return outcome === 'placed' || outcome === 'exists'
    ? { refusal: undefined, transaction_id: placed_id! }
    : { refusal: outcome }
}

/** The order_id of a form: 24 letters and digits of its hash. */
function orderId(slug: string, user_id: bigint, key: string): string {
  const bytes = sha256(`${slug}\0${user_id}\0${key}`).subarray(0, 24)
  return `lnk_${[...bytes].map((byte) => LOWER_ALNUM[byte % LOWER_ALNUM.length]).join('')}`
}
