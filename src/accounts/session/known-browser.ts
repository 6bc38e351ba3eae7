/**
 * A browser that has signed in to an account before has a cookie for it, and its sign-in attempts are counted apart. So an
 * attacker who guesses passwords elsewhere cannot lock the member out. The cookie alone gives no access.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { LOWER_ALNUM, randomText, sameText } from '../../platform/secrets.ts'
import { cookieOptions } from './session.ts'
import type { AttemptedBy } from './throttle.ts'

const MARK_DAYS = 365
const NAME_LENGTH = 20

/** Returns the names that count a sign-in attempt: those of a known browser, or the account and the network. */
export function attemptedBy(
  request: FastifyRequest,
  { user_id, username }: { user_id: bigint | undefined; username: string },
  deps: Core,
): AttemptedBy {
  const browser = user_id === undefined ? undefined : findMark(request, user_id, deps)
  if (browser === undefined) return { account: username, address: networkOf(request.ip), user_id }
  return { account: `known browser ${browser}`, address: `known browser ${browser}`, user_id }
}

/** Marks this browser as a known browser of the member, who has just signed in. Returns its name if it was not known before. */
export function rememberBrowser(
  request: FastifyRequest,
  reply: FastifyReply,
  user_id: bigint,
  deps: Core,
): string | undefined {
  const known = findMark(request, user_id, deps)
  const browser = known ?? randomText(NAME_LENGTH, LOWER_ALNUM)
  reply.setCookie(cookieName(user_id, deps), `${browser}.${tagOf(browser, user_id, deps)}`, {
    ...cookieOptions(deps.config),
    maxAge: MARK_DAYS * 86_400,
  })
  return known === undefined ? browser : undefined
}

function findMark(request: FastifyRequest, user_id: bigint, deps: Core): string | undefined {
  const [browser = '', tag = ''] = (request.cookies[cookieName(user_id, deps)] ?? '').split('.')
  return sameText(tag, tagOf(browser, user_id, deps)) ? browser : undefined
}

function tagOf(browser: string, user_id: bigint, { secrets }: Core): string {
  return secrets.tag('known browser', `${browser} ${user_id}`)
}

/** Each account has its own cookie, so that members who share a browser keep their marks. */
function cookieName(user_id: bigint, { config, secrets }: Core): string {
  const account = secrets.tag('known account', user_id.toString()).slice(0, 8)
  return `${config.production ? '__Host-known-' : 'tessera_known_'}${account}`
}
