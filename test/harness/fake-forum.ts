/** The example forum for tests: a real HTTP server, and a browser that is logged in there. */
import { signedUrl } from '../../examples/forum/connect.js'
import { type Forum, type ForumOptions, startForum } from '../../examples/forum/server.js'
import { type Browser, browser, type Page, type TestApp } from './harness.ts'

export const CONNECT_SECRET = 'the secret of the tests, shared with the forum'.replaceAll(' ', '-')
const API_KEY = 'a-key-of-the-tests-for-the-forum'
export const WEBHOOK_SECRET = 'the-secret-of-the-webhook-of-the-tests'

type Member = ForumOptions['members'][number]

export type TestForum = Forum & {
  /** The environment variables of Tessera for this forum. */
  env: Record<string, string>
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
  return Object.assign(forum, { env, join })
}

/** A browser at the forum. */
export type ForumBrowser = {
  logIn(id: number): Promise<number>
  /** Follows an address of the forum to its last page, or to the redirect back to the service. */
  follow(location: string): Promise<{ status: number; location: string | undefined; body: string }>
}

export function forumBrowser(forum: Forum): ForumBrowser {
  let cookie = ''
  async function send(url: string, init: RequestInit = {}) {
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    const set = response.headers.getSetCookie()[0]
    if (set !== undefined) cookie = set.split(';', 1)[0]!
    return response
  }
  return {
    async logIn(id) {
      const response = await send(`${forum.url}/login`, {
        method: 'POST',
        body: new URLSearchParams({ id: String(id) }),
      })
      return response.status
    },
    async follow(location) {
      const response = await send(location)
      const next = response.headers.get('location') ?? undefined
      return { status: response.status, location: next, body: await response.text() }
    },
  }
}

/** The path of the callback by which the forum answers a request for this member. */
export async function answerOf(forum: Forum, member: { id: number }, location: string): Promise<string> {
  const atForum = forumBrowser(forum)
  await atForum.logIn(member.id)
  const { location: callback, status, body } = await atForum.follow(location)
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
