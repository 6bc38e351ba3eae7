/**
 * Requests to the forum's API about its members. Each answer is bounded in time and size, and redirects are not followed.
 * All processes share a budget of requests, and all pause for a while when the forum does not answer.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { inCall } from '../../platform/tracing.ts'
import { idOf, objectOf } from './facts.ts'
import { type ForumUser, readSingle } from './single-read.ts'

const TIMEOUT_MS = 5_000
/** Most answers about one member are small, but the groups of some bring long texts. */
export const BODY_BYTES_MAX = 1_048_576
const BUDGET_WINDOW_MS = 60_000
/** How long all processes pause after a failure, and the longest pause that the forum may ask for. */
const PAUSE_SECONDS = 60
const PAUSE_SECONDS_MAX = 3_600
/** Discourse's account "system". Every forum has it, and every administrator can see it. */
const SYSTEM_ID = -1n
/** Answers 200 to a key that may read members, and so shows whether a key works. */
export const SYSTEM_PATH = `/admin/users/${SYSTEM_ID}.json`

/** Why there is no usable answer. Failures of PAUSING pause all processes; the others concern one request. */
export type ForumFailure =
  | 'unreachable'
  | 'timeout'
  | 'server_error'
  | 'limited'
  | 'not_permitted'
  | 'redirect'
  | 'not_ready'
  | 'too_large'
  | 'unreadable'
  | 'wrong_member'
  | 'paused'
  | 'over_budget'

const PAUSING: readonly string[] = [
  'unreachable',
  'timeout',
  'server_error',
  'limited',
  'not_permitted',
  'redirect',
]

/** Whether a failure pauses all processes. */
export function isPausing(failure: string | null): boolean {
  return failure !== null && PAUSING.includes(failure)
}

/** Whether a failure concerns all requests, not only this one. */
export function isOfAll(failure: string): boolean {
  return isPausing(failure) || failure === 'paused' || failure === 'over_budget'
}

type Answer = { body: Record<string, unknown> } | { failure: ForumFailure } | 'not_found'

/**
 * The budget of a request. Sign-ins and the worker have separate budgets. So repeated sign-ins cannot keep the worker from
 * learning of suspensions, and cannot make the forum limit us.
 */
export type Urgency = 'sign_in' | 'background'

/** Reads one member. Returns `deleted` only when the forum shows other members but not this one. */
export async function fetchForumUser(
  deps: Core,
  forum_id: bigint,
  urgency: Urgency,
): Promise<{ user: ForumUser } | { failure: ForumFailure } | 'deleted'> {
  const answer = await ask(deps, `/admin/users/${forum_id}.json`, urgency)
  if (answer === 'not_found') return (await findsSystemUser(deps)) ?? 'deleted'
  if ('failure' in answer) return answer
  const user = readSingle(answer.body, forum_id, deps.clock())
  return user === undefined ? failedWith(deps, 'wrong_member') : { user }
}

/** Finds a member by name, and reads it, as an administrator does to see that the connection works. */
export async function findForumUser(
  deps: Core,
  username: string,
): Promise<{ user: ForumUser } | { failure: ForumFailure } | 'not_found'> {
  const answer = await ask(deps, `/u/${encodeURIComponent(username)}.json`, 'sign_in')
  if (answer === 'not_found') return answer
  if ('failure' in answer) return answer
  const forum_id = idOf(objectOf(answer.body.user)?.id)
  if (forum_id === undefined) return failedWith(deps, 'unreadable')
  const found = await fetchForumUser(deps, forum_id, 'sign_in')
  return found === 'deleted' ? 'not_found' : found
}

/**
 * Checks that the key may read members, by reading an account that always exists. To a key without that right, Discourse
 * answers 404 for every member, and without this check all members would be banned.
 */
async function findsSystemUser(deps: Core): Promise<{ failure: ForumFailure } | undefined> {
  const answer = await ask(deps, SYSTEM_PATH, 'sign_in')
  if (answer === 'not_found') {
    await pause(deps.db, deps.clock(), PAUSE_SECONDS)
    return { failure: 'not_permitted' }
  }
  if ('failure' in answer) return answer
  return answer.body.id === Number(SYSTEM_ID) ? undefined : failedWith(deps, 'wrong_member')
}

/**
 * Reads a member's gamification score by the last known name. Returns `renamed` when another member has that name now, and
 * `no_score` also for a score of 0, which the forum answers too when it does not know the score.
 */
export async function fetchScore(
  deps: Core,
  { forum_id, username }: { forum_id: bigint; username: string },
): Promise<{ score: bigint } | { failure: ForumFailure } | 'renamed' | 'no_score'> {
  const answer = await ask(deps, `/u/${encodeURIComponent(username)}.json`, 'background')
  if (answer === 'not_found') return 'renamed'
  if ('failure' in answer) return answer
  const user = objectOf(answer.body.user)
  if (user === undefined || idOf(user.id) !== forum_id) return 'renamed'
  const score = user.gamification_score
  return Number.isSafeInteger(score) && score !== 0 ? { score: BigInt(score as number) } : 'no_score'
}

async function ask(deps: Core, path: string, urgency: Urgency): Promise<Answer> {
  const answer = await askWithinBudget(deps, path, urgency)
  return answer !== 'not_found' && 'failure' in answer ? failedWith(deps, answer.failure) : answer
}

/** Counts a failure and returns it. */
function failedWith({ metrics }: Core, failure: ForumFailure): { failure: ForumFailure } {
  metrics?.forumFailures.inc({ failure })
  return { failure }
}

async function askWithinBudget(deps: Core, path: string, urgency: Urgency): Promise<Answer> {
  const refusal = await spendRequest(deps, urgency)
  if (refusal !== undefined) return { failure: refusal }
  const call = { method: 'GET', url: URL.parse(deps.config.DISCOURSE_URL ?? '') }
  const { answer, retry_after_seconds } = await inCall(deps.tracing, call, () => getJson(deps, path), endOf)
  if (answer !== 'not_found' && 'failure' in answer && isPausing(answer.failure))
    await pause(deps.db, deps.clock(), retry_after_seconds)
  return answer
}

/** Takes one request from the budget of this minute, or returns why not. All processes share the budget's row. */
async function spendRequest(deps: Core, urgency: Urgency): Promise<'paused' | 'over_budget' | undefined> {
  const { db, clock, settings } = deps
  const { forum_requests_per_minute } = await settings.read()
  const now = clock()
  const since = new Date(now.getTime() - BUDGET_WINDOW_MS)
  const spent = sql.ref(urgency === 'sign_in' ? 'sign_in_requests' : 'requests')
  const recent = sql`(select coalesce(array_agg(at order by at), '{}') from unnest(${spent}) as at where at > ${since})`
  const { rows } = await sql`
    update forum_api set ${spent} = ${recent} || ${now}::timestamptz
    where (paused_until is null or paused_until <= ${now}) and cardinality(${recent}) < ${forum_requests_per_minute}
    returning true`.execute(db)
  if (rows.length > 0) return undefined
  const { paused_until } = await db.selectFrom('forum_api').select('paused_until').executeTakeFirstOrThrow()
  return paused_until !== null && paused_until > now ? 'paused' : 'over_budget'
}

async function pause(db: Db, now: Date, seconds: number): Promise<void> {
  const until = new Date(now.getTime() + seconds * 1000)
  await sql`update forum_api set paused_until = greatest(paused_until, ${until}::timestamptz)`.execute(db)
}

type HttpAnswer = { answer: Answer; retry_after_seconds: number }

async function getJson({ config }: Core, path: string): Promise<HttpAnswer> {
  const failed = (failure: ForumFailure, retry_after_seconds = PAUSE_SECONDS) => ({
    answer: { failure },
    retry_after_seconds,
  })
  try {
    const response = await fetch(`${config.DISCOURSE_URL}${path}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: apiHeaders(config),
    })
    const { status } = response
    if (status !== 200) await response.body?.cancel()
    if (status === 404) return { answer: 'not_found', retry_after_seconds: 0 }
    if (status === 429) return failed('limited', retryAfter(response.headers.get('retry-after')))
    if (status === 401 || status === 403) return failed('not_permitted')
    if (status >= 300 && status < 400) return failed('redirect')
    // The forum has still to compute what was asked for.
    if (status === 202) return failed('not_ready')
    if (status !== 200) return failed('server_error')
    const text = await readBounded(response)
    if (text === undefined) return failed('too_large')
    const body = readObject(text)
    return body === undefined ? failed('unreadable') : { answer: { body }, retry_after_seconds: 0 }
  } catch (error) {
    return failed((error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable')
  }
}

/** Returns the headers that authenticate requests to the forum. */
export function apiHeaders({ DISCOURSE_API_KEY, DISCOURSE_API_USERNAME }: Config): Record<string, string> {
  return {
    'api-key': DISCOURSE_API_KEY ?? '',
    'api-username': DISCOURSE_API_USERNAME,
    accept: 'application/json',
  }
}

function endOf({ answer }: HttpAnswer) {
  const failure = answer !== 'not_found' && 'failure' in answer ? answer.failure : undefined
  return { status: null, failure }
}

function retryAfter(text: string | null): number {
  const seconds = /^\d{1,6}$/.test(text ?? '') ? Number(text) : PAUSE_SECONDS
  return Math.min(Math.max(seconds, 1), PAUSE_SECONDS_MAX)
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Returns the body as text, or undefined when it is too long; then the rest is not read. */
async function readBounded(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
