/** A member's statement and payments: searched, and paged while new ones arrive. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { statementOf } from '../../src/ledger/wallet.ts'
import { ordersOfPayer } from '../../src/payment/buyer/payments.page.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { setRows } from '../harness/rows.ts'

let count = 0

const test = await useTestApp()
const merchant = await makeMerchant(test)

const order = (description: string, amount = '10') =>
  placeOrder(merchant, { amount, description, order_id: `buyer-${++count}` })

async function pay(person: Person, description: string, amount = '10') {
  const made = await order(description, amount)
  await payOrder(test, made, person)
  return made
}

/** The rows of the statement, without what only phones or screen readers get. */
const rowsOf = (body: string) =>
  [...body.matchAll(/<tr role="row">\s*<td role="cell" class="picture">([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    textOf(row!.replace(/<span class="(hush|phone)">[\s\S]*?<\/span>/g, '')),
  )
/** The orders of the page, each with its description and its state, or the act that it waits for. */
const ordersOn = (body: string) =>
  [
    ...body.matchAll(/<bdi>([^<]*)<\/bdi><\/a>[\s\S]*?class="(?:badge[^"]*|button small)"[^>]*>([^<]*)</g),
  ].map(([, ...said]) => said)
const olderIn = (body: string) =>
  /class="button" href="([^"]*before=\d+[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')

describe('my payments', () => {
  it('shows the reader’s opened and paid orders with their state', async () => {
    const [alice, other] = [
      await makePerson(test, { points: 500n }),
      await makePerson(test, { points: 500n }),
    ]
    const client = await alice.signIn()
    const open = async (description: string) => {
      const made = await order(description)
      await client.get(`/payment/pay/${made.transaction_id}`)
      return made
    }
    await pay(other, 'Not for her')
    await pay(alice, 'Paid thing')
    await refund(test, await pay(alice, 'Torn thing'), 10n)
    await refund(test, await pay(alice, 'Half torn thing'), 5n)
    const late = await open('Late thing')
    await setRows(test, 'orders', { transaction_id: late.transaction_id }, { expires_at: test.clock.now() })
    const closed = await open('Closed thing')
    await setRows(test, 'orders', { transaction_id: closed.transaction_id }, { status: 'closed' })
    const lost = await open('Lost thing')
    await payOrder(test, lost, other)
    const unpaid = await open('Open thing')
    await client.get(`/payment/pay/${unpaid.transaction_id}`)

    const page = await client.get('/account/payments')
    const { fates, groups, payNow } = messages.en.payments
    expect(ordersOn(page.body)).toEqual([
      ['Open thing', payNow],
      ['Lost thing', fates.paidByOther],
      ['Closed thing', fates.closed],
      ['Late thing', fates.expired],
      ['Half torn thing', fates.partlyRefunded],
      ['Torn thing', fates.refunded],
      ['Paid thing', fates.paid],
    ])
    expect(page.body.split(`href="/payment/pay/${unpaid.transaction_id}"`)).toHaveLength(3)
    for (const [group, names] of [
      ['open', ['Open thing']],
      ['paid', ['Paid thing']],
      ['refunded', ['Half torn thing', 'Torn thing']],
      ['ended', ['Lost thing', 'Closed thing', 'Late thing']],
    ] as const) {
      expect(textOf(page.body)).toContain(`${groups[group]} ${names.length} `)
      const filtered = await client.get(`/account/payments?state=${group}`)
      expect(ordersOn(filtered.body).map(([name]) => name)).toEqual(names)
    }
    const stranger = await (await makePerson(test)).signIn()
    expect((await stranger.get('/account/payments')).body).toContain(messages.en.payments.empty)
  })

  it('finds by name, shop, number and amount, and takes signs literally', async () => {
    const alice = await makePerson(test, { points: 5_000n })
    const client = await alice.signIn()
    const made = await pay(alice, '贴纸 100% cotton', '777')
    await pay(alice, 'Anything else', '11')
    const found = async (q: string) =>
      ordersOn((await client.get(`/account/payments?${new URLSearchParams({ q })}`)).body).length
    expect(
      await Promise.all(['贴纸', 'COTTON', '100%', '777', made.order_id, made.transaction_id].map(found)),
    ).toEqual([1, 1, 1, 1, 1, 1])
    expect(await Promise.all([merchant.owner.username, '%', '__', '', '\\'].map(found))).toEqual([
      2, 1, 0, 2, 0,
    ])
  })
})

it('groups my payments by the days of their orders, for a phone, each day once', async () => {
  const alice = await makePerson(test, { points: 500n })
  const earlier = new Date(test.clock.now().getTime() - 86_400_000)
  const made = await pay(alice, 'Of an earlier day')
  await setRows(
    test,
    'orders',
    { transaction_id: made.transaction_id },
    { created_at: earlier, paid_at: earlier },
  )
  const late = await pay(alice, 'Paid a day later')
  await setRows(test, 'orders', { transaction_id: late.transaction_id }, { created_at: earlier })
  for (const name of ['Of today', 'Of today, too']) await pay(alice, name)
  const { body } = await (await alice.signIn()).get('/account/payments')
  const days = [...body.matchAll(/<tr role="row" class="phone day">([\s\S]*?)<\/tr>/g)]
  expect(days.map(([, day]) => textOf(day!))).toEqual(['Today', 'Yesterday'])
  // The time of a payment on another day names that day.
  const times = [...body.matchAll(/<span class="phone"><bdi>[^<]*<\/bdi>([\s\S]*?)<\/time>/g)]
  expect(times.map(([, time]) => /today/i.test(textOf(time!)))).toEqual([false, false, true, false])
})

it('limits my payments to a time: of the payment, or of the creation of an unpaid order', async () => {
  const alice = await makePerson(test, { points: 500n })
  const dated = async (description: string, day: string) => {
    const { transaction_id } = await pay(alice, description)
    const [created_at, paid_at] = [new Date(`${day}T01:00:00Z`), new Date(`${day}T16:30:00Z`)]
    const set = { created_at, paid_at, expires_at: paid_at }
    await setRows(test, 'orders', { transaction_id }, set)
  }
  await dated('Late on the first', '2025-03-01')
  await dated('Late on the third', '2025-03-03')
  await pay(alice, 'Of today')
  const client = await alice.signIn()
  const found = async (asked: Record<string, string>) =>
    ordersOn((await client.get(`/account/payments?${new URLSearchParams(asked)}`)).body).map(([what]) => what)
  // Half past midnight in China, of the next day.
  expect(await found({ from: '2025-03-02', until: '2025-03-02' })).toEqual(['Late on the first'])
  expect(await found({ until: '2025-03-01' })).toEqual([])
  expect(await found({ until: '2025-03-04', q: 'third' })).toEqual(['Late on the third'])
  expect(await found({ period: 'today' })).toEqual(['Of today'])
  expect(await found({ period: 'ever' })).toHaveLength(3)
  const { body } = await client.get('/account/payments?period=week')
  expect(body).toContain(`<option value="week" selected>${messages.en.periods.names.week}</option>`)
  expect((await client.get('/account/payments?until=2025-01-01')).body).toContain(messages.en.lists.nothing)
})

describe('the statement', () => {
  it('names each movement, finds it, and leads a payer to receipts', async () => {
    const alice = await makePerson(test, { points: 5_000n })
    const client = await alice.signIn()
    const made = await pay(alice, 'A kettle', '300')
    await refund(test, made, 120n, { reason: 'Lid missing' })
    await merchant.transfer({ ...recipientFields(alice), amount: '7', order_id: `gift-${++count}` })
    const page = await client.get('/account')
    const lines = rowsOf(page.body).map((line) => line.replace(/ today \d\d:\d\d/, ''))
    const shop = `Shop of ${merchant.owner.username}`
    const { words, fromMember, toMember } = messages.en.account
    expect(lines).toEqual([
      `S ${fromMember(merchant.owner.username)} ${shop} ${words.received} +7 4,827`,
      `S A kettle ${shop} · Lid missing ${words.partialRefund} +120 4,820`,
      `S A kettle ${shop} ${words.payment} −300 4,700`,
      `test ${words.grant} +5,000 5,000`,
    ])
    expect(page.body.split(`href="/payment/pay/${made.transaction_id}"`)).toHaveLength(3)
    const found = async (asked: Record<string, string>) =>
      rowsOf((await client.get(`/account?${new URLSearchParams(asked)}`)).body).length
    expect(await found({ q: 'kettle' })).toBe(2)
    expect(await found({ q: 'kettle', kind: 'refund' })).toBe(1)
    // Zeros before it, because a reference of random digits may hold 300.
    expect(await found({ q: '0000000000000300' })).toBe(1)
    expect(await found({ kind: 'grant' })).toBe(1)
    expect(await found({ kind: 'nonsense', before: 'x' })).toBe(4)
    expect(await found({ q: 'teapot' })).toBe(0)
    // The merchant sees the same movement from the other side, and is led to the order instead of the receipt.
    const ofSeller = await merchant.owner.signIn()
    expect(rowsOf((await ofSeller.get('/account?kind=transfer')).body)[0]).toContain(toMember(alice.username))
    const seller = await ofSeller.get('/account?q=kettle')
    expect(rowsOf(seller.body)).toHaveLength(2)
    expect(seller.body).not.toContain(`/payment/pay/${made.transaction_id}`)
    expect(seller.body).toContain(
      `href="/payment/applications/${merchant.payment_id}/orders/${made.transaction_id}"`,
    )
  })

  it('is paged by the last row: new payments shift nothing', async () => {
    const alice = await makePerson(test, { points: 5_000n })
    const client = await alice.signIn()
    for (let i = 1; i <= 30; i += 1) await pay(alice, `Thing ${i}`)
    for (const path of ['/account', '/account/payments']) {
      const first = await client.get(path)
      await pay(alice, 'Meanwhile')
      const second = await client.get(olderIn(first.body)!)
      const things = [first, second].flatMap(({ body }) =>
        [...body.matchAll(/Thing (\d+)/g)].map(([, n]) => Number(n)),
      )
      expect(things).toEqual(Array.from({ length: 30 }, (_, i) => 30 - i))
      expect(olderIn(second.body)).toBeUndefined()
      expect(second.body).toContain(messages.en.lists.newest)
    }
  })

  it('reads a bounded number of movements, and continues from there', async () => {
    const alice = await makePerson(test, { points: 5_000n })
    await pay(alice, 'A needle')
    const client = await alice.signIn()
    await sql`
      with made as (
        insert into journal (book, kind, reference, reason, posted_at)
        select 'live', 'adjustment', 'hay:' || i, 'hay', ${test.clock.now()} from generate_series(1, 1200) as i returning id
      )
      insert into entries (journal_id, book, account_id, amount)
      select made.id, 'live', account.id, case account.kind when 'wallet' then 1 else -1 end
      from made cross join ledger_accounts as account
      where account.book = 'live' and (account.kind = 'issuance' or account.user_id = ${alice.id})`.execute(
      test.db,
    )
    const first = await client.get('/account?q=needle')
    expect(first.body).toContain(messages.en.lists.nothingYet)
    expect(first.body).toContain(messages.en.lists.lookedBackTo)
    const second = await client.get(olderIn(first.body)!)
    expect(rowsOf(second.body)).toHaveLength(1)
    expect(olderIn(second.body)).toBeUndefined()
    const page = await statementOf(test.db, alice.id, { text: 'hay' })
    expect(page).toMatchObject({ rows: { length: 25 }, looked_back_to: undefined })
    expect(await ordersOfPayer(test.db, alice.id, { text: 'needle', now: test.clock.now() })).toMatchObject({
      rows: { length: 1 },
    })
  })
})
