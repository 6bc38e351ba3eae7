/**
 * A browser that has signed in to an account before carries a mark of it, and its tries are counted apart: who guesses
 * at the account from elsewhere cannot keep its member out. The mark opens nothing by itself.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { LOWER_ALNUM, randomText, sameText } from '../../platform/secrets.ts'
import { cookieOptions } from './session.ts'
import type { AttemptedBy } from './throttle.ts'

const MARK_DAYS = 365
const NAME_LENGTH = 20

/** Under whose name a try at this account is counted: this browser's own, or the account's and the address's. */
export function attemptedBy(
  request: FastifyRequest,
  { user_id, username }: { user_id: bigint | undefined; username: string },
  deps: Core,
): AttemptedBy {
  const browser = user_id === undefined ? undefined : findMark(request, user_id, deps)
  if (browser === undefined) return { account: username, address: networkOf(request.ip), user_id }
  return { account: `known browser ${browser}`, address: `known browser ${browser}`, user_id }
}

/** Marks this browser as one of the member's, who has just signed in. */
export function rememberBrowser(
  request: FastifyRequest,
  reply: FastifyReply,
  user_id: bigint,
  deps: Core,
): void {
  const browser = findMark(request, user_id, deps) ?? randomText(NAME_LENGTH, LOWER_ALNUM)
  reply.setCookie(cookieName(user_id, deps), `${browser}.${tagOf(browser, user_id, deps)}`, {
    ...cookieOptions(deps.config),
    maxAge: MARK_DAYS * 86_400,
  })
}

function findMark(request: FastifyRequest, user_id: bigint, deps: Core): string | undefined {
  const [browser = '', tag = ''] = (request.cookies[cookieName(user_id, deps)] ?? '').split('.')
  return sameText(tag, tagOf(browser, user_id, deps)) ? browser : undefined
}

function tagOf(browser: string, user_id: bigint, { secrets }: Core): string {
  return secrets.tag('known browser', `${browser} ${user_id}`)
}

/** One for each account, so that people who share a browser do not drive out each other's mark. */
function cookieName(user_id: bigint, { config, secrets }: Core): string {
  const account = secrets.tag('known account', user_id.toString()).slice(0, 8)
  return `${config.production ? '__Host-known-' : 'tessera_known_'}${account}`
}
