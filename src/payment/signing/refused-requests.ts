/**
 * Keeps the last refused requests of a payment application, so that its team can find the reasons. Limits bound them for
 * each application and each caller. Successful requests cost nothing. spec/payment-api 6.1.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError, type ErrorCode } from '../../platform/errors.ts'
import { KEPT_KEY, keyFingerprint } from './keys.ts'

export type Field = readonly [name: string, value: string]

/** The limit for each application. */
export const REFUSED_KEPT_MAX = 50
/** The bound of all names and values of a request together. A longer request is cut and marked. */
const FIELDS_LENGTH_MAX = 4_096
const MESSAGE_LENGTH_MAX = 300
const PATH_LENGTH_MAX = 200

/** Refusals that the request did not cause. */
const NOT_KEPT: readonly ErrorCode[] = ['too_many_attempts', 'overloaded', 'payments_paused']

type RefusedDoor = 'hmac' | 'gateway'

declare module 'fastify' {
  interface FastifyRequest {
    /** The application that a request names, and its parameters, once a door has looked the application up. */
    speaksFor: { app_id: bigint; door: RefusedDoor; received: unknown } | undefined
  }
}

/** Prepares the requests of a scope for keepRefused. */
export function rememberRefusals(app: FastifyInstance): void {
  app.decorateRequest('speaksFor', undefined)
}

/** The encryption context of an application's refused requests. */
export const refusedContext = (app_id: bigint) => `refused_requests ${app_id}`

/**
 * Keeps a request that is refused with this error, unless its caller has used up the limit of the minute. Never throws,
 * because the refusal matters more than its record.
 */
export async function keepRefused(deps: Core, request: FastifyRequest, error: unknown): Promise<void> {
  const { speaksFor } = request
  if (speaksFor === undefined || !(error instanceof AppError) || NOT_KEPT.includes(error.code)) return
  const { app_id, door, received } = speaksFor
  const network = networkOf(request.ip)
  try {
    // Counts the caller's limit first, so that an excessive caller does not use up the application's limit.
    await deps.limits.take('refused_requests', `${app_id} ${network}`)
    await deps.limits.take('refused_requests', `${app_id}`)
  } catch {
    return
  }
  const fields = JSON.stringify(fieldsOf(received))
  try {
    await sql`select keep_refused_request(
      ${app_id}, ${door}, ${request.url.split('?')[0]!.slice(0, PATH_LENGTH_MAX)}, ${request.ip}, ${network},
      ${error.code}, ${error.message.slice(0, MESSAGE_LENGTH_MAX)}, ${deps.secrets.encrypt(refusedContext(app_id), fields)},
      ${deps.clock()}, ${REFUSED_KEPT_MAX}
    )`.execute(deps.db)
  } catch (fault) {
    request.log.error({ err: fault }, 'a refused request could not be kept')
  }
}

/** The fields to keep. A plain KEY becomes a fingerprint: with a wrong pid, another owner would see it. */
function fieldsOf(received: unknown): Field[] {
  let left = FIELDS_LENGTH_MAX
  const entries = typeof received === 'object' && received !== null ? Object.entries(received) : []
  return entries.flatMap(([name, value]) =>
    [value].flat().map((each): Field => {
      const text = name === 'key' ? `${KEPT_KEY}${keyFingerprint(String(each))}` : String(each)
      // Half of a character at the cut goes too.
      const kept = text.slice(0, Math.max(0, left - name.length)).replace(/[\uD800-\uDBFF]$/, '')
      left -= name.length + kept.length
      return [name.slice(0, PATH_LENGTH_MAX), kept.length < text.length ? `${kept}…` : kept]
    }),
  )
}

export type RefusedRequest = {
  id: bigint
  door: RefusedDoor
  path: string
  address: string
  code: string
  message: string
  at: Date
  fields: Field[]
}

/** The readable kept requests of an application, the newest first: older than `before`, or only the one with `id`. */
export async function refusedRequests(
  deps: Core,
  app_id: bigint,
  { id, before }: { id?: bigint | undefined; before?: bigint | undefined },
  max: number,
): Promise<RefusedRequest[]> {
  const rows = await deps.db
    .selectFrom('refused_requests')
    .where('app_id', '=', app_id)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(before !== undefined, (query) => query.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(max)
    .select(['id', 'door', 'path', 'address', 'code', 'message', 'at', 'fields_encrypted'])
    .execute()
  return rows.flatMap(({ fields_encrypted, ...row }) => {
    const fields = openFields(deps, app_id, fields_encrypted)
    return fields === undefined ? [] : [{ ...row, fields }]
  })
}

/** Decrypts fields. Undefined for fields that another APP_SECRET has encrypted; the page leaves those out. */
function openFields({ secrets }: Core, app_id: bigint, fields_encrypted: Buffer): Field[] | undefined {
  try {
    return JSON.parse(secrets.decrypt(refusedContext(app_id), fields_encrypted))
  } catch {
    return undefined
  }
}
