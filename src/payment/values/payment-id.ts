/** Payment IDs, which name payment applications in addresses and requests. Pure. */

/** Of what follows `pay_`. */
export const PAYMENT_ID_LENGTH = 20
/** For patterns that look for one in a longer text. */
export const PAYMENT_ID_PATTERN = `pay_[a-z0-9]{${PAYMENT_ID_LENGTH}}`

const WHOLE = new RegExp(`^${PAYMENT_ID_PATTERN}$`)

export function isPaymentId(text: string): boolean {
  return WHOLE.test(text)
}
