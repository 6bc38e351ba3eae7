/**
 * Reads lines of `username,points` that an administrator typed, and says beside each why it cannot be done.
 * spec/points 2.4.
 */
import { judgeLines, type PointsLine, readLines } from '../../accounts/points.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'

const LINES_MAX = 500

/**
 * Reads the lines. Throws FormRefused, with the faulty lines, if one of them cannot be read, or posted now.
 * @param isNew false for a repeated form, whose lines may be posted already.
 */
export async function readGrant(db: Db, text: string, locale: Locale, isNew = true): Promise<PointsLine[]> {
  const { faults: words, problems, line: place } = locale.t.adjustments
  const lines = await readLines(db, text, LINES_MAX).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'invalid_form') throw error
    throw new FormRefused({ lines: problems.count(locale.points(LINES_MAX)) })
  })
  const unread = lines.filter(({ fault }) => fault !== undefined)
  const faults =
    unread.length > 0 || !isNew
      ? unread.map(({ line, text: typed, fault }) => ({ line, typed, word: words[fault!] }))
      : (await judgeLines(db, lines, { key: undefined, reason: undefined })).flatMap((outcome, index) => {
          const { line, text: typed } = lines[index]!
          if (outcome === 'posted' || outcome === 'repeated') return []
          return [{ line, typed, word: words[outcome === 'insufficient' ? outcome : 'refused'] }]
        })
  if (faults.length === 0) return lines
  const named = faults.map(
    ({ line, typed, word }) => `${place(line)}${locale.t.common.colon}${typed} – ${word}`,
  )
  throw new FormRefused({ lines: [problems.faulty(faults.length), ...named] })
}

/** Reads the line of one member. Throws FormRefused, with the field at fault, if it cannot be posted now. */
export async function readGrantOfMember(db: Db, text: string, locale: Locale): Promise<PointsLine[]> {
  const { faults: words } = locale.t.adjustments
  const lines = await readLines(db, text, 1)
  const [line] = lines
  if (line?.fault !== undefined) throw new FormRefused({ username: words[line.fault] })
  const [outcome] = await judgeLines(db, lines, { key: undefined, reason: undefined })
  if (outcome === 'insufficient') throw new FormRefused({ amount: words.insufficient })
  if (outcome !== 'posted') throw new FormRefused({ username: words.refused })
  return lines
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
