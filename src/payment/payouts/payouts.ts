/** Creates, reads, cancels and resumes payouts. spec/payouts 1.2–1.4 and 2.5. Their rules: migrations/functions/payment/payouts.sql. */
import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { columnsOf } from '../../database/batcher.ts'
import { BIGGEST_ID, type Db, type Tx } from '../../database/connection.ts'
import type { PayoutCancellation, PayoutsTables } from '../../database/tables/payouts.ts'
import { AppError } from '../../platform/errors.ts'
import { madeBefore } from '../orders/repeats.ts'
import { byLevel, requireTransfersOn } from '../orders/transfers.ts'
import type { PayoutRequest } from './request.ts'

/** Payouts of an application that wait for their turn. */
export const WAITING_MAX = 10
/** The largest sum that JSON carries exactly. */
const POINTS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

type Row = Selectable<PayoutsTables['payouts']>

/** A payout with the sums of its lines, in whole points. */
export type Payout = Row & {
  count: number
  pending: number
  paid: number
  refused: number
  cancelled: number
  /** Of all lines: of paid ones as they were, of the others by the rates of the creation. */
  amount: bigint
  fee: bigint
  /** What paid lines cost, with their fees. */
  paid_total: bigint
}

export type PayoutLineResult = Omit<
  Selectable<PayoutsTables['payout_lines']>,
  'payout_id' | 'transfer_id'
> & {
  transaction_id: string | null
}

/** Whose points a payout moves. */
export type Payer = { app_id: bigint; owner_id: bigint }

export type NewPayout = Pick<PayoutRequest, 'reference' | 'mode' | 'lines'>

/**
 * Creates a payout, or returns the one that the same request created before. Throws parameter_invalid when the reference has
 * another mode or other lines, and too_many_attempts when ten wait.
 * @param requireAllowed throws the refusal of a new payout. A repeated request is answered anyway.
 */
export async function createPayout(
  deps: Core,
  payer: Payer,
  asked: NewPayout,
  requireAllowed: () => void | Promise<void>,
): Promise<Payout> {
  const settings = await deps.settings.read()
  const before = await madeBefore(
    async () => {
      await requireAllowed()
      requirePayoutsOn(settings)
    },
    () => findSame(deps.db, payer, asked),
  )
  if (before !== undefined) return before
  if ((await findSame(deps.db, payer, asked)) === undefined)
    await deps.limits.hit('payouts', payer.app_id.toString())
  const now = deps.clock()
  return deps.db.transaction().execute(async (tx) => {
    const { app_id } = payer
    await lockApp(tx, payer)
    const made = await findSame(tx, payer, asked)
    if (made !== undefined) return made
    await requireTurn(tx, app_id)
    await insertPayout(tx, {
      ...payer,
      ...asked,
      status: 'waiting',
      now,
      rates: byLevel(settings, 'points_transfer_fee_rate'),
    })
    return (await findPayout(tx, app_id, asked.reference))!
  })
}

/** Throws what refuses every new payout: payments_paused and transfers_disabled. */
export function requirePayoutsOn(settings: SettingValues): void {
  requireTransfersOn(settings)
  if (settings.payouts === 'off') throw new AppError('transfers_disabled', 'Payouts are disabled')
}

/** Throws too_many_attempts when ten payouts of the application wait. The caller has locked the application. */
export async function requireTurn(tx: Tx, app_id: bigint): Promise<void> {
  const waiting = await tx
    .selectFrom('payouts')
    .where('app_id', '=', app_id)
    .where('status', '=', 'waiting')
    .select('id')
    .limit(WAITING_MAX)
    .execute()
  if (waiting.length === WAITING_MAX)
    throw new AppError('too_many_attempts', `${WAITING_MAX} payouts wait already: send it again later`, {
      retry_after_seconds: 60,
    })
}

/** Locks the application, so that its owner stays. Throws application_unusable when it has another owner by now. */
async function lockApp(tx: Tx, { app_id, owner_id }: Payer): Promise<void> {
  const { applicant_id } = await tx
    .selectFrom('payment_apps')
    .where('id', '=', app_id)
    .select('applicant_id')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  if (applicant_id !== owner_id)
    throw new AppError('application_unusable', 'This payment application has a new owner')
}

/** Throws parameter_invalid for a payout of this reference that asks for something else. */
async function findSame(db: Db, { app_id }: Payer, asked: NewPayout): Promise<Payout | undefined> {
  const found = await findPayout(db, app_id, asked.reference)
  if (found !== undefined && !found.fingerprint.equals(fingerprintOf(asked)))
    throw new AppError(
      'parameter_invalid',
      'Invalid payout: this reference was used with another mode or other lines',
    )
  return found
}

function fingerprintOf({ mode, lines }: NewPayout): Buffer {
  const asked = lines.map(({ line_id, to_user_id, to_username, amount, memo }) => [
    ...[line_id, String(to_user_id), to_username, String(amount), memo],
  ])
  return createHash('sha256')
    .update(JSON.stringify([mode, asked]))
    .digest()
}

/** Stores a payout with its lines. Throws parameter_invalid for lines whose sum cannot be counted. */
export async function insertPayout(
  tx: Tx,
  payout: Payer & NewPayout & { status: 'draft' | 'waiting'; now: Date; rates: (string | null)[] },
): Promise<bigint> {
  const { app_id, owner_id, reference, mode, lines, status, now, rates } = payout
  const { rows } = await sql<{ id: bigint }>`
    insert into payouts (app_id, book, reference, mode, status, owner_id, fingerprint, created_at, updated_at)
    select id, book, ${reference}, ${mode}, ${status}, ${owner_id}, ${fingerprintOf(payout)}, ${now}, ${now}
    from payment_apps where id = ${app_id}
    returning id`.execute(tx)
  const numbered = lines.map((line, i) => ({ ...line, n: BigInt(i + 1) }))
  const inserted = await sql<{ total: string }>`
    with line as (
      insert into payout_lines (payout_id, n, line_id, to_user_id, to_username, amount, memo, fee)
      select ${rows[0]!.id}, asked.n, asked.line_id, asked.to_user_id, asked.to_username, asked.amount, asked.memo,
        transfer_fee(asked.amount, (${rates}::numeric[])[owner.trust_level + 1])
      from unnest(${columnsOf(numbered, {
        n: 'bigint',
        line_id: 'text',
        to_user_id: 'bigint',
        to_username: 'text',
        amount: 'bigint',
        memo: 'text',
      })}) as asked (n, line_id, to_user_id, to_username, amount, memo)
      join users as owner on owner.id = ${owner_id}
      returning amount, fee
    )
    select sum(amount + fee)::text as total from line`.execute(tx)
  if (BigInt(inserted.rows[0]!.total) > POINTS_MAX)
    throw new AppError('parameter_invalid', 'Invalid lines: their sum exceeds what can be counted')
  return rows[0]!.id
}

/** Payouts with the sums of their lines. `condition` names them as `payout`. */
async function selectPayouts(db: Db, condition: ReturnType<typeof sql>): Promise<Payout[]> {
  const { rows } = await sql<Payout>`
    select payout.*, sums.*
    from (select * from payouts as payout where ${condition}) as payout
    cross join lateral payout_sums(payout.id) as sums
    order by payout.id desc`.execute(db)
  return rows
}

/** A payout of an application by its reference. */
export async function findPayout(db: Db, app_id: bigint, reference: string): Promise<Payout | undefined> {
  const [found] = await selectPayouts(db, sql`app_id = ${app_id} and reference = ${reference}`)
  return found
}

/** A payout of an application by its id. */
export async function payoutWithId(db: Db, app_id: bigint, id: bigint): Promise<Payout | undefined> {
  const [found] = await selectPayouts(db, sql`app_id = ${app_id} and id = ${id}`)
  return found
}

/** The fees of the paid lines of a payout, in whole points. They are a part of its paid_total. */
export async function paidFeesOf(db: Db, id: bigint): Promise<bigint> {
  const { rows } = await sql<{ fees: bigint }>`
    select coalesce(sum(fee), 0)::bigint as fees from payout_lines where payout_id = ${id} and status = 'paid'`.execute(
    db,
  )
  return rows[0]!.fees
}

/** The payouts of an application, the newest first. @param before only those older than this one. */
export async function payoutsOfApp(
  db: Db,
  app_id: bigint,
  { before = BIGGEST_ID, limit }: { before?: bigint | undefined; limit: number },
): Promise<Payout[]> {
  return selectPayouts(
    db,
    sql`(app_id, id) >= (${app_id}::bigint, 0) and (app_id, id) < (${app_id}::bigint, ${before}::bigint)
      order by app_id desc, id desc limit ${limit}`,
  )
}

/** The lines of a payout with their results, in order. @param after only those after this one. */
export async function linesOfPayout(
  db: Db,
  id: bigint,
  {
    after = 0,
    limit = Number.MAX_SAFE_INTEGER,
    status,
  }: {
    after?: number
    limit?: number
    status?: PayoutLineResult['status'] | PayoutLineResult['status'][]
  } = {},
): Promise<PayoutLineResult[]> {
  return db
    .selectFrom('payout_lines as line')
    .leftJoin('transfers', 'transfers.id', 'line.transfer_id')
    .where('payout_id', '=', id)
    .where('n', '>', after)
    .$if(status !== undefined, (query) => query.where('line.status', 'in', [status!].flat()))
    .select(['n', 'line_id', 'line.to_user_id', 'line.to_username', 'line.amount', 'memo', 'line.status'])
    .select(['outcome', 'bound', 'have', 'line.fee', 'transaction_id'])
    .orderBy('n')
    .limit(limit)
    .execute()
}

/**
 * Cancels a payout: paid lines stay, and pending ones are never paid. Waits for a piece that is under way. Returns whether it did,
 * because one that has ended stays as it is.
 */
export async function cancelPayout(
  db: Db,
  id: bigint,
  reason: PayoutCancellation,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select cancel_payouts(array[${id}]::bigint[], ${reason}, ${now}::timestamptz) as count`.execute(db)
  return rows[0]!.count > 0
}

/** Lets a halted payout go on. It waits for its turn, before those that were created later. Returns whether it did. */
export async function resumePayout(db: Db, id: bigint, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payouts')
    .set({ status: 'waiting', reason: null, halted_at: null, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'halted')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
