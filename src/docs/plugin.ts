/** The reference: GET /docs and /docs/{area} for people, GET /docs/openapi.json for programs. Public, and the same for all. */
import type { FastifyInstance } from 'fastify'
import { browserScope } from '../accounts/session.ts'
import type { Deps } from '../deps.ts'
import { OPERATIONS, openApiDocument, operationId } from './openapi.ts'
import { type Answer, type Area, jsonSchema, type Operation, type Text } from './operation.ts'

const AREAS: Area[] = ['identity', 'payment', 'v1', 'v2']
const CACHE_SECONDS = 300

export async function docsPlugin(app: FastifyInstance, deps: Deps): Promise<void> {
  const documents = { en: openApiDocument(deps.config, 'en'), zh: openApiDocument(deps.config, 'zh') }
  const body = { en: JSON.stringify(documents.en), zh: JSON.stringify(documents.zh) }
  app.get('/docs/openapi.json', async ({ locale }, reply) =>
    reply
      .header('cache-control', `public, max-age=${CACHE_SECONDS}`)
      .header('access-control-allow-origin', '*')
      .header('vary', 'accept-language, cookie')
      .type('application/json; charset=utf-8')
      .send(body[wordsOf(locale.language)]),
  )

  await app.register(async (pages) => {
    browserScope(pages, deps)
    pages.get('/docs', async (_request, reply) => reply.page('docs', { areas: AREAS }))
    for (const area of AREAS) {
      const shown = { en: describe(area, 'en'), zh: describe(area, 'zh') }
      pages.get(`/docs/${area}`, async ({ locale }, reply) =>
        reply.page('docs-area', { area, ...shown[wordsOf(locale.language)] }),
      )
    }
  })
}

function wordsOf(language: string): keyof Text {
  return language === 'en' ? 'en' : 'zh'
}

type Field = { name: string; isRequired: boolean; type: string; about: string }
type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  pattern?: string
  format?: string
  enum?: string[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
}

/** What the page of an area shows, in the order of the operations; what every refusal holds, once for all. */
function describe(area: Area, language: keyof Text) {
  const described = OPERATIONS.filter((operation) => operation.area === area)
  const refusals = described.flatMap(({ answers }) => Object.entries(answers).filter(isRefusal))
  return {
    operations: described.map((operation) => describeOperation(operation, language)),
    refusal: refusals.length === 0 ? undefined : describeBody(refusals[0]![1], language),
  }
}

const isRefusal = ([status, { schema }]: [string, Answer]) => Number(status) >= 400 && schema !== undefined

function describeOperation(operation: Operation, language: keyof Text) {
  return {
    id: operationId(operation),
    method: operation.method.toUpperCase(),
    path: operation.path,
    about: operation.about[language],
    security: operation.security,
    sent: operation.request && {
      in: operation.request.in,
      fields: fieldsOf(jsonSchema(operation.request.schema, 'input', language)),
      example: exampleOf(operation.request),
    },
    answers: Object.entries(operation.answers).map(([status, answer]) => ({
      status,
      about: answer.about[language],
      ...(Number(status) < 400 && describeBody(answer, language)),
    })),
  }
}

function describeBody({ schema, example }: Answer, language: keyof Text) {
  return {
    fields: schema === undefined ? [] : fieldsOf(jsonSchema(schema, 'output', language)),
    example: example === undefined ? undefined : JSON.stringify(example, null, 2),
  }
}

/** Members of an object; of a choice of objects, those of the first. */
function fieldsOf(schema: Schema): Field[] {
  const { properties = {}, required = [] } = schema.anyOf?.[0] ?? schema.items ?? schema
  return Object.entries(properties).map(([name, field]) => ({
    name,
    isRequired: required.includes(name),
    type: typeOf(field),
    about: field.description ?? '',
  }))
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  // A date's pattern is nine lines long.
  if (schema.format !== undefined) return schema.format
  return schema.pattern === undefined ? (schema.type ?? 'any') : `${schema.type} ${schema.pattern}`
}

/** As it is written on the wire. */
function exampleOf({ in: place, example }: NonNullable<Operation['request']>): string {
  if (place === 'json') return JSON.stringify(example, null, 2)
  return Object.entries(example)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
}
