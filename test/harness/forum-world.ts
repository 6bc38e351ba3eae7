/** The example forum and the application that it sends webhooks to: what tests do at the forum, and what they look at here. */
import { afterAll, beforeEach, expect } from 'vitest'
import { checkNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { signInAtForum, startTestForum, type TestForum, WEBHOOK_SECRET } from './fake-forum.ts'
import { type Browser, startTestApp, type TestApp } from './harness.ts'

type Member = { id: number }
type ForumOptions = NonNullable<Parameters<typeof startTestForum>[0]>

/** Starts both. `env` changes the environment of the application; undefined removes a variable. */
export async function startForumWorld(
  options: ForumOptions = {},
  env: Record<string, string | undefined> = {},
) {
  const forum = await startTestForum(options)
  const variables = Object.entries({ ...forum.env, ...env }).filter(([, value]) => value !== undefined)
  const test = await startTestApp(Object.fromEntries(variables) as Record<string, string>)
  const hookUrl = `${await test.app.listen({ port: 0, host: '127.0.0.1' })}/forum/webhook`
  return {
    forum,
    test,
    hookUrl,
    ...looks(test),
    ...acts(test, forum, hookUrl),
    async close() {
      await test.close()
      await forum.close()
    },
  }
}

/**
 * Starts both for all tests of a file, and closes them after it. Each test has the whole budget of requests. Awaited at the
 * top of the file.
 */
export async function useForumWorld(...options: Parameters<typeof startForumWorld>): Promise<ForumWorld> {
  const world = await startForumWorld(...options)
  afterAll(() => world.close())
  beforeEach(() => world.resetBudget())
  return world
}

/** What the application has stored. */
function looks({ db }: TestApp) {
  const userOf = (member: Member) =>
    db.selectFrom('users').where('forum_id', '=', BigInt(member.id)).selectAll().executeTakeFirstOrThrow()
  return {
    userOf,
    nameOf: async (member: Member) => (await userOf(member)).username,
    /** The member's row of forum_members. */
    memberOf: async (member: Member) =>
      rowOf({ db }, 'forum_members', { user_id: (await userOf(member)).id }),
    /** The names of the member's groups, in order. */
    groupsOf: async (member: Member) =>
      (
        await db
          .selectFrom('user_groups')
          .where('user_id', '=', (await userOf(member)).id)
          .orderBy('name')
          .select('name')
          .execute()
      ).map((row) => row.name),
    /** The acts of the audit log about the member, oldest first. */
    /** What was recorded about a member, but for new browsers: each sign-in of a test is from one. */
    auditOf: async (member: Member) => {
      const subject = `user:${(await userOf(member)).id}`
      const recorded = await rowsOf({ db }, 'audit_log', { subject }, ['action', 'detail'])
      return recorded.filter(({ action }) => action !== 'account.sign_in.new_browser')
    },
    hints: async () =>
      (await db.selectFrom('forum_members').where('hinted_at', 'is not', null).select('user_id').execute())
        .length,
    events: async () => (await db.selectFrom('forum_events').select('event_id').execute()).length,
  }
}

function acts(test: TestApp, forum: TestForum, hookUrl: string) {
  return {
    /** Sends a signed event from the forum. */
    emit: (type: string, event: string, content: Record<string, unknown>) =>
      forum.webhooks.emit({ url: hookUrl, secret: WEBHOOK_SECRET }, type, event, content),
    async signIn(member: Member): Promise<Browser> {
      const { client, page } = await signInAtForum(test, forum, member)
      expect(page.status).toBe(303)
      return client
    },
    isIn: async (client: Browser) => (await client.get('/account')).status === 200,
    /** Gives sign-ins and the worker their requests of a minute again. */
    resetBudget: () =>
      setRows(test, 'forum_api', {}, { requests: [], sign_in_requests: [], paused_until: null }),
    /** Asks about every due member, one minute of the budget at a time. */
    async sweep() {
      for (let minute = 0; minute < 20; minute += 1) {
        for (let count = 0; count < 100 && (await checkNextMember(test.deps)); count += 1);
        const { due } = await test.db
          .selectFrom('forum_members')
          .where((eb) =>
            eb.or([eb('hinted_at', 'is not', null), eb('next_check_at', '<=', test.clock.now())]),
          )
          .select((eb) => eb.fn.countAll<bigint>().as('due'))
          .executeTakeFirstOrThrow()
        if (due === 0n) return
        test.clock.advance(60_001)
      }
      throw new Error('The sweep does not end')
    },
  }
}

export type ForumWorld = Awaited<ReturnType<typeof startForumWorld>>
