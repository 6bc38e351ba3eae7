/** Builds one OpenAPI 3.1 document from the operations, the webhooks and their schemas. */

import { TOKEN_PATH } from '../../payment/access-keys/token.ts'
import type { Config } from '../../platform/config.ts'
import { VERSION } from '../../platform/version.ts'
import type { Text } from '../../web/languages.ts'
import { v1Operations } from '../operations/gateway-v1.ts'
import { v2Operations } from '../operations/gateway-v2.ts'
import { identityOperations } from '../operations/identity.ts'
import { mandateOperations } from '../operations/mandates.ts'
import {
  type Answer,
  type Area,
  jsonSchema,
  type Operation,
  securitySchemes,
} from '../operations/operation.ts'
import { paymentOperations } from '../operations/payment.ts'
import { otherRefusals, refusalsAnywhere } from '../operations/refusals.ts'
import { accessKeyOperations } from '../operations/rest.ts'
import type { Samples } from '../operations/samples.ts'
import { WEBHOOKS, type Webhook } from '../operations/webhooks.ts'
import { callOf, signedExample } from '../programs/call.ts'
import { scriptOf } from '../programs/programs.ts'

export const AREAS: Area[] = ['identity', 'payment', 'rest', 'v1', 'v2']
export const OPERATIONS: Operation[] = [
  ...identityOperations,
  ...paymentOperations,
  ...mandateOperations,
  ...accessKeyOperations,
  ...v1Operations,
  ...v2Operations,
]

const MEDIA = { form: 'application/x-www-form-urlencoded', json: 'application/json' }

/** Answers that every operation may give. */
const ANYWHERE: Text = {
  en: 'Anything may be answered with 429 or 503 and Retry-After, in seconds: too much was asked, nothing was done, ask again then. The bodies are of the area: error temporarily_unavailable of OAuth, code 1029 or 1503 of the HMAC API, a negative code of the gateway. Another method than those described is answered with 405 and Allow, and a body with a Content-Encoding with 415; a slash at the end of an address changes nothing.',
  zh: '任何请求都可能得到 429 或 503 以及 Retry-After（秒）：请求过多，什么都没有发生，请在此后重试。正文按各接口的格式：OAuth 为 temporarily_unavailable，HMAC API 为 1029 或 1503，网关为负的 code。其他请求方法得到 405 和 Allow，带 Content-Encoding 的请求体得到 415；地址末尾的斜杠不影响请求。',
}

type Schema = { properties?: Record<string, Schema>; required?: string[]; description?: string }

type Addresses = Pick<Config, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'>

/** The address that the paths of an area are relative to. */
export function serverOf(area: Area, { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Addresses): string {
  return area === 'identity' ? PUBLIC_URL : PAYMENT_PUBLIC_URL
}

/** Builds the whole document in one language. Its examples are signed with the sample keys at `now`. */
export async function openApiDocument(
  config: Addresses,
  language: keyof Text,
  { samples, now, title }: { samples: Samples; now: Date; title: string },
) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of OPERATIONS) {
    const { area, method, alsoBy, path, about, introduction, security, scope } = operation
    const server = serverOf(area, config)
    const example = await signedExample(operation, samples, now)
    const described = {
      tags: [area],
      summary: about[language],
      description: introduction[language],
      servers: [{ url: server }],
      ...(security === undefined ? {} : { security: [{ [security]: scope === undefined ? [] : [scope] }] }),
      responses: describeAnswers(operation, language),
    }
    paths[path] ??= {}
    paths[path][method] = {
      operationId: operationId(operation),
      ...described,
      ...describeRequest(operation, example, samples, language),
      'x-codeSamples': [{ lang: 'Shell', source: scriptOf(callOf(operation, samples, server)) }],
    }
    if (alsoBy !== undefined)
      paths[path][alsoBy] = {
        operationId: operationId({ method: alsoBy, path }),
        ...described,
        ...describeRequest(sentBy(alsoBy, operation), example, samples, language),
      }
  }
  const webhooks = await Promise.all(
    WEBHOOKS.map(
      async (webhook) => [webhook.name, await describeWebhook(webhook, samples, language)] as const,
    ),
  )
  return {
    openapi: '3.1.0',
    info: { title, version: VERSION, description: ANYWHERE[language] },
    servers: [{ url: config.PUBLIC_URL }],
    tags: AREAS.map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(webhooks),
    components: {
      securitySchemes: securitySchemes(config.PAYMENT_PUBLIC_URL + TOKEN_PATH, language),
      responses: describeRefusals(language),
    },
  }
}

/** A unique and stable name of an operation. */
export function operationId({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  const words = path
    .replace('{payment_id}', '')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
  return [method, ...words].join('_')
}

/** The operation with the request as the other method sends it. */
function sentBy(method: 'get' | 'post', operation: Operation): Operation {
  const { request } = operation
  return request === undefined
    ? operation
    : { ...operation, request: { ...request, in: method === 'get' ? 'query' : 'form' } }
}

/** Whether a form may also be sent as JSON. The doors of payments take both. */
export function takesJsonToo({ area, request }: Operation): boolean {
  return area !== 'identity' && request?.in === 'form'
}

function describeRequest(
  operation: Operation,
  example: Record<string, unknown>,
  samples: Samples,
  language: keyof Text,
) {
  const { path, request } = operation
  const named = { payment_id: samples.payment_id, ...operation.inPath?.(samples) } as Record<string, string>
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: named[name!],
  }))
  if (request === undefined) return inPath.length === 0 ? {} : { parameters: inPath }
  const schema = jsonSchema(request.schema, 'input', language) as Schema
  if (request.in === 'query') return { parameters: [...inPath, ...parametersOf('query', schema, example)] }
  return {
    ...(inPath.length === 0 ? {} : { parameters: inPath }),
    requestBody: {
      required: true,
      content: {
        [MEDIA[request.in]]: { schema, example },
        ...(takesJsonToo(operation) && { [MEDIA.json]: { schema } }),
      },
    },
  }
}

/** The properties of an object as parameters, each with its value in the example. */
function parametersOf(place: 'query' | 'header', schema: Schema, example: Record<string, unknown>) {
  return Object.entries(schema.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: schema.required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...(Object.hasOwn(example, name) ? { example: example[name] } : {}),
  }))
}

async function describeWebhook(webhook: Webhook, samples: Samples, language: keyof Text) {
  const { name, area, method, title, when, about, answer, headers } = webhook
  const schema = jsonSchema(webhook.schema, 'output', language) as Schema
  const example = await webhook.example(samples)
  const inHeaders =
    headers === undefined ? [] : parametersOf('header', jsonSchema(headers, 'output', language), {})
  const message =
    method === 'post'
      ? {
          parameters: inHeaders,
          requestBody: {
            required: true,
            content: { 'application/json': { schema, example: JSON.parse(example) } },
          },
        }
      : { parameters: parametersOf('query', schema, Object.fromEntries(new URL(example).searchParams)) }
  return {
    [method]: {
      operationId: `receive_${name.replace('.', '_')}`,
      tags: [area],
      summary: title[language],
      description: `${when[language]} ${about[language]}`,
      ...message,
      responses: { 200: { description: answer[language] } },
    },
  }
}

/** The answers of an operation. The refusals of its whole area stand once, in the components. */
function describeAnswers(operation: Operation, language: keyof Text) {
  const own = Object.entries(operation.answers).map(([status, answer]) => [
    status,
    describeAnswer(answer, language),
  ])
  const shared = otherRefusals(operation).map(([status]) => [
    status,
    { $ref: `#/components/responses/${sharedName(operation.area, status)}` },
  ])
  return Object.fromEntries([...own, ...shared])
}

function describeRefusals(language: keyof Text) {
  const shared = AREAS.flatMap((area) =>
    refusalsAnywhere(area).map(([status, answer]) => [
      sharedName(area, status),
      describeAnswer(answer, language),
    ]),
  )
  return Object.fromEntries(shared)
}

const sharedName = (area: Area, status: string) => `${area}_${status}`

function describeAnswer({ about, schema, example }: Answer, language: keyof Text) {
  const description = about[language]
  if (schema === undefined) return { description }
  const content = {
    'application/json': {
      schema: jsonSchema(schema, 'output', language),
      ...(example === undefined ? {} : { example }),
    },
  }
  return { description, content }
}
