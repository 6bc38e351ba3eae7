/** Hashes passwords with argon2id, in PHC format. A check takes the same time for an unknown account. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { argon2id } from '../../platform/argon2.ts'
import { inSpan } from '../../platform/tracing.ts'
import type { Messages } from '../../web/languages.ts'
import { isCommonPassword } from './common-passwords.ts'

/**
 * OWASP's argon2id setting with the most memory and one pass. Above 32 MiB the C library maps the memory and returns it
 * after each hash. Smaller blocks would stay allocated, one for each thread that ever hashed.
 */
const COST = { memory: 47_104, passes: 1, parallelism: 1 }
const TAG_BYTES = 32
const SALT_BYTES = 16

export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 200

const hasLength = ({ length }: string) => length >= PASSWORD_LENGTH_MIN && length <= PASSWORD_LENGTH_MAX

/** The field of a form in which a member chooses a password. */
export const ChosenPassword = z.string().refine((typed) => hasLength(typed) && !isCommonPassword(typed))

/** Returns what a page says when it refuses the chosen password of a form. */
export function wordsForChosen(body: unknown, field: string, { password }: Messages): string {
  const typed = (body as Record<string, unknown> | undefined)?.[field]
  return typeof typed === 'string' && hasLength(typed) ? password.common : password.too_short
}

/** Hashes a password off the event loop. It takes about 30 ms of one core and 46 MiB. Throws overloaded. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await derive(password, salt, COST)
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/**
 * Whether the password has this hash. Without a hash (unknown account) it takes the same time and returns false. Throws
 * overloaded.
 */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const parts = PHC.exec(hash ?? '')
  if (parts === null) {
    await derive(password, Buffer.alloc(SALT_BYTES), COST)
    return false
  }
  const [, memory, passes, parallelism, salt = '', expected = ''] = parts
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return timingSafeEqual(
    await derive(password, Buffer.from(salt, 'base64'), cost),
    Buffer.from(expected, 'base64'),
  )
}

/** Normalises to NFC, so that a password typed on two keyboards is the same text. */
function derive(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  const job = { message: password.normalize('NFC'), nonce, tagLength: TAG_BYTES, ...cost }
  return inSpan('hash password', () => argon2id(job))
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
