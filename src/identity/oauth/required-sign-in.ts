/**
 * Where a request leads before it is answered: to the sign-in page, to registration, or to the change of a one-time password
 * (OIDC Core 3.1.2.3). spec/sign-in 1.6 and 1.8.
 */
import { EMAIL_LENGTH_MAX } from '../../accounts/people/users.ts'
import { type Session, signInUrl } from '../../accounts/session/session.ts'
import { registerUrl } from '../../accounts/sign-in/register.page.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { Parameters } from '../../web/parameters.ts'
import { AUTHORIZATION_PATH } from '../apps/addresses.ts'
import { shouldStepUp } from './acr.ts'
import { type Authorization, addressOf } from './authorization.ts'
import { type Demand, queryText } from './authorization-request.ts'
import type { Hint } from './id-token.ts'

const LOGIN_HINT_LENGTH_MAX = EMAIL_LENGTH_MAX

/**
 * Returns where the member must go first; undefined for a member whose sign-in is enough. Throws login_required where no page
 * may be shown.
 */
export function findDetour(authorization: Authorization): string | undefined {
  const { request, sent, demand, expected, deps } = authorization
  const { session } = request
  const needsSignIn = session === undefined || needsNewSignIn(session, authorization)
  if (!needsSignIn && !session.user.must_change_password) return undefined
  if (demand.prompts.includes('none')) throw new AppError('login_required', 'The user must sign in first')
  if (!needsSignIn) return `/account/password?return_to=${encodeURIComponent(addressOf(sent))}`
  const { max_age, acr_values } = demand
  const isDemanded =
    demandsSignIn(demand) || max_age !== undefined || expected !== undefined || acr_values.length > 0
  const back = isDemanded ? `${AUTHORIZATION_PATH}?${markedQuery(sent, session, deps)}` : addressOf(sent)
  const hint = demand.login_hint?.slice(0, LOGIN_HINT_LENGTH_MAX)
  const hinted = hint === undefined ? '' : `&login_hint=${encodeURIComponent(hint)}`
  return demand.prompts.includes('create') ? registerUrl(back) : signInUrl(back) + hinted
}

function needsNewSignIn(session: Session, { sent, demand, expected, deps }: Authorization): boolean {
  const { max_age } = demand
  const age_seconds = epochSeconds(deps.clock()) - epochSeconds(session.auth_time)
  const isTooOld = max_age !== undefined && age_seconds > max_age
  // A wish shows no page where none may be shown.
  const isWeak = !demand.prompts.includes('none') && shouldStepUp(demand.acr_values, session)
  const isWrong = demandsSignIn(demand) || isTooOld || isWeak || isSomebodyElse(session, expected)
  return isWrong && !meetsMark(sent, session, deps)
}

/** Whether the ID token hint names another member. */
export function isSomebodyElse(session: Session, expected: Hint | undefined): boolean {
  return expected !== undefined && expected.sub !== session.user.id.toString()
}

/** NOTE: max_age=0 means prompt=login (OIDC Core 3.1.2.1), also within the second of the sign-in. */
function demandsSignIn({ prompts, max_age }: Demand): boolean {
  return max_age === 0 || ['login', 'select_account', 'create'].some((prompt) => prompts.includes(prompt))
}

/** Rounds to whole seconds, as auth_time does, so that ages agree with it. */
function epochSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000)
}

const MARK = 'signed_in_since'
const PURPOSE = 'reauthentication'
const SIGN_IN_PURPOSE = 'sign-in of a session'
/** How long the new sign-in may take. After this it is demanded again. */
const FRESH_MINUTES = 10

/** Returns the request's query with a mark that only a later sign-in meets. */
function markedQuery(sent: Parameters, session: Session | undefined, deps: Core): string {
  const request = unmarked(sent)
  const replaced = session === undefined ? '' : deps.secrets.tag(SIGN_IN_PURPOSE, signInOf(session))
  const mark = `${deps.clock().getTime()}.${replaced}`
  const tag = deps.secrets.tag(PURPOSE, taggedText(mark, request))
  return queryText({ ...request, [MARK]: `${mark}.${tag}` })
}

/** Whether this session meets the mark of this request. */
function meetsMark(sent: Parameters, session: Session, deps: Core): boolean {
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
