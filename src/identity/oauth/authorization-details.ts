/** Reads authorization_details (RFC 9396): the one mandate that an authorization request may name. spec/mandates 2.4. */
import { z } from 'zod'
import type { AskedMandate, MandateConsents } from '../../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import type { Parameters } from '../../web/parameters.ts'
import type { Demand, Target } from './authorization-request.ts'

export const DETAILS_TYPES = ['points_mandate'] as const
const BYTES_MAX = 200

const Details = z.tuple([z.strictObject({ type: z.enum(DETAILS_TYPES), identifier: z.string() })])

/**
 * Returns the identifier of the mandate that a request names, if mandates are on; otherwise the parameter is unknown and is
 * ignored, as others are. Throws invalid_authorization_details.
 */
export async function readDetails(
  { settings }: Pick<Core, 'settings'>,
  { authorization_details: text }: Pick<Demand, 'authorization_details'>,
): Promise<string | undefined> {
  if (text === undefined || (await settings.read()).mandates !== 'on') return undefined
  const { data } = Details.safeParse(Buffer.byteLength(text) <= BYTES_MAX ? parsed(text) : undefined)
  if (data === undefined) {
    const wanted = '[{"type":"points_mandate","identifier":"mdt_..."}]'
    throw invalidDetails(`authorization_details must be ${wanted}, at most ${BYTES_MAX} bytes`)
  }
  return data[0].identifier
}

/** Returns the value of a JSON text. Undefined for a text that two parsers could read differently, as with a repeated name. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text.replace(/\s/g, '') ? value : undefined
  } catch {
    return undefined
  }
}

/** Finds the named mandate for the member who is signed in. Throws invalid_authorization_details. */
export async function findAsked(
  { mandateConsents }: { mandateConsents: MandateConsents },
  identifier: string,
  { app: { client_id } }: Target,
  user_id: bigint,
): Promise<AskedMandate> {
  const asked = await mandateConsents.find(identifier, { client_id, user_id })
  if (asked === undefined)
    throw invalidDetails('This member cannot accept this mandate with this application, or not any more')
  return asked
}

/**
 * Refuses authorization_details where no member can be asked: at the endpoints for tokens and for devices. Ignored while mandates
 * are off. Throws invalid_authorization_details.
 */
export async function refuseDetails(
  { settings }: Pick<Core, 'settings'>,
  body: Parameters | undefined,
): Promise<void> {
  if ((body?.authorization_details ?? '') === '' || (await settings.read()).mandates !== 'on') return
  throw invalidDetails('Only authorization requests take authorization_details')
}

function invalidDetails(message: string): AppError {
  return new AppError('invalid_authorization_details', message)
}
