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

/** The hash of a password that is printed nowhere. */
export const hashUnknownPassword = () => hashPassword(randomToken())

/** Finds or creates members, and returns their ids. `known_hash` is that of their password; without it each call makes one. */
export async function ensureMembers<Name extends string>(
  { db, clock }: Parts,
  members: readonly Member<Name>[],
  known_hash?: string,
): Promise<Record<Name, bigint>> {
  const ids: Partial<Record<Name, bigint>> = {}
  let password_hash = known_hash
  for (const { joined, ...values } of members) {
    const found = await findUserByUsername(db, values.username)
    if (found === undefined) {
      password_hash ??= await hashUnknownPassword()
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
