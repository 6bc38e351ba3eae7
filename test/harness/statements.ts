/** Counts the SQL statements of a request. Each statement is a round trip, so tests bound the statements of frequent requests. */
import pg from 'pg'
import { expect, it, vi } from 'vitest'
import { inOneProcess, STATEMENTS } from './one-process.ts'

type Statement = { text: string; values?: unknown[] | undefined }

/** Work of a process at most once a second, for any number of requests: it reads the settings and shares counts of requests. */
const isBackground = ({ text, values }: Statement) =>
  text.includes('site_settings') ||
  (text.includes('limit_counters') && [values?.[0]].flat().every((name) => SHARED_LIMITS.has(String(name))))
const SHARED_LIMITS = new Set(['pages', 'api_requests'])

/** Runs a test where the statements of a request can be counted. */
export const itCounts = it.skipIf(inOneProcess(STATEMENTS))

/** Runs an act, and returns its result with its statements. */
export async function statementsOf<T>(act: () => Promise<T>): Promise<[T, string[]]> {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  try {
    const result = await act()
    const statements = query.mock.calls.map((call): Statement => {
      const [first, values] = call as unknown as [Statement | string, unknown[] | undefined]
      return typeof first === 'string' ? { text: first, values } : first
    })
    return [result, statements.filter((each) => !isBackground(each)).map(({ text }) => text)]
  } finally {
    query.mockRestore()
  }
}

/** Expects that a request answers with this status, and with this number of statements. Returns its answer. */
export async function expectStatements<T extends { status: number } | { statusCode: number }>(
  count: number,
  act: () => Promise<T>,
  status = 200,
): Promise<T> {
  const [answer, statements] = await statementsOf(act)
  expect('status' in answer ? answer.status : answer.statusCode).toBe(status)
  expect(statements, statements.map((text) => text.slice(0, 200)).join('\n\n')).toHaveLength(count)
  return answer
}
