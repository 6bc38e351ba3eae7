/** Authenticates callers of the HMAC API by their signature, and checks the allowed addresses and the tokens of the application. */
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { networkOf } from '../../core/limits.ts'
import { makeBatcher } from '../../database/batcher.ts'
import { named } from '../../database/named-statements.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import { malformed } from '../../web/parameters.ts'
import { stringToSign, type TokenKeys, tokenKeys, verifySignature } from '../signing/hmac.ts'
import { makeReadyKeys, markTokenUsed, openKey } from '../signing/keys.ts'
import { isAllowedAddress } from '../wire-fields/addresses.ts'
import { type FlatParameters, flatParameters, isFresh, isPaymentId } from '../wire-fields/fields.ts'
import type { Authenticated, Caller } from './caller.ts'
import { UNKNOWN_APPLICATION } from './shapes.ts'

const IN_THE_URL = 'Parameters in the URL are not read: send them in the body'

export type SignedRequest = FastifyRequest<{ Params: { payment_id: string } }>
export type Authenticate = (request: SignedRequest) => Promise<Authenticated>

/**
 * Makes the check of every signed request: the application, its signature, the optional timestamp, then the address of the
 * caller. Throws application_not_found, malformed_request, invalid_signature with the signed string and a hint,
 * too_many_attempts, stale_timestamp and address_not_allowed. spec/payment-api 2.1–2.3.
 */
export function makeAuthenticate(deps: Core): Authenticate {
  const findCaller = makeFindCaller(deps)
  return async (request) => verified(request, deps, findCaller)
}

async function verified(request: SignedRequest, deps: Core, findCaller: FindCaller): Promise<Authenticated> {
  const { payment_id } = request.params
  const api = isPaymentId(payment_id) ? await findCaller(payment_id) : undefined
  if (api === undefined) throw new AppError('application_not_found', UNKNOWN_APPLICATION)
  request.speaksFor = { app_id: api.id, door: 'hmac', received: request.body }
  const parameters = flatParameters(request.body)
  const verdict = verifySignature(
    parameters,
    api.tokens.map(({ keys }) => keys),
  )
  if (!verdict.isValid) {
    // A separate limit: a caller who knows only the Payment ID cannot use up the application's limit.
    await deps.limits.take('api_requests', `${api.id} unsigned ${networkOf(request.ip)}`)
    const isInUrl = Object.keys(request.query as object).length > 0
    if (isInUrl && parameters.signature === undefined) throw malformed(IN_THE_URL)
    const { signed_string } = verdict
    const hint = isInUrl ? `${IN_THE_URL}. ${verdict.hint}` : verdict.hint
    throw new AppError('invalid_signature', 'Invalid signature', { data: { signed_string, hint } })
  }
  await deps.limits.take('api_requests', api.id.toString())
  refuseCallback(parameters)
  verifyTimestamp(parameters.timestamp, deps.clock())
  if (!isAllowedAddress(request.ip, api.allowed_addresses)) {
    throw new AppError('address_not_allowed', `This address may not call for the application: ${request.ip}`)
  }
  const token = api.tokens[verdict.key]!
  await markTokenUsed(deps.db, token, deps.clock())
  return { api, parameters, isFormerOwners: token.is_former_owners, token_id: token.id }
}

/**
 * Refuses the parameters of a callback, which the same key signs and which pass through the payer's browser. It examines
 * the signed string, because a sender can hide one field in the value of another without changing that string.
 */
function refuseCallback(parameters: FlatParameters): void {
  const signed_string = stringToSign(parameters)
  if (!/(?:^|&)(?:merchant_points|mandate_status)=/.test(signed_string)) return
  const hint = 'These are the parameters of a callback. A request is signed over its own parameters only.'
  throw new AppError('invalid_signature', 'Invalid signature', { data: { signed_string, hint } })
}

function verifyTimestamp(timestamp: string | undefined, now: Date): void {
  if (timestamp === undefined || timestamp === '') return
  if (isFresh(timestamp, now)) return
  const server_time = Math.floor(now.getTime() / 1000)
  throw new AppError('stale_timestamp', 'Timestamp is invalid or expired', { data: { server_time } })
}

type SigningCaller = Caller & {
  allowed_addresses: string[]
  /** The valid tokens, the current one first. A former owner knows the tokens from before a handover. */
  tokens: { id: bigint; keys: TokenKeys; last_used_at: Date | null; is_former_owners: boolean }[]
}

type FindCaller = (payment_id: string) => Promise<SigningCaller | undefined>

type Row = {
  payment_id: string
  id: bigint
  book: Book
  status: PaymentAppStatus
  applicant_id: bigint
  allowed_addresses: string[]
  key_id: bigint
  value_encrypted: Buffer
  last_used_at: Date | null
  is_former_owners: boolean
}

/**
 * Makes the look-up of this process. Requests that arrive together share a statement. Each look-up reads the valid tokens;
 * memory keeps only the keys of stored tokens, which never change.
 */
function makeFindCaller(deps: Core): FindCaller {
  const ready = makeReadyKeys<TokenKeys>()
  const keysOf = ({ id, key_id, value_encrypted }: Row) =>
    ready.find(key_id) ?? ready.keep(key_id, tokenKeys(openKey(deps.secrets, id, 'token', value_encrypted)))

  return makeBatcher<string, SigningCaller | undefined>({
    name: 'find callers',
    ...deps.batching,
    run: async (payment_ids) => {
      const { rows } = await sql<Row>`
        select ${named} * from payment_apps_with_tokens(${payment_ids}::text[], ${deps.clock()}::timestamptz)
      `.execute(deps.db)
      const found = new Map<string, SigningCaller>()
      for (const row of rows) {
        const { payment_id, id, book, status, applicant_id, allowed_addresses } = row
        const { last_used_at, is_former_owners } = row
        const known = found.get(payment_id)
        const caller = known ?? { id, book, status, applicant_id, allowed_addresses, tokens: [] }
        caller.tokens.push({ id: row.key_id, keys: keysOf(row), last_used_at, is_former_owners })
        found.set(payment_id, caller)
      }
      return payment_ids.map((payment_id) => found.get(payment_id))
    },
  })
}
