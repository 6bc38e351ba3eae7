/** The file field `logo` of a form. spec/limits 1.3. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { encodedAgain, LOGO_BYTES_MAX } from '../core/logo-picture.ts'
import { AppError } from '../platform/errors.ts'
import { FormRefused } from './forms/forms.ts'
import { acceptFile } from './parameters.ts'

/** Makes a scope accept forms with a logo. It is a scope of its own, because no other form of the service carries files. */
export function acceptLogo(scope: FastifyInstance): void {
  acceptFile(scope, 'logo', LOGO_BYTES_MAX)
}

/** Returns the picture of the form, encoded again. Undefined without one. Throws FormRefused for a file that is no small PNG. */
export function logoIfAny(request: FastifyRequest): Buffer | undefined {
  const { logo } = (request.body ?? {}) as { logo?: unknown }
  // A form without a chosen file sends an empty one.
  return Buffer.isBuffer(logo) && logo.length > 0 ? logoIn(request) : undefined
}

/** Returns the picture of the form, encoded again. Throws FormRefused without one, and for a file that is no small PNG. */
export function logoIn({ body, locale }: FastifyRequest): Buffer {
  const { logo } = (body ?? {}) as { logo?: unknown }
  const refused = new FormRefused({ logo: locale.t.forms.logoRefused })
  if (!Buffer.isBuffer(logo)) throw refused
  try {
    return encodedAgain(logo)
  } catch (error) {
    throw error instanceof AppError ? refused : error
  }
}
