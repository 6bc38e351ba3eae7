// @ts-check
/** A small web server with sessions and CSRF protection. It has nothing specific to Tessera. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { messagePage } from './pages.js'
import { textsFor } from './texts.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Attempt, Member } from './sign-in.js' */
/** @import { Texts } from './texts.js' */
/**
 * @typedef {{ id: string, formToken: string, member?: Member, attempt?: Attempt }} Session
 * @typedef {{ url: URL, session: Session, response: ServerResponse, t: Texts }} Visit
 * @typedef {(visit: Visit) => void | Promise<void>} Handler
 */

const SESSIONS_MAX = 1_000
const FORM_BYTES_MAX = 4_096
const EVENT_BYTES_MAX = 65_536
const FILES = {
  '/shop.css': 'text/css; charset=utf-8',
  '/sticker-pack.svg': 'image/svg+xml',
  '/logos/sticker-shop.svg': 'image/svg+xml',
  '/logos/mug-shop.svg': 'image/svg+xml',
  '/logos/cat-shop.svg': 'image/svg+xml',
  '/logos/library-shop.svg': 'image/svg+xml',
  '/portraits/moon.svg': 'image/svg+xml',
  '/portraits/cat.svg': 'image/svg+xml',
  '/portraits/peaks.svg': 'image/svg+xml',
  '/portraits/wave.svg': 'image/svg+xml',
  '/portraits/flower.svg': 'image/svg+xml',
  '/portraits/fox.svg': 'image/svg+xml',
  '/portraits/leaf.svg': 'image/svg+xml',
}

/** @type {Map<string, Session>} by the value of the cookie */
const sessions = new Map()
const files = new Map(
  Object.entries(FILES).map(([path, type]) => {
    return [path, { type, content: readFileSync(new URL(`.${path}`, import.meta.url)) }]
  }),
)

/**
 * @param {{ host: string, port: number, url: string, formTargets: string[] }} options
 *   `url` is the shop's address; `formTargets` are other origins to which a form may redirect.
 * @param {(method: string, path: string) => Handler | undefined} findHandler
 * @param {(headers: IncomingMessage['headers'], body: string) => number} receiveEvent takes what is posted to /events by a
 *   program, without a session. Returns the status of the answer.
 */
export function startServer({ host, port, url: shopUrl, formTargets }, findHandler, receiveEvent) {
  const headers = {
    'cache-control': 'no-store',
    // A browser checks every redirect of a form against form-action. Forms of the shop end at Tessera's pages.
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${formTargets.join(' ')}; frame-ancestors 'none'; base-uri 'none'`,
    // Addresses of the shop contain codes and signatures, which other sites must not see.
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    handle(request, response).catch((error) => {
      console.error(error)
      const t = textsFor(request.headers['accept-language'])
      const { title, text } = t.messages.broken
      send(response, 502, messagePage(t, undefined, { title, text: text(error.message) }))
    })
  })
  server.on('error', (error) => {
    const isTaken = 'code' in error && error.code === 'EADDRINUSE'
    console.error(isTaken ? `Port ${port} is taken: set SHOP_PORT to a free one.` : error.message)
    process.exit(1)
  })
  server.listen(port, host, () => {
    if (process.send === undefined) console.log(`The shop is at ${shopUrl}`)
    else process.send('ready')
  })
  // A shop that another program started ends with that program.
  process.on('disconnect', () => process.exit())

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async function handle(request, response) {
    const url = new URL(`http://shop${request.url}`)
    const file = files.get(url.pathname)
    if (file !== undefined) return void response.setHeader('content-type', file.type).end(file.content)
    if (request.method === 'POST' && url.pathname === '/events') {
      const body = await readBody(request, EVENT_BYTES_MAX)
      const status = body === undefined ? 413 : receiveEvent(request.headers, body)
      return void response.writeHead(status).end()
    }
    const t = textsFor(request.headers['accept-language'])
    const cookie = /(?:^|; )shop_session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const session = sessions.get(cookie) ?? startSession(response)
    if (request.method === 'POST' && !(await isOwnForm(request, session))) {
      return send(response, 403, messagePage(t, session, t.messages.expired))
    }
    const handler = findHandler(request.method ?? 'GET', url.pathname)
    if (handler !== undefined) return handler({ url, session, response, t })
    send(response, 404, messagePage(t, session, t.messages.nothing))
  }
}

/**
 * Gives the browser a new session in place of its old one. Every sign-in must do so, because an attacker may have
 * planted the old cookie.
 * @param {ServerResponse} response
 * @param {{ replaces?: Session, member?: Member }} options
 */
export function startSession(response, { replaces, ...who } = {}) {
  if (replaces !== undefined) sessions.delete(replaces.id)
  const session = { ...who, id: random(), formToken: random() }
  sessions.set(session.id, session)
  const [oldest] = sessions.keys()
  if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest)
  // In production, over HTTPS, add `Secure` and use the name `__Host-shop_session`.
  response.setHeader('set-cookie', `shop_session=${session.id}; Path=/; HttpOnly; SameSite=Lax`)
  return session
}

/**
 * Whether a page of the shop sent the form. The form repeats the session's secret, which other sites cannot read.
 * @param {IncomingMessage} request
 * @param {Session} session
 */
async function isOwnForm(request, session) {
  const body = await readBody(request, FORM_BYTES_MAX)
  if (body === undefined) return false
  const sent = Buffer.from(new URLSearchParams(body).get('form_token') ?? '')
  const expected = Buffer.from(session.formToken)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/**
 * Undefined for a body that is too long.
 * @param {IncomingMessage} request
 * @param {number} bytesMax
 */
async function readBody(request, bytesMax) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
  }
  return Buffer.concat(chunks).toString()
}

function random() {
  return randomBytes(24).toString('base64url')
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} page
 */
export function send(response, status, page) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(page)
}

/**
 * @param {ServerResponse} response
 * @param {string} location
 */
export function redirect(response, location) {
  response.writeHead(303, { location }).end()
}
