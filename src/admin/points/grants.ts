/** Reads lines of `username,points` that an administrator typed, and says beside each why it cannot be done. */
import { judgeLines, type PointsLine, readLines } from '../../accounts/points.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import type { Locale } from '../../web/languages.ts'

const LINES_MAX = 500

/** A line that stops the whole act. */
export type GrantFault = { line: number; text: string; problem: string }

/** Reads the lines. Returns the problem, and the faulty lines, if one of them cannot be posted now. */
export async function readGrant(
  db: Db,
  text: string,
  locale?: Locale,
): Promise<{ lines: PointsLine[] } | { problem: string; faults: GrantFault[] }> {
  let lines: PointsLine[]
  try {
    lines = await readLines(db, text, LINES_MAX)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_form') throw error
    const problem = locale?.t.corrections.problems.count(locale.points(LINES_MAX)) ?? error.message
    return { problem, faults: [] }
  }
  if (locale === undefined) return { lines }
  const { faults: words, problems } = locale.t.corrections
  const unread = lines.filter(({ fault }) => fault !== undefined)
  const faults =
    unread.length > 0
      ? unread.map(({ line, text: typed, fault }) => ({ line, text: typed, problem: words[fault!] }))
      : (await judgeLines(db, lines, { key: undefined, reason: undefined })).flatMap((outcome, index) => {
          const { line, text: typed } = lines[index]!
          if (outcome === 'posted' || outcome === 'repeated') return []
          return [{ line, text: typed, problem: words[outcome === 'insufficient' ? outcome : 'refused'] }]
        })
  if (faults.length === 0) return { lines }
  return { problem: problems.faulty(faults.length), faults }
}

export type GrantSummary = {
  granted: bigint
  taken: bigint
  members: { user_id: bigint; username: string }[]
}

/** Sums up readable lines. */
export function summaryOf(lines: PointsLine[]): GrantSummary {
  const members = new Map(lines.map(({ user_id, username }) => [user_id!, { user_id: user_id!, username }]))
  const sum = (of: PointsLine[]) => of.reduce((total, { amount }) => total + amount, 0n)
  return {
    granted: sum(lines.filter(({ amount }) => amount > 0n)),
    taken: -sum(lines.filter(({ amount }) => amount < 0n)),
    members: [...members.values()],
  }
}
