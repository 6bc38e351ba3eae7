/** Mandates as their merchant and their member may know them. The database function mandate_facts describes one. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfOne } from '../../database/paging.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { MandateEnd, MandateKind, MandateNotice } from '../../database/tables/mandates.ts'
import { daysAfter, type Period, periodsUntil } from './periods.ts'

export const MANDATE_STATUSES = ['pending', 'active', 'paused', 'ended'] as const
export type MandateStatus = (typeof MANDATE_STATUSES)[number]
/** Why a mandate cannot be charged: spec/mandates 1.2. */
export type MandateReason = 'not_accepted' | 'lapsed' | 'not_started' | 'owner_changed' | MandateEnd

/** A mandate at a moment. Points are whole, days are `YYYY-MM-DD` in Asia/Shanghai. */
export type Mandate = {
  id: bigint
  mandate_id: string
  app_id: bigint
  book: Book
  reference: string
  /** The clock decides, before or after the sweep. The reason is null only while the mandate can be charged. */
  status: MandateStatus
  reason: MandateReason | null
  kind: MandateKind
  purpose: string
  charge_max: bigint
  period_max: bigint
  period: Period
  starts_on: string | null
  ends_on: string | null
  with_token: boolean
  /** The mandate_id of the mandate that its acceptance ends. */
  replaces: string | null
  user_id: bigint | null
  username: string | null
  /** The owner of the application whom the member agreed to. */
  payee_id: bigint | null
  /** The only member who may accept it. */
  only_user_id: bigint | null
  accepted_at: Date | null
  ended_at: Date | null
  /** The running period, its sum, what is left of it and when it ends. Null before the first day and after the end. */
  period_from: string | null
  period_to: string | null
  spent: bigint | null
  remaining: bigint | null
  resets_at: Date | null
  /** Of a fixed mandate that is active: the day from which the next charge is possible. */
  next_charge_on: string | null
  version: number
  notice: MandateNotice
  offer_expires_at: Date
  created_at: Date
  updated_at: Date
}

/** The most that the next charge can be, and the day from which it can come. Undefined: at any time. */
export type NextCharge = { points: bigint; from: string | undefined }

/** What these terms permit first, when they are accepted `today`. */
export function firstChargeOf(terms: { charge_max: bigint; starts_on: string }, today: string): NextCharge {
  const { charge_max: points, starts_on } = terms
  return { points, from: starts_on > today ? starts_on : undefined }
}

/** What the member can expect next of an active mandate. Undefined if nothing more can be charged. */
export function nextChargeOf(mandate: Mandate): NextCharge | undefined {
  const { status, reason, charge_max, starts_on, ends_on, period_to, remaining } = mandate
  if (status !== 'active') return undefined
  if (reason === 'not_started') return { points: charge_max, from: starts_on! }
  if (remaining !== 0n) return { points: remaining! < charge_max ? remaining! : charge_max, from: undefined }
  const from = daysAfter(period_to!, 1)
  return from > ends_on! ? undefined : { points: charge_max, from }
}

type Accepted = Pick<Mandate, 'period' | 'period_max' | 'starts_on' | 'ends_on'>

/** The most that an accepted mandate can still take until its last day: the rest of this period, and each later period in full. */
export function mostLeftOf(mandate: Accepted & Pick<Mandate, 'period_to' | 'remaining'>): bigint {
  const { period, period_max, starts_on, ends_on, period_to, remaining } = mandate
  const all = BigInt(periodsUntil(starts_on!, period, ends_on!))
  if (period_to === null) return all * period_max
  return remaining! + (all - BigInt(periodsUntil(starts_on!, period, period_to))) * period_max
}

/** The most that a later last day adds. Zero if no period begins between the two days. */
export function mostAddedBy({ period, period_max, starts_on, ends_on }: Accepted, day: string): bigint {
  const more = periodsUntil(starts_on!, period, day) - periodsUntil(starts_on!, period, ends_on!)
  return BigInt(Math.max(more, 0)) * period_max
}

/** Finds a mandate by its public id, or by its application's reference. */
export async function findMandate(
  db: Db,
  which: { mandate_id: string; app_id?: bigint } | { app_id: bigint; reference: string },
  now: Date,
): Promise<Mandate | undefined> {
  const conditions = Object.entries(which).map(([name, value]) => sql`${sql.ref(`m.${name}`)} = ${value}`)
  const { rows } = await sql<Mandate>`
    select facts.*, m.only_user_id from mandates as m cross join lateral mandate_facts(m, ${now}::timestamptz) as facts
    where ${sql.join(conditions, sql` and `)}`.execute(db)
  return rows[0]
}

/** Finds the public id of a mandate. */
export async function publicIdOf(db: Db, id: bigint | null): Promise<string | null> {
  if (id === null) return null
  const { mandate_id } = await db
    .selectFrom('mandates')
    .where('id', '=', id)
    .select('mandate_id')
    .executeTakeFirstOrThrow()
  return mandate_id
}

/** The mandates that one page with a filter looks at. The facts of each cost several reads. */
const LOOKED_THROUGH_MAX = 500

/** A page of mandates, the newest first unless `isAscending`. */
export type MandatePage = {
  limit: number
  isAscending?: boolean
  /** The id of the last mandate of the page before. */
  after?: bigint | undefined
  status?: MandateStatus | undefined
  /** The reference, the mandate_id or the member's name. */
  text?: string | undefined
  /** Offered from this moment on, and before that one. */
  since?: Date | undefined
  until?: Date | undefined
  /** Leaves out those that bind a member to this owner, for a former owner's token. */
  hiddenPayee?: bigint | undefined
}

/** One row more than asked for shows that there is another page. */
export type MandateList = {
  rows: Mandate[]
  /** The mandate_id that the bounded look reached, if there are more. The page may then have fewer rows than its limit. */
  stopped_at: string | null
}

/** Lists the mandates that a member has accepted, in any application. */
export function mandatesOfMember(
  db: Db,
  user_id: bigint,
  page: MandatePage,
  now: Date,
): Promise<MandateList> {
  return listed(db, { column: 'user_id', value: user_id }, page, now)
}

/** Lists the mandates of an application, offers too. */
export function mandatesOfApp(db: Db, app_id: bigint, page: MandatePage, now: Date): Promise<MandateList> {
  return listed(db, { column: 'app_id', value: app_id }, page, now)
}

/** Reads in the order of the index of (column, id). */
async function listed(
  db: Db,
  { column, value }: { column: 'user_id' | 'app_id'; value: bigint },
  { limit, isAscending = false, after, status, text, since, until, hiddenPayee }: MandatePage,
  now: Date,
): Promise<MandateList> {
  const direction = sql.raw(isAscending ? 'asc' : 'desc')
  const between = isAscending ? { after } : { before: after }
  const rowsOfLane = sql`
    from mandates where ${rowsOfOne(column, 'id', value, between)} order by ${sql.ref(column)} ${direction}, id ${direction}`
  const fits: RawBuilder<unknown>[] = []
  if (status !== undefined) fits.push(sql`facts.status = ${status}`)
  if (text !== undefined)
    fits.push(sql`${text} in (facts.reference, facts.mandate_id, lower(facts.username))`)
  if (since !== undefined) fits.push(sql`facts.created_at >= ${since}`)
  if (until !== undefined) fits.push(sql`facts.created_at < ${until}`)
  if (hiddenPayee !== undefined) fits.push(sql`facts.payee_id is distinct from ${hiddenPayee}`)
  const within = fits.length === 0 ? limit + 1 : LOOKED_THROUGH_MAX
  const { rows } = await sql<Mandate>`
    select facts.*, (looked_at.facts).only_user_id
    from (select mandates as facts ${rowsOfLane} limit ${within}) as looked_at
    cross join lateral mandate_facts(looked_at.facts, ${now}::timestamptz) as facts
    where ${sql.join([sql`true`, ...fits], sql` and `)} order by facts.id ${direction} limit ${limit + 1}`.execute(
    db,
  )
  if (rows.length > limit || fits.length === 0) return { rows, stopped_at: null }
  const stops = await sql<{ mandate_id: string }>`
    select mandate_id ${rowsOfLane} offset ${LOOKED_THROUGH_MAX - 1} limit 1`.execute(db)
  return { rows, stopped_at: stops.rows[0]?.mandate_id ?? null }
}
