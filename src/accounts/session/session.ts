/**
 * Sessions: a random cookie in the browser, and its hash in Postgres. The hooks of the browser scope find the member of a
 * request and check its form token. spec/accounts 3.1.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { recordRefusal } from '../../core/refusals.ts'
import { inOrder, makeBatcher } from '../../database/batcher.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Config } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { formToken, isFormOf, memberOfForm, verifyForm } from '../../web/forms/form-guard.ts'
import { returnToOwnForm } from '../../web/forms/kept-forms.ts'
import type { Language } from '../../web/languages.ts'
import { wantsHtml } from '../../web/pages.ts'
import {
  explainAnonymised,
  isBannedOrSuspended,
  memberOf,
  noticeLanguage,
  type User,
  userColumns,
} from '../people/users.ts'
import { endSessionsById } from './ended-sessions.ts'
import { relyingPartyId } from './relying-party.ts'

export const SESSION_DAYS = 14
const DAY_MS = 86_400_000
const AGENT_LENGTH_MAX = 300
const SID_BYTES = 16
/** The accuracy of `last_seen_at`. Writing the row at every request would cost too much. */
const LAST_SEEN_MINUTES = 10

export type Session = {
  id: bigint
  /** The cookie's value, which is kept in memory for the request only. */
  token: string
  auth_time: Date
  amr: string[]
  /** How often the member signed in again in this session. */
  renewals: number
  /** True for an administrator who must set up a second factor before any administration. */
  needs_second_factor: boolean
  user: User & SignInFacts
}

type SignInFacts = {
  must_change_password: boolean
  /** True for a local account, which does not sign in through the forum. */
  has_password: boolean
  has_second_factor: boolean
  /** Whether a passkey of this site can confirm that it is the member. */
  has_passkey: boolean
  unread_alerts: number
  /** Null until the member chooses one; then the browser decides. */
  chosen_language: Language | null
}

declare module 'fastify' {
  interface FastifyRequest {
    session: Session | undefined
    /** The value that form tokens are bound to without a session. */
    visitorToken: string | undefined
  }
}

const cookieName = (config: Config) => (config.production ? '__Host-session' : 'tessera_session')
const visitorCookieName = (config: Config) => (config.production ? '__Host-visitor' : 'tessera_visitor')
/** The options of all cookies of sessions and sign-ins. */
export const cookieOptions = (config: Config) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: config.production }) as const

/** Adds the limit of pages, `request.session`, and the form check of all methods but GET and HEAD to a scope. */
export function browserScope(app: FastifyInstance, deps: Core): void {
  const findSession = makeFindSession(deps)
  app.addHook('onRequest', async (request) => deps.limits.take('pages', networkOf(request.ip)))
  app.addHook('preHandler', async (request, reply) => {
    await loadSession(request, deps, findSession)
    if (request.method === 'GET' || request.method === 'HEAD') return undefined
    return requireOwnForm(request, reply, deps)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    keepVisitorToken(request, reply, payload, deps)
    done()
  })
}

/** Sets the visitor cookie only with a page that contains its form token. */
function keepVisitorToken(request: FastifyRequest, reply: FastifyReply, payload: unknown, deps: Core): void {
  const { visitorToken, cookies } = request
  const name = visitorCookieName(deps.config)
  if (visitorToken === undefined || cookies[name] === visitorToken) return
  if (typeof payload !== 'string' || !payload.includes(formToken(deps.secrets, visitorToken))) return
  reply.setCookie(name, visitorToken, cookieOptions(deps.config))
}

const VISIT_PURPOSE = 'visit'

/**
 * Returns a proof that this visitor asked for `act`, and sets the visitor cookie that it is bound to. After the sign-in the same
 * browser may then carry on with the act. spec/links 2.1.
 */
export function proveVisit(
  request: FastifyRequest,
  reply: FastifyReply,
  act: string,
  { secrets, config }: Pick<Core, 'secrets' | 'config'>,
): string {
  const visitor = request.visitorToken ?? randomToken()
  reply.setCookie(visitorCookieName(config), visitor, cookieOptions(config))
  return secrets.tag(VISIT_PURPOSE, `${visitor}\n${act}`)
}

/** Whether this browser asked for `act` as a visitor: another site cannot write the proof, and another browser lacks the cookie. */
export function isVisit(
  { cookies }: FastifyRequest,
  act: string,
  proof: string,
  { secrets, config }: Pick<Core, 'secrets' | 'config'>,
): boolean {
  const visitor = cookies[visitorCookieName(config)]
  return visitor !== undefined && secrets.isTag(VISIT_PURPOSE, `${visitor}\n${act}`, proof)
}

/** Ends the request with an answer where another version made the form, and throws form_expired for any other form. */
async function requireOwnForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply | undefined> {
  try {
    verifyForm(request, request.session?.token ?? request.visitorToken, deps)
    return undefined
  } catch (error) {
    if (await returnToOwnForm(reply, deps)) return reply
    await recordRefusal(deps.db, {
      kind: 'form_refused',
      user_id: request.session?.user.id,
      address: request.ip,
      detail: { route: request.routeOptions.url ?? '' },
      at: deps.clock(),
    })
    throw error
  }
}

/** Whether our own page made the form in this browser, before its session began or for an earlier session. It allows no act. */
export function isEarlierForm(request: FastifyRequest, deps: Core): boolean {
  const visitor = request.cookies[visitorCookieName(deps.config)]
  return isFormOf(request, visitor, deps) || memberOfForm(request, deps) !== undefined
}

async function loadSession(request: FastifyRequest, deps: Core, findSession: FindSession): Promise<void> {
  const token = request.cookies[cookieName(deps.config)]
  if (token !== undefined) request.session = await findSession(token)
  if (request.session !== undefined) return
  request.visitorToken = request.cookies[visitorCookieName(deps.config)] ?? randomToken()
}

/**
 * Makes the function that finds the session of a request for a page outside the scopes of pages: the one about an unknown address.
 * Programs and visitors cost no statement. Throws too_many_attempts, as pages do.
 */
export function makeFindReader(deps: Core): (request: FastifyRequest) => Promise<void> {
  const findSession = makeFindSession(deps)
  return async (request) => {
    const token = request.cookies[cookieName(deps.config)]
    if (token === undefined || !wantsHtml(request)) return
    await deps.limits.take('pages', networkOf(request.ip))
    request.session = await findSession(token)
  }
}

type FindSession = (token: string) => Promise<Session | undefined>
type LiveSession = Pick<Session, 'id' | 'auth_time' | 'amr' | 'renewals'> &
  Pick<SignInFacts, 'has_second_factor' | 'has_passkey' | 'unread_alerts'> & { item: number }

/**
 * Makes the function that finds the live session of a cookie value. It returns undefined when the session has ended or its
 * member is suspended or banned. Simultaneous requests share one statement, which also stores the last use.
 */
function makeFindSession(deps: Core): FindSession {
  const find = makeBatcher<string, Omit<Session, 'needs_second_factor'> | undefined>({
    name: 'find sessions',
    ...deps.batching,
    run: (tokens) => findLive(deps, tokens),
  })
  return async (token) => {
    const session = await find(token)
    if (session === undefined || isBannedOrSuspended(session.user, deps.clock())) return undefined
    return { ...session, needs_second_factor: await lacksFactor(session.user, deps) }
  }
}

/** Finds sessions, and notes the use of those that were not seen since. */
async function findLive({ db, clock, config }: Core, tokens: string[], since?: Date) {
  const now = clock()
  const unseen_since = since ?? new Date(now.getTime() - LAST_SEEN_MINUTES * 60_000)
  const live = sql<LiveSession>`use_sessions(
    ${tokens.map(sha256)}::bytea[], ${now}::timestamptz, ${unseen_since}::timestamptz, ${relyingPartyId(config) ?? null}
  )`
  const rows = await db
    .selectFrom(live.as('session'))
    .innerJoinLateral(memberOf('session').as('users'), (join) => join.onTrue())
    .select(userColumns)
    .select(['session.item', 'session.id as session_id', 'session.auth_time', 'session.amr'])
    .select(['session.renewals', 'session.has_second_factor', 'session.has_passkey', 'session.unread_alerts'])
    .select('users.must_change_password')
    .select([
      sql<boolean>`users.password_hash is not null`.as('has_password'),
      sql<Language | null>`case when users.language_chosen then users.language end`.as('chosen_language'),
    ])
    .execute()
  return inOrder(tokens, rows, ({ session_id: id, auth_time, amr, renewals, ...user }, token) => {
    return { id, token, auth_time, amr, renewals, user }
  })
}

/**
 * Finds the session of a request outside the scopes of pages, like these, but notes no use of it. A script of the forum asks so, and not
 * the member.
 */
export async function peekSession(
  { cookies }: FastifyRequest,
  deps: Core,
): Promise<Pick<Session, 'id' | 'user'> | undefined> {
  const token = cookies[cookieName(deps.config)]
  const [session] = token === undefined ? [] : await findLive(deps, [token], new Date(0))
  return session === undefined || isBannedOrSuspended(session.user, deps.clock()) ? undefined : session
}

/** NOTE: an administrator who signs in at the forum needs no factor of ours, because the forum protects the account. */
async function lacksFactor(user: SignInFacts & { is_admin: boolean }, deps: Core): Promise<boolean> {
  if (!user.is_admin || !user.has_password || user.has_second_factor) return false
  return (await deps.settings.read()).admins_need_second_factor === 'on'
}

/** Makes the public id of a new session, the claim `sid` of ID tokens and logout tokens. It gives no access. */
export function newSid(): string {
  return randomBytes(SID_BYTES).toString('base64url')
}

/**
 * Signs the member in to this browser with a new cookie, which prevents session fixation. The member's own session goes on,
 * so applications keep its `sid`. Another member's session ends. Throws conflict for an anonymised account.
 */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  user_id: bigint,
  amr: string[],
  deps: Core,
): Promise<void> {
  const isOwn = request.session?.user.id === user_id
  if (isOwn && (await renewSession(request, reply, amr, deps))) return
  if (!isOwn && request.session !== undefined) await endSession(request, reply, deps)
  const token = randomToken()
  await deps.db
    .insertInto('sessions')
    .values({ ...rowOf(request, token, deps), user_id, auth_time: deps.clock(), amr, sid: newSid() })
    .execute()
    .catch(explainAnonymised)
  await noticeLanguage(deps.db, user_id, request.locale.language)
  giveSession(reply, token, deps)
}

/** Renews this browser's session with a new sign-in of its member. Returns false when the session has ended meanwhile. */
export async function renewSession(
  request: FastifyRequest,
  reply: FastifyReply,
  amr: string[],
  deps: Core,
): Promise<boolean> {
  const token = await replaceToken(deps.db, request, { amr, auth_time: deps.clock() }, deps)
  if (token === undefined) return false
  giveSession(reply, token, deps)
  return true
}

/**
 * Gives the session of a request another token, and stores what is new about its sign-in. Returns the token, or undefined
 * when the session has ended or has another token already. The caller sends the token with `giveSession`.
 */
export async function replaceToken(
  db: Db,
  request: FastifyRequest,
  changed: { amr?: string[]; auth_time?: Date },
  deps: Core,
): Promise<string | undefined> {
  const session = sessionOf(request)
  const token = randomToken()
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ ...rowOf(request, token, deps), ...changed, renewals: sql<number>`renewals + 1` })
    .where('id', '=', session.id)
    .where('token_hash', '=', sha256(session.token))
    .executeTakeFirst()
  return numUpdatedRows === 1n ? token : undefined
}

/** Sends the browser the token of its session. What this request reports is for that session. */
export function giveSession(reply: FastifyReply, token: string, { config }: Core): void {
  const { request } = reply
  if (request.session !== undefined) request.session = { ...request.session, token }
  reply.setCookie(cookieName(config), token, {
    ...cookieOptions(config),
    maxAge: (SESSION_DAYS * DAY_MS) / 1000,
  })
}

/** What a sign-in stores about the browser. */
function rowOf(request: FastifyRequest, token: string, { clock }: Core) {
  const now = clock()
  return {
    token_hash: sha256(token),
    ip: request.ip,
    agent: agentOf(request),
    expires_at: new Date(now.getTime() + SESSION_DAYS * DAY_MS),
    last_seen_at: now,
  }
}

/** Returns the User-Agent header of a request, in the length that is stored. */
export function agentOf({ headers }: FastifyRequest): string {
  return (headers['user-agent'] ?? '').slice(0, AGENT_LENGTH_MAX)
}

/** Ends this browser's session, and tells its applications. */
export async function endSession(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<void> {
  if (request.session !== undefined) await endSessionsById(deps.db, deps, [request.session.id])
  reply.clearCookie(cookieName(deps.config), cookieOptions(deps.config))
}

/**
 * Ends a member's sessions and unfinished sign-ins: all sessions, `only` these, or all `except` this one. It locks them in
 * the order of ids, as the exchange of codes does, so that the two cannot deadlock. Tells their applications, unless `isTold` is
 * false. Returns the ended sessions.
 */
export async function endSessionsOf(
  tx: Tx,
  deps: Core,
  user_id: bigint,
  { only, except, isTold = true }: { only?: bigint[]; except?: bigint; isTold?: boolean } = {},
): Promise<{ ip: string; agent: string; auth_time: Date }[]> {
  await tx.deleteFrom('pending_sign_ins').where('user_id', '=', user_id).execute()
  let ending = tx.selectFrom('sessions').where('user_id', '=', user_id)
  if (only !== undefined) ending = ending.where('id', 'in', only)
  if (except !== undefined) ending = ending.where('id', '<>', except)
  const ended = await ending.orderBy('id').select(['id', 'ip', 'agent', 'auth_time']).forUpdate().execute()
  const ids = ended.map(({ id }) => id)
  await endSessionsById(tx, deps, ids, isTold)
  return ended.map(({ ip, agent, auth_time }) => ({ ip, agent, auth_time }))
}

/** Returns the address of the sign-in page that returns to `back`, a path of this site. */
export function signInUrl(back: string): string {
  return `/sign-in?return_to=${encodeURIComponent(back)}`
}

/**
 * preHandler of scopes that need a member. Without a session it redirects a GET to the sign-in page, and throws
 * sign_in_required for a form. A member with a one-time password is redirected to its change.
 */
export async function requireUser(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (request.session === undefined) {
    if (request.method === 'GET' || request.method === 'HEAD')
      return reply.redirect(signInUrl(request.url), 303)
    throw new AppError('sign_in_required', 'Sign in first')
  }
  if (!request.session.user.must_change_password) return undefined
  return reply.redirect(`/account/password?return_to=${encodeURIComponent(request.url)}`, 303)
}

/** preHandler after requireUser. Throws forbidden for other members, and redirects to the second factor if it is required. */
export async function requireAdmin(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (!request.session?.user.is_admin) throw new AppError('forbidden', 'Only administrators may do this')
  if (!request.session.needs_second_factor) return undefined
  const back = request.method === 'GET' ? request.url : '/admin'
  return reply.redirect(`/account/second-factor?return_to=${encodeURIComponent(back)}`, 303)
}

/** Returns the session of a request that has passed requireUser. Throws sign_in_required without one. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === undefined) throw new AppError('sign_in_required', 'Sign in first')
  return request.session
}

/** The member who sends the request, and the IP address, as the audit log records them. */
export function actorOf(request: FastifyRequest): { actor_id: bigint; ip: string } {
  return { actor_id: sessionOf(request).user.id, ip: request.ip }
}
