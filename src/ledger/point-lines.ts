/** Points for many members at once, as lines of `username,amount`: read first, so that nothing moves while one is wrong. */
import { sql } from 'kysely'
import { findUserByUsername } from '../accounts/users.ts'
import { recordAudit } from '../audit.ts'
import type { Db, Tx } from '../database/connection.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { adjustPoints, grantPoints } from './post.ts'

/** One line: who, how many (negative takes), resolved or with what is wrong. */
export type PointsLine = {
  text: string
  username: string
  /** Whole points. */
  amount: bigint
  user_id: bigint | undefined
  fault: 'unreadable' | 'unknownMember' | undefined
}

/** Reads `username,amount` line by line, at most `linesMax` of them. Throws invalid_form beyond that. */
export async function readLines(db: Db, text: string, linesMax: number): Promise<PointsLine[]> {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (lines.length > linesMax) throw new AppError('invalid_form', `At most ${linesMax} lines at once`)
  const read: PointsLine[] = []
  for (const line of lines) {
    const [, username = '', digits = ''] = /^@?([^\s,;]{1,60})\s*[,;\s]\s*([+-]?\d{1,15})$/.exec(line) ?? []
    const amount = digits === '' ? 0n : BigInt(digits.replace(/^\+/, ''))
    const user = username === '' ? undefined : await findUserByUsername(db, username)
    const fault = amount === 0n ? 'unreadable' : user === undefined ? 'unknownMember' : undefined
    read.push({ text: line, username, amount, user_id: user?.id, fault })
  }
  return read
}

export type LinesAct = {
  reason: string
  actor_id: bigint
  ip: string | null
  /** Names the act: its lines move points once, however often they are posted under it. */
  key: string
  onProgress?: (done: number) => void
}

/**
 * All lines or none, each once: what was not heard of is posted again under the same key and moves nothing twice.
 * Throws invalid_form when a line is wrong, and conflict, naming the line, when a member has too little.
 */
export async function postLines(deps: Deps, lines: PointsLine[], act: LinesAct): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute((tx) => postLinesWithin(tx, lines, { ...act, now }))
}

/** The same, as a part of a larger act. */
export async function postLinesWithin(
  tx: Tx,
  lines: PointsLine[],
  { reason, actor_id, ip, key, onProgress, now }: LinesAct & { now: Date },
): Promise<void> {
  if (lines.some((line) => line.fault !== undefined))
    throw new AppError('invalid_form', 'A line is not right')
  await lockWallets(
    tx,
    lines.map(({ user_id }) => user_id!),
  )
  for (const [index, { user_id, amount, text }] of lines.entries()) {
    const reference = `hand:${key}:${index}`
    const posting = { user_id: user_id!, amount, reference, reason, actor_id, now }
    const move = amount > 0n ? grantPoints : adjustPoints
    await move(tx, posting).catch((error: unknown) => {
      throw error instanceof AppError ? new AppError(error.code, `${text}: ${error.message}`) : error
    })
    onProgress?.(index + 1)
  }
  const detail = { reason, lines: lines.map(({ username, amount }) => `${username} ${amount}`) }
  await recordAudit(tx, { actor_id, action: 'points.post', subject: key, detail, ip })
}

/** In the order in which payments lock them, so that the two cannot wait for each other. */
async function lockWallets(tx: Tx, user_ids: bigint[]): Promise<void> {
  await sql`
    select from ledger_accounts where kind = 'wallet' and book = 'live' and user_id = any (${user_ids}::bigint[])
    order by id for update`.execute(tx)
}
