/** The worker of payouts: it pays their lines piece by piece, each piece in a transaction. spec/payouts 2.1–2.4 and 2.6. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { isLockedOut } from '../../database/connection.ts'
import { PATIENCE_MS } from '../../database/lock-waits.ts'
import { named } from '../../database/named-statements.ts'
import type { PayoutMode, PayoutStatus } from '../../database/tables/payouts.ts'
import { within } from '../../database/timeouts.ts'
import { LOWER_ALNUM, randomText } from '../../platform/secrets.ts'
import { isPaused } from '../orders/repeats.ts'
import { type TransferOutcome, transferTerms } from '../orders/transfers.ts'
import { ALL_LINES_MAX } from './request.ts'

/** Lines of a piece. A payment of the same owner waits for one piece, which takes some 30 ms. */
const PIECE_LINES = 50
/** How long a payout of the mode `all` waits for one wallet, holding no lock. */
const ALL_PATIENCE_MS = 2_500
/** Runs in a round that made no progress, before the payout rests until the next round. */
const IDLE_RUNS_MAX = 5
const HALTED_DAYS = 7
const DAY_MS = 86_400_000

type Running = { id: bigint; mode: PayoutMode; waits_for: string | null; idle: number }
type Piece = { status: PayoutStatus; locked: string | null; outcomes: (TransferOutcome | 'locked')[] | null }

/**
 * Starts waiting payouts, and runs the pieces of all running ones by turns, until none can go on. Several processes may run it at
 * once: each piece belongs to one of them. While payments are paused, running payouts rest.
 */
export async function runPayouts(deps: Core, isStopped: () => boolean = () => false): Promise<void> {
  await cancelForgotten(deps)
  const resting = new Set<bigint>()
  let known: Running[] = []
  while (!isStopped() && !(await isResting(deps))) {
    known = (await runningPayouts(deps, known)).filter(({ id }) => !resting.has(id))
    if (known.length === 0) return
    for (const payout of known) {
      if (isStopped()) return
      if (!(await runPiece(deps, payout))) resting.add(payout.id)
    }
  }
}

async function isResting(deps: Core): Promise<boolean> {
  return (await isPaused(deps)) || (await deps.settings.read()).payouts === 'off'
}

/** Cancels the payouts that have been halted for a week. */
async function cancelForgotten({ db, clock }: Core): Promise<void> {
  const now = clock()
  await sql`
    select cancel_payouts(array(
      select id from payouts where status = 'halted' and halted_at < ${new Date(now.getTime() - HALTED_DAYS * DAY_MS)}
    ), 'halted_too_long', ${now}::timestamptz)`.execute(db)
}

async function runningPayouts({ db, clock }: Core, known: Running[]): Promise<Running[]> {
  await sql`select start_payouts(${clock()}::timestamptz)`.execute(db)
  const rows = await db
    .selectFrom('payouts')
    .where('status', '=', 'running')
    .select(['id', 'mode'])
    .orderBy('id')
    .execute()
  return rows.map((row) => known.find(({ id }) => id === row.id) ?? { ...row, waits_for: null, idle: 0 })
}

/** Runs a piece. Returns whether the payout can go on in this round. Every run draws new transaction ids. */
async function runPiece(deps: Core, payout: Running): Promise<boolean> {
  const { id, mode, waits_for } = payout
  const settings = await deps.settings.read()
  const halts_for = settings.points_transfers === 'off' ? 'transfers_off' : null
  const size = mode === 'all' ? ALL_LINES_MAX : PIECE_LINES
  const ids = Array.from({ length: size }, () => `txn_${randomText(24, LOWER_ALNUM)}`)
  const patience_ms = mode === 'all' ? ALL_PATIENCE_MS : PATIENCE_MS
  let piece: Piece | undefined
  try {
    const { rows } = await sql<Piece>`
      select ${named} * from run_payout(
        ${within(patience_ms, sql`${id}::bigint`)}, ${halts_for}, ${waits_for}, ${ids}::text[], ${deps.clock()}::timestamptz,
        ${transferTerms(settings)}
      )`.execute(deps.db)
    piece = rows[0]
  } catch (error) {
    if (!isLockedOut(error)) throw error
    // The next run does not wait for that row, so that the other lines go on.
    payout.waits_for = null
    payout.idle += 1
    return payout.idle < IDLE_RUNS_MAX
  }
  // Another process has it.
  if (piece === undefined) return false
  for (const outcome of piece.outcomes ?? []) deps.metrics?.payoutLines.inc({ outcome })
  payout.waits_for = piece.locked
  const isIdle = piece.outcomes?.every((outcome) => outcome === 'locked') ?? false
  payout.idle = isIdle ? payout.idle + 1 : 0
  return piece.status === 'running' && payout.idle < IDLE_RUNS_MAX
}
