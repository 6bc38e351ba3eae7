/** Throttles sign-in attempts. Postgres counts failures per account and per network for all processes together. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { columnsOf, inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db } from '../../database/connection.ts'
import { within } from '../../database/timeouts.ts'
import { AppError } from '../../platform/errors.ts'

const WINDOW_MINUTES = 15
/** The wait doubles with each failure above the limit, and is never longer than the window. */
const FIRST_WAIT_SECONDS = 30
/** After this time an undecided attempt counts as failed, because its process has died. */
const UNDECIDED_SECONDS = 60
/** How long an attempt waits for the outcome of earlier ones, how often it checks, and how many may wait. */
const PATIENCE_MS = 10_000
const LOOK_MS = 50
const LOOK_MS_MAX = 1_000
const WAITING_MAX = 100

export type AttemptedBy = {
  account: string
  address: string
  /** The account's member, if the account exists. */
  user_id?: bigint | undefined
  /** Failures of the account after which an attempt has to wait, by default those of the setting. */
  accountMax?: number
}

/**
 * Records an attempt as failed, for acts without a right answer. Throws too_many_attempts above the limits of
 * spec/accounts 2.2. A refused attempt is not counted, so waiting always helps. Acts other than sign-in use a name with a space, which no
 * username has.
 */
export async function registerAttempt(deps: Core, by: AttemptedBy): Promise<bigint> {
  return admit(deps, by, null)
}

/**
 * Records an attempt before its proof is checked, so that simultaneous attempts count each other, and returns its id. The
 * caller must decide it with `clearAttempts`, `failAttempt` or `withdrawAttempt`. When only undecided attempts exceed the
 * limit, it waits for them, so that members behind one address do not block each other. Throws too_many_attempts.
 */
export async function openAttempt(deps: Core, by: AttemptedBy): Promise<bigint> {
  return admit(deps, by, new Date(deps.clock().getTime() + UNDECIDED_SECONDS * 1000))
}

async function admit(deps: Core, by: AttemptedBy, undecided_until: Date | null): Promise<bigint> {
  const { address, user_id } = by
  const at = deps.clock()
  const { id, account } = await storeOf(deps.db)({ account: by.account, address, at, undecided_until })
  const seconds = await waitFor(deps, { ...by, account, id, at })
  if (seconds <= 0) return id
  await withdrawAttempt(deps, id)
  deps.metrics?.signInFailures.inc({ reason: 'throttled' })
  await recordRefusal(deps.db, { kind: 'sign_in_throttled', user_id, address, at: deps.clock() })
  throw new AppError('too_many_attempts', 'Too many failed sign-ins. Wait a moment and try again.', {
    retry_after_seconds: seconds,
  })
}

type NewAttempt = { account: string; address: string; at: Date; undecided_until: Date | null }
type Store = (attempt: NewAttempt) => Promise<{ id: bigint; account: string }>

const stores = new WeakMap<Db, Store>()

/**
 * Returns the function that stores the attempts of a process. Simultaneous ones share a statement, and one statement runs at a
 * time. So a flood whose attempts wait for each other takes one connection of the pool.
 */
function storeOf(db: Db): Store {
  let store = stores.get(db)
  if (store === undefined) {
    const run = (attempts: NewAttempt[], patience_ms: number) => storeAttempts(db, attempts, patience_ms)
    store = makeBatcher({ name: 'store sign-in attempts', run })
    stores.set(db, store)
  }
  return store
}

async function storeAttempts(db: Db, attempts: NewAttempt[], patience_ms: number) {
  const { rows } = await sql<{ item: number; id: bigint; account: string }>`
    select item, id, account from open_attempts(
      ${within(patience_ms, columnsOf(attempts, { account: 'text' }))},
      ${columnsOf(attempts, { address: 'text', at: 'timestamptz', undecided_until: 'timestamptz' })}
    )`.execute(db)
  return inOrder(attempts, rows, (row) => row).map((row) => row!)
}

type Attempt = AttemptedBy & { id: bigint; at: Date }

/** Waits until the earlier attempts that matter are decided. Returns the seconds this attempt has to wait, or 0. */
async function waitFor(deps: Core, attempt: Attempt): Promise<number> {
  const settings = await deps.settings.read()
  const limits = {
    account: attempt.accountMax ?? settings.limit_sign_in_failures_per_account,
    address: settings.limit_sign_in_failures_per_address,
  }
  const patient_until = attempt.at.getTime() + PATIENCE_MS
  for (let pause = LOOK_MS; ; pause = Math.min(pause * 2, LOOK_MS_MAX)) {
    const { failed, undecided } = await attemptsBefore(deps, attempt)
    const all = {
      account: together(failed.account, undecided.account),
      address: together(failed.address, undecided.address),
    }
    if (secondsLeft(all, limits, deps.clock()) <= 0) return 0
    const seconds = secondsLeft(failed, limits, deps.clock())
    if (seconds > 0) return seconds
    const isLongQueue =
      Math.max(undecided.account.count, undecided.address.count) > limits.address + WAITING_MAX
    if (isLongQueue || deps.clock().getTime() > patient_until) return 1
    await sleep(pause)
  }
}

/** Attempts of one account, or from one address. */
type Count = { count: number; last: Date | null }
type Attempts = { account: Count; address: Count }

function together(a: Count, b: Count): Count {
  const last = a.last === null || (b.last !== null && b.last > a.last) ? b.last : a.last
  return { count: a.count + b.count, last }
}

/** Applies each limit to its own attempts, so attempts from an address do not prolong the wait of an account. */
function secondsLeft(attempts: Attempts, limits: { account: number; address: number }, now: Date): number {
  return Math.max(
    waitOf(attempts.account, limits.account, now),
    waitOf(attempts.address, limits.address, now),
  )
}

function waitOf({ count, last }: Count, limit: number, now: Date): number {
  const excess = count - limit
  if (limit === 0 || excess < 0 || last === null) return 0
  const wait_seconds = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(excess, 10), WINDOW_MINUTES * 60)
  return Math.ceil((last.getTime() - now.getTime()) / 1000) + wait_seconds
}

type CountedRow = {
  is_open: boolean
  of_account: bigint
  last_of_account: Date | null
  of_address: bigint
  last_of_address: Date | null
}

/** Returns the earlier attempts of this window, failed and undecided. */
async function attemptsBefore(
  deps: Core,
  { id, account, address }: Attempt,
): Promise<{ failed: Attempts; undecided: Attempts }> {
  const now = deps.clock()
  const since = new Date(now.getTime() - WINDOW_MINUTES * 60_000)
  // A success clears the account's count and not the address's.
  const { rows } = await sql<CountedRow>`
    select
      coalesce(undecided_until > ${now}, false) as is_open,
      count(*) filter (where account = ${account} and id > (
        select coalesce(max(id), 0) from sign_in_attempts
        where account = ${account} and succeeded and attempted_at > ${since}
      )) as of_account,
      max(attempted_at) filter (where account = ${account}) as last_of_account,
      count(*) filter (where address = ${address}) as of_address,
      max(attempted_at) filter (where address = ${address}) as last_of_address
    from sign_in_attempts
    where (account = ${account} or address = ${address})
      and attempted_at > ${since} and id < ${id} and not succeeded
    group by is_open
  `.execute(deps.db)
  const counted = (isOpen: boolean): Attempts => {
    const row = rows.find(({ is_open }) => is_open === isOpen)
    return {
      account: { count: Number(row?.of_account ?? 0), last: row?.last_of_account ?? null },
      address: { count: Number(row?.of_address ?? 0), last: row?.last_of_address ?? null },
    }
  }
  return { failed: counted(false), undecided: counted(true) }
}

/** Waits for the check of an attempt. A check that fails decides nothing, so the attempt is withdrawn. */
export async function checkAttempt<T>(deps: Core, attempt: bigint, check: Promise<T>): Promise<T> {
  try {
    return await check
  } catch (error) {
    await withdrawAttempt(deps, attempt)
    throw error
  }
}

/** Decides that an attempt succeeded. The account's earlier failures no longer count. */
export async function clearAttempts(deps: Core, attempt: bigint): Promise<void> {
  await deps.db
    .updateTable('sign_in_attempts')
    .set({ succeeded: true, undecided_until: null })
    .where('id', '=', attempt)
    .execute()
}

/** Decides that an attempt failed. Later attempts stop waiting for it. */
export async function failAttempt(deps: Core, attempt: bigint): Promise<void> {
  deps.metrics?.signInFailures.inc({ reason: 'wrong' })
  await deps.db
    .updateTable('sign_in_attempts')
    .set({ undecided_until: null })
    .where('id', '=', attempt)
    .execute()
}

/** Removes an attempt that neither failed nor succeeded. Earlier failures stay. */
export async function withdrawAttempt(deps: Core, attempt: bigint): Promise<void> {
  await deps.db.deleteFrom('sign_in_attempts').where('id', '=', attempt).execute()
}
