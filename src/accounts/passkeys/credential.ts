/**
 * The answers of browsers, in the JSON of WebAuthn Level 3 (`PublicKeyCredential.toJSON`). Anything else is read as
 * undefined, and so is an answer from a frame of another site, which the library may accept.
 */
import { decodeClientDataJSON } from '@simplewebauthn/server/helpers'
import { z } from 'zod'

/** Of a credential ID, by WebAuthn. */
export const CREDENTIAL_ID_BYTES_MAX = 1_023
const ANSWER_BYTES_MAX = 8_192

const Base64Url = z.string().regex(/^[A-Za-z0-9_-]+$/)
const CredentialId = Base64Url.max(Math.ceil((CREDENTIAL_ID_BYTES_MAX * 4) / 3))
const common = { id: CredentialId, rawId: CredentialId, type: z.literal('public-key') }

const RegistrationAnswer = z.object({
  ...common,
  clientExtensionResults: z
    .object({ credProps: z.object({ rk: z.boolean().optional() }).optional() })
    .default({}),
  response: z.object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .default([]),
  }),
})

const SignInAnswer = z.object({
  ...common,
  response: z.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    /** Null where no authenticator told one. */
    userHandle: Base64Url.nullish(),
  }),
})

export type RegistrationAnswer = z.output<typeof RegistrationAnswer>
export type SignInAnswer = z.output<typeof SignInAnswer>

/** An answer, and the challenge that it claims to answer. */
export type Read<Answer> = { answer: Answer; challenge: string }

/** Reads the answer to a registration. */
export const readRegistration = (sent: unknown) => read(RegistrationAnswer, sent)

/** Reads the answer to a sign-in. */
export const readSignIn = (sent: unknown) => read(SignInAnswer, sent)

function read<Answer extends RegistrationAnswer | SignInAnswer>(
  schema: z.ZodType<Answer>,
  sent: unknown,
): Read<Answer> | undefined {
  if (typeof sent !== 'string' || sent.length > ANSWER_BYTES_MAX) return undefined
  try {
    const answer = schema.parse(JSON.parse(sent))
    const { challenge, crossOrigin } = decodeClientDataJSON(answer.response.clientDataJSON)
    return typeof challenge === 'string' && crossOrigin !== true ? { answer, challenge } : undefined
  } catch {
    return undefined
  }
}
