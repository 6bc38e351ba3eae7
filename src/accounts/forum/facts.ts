/**
 * The right forms of what the forum states about a member. Each function judges one value alone. For a value in no right
 * form most return undefined: the fact is unknown. Unknown is not false, so the stored value stays.
 * spec/accounts 5.2.
 */
import { isCleanText } from '../../web/parameters.ts'

export const USERNAME_LENGTH_MAX = 60
export const GROUP_NAME_LENGTH_MAX = 100
const FULL_NAME_LENGTH_MAX = 255
/** A date, or a moment with its time zone, as Discourse writes them. */
const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/

/** Reads the name of a member or of a group: no white space, no control character, no U+FFFD. */
export function nameOf(value: unknown, length_max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.normalize('NFC')
  const isName = /^[^\s\p{Cc}]+$/u.test(name) && isCleanText(name)
  return isName && Array.from(name).length <= length_max ? name : undefined
}

/** Reads a member's full name without the characters that Postgres or a page cannot hold. Empty text is null. */
export function fullNameOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  // toWellFormed puts U+FFFD in the place of a lone surrogate.
  const text = value.toWellFormed().replaceAll(/[\p{Cc}\uFFFD]/gu, '')
  return Array.from(text).slice(0, FULL_NAME_LENGTH_MAX).join('') || null
}

/** Reads until when a member is suspended or silenced; null means not at all. */
export function endOf(value: unknown): Date | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || !ISO_8601.test(value)) return undefined
  const end = new Date(value)
  return Number.isNaN(end.getTime()) ? undefined : end
}

/** Reads a JSON boolean. */
export function flagOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** Reads a positive id. JSON keeps only integers below 2^53 exact. */
export function idOf(value: unknown): bigint | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? BigInt(value as number) : undefined
}

/** Returns a JSON value as an object, or undefined for everything else. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}
