/** Mandates in the HMAC API: offer, query, revoke, charge and list. spec/mandates 2.1 and 3.1. */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { revokeByProgram } from '../mandates/acts.ts'
import { makeChargeMandate } from '../mandates/charge.ts'
import { findMandate, type Mandate, mandatesOfApp } from '../mandates/mandates.ts'
import { type OfferedTerms, offerMandate } from '../mandates/offers.ts'
import { formerOwners, mandateNotFound } from '../mandates/refusals.ts'
import { countTestOrder } from '../orders/test-mode.ts'
import { isoSeconds } from '../signing/hmac.ts'
import { formerSince } from '../signing/keys.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { describeCharge, describeMandate } from './answers.ts'
import type { Authenticate, SignedRequest } from './authenticate.ts'
import { type Authenticated, requireApproved, requireReadable } from './caller.ts'
import {
  type ChargeAnswer,
  type MandateAnswer,
  type MandatePage,
  MandateQuery,
  MandatesList,
  NewCharge,
  Offer,
  type OfferAnswer,
  Revocation,
} from './mandate-shapes.ts'
import { type Act, LIMIT_DEFAULT, type Route, readerOf } from './shapes.ts'

/** The acts of a merchant's program on mandates. */
export type MandateActs = {
  offer: Act<typeof OfferAnswer>
  query: Act<typeof MandateAnswer>
  revoke: Act<typeof MandateAnswer>
  /** @param access_token the token of the member, for a mandate that needs one. */
  charge(asked: Authenticated, access_token: string | undefined): Promise<z.output<typeof ChargeAnswer>>
  list: Act<typeof MandatePage>
}

/** Makes the acts of this process. */
export function makeMandateActs(deps: Core): MandateActs {
  const charge = makeChargeMandate(deps)
  return {
    offer: (asked) => offer(deps, asked),
    async query(asked) {
      requireReadable(asked.api)
      return { success: true, ...describeMandate(await queried(deps, asked)) }
    },
    async revoke({ api, parameters, isFormerOwners }, { ip }) {
      requireReadable(api)
      const read = readerOf(Revocation, parameters)
      if (isFormerOwners) throw formerOwners()
      const [mandate_id, reason] = [read('mandate_id'), read('reason')]
      const mandate = await revokeByProgram(deps, { app_id: api.id, mandate_id, reason, ip })
      return { success: true, ...describeMandate(mandate) }
    },
    async charge({ api, parameters, isFormerOwners }, access_token) {
      requireReadable(api)
      const read = readerOf(NewCharge, parameters)
      const asked = {
        app_id: api.id,
        mandate_id: read('mandate_id'),
        order_id: read('order_id'),
        amount: BigInt(read('amount')),
        description: read('description'),
        owner_id: isFormerOwners ? null : api.applicant_id,
        access_token,
      }
      const made = await charge(asked, () => countTestOrder(deps, api))
      return { success: true, ...describeCharge(made, deps.clock()) }
    },
    async list(asked) {
      requireReadable(asked.api)
      return listed(deps, asked)
    },
  }
}

/** POST /payment/mandate/:payment_id/offer, …/query, …/revoke, …/charge, and POST /payment/mandates/:payment_id. */
export function mandateRoutes(app: FastifyInstance, acts: MandateActs, authenticate: Authenticate): void {
  app.post<Route<typeof OfferAnswer>>('/payment/mandate/:payment_id/offer', async (request) =>
    acts.offer(await authenticate(request), request),
  )
  app.post<Route<typeof ChargeAnswer>>('/payment/mandate/:payment_id/charge', async (request) =>
    acts.charge(await authenticate(request), accessTokenOf(request)),
  )
  app.post<Route<typeof MandateAnswer>>('/payment/mandate/:payment_id/query', async (request) =>
    acts.query(await authenticate(request), request),
  )
  app.post<Route<typeof MandateAnswer>>('/payment/mandate/:payment_id/revoke', async (request) =>
    acts.revoke(await authenticate(request), request),
  )
  app.post<Route<typeof MandatePage>>('/payment/mandates/:payment_id', async (request) =>
    acts.list(await authenticate(request), request),
  )
}

async function offer(
  deps: Core,
  { api, parameters, isFormerOwners }: Authenticated,
): Promise<z.output<typeof OfferAnswer>> {
  requireReadable(api)
  const offerer = { app_id: api.id, book: api.book, isFormerOwners }
  const mandate = await offerMandate(deps, offerer, termsOf(parameters), async () => {
    requireApproved(api)
    await countTestOrder(deps, api)
  })
  const { mandate_id, reference, offer_expires_at } = mandate
  return {
    success: true,
    mandate_id,
    mandate_url: `${deps.config.PAYMENT_PUBLIC_URL}/payment/mandate/${mandate_id}`,
    reference,
    status: 'pending',
    expires_at: isoSeconds(offer_expires_at),
  }
}

/** Reads the terms of an offer: an amount, or both caps. Throws parameter_missing and parameter_invalid. */
function termsOf(parameters: FlatParameters): OfferedTerms {
  const read = readerOf(Offer, parameters)
  const user_id = read('user_id')
  return {
    reference: read('reference'),
    purpose: read('purpose'),
    caps: capsOf(read('amount'), read('charge_max'), read('period_max')),
    period: read('period'),
    starts_on: read('starts_on'),
    ends_on: read('ends_on'),
    user_id: user_id === undefined ? undefined : BigInt(user_id),
    with_token: read('with_token') === 'yes',
    replaces: read('replaces'),
  }
}

function capsOf(
  amount: string | undefined,
  charge_max: string | undefined,
  period_max: string | undefined,
): OfferedTerms['caps'] {
  if (amount !== undefined) {
    if (charge_max !== undefined || period_max !== undefined)
      throw new AppError('parameter_invalid', 'Invalid amount: given with charge_max or period_max')
    return { amount: BigInt(amount) }
  }
  if (charge_max === undefined && period_max === undefined)
    throw new AppError('parameter_missing', 'Missing parameter: amount, or charge_max and period_max')
  if (charge_max === undefined) throw new AppError('parameter_missing', 'Missing parameter: charge_max')
  if (period_max === undefined) throw new AppError('parameter_missing', 'Missing parameter: period_max')
  if (BigInt(charge_max) > BigInt(period_max))
    throw new AppError('parameter_invalid', 'Invalid charge_max: at most period_max')
  return { charge_max: BigInt(charge_max), period_max: BigInt(period_max) }
}

/** The access token of the header, whatever it is: a token that is not good refuses the charge. */
function accessTokenOf({ headers: { authorization } }: SignedRequest): string | undefined {
  if (authorization === undefined || !/^bearer\b/i.test(authorization)) return undefined
  return authorization.slice('bearer'.length).trim()
}

/** Finds the mandate of a query. Throws parameter_missing, and mandate_not_found. */
async function queried({ db, clock }: Core, asked: Authenticated): Promise<Mandate> {
  const { api, parameters, isFormerOwners, token_id } = asked
  const read = readerOf(MandateQuery, parameters)
  const [mandate_id, reference] = [read('mandate_id'), read('reference')]
  if (mandate_id === undefined && reference === undefined)
    throw new AppError('parameter_missing', 'Missing parameter: mandate_id')
  const which =
    mandate_id === undefined ? { app_id: api.id, reference: reference! } : { app_id: api.id, mandate_id }
  const mandate = await findMandate(db, which, clock())
  if (mandate === undefined) throw mandateNotFound()
  if (isFormerOwners) {
    const hidden_since = await formerSince(db, token_id!)
    const isHidden = hidden_since !== undefined && mandate.created_at >= hidden_since
    if (isHidden || mandate.payee_id === api.applicant_id) throw mandateNotFound()
  }
  return mandate
}

/** One page of mandates. A former owner's token sees none that was offered since the hand-over or binds to the new owner. */
async function listed({ db, clock }: Core, asked: Authenticated): Promise<z.output<typeof MandatePage>> {
  const { api, parameters, isFormerOwners, token_id } = asked
  const read = readerOf(MandatesList, parameters)
  const limit = Number(read('limit') ?? LIMIT_DEFAULT)
  const hidden_since = isFormerOwners ? await formerSince(db, token_id!) : undefined
  const until = asMoment(read('until'))
  const { rows, stopped_at } = await mandatesOfApp(
    db,
    api.id,
    {
      limit,
      isAscending: read('order') === 'asc',
      after: await cursorOf(db, api.id, read('cursor')),
      status: read('status'),
      since: asMoment(read('since')),
      until:
        hidden_since !== undefined && (until === undefined || hidden_since < until) ? hidden_since : until,
      hiddenPayee: isFormerOwners ? api.applicant_id : undefined,
    },
    clock(),
  )
  const shown = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? shown.at(-1)!.mandate_id : stopped_at
  return { success: true, data: shown.map(describeMandate), next_cursor }
}

async function cursorOf(
  db: Core['db'],
  app_id: bigint,
  mandate_id: string | undefined,
): Promise<bigint | undefined> {
  if (mandate_id === undefined) return undefined
  const row = await db
    .selectFrom('mandates')
    .where('mandate_id', '=', mandate_id)
    .where('app_id', '=', app_id)
    .select('id')
    .executeTakeFirst()
  if (row === undefined)
    throw new AppError('parameter_invalid', 'Invalid cursor: the next_cursor of the page before')
  return row.id
}

/** Reads a timestamp in seconds, the unit of this API. */
function asMoment(seconds: string | undefined): Date | undefined {
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000)
}
