/** Signing in with a local password, and out. Failures are throttled per account and per address. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'
import { safeReturnTo } from '../web/return-to.ts'
import { verifyPassword } from './password.ts'
import { browserScope, endSession, startSession } from './session.ts'
import { isBarred } from './users.ts'

const WINDOW_MINUTES = 15
const ACCOUNT_FAILURES_MAX = 10
const ADDRESS_FAILURES_MAX = 30
/** The wait doubles with each failure past the limit, and never outlasts the window: nobody is locked out for good. */
const FIRST_WAIT_SECONDS = 30

const SignInForm = z.object({
  username: z.string().trim().min(1).max(60),
  password: z.string().min(1).max(1_000),
  return_to: z.string().optional(),
})

/** GET and POST /sign-in, POST /sign-out. */
export async function signInRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  browserScope(app, deps)

  app.get<{ Querystring: Record<string, unknown> }>('/sign-in', async (request, reply) => {
    const { return_to, login_hint } = request.query
    const username = typeof login_hint === 'string' ? login_hint.slice(0, 60) : ''
    return reply.page(
      'sign-in',
      { returnTo: safeReturnTo(return_to), username, problem: undefined },
      { leavesSite: true },
    )
  })

  app.post('/sign-in', async (request, reply) => {
    const form = SignInForm.safeParse(request.body)
    const returnTo = safeReturnTo(form.data?.return_to)
    const again = (problem: 'wrong_credentials' | 'barred', username: string) =>
      reply.page('sign-in', { returnTo, username, problem }, { status: 401, leavesSite: true })

    if (!form.success) return again('wrong_credentials', '')
    const { username, password } = form.data
    const attempt = await registerAttempt(deps, username, request.ip)
    const found = await deps.db
      .selectFrom('users')
      .where(sql`lower(username)`, '=', sql<string>`lower(${username})`)
      .select(['id', 'password_hash', 'is_banned', 'suspended_till'])
      .executeTakeFirst()
    // Checked also for an unknown name, at the same cost, so that time tells nothing.
    const isRight = await verifyPassword(password, found?.password_hash)
    if (found === undefined || !isRight) return again('wrong_credentials', username)
    await deps.db.updateTable('sign_in_attempts').set({ succeeded: true }).where('id', '=', attempt).execute()
    if (isBarred(found, deps.clock())) return again('barred', username)
    await startSession(request, reply, found.id, ['pwd'], deps)
    return reply.redirect(returnTo, 303)
  })

  app.post('/sign-out', async (request, reply) => {
    await endSession(request, reply, deps)
    return reply.redirect('/', 303)
  })
}

/**
 * Records a try as failed before the password is looked at, so that any number of tries at once count each
 * other, and returns its id. Throws too_many_attempts beyond the limits of decisions.md 11; a refused try is
 * taken back, so waiting always helps.
 */
async function registerAttempt(deps: Deps, username: string, address: string): Promise<bigint> {
  const now = deps.clock()
  const since = new Date(now.getTime() - WINDOW_MINUTES * 60_000)
  const account = username.toLowerCase()
  const { id } = await deps.db
    .insertInto('sign_in_attempts')
    .values({ account, address, attempted_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  // The failures before this try: a success clears the account's count, not the address's.
  const { rows } = await sql<{ of_account: bigint; of_address: bigint; last: Date | null }>`
    select
      count(*) filter (where account = ${account} and id > (
        select coalesce(max(id), 0) from sign_in_attempts
        where account = ${account} and succeeded and attempted_at > ${since}
      )) as of_account,
      count(*) filter (where address = ${address}) as of_address,
      max(attempted_at) as last
    from sign_in_attempts
    where (account = ${account} or address = ${address}) and attempted_at > ${since} and id < ${id} and not succeeded
  `.execute(deps.db)
  const before = rows[0]!

  const excess = Math.max(
    Number(before.of_account) - ACCOUNT_FAILURES_MAX,
    Number(before.of_address) - ADDRESS_FAILURES_MAX,
  )
  if (excess < 0 || before.last === null) return id
  const wait_seconds = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(excess, 10), WINDOW_MINUTES * 60)
  const left = Math.ceil((before.last.getTime() - now.getTime()) / 1000) + wait_seconds
  if (left <= 0) return id
  await deps.db.deleteFrom('sign_in_attempts').where('id', '=', id).execute()
  throw new AppError('too_many_attempts', 'Too many failed sign-ins. Wait a moment and try again.', {
    retry_after_seconds: left,
  })
}
