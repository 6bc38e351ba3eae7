/** What a team learns of its links without looking: alerts of the stock and of a stop, and signed events of sales. spec/links 3.5, 4.6 and 4.7. */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { mailContext } from '../../../src/accounts/people/email.ts'
import { setEventsUrl } from '../../../src/payment/events/events.ts'
import { LinkEvent } from '../../../src/payment/events/shapes.ts'
import { findEvents, signedEvent } from '../../../src/payment/events/webhook.ts'
import { changeLink, editLink, stopLink } from '../../../src/payment/links/acts.ts'
import { addCodes } from '../../../src/payment/links/codes.ts'
import { tellOfSales, tellOfStock } from '../../../src/payment/links/notices.ts'
import { mailReceipts } from '../../../src/payment/links/receipts.ts'
import { expireOrders } from '../../../src/payment/orders/orders.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { dayIn } from '../../../src/web/periods/days.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, makePerson } from '../../harness/cast.ts'
import { anotherProcess, setSetting, useTestApp } from '../../harness/harness.ts'
import { buyAt, details, IP, makeLink, orderAt, ownerOf } from '../../harness/links.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { startReceiver } from '../../harness/notify-receiver.ts'
import { refund } from '../../harness/orders.ts'
import { rowsOf } from '../../harness/rows.ts'
import { until } from '../../harness/waiting.ts'

const receiver = await startReceiver()
const test = await useTestApp({
  ...{ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8', SMTP_URL: 'smtp://127.0.0.1:9', SMTP_FROM: 'no-reply@example.org' },
})
test.startNotifier()
const { deps } = test
await setSetting(test, 'limit_links_created', '0')
await setSetting(test, 'limit_link_orders', '0')
const elsewhere = await anotherProcess(test)
const alice = await makePerson(test, { points: 10_000n })
const staff = await makePerson(test, { is_admin: true })
afterAll(async () => {
  await expectSoundBooks(test.db)
  await elsewhere.close()
  await receiver.close()
})

const alertsOf = async ({ id: app_id }: Pick<Merchant, 'id'>) =>
  (await rowsOf(test, 'alerts', { app_id })).filter(({ kind }) => kind.startsWith('link_'))

describe('the stock of a link', () => {
  it('raises one alert for each fall to its bound and to nothing, from two workers at once', async () => {
    const merchant = await makeMerchant(test)
    const { payment_id } = merchant
    const link = await makeLink(test, merchant, {
      codes: ['a', 'b', 'c', 'd'],
      low_stock: 2,
      quantity_max: 3,
    })
    const told = async () => {
      test.clock.advance(1_000)
      await Promise.all([tellOfStock(deps), tellOfStock(elsewhere.deps)])
      return (await alertsOf(merchant)).map(({ kind }) => kind)
    }
    expect(await told()).toEqual([])
    await buyAt(deps, link, alice)
    expect(await told()).toEqual([])
    await buyAt(deps, link, alice)
    expect(await told()).toEqual(['link_low'])
    expect(await told()).toEqual(['link_low'])
    await buyAt(deps, link, alice, 2)
    expect(await told()).toEqual(['link_low', 'link_sold_out'])
    // One more code is no rise above the bound, so its sale is a fall to nothing alone.
    await addCodes(deps, payment_id, { slug: link.slug, file: 'e' }, ownerOf(merchant))
    expect(await told()).toEqual(['link_low', 'link_sold_out'])
    await buyAt(deps, link, alice)
    expect(await told()).toEqual(['link_low', 'link_sold_out', 'link_sold_out'])
    await addCodes(deps, payment_id, { slug: link.slug, file: 'f\ng\nh' }, ownerOf(merchant))
    expect(await told()).toHaveLength(3)
    await buyAt(deps, link, alice)
    expect((await told()).at(-1)).toBe('link_low')
    const [first] = await alertsOf(merchant)
    expect(first).toMatchObject({
      user_id: merchant.owner.id,
      facts: { link: link.slug, title: 'Cat stickers', left: '2' },
    })
    const page = await (await merchant.owner.signIn()).get('/account/alerts')
    expect(page.body).toContain(`/payment/applications/${payment_id}/links/${link.slug}`)
    expect(page.body).toContain(messages.en.alerts.mails.link_sold_out(first!.facts as never).subject)
  })

  it('raises one too where it lies at the bound or at nothing from the start', async () => {
    const merchant = await makeMerchant(test)
    await makeLink(test, merchant, { stock: 5 })
    await makeLink(test, merchant, { codes: [] })
    for (let n = 0; n < 2; n += 1) {
      await tellOfStock(deps)
      const told = (await alertsOf(merchant)).map(({ kind, facts }) => [kind, facts.left])
      expect(told.sort()).toEqual([
        ['link_low', '5'],
        ['link_sold_out', '0'],
      ])
    }
  })

  it('raises none without a limit, above its bound, and while the link is paused', async () => {
    const merchant = await makeMerchant(test)
    await makeLink(test, merchant, { stock: 6 })
    const paused = await makeLink(test, merchant, { stock: 1 })
    await changeLink(deps, merchant.payment_id, { slug: paused.slug, change: 'pause' }, ownerOf(merchant))
    const endless = await makeLink(test, merchant)
    await buyAt(deps, endless, alice)
    await tellOfStock(deps)
    expect(await alertsOf(merchant)).toEqual([])
  })

  it('has a bound of its own, which an edit changes', async () => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant, { stock: 10 })
    await buyAt(deps, link, alice)
    await tellOfStock(deps)
    expect(await alertsOf(merchant)).toEqual([])
    const edited = { slug: link.slug, details: details({ stock: 10, low_stock: 9 }) }
    await editLink(deps, merchant.payment_id, edited, ownerOf(merchant))
    await tellOfStock(deps)
    expect((await alertsOf(merchant)).map(({ kind }) => kind)).toEqual(['link_low'])
  })
})

describe('the sales of a link', () => {
  const DAY_MS = 86_400_000
  const told = async (merchant: Merchant) => {
    await Promise.all([tellOfSales(deps), tellOfSales(elsewhere.deps)])
    return (await alertsOf(merchant)).map(({ kind, facts }) => ({ kind, ...facts }))
  }

  it('raise one alert for all since the last look, from two workers at once', async () => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant, { sale_alerts: 'each', quantity_max: 2 })
    await orderAt(deps, link, alice)
    expect(await told(merchant)).toEqual([])
    await buyAt(deps, link, alice, 2)
    await buyAt(deps, link, alice)
    const first = {
      ...{ kind: 'link_sold', app: expect.any(String), link: link.slug, title: 'Cat stickers' },
      ...{ orders: '2', units: '3', points: '30' },
    }
    expect(await told(merchant)).toEqual([first])
    expect(await told(merchant)).toEqual([first])
    await buyAt(deps, link, alice)
    const second = { ...first, orders: '1', units: '1', points: '10' }
    expect(await told(merchant)).toEqual([first, second])
    const page = await (await merchant.owner.signIn()).get('/account/alerts')
    expect(page.body).toContain(`/payment/applications/${merchant.payment_id}/links/${link.slug}/sales`)
    expect(page.body).toContain(messages.en.alerts.mails.link_sold(second).subject)
    expect(page.body).not.toContain(alice.username)
  })

  it('of a day raise one alert when it is over, as that of tips', async () => {
    const merchant = await makeMerchant(test)
    const free = { amount: null, amount_min: 1n, amount_max: 50n }
    const jar = await makeLink(test, merchant, { sale_alerts: 'daily', ...free })
    const day = () => dayIn('Asia/Shanghai', test.clock.now())
    const yesterday = day()
    for (const points of [5n, 20n]) await buyAt(deps, jar, alice, 1, points)
    expect(await told(merchant)).toEqual([])
    test.clock.advance(DAY_MS)
    const today = day()
    await buyAt(deps, jar, alice, 1, 7n)
    const first = { kind: 'link_sold', day: yesterday, orders: '2', units: '2', points: '25', tip: 'yes' }
    expect(await told(merchant)).toMatchObject([first])
    test.clock.advance(DAY_MS)
    const second = { ...first, day: today, orders: '1', units: '1', points: '7' }
    // A worker that rested for a day tells of each day.
    await buyAt(deps, jar, alice, 1, 8n)
    test.clock.advance(DAY_MS)
    expect(await told(merchant)).toMatchObject([first, second, { orders: '1', points: '8' }])
  })

  it('raise none in test mode, where anyone buys for nothing', async () => {
    const twin = await makeMerchant(test, { twinOf: await makeMerchant(test) })
    const link = await makeLink(test, twin, { sale_alerts: 'each' })
    expect((await buyAt(deps, link, alice)).outcome).toBe('paid')
    expect(await told(twin)).toEqual([])
  })

  it('raise none while the alerts are off, which begin with the next sale', async () => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant)
    await buyAt(deps, link, alice)
    expect(await told(merchant)).toEqual([])
    const edited = { slug: link.slug, details: details({ sale_alerts: 'each' }) }
    for (let i = 0; i < 2; i += 1) await editLink(deps, merchant.payment_id, edited, ownerOf(merchant))
    expect(await told(merchant)).toEqual([])
    await buyAt(deps, link, alice)
    // Another save forgets no sale.
    await editLink(deps, merchant.payment_id, edited, ownerOf(merchant))
    expect(await told(merchant)).toMatchObject([{ orders: '1', units: '1' }])
  })
})

it('a link that staff stops alerts its team with the reason', async () => {
  const merchant = await makeMerchant(test)
  const { slug } = await makeLink(test, merchant)
  await stopLink(deps, { slug, reason: 'Imitates the site' }, { user_id: staff.id, ip: IP })
  await stopLink(deps, { slug, reason: undefined }, { user_id: staff.id, ip: IP })
  expect(await alertsOf(merchant)).toMatchObject([
    { kind: 'link_stopped', facts: { link: slug, reason: 'Imitates the site' } },
  ])
})

describe('a sale of a link', () => {
  it('sends link.sold and link.refunded, never what was delivered, and no order.*', async () => {
    const merchant = await makeMerchant(test)
    await setEventsUrl(deps, merchant.payment_id, `${receiver.url}/events`, ownerOf(merchant))
    const link = await makeLink(test, merchant, { codes: ['SECRET-1', 'SECRET-2'], quantity_max: 2 })
    const { transaction_id } = await buyAt(deps, link, alice, 2)
    for (const amount of [5n, 15n]) await refund(test, { transaction_id }, amount)
    const [unpaid] = [await orderAt(deps, await makeLink(test, merchant), alice)]
    expect(unpaid).toMatch(/^txn_/)
    deps.notifier.nudge()
    const rows = () => rowsOf(test, 'notifications', { app_id: merchant.id })
    await until(async () => (await rows()).every(({ status }) => status === 'delivered'))
    // The order that nobody paid expires without an event.
    test.clock.advance(31 * 60_000)
    await expireOrders(deps)
    expect((await rows()).map(({ kind }) => kind)).toEqual(['link.sold', 'link.refunded', 'link.refunded'])
    const bodies = receiver.received.splice(0).map(({ body }) => body)
    expect(bodies.join('')).not.toContain('SECRET')
    const { rows: stored } = await sql`select from notifications where facts::text like '%SECRET%'`.execute(
      test.db,
    )
    expect(stored).toEqual([])
    const sent = bodies.map((body) => LinkEvent.parse(JSON.parse(body)))
    expect(sent.find(({ type }) => type === 'link.sold')!.data).toMatchObject({
      ...{ transaction_id, status: 'completed', amount: 20, refunded_amount: 0 },
      ...{ slug: link.slug, title: 'Cat stickers', quantity: 2, delivery: 'codes' },
      ...{ user_id: Number(alice.id), username: alice.username },
    })
    const refunds = sent.filter(({ type }) => type === 'link.refunded').map(({ data }) => data)
    expect(refunds.map(({ status, refunded_amount }) => [status, refunded_amount]).toSorted()).toEqual([
      ['completed', 5],
      ['refunded', 20],
    ])
  })

  it('names an anonymised buyer neutrally in an event that is read later', async () => {
    const merchant = await makeMerchant(test)
    await setEventsUrl(deps, merchant.payment_id, `${receiver.url}/events`, ownerOf(merchant))
    const gone = await makePerson(test, { points: 10n })
    await buyAt(deps, await makeLink(test, merchant), gone)
    const act = { user_id: gone.id, actor_id: staff.id, reason: 'asked', ip: IP, give_up: 0n }
    await anonymise(deps, act)
    const [row] = await rowsOf(test, 'notifications', { app_id: merchant.id })
    const event = (await findEvents(deps, [row!])).get(row!.id)!
    const { data } = LinkEvent.parse(JSON.parse(signedEvent(event, deps.clock()).body))
    expect(data.username).toBe(`deleted-${gone.id}`)
  })

  it('sends nothing without an address for events', async () => {
    const merchant = await makeMerchant(test)
    await buyAt(deps, await makeLink(test, merchant), alice)
    expect(await rowsOf(test, 'notifications', { app_id: merchant.id })).toEqual([])
  })
})

describe('a receipt by email', () => {
  const dueOf = async ({ id: user_id }: { id: bigint }) =>
    await rowsOf(test, 'outgoing_mails', { user_id }, ['kind', 'recipient', 'text_encrypted'])
  const confirmed = async () => {
    const buyer = await makePerson(test, { points: 10_000n })
    await changePerson(test, buyer, { email: `${buyer.username}@example.org`, email_verified: true })
    return buyer
  }
  /** Lets two workers look twice. */
  const mail = async () => {
    for (let n = 0; n < 2; n += 1) await Promise.all([mailReceipts(deps), mailReceipts(elsewhere.deps)])
  }

  it('goes out once for each sale, by two workers at once, with what its buyer looks for', async () => {
    const [buyer, merchant] = [await confirmed(), await makeMerchant(test)]
    const link = await makeLink(test, merchant, {
      codes: ['plain-1', 'plain-2'],
      amount: 1_200n,
      quantity_max: 2,
    })
    const { transaction_id } = await buyAt(deps, link, buyer, 2)
    await mail()
    const [sent, ...others] = await dueOf(buyer)
    expect(others).toEqual([])
    const { kind, recipient, text_encrypted } = sent!
    expect({ kind, recipient }).toEqual({ kind: 'receipt', recipient: `${buyer.username}@example.org` })
    const letter = JSON.parse(deps.secrets.decrypt(mailContext(recipient), text_encrypted!))
    const [order] = await rowsOf(test, 'orders', { transaction_id }, ['order_id'])
    const [app] = await rowsOf(test, 'payment_apps', { id: merchant.id }, ['name'])
    expect(letter.facts.map(([, value]: [string, string]) => value)).toEqual([
      expect.stringMatching(/\d\d:\d\d/),
      app!.name,
      'Cat stickers × 2',
      expect.stringMatching(/^2,400 /),
      order!.order_id,
    ])
    expect(letter.button.url).toBe(`${deps.config.PUBLIC_URL}/payment/pay/${transaction_id}`)
    expect(letter.choice.url).toBe(`${deps.config.PUBLIC_URL}/account/profile#receipts`)
    expect(JSON.stringify(letter)).not.toContain('plain-')
  })

  it('waits for a worker that dies before it has written the mail', async () => {
    const buyer = await confirmed()
    await buyAt(deps, await makeLink(test, await makeMerchant(test)), buyer)
    const dying = deps.db.transaction().execute(async (tx) => {
      // The transaction of the round, as a process sees it that ends here.
      await tx.deleteFrom('receipt_notices').execute()
      throw new Error('the process ends')
    })
    await expect(dying).rejects.toThrow('the process ends')
    await mail()
    expect(await dueOf(buyer)).toHaveLength(1)
  })

  it('goes to a confirmed address only, and never after its switch is off', async () => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant)
    const [unconfirmed, buyer] = [await confirmed(), await confirmed()]
    await changePerson(test, unconfirmed, { email_verified: false })
    await buyAt(deps, link, unconfirmed)
    const client = await buyer.signIn()
    const page = await client.get('/account/profile')
    expect(await client.submit(page, '/account/profile/receipts', { mails: 'off' })).toMatchObject({
      status: 303,
    })
    expect(await rowsOf(test, 'receipt_notices')).toEqual([])
    await buyAt(deps, link, buyer)
    expect(await rowsOf(test, 'receipt_notices')).toEqual([])
    const off = await client.get('/account/profile')
    expect(await client.submit(off, '/account/profile/receipts', { mails: 'on' })).toMatchObject({
      status: 303,
    })
    await buyAt(deps, link, buyer)
    // The choice counts at the payment and at the mail.
    await changePerson(test, buyer, { mails_receipts: false })
    await mail()
    expect([...(await dueOf(buyer)), ...(await dueOf(unconfirmed))]).toEqual([])
    const acts = await rowsOf(test, 'audit_log', { action: 'account.mails_receipts' }, ['actor_id', 'detail'])
    expect(acts).toEqual([
      { actor_id: buyer.id, detail: { is_wanted: false } },
      { actor_id: buyer.id, detail: { is_wanted: true } },
    ])
  })
})
