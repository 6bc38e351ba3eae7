/**
 * Fetches a client metadata document: one guarded request without redirects, of at most 5 s and 5 KiB (draft-02, 5 and 8.6).
 * spec/registry 5.2.
 */
import type { IncomingMessage } from 'node:http'
import type { Core } from '../../core/core.ts'
import { type Fault, makeSendRequest, type RequestOptions } from '../../egress/request.ts'
import type { AppError } from '../../platform/errors.ts'
import { inCall } from '../../platform/tracing.ts'
import { type ClientDocument, documentFault, readDocument } from './document.ts'

const BYTES_MAX = 5 * 1024
const TIMEOUT_MS = 5_000
const MINUTE_S = 60
/** How long a document is used: at least, at most, and where its answer says nothing. */
const FRESH_S = { min: 5 * MINUTE_S, max: 24 * 60 * MINUTE_S, usual: 60 * MINUTE_S }
const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)(?:\s*;|\s*$)/i

/** A document, and how long it may be used. */
export type Fetched = { document: ClientDocument; fetched_at: Date; fresh_until: Date }

/** Throws invalid_client with a message for the developer. */
export type FetchDocument = (client_id: string) => Promise<Fetched>

type Answer = { text: string; fresh_s: number } | { problem: string }

/** Makes the function that fetches documents. NOTIFY_ALLOW_CIDRS opens addresses that are not public. */
export function makeFetchDocument(
  { config, clock, tracing }: Pick<Core, 'config' | 'clock' | 'tracing'>,
  { timeout_ms = TIMEOUT_MS, ...options }: RequestOptions,
): FetchDocument {
  const send = makeSendRequest({ config }, { ...options, timeout_ms })
  return async (client_id) => {
    const request = { url: client_id, headers: { accept: 'application/json' } }
    const call = { method: 'GET', url: URL.parse(client_id) }
    const end = await inCall(tracing, call, () => send(request, read), endOf)
    if ('fault' in end) throw unreachable(end)
    if ('problem' in end) throw documentFault(end.problem)
    const document = readDocument(parse(end.text), client_id)
    const fetched_at = clock()
    return { document, fetched_at, fresh_until: new Date(fetched_at.getTime() + end.fresh_s * 1_000) }
  }
}

/** What a trace says of the end. */
function endOf(end: Answer | Fault): { status: number | null; failure: string | undefined } {
  if ('fault' in end) return { status: null, failure: end.fault }
  return { status: null, failure: 'problem' in end ? 'refused' : undefined }
}

async function read(response: IncomingMessage): Promise<Answer> {
  const { statusCode: status, headers } = response
  const problem = problemOf(status, headers['content-type'])
  if (problem !== undefined) {
    response.destroy()
    return { problem }
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    // Leaving the loop closes the connection.
    if (size > BYTES_MAX) return { problem: `is larger than ${BYTES_MAX} bytes` }
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
    return { text, fresh_s: freshness(headers['cache-control']) }
  } catch {
    return { problem: 'is not UTF-8' }
  }
}

function problemOf(status: number | undefined, type = ''): string | undefined {
  if (status !== 200) return `was answered with status ${status}, not 200`
  return JSON_TYPE.test(type) ? undefined : 'is not sent as application/json'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw documentFault('is not valid. It: must be JSON')
  }
}

/** Reads how long an answer may be used (RFC 9111 5.2.2), within our bounds, in s. */
function freshness(cacheControl = ''): number {
  const age = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl)?.[1]
  const asked_s = /(?:^|[\s,])no-(?:store|cache)\b/i.test(cacheControl) ? 0 : Number(age ?? FRESH_S.usual)
  return Math.min(FRESH_S.max, Math.max(FRESH_S.min, asked_s))
}

/** Does not tell a private address from a name that does not exist, because an internal name server may have answered. */
function unreachable({ fault, detail }: Fault): AppError {
  switch (fault) {
    case 'blocked':
    case 'dns':
      return documentFault('could not be fetched: its host has no public address')
    case 'timeout':
      return documentFault('could not be fetched in time')
    case 'tls':
      return documentFault(`could not be fetched: its certificate or TLS is refused (${detail ?? 'unknown'})`)
    default:
      return documentFault('could not be fetched: its host does not answer')
  }
}
