/** The application that a program's request speaks for, whichever way it proved that. The acts take nothing else of the proof. */
import type { Book } from '../../database/tables/columns.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'

export type Caller = {
  id: bigint
  book: Book
  /** `suspended` while the owner is banned. */
  status: PaymentAppStatus
  /** The owner, whose points the application transfers. */
  applicant_id: bigint
}

/** A request whose sender is known. */
export type Authenticated = {
  api: Caller
  parameters: FlatParameters
  /** Whether a former owner of the application knows the token that signed the request. */
  isFormerOwners: boolean
  /** The token that signed the request. Undefined when the application was proved in another way. */
  token_id: bigint | undefined
}

/** Throws application_unusable unless the application may read. A suspended one may still read its orders. spec/payment-api 1.1. */
export function requireReadable({ status }: Caller): void {
  if (status !== 'approved' && status !== 'suspended') throw unusable(status)
}

/** Throws application_unusable unless the application may sell and transfer. */
export function requireApproved({ status }: Caller): void {
  if (status !== 'approved') throw unusable(status)
}

function unusable(status: PaymentAppStatus): AppError {
  const is = status === 'suspended' ? 'suspended' : 'not approved'
  return new AppError('application_unusable', `This payment application is ${is}`)
}
