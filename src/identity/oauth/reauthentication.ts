/**
 * Handles applications that demand a new sign-in (prompt=login, select_account, max_age). The request that returns from the
 * sign-in page carries a mark with the time of the demand and the former sign-in. A tag covers the mark and the request, so
 * neither the application nor the browser can forge it. A session meets the demand if it is another one or was renewed, and
 * its sign-in is no older than the mark.
 */
import type { Session } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Parameters } from '../../web/parameters.ts'
import { queryText } from './authorization-request.ts'

const MARK = 'signed_in_since'
const PURPOSE = 'reauthentication'
const SIGN_IN_PURPOSE = 'sign-in of a session'
/** How long the new sign-in may take. After this it is demanded again. */
const FRESH_MINUTES = 10

/** Returns the request's query with a mark that only a later sign-in meets. */
export function markedQuery(sent: Parameters, session: Session | undefined, deps: Core): string {
  const request = unmarked(sent)
  const replaced = session === undefined ? '' : deps.secrets.tag(SIGN_IN_PURPOSE, signInOf(session))
  const mark = `${deps.clock().getTime()}.${replaced}`
  const tag = deps.secrets.tag(PURPOSE, taggedText(mark, request))
  return queryText({ ...request, [MARK]: `${mark}.${tag}` })
}

/** Whether this session meets the mark of this request. */
export function meetsMark(sent: Parameters, session: Session, deps: Core): boolean {
  const { [MARK]: sentMark } = sent
  if (typeof sentMark !== 'string') return false
  const [since = '', replaced = '', tag = ''] = sentMark.split('.')
  if (!deps.secrets.isTag(PURPOSE, taggedText(`${since}.${replaced}`, unmarked(sent)), tag)) return false
  const isFresh = deps.clock().getTime() - Number(since) <= FRESH_MINUTES * 60_000
  const isNew = !deps.secrets.isTag(SIGN_IN_PURPOSE, signInOf(session), replaced)
  return isFresh && isNew && session.auth_time.getTime() >= Number(since)
}

/** Names the sign-in of a session. A renewed session keeps its id. */
function signInOf({ id, renewals }: Session): string {
  return `${id} ${renewals}`
}

function unmarked({ [MARK]: _, ...request }: Parameters): Parameters {
  return request
}

function taggedText(mark: string, request: Parameters): string {
  return `${mark}\n${queryText(request)}`
}
