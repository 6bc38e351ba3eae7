import type { FastifyRequest } from 'fastify'
import { StrictPeriodAsked } from './periods.ts'

/** Says what is wrong with the days `from` and `until` in the address of a page, so that it never shows another time than asked for. */
export function dayFault({ query, locale }: Pick<FastifyRequest, 'query' | 'locale'>): string | undefined {
  const { noDay, wrongOrder } = locale.t.periods
  const { from, until } = query as Record<string, unknown>
  for (const [name, day] of Object.entries({ from, until })) {
    if (day !== undefined && !StrictPeriodAsked.safeParse({ [name]: day }).success)
      return noDay(String(day).slice(0, 20))
  }
  return from && until && String(from) > String(until) ? wrongOrder : undefined
}
