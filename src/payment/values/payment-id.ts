/** Payment IDs, which identify payment applications in addresses and requests. Pure. */

/** The length of the part after `pay_`. */
export const PAYMENT_ID_LENGTH = 20
/** Finds a Payment ID within a longer text. */
export const PAYMENT_ID_PATTERN = `pay_[a-z0-9]{${PAYMENT_ID_LENGTH}}`

const WHOLE = new RegExp(`^${PAYMENT_ID_PATTERN}$`)

/** Whether the whole text is a Payment ID. */
export function isPaymentId(text: string): boolean {
  return WHOLE.test(text)
}
