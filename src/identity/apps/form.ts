/** The form of an application on /apps and on its own page: the typed texts, and their problems. */
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { FormRefused } from '../../web/forms/forms.ts'
import { type AppValues, redirectUriFaultOf } from './apps.ts'
import { ResourceTaken } from './resource-uri.ts'

const LINES = [
  'redirect_uris',
  'post_logout_redirect_uris',
  'allow_groups',
  'deny_groups',
  'grant_types',
] as const
const CHOICES = ['id_token_signed_response_alg', 'token_endpoint_auth_method'] as const
const ADDRESSES = ['homepage', 'logo_url', 'backchannel_logout_uri', 'resource_uri'] as const
const FIELDS = ['name', 'description', 'is_listed', ...ADDRESSES, ...LINES, ...CHOICES] as const
type Field = (typeof FIELDS)[number]

/** The groups that are ticked, beside those that are typed. */
const TICKED = { allow_groups: 'allow_choices', deny_groups: 'deny_choices' } as const

/** The texts as the owner typed them. */
export type Typed = Record<Field, string>

/** Returns an application's values as texts of the form. */
export function typedFrom(app: AppValues & { token_endpoint_auth_method: string }): Typed {
  const texts = FIELDS.map((field) => [field, [app[field] ?? ''].flat().join('\n')])
  return Object.fromEntries(texts) as Typed
}

/** Reads the form. Throws FormRefused with the problems of each field. */
export function readAppForm<Values>(
  request: FastifyRequest,
  schema: z.ZodType<Values>,
): { typed: Typed; values: Values } {
  const typed = typedIn(request.body)
  const lines = Object.fromEntries(LINES.map((field) => [field, linesOf(typed[field])]))
  // An empty choice gets its default.
  const choices = Object.fromEntries(CHOICES.map((field) => [field, typed[field] || undefined]))
  const { logo_url } = (request.body ?? {}) as Record<string, unknown>
  const form = schema.safeParse({
    ...typed,
    ...lines,
    ...choices,
    ...(logo_url === undefined && { logo_url }),
  })
  if (!form.success) throw new FormRefused(problemsOf(form.error.issues, request))
  return { typed, values: form.data }
}

function typedIn(body: unknown): Typed {
  const sent = (body ?? {}) as Record<string, unknown>
  const texts = FIELDS.map((field) => [field, typeof sent[field] === 'string' ? sent[field] : ''])
  const typed = Object.fromEntries(texts) as Typed
  const ticked = tickedIn(body)
  const withTicked = (field: 'allow_groups' | 'deny_groups') => [...ticked[field], typed[field]].join('\n')
  return { ...typed, allow_groups: withTicked('allow_groups'), deny_groups: withTicked('deny_groups') }
}

/** Returns the groups that are ticked in a sent form. */
export function tickedIn(body: unknown): { allow_groups: string[]; deny_groups: string[] } {
  const sent = (body ?? {}) as Record<string, unknown>
  const namesOf = (field: string) => [sent[field] ?? []].flat().filter((name) => typeof name === 'string')
  return { allow_groups: namesOf(TICKED.allow_groups), deny_groups: namesOf(TICKED.deny_groups) }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Returns what the act answers. Throws FormRefused when another application has the resource. */
export async function unlessTaken<T>({ locale }: FastifyRequest, act: Promise<T>): Promise<T> {
  return act.catch((error) => {
    if (!(error instanceof ResourceTaken)) throw error
    throw new FormRefused({ resource_uri: locale.t.identity.apps.problems.resource_uri })
  })
}

function problemsOf(issues: z.core.$ZodIssue[], { locale }: FastifyRequest): { [field: string]: string[] } {
  const { faultyUri, problems } = locale.t.identity.apps
  const texts: Record<Field, string> = { ...problems, ...locale.t.registry.problems }
  const found: { [field: string]: string[] } = {}
  for (const issue of issues) {
    const field = issue.path[0] as Field
    const faulty = redirectUriFaultOf(issue)
    const text =
      faulty === undefined
        ? texts[field]
        : faultyUri(faulty.uri, locale.t.identity.redirectUriFaults[faulty.fault])
    found[field] = [...new Set([...(found[field] ?? []), text])]
  }
  return found
}
