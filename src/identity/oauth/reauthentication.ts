/**
 * Signing in again because an application demands it (prompt=login, select_account, max_age). The way back from
 * the sign-in page carries a mark that says since when, and in place of which session. It is tagged together with
 * the rest of the request, so neither the application nor the browser can write one, and a demand is met once:
 * the new session differs from the marked one and is no older than the mark.
 */
import type { Session } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Parameters } from '../../web/parameters.ts'
import { queryText } from './authorization-request.ts'

const MARK = 'signed_in_since'
const PURPOSE = 'reauthentication'
const SESSION_PURPOSE = 'session id'
/** How long a sign-in may take before it is asked for again. */
const FRESH_MINUTES = 10

/** The name by which applications know a session; it opens nothing. */
export function publicSessionId(secrets: Secrets, session_id: bigint): string {
  return secrets.tag(SESSION_PURPOSE, session_id.toString())
}

/** The request's query with a mark that only a sign-in from now on can meet. */
export function markedQuery(sent: Parameters, session: Session | undefined, deps: Core): string {
  const request = unmarked(sent)
  const replaced = session === undefined ? '' : publicSessionId(deps.secrets, session.id)
  const mark = `${deps.clock().getTime()}.${replaced}`
  const tag = deps.secrets.tag(PURPOSE, taggedText(mark, request))
  return queryText({ ...request, [MARK]: `${mark}.${tag}` })
}

/** Whether this session was begun to meet the demand of this very request. */
export function meetsMark(sent: Parameters, session: Session, deps: Core): boolean {
  const { [MARK]: sentMark } = sent
  if (typeof sentMark !== 'string') return false
  const [since = '', replaced = '', tag = ''] = sentMark.split('.')
  if (!deps.secrets.isTag(PURPOSE, taggedText(`${since}.${replaced}`, unmarked(sent)), tag)) return false
  const isFresh = deps.clock().getTime() - Number(since) <= FRESH_MINUTES * 60_000
  const isNew = !deps.secrets.isTag(SESSION_PURPOSE, session.id.toString(), replaced)
  return isFresh && isNew && session.auth_time.getTime() >= Number(since)
}

function unmarked({ [MARK]: _, ...request }: Parameters): Parameters {
  return request
}

function taggedText(mark: string, request: Parameters): string {
  return `${mark}\n${queryText(request)}`
}
