/** The reason of a grant of the points bridge, as the journal keeps it. Pages write it in the language of their reader. */

const BEGINNING = 'Forum score of '

/** Returns the reason for the score of a day, such as 2026-01-31. */
export const forumScoreReason = (day: string) => BEGINNING + day

/** Returns the day of the score, or undefined for any other reason. */
export function dayOfForumScore(reason: string): string | undefined {
  const day = reason.startsWith(BEGINNING) ? reason.slice(BEGINNING.length) : ''
  return /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined
}
