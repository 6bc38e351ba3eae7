/**
 * Keeps what a member typed in a form while the browser goes elsewhere: to a sign-in, or to the other language. The page of
 * the form then shows it again, once. Keeping a form never sends it: the member presses its button again.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { backOf, safeBack } from '../back.ts'
import { escapeHtml } from '../html.ts'
import { NAME_LENGTH_MAX, PARAMETERS_MAX, VALUE_BYTES_MAX } from '../parameters.ts'
import { FORM_TOKEN_FIELD, isFormOfOtherVersion, memberOfForm } from './form-guard.ts'
import { type RefusedForm, textsIn } from './forms.ts'

/** The path to which a form was sent, and its fields. */
export type TypedForm = Pick<RefusedForm, 'path' | 'typed'>

/** Fields with passwords, codes and keys, which are never kept. */
export const NEVER_KEPT: readonly string[] = [
  FORM_TOKEN_FIELD,
  'password',
  'current_password',
  'new_password',
  'code',
  'recovery_code',
  'client_secret',
  'public_key',
  'credential',
]

/** Leaves time for a sign-in with a second factor, perhaps at the forum. */
const KEPT_MINUTES = 15
/** A longer form is not kept. The body of a request has the same limit. */
const KEPT_BYTES_MAX = 65_536
/** The cookie that names the kept form of a browser. */
export const KEPT_COOKIE = 'kept_form'
const PURPOSE = 'kept form'
const PATH_FIELD = 'kept_path'
const PREFIX = 'kept.'
/** The switch of languages has fields of its own. */
const REPEATED_MAX = PARAMETERS_MAX - 10

const mayKeep = (name: string) => !NEVER_KEPT.includes(name)

function keepable(typed: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(typed).filter(([name]) => mayKeep(name)))
}

/** Returns the form of a request, without what is never kept. */
export function typedForm({ url, body }: FastifyRequest): TypedForm {
  return { path: url.split('?')[0]!, typed: keepable(textsIn(body)) }
}

/**
 * Returns hidden fields that repeat a form in the switch of languages, as HTML. It leaves out what the switch could not send: so a
 * long `return_to` comes from the page's address alone.
 */
export function repeatedFields({ path, typed }: TypedForm): string {
  const fields = Object.entries(keepable(typed)).filter(
    ([name, value]) =>
      name.length + PREFIX.length <= NAME_LENGTH_MAX && Buffer.byteLength(value) <= VALUE_BYTES_MAX,
  )
  if (fields.length > REPEATED_MAX) return ''
  return [[PATH_FIELD, path] as const, ...fields.map(([name, value]) => [PREFIX + name, value] as const)]
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('')
}

/** Returns the form that a switch of languages repeats, or undefined. */
export function repeatedForm({ body }: FastifyRequest): TypedForm | undefined {
  const sent = textsIn(body)
  if (sent[PATH_FIELD] === undefined) return undefined
  const fields = Object.entries(sent)
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, value]) => [name.slice(PREFIX.length), value])
  return { path: safeBack(sent[PATH_FIELD]), typed: keepable(Object.fromEntries(fields)) }
}

type Deps = Pick<Core, 'db' | 'secrets' | 'clock' | 'config'>

/** What became of what was typed in a form that came too late. */
export type LateForm = 'kept' | 'lost'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Keeps the form of a request whose session has ended, or was replaced by another of the same member. It is kept for the
     * member for whom our own page made the form, who sees it at `page` after signing in. Returns undefined if nothing was
     * typed.
     */
    keepLateForm(page: string): Promise<LateForm | undefined>
  }
}

/** Binds a kept form to the browser, to the member and to the page, so nobody else and no other page shows it. */
function idOf(token: string, member: string, page: string): Buffer {
  return sha256([token, member, safeBack(page)].join('\n'))
}

const memberOf = ({ session }: FastifyRequest) => String(session?.user.id ?? '')

/**
 * Keeps a form for the page at `page`, a path of this site with its query. Returns whether it was short enough.
 * @param member who sees it there, the member of the session by default.
 */
export async function keepForm(
  reply: FastifyReply,
  page: string,
  form: TypedForm,
  { db, secrets, clock, config }: Deps,
  member = memberOf(reply.request),
): Promise<boolean> {
  const text = JSON.stringify(form)
  if (Buffer.byteLength(text) > KEPT_BYTES_MAX) return false
  const token = randomToken()
  const id = idOf(token, member, page)
  const expires_at = new Date(clock().getTime() + KEPT_MINUTES * 60_000)
  await db
    .insertInto('kept_forms')
    .values({ id, form: secrets.encrypt(PURPOSE, text), expires_at })
    .execute()
  reply.setCookie(KEPT_COOKIE, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: config.production,
    maxAge: KEPT_MINUTES * 60,
  })
  return true
}

/** Returns what was typed in the form of a request, or in the form that its switch of languages repeats. */
function formOf(request: FastifyRequest): TypedForm | undefined {
  return request.routeOptions.url === '/language' ? repeatedForm(request) : typedForm(request)
}

/**
 * Leads the form of another version to its page, which shows again what was typed. Returns false for every other form,
 * for one without a page, and for one that is too long to keep. spec/accounts 3.3.
 */
export async function returnToOwnForm(reply: FastifyReply, deps: Deps): Promise<boolean> {
  const { request } = reply
  const page = isFormOfOtherVersion(request, deps.config) ? backOf(request) : undefined
  if (page === undefined) return false
  const form = formOf(request)
  if (form !== undefined && !(await keepForm(reply, page, form, deps))) return false
  reply.redirect(page, 303)
  return true
}

async function keepLateForm(reply: FastifyReply, page: string, deps: Deps): Promise<LateForm | undefined> {
  const { request } = reply
  const form = formOf(request)
  if (form === undefined || Object.keys(textsIn(request.body)).length === 0) return undefined
  const member = memberOfForm(request, deps)
  const isOthers = request.session !== undefined && memberOf(request) !== member
  if (member === undefined || isOthers || Object.keys(form.typed).length === 0) return 'lost'
  return (await keepForm(reply, page, form, deps, member)) ? 'kept' : 'lost'
}

/** Makes every page show the form that is kept for it. */
export function registerKeptForms(app: FastifyInstance, deps: Deps): void {
  app.decorateReply('keepLateForm', function (page) {
    return keepLateForm(this, page, deps)
  })
  app.addHook('onRoute', (route) => {
    const { method, handler } = route
    if (method !== 'GET') return
    route.handler = function (request, reply) {
      const token = request.method === 'GET' ? request.cookies?.[KEPT_COOKIE] : undefined
      if (token === undefined) return handler.call(this, request, reply)
      return showKept(request, reply, token, deps).then(() => handler.call(this, request, reply))
    }
  })
}

async function showKept(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  { db, secrets, clock }: Deps,
): Promise<void> {
  const kept = await db
    .deleteFrom('kept_forms')
    .where('id', '=', idOf(token, memberOf(request), request.url))
    .where('expires_at', '>', clock())
    .returning('form')
    .executeTakeFirst()
  if (kept === undefined) return
  reply.clearCookie(KEPT_COOKIE, { path: '/' })
  const { path, typed } = JSON.parse(secrets.decrypt(PURPOSE, kept.form)) as TypedForm
  const { kept: title, sendAgain: text } = request.locale.t.forms
  request.refused = { path, typed, problems: {}, status: 200, summary: { title, text, tone: 'warn' } }
}
