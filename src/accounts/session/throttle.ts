/** Guesses are counted per account and per address, in Postgres, so that several processes count together. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { AppError } from '../../platform/errors.ts'

const WINDOW_MINUTES = 15
/** The wait doubles with each failure past the limit, and never outlasts the window: nobody is locked out for good. */
const FIRST_WAIT_SECONDS = 30
/** After this long an undecided try counts as failed: its process is gone. */
const UNDECIDED_SECONDS = 60
/** How long a try waits for the outcome of those before it, how often it looks, and how many may wait. */
const PATIENCE_MS = 10_000
const LOOK_MS = 50
const LOOK_MS_MAX = 1_000
const WAITING_MAX = 100

export type AttemptedBy = {
  account: string
  address: string
  /** Whose account it is, if it is one. */
  user_id?: bigint | undefined
  /** Failures of the account after which a try has to wait, if not as many as the setting says. */
  accountMax?: number
}

/**
 * Records a try as failed, for good. Throws too_many_attempts beyond the limits of decisions.md 11; a refused try is
 * taken back, so waiting always helps. What is counted apart from sign-in has a name with a space in it, as no
 * username has.
 */
export async function registerAttempt(deps: Core, by: AttemptedBy): Promise<bigint> {
  return admit(deps, by, null)
}

/**
 * Records a try before its proof is looked at, so that any number of tries at once count each other, and returns its
 * id; the outcome must follow by `clearAttempts`, `failAttempt` or `withdrawAttempt`. While only undecided tries
 * stand in the way it waits for them, so that people behind one address do not refuse each other.
 */
export async function openAttempt(deps: Core, by: AttemptedBy): Promise<bigint> {
  return admit(deps, by, new Date(deps.clock().getTime() + UNDECIDED_SECONDS * 1000))
}

async function admit(deps: Core, by: AttemptedBy, undecided_until: Date | null): Promise<bigint> {
  const { address, user_id } = by
  const { id, account } = await deps.db
    .insertInto('sign_in_attempts')
    .values({
      // Where names are looked up: what is one name there counts as one, and elsewhere `İ` is another letter's capital.
      account: sql<string>`lower(${by.account})`,
      address,
      attempted_at: deps.clock(),
      undecided_until,
    })
    .returning(['id', 'account'])
    .executeTakeFirstOrThrow()
  const seconds = await waitFor(deps, { ...by, account, id })
  if (seconds <= 0) return id
  await withdrawAttempt(deps, id)
  deps.metrics?.signInFailures.inc({ reason: 'throttled' })
  await recordRefusal(deps.db, { kind: 'sign_in_throttled', user_id, address, at: deps.clock() })
  throw new AppError('too_many_attempts', 'Too many failed sign-ins. Wait a moment and try again.', {
    retry_after_seconds: seconds,
  })
}

type Attempt = AttemptedBy & { id: bigint }

/** The seconds this try has to wait, once the tries before it that matter are decided; 0 when it may go on. */
async function waitFor(deps: Core, attempt: Attempt): Promise<number> {
  const settings = await deps.settings.read()
  const limits = {
    account: attempt.accountMax ?? settings.limit_sign_in_failures_per_account,
    address: settings.limit_sign_in_failures_per_address,
  }
  const patient_until = performance.now() + PATIENCE_MS
  for (let pause = LOOK_MS; ; pause = Math.min(pause * 2, LOOK_MS_MAX)) {
    const { failed, undecided } = await triesBefore(deps, attempt)
    const all = {
      account: together(failed.account, undecided.account),
      address: together(failed.address, undecided.address),
    }
    if (secondsLeft(all, limits, deps.clock()) <= 0) return 0
    const seconds = secondsLeft(failed, limits, deps.clock())
    if (seconds > 0) return seconds
    const isLongQueue =
      Math.max(undecided.account.count, undecided.address.count) > limits.address + WAITING_MAX
    if (isLongQueue || performance.now() > patient_until) return 1
    await sleep(pause)
  }
}

/** Tries of one account, or from one address. */
type Count = { count: number; last: Date | null }
type Tries = { account: Count; address: Count }

function together(a: Count, b: Count): Count {
  const last = a.last === null || (b.last !== null && b.last > a.last) ? b.last : a.last
  return { count: a.count + b.count, last }
}

/** Each limit by its own tries: what others do at an address does not prolong the wait of an account. */
function secondsLeft(tries: Tries, limits: { account: number; address: number }, now: Date): number {
  return Math.max(waitOf(tries.account, limits.account, now), waitOf(tries.address, limits.address, now))
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

/** The tries of this window before this one that have failed, and those whose outcome is open. */
async function triesBefore(
  deps: Core,
  { id, account, address }: Attempt,
): Promise<{ failed: Tries; undecided: Tries }> {
  const now = deps.clock()
  const since = new Date(now.getTime() - WINDOW_MINUTES * 60_000)
  // A success clears the account's count, not the address's.
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
  const counted = (isOpen: boolean): Tries => {
    const row = rows.find(({ is_open }) => is_open === isOpen)
    return {
      account: { count: Number(row?.of_account ?? 0), last: row?.last_of_account ?? null },
      address: { count: Number(row?.of_address ?? 0), last: row?.last_of_address ?? null },
    }
  }
  return { failed: counted(false), undecided: counted(true) }
}

/** The try was right: the account's failures before it count no more. */
export async function clearAttempts(deps: Core, attempt: bigint): Promise<void> {
  await deps.db
    .updateTable('sign_in_attempts')
    .set({ succeeded: true, undecided_until: null })
    .where('id', '=', attempt)
    .execute()
}

/** The try was wrong, and those behind it need wait no longer. */
export async function failAttempt(deps: Core, attempt: bigint): Promise<void> {
  deps.metrics?.signInFailures.inc({ reason: 'wrong' })
  await deps.db
    .updateTable('sign_in_attempts')
    .set({ undecided_until: null })
    .where('id', '=', attempt)
    .execute()
}

/** The try was no guess, and decides nothing either: the failures before it stay. */
export async function withdrawAttempt(deps: Core, attempt: bigint): Promise<void> {
  await deps.db.deleteFrom('sign_in_attempts').where('id', '=', attempt).execute()
}
