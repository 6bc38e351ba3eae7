/** Holds every JSON answer of the HMAC API, the gateway and the OAuth endpoints to its declared shape. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { z } from 'zod'
import type { Area, Operation } from '../../src/docs/operations/operation.ts'
import { OPERATIONS } from '../../src/docs/reference/openapi.ts'
import { Refusal as OAuthRefusal } from '../../src/identity/oauth/shapes.ts'
import { Refusal as GatewayRefusal, signature } from '../../src/payment/gateway/shapes.ts'
import { Refusal as HmacRefusal } from '../../src/payment/hmac/shapes.ts'

/** The shape of refusals that the reference does not describe per operation: 405, 413, 500. */
const ANY_REFUSAL: Record<Area, z.ZodType> = {
  identity: OAuthRefusal,
  payment: HmacRefusal,
  rest: HmacRefusal,
  v1: GatewayRefusal,
  v2: GatewayRefusal,
}
/** The `code` of a success. Every other code is a refusal. */
const SUCCESS: Partial<Record<Area, number>> = { v1: 1, v2: 0 }

/** The router refuses a path that cannot be decoded before it finds an operation. */
const NotDecoded = z.object({ message: z.literal('The path cannot be decoded'), request_id: z.string() })

type Known = { operation: Operation; path: RegExp; act: string | null }

const KNOWN: Known[] = OPERATIONS.map((operation) => {
  const { pathname, searchParams } = new URL(operation.path, 'http://x')
  const pattern = decodeURI(pathname)
    .replaceAll('.', '\\.')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return { operation, path: new RegExp(`^${pattern}$`), act: searchParams.get('act') }
})

/** Fails a test's request when its answer does not have the declared shape. */
export function requireDeclaredAnswers(app: FastifyInstance): void {
  const send = app.inject.bind(app) as (options: InjectOptions | string) => Promise<LightMyRequestResponse>
  app.inject = (async (options: InjectOptions | string) => {
    const response = await send(options)
    const fault = faultOf(typeof options === 'string' ? { url: options } : options, response)
    if (fault !== undefined) throw new Error(fault)
    return response
  }) as unknown as typeof app.inject
}

function faultOf(request: InjectOptions, response: LightMyRequestResponse): string | undefined {
  if (!['GET', 'POST'].includes(request.method ?? 'GET')) return undefined
  if (!response.headers['content-type']?.toString().startsWith('application/json')) return undefined
  if (response.body === '') return undefined
  const operation = operationOf(request)
  if (operation === undefined) return undefined
  const body: unknown = response.json()
  if (NotDecoded.safeParse(body).success) return undefined
  const { error } = shapeOf(operation, response.statusCode, body).safeParse(plain(operation.area, body))
  if (error === undefined) return undefined
  const { method, path } = operation
  return `${method} ${path} answered ${response.statusCode} with another shape than it declares: ${z.prettifyError(error)}\n${response.body}`
}

function operationOf({ method = 'GET', url, payload, ...rest }: InjectOptions): Operation | undefined {
  const { pathname, searchParams } = new URL(String(url), 'http://x')
  const known = KNOWN.filter(({ path }) => path.test(pathname))
  const acts = new URLSearchParams(typeof payload === 'string' ? payload : '')
  const query = new URLSearchParams((rest.query ?? '') as string)
  const act = searchParams.get('act') ?? query.get('act') ?? acts.get('act')
  const found = known.filter((each) => each.act === null || each.act === act)
  const ofMethod = found.filter(({ operation }) => operation.method === method.toLowerCase())
  return (ofMethod[0] ?? found[0])?.operation
}

function shapeOf({ area, answers }: Operation, status: number, body: unknown): z.ZodType {
  const declared = answers[status]?.schema ?? ANY_REFUSAL[area]
  // The reference joins success and refusal in a union. The code selects one, because a refusal allows any other
  // field.
  if (!(declared instanceof z.ZodUnion) || SUCCESS[area] === undefined) return declared
  const [success] = declared.options
  return (body as { code?: unknown }).code === SUCCESS[area] ? (success as z.ZodType) : ANY_REFUSAL[area]
}

/** The body without the signature that V1 adds for requests with sign_type=RSA. */
function plain(area: Area, body: unknown): unknown {
  if (area !== 'v1' || !z.object(signature).safeParse(body).success) return body
  const { timestamp: _, sign: __, sign_type: ___, ...fields } = body as Record<string, unknown>
  return fields
}
