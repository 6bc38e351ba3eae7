/** The terms of an offer on a page, and the form in which a member lowers them: of the mandate page and of consent pages. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isFresh, signInAgainUrl } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { MandateTerms, OfferShown } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import { walletOf } from '../../ledger/wallet.ts'
import { FormRefused, type FormView, readForm } from '../../web/forms/forms.ts'
import { openPlayWallet } from '../orders/test-mode.ts'
import { Amount, Day } from '../wire-fields/fields.ts'
import { type AgreeingFault, type MandateState, monthOf, needsFreshSignIn } from './agreeing.ts'
import { type Acceptance, type LookedAt, lookAtOffer } from './consent.ts'
import { findMandate, firstChargeOf, type Mandate } from './mandates.ts'
import { lastDayOfYear, periodsUntil } from './periods.ts'
import { findShop, type Shop } from './shop.ts'

/** The terms that a member chooses. Missing ones are as offered. */
export type Chosen = Partial<Pick<MandateTerms, 'charge_max' | 'period_max' | 'ends_on'>>

declare module '../../web/views.ts' {
  interface PartData {
    'payment/mandates/amount': Pick<OfferShown, 'mandate' | 'shop' | 'terms' | 'first'>
    /** `asker` is the application that the page names above, with the owner and the review. The shop that it charges for has the same owner. */
    'payment/mandates/at-sign-in': OfferShown & { asker: string }
    'payment/mandates/replaced': Pick<OfferShown, 'mandate' | 'terms' | 'replaced'>
    'payment/mandates/facts': Pick<
      OfferShown,
      'mandate' | 'terms' | 'most' | 'month' | 'balance' | 'first' | 'replaced'
    >
    'payment/mandates/lower': Pick<OfferShown, 'mandate' | 'terms' | 'asked' | 'isLowered'> & {
      of: FormView
    }
  }
}

const Points = z.string().trim().pipe(Amount).transform(BigInt)
const Terms = z.object({
  charge_max: Points.optional(),
  period_max: Points.optional(),
  ends_on: z.string().trim().pipe(Day).optional(),
})

/** An acceptance of these terms by the member who is signed in. */
export async function acceptanceOf(request: FastifyRequest, deps: Core, chosen: Chosen): Promise<Acceptance> {
  const session = sessionOf(request)
  const { reauthenticate_minutes } = await deps.settings.read()
  return {
    user_id: session.user.id,
    ip: request.ip,
    ...chosen,
    isFresh: isFresh(session, reauthenticate_minutes, deps.clock()),
  }
}

/** Reads the chosen terms of an up-to mandate. A fixed one has none. Throws FormRefused. */
export async function readTerms(
  request: FastifyRequest,
  deps: Core,
  { kind, mandate_id }: Mandate,
): Promise<Chosen> {
  if (kind === 'fixed') return {}
  const { state } = await lookAtOffer(deps, mandate_id, await acceptanceOf(request, deps, {}))
  return chosenOf(readForm(request, Terms, wordsOf(request, state)))
}

function chosenOf({ charge_max, period_max, ends_on }: z.output<typeof Terms>): Chosen {
  return {
    ...(charge_max === undefined ? {} : { charge_max }),
    ...(period_max === undefined ? {} : { period_max }),
    ...(ends_on === undefined ? {} : { ends_on }),
  }
}

/** What each field takes. */
function wordsOf({ locale }: FastifyRequest, state: MandateState | undefined): Record<string, string> {
  if (state === undefined) return {}
  const { asked_charge_max, asked_period_max } = state
  const { starts_on, ends_on } = askedTerms(state)
  const { mandateOffer: o } = locale.t
  return {
    charge_max: o.chargeMaxWrong(locale.points(asked_charge_max)),
    period_max: o.periodMaxWrong(locale.points(asked_period_max)),
    ends_on: o.endsOnWrong(locale.dayOfYear(starts_on), locale.dayOfYear(ends_on)),
  }
}

/** Throws FormRefused for terms that the member can change in the form. Other faults are of no field. */
export async function refuseField(
  request: FastifyRequest,
  deps: Core,
  { kind, mandate_id }: Mandate,
  { chosen, fault }: { chosen: Chosen; fault: AgreeingFault },
): Promise<void> {
  if (kind === 'fixed') return
  if (fault.fault === 'charge_max' || fault.fault === 'month_max') {
    const field = fault.fault === 'charge_max' ? 'charge_max' : 'period_max'
    throw new FormRefused({
      [field]: request.locale.t.mandateOffer.limit(request.locale.points(fault.limit)),
    })
  }
  if (fault.fault === 'terms') {
    const { state } = await lookAtOffer(deps, mandate_id, await acceptanceOf(request, deps, chosen))
    const field = fieldAtFault(state!, chosen)
    throw new FormRefused({ [field]: wordsOf(request, state)[field]! })
  }
}

function fieldAtFault(
  { asked_charge_max, asked_period_max }: MandateState,
  { charge_max = asked_charge_max, period_max = asked_period_max }: Chosen,
): 'charge_max' | 'period_max' | 'ends_on' {
  if (period_max > asked_period_max) return 'period_max'
  return charge_max > asked_charge_max || charge_max > period_max ? 'charge_max' : 'ends_on'
}

/** The whole of what the shop offered, as it would begin today. */
function askedTerms({
  asked_charge_max,
  asked_period_max,
  asked_starts_on,
  asked_ends_on,
  today,
}: MandateState): MandateTerms {
  const starts_on = asked_starts_on !== null && asked_starts_on > today ? asked_starts_on : today
  return {
    charge_max: asked_charge_max,
    period_max: asked_period_max,
    starts_on,
    ends_on: asked_ends_on ?? lastDayOfYear(starts_on),
  }
}

/** Looks at an offer with the chosen terms, or with the highest that the member may allow. */
async function lookWithin(
  deps: Core,
  mandate_id: string,
  acceptance: Acceptance,
): Promise<LookedAt & { isLowered: boolean }> {
  let looked = await lookAtOffer(deps, mandate_id, acceptance)
  let lower: Chosen = {}
  // Each of the two limits may lower the terms once.
  for (let round = 0; round < 2; round += 1) {
    const { judged, state } = looked
    if (!('fault' in judged) || state?.kind !== 'up_to') break
    if (judged.fault !== 'charge_max' && judged.fault !== 'month_max') break
    const { limit } = judged
    if (limit < 1n) break
    const { charge_max = state.asked_charge_max } = { ...acceptance, ...lower }
    const least = charge_max < limit ? charge_max : limit
    lower =
      judged.fault === 'charge_max'
        ? { ...lower, charge_max: limit }
        : { ...lower, period_max: limit, charge_max: least }
    looked = await lookAtOffer(deps, mandate_id, { ...acceptance, ...lower })
  }
  return { ...looked, isLowered: Object.keys(lower).length > 0 }
}

/** Reads what a page shows of an offer to the member who is signed in, or why the member cannot accept it. */
export async function offerShown(
  request: FastifyRequest,
  deps: Core,
  mandate: Mandate,
  path: string,
): Promise<AgreeingFault | (OfferShown & { mandate: Mandate; shop: Shop })> {
  const { mandate_id, book } = mandate
  const acceptance = await acceptanceOf(request, deps, {})
  // The page is shown to a member who must sign in again, too.
  const looked = await lookWithin(deps, mandate_id, { ...acceptance, isFresh: true })
  const { judged, state, isLowered } = looked
  if ('fault' in judged) return judged
  const session = sessionOf(request)
  if (book === 'test') await openPlayWallet(deps.db, session.user.id)
  const [settings, shop, wallet, replaced] = await Promise.all([
    deps.settings.read(),
    findShop(deps.db, mandate.app_id),
    walletOf(deps.db, session.user.id, book),
    mandate.replaces === null
      ? undefined
      : findMandate(deps.db, { mandate_id: mandate.replaces }, deps.clock()),
  ])
  // Lower caps may need no newer sign-in. The posted values decide.
  const least = mandate.kind === 'fixed' ? judged.period_max : 1n
  const mustSignIn =
    !acceptance.isFresh && needsFreshSignIn(settings.mandates_fresh_sign_in_above, book, least)
  return {
    mandate,
    shop,
    terms: judged,
    asked: askedTerms(state!),
    first: firstChargeOf(judged, state!.today),
    most: judged.period_max * BigInt(periodsUntil(judged.starts_on, mandate.period, judged.ends_on)),
    month: monthOf(settings, state!, judged.period_max),
    balance: wallet.balance,
    replaced,
    isLowered,
    signInUrl: mustSignIn ? signInAgainUrl(session, path) : undefined,
  }
}
