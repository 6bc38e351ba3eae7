// This room: tips, which members give to authors of the forum, and the application that holds their orders.
// Verbs: placeTip, tipRoom, findAuthor, findTipsApp, tipsCandidates, nameTipsApp, tipPages.
// Tables: tips, tip_days, tip_pairs.
// Clauses: spec/tips 1.1, 1.2, 2.1–2.3, 3.1.
/** The act of beginning a tip. Its rule is the database function place_tip, and paying judges it again. spec/tips 1.1. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { isPaused } from '../orders/repeats.ts'

const POST_PATH = /^\/t\/[^/?#\s]{1,200}\/(\d{1,10})(\/\d{1,6})?$/

/**
 * Whether this is the path of a post at the forum, and stays so in a browser, which reads `..` and a backslash as other paths. It is a
 * label: nothing proves that the author wrote the post.
 */
export function isPostPath(text: string): boolean {
  if (!POST_PATH.test(text)) return false
  const { pathname = '' } = URL.parse(text, 'http://forum.invalid') ?? {}
  return pathname.startsWith('/t/') && pathname.split('/').length === text.split('/').length
}

/** Returns the number of the topic in the path of a post. */
export function topicOf(post_path: string): bigint {
  return BigInt(POST_PATH.exec(post_path)?.[1] ?? 0)
}

/**
 * `unusable`: tips are off, or their application cannot take payments. `tip_refused`: the author may not receive this now.
 * `tip_limit`: the giver may not give this now.
 */
export type TipRefusal = 'paused' | 'unusable' | 'tip_refused' | 'tip_limit'

/** Why the giver cannot give now. */
export type Hindrance = 'paused' | 'unusable' | 'frozen' | 'tooNew' | 'level' | 'day' | 'pair' | 'received'

/** A member of the forum who has an account here. */
export type Author = {
  id: bigint
  username: string
  name: string | null
  avatar_url: string | null
  trust_level: number
}

/** Finds the account of a member of the forum by the member's number there. */
export function findAuthor(db: Db, forum_id: string): Promise<Author | undefined> {
  return db
    .selectFrom('users')
    .where('forum_id', '=', BigInt(forum_id))
    .select(['id', 'username', 'name', 'avatar_url', 'trust_level'])
    .executeTakeFirst()
}

/** What one member may give to another now: whole points, and numbers of tips. */
export type TipRoom = {
  /** The author may receive nothing from this giver, or at all. */
  cannot_receive: boolean
  /** What the author may receive today. */
  receivable: bigint
  /** The giver's account is younger than tips allow. */
  is_too_new: boolean
  one_max: bigint
  day_max: bigint
  given: bigint
  pair_max: bigint
  pair_tips: bigint
}

/** Reads the limits that pay_orders judges by. spec/tips 2.2. */
export async function tipRoom(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  { from_id, to_id }: { from_id: bigint; to_id: bigint },
): Promise<TipRoom> {
  const { rows } = await sql<TipRoom>`
    select * from tip_room(${from_id}::bigint, ${to_id}::bigint, ${clock()}::timestamptz)`.execute(db)
  return rows[0]!
}

export type NewTip = {
  from_id: bigint
  to_id: bigint
  /** Whole points. */
  amount: bigint
  post_path: string | null
}

/** Places the order of a tip. It reserves nothing. Throws too_many_attempts. */
export async function placeTip(
  deps: Core,
  { from_id, to_id, amount, post_path }: NewTip,
): Promise<{ refusal: TipRefusal } | { refusal: undefined; transaction_id: string }> {
  if (await isPaused(deps)) return { refusal: 'paused' }
  await deps.limits.hit('tips', from_id.toString())
  const { order_expiry_minutes } = await deps.settings.read()
  const now = deps.clock()
  const expires_at = new Date(now.getTime() + order_expiry_minutes * 60_000)
  const transaction_id = `txn_${randomText(24, LOWER_ALNUM)}`
  const { rows } = await sql<{ outcome: 'placed' | TipRefusal }>`
    select outcome from place_tip(
      ${from_id}::bigint, ${to_id}::bigint, ${amount}::bigint, ${post_path},
      ${`tip_${randomText(24, LOWER_ALNUM)}`}, ${transaction_id}, ${expires_at}::timestamptz, ${now}::timestamptz
    )`.execute(deps.db)
  const { outcome } = rows[0]!
  return outcome === 'placed' ? { refusal: undefined, transaction_id } : { refusal: outcome }
}
