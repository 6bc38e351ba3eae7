/**
 * Requests to the forum's API. Each answer is bounded in time and size, and redirects are not followed. Discourse counts the
 * requests of all administrators' keys together, so all processes share one budget, and all pause when the forum does not answer.
 * spec/accounts 5.5.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { inCall } from '../../platform/tracing.ts'

const TIMEOUT_MS = 5_000
/** Most answers about one member are small, but the groups of some bring long texts. */
export const BODY_BYTES_MAX = 1_048_576
const BUDGET_WINDOW_MS = 60_000
/** Of the budget, the worker takes this share at most. Sign-ins have what is left, so a backlog delays none of them. */
const WORKER_PERCENT = 60
/** A page waits for a title no longer than this. */
const VISITOR_TIMEOUT_MS = 1_000
/** Of the share of sign-ins, first scores and titles leave this part to the facts of members. */
const FACTS_PERCENT = 50
/** How long all processes pause after a first failure, and at most, and the longest pause that the forum may ask for. */
const PAUSE_SECONDS = 60
const PAUSE_SECONDS_MAX = 600
const RETRY_AFTER_SECONDS_MAX = 3_600

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
  | 'refused'
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

/** Who asks: a member who signs in and waits, the same for a first score, a page for the title of a topic, or the worker. */
export type Lane = 'sign_in' | 'first_score' | 'title' | 'worker'

export type Question = {
  path: string
  lane: Lane
  /** A key without the right to a list is refused this list alone. */
  isList?: boolean
  /** Sends no key. */
  isVisitor?: boolean
  bytes_max?: number
  timeout_ms?: number
}

export type Answer = { body: unknown } | { failure: ForumFailure } | 'not_found'

/** Asks the forum within the budget, and counts the outcome. */
export async function askForum(deps: Core, question: Question): Promise<Answer> {
  const answer = await askWithinBudget(deps, question)
  const outcome =
    answer === 'not_found' ? 'not_found' : 'failure' in answer ? answer.failure : ('answered' as const)
  deps.metrics?.forumRequests.inc({ lane: question.lane, outcome })
  return answer !== 'not_found' && 'failure' in answer ? failedWith(deps, answer.failure) : answer
}

/**
 * Asks for what every visitor of the forum may read: without the key, which sees more. Returns undefined when visitors are shown nothing.
 * A failure pauses no request, because a page does without the answer.
 */
export async function askAsVisitor(
  deps: Core,
  path: string,
): Promise<{ body: unknown } | 'not_asked' | undefined> {
  if ('refusal' in (await spendRequest(deps, 'title'))) return 'not_asked'
  const question = { path, lane: 'title', isVisitor: true, timeout_ms: VISITOR_TIMEOUT_MS } as const
  const call = { method: 'GET', url: URL.parse(deps.config.DISCOURSE_URL ?? '') }
  const { answer } = await inCall(deps.tracing, call, () => getJson(deps, question), endOf)
  const failure = answer !== 'not_found' && 'failure' in answer ? answer.failure : undefined
  const outcome = answer === 'not_found' ? 'not_found' : (failure ?? ('answered' as const))
  deps.metrics?.forumRequests.inc({ lane: 'title', outcome })
  return answer === 'not_found' || 'failure' in answer ? undefined : answer
}

/** Counts a failure and returns it. */
export function failedWith({ metrics }: Core, failure: ForumFailure): { failure: ForumFailure } {
  metrics?.forumFailures.inc({ failure })
  return { failure }
}

async function askWithinBudget(deps: Core, question: Question): Promise<Answer> {
  const spent = await spendRequest(deps, question.lane)
  if ('refusal' in spent) return { failure: spent.refusal }
  const call = { method: 'GET', url: URL.parse(deps.config.DISCOURSE_URL ?? '') }
  const { answer, retry_after_seconds } = await inCall(
    deps.tracing,
    call,
    () => getJson(deps, question),
    endOf,
  )
  const failure = answer !== 'not_found' && 'failure' in answer ? answer.failure : null
  const now = deps.clock()
  if (retry_after_seconds !== undefined) await pauseLimited(deps.db, now, retry_after_seconds)
  else if (isPausing(failure)) await pause(deps.db, now)
  else if (failure === null && spent.pause_seconds > 0)
    await sql`update forum_api set pause_seconds = 0`.execute(deps.db)
  return answer
}

/** Takes one request from the budget of this minute, or returns why not. All processes share the budget's row. */
async function spendRequest(
  { db, clock, settings }: Core,
  lane: Lane,
): Promise<{ refusal: 'paused' | 'over_budget' } | { pause_seconds: number }> {
  const { forum_requests_per_minute } = await settings.read()
  const worker_max = Math.floor((forum_requests_per_minute * WORKER_PERCENT) / 100)
  const kept = Math.ceil(((forum_requests_per_minute - worker_max) * FACTS_PERCENT) / 100)
  const all_max = forum_requests_per_minute - (lane === 'first_score' || lane === 'title' ? kept : 0)
  const now = clock()
  const since = new Date(now.getTime() - BUDGET_WINDOW_MS)
  const recent = (column: string) =>
    sql`(select coalesce(array_agg(at order by at), '{}') from unnest(${sql.ref(column)}) as at where at > ${since})`
  const [bySignIns, byWorker] = [recent('sign_in_requests'), recent('requests')]
  const [column, own] = lane === 'worker' ? ['requests', byWorker] : ['sign_in_requests', bySignIns]
  const { rows } = await sql<{ pause_seconds: number }>`
    update forum_api set ${sql.ref(column as string)} = ${own} || ${now}::timestamptz
    where (paused_until is null or paused_until <= ${now})
      and cardinality(${bySignIns}) + cardinality(${byWorker}) < ${all_max}
      and (${lane !== 'worker'} or cardinality(${byWorker}) < ${worker_max})
    returning pause_seconds`.execute(db)
  if (rows[0] !== undefined) return rows[0]
  const { paused_until } = await db.selectFrom('forum_api').select('paused_until').executeTakeFirstOrThrow()
  return { refusal: paused_until !== null && paused_until > now ? 'paused' : 'over_budget' }
}

/** Pauses all requests after a failure: each time twice as long, until an answer. */
export async function pause(db: Db, now: Date): Promise<void> {
  await sql`
    update forum_api set
      pause_seconds = least(greatest(2 * pause_seconds, ${PAUSE_SECONDS}), ${PAUSE_SECONDS_MAX}),
      paused_until = greatest(
        paused_until,
        ${now}::timestamptz + least(greatest(2 * pause_seconds, ${PAUSE_SECONDS}), ${PAUSE_SECONDS_MAX}) * interval '1 second'
      )
    where paused_until is null or paused_until <= ${now}`.execute(db)
}

/** Pauses all requests for as long as an answer of 429 asks. */
async function pauseLimited(db: Db, now: Date, seconds: number): Promise<void> {
  const until = new Date(now.getTime() + seconds * 1000)
  await sql`
    update forum_api set paused_until = greatest(paused_until, ${until}::timestamptz),
      limited_at = greatest(limited_at, ${now}::timestamptz)`.execute(db)
}

/** An answer, and after 429 how long the forum asks to wait. */
type HttpAnswer = { answer: Answer; retry_after_seconds?: number }

async function getJson({ config }: Core, question: Question): Promise<HttpAnswer> {
  const {
    path,
    isList = false,
    isVisitor = false,
    bytes_max = BODY_BYTES_MAX,
    timeout_ms = TIMEOUT_MS,
  } = question
  const failed = (failure: ForumFailure) => ({ answer: { failure } })
  try {
    const response = await fetch(`${config.DISCOURSE_URL}${path}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout_ms),
      headers: isVisitor ? { accept: 'application/json' } : apiHeaders(config),
    })
    const { status } = response
    if (status !== 200) await response.body?.cancel()
    if (status === 404) return { answer: 'not_found' }
    if (status === 429)
      return { ...failed('limited'), retry_after_seconds: retryAfter(response.headers.get('retry-after')) }
    if (status === 403 && isList) return failed('refused')
    if (status === 401 || status === 403) return failed('not_permitted')
    if (status >= 300 && status < 400) return failed('redirect')
    // The forum has still to compute what was asked for.
    if (status === 202) return failed('not_ready')
    if (status !== 200) return failed('server_error')
    const text = await readBounded(response, bytes_max)
    if (text === undefined) return failed('too_large')
    const body = readJson(text)
    return body === undefined ? failed('unreadable') : { answer: { body } }
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
  return Math.min(Math.max(seconds, 1), RETRY_AFTER_SECONDS_MAX)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the body as text, or undefined when it is too long; then the rest is not read. */
async function readBounded(response: Response, bytes_max: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytes_max) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
