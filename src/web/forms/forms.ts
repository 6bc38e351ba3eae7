/**
 * Reads forms. A refused form is answered with its own page: the fields have what was typed, and each faulty one says what
 * is wrong. Doors throw FormRefused; the renderer of failures shows the page, by the handler of its GET.
 * spec/pages 3.2.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { z } from 'zod'
import { AppError, type PageCode } from '../../platform/errors.ts'
import { type PageFailure, pageRouteOf } from '../back.ts'
import { escapeHtml } from '../html.ts'
import type { Locale, Messages } from '../languages.ts'
import { joinSentences } from '../spacing.ts'
import { FORM_TOKEN_FIELD } from './form-guard.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The handlers of GET, by route. */
    pageHandlers: Map<string, RouteHandlerMethod>
  }
  interface FastifyRequest {
    /** Whether all hooks let the request pass to its handler, so that its sender may see the page of the form. */
    isAdmitted: boolean
    /** The form that the page shows again: the refused one of this request, or one that was kept for the page. */
    refused: RefusedForm | undefined
  }
}

/** What is wrong, by field, in the reader's language. '' is the form as a whole. */
export type Problems = { [field: string]: string | string[] }

export type RefusedForm = {
  /** The path to which the form was sent. */
  path: string
  /** What was sent, by field; of repeated fields the last. */
  typed: Record<string, string>
  problems: Problems
  status: number
  /** What the page says above everything. */
  summary: {
    title: string
    text: string
    seconds?: number | undefined
    link?: Link | undefined
    /** 'bad' by default. */
    tone?: 'warn'
  }
}

type Link = { href: string; label: string }

/** A form that its reader can mend. The code decides the status. */
export class FormRefused extends AppError {
  readonly problems: Problems
  readonly link: Link | undefined

  constructor(problems: Problems, code: PageCode = 'invalid_form', link?: Link) {
    super(code, `Check the form: ${Object.keys(problems).join(', ')}`)
    this.problems = problems
    this.link = link
  }
}

/**
 * Reads the form of a request. Throws FormRefused.
 * @param words what to say about a field. Without it, general words tell what is missing, too long or unreadable.
 */
export function readForm<Form extends z.ZodType>(
  { body, locale }: FastifyRequest,
  form: Form,
  words: { [field: string]: string | undefined } = {},
): z.output<Form> {
  const { success, data, error } = form.safeParse(body ?? {})
  if (success) return data
  const problems: Problems = {}
  for (const issue of error.issues) {
    const field = String(issue.path[0] ?? '')
    problems[field] ??= words[field] ?? wordsFor(issue, locale.t)
  }
  throw new FormRefused(problems)
}

function wordsFor(issue: z.core.$ZodIssue, { forms: words }: Messages): string {
  if (issue.code === 'too_small') return words.missing
  if (issue.code === 'too_big') return words.tooLong(Number(issue.maximum))
  return issue.code === 'invalid_type' ? words.missing : words.wrong
}

/** Remembers the pages, so that a refused form finds its own. */
export function registerForms(app: FastifyInstance): void {
  app.decorate('pageHandlers', new Map())
  app.decorateRequest('isAdmitted', false)
  app.decorateRequest('refused', undefined)
  app.addHook('onRoute', (route) => {
    const { method, url, handler } = route
    if (method === 'GET') app.pageHandlers.set(url, handler)
    if (method !== 'POST') return
    route.handler = function (request, reply) {
      request.isAdmitted = true
      return handler.call(this, request, reply)
    }
  })
}

/** Failures that do not end a form: it can be sent again, changed or later. */
const MENDABLE: readonly PageFailure['code'][] = [
  'invalid_form',
  'conflict',
  'too_many_attempts',
] satisfies PageCode[]

/**
 * Answers a refused form with its page. Returns false where there is none, or it cannot be shown. It returns no reply, because a
 * reply is thenable: who awaits one gets undefined.
 */
export async function showFormAgain(
  thrown: unknown,
  failure: PageFailure,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const isMendable =
    thrown instanceof FormRefused || MENDABLE.includes(failure.code) || foundQueueFull(thrown, request)
  if (!isMendable || !request.isAdmitted || !isOwnForm(request)) return false
  const show = request.server.pageHandlers.get(pageRouteOf(request) ?? '')
  if (show === undefined) return false
  const { problems = {}, link } = thrown instanceof FormRefused ? thrown : {}
  request.refused = {
    path: pathnameOf(request.url),
    typed: textsIn(request.body),
    problems,
    status: failure.status,
    summary: { ...summaryOf(request.locale, failure, problems), link },
  }
  try {
    await show.call(request.server, request, reply)
    return true
  } catch {
    // The page is gone too, so the failure has a page of its own.
    request.refused = undefined
    return false
  }
}

/** Marks what is wrong with the query of a GET form. The page that the caller then shows has what was asked, with status 400. */
export function refuseQuery(request: FastifyRequest, problems: Problems): void {
  request.refused = {
    path: pathnameOf(request.url),
    typed: textsIn(request.query),
    problems,
    status: 400,
    summary: summaryOf(request.locale, { code: 'invalid_form' }, problems),
  }
}

/**
 * Whether a slow request found the queue of its work full, such as that of passwords. The database is not busy then, so the
 * page of the form can be shown.
 */
export function foundQueueFull(thrown: unknown, { routeOptions, isAdmitted }: FastifyRequest): boolean {
  if (!(thrown instanceof AppError) || thrown.code !== 'overloaded' || thrown.cause !== undefined)
    return false
  return isAdmitted && routeOptions.config.admission === 'slow'
}

/** Whether the body has a form token, which only our own pages send. */
function isOwnForm({ body }: FastifyRequest): boolean {
  return typeof body === 'object' && body !== null && FORM_TOKEN_FIELD in body
}

function summaryOf(
  { t }: Locale,
  { code, retry_after_seconds: seconds }: Pick<PageFailure, 'code' | 'retry_after_seconds'>,
  problems: Problems,
) {
  const isMarked = code === 'invalid_form' || Object.keys(problems).length > 0
  const advice = isMarked
    ? t.forms.correct
    : seconds === undefined
      ? t.errors.advice[code]
      : t.errors.retryAfter(seconds)
  return {
    title: t.errors.title[isMarked ? 'invalid_form' : code],
    text: joinSentences([problems[''] ?? advice].flat()),
    seconds,
  }
}

/** Returns the texts of a request's body, by field; of repeated fields the last. Leaves out the form token. */
export function textsIn(body: unknown): Record<string, string> {
  const texts = Object.entries(body ?? {}).map(([name, value]) => [name, [value].flat().at(-1)])
  return Object.fromEntries(
    texts.filter(([name, value]) => name !== FORM_TOKEN_FIELD && typeof value === 'string'),
  )
}

const pathnameOf = (address: string) => address.split('?')[0]!

/** A form in a view: its fields have what was typed, if it is the one that was refused. */
export type FormView = {
  isRefused: boolean
  /** The hidden fields, as HTML. */
  hidden: string
  id(field: string): string
  /** The attributes `id`, `name`, `value` if there is one, and those that describe it, or mark it as faulty. */
  field(field: string, hintId?: string, value?: string): string
  /** What the field shows. NOTE: for no password, code or secret. */
  value(field: string, stored?: string | number | bigint | null | undefined): string
  /** Whether a box is ticked. */
  isOn(field: string, stored: boolean, value?: string): boolean
  /** The problem of a field as HTML, to stand beside it. */
  problem(field: string): string
}

export type MakeFormView = (
  action: string,
  options?: {
    /** Tells the ids of its fields from those of the other forms of the page. */
    key?: string | bigint
    /** Hidden fields. A page may have several forms of one address, which differ in them. */
    hidden?: Record<string, string | bigint>
  },
) => FormView

/** Makes `it.form` for a page. */
export function formViews(refused: RefusedForm | undefined, formToken: string): MakeFormView {
  return (action, { key, hidden = {} } = {}) => {
    const fixed = Object.entries(hidden).map(([name, value]) => [name, String(value)] as const)
    const isRefused =
      refused?.path === pathnameOf(action) && fixed.every(([name, value]) => refused.typed[name] === value)
    const { typed, problems }: Pick<RefusedForm, 'typed' | 'problems'> = isRefused
      ? refused
      : { typed: {}, problems: {} }
    const [first] = Object.keys(problems)
    const id = (field: string) => (key === undefined ? field : `${key}-${field}`)
    return {
      isRefused,
      hidden: [[FORM_TOKEN_FIELD, formToken] as const, ...fixed]
        .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
        .join(''),
      id,
      field(field, hintId, value) {
        const isWrong = problems[field] !== undefined
        const described = [...(hintId ? [hintId] : []), ...(isWrong ? [`${id(field)}-problem`] : [])]
        return [
          `id="${escapeHtml(id(field))}" name="${field}"`,
          ...(value === undefined ? [] : [`value="${escapeHtml(value)}"`]),
          ...(described.length > 0 ? [`aria-describedby="${escapeHtml(described.join(' '))}"`] : []),
          ...(isWrong ? ['aria-invalid="true"'] : []),
          ...(field === first ? ['autofocus'] : []),
        ].join(' ')
      },
      value: (field, stored) => typed[field] ?? String(stored ?? ''),
      isOn: (field, stored, value = 'on') => (isRefused ? typed[field] === value : stored),
      problem(field) {
        if (problems[field] === undefined) return ''
        const lines = [problems[field]].flat().map(escapeHtml).join('<br>')
        return `<p class="problem" id="${escapeHtml(id(field))}-problem">${lines}</p>`
      },
    }
  }
}
