// This room: the OpenAPI document, and the same in words for the pages.
// Verbs: openApiDocument, describeOperation, describeArea.
/** Describes operations and messages as the pages show them, from the schemas that check the requests. */

import type { Text } from '../../web/languages.ts'
import { type Answer, type Area, jsonSchema, type Operation } from '../operations/operation.ts'
import { otherRefusals, refusalOf } from '../operations/refusals.ts'
import type { Samples } from '../operations/samples.ts'
import type { Webhook } from '../operations/webhooks.ts'
import { limitOf } from './limits.ts'
import { OPERATIONS, operationId, takesJsonToo } from './openapi.ts'

/** A field. `limit` says in words what its text must fit. */
export type Field = {
  name: string
  isRequired: boolean
  type: string
  limit: string | undefined
  about: string
}
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
export function describeArea(area: Area, language: keyof Text) {
  const described = OPERATIONS.filter((operation) => operation.area === area)
  const refusals = described.flatMap(({ answers }) => Object.entries(answers).filter(isRefusal))
  return {
    operations: described.map((operation) => ({
      id: operationId(operation),
      method: operation.method.toUpperCase(),
      path: operation.path,
      about: operation.about[language],
      purpose: firstSentence(operation.introduction[language]),
    })),
    refusal:
      refusals.length === 0
        ? undefined
        : describeBody(
            (refusals.find(([, { schema }]) => schema === refusalOf(area)) ?? refusals[0]!)[1],
            language,
          ),
  }
}

/** Returns the first sentence of a text in English or Chinese. */
const firstSentence = (text: string) => /^.+?(?:\.(?= )|。|$)/.exec(text)![0]

const isRefusal = ([status, { schema }]: [string, Answer]) => Number(status) >= 400 && schema !== undefined

/** Describes an operation in one language. */
export function describeOperation(operation: Operation, language: keyof Text) {
  const all = Object.entries<Answer>({
    ...Object.fromEntries(otherRefusals(operation)),
    ...operation.answers,
  })
  const answered = all.filter(([status]) => Number(status) < 400)
  const refused = all.filter(([status]) => Number(status) >= 400)
  return {
    method: operation.method.toUpperCase(),
    alsoBy: operation.alsoBy?.toUpperCase(),
    path: operation.path,
    about: operation.about[language],
    introduction: operation.introduction[language],
    security: operation.security,
    sent: operation.request && {
      in: takesJsonToo(operation) ? ('either' as const) : operation.request.in,
      fields: fieldsOf(jsonSchema(operation.request.schema, 'input', language), language),
    },
    answers: answered.map(([status, answer]) => ({
      status,
      about: answer.about[language],
      ...describeBody(answer, language),
    })),
    refusals: refused.map(([status, { about }]) => ({ status, about: about[language] })),
  }
}

/** Describes a message that the service sends. */
export async function describeWebhook(webhook: Webhook, language: keyof Text, samples: Samples) {
  const { method, title, when, about, answer, schema, headers } = webhook
  return {
    method: method.toUpperCase(),
    title: title[language],
    when: when[language],
    about: about[language],
    headers: headers && fieldsOf(jsonSchema(headers, 'output', language), language),
    fields: fieldsOf(jsonSchema(schema, 'output', language), language),
    example: await webhook.example(samples),
    answer: answer[language],
  }
}

/** Describes a body. Its fields have the order of its example, which the page shows beside them. */
function describeBody({ schema, example }: Answer, language: keyof Text) {
  const fields = schema === undefined ? [] : fieldsOf(jsonSchema(schema, 'output', language), language)
  const names = Object.keys(example ?? {})
  const placeOf = ({ name }: Field) => {
    const place = names.indexOf(/^[^.[]+/.exec(name)?.[0] ?? name)
    return place < 0 ? names.length : place
  }
  return {
    fields: fields.sort((a, b) => placeOf(a) - placeOf(b)),
    example: example === undefined ? undefined : JSON.stringify(example, null, 2),
  }
}

/** The list of a refusal, whose codes have a page of their own. */
const CODED = 'errors'

/** The fields of an object, or those of the first object of a union. The fields of an object or a list in it follow. */
function fieldsOf(schema: Schema, language: keyof Text, before = ''): Field[] {
  const { properties = {}, required = [] } = schema.anyOf?.[0] ?? schema.items ?? schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const pattern = patternOf(field)
    const path = `${before}${name}${field.items ? '[]' : ''}.`
    return [
      {
        name: before + name,
        isRequired: required.includes(name),
        type: [typeOf(field), lengthOf(field, language)].filter(Boolean).join(', '),
        limit: pattern && limitOf(pattern, language),
        about: field.description ?? '',
      },
      ...(name === CODED ? [] : fieldsOf({ anyOf: [field.items ?? field] }, language, path)),
    ]
  })
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  return schema.format ?? schema.type ?? 'any'
}

/** The pattern of a text. A format replaces it, because the pattern of a date has nine lines. */
function patternOf({ pattern, format, anyOf = [] }: Schema): string | undefined {
  return format === undefined ? (pattern ?? anyOf.map(patternOf).find(Boolean)) : undefined
}

function lengthOf({ minLength, maxLength }: Schema, language: keyof Text): string | undefined {
  if (maxLength === undefined) return undefined
  const range = minLength === undefined ? `≤ ${maxLength}` : `${minLength}–${maxLength}`
  return language === 'zh' ? `${range} 个字符` : `${range} characters`
}
