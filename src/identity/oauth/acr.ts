// This room: the endpoints of OAuth 2.0 and OpenID Connect, each with its checks and refusals.
// Verbs: authorizePages, tokenRoutes, userinfoRoutes, introspectionRoute, revocationRoute, logoutPages.
// Clauses: spec/sign-in 1.1–1.8, 2.1–2.2, 2.4, 2.6–2.7, 3.1–3.3, 4.1, 6.1; spec/mandates 2.4.
/** The authentication context classes (`acr`) of sign-ins, and the wish for one (`acr_values`, OIDC Core 3.1.2.1). */
import type { Session } from '../../accounts/session/session.ts'

const ONE_FACTOR = 'urn:tessera:acr:1fa'
const TWO_FACTORS = 'urn:tessera:acr:2fa'
/** Resistant to phishing, as EAP ACR Values 1.0 defines it. `phrh` is never told, because hardware is not attested. */
const PHISHING_RESISTANT = 'phr'

/** The values that there are, the weakest first. */
export const ACR_VALUES = [ONE_FACTOR, TWO_FACTORS, PHISHING_RESISTANT] as const

type Acr = (typeof ACR_VALUES)[number]

/** Returns the class of a sign-in by its methods (RFC 8176). A sign-in at the forum has one factor. */
export function acrOf(amr: readonly string[]): Acr {
  if (amr.includes('hwk') || amr.includes('swk')) return PHISHING_RESISTANT
  return amr.includes('otp') ? TWO_FACTORS : ONE_FACTOR
}

/**
 * Whether the first known wish exceeds the sign-in of the session and the member can meet it. An application only wishes:
 * where this is false, the ID token tells the class that there is.
 */
export function shouldStepUp(acr_values: readonly string[], { amr, user }: Session): boolean {
  const wish = ACR_VALUES.find((acr) => acr === acr_values.find(isKnown))
  if (wish === undefined || rank(wish) <= rank(acrOf(amr))) return false
  const strongest = user.has_passkey ? PHISHING_RESISTANT : user.has_second_factor ? TWO_FACTORS : ONE_FACTOR
  return rank(wish) <= rank(strongest)
}

const isKnown = (acr: string) => ACR_VALUES.some((each) => each === acr)
const rank = (acr: Acr) => ACR_VALUES.indexOf(acr)
