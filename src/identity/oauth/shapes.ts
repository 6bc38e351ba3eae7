/**
 * The requests and answers of the endpoints for programs (RFC 6749, 7009, 7662; OpenID Connect Core 1.0). The endpoints read
 * requests by these shapes and type their answers with them. The reference describes the shapes, and tests check answers.
 * NOTE: authorization-request.ts reads an AuthorizationRequest itself, because the order of its faults is a contract.
 * spec/sign-in 2.4.
 */
import { z } from 'zod'
import { GrantedMandate } from '../../accounts/sign-in/mandate-consent.ts'
import { GRANT_TYPES } from '../apps/apps.ts'

const text = z.string()

export const AuthorizationRequest = z.object({
  response_type: z.literal('code'),
  client_id: text,
  redirect_uri: z.url(),
  scope: text.optional(),
  state: text.optional(),
  nonce: text.optional(),
  code_challenge: text.optional(),
  code_challenge_method: z.literal('S256').optional(),
  prompt: text.optional(),
  max_age: text.optional(),
  id_token_hint: text.optional(),
  login_hint: text.optional(),
  response_mode: z.enum(['query', 'form_post']).optional(),
  acr_values: text.optional(),
  ui_locales: text.optional(),
  resource: text.optional(),
  authorization_details: text.optional(),
})

/** The request of the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0, 2). */
export const LogoutRequest = z.object({
  id_token_hint: text.optional(),
  client_id: text.optional(),
  post_logout_redirect_uri: text.optional(),
  state: text.optional(),
})

const clientInBody = { client_id: text.optional(), client_secret: text.optional() }

export const TokenRequest = z.object({
  grant_type: z.enum(GRANT_TYPES),
  code: text.optional(),
  redirect_uri: text.optional(),
  code_verifier: text.optional(),
  refresh_token: text.optional(),
  device_code: text.optional(),
  scope: text.optional(),
  resource: text.optional(),
  ...clientInBody,
})

/** The request and the answer of the device authorization endpoint (RFC 8628 3.1 and 3.2). */
export const DeviceRequest = z.object({
  scope: text.optional(),
  resource: text.optional(),
  ...clientInBody,
})

export const DeviceAuthorization = z.strictObject({
  device_code: text,
  user_code: text,
  verification_uri: z.url(),
  verification_uri_complete: z.url(),
  expires_in: z.int(),
  interval: z.int(),
})

/** The request of revocation and introspection. */
export const AboutTokenRequest = z.object({
  token: text,
  token_type_hint: text.optional(),
  ...clientInBody,
})

/** The answer of revocation. RFC 7009 2.2 leaves the body open, and some clients read it as JSON. */
export const Revoked = z.strictObject({})

export const Tokens = z.strictObject({
  access_token: text,
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  refresh_token: text,
  id_token: text,
  scope: text,
  authorization_details: z.array(GrantedMandate).optional(),
})

export const Userinfo = z.strictObject({
  sub: text,
  id: z.int(),
  username: text,
  preferred_username: text,
  name: text,
  picture: z.url().optional(),
  avatar_url: z.url().optional(),
  groups: z.array(text),
  trust_level: z.int().min(0).max(4),
  email: text.optional(),
  email_verified: z.literal(true).optional(),
  active: z.literal(true),
  silenced: z.boolean(),
})

export const LiveToken = z.strictObject({
  active: z.literal(true),
  /** Of access tokens alone. */
  token_type: z.literal('Bearer').optional(),
  scope: text,
  client_id: text,
  username: text,
  sub: text,
  acr: text,
  auth_time: z.int(),
  aud: text.optional(),
  exp: z.int(),
  iat: z.int(),
  iss: z.url(),
  authorization_details: z.array(GrantedMandate).optional(),
})

export const Introspection = z.union([z.strictObject({ active: z.literal(false) }), LiveToken])

const texts = z.array(text).readonly()

export const Discovery = z.strictObject({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  userinfo_endpoint: z.url(),
  jwks_uri: z.url(),
  device_authorization_endpoint: z.url(),
  revocation_endpoint: z.url(),
  introspection_endpoint: z.url(),
  end_session_endpoint: z.url(),
  backchannel_logout_supported: z.literal(true),
  backchannel_logout_session_supported: z.literal(true),
  service_documentation: z.url(),
  scopes_supported: texts,
  response_types_supported: texts,
  response_modes_supported: texts,
  grant_types_supported: texts,
  subject_types_supported: texts,
  id_token_signing_alg_values_supported: texts,
  token_endpoint_auth_methods_supported: texts,
  revocation_endpoint_auth_methods_supported: texts,
  introspection_endpoint_auth_methods_supported: texts,
  code_challenge_methods_supported: texts,
  prompt_values_supported: texts,
  acr_values_supported: texts,
  ui_locales_supported: texts,
  claims_supported: texts,
  request_parameter_supported: z.literal(false),
  request_uri_parameter_supported: z.literal(false),
  claims_parameter_supported: z.literal(false),
  authorization_response_iss_parameter_supported: z.literal(true),
  client_id_metadata_document_supported: z.literal(true).optional(),
  authorization_details_types_supported: z.array(z.literal('points_mandate')).optional(),
})

/** RFC 9728. */
/** The question of WebFinger, RFC 7033. */
export const WebFingerRequest = z.object({ resource: text, rel: text.optional() })

export const WebFinger = z.strictObject({
  subject: text,
  links: z.array(z.strictObject({ rel: text, href: z.url() })),
})

export const ProtectedResource = z.strictObject({
  resource: z.url(),
  authorization_servers: z.array(z.url()),
  scopes_supported: z.array(text),
  bearer_methods_supported: z.array(text),
  resource_documentation: z.url(),
})

const published = { kid: text, use: z.literal('sig'), alg: text }

export const Jwks = z.strictObject({
  keys: z.array(
    z.discriminatedUnion('kty', [
      z.strictObject({ kty: z.literal('RSA'), n: text, e: text, ...published }),
      z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: text, y: text, ...published }),
    ]),
  ),
})

/** The body of every failure of an endpoint for programs. */
export const Refusal = z.looseObject({ error: text, error_description: text })
