/** Prepares and signs the requests of the bench before the measurement starts. */

import type { Payment } from '../../src/payment/orders/pay.ts'
import type { TransferRequest } from '../../src/payment/orders/transfers.ts'
import { sign, stringToSign } from '../../src/payment/signing/hmac.ts'
import type { Request } from '../driver.ts'
import type { Acts } from './in-process.ts'
import { type Member, makeOrders, newOrderId, type Shop, type World } from './world.ts'

const AMOUNT_MAX = 100
const DESCRIPTION = 'Something of the shop'

/** The same acts as requests for a server, and as calls of the batch functions. */
export type Work = { requests: Request[]; status: number; acts?: Acts }

/** The parties of the acts. Each act takes a random shop and a random member. */
export type Parties = { shops: Shop[]; members: Member[] }

const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]!
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
const randomAmount = () => 1 + Math.floor(Math.random() * AMOUNT_MAX)
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

function signed(path: string, { secret_key }: Shop, fields: Record<string, string>): Request {
  const signature = sign(secret_key, stringToSign(fields))
  return { method: 'POST', path, body: form({ ...fields, signature }) }
}

export function transfers(count: number, { shops, members }: Parties): Work {
  const acts = times(count, () => {
    const shop = pick(shops)
    const { id, username } = pick(members)
    const [order_id, amount] = [newOrderId(), randomAmount()]
    const fields = { to_user_id: String(id), to_username: username, amount: String(amount), order_id }
    const request = signed(`/payment/transfer/${shop.payment_id}`, shop, fields)
    const item = {
      app_id: shop.app_id,
      order_id,
      to_user_id: id,
      to_username: username,
      amount: BigInt(amount),
    }
    return { request, item: item satisfies TransferRequest }
  })
  return {
    requests: acts.map(({ request }) => request),
    status: 200,
    acts: { act: 'transfer', items: acts.map(({ item }) => item) },
  }
}

export function charges(count: number, { shops, mandates }: Pick<World, 'shops' | 'mandates'>): Work {
  const requests = times(count, () => {
    const { mandate_id, shop } = pick(mandates)
    const fields = {
      mandate_id,
      order_id: newOrderId(),
      amount: String(randomAmount()),
      description: DESCRIPTION,
    }
    return signed(`/payment/mandate/${shops[shop]!.payment_id}/charge`, shops[shop]!, fields)
  })
  return { requests, status: 200 }
}

export async function payments(world: World, count: number, { shops, members }: Parties): Promise<Work> {
  const orders = await makeOrders(
    world,
    times(count, () => pick(shops)),
  )
  const acts = orders.map(({ transaction_id, amount }) => {
    const { id, session, form_token } = pick(members)
    const request: Request = {
      method: 'POST',
      path: `/payment/pay/${transaction_id}`,
      headers: {
        accept: 'text/html',
        cookie: `tessera_session=${session}`,
        'sec-fetch-site': 'same-origin',
      },
      body: form({ form_token, expected_amount: String(amount) }),
    }
    const item: Payment = { transaction_id, payer_id: id, expected_amount: amount }
    return { request, item }
  })
  return {
    requests: acts.map(({ request }) => request),
    status: 303,
    acts: { act: 'pay', items: acts.map(({ item }) => item) },
  }
}

export function initiations(count: number, { shops }: Pick<Parties, 'shops'>): Work {
  const requests = times(count, () => {
    const shop = pick(shops)
    const fields = { amount: String(randomAmount()), description: DESCRIPTION, order_id: newOrderId() }
    return signed(`/payment/pay/${shop.payment_id}/process`, shop, fields)
  })
  return { requests, status: 200 }
}

export async function queries(world: World, count: number, { shops }: Pick<Parties, 'shops'>): Promise<Work> {
  const asked = times(count, () => pick(shops))
  const orders = await makeOrders(world, asked)
  const requests = orders.map(({ transaction_id }, n) =>
    signed(`/payment/query/${asked[n]!.payment_id}`, asked[n]!, { transaction_id }),
  )
  return { requests, status: 200 }
}

export function bareInserts(count: number): Work {
  const requests = times(count, () => ({
    method: 'POST' as const,
    path: '/orders',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order_id: newOrderId(), description: DESCRIPTION, amount: randomAmount() }),
  }))
  return { requests, status: 200 }
}

export async function bareSelects(
  world: World,
  count: number,
  { shops }: Pick<Parties, 'shops'>,
): Promise<Work> {
  const orders = await makeOrders(
    world,
    times(count, () => pick(shops)),
  )
  const requests = orders.map(({ transaction_id }) => ({
    method: 'GET' as const,
    path: `/orders/${transaction_id}`,
  }))
  return { requests, status: 200 }
}
