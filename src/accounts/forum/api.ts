/**
 * Requests to the forum's API about its members. Each answer is bounded in time and size, and redirects are not followed.
 * All processes share a budget of requests, and all pause for a while when the forum does not answer.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { inCall } from '../../platform/tracing.ts'
import { isCleanValue } from '../../web/parameters.ts'
import { forumUsername } from './connect.ts'

const TIMEOUT_MS = 5_000
const BODY_BYTES_MAX = 65_536
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
  | 'too_large'
  | 'unreadable'
  | 'paused'
  | 'over_budget'

const PAUSING: readonly ForumFailure[] = [
  'unreachable',
  'timeout',
  'server_error',
  'limited',
  'not_permitted',
  'redirect',
]

/** The API's data of a member. `groups` has custom groups only. */
export type ForumUser = {
  forum_id: bigint
  username: string
  name: string | null
  is_admin: boolean
  is_moderator: boolean
  trust_level: number
  suspended_till: Date | null
  silenced_till: Date | null
  groups: { id: bigint; name: string }[] | undefined
}

const moment = z
  .string()
  .nullish()
  .transform((text) => (text ? new Date(text) : null))
  .refine((date) => date === null || !Number.isNaN(date.getTime()))

const integer = z.number().int().transform(BigInt)

const AdminUser = z.object({
  id: integer,
  username: forumUsername,
  name: z.string().nullish(),
  admin: z.boolean().default(false),
  moderator: z.boolean().default(false),
  trust_level: z.number().int().min(0).max(4),
  suspended_till: moment,
  silenced_till: moment,
  groups: z.array(z.object({ id: integer, name: z.string(), automatic: z.boolean().nullish() })).optional(),
})

const PublicUser = z.object({ user: z.object({ id: integer, gamification_score: integer.nullish() }) })

type Answer<T> = { body: T } | { failure: ForumFailure } | 'not_found'

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
  const answer = await ask(deps, `/admin/users/${forum_id}.json`, AdminUser, urgency)
  if (answer === 'not_found') return (await findsSystemUser(deps)) ?? 'deleted'
  if ('failure' in answer) return answer
  const { id, name, admin, moderator, groups, ...rest } = answer.body
  if (id !== forum_id) return { failure: 'unreadable' }
  const custom = groups?.filter(({ id, automatic }) => !automatic && id > 0n)
  const user = {
    ...rest,
    forum_id,
    name: name || null,
    is_admin: admin,
    is_moderator: moderator,
    groups: custom?.map(({ id, name }) => ({ id, name })),
  }
  return { user }
}

/**
 * Checks that the key may read members, by reading an account that always exists. To a key without that right, Discourse
 * answers 404 for every member, and without this check all members would be banned.
 */
async function findsSystemUser(deps: Core): Promise<{ failure: ForumFailure } | undefined> {
  const answer = await ask(deps, SYSTEM_PATH, z.object({ id: integer }), 'sign_in')
  if (answer === 'not_found') {
    await pause(deps.db, deps.clock(), PAUSE_SECONDS)
    return { failure: 'not_permitted' }
  }
  if ('failure' in answer) return answer
  return answer.body.id === SYSTEM_ID ? undefined : { failure: 'unreadable' }
}

/** Reads a member's gamification score by the last known name. Returns `renamed` when another member has that name now. */
export async function fetchScore(
  deps: Core,
  { forum_id, username }: { forum_id: bigint; username: string },
): Promise<{ score: bigint } | { failure: ForumFailure } | 'renamed' | 'no_score'> {
  const path = `/u/${encodeURIComponent(username)}.json`
  const answer = await ask(deps, path, PublicUser, 'background')
  if (answer === 'not_found') return 'renamed'
  if ('failure' in answer) return answer
  const { id, gamification_score } = answer.body.user
  if (id !== forum_id) return 'renamed'
  return gamification_score === undefined || gamification_score === null
    ? 'no_score'
    : { score: gamification_score }
}

async function ask<T>(deps: Core, path: string, shape: z.ZodType<T>, urgency: Urgency): Promise<Answer<T>> {
  const answer = await askWithinBudget(deps, path, shape, urgency)
  if (answer !== 'not_found' && 'failure' in answer)
    deps.metrics?.forumFailures.inc({ failure: answer.failure })
  return answer
}

async function askWithinBudget<T>(
  deps: Core,
  path: string,
  shape: z.ZodType<T>,
  urgency: Urgency,
): Promise<Answer<T>> {
  const refusal = await spendRequest(deps, urgency)
  if (refusal !== undefined) return { failure: refusal }
  const call = { method: 'GET', url: URL.parse(deps.config.DISCOURSE_URL ?? '') }
  const { answer, retry_after_seconds } = await inCall(deps.tracing, call, () => getJson(deps, path), endOf)
  if (answer === 'not_found') return answer
  if ('failure' in answer) {
    if (PAUSING.includes(answer.failure)) await pause(deps.db, deps.clock(), retry_after_seconds)
    return answer
  }
  const parsed = shape.safeParse(answer.body)
  return parsed.success && isCleanValue(answer.body) ? { body: parsed.data } : { failure: 'unreadable' }
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

type HttpAnswer = { answer: Answer<unknown>; retry_after_seconds: number }

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
    if (status !== 200) return failed('server_error')
    const text = await readBounded(response)
    return text === undefined
      ? failed('too_large')
      : { answer: { body: JSON.parse(text) }, retry_after_seconds: 0 }
  } catch (error) {
    if (error instanceof SyntaxError) return failed('unreadable')
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
