/**
 * Transfers: an application sends points of its owner to a member. The act is the database function post_transfers;
 * here are its caller and the messages of its refusals. spec/payment-api 4.1.
 */
import assert from 'node:assert/strict'
import { type RawBuilder, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { countOutcome } from '../../core/metrics.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import { makeBatcher, skippingArguments, unlessLocked } from '../../database/batcher.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { LockedRow, type Skipping } from '../../database/lock-waits.ts'
import { named } from '../../database/named-statements.ts'
import { type RowType, rowArray } from '../../database/rows.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'
import { madeBefore, requireUnpaused } from './repeats.ts'

const LEVELS = [0, 1, 2, 3, 4] as const

export type TransferRequest = {
  app_id: bigint
  order_id: string
  /** The member whose points may move. By default the owner at that moment. */
  from_user_id?: bigint
  /** Whether a former owner knows the request's key. It then moves no points and sees no transfer of the current owner. */
  isFormerOwners?: boolean
  to_user_id: bigint
  /** Must name the same member as `to_user_id`, ignoring case. */
  to_username: string
  /** Whole points that the recipient receives; the fee comes on top. */
  amount: bigint
}

export const ASKED_TRANSFER = {
  type: 'asked_transfer',
  columns: [
    ...(['app_id', 'order_id', 'transaction_id', 'to_user_id', 'to_username', 'amount', 'now'] as const),
    'from_user_id',
  ],
} as const satisfies RowType<string>

export type Transfer = {
  transaction_id: string
  order_id: string
  status: 'completed' | 'reversed'
  amount: bigint
  fee: bigint
  from_user_id: bigint
  from_username: string
  to_user_id: bigint
  to_username: string
  paid_at: Date
}

export type TransferOutcome =
  | 'completed'
  | 'exists'
  | 'changed'
  | 'reversed'
  | 'unusable'
  | 'mismatch'
  | 'to_self'
  | 'below_minimum'
  | 'above_maximum'
  | 'daily_limit'
  | 'insufficient'
  | 'too_large'
  | 'wallet_frozen'

type Result = Omit<Transfer, 'order_id'> & {
  outcome: TransferOutcome
  bound: bigint | null
  have: bigint | null
}

/**
 * Posts a transfer, or returns the transfer of a repeated request. Throws a PaymentCode without moving points. spec/payment-api 4.2.
 * @param requireAllowed throws the refusal of a new transfer. A repeated request is answered anyway.
 */
export type PostTransfer = (request: TransferRequest, requireAllowed?: () => void) => Promise<Transfer>

/** Makes the postTransfer of this process. Transfers that arrive together share a commit. */
export function makePostTransfer(deps: Core): PostTransfer {
  const post = makeBatcher<TransferRequest & { now: Date }, Result>({
    name: 'post transfers',
    ...deps.batching,
    canSkip: true,
    regroups: true,
    run: async (requests, patience_ms, skipping) =>
      postTransfers(deps.db, await deps.settings.read(), requests, { patience_ms, skipping }),
  })
  return async (request, requireAllowed) => {
    const before = await madeBefore(
      async () => {
        requireAllowed?.()
        if (request.isFormerOwners) throw formerOwners()
        requireTransfersOn(await deps.settings.read())
      },
      () => findRepeated(deps.db, request),
    )
    const asked = before === undefined ? post({ ...request, now: deps.clock() }) : Promise.resolve(before)
    const result = await countOutcome(deps.metrics?.transfers, asked, ({ outcome }) => outcome)
    return { ...acceptedOrThrow(result), order_id: request.order_id }
  }
}

/**
 * Sends a transfer from the application's page and writes the audit log. A repeated order_id returns the first transfer
 * and writes no second entry. Throws what PostTransfer and lockPermitted throw.
 */
export async function sendTransfer(
  deps: Core,
  payment_id: string,
  request: Omit<TransferRequest, 'app_id'>,
  actor: Actor,
): Promise<Transfer> {
  // Reads the settings first: a transaction that waits for a second connection would block others with its locks.
  const settings = await deps.settings.read()
  return deps.db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'points.transfer')
    const asked = { ...request, app_id }
    const before = await madeBefore(
      async () => requireTransfersOn(settings),
      () => findRepeated(tx, asked),
    )
    const posted =
      before === undefined
        ? postAlone(tx, settings, { ...asked, now: deps.clock() })
        : Promise.resolve(before)
    const result = await countOutcome(deps.metrics?.transfers, posted, ({ outcome }) => outcome)
    const { order_id } = request
    const transfer = { ...acceptedOrThrow(result), order_id }
    if (result.outcome === 'completed') {
      const { transaction_id, to_username, amount, fee } = transfer
      const detail = { transaction_id, order_id, to_username, amount: String(amount), fee: String(fee) }
      await audit(tx, 'transfer.send', payment_id, detail, actor)
    }
    return transfer
  })
}

/** Throws what refuses every new transfer: payments_paused and transfers_disabled. */
export function requireTransfersOn(settings: SettingValues): void {
  requireUnpaused(settings)
  if (settings.points_transfers === 'off')
    throw new AppError('transfers_disabled', 'Transfer feature is disabled')
}

function formerOwners(): AppError {
  const text = 'This payment application has a new owner: it transfers points once its token was replaced'
  return new AppError('application_unusable', text)
}

/** The earlier transfer of this order_id, with the outcome that post_transfers gives a repeat. */
async function findRepeated(db: Db, request: TransferRequest): Promise<Result | undefined> {
  const { order_id, to_user_id, amount } = request
  const made = await transfersKnownTo(db, request)
    .where('order_id', '=', order_id)
    .select(['transaction_id', 'status', 'amount', 'fee', 'from_user_id', 'from_username'])
    .select(['to_user_id', 'to_username', 'paid_at'])
    .executeTakeFirst()
  if (made === undefined) return undefined
  const isOther = made.to_user_id !== to_user_id || made.amount !== amount
  const outcome = isOther ? 'changed' : made.status === 'reversed' ? 'reversed' : 'exists'
  return { ...made, outcome, bound: null, have: null }
}

type Asker = Pick<TransferRequest, 'app_id' | 'from_user_id' | 'isFormerOwners'>

/** The transfers of an application that the caller may see. */
function transfersKnownTo(db: Db, { app_id, from_user_id, isFormerOwners = false }: Asker) {
  return db
    .selectFrom('transfers')
    .where('app_id', '=', app_id)
    .$if(isFormerOwners, (query) => query.where('from_user_id', '<>', from_user_id!))
}

/** Whether a transfer that the caller may see has this transaction_id or order_id. */
export async function isTransfer(
  db: Db,
  asker: Asker,
  number: { transaction_id: string } | { order_id: string },
): Promise<boolean> {
  const found = await transfersKnownTo(db, asker)
    .where((eb) => eb.and(number))
    .select('id')
    .executeTakeFirst()
  return found !== undefined
}

/** Finds a transfer that the caller may see by its transaction_id. */
export function findTransfer(db: Db, asker: Asker, transaction_id: string): Promise<Transfer | undefined> {
  return transfersKnownTo(db, asker)
    .where('transaction_id', '=', transaction_id)
    .selectAll()
    .executeTakeFirst()
}

/** Posts one transfer. It waits for the wallets, and the caller has locked the application, so its rows are never locked by others. */
async function postAlone(
  tx: Tx,
  settings: SettingValues,
  request: TransferRequest & { now: Date },
): Promise<Result> {
  const [result] = await postTransfers(tx, settings, [request])
  assert(result !== undefined && !(result instanceof LockedRow))
  return result
}

/**
 * Every run draws new transaction ids, so that a retry after a collision succeeds.
 * @param batch how the transfers of a batch wait for their wallets. Without it, they wait as long as any statement.
 */
async function postTransfers(
  db: Db,
  settings: SettingValues,
  requests: (TransferRequest & { now: Date })[],
  batch?: { patience_ms: number; skipping: Skipping | undefined },
): Promise<(Result | LockedRow)[]> {
  const asked = rowArray(
    ASKED_TRANSFER,
    requests.map((request) => ({ ...request, transaction_id: `txn_${randomText(24, LOWER_ALNUM)}` })),
  )
  const { rows } = await sql<Result & { locked: string | null }>`
    select ${named} locked, (result).* from post_transfers(
      ${batch === undefined ? asked : within(batch.patience_ms, asked)},
      ${transferTerms(settings)}, ${skippingArguments(batch?.skipping)}
    ) order by item`.execute(db)
  return unlessLocked(rows, (result) => result)
}

/** Passes the rates, bounds and daily limits of transfers: four arguments of the functions that judge them. */
export function transferTerms(settings: SettingValues): RawBuilder<unknown> {
  return sql`
    ${byLevel(settings, 'points_transfer_fee_rate')}::numeric[],
    ${byLevel(settings, 'points_transfer_min_amount')}::bigint[],
    ${byLevel(settings, 'points_transfer_max_amount')}::bigint[],
    ${byLevel(settings, 'points_transfer_daily_limit')}::bigint[]`
}

type LevelSetting =
  | 'points_transfer_fee_rate'
  | 'points_transfer_min_amount'
  | 'points_transfer_max_amount'
  | 'points_transfer_daily_limit'
  | 'mandate_charge_max'
  | 'mandate_month_max'

/** A setting's values for the five trust levels; an empty one is null. */
export function byLevel(settings: SettingValues, name: LevelSetting): (string | null)[] {
  return LEVELS.map((level) => settings[`${name}_tl${level}`] || null)
}

function acceptedOrThrow(result: Result): Omit<Transfer, 'order_id'> {
  const refusal = refusalOf(result)
  if (refusal !== undefined) throw refusal
  const { outcome, bound, have, ...transfer } = result
  return transfer
}

/**
 * The refusal of a judged transfer. Undefined when it was made, now or before. Clients of the interface match these messages,
 * and read the number in the first parentheses.
 */
export function refusalOf({
  outcome,
  bound,
  have,
  ...transfer
}: Pick<Result, 'outcome' | 'bound' | 'have'> & { transaction_id?: string | null }): AppError | undefined {
  switch (outcome) {
    case 'completed':
    case 'exists':
      return undefined
    case 'changed':
      return new AppError(
        'parameter_invalid',
        'Invalid transfer: this order_id was used with another recipient or amount',
      )
    case 'reversed': {
      const data = { status: 'reversed', transaction_id: transfer.transaction_id }
      return new AppError('order_exists', 'Order already exists with status reversed', { data })
    }
    case 'unusable':
      return new AppError('application_unusable', 'This payment application is not approved')
    case 'mismatch':
      return new AppError('recipient_mismatch', 'Receiver id and username do not match')
    case 'to_self':
      return new AppError('transfer_to_self', 'Cannot transfer to yourself')
    case 'below_minimum':
      return new AppError('below_minimum', `Amount below minimum limit (${bound})`)
    case 'above_maximum':
      return new AppError('above_maximum', `Amount exceeds maximum limit (${bound})`)
    case 'daily_limit':
      return new AppError('daily_limit_reached', `Daily limit reached (${bound}, used ${have})`)
    case 'insufficient': {
      const data = { need: Number(bound), have: Number(have) }
      return new AppError('insufficient_points', `Insufficient balance (need ${bound}, have ${have})`, {
        data,
      })
    }
    case 'wallet_frozen':
      return new AppError('wallet_frozen', 'The wallet of this application is frozen by an administrator')
    case 'too_large':
      return new AppError('parameter_invalid', 'Invalid amount: with its fee it exceeds what can be counted')
  }
}

/** The cost of a transfer and its limits, in whole points. */
export type TransferQuote = {
  fee: bigint
  /** The points that the sender's wallet needs, and its balance. */
  need: bigint
  have: bigint
  min: bigint
  max: bigint
  /** Null without a daily limit. */
  left_today: bigint | null
}

/** Quotes a transfer. The rules are the database function's, beside those of post_transfers. */
export async function quoteTransfer(deps: Core, app_id: bigint, amount: bigint): Promise<TransferQuote> {
  const settings = await deps.settings.read()
  const { rows } = await sql<TransferQuote>`
    select * from quote_transfer(
      ${app_id}::bigint, ${amount}::bigint, ${deps.clock()}::timestamptz, ${transferTerms(settings)}
    )`.execute(deps.db)
  return rows[0]!
}
