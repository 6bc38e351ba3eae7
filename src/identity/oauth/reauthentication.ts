/**
 * Handles applications that demand a new sign-in (prompt=login, select_account, max_age). The request that returns from the
 * sign-in page carries a mark with the time of the demand and the former session. A tag covers the mark and the request, so
 * neither the application nor the browser can forge it. A new session meets the demand if it differs from the former one
 * and is no older than the mark.
 */
import type { Session } from '../../accounts/session/session.ts'
import { isSessionTag, sessionTag } from '../../accounts/session/session-ids.ts'
import type { Core } from '../../core/core.ts'
import type { Parameters } from '../../web/parameters.ts'
import { queryText } from './authorization-request.ts'

const MARK = 'signed_in_since'
const PURPOSE = 'reauthentication'
/** How long the new sign-in may take. After this it is demanded again. */
const FRESH_MINUTES = 10

/** Returns the request's query with a mark that only a later sign-in meets. */
export function markedQuery(sent: Parameters, session: Session | undefined, deps: Core): string {
  const request = unmarked(sent)
  const replaced = session === undefined ? '' : sessionTag(deps.secrets, session.id)
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
  const isNew = !isSessionTag(deps.secrets, session.id, replaced)
  return isFresh && isNew && session.auth_time.getTime() >= Number(since)
}

function unmarked({ [MARK]: _, ...request }: Parameters): Parameters {
  return request
}

function taggedText(mark: string, request: Parameters): string {
  return `${mark}\n${queryText(request)}`
}
