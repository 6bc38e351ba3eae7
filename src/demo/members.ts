/** Members of the demo whose passwords are not known. */
import { createUser, findUserByUsername } from '../accounts/people/users.ts'
import { hashPassword } from '../accounts/security/password.ts'
import type { Parts } from '../parts.ts'
import { randomToken } from '../platform/secrets.ts'

const DAY_MS = 86_400_000

type Member<Name extends string> = {
  username: Name
  name: string
  trust_level: number
  is_service?: boolean
  /** How many days before the demo. */
  joined: number
}

/** Finds or creates members, and returns their ids. Their password is random and printed nowhere. */
export async function ensureMembers<Name extends string>(
  { db, clock }: Parts,
  members: readonly Member<Name>[],
): Promise<Record<Name, bigint>> {
  const ids: Partial<Record<Name, bigint>> = {}
  let password_hash: string | undefined
  for (const { joined, ...values } of members) {
    const found = await findUserByUsername(db, values.username)
    if (found === undefined) {
      password_hash ??= await hashPassword(randomToken())
      const created_at = daysBefore(clock(), joined)
      ids[values.username] = await createUser(db, { ...values, password_hash, created_at })
    } else ids[values.username] = found.id
  }
  return ids as Record<Name, bigint>
}

/** A moment so many days before another, at another time of the day for each number of days. */
export function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS - ((days * 7_919) % 36_000) * 1_000)
}
