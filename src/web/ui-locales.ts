/** Finds the languages that an application asks for with a sign-in (`ui_locales`, OIDC Core 3.1.2.1). */
import type { FastifyRequest } from 'fastify'

/**
 * Returns the `ui_locales` of a request: its own, or those of the authorization request that its page returns to, or that its
 * form answers.
 */
export function uiLocalesOf({ query, body }: Pick<FastifyRequest, 'query' | 'body'>): string | undefined {
  const sent = { ...(query as object), ...(body as object) } as Record<string, unknown>
  const { ui_locales, return_to, query: answered } = sent
  if (typeof ui_locales === 'string') return ui_locales
  const inner = typeof return_to === 'string' ? return_to.split('?')[1] : answered
  return typeof inner === 'string' ? (new URLSearchParams(inner).get('ui_locales') ?? undefined) : undefined
}
