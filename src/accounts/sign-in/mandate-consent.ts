/**
 * What a sign-in may ask of the area of payments: mandates that its consent page shows and its answer accepts (spec/mandates 2.4).
 * The identity area has the request and the page. The area of payments has the mandates.
 */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Tx } from '../../database/connection.ts'
import type { NextStep } from '../../web/next-steps.ts'

/** Terms that a member may allow. Points are whole, days are `YYYY-MM-DD` in Asia/Shanghai. */
export type MandateTerms = { charge_max: bigint; period_max: bigint; starts_on: string; ends_on: string }

type Caps = Pick<NonNullable<NextStep['mandate']>, 'kind' | 'charge_max' | 'period_max' | 'period'>

/** What a page shows of an offer that the member can accept. */
export type OfferShown = {
  mandate: Pick<NonNullable<NextStep['mandate']>, 'kind' | 'period' | 'purpose'> & {
    book: 'live' | 'test'
    with_token: boolean
  }
  shop: { name: string; logo_url: string | null; owner: string; owner_level: number }
  terms: MandateTerms
  /** What the shop offered, which the member may lower. */
  asked: MandateTerms
  /** The most that the first charge can be, and the day from which it can come. Undefined: as soon as the member allows it. */
  first: { points: bigint; from: string | undefined }
  /** Points that the terms permit until the last day. */
  most: bigint
  /** Points that all mandates of the member could take in a month, and how many are allowed. */
  month: { all: bigint; allowed: bigint }
  balance: bigint
  /** The mandate that the acceptance ends, and what was charged in its running period. */
  replaced: (Caps & { spent: bigint | null }) | undefined
  /** Whether the terms are lower than offered, because the member may not allow more. */
  isLowered: boolean
  /** Where the member signs in again, if accepting needs that first. */
  signInUrl: string | undefined
}

/** The offer on a consent page, or why the member cannot accept it, in the reader's language. */
export type OfferOrReason =
  | OfferShown
  /** `isWhole` says that the title needs no words before it. */
  | { shop: OfferShown['shop']; reason: { title: string; text: string; isWhole: boolean } }

/** The mandate that an authorization request names. */
export type AskedMandate = {
  id: bigint
  /** `mdt_` and 24 characters. */
  mandate_id: string
  /** Whether it is an offer. Otherwise this member has accepted it before. */
  isPending: boolean
}

/** What a member has granted by a mandate (RFC 9396), as it is now. Points are integers. */
export const GrantedMandate = z.strictObject({
  type: z.literal('points_mandate'),
  identifier: z.string(),
  payment_id: z.string(),
  status: z.enum(['active', 'paused', 'ended']),
  reason: z.string().nullable(),
  kind: z.enum(['fixed', 'up_to']),
  charge_max: z.int(),
  period_max: z.int(),
  period: z.enum(['day', 'week', 'month']),
  starts_on: z.string(),
  ends_on: z.string(),
  purpose: z.string(),
})

export type MandateConsents = {
  /**
   * Finds a mandate of the payment application that names this OAuth application. Both must have the same owner. Undefined also
   * for a mandate that has ended, and for one that this member may not accept.
   */
  find(mandate_id: string, who: { client_id: string; user_id: bigint }): Promise<AskedMandate | undefined>
  /** What the page at `path` shows of a pending mandate. */
  show(request: FastifyRequest, mandate_id: string, path: string): Promise<OfferOrReason>
  /**
   * Reads the form with which the member allows charges. Returns the act for the transaction of the sign-in, which resolves to
   * false if the member must sign in again first. Throws FormRefused; the act throws FormRefused, and conflict if the mandate
   * cannot be accepted any more.
   */
  accepting(
    request: FastifyRequest,
    mandate_id: string,
    client_id: string,
  ): Promise<(tx: Tx) => Promise<boolean>>
  /** Declines an offer. Does nothing if that is impossible by then. */
  decline(tx: Tx, mandate_id: string, member: Member): Promise<void>
  /** How many mandates would end with `end`. */
  count(user_id: bigint, client_id: string): Promise<number>
  /** Ends the mandates that the member has accepted while signing in to this application. Returns how many. */
  end(tx: Tx, client_id: string, member: Member): Promise<number>
}

export type Member = { user_id: bigint; ip: string; now: Date }
