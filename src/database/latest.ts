/** What a process answers from while its database is frozen. */

/** How long a reader waits for the database. */
const PATIENCE_MS = 500

/** Every reading that has ended well, with its value. */
const ended = new WeakMap<Promise<unknown>, { value: unknown }>()

/**
 * Returns a reading, or the latest one when the database refuses it or does not answer within half a second. A cache asks for one
 * reading many times: once it has ended, its value is returned at once.
 */
export function orLatest<T>(reading: Promise<T>, latest: T): T | Promise<T> {
  const known = ended.get(reading)
  return known === undefined ? waitFor(reading, latest) : (known.value as T)
}

async function waitFor<T>(reading: Promise<T>, latest: T): Promise<T> {
  const late = Promise.withResolvers<T>()
  const timer = setTimeout(late.resolve, PATIENCE_MS, latest)
  reading.then(
    (value) => ended.set(reading, { value }),
    () => {},
  )
  try {
    return await Promise.race([reading.catch(() => latest), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
