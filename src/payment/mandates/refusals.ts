/** Refusals that several requests about mandates share: spec/mandates 3.1. */
import { AppError } from '../../platform/errors.ts'

/** The mandate is unknown, or of another application: one wording for both. */
export function mandateNotFound(): AppError {
  return new AppError('mandate_not_found', 'Mandate not found')
}

/** Mandates are off, or the application has no right to them now. */
export function mandatesUnavailable(): AppError {
  return new AppError('mandates_unavailable', 'Mandates are not available to this payment application')
}

export function mandateInactive({ status, reason }: { status: string; reason: string | null }): AppError {
  return new AppError('mandate_inactive', `The mandate is not active (${reason ?? status})`, {
    data: { status, reason },
  })
}

/** A former owner's token offers, charges and revokes nothing. */
export function formerOwners(): AppError {
  const text = 'This payment application has a new owner: it uses mandates once its token was replaced'
  return new AppError('application_unusable', text)
}
