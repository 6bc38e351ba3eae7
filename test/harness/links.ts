/** Payment links in tests: made and published by their owner, and bought past the pages. */
import { randomUUID } from 'node:crypto'
import type { Core } from '../../src/core/core.ts'
import { changeLink, createLink, type LinkDetails } from '../../src/payment/links/acts.ts'
import { addCodes } from '../../src/payment/links/codes.ts'
import { placeLinkOrder } from '../../src/payment/links/place.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import type { Person } from './cast.ts'
import type { TestApp } from './harness.ts'
import type { Merchant } from './merchant.ts'

export const IP = '203.0.113.7'
export const ownerOf = ({ owner }: Pick<Merchant, 'owner'>) => ({ user_id: owner.id, ip: IP })

/** What a link sells: one thing for 10 points, without limits, unless the test says otherwise. */
export const details = (over: Partial<LinkDetails> = {}): LinkDetails => ({
  ...{ title: 'Cat stickers', description: '', thanks: '' },
  ...{ amount: 10n, amount_min: null, amount_max: null, suggestions: [] },
  ...{ quantity_max: 1, stock: null, member_max: null, sells_from: null, sells_until: null },
  ...{
    min_level: 0,
    allow_groups: [],
    delivery: 'none',
    delivered: '',
    shows_stock: true,
    low_stock: 5,
    messages: 'off',
    sale_alerts: 'off',
  },
  ...over,
})

/** The form of a link as its team sends it, unless the test says otherwise. */
export const linkFields = (over: Record<string, string> = {}): Record<string, string> => ({
  ...{ title: 'Cat stickers', description: '', thanks: '', price: 'fixed', amount: '10', quantity_max: '1' },
  ...{
    amount_min: '',
    amount_max: '',
    suggestions: '',
    delivery: 'none',
    delivered_text: '',
    delivered_url: '',
  },
  ...{
    stock: '',
    member_max: '',
    sells_from: '',
    sells_until: '',
    min_level: '0',
    allow_groups: '',
    low_stock: '5',
    messages: 'off',
    sale_alerts: 'off',
  },
  ...over,
})

export type TestLink = { slug: string; merchant: Merchant }

/** Makes a link that is on sale. `codes` become its delivery. */
export async function makeLink(
  { deps }: Pick<TestApp, 'deps'>,
  merchant: Merchant,
  { codes, ...over }: Partial<LinkDetails> & { codes?: string[] } = {},
): Promise<TestLink> {
  const { payment_id } = merchant
  const actor = ownerOf(merchant)
  const selling = details({ ...(codes !== undefined && { delivery: 'codes' }), ...over })
  const slug = await createLink(deps, payment_id, selling, actor)
  if (codes !== undefined) await addCodes(deps, payment_id, { slug, file: codes.join('\n') }, actor)
  await changeLink(deps, payment_id, { slug, change: 'publish' }, actor)
  return { slug, merchant }
}

/** Orders at a link as its form does. Returns the refusal or the order's transaction_id. */
export async function orderAt(
  deps: Core,
  { slug, merchant }: TestLink,
  { id: user_id }: Pick<Person, 'id'>,
  {
    units = 1,
    amount,
    key = randomUUID(),
    said,
  }: { units?: number; amount?: bigint; key?: string; said?: { name: string; message: string } } = {},
): Promise<string> {
  const link = { slug, book: 'live', applicant_id: merchant.owner.id } as const
  const placed = await placeLinkOrder(deps, { link, user_id, units, amount, said, key })
  return placed.refusal ?? placed.transaction_id
}

/** Orders at a link and pays. Returns the outcome of the payment. */
export async function buyAt(
  deps: Core,
  link: TestLink,
  person: Pick<Person, 'id'>,
  units = 1,
  chosen?: bigint,
): Promise<{ outcome: string; transaction_id: string }> {
  const order = chosen === undefined ? { units } : { units, amount: chosen }
  const transaction_id = await orderAt(deps, link, person, order)
  if (!transaction_id.startsWith('txn_')) return { outcome: transaction_id, transaction_id }
  const { amount } = await deps.db
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .select('amount')
    .executeTakeFirstOrThrow()
  const payment = { transaction_id, payer_id: person.id, expected_amount: amount }
  return { outcome: await makePayOrder(deps)(payment), transaction_id }
}
