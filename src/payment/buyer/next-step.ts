// This room: the pay page, its receipt, and the payer’s own list of payments.
// Verbs: makeDescribeOrder, payPages, payerPages, signedReturn.
// Tables: order_views.
/** Describes the order behind the address of a pay page, for the sign-in page before it. */
import type { NextStep } from '../../web/next-steps.ts'
import { type LoadedOrder, type OrderPages, shopOf, stateFor } from './order.ts'

const PAY_PAGE = /^\/payment\/pay\/(txn_[a-z0-9]{24})(?![a-z0-9])/
/** No member has this id, so a paid order is somebody else's. */
const NOBODY = 0n

/** Makes the description of pay pages. It names the amount and the product of an order only while it can be paid. */
export function makeDescribeOrder({ deps, loadOrder }: OrderPages) {
  return async (path: string): Promise<NextStep | undefined> => {
    const transaction_id = PAY_PAGE.exec(path)?.[1]
    if (transaction_id === undefined) return undefined
    const order = await loadOrder(transaction_id)
    return order === undefined ? undefined : describe(order, deps.clock())
  }
}

function describe(order: LoadedOrder, now: Date): NextStep {
  const { amount, description, expires_at, book } = order
  const isPayable = stateFor(order, NOBODY, now) === undefined
  return {
    app: { name: order.app_name, logo_url: order.app_logo_url },
    order: isPayable ? { amount, description, expires_at, isTest: book === 'test' } : undefined,
    isPayment: true,
    exit: shopOf(order),
  }
}
