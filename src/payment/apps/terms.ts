/**
 * The terms of one payment application, which an administrator sets: its fee rate, and its daily limits of payments and
 * transfers in points. The database functions pay_orders and post_transfers apply them.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { rate } from '../../core/setting-kinds.ts'
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { takingsBetween } from '../orders/takings.ts'
import { pointsOf } from '../wire-fields/money.ts'

/** The price of the worked example, in a merchant's currency. */
const EXAMPLE_MONEY = '9.90'
const UNIT_MONEY = '1.00'
/** Points for one unit of currency above which a rate is probably a mistake. The default rate is 100. */
const UNUSUAL_POINTS = 1_000n

const dailyMax = z
  .string()
  .trim()
  .regex(/^\d{0,16}$/)
  .transform((text) => (text === '' ? null : BigInt(text)))
  .refine((points) => points === null || points <= BigInt(Number.MAX_SAFE_INTEGER))

/** The form of the terms. An empty rate means the site's rate, an empty limit means no limit. */
export const termsForm = z.object({
  fee_rate: z
    .string()
    .trim()
    .pipe(z.union([rate.schema, z.literal('')]))
    .transform((text) => text || null),
  daily_payments_max: dailyMax,
  daily_transfers_max: dailyMax,
  reason: z.string().trim().max(500),
})

export type Terms = z.output<typeof termsForm>

type TermsAct = { actor_id: bigint; ip: string | null; now: Date }

/** Whether these terms of an application need a second administrator. The caller has locked the rule. */
export async function termsNeedTwo(
  tx: Tx,
  payment_id: string,
  terms: Omit<Terms, 'reason'>,
): Promise<boolean> {
  await lockTerms(tx, payment_id)
  const { fee_rate, daily_payments_max, daily_transfers_max } = terms
  const { rows } = await sql<{ needs_two: boolean }>`
    select terms_need_two(
      ${payment_id}, ${fee_rate}::numeric, ${daily_payments_max}::bigint, ${daily_transfers_max}::bigint
    ) as needs_two`.execute(tx)
  return rows[0]!.needs_two
}

/** Sets all terms of an application and writes the audit log. Throws not_found. */
export async function setTermsWithin(
  tx: Tx,
  payment_id: string,
  { reason, ...terms }: Terms,
  { actor_id, ip, now }: TermsAct,
): Promise<void> {
  const { id, ...before } = await lockTerms(tx, payment_id)
  await tx
    .updateTable('payment_apps')
    .set({ ...terms, updated_at: now })
    .where('id', '=', id)
    .execute()
  // Drops the day's sums, which payments without a limit did not increase. The next act sums the day again.
  await tx.deleteFrom('payment_app_days').where('app_id', '=', id).execute()
  const detail = { before: textsOf(before), after: textsOf(terms), reason }
  await recordAudit(tx, { actor_id, action: 'payment_app.terms', subject: payment_id, detail, ip })
}

async function lockTerms(tx: Tx, payment_id: string) {
  const app = await tx
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select(['id', 'daily_payments_max', 'daily_transfers_max'])
    .select(sql<string | null>`trim_scale(fee_rate)::text`.as('fee_rate'))
    // Concurrent transfers lock the row's key.
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', 'There is no such payment application')
  return app
}

/** The terms as texts. */
export type TermTexts = Record<'fee_rate' | 'daily_payments_max' | 'daily_transfers_max', string | null>

/** The terms as texts, for the audit log and proposals. */
export function textsOf({
  fee_rate,
  daily_payments_max,
  daily_transfers_max,
}: Omit<Terms, 'reason'>): TermTexts {
  return {
    fee_rate,
    daily_payments_max: daily_payments_max?.toString() ?? null,
    daily_transfers_max: daily_transfers_max?.toString() ?? null,
  }
}

/** The terms that textsOf wrote. */
export function termsOfTexts({
  fee_rate,
  daily_payments_max,
  daily_transfers_max,
}: TermTexts): Omit<Terms, 'reason'> {
  return {
    fee_rate,
    daily_payments_max: daily_payments_max === null ? null : BigInt(daily_payments_max),
    daily_transfers_max: daily_transfers_max === null ? null : BigInt(daily_transfers_max),
  }
}

/** The current terms, today's payments and transfers in points, and an example sale of EXAMPLE_MONEY. */
export type TermsInForce = {
  /** Decimal text; null if the site's rate applies. */
  fee_rate: string | null
  /** The applied rate in percent, as decimal text. */
  fee_percent: string
  daily_payments_max: bigint | null
  daily_transfers_max: bigint | null
  payments_today: bigint
  transfers_today: bigint
  example: { money: string; points: bigint; fee: bigint; merchant_points: bigint }
  /** The points for one unit of currency, only if unusual: less than one, or more than UNUSUAL_POINTS. */
  unusual_points: bigint | undefined
}

const DAY_MS = 86_400_000

type Row = Omit<TermsInForce, 'example' | 'payments_today' | 'unusual_points'> & {
  fee: bigint
  start: Date
  tips_today: bigint
}

/** Reads the terms of one application. Days begin at midnight in Asia/Shanghai. */
export async function termsOf(
  deps: Core,
  { id, exchange_rate }: { id: bigint; exchange_rate: string },
): Promise<TermsInForce> {
  const now = deps.clock()
  const { points_payment_fee_rate } = await deps.settings.read()
  const points = pointsOf(EXAMPLE_MONEY, exchange_rate)
  const { rows } = await sql<Row>`
    select trim_scale(app.fee_rate)::text as fee_rate, trim_scale(applied.rate * 100)::text as fee_percent,
      app.daily_payments_max, app.daily_transfers_max,
      today.start, case when app.is_tips then (
        select coalesce(sum(amount), 0)::bigint from orders where app_id = app.id and paid_at >= today.start
      ) else 0 end as tips_today,
      transferred_between(app.id, today.start, 'infinity') as transfers_today,
      payment_fee(${points}::bigint, applied.rate) as fee
    from payment_apps as app
    cross join lateral (select coalesce(app.fee_rate, ${points_payment_fee_rate}::numeric) as rate) as applied
    cross join lateral (select
      date_trunc('day', ${now}::timestamptz at time zone 'Asia/Shanghai') at time zone 'Asia/Shanghai' as start
    ) as today
    where app.id = ${id}`.execute(deps.db)
  const { fee, start, tips_today, ...terms } = rows[0]!
  const [takings] = await takingsBetween(deps.db, id, [start, new Date(now.getTime() + DAY_MS)])
  const unit = pointsOf(UNIT_MONEY, exchange_rate)
  const unusual_points = unit < 1n || unit > UNUSUAL_POINTS ? unit : undefined
  return {
    ...terms,
    payments_today: tips_today + takings!.points,
    unusual_points,
    example: { money: EXAMPLE_MONEY, points, fee, merchant_points: points - fee },
  }
}
