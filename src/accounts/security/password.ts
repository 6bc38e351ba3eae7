/** Hashes passwords with argon2id, in PHC format. A check takes the same time for an unknown account. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { inSpan } from '../../platform/tracing.ts'

/**
 * OWASP's argon2id setting with the most memory and one pass. Above 32 MiB the C library maps the memory and returns it
 * after each hash. Smaller blocks would stay allocated, one for each thread that ever hashed.
 */
const COST = { memory: 47_104, passes: 1, parallelism: 1 }
const TAG_BYTES = 32
const SALT_BYTES = 16

export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 200

const derive = promisify(argon2)

/** Hashes a password off the event loop. It takes about 30 ms of one core and 46 MiB. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await argon2id(password, salt, COST)
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Whether the password has this hash. Without a hash (unknown account) it takes the same time and returns false. */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const parts = PHC.exec(hash ?? '')
  if (parts === null) {
    await argon2id(password, Buffer.alloc(SALT_BYTES), COST)
    return false
  }
  const [, memory, passes, parallelism, salt = '', expected = ''] = parts
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return timingSafeEqual(
    await argon2id(password, Buffer.from(salt, 'base64'), cost),
    Buffer.from(expected, 'base64'),
  )
}

/** Normalises to NFC, so that a password typed on two keyboards is the same text. */
function argon2id(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  const hash = () =>
    derive('argon2id', { message: password.normalize('NFC'), nonce, tagLength: TAG_BYTES, ...cost })
  return inSpan('hash password', () => inTurn(hash))
}

/** All cores but one, which serves the other requests. */
const AT_ONCE_MAX = Math.max(1, availableParallelism() - 1)
let running = 0
const waiting: (() => void)[] = []

/** Bounds simultaneous hashes. More of them would not be faster, and would slow other requests. */
async function inTurn<T>(hash: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE_MAX) running += 1
  // A hash that ends passes its turn on, so the count stays.
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await hash()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
