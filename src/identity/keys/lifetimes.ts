/** Lifetimes of ID tokens and of the documents about their keys. */

/** How long an ID token is valid. */
export const ID_TOKEN_SECONDS = 3_600
/** How long clients may cache the JWKS and the discovery documents. */
export const JWKS_CACHE_SECONDS = 300
