/**
 * Signing in again because an application demands it (prompt=login, select_account, max_age). The way back from
 * the sign-in page carries a mark that says since when, and in place of which session. It is tagged together with
 * the rest of the request, so neither the application nor the browser can write one, and a demand is met once:
 * the new session differs from the marked one and is no older than the mark.
 */
import type { Session } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { type Secrets, sameText } from '../secrets.ts'
import type { Parameters } from '../web/parameters.ts'
import { queryText } from './authorization-request.ts'

const MARK = 'signed_in_since'
/** How long a sign-in may take before it is asked for again. */
const FRESH_MINUTES = 10

/** The name by which applications know a session; it opens nothing. */
export function publicSessionId(secrets: Secrets, session_id: bigint): string {
  return secrets.tag('session id', session_id.toString())
}

/** The request's query with a mark that only a sign-in from now on can meet. */
export function markedQuery(sent: Parameters, session: Session | undefined, deps: Deps): string {
  const request = unmarked(sent)
  const replaced = session === undefined ? '' : publicSessionId(deps.secrets, session.id)
  const mark = `${deps.clock().getTime()}.${replaced}`
  return queryText({ ...request, [MARK]: `${mark}.${tagOf(mark, request, deps.secrets)}` })
}

/** Whether this session was begun to meet the demand of this very request. */
export function meetsMark(sent: Parameters, session: Session, deps: Deps): boolean {
  const { [MARK]: sentMark } = sent
  if (typeof sentMark !== 'string') return false
  const [since = '', replaced = '', tag = ''] = sentMark.split('.')
  if (!sameText(tag, tagOf(`${since}.${replaced}`, unmarked(sent), deps.secrets))) return false
  const isFresh = deps.clock().getTime() - Number(since) <= FRESH_MINUTES * 60_000
  const isNew = publicSessionId(deps.secrets, session.id) !== replaced
  return isFresh && isNew && session.auth_time.getTime() >= Number(since)
}

function unmarked({ [MARK]: _, ...request }: Parameters): Parameters {
  return request
}

function tagOf(mark: string, request: Parameters, secrets: Secrets): string {
  return secrets.tag('reauthentication', `${mark}\n${queryText(request)}`)
}
