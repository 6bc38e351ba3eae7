/** The example forum for tests: a real HTTP server, and a browser that is logged in there. */
import { ConnectError, signedUrl } from '../../examples/forum/connect.js'
import { type Forum, type ForumOptions, startForum } from '../../examples/forum/server.js'
import { browserAt } from './browser.ts'
import { type Browser, browser, type Page, type TestApp } from './harness.ts'

export const CONNECT_SECRET = 'the secret of the tests, shared with the forum'.replaceAll(' ', '-')
const API_KEY = 'a-key-of-the-tests-for-the-forum'
export const WEBHOOK_SECRET = 'the-secret-of-the-webhook-of-the-tests'

type Member = ForumOptions['members'][number]

export type TestForum = Forum & {
  /** The environment variables of Tessera for this forum. */
  env: Record<string, string>
  /** What the administrator's view of a member says instead, in any form, or the error that it ends in; by the member's id. */
  instead: Map<number, Record<string, unknown> | ConnectError>
  /** Adds a member. IDs and names are new, so tests do not share members. */
  join(member?: Partial<Member>): Member
}

let lastId = 100

export async function startTestForum(options: Partial<ForumOptions> = {}): Promise<TestForum> {
  const forum = await startForum({
    members: [],
    connectSecrets: [`127.0.0.1|${CONNECT_SECRET}`],
    apiKey: API_KEY,
    minuteMs: 5,
    ...options,
  })
  const env = {
    DISCOURSE_URL: forum.url,
    DISCOURSE_SECRET: CONNECT_SECRET,
    DISCOURSE_API_KEY: API_KEY,
    DISCOURSE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  }
  function join(values: Partial<Member> = {}): Member {
    lastId += 1
    const username = values.username ?? `member${lastId}`
    const member = { id: lastId, username, email: `${lastId}@example.org`, trust_level: 2, ...values }
    forum.community.members.set(member.id, member)
    return member
  }
  const instead: TestForum['instead'] = new Map()
  const { adminView } = forum.community
  forum.community.adminView = (member) => {
    const changed = instead.get(member.id)
    if (changed instanceof ConnectError) throw changed
    return { ...adminView(member), ...changed }
  }
  return Object.assign(forum, { env, join, instead })
}

/** Logs a member in at the forum. Returns the status of the answer. */
export async function logIn(atForum: Browser, { id }: { id: number }): Promise<number> {
  return (await atForum.post('/login', { id: String(id) })).status
}

/** The path of the callback by which the forum answers a request for this member. */
export async function answerOf(forum: Forum, member: { id: number }, location: string): Promise<string> {
  const atForum = browserAt(forum.url)
  await logIn(atForum, member)
  const { location: callback, status, body } = await atForum.get(location)
  if (callback === undefined) throw new Error(`The forum did not answer: ${status} ${body}`)
  const url = new URL(callback)
  return url.pathname + url.search
}

/** Takes all steps of the handshake, and returns the last page and its browser. */
export async function signInAtForum(
  test: TestApp,
  forum: Forum,
  member: { id: number },
  { client = browser(test), returnTo = '/account' } = {},
): Promise<{ client: Browser; page: Page }> {
  const start = await client.get(`/sign-in/forum?return_to=${encodeURIComponent(returnTo)}`)
  const page = await client.get(await answerOf(forum, member, start.location!))
  return { client, page }
}

/** A forged answer of the forum with these fields, signed with the right or another secret. */
export function forgedAnswer(fields: Record<string, string>, secret = CONNECT_SECRET): string {
  return signedUrl('/sign-in/forum/callback', fields, secret)
}

/** The nonce in a request to the forum. */
export function nonceOf(location: string): string {
  const sso = new URL(location).searchParams.get('sso')!
  return new URLSearchParams(Buffer.from(sso, 'base64').toString()).get('nonce')!
}
