// @ts-check
/**
 * A small forum that behaves towards Tessera as Discourse does: it identifies members to other sites, answers the
 * administrator's API, keeps scores and sends webhooks. It shares no code with Tessera, so both implement Discourse's
 * protocol and not a shared mistake. It keeps everything in memory.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { openCommunity } from './community.js'
import { answerUrl, ConnectError, readRequest } from './connect.js'
import { homePage, loginPage, messagePage } from './pages.js'
import { languageOf, textsIn } from './texts.js'
import { cook, openCards } from './topics.js'
import { openWebhooks } from './webhooks.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Member } from './community.js' */
/** @import { Language } from './texts.js' */
/** @import { Topic } from './topics.js' */
/** @import { Hook } from './webhooks.js' */
/**
 * @typedef {'down' | 'slow' | 'huge' | 'redirecting' | 'garbled' | 'limited' | 'not_ready' | 'not_for_you' | 'wrong_member' | 'lists_refused' | 'lists_missing'} Fault
 * @typedef {{
 *   members: Member[], groups?: { id: number, name: string }[], connectSecrets: string[], apiKey: string,
 *   host?: string, port?: number, siteUrl?: string, paymentUrl?: string, minuteMs?: number, hook?: Hook,
 *   topic?: Topic, hasTips?: boolean
 * }} ForumOptions
 * @typedef {{ member?: number, pending?: string }} Session
 * @typedef {{ url: URL, session: Session, request: IncomingMessage, response: ServerResponse }} Visit
 */

const HUGE_BYTES = 2_000_000
const SLOW_MS = 30_000
const BODY_BYTES_MAX = 4_096
const SUSPENSION_MS = 7 * 86_400_000
/** The members of a page of a list. */
const LIST_PAGE = 100
/** As Discourse sends it: it says nothing of connections, so the element may ask Tessera. */
const POLICY = "base-uri 'self'; object-src 'none'; script-src 'self'; frame-ancestors 'self'"
/** The forum's own script, and the element of the theme component. */
const SCRIPTS = ['/client.js', '/discourse-theme/javascripts/discourse/lib/tessera-wallet.js']

/**
 * Starts the forum and resolves when it listens.
 * @param {ForumOptions} options
 */
export async function startForum({ members, groups = [], host = '127.0.0.1', port = 0, ...options }) {
  const community = openCommunity(members, groups)
  /** @type {Map<string, Session>} by the value of the cookie */
  const sessions = new Map()
  const state = {
    community,
    connectSecrets: options.connectSecrets,
    isProvider: true,
    apiKey: options.apiKey,
    /** The fault that the API has now. @type {Fault | undefined} */
    fault: undefined,
    /** The paths of all calls of the API. @type {string[]} */
    calls: [],
    siteUrl: options.siteUrl,
    paymentUrl: options.paymentUrl,
    topic: options.topic,
    hasTips: options.hasTips,
    cardOf: openCards(
      [options.siteUrl, options.paymentUrl].flatMap((url) =>
        url === undefined ? [] : [new URL(url).origin],
      ),
    ),
    /** Sends a webhook about a member whom the staff suspended or not. @param {Member} member */
    async announce(member) {
      if (options.hook === undefined) return
      const event = community.isSuspended(member) ? 'user_suspended' : 'user_unsuspended'
      await webhooks.emit(options.hook, 'user', event, community.publicView(member))
    },
  }
  const server = createServer((request, response) => {
    handle(request, response, sessions, state).catch((error) => {
      const status = error instanceof ConnectError ? error.status : 500
      if (status === 500) console.error(error)
      if (!response.headersSent) send(response, status, messagePage(error.message))
    })
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(undefined))
  })
  const url = `http://${host}:${/** @type {AddressInfo} */ (server.address()).port}`
  const webhooks = openWebhooks(url, options.minuteMs)
  return Object.assign(state, {
    url,
    webhooks,
    /** Ends the sessions of a member at the forum, as a suspension does. @param {number} id */
    endSessionsOf(id) {
      for (const session of sessions.values()) if (session.member === id) delete session.member
    },
    async close() {
      webhooks.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** @typedef {Awaited<ReturnType<typeof startForum>>} Forum */
/** @typedef {Pick<Forum, 'community' | 'connectSecrets' | 'isProvider' | 'apiKey' | 'fault' | 'calls' | 'announce' | 'siteUrl' | 'paymentUrl' | 'topic' | 'hasTips' | 'cardOf'>} State */

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {Map<string, Session>} sessions
 * @param {State} forum
 */
async function handle(request, response, sessions, forum) {
  const url = new URL(request.url ?? '/', 'http://forum')
  if (url.pathname.endsWith('.json')) return answerApi(url, request, response, forum)
  // Discourse has this address for monitoring.
  if (url.pathname === '/srv/status') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
    return
  }
  const script = SCRIPTS.find((path) => path === url.pathname)
  if (request.method === 'GET' && script !== undefined) return sendScript(response, script)
  const { cookie = '' } = request.headers
  const id = /(?:^|; )forum_session=([\w-]+)/.exec(cookie)?.[1] ?? ''
  const session = sessions.get(id) ?? startSession(response, sessions)
  const chosen = /(?:^|; )forum_language=([\w-]+)/.exec(cookie)?.[1]
  const language = languageOf(chosen, request.headers['accept-language'])
  const visit = { url, session, request, response, language }
  const { siteUrl, paymentUrl, hasTips, topic } = forum
  const view = { language, member: memberOf(session, forum), siteUrl, paymentUrl, hasTips }
  const isTopic = topic !== undefined && url.pathname.startsWith(`/t/${topic.slug}/${topic.id}`)
  switch (`${request.method} ${isTopic ? '/' : url.pathname}`) {
    case 'GET /':
      return send(response, 200, homePage(view, forum.community, await shownTopic(forum, language)))
    case 'GET /login':
      return send(response, 200, loginPage(view, [...forum.community.members.values()], forum.community))
    case 'GET /language': {
      const to = languageOf(url.searchParams.get('to') ?? undefined)
      response.appendHeader('set-cookie', `forum_language=${to}; Path=/; SameSite=Lax`)
      return redirect(response, '/')
    }
    case 'POST /login':
      return logIn(visit, forum)
    case 'POST /suspend':
      return suspend(visit, forum)
    case 'POST /logout':
      delete session.member
      return redirect(response, '/')
    case 'GET /session/sso_provider':
      return identify(visit, forum)
    default:
      return send(response, 404, messagePage(textsIn(language).missing, view))
  }
}

/**
 * The topic with its posts as HTML.
 * @param {State} forum
 * @param {Language} language
 */
async function shownTopic({ topic, cardOf }, language) {
  if (topic === undefined) return undefined
  const posts = topic.posts.map(({ text }) => cook(text, (address) => cardOf(address, language)))
  return { topic, posts: await Promise.all(posts) }
}

/**
 * @param {ServerResponse} response
 * @param {Map<string, Session>} sessions
 */
function startSession(response, sessions) {
  const id = randomBytes(24).toString('base64url')
  /** @type {Session} */
  const session = {}
  sessions.set(id, session)
  response.appendHeader('set-cookie', `forum_session=${id}; Path=/; HttpOnly; SameSite=Lax`)
  return session
}

/**
 * @param {Session} session
 * @param {State} forum
 */
function memberOf({ member: id }, { community }) {
  const member = id === undefined ? undefined : community.members.get(id)
  return member === undefined || community.isSuspended(member) ? undefined : member
}

/**
 * Logs in the chosen member without a password. A suspended member cannot log in.
 * @param {Visit} visit
 * @param {State} forum
 */
async function logIn({ session, request, response }, forum) {
  const fields = await readForm(request)
  const member = forum.community.members.get(Number(fields.get('id')))
  if (member === undefined) return send(response, 404, messagePage('There is no such member.'))
  if (forum.community.isSuspended(member)) return send(response, 403, messagePage('You are suspended.'))
  session.member = member.id
  const { pending } = session
  delete session.pending
  redirect(response, pending ?? '/')
}

/**
 * Suspends a member for a week, or ends the suspension. Only staff may do it.
 * @param {Visit} visit
 * @param {State} forum
 */
async function suspend({ session, request, response }, forum) {
  const fields = await readForm(request)
  const member = forum.community.members.get(Number(fields.get('id')))
  const staff = memberOf(session, forum)
  if (member === undefined || !(staff?.moderator || staff?.admin))
    return send(response, 403, messagePage('Only moderators may do this.'))
  if (forum.community.isSuspended(member)) delete member.suspended_till
  else member.suspended_till = new Date(Date.now() + SUSPENSION_MS).toISOString()
  forum.announce(member).catch(() => {})
  redirect(response, '/')
}

/** @param {IncomingMessage} request */
async function readForm(request) {
  let body = ''
  for await (const chunk of request) {
    body += chunk
    if (body.length > BODY_BYTES_MAX) throw new ConnectError(413, 'That is too much.')
  }
  return new URLSearchParams(body)
}

/**
 * @param {Visit} visit
 * @param {State} forum
 */
function identify({ url, session, response }, forum) {
  if (!forum.isProvider) return send(response, 404, messagePage('There is nothing at this address.'))
  const request = readRequest(url.searchParams, forum.connectSecrets)
  if (request.isLogout) {
    delete session.member
    return redirect(response, request.returnUrl)
  }
  const member = memberOf(session, forum)
  if (member === undefined) {
    session.pending = url.pathname + url.search
    return redirect(response, '/login')
  }
  redirect(response, answerUrl(request, member, forum.community))
}

/**
 * @param {URL} url
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {State} forum
 */
function answerApi(url, request, response, forum) {
  const path = decodeURIComponent(url.pathname)
  forum.calls.push(path)
  if (forum.fault !== undefined && FAULTS[forum.fault](response)) return
  const topicId = /^\/t\/(\d+)\.json$/.exec(path)?.[1]
  if (topicId !== undefined) {
    const { topic } = forum
    // Visitors read public topics without a key. A key of an administrator reads all.
    const isShown = topic?.isPrivate !== true || request.headers['api-key'] === forum.apiKey
    if (String(topic?.id) === topicId && isShown)
      return json(response, 200, { id: topic?.id, slug: topic?.slug, title: topic?.title })
    return json(response, 404, { errors: [], error_type: 'not_found' })
  }
  if (request.headers['api-key'] !== forum.apiKey || request.headers['api-username'] === undefined) {
    return json(response, 403, {
      errors: ['You are not permitted to do that.'],
      error_type: 'invalid_access',
    })
  }
  const { community } = forum
  const isAdmin = forum.fault !== 'not_for_you'
  const byId = /^\/admin\/users\/(-?\d+)\.json$/.exec(path)?.[1]
  if (byId !== undefined && isAdmin) {
    if (byId === '-1')
      return json(response, 200, {
        id: -1,
        username: 'system',
        admin: true,
        moderator: true,
        trust_level: 4,
        groups: [],
      })
    const member = community.members.get(Number(byId))
    if (member !== undefined) {
      const another = forum.fault === 'wrong_member' ? { id: member.id + 1 } : {}
      return json(response, 200, { ...community.adminView(member), ...another })
    }
  }
  const name = /^\/u\/([^/]+)\.json$/.exec(path)?.[1]
  const named = name === undefined ? undefined : community.findByName(name)
  if (named !== undefined) return json(response, 200, { user: community.publicView(named) })
  const listed = answerList(path, url.searchParams, community, isAdmin)
  if (listed !== undefined && forum.fault === 'lists_refused')
    return json(response, 403, {
      errors: ['You are not permitted to do that.'],
      error_type: 'invalid_access',
    })
  if (listed !== undefined && forum.fault !== 'lists_missing') return json(response, 200, listed)
  // Discourse answers 404 to a key without the right to see a member.
  json(response, 404, {
    errors: ['The requested URL or resource could not be found.'],
    error_type: 'not_found',
  })
}

/**
 * The lists of members by page, as Discourse gives them; undefined at any other address.
 * @param {string} path
 * @param {URLSearchParams} query
 * @param {State['community']} community
 * @param {boolean} isAdmin
 */
function answerList(path, query, community, isAdmin) {
  const page = Number(query.get('page') ?? 1)
  const kind = /^\/admin\/users\/list\/(suspended|staff|silenced)\.json$/.exec(path)?.[1]
  if (kind !== undefined && isAdmin) {
    const found = community.list(/** @type {'suspended' | 'staff' | 'silenced'} */ (kind))
    return found.slice((page - 1) * LIST_PAGE, page * LIST_PAGE).map((member) => community.adminView(member))
  }
  if (path === '/groups/search.json') return [...community.groups.values()]
  // All leaderboards have the same scores here.
  if (/^\/leaderboard(\/\d+)?\.json$/.test(path)) {
    const ranked = community.leaderboard()
    return { users: ranked.slice(page * LIST_PAGE, (page + 1) * LIST_PAGE) }
  }
  const group = /^\/groups\/([^/]+)\/members\.json$/.exec(path)?.[1]
  if (group === undefined) return undefined
  const members = community.membersOf(group)
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  return {
    members: members.slice(offset, offset + limit).map(({ id, username }) => ({ id, username })),
    meta: { total: members.length, limit, offset },
  }
}

/** The answer of each fault. False: the fault changes a later step. @type {Record<Fault, (response: ServerResponse) => boolean>} */
const FAULTS = {
  down: (response) => json(response, 503, { errors: ['The forum is being updated.'] }),
  slow: (response) => {
    setTimeout(() => response.destroyed || json(response, 200, {}), SLOW_MS).unref()
    return true
  },
  huge: (response) => json(response, 200, { id: 1, padding: 'x'.repeat(HUGE_BYTES) }),
  redirecting: (response) => {
    response.writeHead(302, { location: '/admin/users/-1.json' }).end()
    return true
  },
  garbled: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('<html>')
    return true
  },
  limited: (response) => {
    response.setHeader('retry-after', '17')
    return json(response, 429, { errors: ['You have performed this action too many times.'] })
  },
  // Discourse answers so while it computes a leaderboard.
  not_ready: (response) => json(response, 202, { users: [], reason: 'The leaderboard is not ready.' }),
  not_for_you: () => false,
  wrong_member: () => false,
  lists_refused: () => false,
  lists_missing: () => false,
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {unknown} value
 */
function json(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
  return true
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} page
 */
function send(response, status, page) {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }
  response.writeHead(status, headers).end(page)
}

/**
 * @param {ServerResponse} response
 * @param {string} path
 */
async function sendScript(response, path) {
  const file = path === SCRIPTS[0] ? path : `../${path}`
  const script = await readFile(join(import.meta.dirname, file))
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script)
}

/**
 * @param {ServerResponse} response
 * @param {string} location
 */
function redirect(response, location) {
  response.writeHead(302, { location }).end()
}
