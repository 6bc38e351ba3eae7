/** `tessera refund` gives a payer points back. spec/points 2.3. */

import type { Parts } from '../parts.ts'
import { refundOrder } from '../payment/orders/refunds.ts'
import { AppError } from '../platform/errors.ts'
import { counted } from '../web/plurals.ts'
import { actorOf, type Command, type Run, readAmount, requiredOption, withDeps } from './command.ts'

export const refundCommands: Command[] = [
  {
    name: 'refund',
    takes: ['transaction_id'],
    options: {
      by: { type: 'string', isRequired: true },
      reason: { type: 'string', isRequired: true },
      amount: { type: 'string' },
      'keep-fee': { type: 'boolean' },
      key: { type: 'string' },
    },
    summary:
      'Refunds a paid order, without the second administrator that the pages may require. --amount refunds a part; without it, all that is left. --keep-fee lets the merchant bear the fee too. A repeated --key refunds nothing.',
    run: refund,
  },
]

async function refund({ config, arguments: [transaction_id], options }: Run) {
  const reason = requiredOption(options, 'reason')
  const part = options.amount === undefined ? undefined : readAmount(requiredOption(options, 'amount'))
  const key = options.key === undefined ? undefined : requiredOption(options, 'key')
  const done = await withDeps(config, async (deps) => {
    const actor_id = await actorOf(deps, options)
    const amount = part ?? (await amountLeft(deps, transaction_id!))
    const isMoved = await refundOrder(deps, {
      transaction_id: transaction_id!,
      amount,
      with_fee: options['keep-fee'] !== true,
      key: `command line:${key ?? deps.clock().toISOString()}`,
      reason,
      actor_id,
      ip: 'command line',
    })
    return { amount, isMoved }
  })
  return {
    lines: [
      done.isMoved
        ? `The payer of ${transaction_id} has ${done.amount} ${counted(done.amount, 'point', 'points')} back.`
        : 'Nothing moved: this key was used before.',
    ],
    data: { transaction_id, amount: done.amount, is_moved: done.isMoved },
  }
}

/** The points of an order that were not refunded yet, so 0 when the whole order was. Throws not_found. */
async function amountLeft({ db }: Pick<Parts, 'db'>, transaction_id: string): Promise<bigint> {
  const order = await db
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .select(['amount', 'refunded_amount'])
    .executeTakeFirst()
  if (order === undefined) throw new AppError('not_found', `There is no order ${transaction_id}`)
  return order.amount - order.refunded_amount
}
