/** What clients do all the time, each one thing after the other, at any process. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Buyer } from '../../test/faults/world.ts'
import { gatewayText } from '../../test/harness/gateway-shop.ts'
import { merchantSign } from '../../test/harness/merchant.ts'
import type { Act } from './history.ts'
import { buyAtLink, keepShop } from './link-clients.ts'
import { payOut } from './payout-clients.ts'
import { REDIRECT_URI, type Seller, type Spare } from './people.ts'
import { makeRandom } from './plan.ts'
import { makeClient } from './recorder.ts'
import {
  ALONE,
  AMOUNT_MAX,
  asMember,
  form,
  json,
  REFUNDS,
  REPEATS,
  type Self,
  think,
  type World,
} from './self.ts'

const FEW_SESSIONS = 20
/** One in so many orders is wanted by a second member too, at the same time. */
const RIVALS = 0.08

export type Load = { stop(): void; ended: Promise<void> }

/** What the clients do, by turns. A keeper minds the links of one shop. */
const ACTS = [
  ...[buy, buyAtLink, payOut, send, relyOn],
  ...[buyAtLink, buy, buyAtLink, useSessions, keepShop],
] as const
export const CLIENTS_A_KEEPER = ACTS.length

/** Starts a client for each buyer. Half of them buy; the others send points, pay out, mind a shop, use tokens, end sessions. */
export function startClients(world: World): Load {
  let isOpen = true
  const loops = world.people.buyers.map(async (buyer, n) => {
    const random = makeRandom(world.seed * 1_000 + n)
    const client = makeClient(buyer.username, world)
    const self: Self = { ...world, buyer, client, random, n, count: 0 }
    const act = ACTS[n % ACTS.length]!
    await sleep(random.below(world.pace))
    while (isOpen) {
      self.count += 1
      await act(self)
    }
  })
  return {
    stop() {
      isOpen = false
    },
    ended: Promise.all(loops).then(() => {}),
  }
}

const signed = ({ token }: Seller, fields: Record<string, string>) => ({
  ...fields,
  signature: merchantSign(token, fields),
})
const signedMd5 = ({ merchant_key }: Seller, fields: Record<string, string>) => {
  const sign = createHash('md5')
    .update(gatewayText(fields) + merchant_key)
    .digest('hex')
  return { ...fields, sign, sign_type: 'MD5' }
}

async function buy(self: Self): Promise<void> {
  const { people, random, client, buyer } = self
  const seller = random.pick(people.sellers)
  const order_id = `${buyer.username}-${self.count}`
  const amount = 1 + random.below(AMOUNT_MAX)
  const order = { seller, order_id, amount }
  // A shop may send a request twice at once.
  const [placed] = await Promise.all([
    place(self, order),
    ...(random.chance(REPEATS) ? [place(self, order)] : []),
  ])
  await think(self)
  if (placed.outcome !== 'done') return
  const transaction = String(placed.told.transaction)
  if (random.chance(ALONE)) await look(self, order, transaction)
  const mine = pay(self, order, transaction, buyer)
  const rival = random.chance(RIVALS) ? random.pick(people.buyers) : buyer
  // The rival asks once, because it may not see an order that another member has paid.
  const theirs = rival === buyer ? undefined : pay(self, order, transaction, rival)
  const [paid] = await Promise.all([mine, theirs])
  await look(self, order, transaction)
  await think(self)
  if (random.chance(REPEATS)) await place(self, order)
  if (random.chance(REPEATS)) await pay(self, order, transaction, buyer)
  if (paid.outcome === 'done' && !seller.isGateway && rival === buyer && random.chance(REFUNDS)) {
    await refund(self, order, transaction, buyer)
    await look(self, order, transaction)
  }
  if (random.chance(ALONE)) await readWallet(self)
  await think(self)
  await client.ask({ ...lookOf(order, transaction), asked: { shop: seller.name } })
}

type Order = { seller: Seller; order_id: string; amount: number }

async function place({ client, merchants }: Self, { seller, order_id, amount }: Order): Promise<Act> {
  const subject = `${seller.name}/${order_id}`
  const asked = { shop: seller.name, amount }
  if (seller.isGateway) {
    const fields = {
      pid: String(seller.pid),
      type: 'alipay',
      out_trade_no: order_id,
      name: 'Mug',
      money: (amount / 100).toFixed(2),
      notify_url: seller.notify_url,
    }
    return client.insist({
      kind: 'place',
      subject,
      asked,
      path: '/payment/api/mapi.php',
      init: form(signedMd5(seller, fields)),
      read: json(({ code, payurl }) => {
        if (code !== 1) return { outcome: 'refused' }
        const transaction = new URL(String(payurl)).pathname.split('/').at(-1)!
        merchants.trades.set(subject, transaction)
        return { outcome: 'done', told: { transaction } }
      }),
    })
  }
  return client.insist({
    kind: 'place',
    subject,
    asked,
    path: `/payment/pay/${seller.payment_id}/process`,
    init: form(signed(seller, { amount: String(amount), description: 'Tea', order_id })),
    read: json(({ success, transaction_id, status, data }) => {
      const known = (success ? { transaction_id, status } : data) as Record<string, string> | null
      const told =
        known?.transaction_id === undefined
          ? {}
          : { transaction: known.transaction_id, status: String(known.status) }
      return { outcome: success === true ? 'done' : 'refused', told }
    }),
  })
}

function pay({ client }: Self, { seller, amount }: Order, transaction: string, payer: Buyer): Promise<Act> {
  return client.insist({
    kind: 'pay',
    subject: transaction,
    asked: {
      shop: seller.name,
      payer: payer.username,
      payee: seller.owner.username,
      amount,
      told: 1,
    },
    path: `/payment/pay/${transaction}`,
    init: form({ form_token: payer.form_token, expected_amount: String(amount) }, asMember(payer.session)),
    read: ({ status, location }) => ({
      // A payment leads to the shop, with the facts of the payment.
      outcome: status === 303 && /[?&](transaction_id|trade_no)=/.test(location) ? 'done' : 'refused',
    }),
  })
}

const lookOf = ({ seller, order_id, amount }: Order, transaction: string) => ({
  kind: 'look' as const,
  subject: transaction,
  asked: { shop: seller.name },
  path: seller.isGateway ? '/payment/api/api.php' : `/payment/query/${seller.payment_id}`,
  init: seller.isGateway
    ? form({ act: 'order', pid: String(seller.pid), key: seller.merchant_key, out_trade_no: order_id })
    : form(signed(seller, { transaction_id: transaction })),
  read: json((body) => {
    if (seller.isGateway) {
      if (body.code !== 1) return { outcome: 'refused' }
      const isPaid = body.status === 1
      const paid = { paid_at: String(body.endtime), buyer: String(body.buyer), amount }
      return { outcome: 'done', told: { status: isPaid ? 'completed' : 'pending', ...(isPaid && paid) } }
    }
    if (body.success !== true) return { outcome: 'refused' }
    const told = { status: String(body.status), amount: Number(body.amount) }
    const isPaid = typeof body.paid_at === 'string'
    return {
      outcome: 'done',
      told: { ...told, ...(isPaid && { paid_at: String(body.paid_at), fee: Number(body.platform_fee) }) },
    }
  }),
})

const look = ({ client }: Self, order: Order, transaction: string): Promise<Act> =>
  client.insist(lookOf(order, transaction))

export function refund(
  self: Self,
  { seller, amount }: Pick<Order, 'seller' | 'amount'>,
  transaction: string,
  payer: Buyer,
): Promise<Act> {
  const { admin } = self.people
  return self.client.insist({
    kind: 'refund',
    subject: transaction,
    asked: { shop: seller.name, payer: payer.username, payee: seller.owner.username, amount },
    path: '/admin/adjustments',
    init: form(
      {
        form_token: admin.form_token,
        kind: 'refund',
        transaction_id: transaction,
        amount: String(amount),
        with_fee: 'on',
        reason: 'Broken cup',
        // Of the length that the page gives its keys.
        key: `refund-${transaction}`.padEnd(43, '-'),
      },
      asMember(admin.session),
    ),
    read: ({ status, location }) => ({
      outcome: status === 303 && location.includes(transaction) ? 'done' : 'refused',
    }),
  })
}

/** The first figure of the page is the balance. */
const BALANCE = /<div class="stat wide-s"><span>[^<]*<\/span><b>([\d, {2}.]+)/

function readWallet({ client, buyer }: Self): Promise<Act> {
  return client.insist({
    kind: 'balance',
    subject: buyer.username,
    asked: {},
    path: '/account',
    init: { headers: asMember(buyer.session) },
    read: ({ status, text }) => {
      // A long amount may break after its commas, at spaces of no width.
      const [, points] = BALANCE.exec(text.replaceAll('\u200B', '')) ?? []
      if (status !== 200 || points === undefined) return { outcome: 'refused' }
      return { outcome: 'done', told: { points: Number(points.replace(/\D/g, '')) } }
    },
  })
}

export function readTakings({ client }: Self, seller: Seller): Promise<Act> {
  return client.insist({
    kind: 'balance',
    subject: seller.owner.username,
    asked: { shop: seller.name },
    path: '/payment/api/api.php',
    init: form({ act: 'query', pid: String(seller.pid), key: seller.merchant_key }),
    // A unit of money is 100 points.
    read: json(({ code, money }) =>
      code === 1
        ? { outcome: 'done', told: { points: Number(String(money).replace('.', '')) } }
        : { outcome: 'refused' },
    ),
  })
}

async function send(self: Self): Promise<void> {
  const { people, random, client, buyer } = self
  const seller = random.pick(people.sellers)
  const recipient = random.pick(people.buyers)
  const order_id = `${buyer.username}-${self.count}`
  const amount = 1 + random.below(AMOUNT_MAX)
  const fields = {
    to_user_id: String(recipient.id),
    to_username: recipient.username,
    amount: String(amount),
    order_id,
  }
  const transfer = () =>
    client.insist({
      kind: 'transfer',
      subject: `${seller.name}/${order_id}`,
      asked: { shop: seller.name, sender: seller.owner.username, recipient: recipient.username, amount },
      path: `/payment/transfer/${seller.payment_id}`,
      init: form(signed(seller, fields)),
      read: json(({ success, transaction_id, paid_at, amount, fee }) =>
        success === true
          ? {
              outcome: 'done',
              told: {
                transaction: String(transaction_id),
                paid_at: String(paid_at),
                amount: Number(amount),
                fee: Number(fee),
              },
            }
          : { outcome: 'refused' },
      ),
    })
  await Promise.all([transfer(), ...(random.chance(REPEATS) ? [transfer()] : [])])
  await think(self)
  if (random.chance(REPEATS)) await transfer()
  if (random.chance(ALONE)) await readTakings(self, seller)
  await think(self)
}

const short = (secret: unknown) => String(secret).slice(-10)

/** An application that signs the member in, refreshes, and revokes in the end. */
async function relyOn(self: Self): Promise<void> {
  const { client, buyer, random, people } = self
  const code = await authorize(self)
  await think(self)
  if (code === undefined) return
  const family = short(code)
  const ask = (kind: 'exchange' | 'refresh' | 'revoke', subject: string, fields: Record<string, string>) => {
    // The tokens themselves are not part of the history.
    let tokens: { access_token: string; refresh_token: string } | undefined
    const path = kind === 'revoke' ? '/oauth2/revoke' : '/oauth2/token'
    return client
      .insist({
        kind,
        subject,
        asked: { family },
        path,
        init: form(fields, { authorization: people.app.authorization }),
        read: json((body, { status }) => {
          if (status !== 200) return { outcome: 'refused', told: { error: String(body.error) } }
          if (kind === 'revoke') return { outcome: 'done' }
          tokens = body as typeof tokens
          return {
            outcome: 'done',
            told: { access: short(tokens!.access_token), refresh: short(tokens!.refresh_token) },
          }
        }),
      })
      .then(() => tokens)
  }
  const use = (access_token: string) =>
    client.insist({
      kind: 'use',
      subject: short(access_token),
      asked: { family },
      path: '/oauth2/userinfo',
      init: { headers: { authorization: `Bearer ${access_token}` } },
      read: json(({ username }, { status }) => ({
        outcome: status === 200 && username === buyer.username ? 'done' : 'refused',
      })),
    })
  const first = await ask('exchange', family, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
  })
  if (first === undefined) return
  await use(first.access_token)
  await think(self)
  const { refresh_token } = first
  const second = await ask('refresh', short(refresh_token), { grant_type: 'refresh_token', refresh_token })
  await use((second ?? first).access_token)
  await think(self)
  const last = second ?? first
  const isAlone = random.chance(ALONE)
  const token = isAlone ? last.access_token : last.refresh_token
  await ask('revoke', isAlone ? short(token) : family, { token })
  await use(last.access_token)
  await think(self)
  await use(last.access_token)
}

async function authorize({ client, buyer, people, url }: Self): Promise<string | undefined> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: people.app.client_id,
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile',
    state: client.name,
  })
  try {
    const answer = await fetch(`${url}/oauth2/auth?${query}`, {
      redirect: 'manual',
      headers: asMember(buyer.session),
      signal: AbortSignal.timeout(10_000),
    })
    await answer.text()
    return new URL(answer.headers.get('location') ?? '', url).searchParams.get('code') ?? undefined
  } catch {
    return undefined
  }
}

const spares = new WeakMap<Self, Spare[]>()

/** A browser that signs out, and whose cookie is tried again. */
async function useSessions(self: Self): Promise<void> {
  const { client, buyer, withDatabase, people } = self
  const left = spares.get(self) ?? []
  spares.set(self, left)
  if (left.length === 0) {
    const made = await withDatabase((db) => people.spareSessions(db, buyer, FEW_SESSIONS)).catch(() => [])
    left.push(...made)
    await think(self)
    return
  }
  const { name, cookie, form_token } = left.pop()!
  const headers = { accept: 'text/html', cookie }
  const visit = () =>
    client.insist({
      kind: 'visit',
      subject: name,
      asked: {},
      path: '/account/sessions',
      init: { headers },
      read: ({ status }) => ({ outcome: status === 200 ? 'done' : 'refused' }),
    })
  await visit()
  await think(self)
  await client.insist({
    kind: 'sign-out',
    subject: name,
    asked: {},
    path: '/sign-out',
    init: form({ form_token }, headers),
    read: ({ status }) => ({ outcome: status === 303 ? 'done' : 'refused' }),
  })
  await visit()
  await think(self)
}
