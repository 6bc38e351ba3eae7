/** How long tokens and documents that the signing keys stand behind remain in use. */

/** An ID token is valid this long. */
export const ID_TOKEN_SECONDS = 3_600
/** Clients may cache the JWKS and the discovery documents this long. */
export const JWKS_CACHE_SECONDS = 300
