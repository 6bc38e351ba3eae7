/**
 * The last refused requests of a payment application: kept when a door refuses one, so that its owner can find out why.
 * Bounded for each application and each caller, whoever sends how many; nothing is done for requests that succeed.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { AppError, type ErrorCode } from '../../platform/errors.ts'
import type { Field } from './pasted.ts'
import { KEPT_KEY, keyFingerprint } from './verdict.ts'

/** Of one application. */
export const REFUSED_KEPT_MAX = 50
/** Of all names and values of a request together; more is cut off, and says so. */
const FIELDS_LENGTH_MAX = 4_096
const MESSAGE_LENGTH_MAX = 300
const PATH_LENGTH_MAX = 200

/** Nothing about the request is wrong: there are too many, or nobody is served. */
const NOT_KEPT: readonly ErrorCode[] = ['too_many_attempts', 'overloaded', 'payments_paused']

type RefusedDoor = 'hmac' | 'gateway'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom a request of a door speaks for, once that is looked up, and what it says. */
    speaksFor: { app_id: bigint; door: RefusedDoor; received: unknown } | undefined
  }
}

/** Lets the requests of a scope be kept when they are refused. */
export function rememberRefusals(app: FastifyInstance): void {
  app.decorateRequest('speaksFor', undefined)
}

export const refusedContext = (app_id: bigint) => `refused_requests ${app_id}`

/**
 * Keeps a request that is being refused with this error, unless its caller has filled the minute's share. Never fails:
 * the refusal matters more than its record.
 */
export async function keepRefused(deps: Core, request: FastifyRequest, error: unknown): Promise<void> {
  const { speaksFor } = request
  if (speaksFor === undefined || !(error instanceof AppError) || NOT_KEPT.includes(error.code)) return
  const { app_id, door, received } = speaksFor
  const network = networkOf(request.ip)
  try {
    // The caller's share first, then everybody's: who has used up the one uses up nothing of the other.
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

/** A plain Merchant KEY is never kept: sent with the pid of another application, it would be told to that one's owner. */
function fieldsOf(received: unknown): Field[] {
  let left = FIELDS_LENGTH_MAX
  const entries = typeof received === 'object' && received !== null ? Object.entries(received) : []
  return entries.flatMap(([name, value]) =>
    [value].flat().map((each): Field => {
      const text = name === 'key' ? `${KEPT_KEY}${keyFingerprint(String(each))}` : String(each)
      const kept = text.slice(0, Math.max(0, left - name.length))
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

/** Those that are kept of an application and can be read, newest first: from `before` on, or only the one with this id. */
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

/** Undefined for what another APP_SECRET has encrypted: there is nothing to say of it, and the others are shown. */
function openFields({ secrets }: Core, app_id: bigint, fields_encrypted: Buffer): Field[] | undefined {
  try {
    return JSON.parse(secrets.decrypt(refusedContext(app_id), fields_encrypted))
  } catch {
    return undefined
  }
}
