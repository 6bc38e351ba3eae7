/** Posts points to many members at once, as lines of `username,amount`. All lines are read first, and one fault stops all. */
import { sql } from 'kysely'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import type { Db, Tx } from '../database/connection.ts'
import { judgePoints, type Outcome, postPoints, refusalOf } from '../ledger/points.ts'
import { AppError } from '../platform/errors.ts'
import { findUserIds } from './people/users.ts'

/** One line, with its member or its fault. A negative amount takes points. */
export type PointsLine = {
  /** The line number, from 1; blank lines count. */
  line: number
  text: string
  username: string
  /** Whole points. */
  amount: bigint
  user_id: bigint | undefined
  fault: 'unreadable' | 'unknownMember' | undefined
}

/** Reads lines of `username,amount`. Throws invalid_form for more than `linesMax` lines, and for none. */
export async function readLines(db: Db, text: string, linesMax: number): Promise<PointsLine[]> {
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ line: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '')
  if (lines.length === 0) throw new AppError('invalid_form', 'There is no line of username,amount')
  if (lines.length > linesMax)
    throw new AppError('invalid_form', `At most ${linesMax} lines at once, not ${lines.length}`)
  const parts = lines.map(({ text: line }) => {
    const [, username = '', digits = ''] =
      /^@?([^\s,;\p{Cc}]{1,60})\s*[,;\s]\s*([+-]?\d{1,15})$/u.exec(line) ?? []
    return { username, amount: digits === '' ? 0n : BigInt(digits.replace(/^\+/, '')) }
  })
  const user_ids = await findUserIds(
    db,
    parts.map(({ username }) => username),
  )
  return lines.map((line, index) => {
    const { username, amount } = parts[index]!
    const user_id = user_ids[index]
    const fault = amount === 0n ? 'unreadable' : user_id === undefined ? 'unknownMember' : undefined
    return { ...line, username, amount, user_id, fault }
  })
}

export type LinesAct = {
  reason: string
  actor_id: bigint
  ip: string | null
  /** The idempotency key of the act: its lines move points once, however often they are posted. */
  key: string
}

/**
 * Posts all lines or none, each once. Returns false when they were posted under this key before, so a caller may repeat an
 * act whose answer was lost. For one member, points given count before points taken. Throws invalid_form for a faulty line.
 * Throws conflict, naming the line, when a member has too few points or the key belongs to other lines.
 */
export async function postLines(deps: Core, lines: PointsLine[], act: LinesAct): Promise<boolean> {
  const now = deps.clock()
  return deps.db.transaction().execute((tx) => postLinesWithin(tx, lines, { ...act, now }))
}

/** Does the work of `postLines` in the transaction of a larger act. */
export async function postLinesWithin(
  tx: Tx,
  lines: PointsLine[],
  { reason, actor_id, ip, key, now }: LinesAct & { now: Date },
): Promise<boolean> {
  const outcomes = await postPoints(tx, { lines: postingsOf(lines, key), reason, actor_id, now })
  if (await isRepeat(tx, outcomes, key)) return false
  refuse(lines, outcomes)
  const detail = { reason, lines: lines.map(({ username, amount }) => `${username} ${amount}`) }
  await recordAudit(tx, { actor_id, action: 'points.post', subject: key, detail, ip })
  return true
}

/**
 * Returns the outcome that each line would have now; `repeated` is the outcome of all lines or of none. It locks and moves
 * nothing. Without a key no line counts as repeated; without a reason any reason counts as a repeat. Throws invalid_form
 * for a faulty line, and conflict when the key belongs to other lines.
 */
export async function judgeLines(
  db: Db,
  lines: PointsLine[],
  { key, reason }: { key: string | undefined; reason: string | undefined },
): Promise<Outcome[]> {
  const outcomes = await judgePoints(db, postingsOf(lines, key), reason)
  if (key !== undefined) await isRepeat(db, outcomes, key)
  return outcomes
}

function postingsOf(lines: PointsLine[], key: string | undefined) {
  return lines.map(({ user_id, amount, fault }, index) => {
    if (user_id === undefined || fault !== undefined) throw new AppError('invalid_form', 'A line is invalid')
    return { user_id, amount, reference: key === undefined ? null : referenceOf(key, index) }
  })
}

function referenceOf(key: string, index: number): string {
  return `hand:${key}:${index}`
}

/** Whether exactly these lines were posted under the key before. Throws conflict when other lines were. */
async function isRepeat(db: Db, outcomes: Outcome[], key: string): Promise<boolean> {
  if (!outcomes.some((outcome) => outcome === 'repeated' || outcome === 'changed')) return false
  const { rows: further } = await sql`
    select from journal
    where kind in ('grant', 'adjustment') and reference = ${referenceOf(key, outcomes.length)} and book = 'live'`.execute(
    db,
  )
  if (further.length > 0 || outcomes.some((outcome) => outcome !== 'repeated')) throw refusalOf('changed')!
  return true
}

/** Throws the refusal of the first refused line, with the number of further ones. */
function refuse(lines: PointsLine[], outcomes: Outcome[]): void {
  const refused = outcomes.flatMap((outcome, index) => {
    const refusal = refusalOf(outcome)
    return refusal === undefined ? [] : [{ refusal, ...lines[index]! }]
  })
  const [first] = refused
  if (first === undefined) return
  const { refusal, line, text } = first
  const others = refused.length === 1 ? '' : ` (and so ${refused.length - 1} more)`
  throw new AppError(refusal.code, `Line ${line}: ${text}: ${refusal.message}${others}`)
}
