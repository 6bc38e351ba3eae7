/** Guesses are counted per account and per address, in Postgres, so that several processes count together. */
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'

const WINDOW_MINUTES = 15
const ACCOUNT_FAILURES_MAX = 10
const ADDRESS_FAILURES_MAX = 30
/** The wait doubles with each failure past the limit, and never outlasts the window: nobody is locked out for good. */
const FIRST_WAIT_SECONDS = 30

/**
 * Records a try as failed before the proof is looked at, so that any number of tries at once count each other, and
 * returns its id. Throws too_many_attempts beyond the limits of decisions.md 11; a refused try is taken back, so
 * waiting always helps. What is counted apart from sign-in has a name with a space in it, as no username has.
 */
export async function registerAttempt(
  deps: Deps,
  { account, address, accountMax = ACCOUNT_FAILURES_MAX }: AttemptedBy,
): Promise<bigint> {
  const now = deps.clock()
  const since = new Date(now.getTime() - WINDOW_MINUTES * 60_000)
  const name = account.toLowerCase()
  const { id } = await deps.db
    .insertInto('sign_in_attempts')
    .values({ account: name, address, attempted_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  // The failures before this try: a success clears the account's count, not the address's.
  const { rows } = await sql<{ of_account: bigint; of_address: bigint; last: Date | null }>`
    select
      count(*) filter (where account = ${name} and id > (
        select coalesce(max(id), 0) from sign_in_attempts
        where account = ${name} and succeeded and attempted_at > ${since}
      )) as of_account,
      count(*) filter (where address = ${address}) as of_address,
      max(attempted_at) as last
    from sign_in_attempts
    where (account = ${name} or address = ${address}) and attempted_at > ${since} and id < ${id} and not succeeded
  `.execute(deps.db)
  const before = rows[0]!

  const excess = Math.max(
    Number(before.of_account) - accountMax,
    Number(before.of_address) - ADDRESS_FAILURES_MAX,
  )
  if (excess < 0 || before.last === null) return id
  const wait_seconds = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(excess, 10), WINDOW_MINUTES * 60)
  const left = Math.ceil((before.last.getTime() - now.getTime()) / 1000) + wait_seconds
  if (left <= 0) return id
  await withdrawAttempt(deps, id)
  throw new AppError('too_many_attempts', 'Too many failed sign-ins. Wait a moment and try again.', {
    retry_after_seconds: left,
  })
}

export type AttemptedBy = {
  account: string
  address: string
  /** Failures of the account after which a try has to wait. */
  accountMax?: number
}

/** The try was right: the account's failures before it count no more. */
export async function clearAttempts(deps: Deps, attempt: bigint): Promise<void> {
  await deps.db.updateTable('sign_in_attempts').set({ succeeded: true }).where('id', '=', attempt).execute()
}

/** The try was no guess, and decides nothing either: the failures before it stay. */
export async function withdrawAttempt(deps: Deps, attempt: bigint): Promise<void> {
  await deps.db.deleteFrom('sign_in_attempts').where('id', '=', attempt).execute()
}
