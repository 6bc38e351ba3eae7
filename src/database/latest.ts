/** What a process answers from while its database is frozen. */

/** How long a reader waits for the database. */
const PATIENCE_MS = 500

/** Returns a reading, or the latest one when the database refuses it or does not answer within half a second. */
export async function orLatest<T>(reading: Promise<T>, latest: T): Promise<T> {
  const late = Promise.withResolvers<T>()
  const timer = setTimeout(late.resolve, PATIENCE_MS, latest)
  try {
    return await Promise.race([reading.catch(() => latest), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
