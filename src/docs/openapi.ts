/** The interfaces as one OpenAPI 3.1 document, made from the operations and their schemas. Pure. */
import type { Config } from '../config.ts'
import { gatewayOperations } from './gateway.ts'
import { identityOperations } from './identity.ts'
import { type Answer, type Area, jsonSchema, type Operation, SECURITY, type Text } from './operation.ts'
import { paymentOperations } from './payment.ts'

export const OPERATIONS: Operation[] = [...identityOperations, ...paymentOperations, ...gatewayOperations]

const MEDIA = { form: 'application/x-www-form-urlencoded', json: 'application/json' }

/** What no operation says again. */
const ANYWHERE: Text = {
  en: 'Anything may be answered with 429 or 503 and Retry-After, in seconds: too much was asked, nothing was done, ask again then. The bodies are of the area: error temporarily_unavailable of OAuth, code 1029 or 1503 of the HMAC API, a negative code of the gateway.',
  zh: '任何请求都可能得到 429 或 503 以及 Retry-After（秒）：请求过多，什么都没有发生，请在此后重试。正文按各接口的格式：OAuth 为 temporarily_unavailable，HMAC API 为 1029 或 1503，网关为负的 code。',
}

type Schema = { properties?: Record<string, Schema>; required?: string[]; description?: string }

/** The whole document in one language. */
export function openApiDocument(
  { PUBLIC_URL, PAYMENT_PUBLIC_URL }: Pick<Config, 'PUBLIC_URL' | 'PAYMENT_PUBLIC_URL'>,
  language: keyof Text,
) {
  const servers: Record<Area, string> = {
    identity: PUBLIC_URL,
    payment: PAYMENT_PUBLIC_URL,
    v1: PAYMENT_PUBLIC_URL,
    v2: PAYMENT_PUBLIC_URL,
  }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of OPERATIONS) {
    const { area, method, path, about, security } = operation
    paths[path] ??= {}
    paths[path][method] = {
      operationId: operationId(operation),
      tags: [area],
      summary: about[language],
      servers: [{ url: servers[area] }],
      ...(security === undefined ? {} : { security: [{ [security]: [] }] }),
      ...describeRequest(operation, language),
      responses: Object.fromEntries(
        Object.entries(operation.answers).map(([code, answer]) => [code, describeAnswer(answer, language)]),
      ),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tessera', version: '1', description: ANYWHERE[language] },
    servers: [{ url: PUBLIC_URL }],
    tags: Object.keys(servers).map((name) => ({ name })),
    paths,
    components: { securitySchemes: SECURITY },
  }
}

/** A name that tells an operation from all others, and stays. */
export function operationId({ method, path }: Operation): string {
  const words = path
    .replaceAll(/\{\w+\}/g, '')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
  return [method, ...words].join('_')
}

function describeRequest({ path, request }: Operation, language: keyof Text) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  if (request === undefined) return inPath.length === 0 ? {} : { parameters: inPath }
  const schema = jsonSchema(request.schema, 'input', language) as Schema
  if (request.in === 'query') {
    const inQuery = Object.entries(schema.properties ?? {}).map(([name, { description, ...rest }]) => ({
      name,
      in: 'query',
      required: schema.required?.includes(name) ?? false,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(Object.hasOwn(request.example, name) ? { example: request.example[name] } : {}),
    }))
    return { parameters: [...inPath, ...inQuery] }
  }
  return {
    ...(inPath.length === 0 ? {} : { parameters: inPath }),
    requestBody: {
      required: true,
      content: { [MEDIA[request.in]]: { schema, example: request.example } },
    },
  }
}

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
