/**
 * The public reference: GET /docs and its pages for people, GET /docs/openapi.json for programs. Each request reads the
 * rules from the settings in force, and signs the examples.
 */
import type { FastifyInstance } from 'fastify'
import { browserScope } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { type Text, textKey } from '../web/languages.ts'
import { gatewayCodes, PAYMENT_CODES } from './codes.ts'
import { AREAS, OPERATIONS, openApiDocument, operationId, serverOf } from './openapi.ts'
import { type Answer, type Area, jsonSchema, type Operation } from './operation.ts'
import { rulesOf } from './rules.ts'
import { type FindSamples, madeUpSamples, type Samples } from './samples.ts'
import { shellOf } from './shell.ts'
import { SCHEDULE, WEBHOOKS, type Webhook } from './webhooks.ts'

const SECTIONS = [...AREAS, 'notifications', 'codes', 'rules'] as const

type InWords<Code> = Omit<Code, 'about'> & { about: string }

declare module '../web/views.ts' {
  interface PageData {
    'docs/docs': { sections: typeof SECTIONS }
    'docs/area': { area: Area } & ReturnType<typeof describeArea>
    'docs/operation': {
      area: Area
      isLive: boolean
      operation: ReturnType<typeof describeOperation> & { script: string }
    }
    'docs/notifications': { webhooks: { id: string; title: string }[]; schedule: string }
    'docs/notification': { webhook: Awaited<ReturnType<typeof describeWebhook>> }
    'docs/codes': {
      payment: InWords<(typeof PAYMENT_CODES)[number]>[]
      gateway: Record<'v1' | 'v2', InWords<ReturnType<typeof gatewayCodes>[number]>[]>
    }
    'docs/rules': { rules: ReturnType<typeof rulesOf> }
  }
  interface PartData {
    'docs/fields': { fields: Field[] }
  }
}

/** `findSamples` finds the keys that sign the examples. Without it, the reference makes keys up. */
export type DocsDeps = Core & { findSamples?: FindSamples }

/** Registers the pages of the reference and the OpenAPI document. */
export async function docsPlugin(app: FastifyInstance, deps: DocsDeps): Promise<void> {
  const { config, clock, findSamples = madeUpSamples } = deps
  app.get('/docs/openapi.json', async ({ locale }, reply) => {
    const samples = await findSamples()
    return (
      reply
        // The signatures of its examples hold only for a while.
        .header('cache-control', 'no-store')
        .header('access-control-allow-origin', '*')
        .type('application/json; charset=utf-8')
        .send(await openApiDocument(config, textKey(locale.language), { samples, now: clock() }))
    )
  })

  await app.register(async (pages) => {
    browserScope(pages, deps)
    pages.get('/docs', async (_request, reply) => reply.page('docs/docs', { sections: SECTIONS }))
    for (const area of AREAS) {
      pages.get(`/docs/${area}`, async ({ locale }, reply) =>
        reply.page('docs/area', { area, ...describeArea(area, textKey(locale.language)) }),
      )
    }
    for (const operation of OPERATIONS) {
      const { area } = operation
      pages.get(`/docs/${area}/${operationId(operation)}`, async ({ locale }, reply) => {
        const samples = await findSamples()
        const described = describeOperation(operation, textKey(locale.language))
        const script = shellOf(operation, samples, serverOf(area, config))
        const { isLive } = samples
        return reply.page('docs/operation', { area, isLive, operation: { ...described, script } })
      })
    }
    pages.get('/docs/notifications', async ({ locale }, reply) => {
      const language = textKey(locale.language)
      const webhooks = WEBHOOKS.map(({ name, title }) => ({ id: name, title: title[language] }))
      return reply.page('docs/notifications', { webhooks, schedule: SCHEDULE[language] })
    })
    for (const webhook of WEBHOOKS) {
      pages.get(`/docs/notifications/${webhook.name}`, async ({ locale }, reply) => {
        const described = await describeWebhook(webhook, textKey(locale.language), await findSamples())
        return reply.page('docs/notification', { webhook: described })
      })
    }
    pages.get('/docs/codes', async ({ locale }, reply) => {
      const language = textKey(locale.language)
      const inWords = <Code extends { about: Text }>(codes: readonly Code[]) =>
        codes.map(({ about, ...code }) => ({ ...code, about: about[language] }))
      const gateway = { v1: inWords(gatewayCodes('v1')), v2: inWords(gatewayCodes('v2')) }
      return reply.page('docs/codes', { payment: inWords(PAYMENT_CODES), gateway })
    })
    pages.get('/docs/rules', async ({ locale }, reply) =>
      reply.page('docs/rules', { rules: rulesOf(await deps.settings.read(), textKey(locale.language)) }),
    )
  })
}

type Field = { name: string; isRequired: boolean; type: string; about: string }
type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  enum?: string[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
}

/** Describes the operations of an area in their order, and once the fields that all its refusals have. */
function describeArea(area: Area, language: keyof Text) {
  const described = OPERATIONS.filter((operation) => operation.area === area)
  const refusals = described.flatMap(({ answers }) => Object.entries(answers).filter(isRefusal))
  return {
    operations: described.map((operation) => ({
      id: operationId(operation),
      method: operation.method.toUpperCase(),
      path: operation.path,
      about: operation.about[language],
    })),
    refusal: refusals.length === 0 ? undefined : describeBody(refusals[0]![1], language),
  }
}

const isRefusal = ([status, { schema }]: [string, Answer]) => Number(status) >= 400 && schema !== undefined

function describeOperation(operation: Operation, language: keyof Text) {
  return {
    method: operation.method.toUpperCase(),
    path: operation.path,
    about: operation.about[language],
    security: operation.security,
    sent: operation.request && {
      in: operation.request.in,
      fields: fieldsOf(jsonSchema(operation.request.schema, 'input', language), language),
    },
    answers: Object.entries(operation.answers).map(([status, answer]) => ({
      status,
      about: answer.about[language],
      ...(Number(status) < 400 && describeBody(answer, language)),
    })),
  }
}

async function describeWebhook(webhook: Webhook, language: keyof Text, samples: Samples) {
  const { method, title, about, answer, schema, headers } = webhook
  return {
    method: method.toUpperCase(),
    title: title[language],
    about: about[language],
    headers: headers && fieldsOf(jsonSchema(headers, 'output', language), language),
    fields: fieldsOf(jsonSchema(schema, 'output', language), language),
    example: await webhook.example(samples),
    answer: answer[language],
  }
}

function describeBody({ schema, example }: Answer, language: keyof Text) {
  return {
    fields: schema === undefined ? [] : fieldsOf(jsonSchema(schema, 'output', language), language),
    example: example === undefined ? undefined : JSON.stringify(example, null, 2),
  }
}

/** The fields of an object, or those of the first object of a union. */
function fieldsOf(schema: Schema, language: keyof Text): Field[] {
  const { properties = {}, required = [] } = schema.anyOf?.[0] ?? schema.items ?? schema
  return Object.entries(properties).map(([name, field]) => ({
    name,
    isRequired: required.includes(name),
    type: [typeOf(field), lengthOf(field, language)].filter(Boolean).join(', '),
    about: field.description ?? '',
  }))
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  // The format replaces the pattern, which has nine lines for a date.
  if (schema.format !== undefined) return schema.format
  return schema.pattern === undefined ? (schema.type ?? 'any') : `${schema.type} ${schema.pattern}`
}

function lengthOf({ minLength, maxLength }: Schema, language: keyof Text): string | undefined {
  if (maxLength === undefined) return undefined
  const range = minLength === undefined ? `≤ ${maxLength}` : `${minLength}–${maxLength}`
  return language === 'zh' ? `${range} 个字符` : `${range} characters`
}
