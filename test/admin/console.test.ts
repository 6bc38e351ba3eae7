/**
 * The administrators' console: it finds anything by its numbers, and shows it. spec/registry 4.3.
 * spec/pages 3.4.
 */
import { globSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { isCalled } from '../../src/accounts/members.ts'
import { acts } from '../../src/admin/wording/acts.texts.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { closeDueDays, lastDays } from '../../src/ledger/proofs.ts'
import { returnWithout } from '../../src/payment/apps/apps.ts'
import { claimAndSettle } from '../../src/payment/notifications/outbox.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { VERSION } from '../../src/platform/version.ts'
import { DOT } from '../../src/web/spacing.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeLink } from '../harness/links.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { makeOwnedApp } from '../identity/owned-app.ts'

const t = messages.en.console
const { facts, values } = t.acts

const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { username: 'buyer', points: 10_000n })
const person = await makePerson(test, { username: 'root', is_admin: true })
const adminId = person.id
const admin = await person.signIn()

const pay = (transaction_id: string, expected_amount: bigint) =>
  makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount })

async function paidOrder(order_id: string, amount = '100', description = 'Tea') {
  const { body } = await merchant.process({ amount, description, order_id })
  const transaction_id = String(body.transaction_id)
  expect(await pay(transaction_id, BigInt(amount))).toBe('paid')
  return transaction_id
}

const find = (q: string) => admin.get(`/admin/find?${new URLSearchParams({ q })}`)
const orderRow = (transaction_id: string) => rowOf(test, 'orders', { transaction_id })
/** Opens the audit log, and returns what it writes. */
const audit = async (asked: Record<string, string> = {}) =>
  (await admin.get(`/admin/audit?${new URLSearchParams(asked)}`)).body.replaceAll('\u00A0', ' ')
const record = (action: string, subject: string, detail: object) =>
  sql`insert into audit_log (action, subject, detail) values (${action}, ${subject}, ${JSON.stringify(detail)})`.execute(
    test.db,
  )

it('shows the version in its footer, to administrators only', async () => {
  const footerOf = (page: { body: string }) => textOf(/<footer[\s\S]*?<\/footer>/.exec(page.body)![0])
  for (const path of ['/admin', '/admin/settings'])
    expect(footerOf(await admin.get(path)), path).toContain(t.navigation.version(VERSION))
  expect(footerOf(await admin.get('/account'))).not.toContain(VERSION)
})

describe('the search box', () => {
  it('goes to what alone has the number, whatever it is', async () => {
    const { party } = await makeOwnedApp(test)
    const transaction_id = await paidOrder('find-1')
    const [trade] = await makeGatewayOrders(test, merchant, { notify_url: 'https://shop.example.org/n' })
    const { trade_no } = await orderRow(trade!)
    const to = { to_user_id: String(buyer.id), to_username: buyer.username }
    const sent = await merchant.transfer({ ...to, amount: '5', order_id: 'find-transfer' })
    const transfer = String(sent.body.transaction_id)
    const reference = 'grant of the day'
    const now = test.clock.now()
    await grantPoints(test.db, { user_id: buyer.id, amount: 1n, reference, reason: 'x', actor_id: null, now })
    const journal = await rowOf(test, 'journal', { reference })
    const places: [string, string][] = [
      [`@${buyer.username.toUpperCase()}`, `/admin/members/${buyer.id}`],
      [`user:${buyer.id}`, `/admin/members/${buyer.id}`],
      [party.client_id, `/admin/apps/${party.client_id}`],
      [merchant.payment_id, `/admin/payment-applications/${merchant.payment_id}`],
      [String(merchant.pid), `/admin/payment-applications/${merchant.payment_id}`],
      ['find-1', `/admin/orders/${transaction_id}`],
      [trade_no!, `/admin/orders/${trade}`],
      ['#find-1.', `/admin/orders/${transaction_id}`],
      // Their journals have the transaction_id too.
      [`${test.url}/payment/pay/${transaction_id}?lang=en`, `/admin/orders/${transaction_id}`],
      [`“${transaction_id.toUpperCase()}”,`, `/admin/orders/${transaction_id}`],
      [transfer, `/admin/transfers/${transfer}`],
      [merchant.payment_id.slice(0, 14), `/admin/payment-applications/${merchant.payment_id}`],
      [party.client_id.slice(0, 12), `/admin/apps/${party.client_id}`],
      ['find-transfer', `/admin/transfers/${transfer}`],
      [reference, `/admin/journals/${journal.id}`],
    ]
    for (const [q, location] of places) expect([q, (await find(` ${q} `)).location]).toEqual([q, location])
    for (const [, location] of places)
      expect([location, (await admin.get(location)).status]).toEqual([location, 200])
  })

  it('lists everything that has the number, and says so when nothing has', async () => {
    const transaction_id = await paidOrder(merchant.payment_id)
    const both = await find(merchant.payment_id)
    expect(both.status).toBe(200)
    expect(both.body).toContain(`href="/admin/orders/${transaction_id}"`)
    expect(both.body).toContain(`href="/admin/payment-applications/${merchant.payment_id}"`)
    for (const nothing of ['', 'txn_%', '9'.repeat(30), "'; drop table users"]) {
      const page = await find(nothing)
      expect([nothing, page.status]).toEqual([nothing, 200])
      expect(page.body).not.toContain('class="options card"')
    }
  })

  it('finds by a part of a name, grouped, the ones that begin with it first', async () => {
    const shop = await makeMerchant(test)
    const [deep, first] = [await makePerson(test), await makePerson(test)]
    await sql`update users set username = 'old_quokka', name = '王伟芳' where id = ${deep.id}`.execute(
      test.db,
    )
    await sql`update users set username = 'Quokka_1', email = 'hopping@example.org' where id = ${first.id}`.execute(
      test.db,
    )
    await sql`update payment_apps set name = 'The Quokka Shop' where payment_id = ${shop.payment_id}`.execute(
      test.db,
    )
    const transaction_id = await paidOrder('parts-1', '100', 'A quokka plush')
    const unsold = await makeLink(test, shop, { title: 'Card of a quokka' })
    const { body } = await find('quokka')
    const hrefs = [...body.slice(body.indexOf('<main')).matchAll(/<li><a href="(\/admin\/[^"]+)"/g)].map(
      ([, href]) => href,
    )
    expect(hrefs).toEqual([
      `/admin/members/${first.id}`,
      `/admin/members/${deep.id}`,
      `/admin/payment-applications/${shop.payment_id}`,
      `/admin/links?q=${unsold.slug}`,
      `/admin/orders/${transaction_id}`,
    ])
    for (const kind of ['member', 'paymentApp', 'link', 'order'] as const)
      expect(body).toContain(`<h2>${t.find.kinds[kind]}</h2>`)
    const members: [string, { id: bigint }][] = [
      ['伟芳', deep],
      ['王', deep],
      ['hopping', first],
      ['hopping@example.org', first],
      ['@quokka_1', first],
    ]
    for (const [q, { id }] of members)
      expect([q, (await find(q)).location]).toEqual([q, `/admin/members/${id}`])
    const beginning = (await find('qu')).body
    expect(beginning).toContain(`/admin/members/${first.id}`)
    expect(beginning).not.toContain(`/admin/members/${deep.id}`)
    expect((await find('example.org')).body).not.toContain(`/admin/members/${first.id}`)
  })

  it('marks a payment application of test mode among the results', async () => {
    await makeMerchant(test)
    const marked = async () => textOf((await find('shop of')).body).includes(messages.en.common.testMode)
    expect(await marked()).toBe(false)
    await makeMerchant(test, { isTest: true })
    expect(await marked()).toBe(true)
  })

  it('finds random numbers by six characters of them, and shops’ own numbers by three', async () => {
    const transaction_id = await paidOrder('walrus-7001')
    const href = `/admin/orders/${transaction_id}`
    const finds = async (q: string) => {
      const { body, location = '' } = await find(q)
      return body.includes(`href="${href}"`) || location === href
    }
    const random = transaction_id.slice(9)
    expect([await finds(random.slice(0, 6)), await finds(random.slice(0, 5))]).toEqual([true, false])
    expect([await finds('7001'), await finds('walru')]).toEqual([true, false])
    const [first, other] = [merchant.payment_id.slice(0, 6), merchant.payment_id.slice(0, 5)]
    const app = `/admin/payment-applications/${merchant.payment_id}`
    for (const [q, isFound] of [
      [first, true],
      [other, false],
    ] as const) {
      const { body, location = '' } = await find(q)
      expect([q, body.includes(app) || location === app]).toEqual([q, isFound])
    }
  })

  it('shows the balance, the level and the last sign-in of a member', async () => {
    const [rich, idle] = [await makePerson(test, { points: 4_321n, trust_level: 3 }), await makePerson(test)]
    await rich.signIn()
    for (const { id } of [rich, idle])
      await sql`update users set username = 'manatee_' || id where id = ${id}`.execute(test.db)
    const rows = [...(await find('manatee')).body.matchAll(/<li>.*?<\/li>/gs)].map(([row]) => textOf(row))
    const rowOfMember = ({ id }: { id: bigint }) => rows.find((row) => row.includes(`@manatee_${id}`))
    expect(rowOfMember(rich)).toContain('4,321')
    expect(rowOfMember(rich)).toContain(messages.en.common.trustLevel(3))
    expect(rowOfMember(rich)).toContain(messages.en.members.lastSeen)
    expect(rowOfMember(idle)).toContain(messages.en.members.notSeen)
  })

  it('says what became of an order', async () => {
    const ids = [
      await paidOrder('state-1', '40', 'An ocelot mug'),
      await paidOrder('state-2', '41', 'An ocelot cup'),
    ]
    const sent = { amount: '42', description: 'An ocelot bowl', order_id: 'state-3' }
    ids.push(String((await merchant.process(sent)).body.transaction_id))
    await setRows(test, 'orders', { transaction_id: ids[1]! }, { refunded_amount: 1n })
    const { body } = await find('ocelot')
    const state = (id: string) => textOf(body.split(`/admin/orders/${id}"`)[1]!.split('</li>')[0]!)
    const { status } = messages.en.adjustments
    expect(state(ids[0]!)).toContain(`40 ${status.paid}`)
    expect(state(ids[1]!)).toContain(`41 ${status.partlyRefunded}`)
    expect(state(ids[2]!)).toContain(`42 ${status.unpaid}`)
    await setRows(test, 'orders', { transaction_id: ids[1]! }, { refunded_amount: 0n })
  })

  it('is in the bar of a phone unless the page has a search of its own', async () => {
    const inBar = async (path: string) =>
      (await admin.get(path)).body.split('</header>')[0]!.includes('action="/admin/find"')
    expect(await inBar('/admin/audit')).toBe(true)
    for (const path of ['members', 'links', 'adjustments', 'apps', 'mandates', 'settings'])
      expect(await inBar(`/admin/${path}`), path).toBe(false)
  })

  it('is on every page of the administration', async () => {
    for (const path of ['/admin', '/admin/settings', '/admin/audit'])
      expect((await admin.get(path)).body, path).toContain('action="/admin/find"')
    expect((await find('"x"')).body).toContain('value="&quot;x&quot;"')
  })

  it('reads members by an index, whatever the part', async () => {
    await test.db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx)
      for (const part of ['quokka', '伟', 'qu']) {
        const { rows } = await sql`explain select id from users where ${isCalled(part)}`.execute(tx)
        expect(JSON.stringify(rows), part).toMatch(
          /Index Scan on users_by_(part|beginning)|using users_by_beginning/,
        )
      }
    })
  })

  it('leads to pages that answer 404 when there is no such thing', async () => {
    for (const path of [
      '/admin/orders/txn_000000000000000000000000',
      '/admin/orders/find-2',
      '/admin/transfers/txn_000000000000000000000000',
      '/admin/journals/999999999',
      '/admin/journals/x',
      '/admin/wallets/999999999',
      '/admin/wallets/9999999999999999999',
    ])
      expect([path, (await admin.get(path)).status]).toEqual([path, 404])
  })
})

describe('the page of an order', () => {
  it('shows its ledger lines and refunds with their actors, and leads on', async () => {
    const transaction_id = await paidOrder('page-1')
    const refund = { transaction_id, amount: 40n, with_fee: true, key: 'k', reason: 'One cup broke' }
    await refundOrder(test.deps, { ...refund, actor_id: adminId, ip: '203.0.113.7' })
    const { journal_id } = await orderRow(transaction_id)
    const { body } = await admin.get(`/admin/orders/${transaction_id}`)
    const text = textOf(body)
    expect(text).toContain(`@${buyer.username} −100`)
    expect(text).toContain(`@${merchant.owner.username} +95`)
    expect(text).toContain(`${t.ledger.accounts.fee} +5`)
    expect(text).toContain(`@${buyer.username} +40`)
    expect(text).toContain(`${t.ledger.accounts.fee} −2`)
    expect(text).toContain(
      `${facts.reason} : One cup broke · ${facts.with_fee} : ${messages.en.audit.yes} @root`,
    )
    expect(body).toContain(`href="/admin/journals/${journal_id}"`)
    expect(body).toContain('name="amount" value="60"')
    const wallet = await admin.get(`/admin/wallets/${buyer.id}`)
    expect(wallet.body).toContain(`href="/admin/journals/${journal_id}"`)
  })

  it('is named in both wallets by its product, its shop and the other member', async () => {
    const transaction_id = await paidOrder('page-2')
    const lineOf = async (path: string) => {
      const { body } = await admin.get(path)
      const line = body.split('<li>').find((part) => part.includes(`href="/admin/orders/${transaction_id}"`))!
      expect(line).toContain(`href="/admin/payment-applications/${merchant.payment_id}"`)
      return { line, text: textOf(line) }
    }
    const { words, kinds } = messages.en.account
    const { owner } = merchant
    const paid = await lineOf(`/admin/wallets/${buyer.id}`)
    expect(paid.text).toMatch(new RegExp(`Tea.*${words.payment} · .*@${owner.username} · .*−100`))
    expect(paid.line).toContain(`href="/admin/wallets/${owner.id}"`)
    const sold = await lineOf(`/admin/wallets/${owner.id}`)
    expect(sold.text).toMatch(new RegExp(`Tea.*${words.sale} · .*@${buyer.username} · .*\\+95`))
    expect(sold.line).toContain(`href="/admin/wallets/${buyer.id}"`)
    const fee = await lineOf('/admin/books/fees')
    expect(fee.text).toMatch(new RegExp(`Tea.*${kinds.payment} · .*\\+5`))
  })

  it('gives the day of a forum score in the language of the administrator', async () => {
    const reason = 'Forum score of 2026-01-02'
    const now = test.clock.now()
    const posted = { reference: 'score', reason, actor_id: null, now }
    await grantPoints(test.db, { user_id: buyer.id, amount: 3n, ...posted })
    const { id } = await rowOf(test, 'journal', { reference: 'score' })
    const { forumScore } = messages['zh-CN'].account
    const inChinese = { 'accept-language': 'zh-CN' }
    for (const path of [`/admin/wallets/${buyer.id}`, `/admin/journals/${id}`]) {
      const { body } = await admin.get(path, inChinese)
      expect(textOf(body)).toContain(forumScore('2026 年 1 月 2 日'))
      expect(body).not.toContain(reason)
    }
  })
})

describe('the review of a payment application', () => {
  it('says who applies and since when, and whether the addresses lead anywhere', async () => {
    const pending = await makeMerchant(test, { approved: false })
    const created_at = new Date(test.clock.now().getTime() - 3 * 86_400_000)
    await setRows(test, 'users', { id: pending.owner.id }, { created_at })
    const path = `/admin/payment-applications/${pending.payment_id}`
    const page = await admin.get(path)
    expect(page.body).toContain(t.review.memberFor('3', 3))
    expect(page.body).toContain(t.review.unchecked)
    const queue = await admin.get('/admin/reviews')
    expect(await admin.submit(queue, `${path}/check`)).toMatchObject({
      status: 303,
      location: '/admin/reviews',
    })
    const checked = await admin.submit(page, `${path}/check`)
    expect(checked).toMatchObject({ status: 303, location: `${path}#addresses` })
    expect((await admin.get(path)).body).toContain(t.review.verdicts.blocked)
    expect((await admin.get('/admin/reviews')).body).toContain(t.review.verdicts.blocked)
    const action = 'payment_app.check_addresses'
    const entry = {
      actor_id: adminId,
      detail: { addresses: [{ url: pending.callbackUrl, verdict: 'blocked' }] },
    }
    expect(await rowsOf(test, 'audit_log', { subject: pending.payment_id, action })).toMatchObject([
      entry,
      entry,
    ])
    const unknown = '/admin/payment-applications/pay_00000000000000000000/check'
    expect((await admin.post(unknown, page.form(`${path}/check`))).status).toBe(404)
    await admin.submit(await admin.get(path), `${path}/review`, { decision: 'approve', reason: '' })
    expect((await admin.get(path)).body).toContain(`action="${path}/freeze"`)
  })
})

it('the review of a seller by links names no callback address, and checks none of ours', async () => {
  const pending = await makeMerchant(test, { approved: false })
  const set = (values: object) => setRows(test, 'payment_apps', { id: pending.id }, values)
  await set({ callback_url: returnWithout(test.deps), homepage: null, logo_url: null })
  const path = `/admin/payment-applications/${pending.payment_id}`
  // Each application of the queue is an article.
  const shown = async () => {
    const queue = (await admin.get('/admin/reviews')).body.split('<article')
    return [(await admin.get(path)).body, queue.find((each) => each.includes(path))!]
  }
  for (const body of await shown()) {
    expect(body).toContain(t.review.noCallback)
    expect(body).not.toContain(returnWithout(test.deps))
    expect(body).not.toContain(t.review.unchecked)
    expect(body).not.toContain(`action="${path}/check"`)
  }
  await set({ homepage: 'https://192.168.0.1/' })
  for (const body of await shown()) expect(body).toContain(`action="${path}/check"`)
  await admin.submit(await admin.get(path), `${path}/check`)
  const [entry] = await rowsOf(test, 'audit_log', {
    subject: pending.payment_id,
    action: 'payment_app.check_addresses',
  })
  expect(entry!.detail).toEqual({ addresses: [{ url: 'https://192.168.0.1/', verdict: 'blocked' }] })
})

describe('a host', () => {
  const HOST = 'slow.example.org'
  const claimed = async () => {
    const now = test.clock.now()
    return (await claimAndSettle(test.db, { settled: [], room: 50, now })).map(({ order_id }) => order_id)
  }

  it('that is paused gets nothing until resumed, and both are logged', async () => {
    const [slow, other] = await Promise.all(
      [HOST, 'quick.example.org'].map(async (host) => {
        const [id] = await makeGatewayOrders(test, merchant, { notify_url: `https://${host}/notify` })
        return orderRow(id!)
      }),
    )
    const page = '/admin/notifications'
    for (const { transaction_id, amount } of [slow!, other!])
      expect(await pay(transaction_id, amount)).toBe('paid')
    const fields = { ...(await admin.get(page)).form('/admin/notifications/hosts/pause'), host: HOST }
    const send = (act: string, reason: string) => admin.post(`${page}/hosts/${act}`, { ...fields, reason })
    expect((await send('pause', ' ')).status).toBe(400)
    expect((await send('resume', 'x')).status).toBe(409)
    expect(await send('pause', 'Their <maintenance>')).toMatchObject({ status: 303, location: page })
    expect((await send('pause', 'again')).status).toBe(409)
    expect(await claimed()).toEqual([other!.id])
    const { body } = await admin.get(page)
    expect(body).toContain('Their &lt;maintenance&gt;')
    expect(body).toContain('action="/admin/notifications/hosts/resume"')
    expect((await send('resume', 'They are back')).status).toBe(303)
    expect(await claimed()).toEqual([slow!.id])
    expect(await rowsOf(test, 'audit_log', { subject: HOST })).toMatchObject([
      { action: 'host.pause', actor_id: adminId, detail: { reason: 'Their <maintenance>' } },
      { action: 'host.resume', actor_id: adminId, detail: { reason: 'They are back' } },
    ])
  })
})

describe('the history of a payment application', () => {
  it('says what changed in words', async () => {
    const app = await makeMerchant(test)
    const change = { before: { mandate_right: 'asked' }, after: { mandate_right: 'granted' } }
    await record('payment_app.mandate_right', app.payment_id, change)
    const text = textOf((await admin.get(`/admin/payment-applications/${app.payment_id}`)).body)
    const { rights } = messages.en.merchantMandates
    expect(text).toContain(`${facts.mandate_right} : ${rights.asked} → ${rights.granted}`)
  })
})

describe('the audit log', () => {
  it('has a heading for each day, and names the zone of its times once', async () => {
    const at = (action: string, time: string) =>
      sql`insert into audit_log (action, subject, created_at) values (${action}, 'x', ${time})`.execute(
        test.db,
      )
    await at('dayed.one', '2020-02-28T15:59:59Z')
    await at('dayed.two', '2020-02-28T16:00:00Z')
    await at('dayed.three', '2020-02-29T03:00:00Z')
    const body = await audit({ action: 'dayed' })
    const days = [...body.matchAll(/<h2><time datetime="([^"]+)"/g)].map(([, day]) => day)
    // Days are those of the site's zone.
    expect(days).toEqual(['2020-02-29', '2020-02-28'])
    expect(body.split('<h2>').map((part) => part.match(/title="dayed/g)?.length)).toEqual([undefined, 2, 1])
    expect(textOf(body)).not.toContain('GMT')
    expect(textOf(body)).toContain(messages.en.common.timesIn('China Standard Time'))
  })

  it('says the details of an act in words, with their names as tooltips', async () => {
    const expires_at = '2026-01-02T03:04:05.000Z'
    await record('detail.act', 'x', { is_admin: true, expires_at, after: { ends_on: '2026-11-24' }, odd: 1 })
    const body = await audit({ action: 'detail' })
    // On a phone the filters are folded until one is used.
    expect(body).toContain('<details class="fold" open>')
    expect(await audit()).toContain('<details class="fold">')
    for (const words of [
      `<span title="is_admin">${facts.is_admin}</span>: <bdi title="true">${messages.en.audit.yes}</bdi>`,
      `<span title="expires_at">${facts.expires_at}</span>: <bdi title="${expires_at}">2 Jan 2026, `,
      `<span title="ends_on">${facts.ends_on}</span>: <bdi title="– → 2026-11-24">– → 24 Nov 2026</bdi>`,
      '<span title="odd">odd</span>: <bdi>1</bdi>',
    ])
      expect(body).toContain(words)
  })

  it('says the values that the service chose in words, and names members', async () => {
    const mandate = { charge_max: '3000', payee_id: String(buyer.id) }
    const [before, after] = ['active', 'ended'].map((status) => ({ ...mandate, status }))
    const acts: [action: string, subject: string, detail: object][] = [
      ['proposal.create', 'proposal:7', { kind: 'setting', amount: null, setting: 'second_approver' }],
      ['mandate.end', 'mdt_x', { before, after, reason: 'merchant' }],
      ['proposal.create', 'x', { terms: '{"fee_rate":"0.125","daily_payments_max":null}' }],
      ['payment_app.offer', 'pay_x', { to: String(buyer.id) }],
      ['payment_app.invite', 'pay_x', { role: 'viewer' }],
      ['payment_app.create_access_key', 'pay_x', { scopes: ['payouts'] }],
      ['oauth_app.updated', 'x', { before: { deny_groups: [] }, after: { deny_groups: ['trust_level_0'] } }],
    ]
    for (const act of acts) await record(...act)
    const body = await audit()
    const { settings, audit: a, team, identity, accessKeys } = messages.en
    const kind = values['proposal.kind']!.setting
    const setting = settings.names.second_approver.label
    for (const words of [
      `<bdi>${a.proposal('7')}</bdi>`,
      `<span title="kind">${facts.kind}</span>: <bdi>${kind}</bdi>${DOT.replace('\u00A0', ' ')}<span title="setting">${facts.setting}</span>: <bdi title="second_approver">${setting}</bdi></p>`,
      `<span title="charge_max">${facts.charge_max}</span>: <bdi title="3000">3,000</bdi>`,
      `<span title="payee_id">${facts.payee_id}</span>: <bdi title="${buyer.id}">@${buyer.username}</bdi>`,
      `<bdi title="merchant">${values['mandate.reason']!.merchant}</bdi>`,
      `>${facts.fee_rate} 12.5 %</bdi>`,
      `<span title="to">${facts.to}</span>: <bdi title="${buyer.id}">@${buyer.username}</bdi>`,
      `<bdi title="viewer">${team.roles.viewer}</bdi>`,
      `>${accessKeys.scopes.payouts}</bdi>`,
      `title="– → [&quot;trust_level_0&quot;]">– → ${identity.group('trust_level_0')}</bdi>`,
    ])
      expect(body).toContain(words)
  })

  it('has words for every detail that the sources record', async () => {
    const sources = globSync('src/**/*.ts', { exclude: ['**/*.texts.ts'] }).map((file) =>
      readFileSync(file, 'utf8'),
    )
    const names = sources.flatMap((source) =>
      [...source.matchAll(/\b(?:detail(?:: | = )|audit\(\s*tx, '[^{};()]*)\{([^{}]*)\}/g)].flatMap(
        ([, fields]) => fields!.split(',').flatMap((field) => /^\s*(\w+)\s*(?::|$)/.exec(field)?.[1] ?? []),
      ),
    )
    expect(names.length).toBeGreaterThan(50)
    const shown = [...Object.keys(acts.facts), 'before', 'after']
    expect([...new Set(names)].filter((name) => !shown.includes(name))).toEqual([])
  })

  it('is filtered by actor, action, subject and time, and saved without formulas', async () => {
    await sql`
      insert into audit_log (actor_id, action, subject, detail, created_at) values
        (null, 'odd.act', '=1+1', ${JSON.stringify({ say: '"hello", they said' })}, now()),
        (${buyer.id}, 'odd.act', 'old', '{}', '2020-02-29T15:59:59Z'),
        (${adminId}, 'odd.act', 'mine', '{}', now())`.execute(test.db)
    const subjects = async (filter: Record<string, string>) => {
      const body = await audit({ action: 'odd', ...filter })
      return ['=1+1', 'old', 'mine'].filter((subject) => body.includes(`title="${subject}"`))
    }
    expect(await subjects({})).toEqual(['=1+1', 'old', 'mine'])
    expect(await subjects({ actor: `@${buyer.username.toUpperCase()}` })).toEqual(['old'])
    expect(await subjects({ actor: 'nobody' })).toEqual([])
    expect(await subjects({ subject: 'mine' })).toEqual(['mine'])
    for (const subject of [`user:${buyer.id}`, merchant.payment_id]) await record('name.act', subject, {})
    const named = (filter: Record<string, string>) => audit({ action: 'name', ...filter })
    const links = {
      member: `title="user:${buyer.id}"><bdi>@${buyer.username}</bdi>`,
      shop: `title="${merchant.payment_id}"><bdi>Shop of ${merchant.owner.username}</bdi>`,
    }
    for (const link of Object.values(links)) expect(await named({})).toContain(link)
    expect(await named({ subject: `@${buyer.username.toUpperCase()}` })).toContain(links.member)
    expect(await named({ subject: `@${buyer.username}` })).not.toContain(links.shop)
    expect(await named({ subject: '@nobody' })).toContain(messages.en.audit.nothing)
    expect(await subjects({ from: '2020-03-01' })).toEqual(['=1+1', 'mine'])
    expect(await subjects({ until: '2020-02-29' })).toEqual(['old'])
    expect(await subjects({ until: '2020-02-28' })).toEqual([])
    expect(await subjects({ from: 'yesterday' })).toEqual(['=1+1', 'old', 'mine'])

    const page = await admin.get('/admin/audit?action=odd')
    expect(page.body).toContain(messages.en.lists.fileRows('3', { rows: 3, isMore: false }, '0'))
    const href = /href="(\/admin\/audit\.csv[^"]*)"/.exec(page.body)![1]!.replaceAll('&amp;', '&')
    const file = await admin.get(href)
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(file.headers['content-disposition']).toContain('attachment')
    const lines = file.body.split('\r\n')
    expect(lines[0]).toBe('\uFEFFid,time,actor,action,subject,detail,ip')
    expect(lines).toHaveLength(5)
    expect(lines[3]).toContain(`,'=1+1,"{""say"": ""\\""hello\\"", they said""}",`.replace('": "', '":"'))
    expect(lines[2]).toContain(`2020-02-29T15:59:59.000Z,${buyer.username},odd.act,old,{},`)
    expect(await rowsOf(test, 'audit_log', { action: 'audit.export' })).toMatchObject([
      { actor_id: adminId, detail: { action: 'odd' } },
    ])
    await expect(sql`update audit_log set subject = 'x'`.execute(test.db)).rejects.toThrow(/append-only/)
    await expect(sql`delete from audit_log`.execute(test.db)).rejects.toThrow(/append-only/)
  })
})

it('limits refusals and the movements of a wallet to a time', async () => {
  await sql`insert into security_events (kind, network, address, at) values
    ('sign_in', '192.0.2.0/24', '192.0.2.1', '2020-02-29T15:59:59Z'), ('sign_in', '192.0.2.0/24', '192.0.2.2', now())`.execute(
    test.db,
  )
  const refused = async (asked: string) => {
    const { body } = await admin.get(`/admin/audit/refusals?${asked}`)
    return ['192.0.2.1', '192.0.2.2'].filter((address) => textOf(body).includes(`${address} `))
  }
  expect(await refused('')).toEqual(['192.0.2.1', '192.0.2.2'])
  expect(await refused('kind=sign_in&until=2020-02-29')).toEqual(['192.0.2.1'])
  expect(await refused('until=2020-02-28')).toEqual([])
  expect(await refused('kind=sign_in&from=2020-03-01')).toEqual(['192.0.2.2'])
  // The chips count what the time has, and keep it.
  const { body } = await admin.get('/admin/audit/refusals?until=2020-02-29')
  expect(body).toMatch(/kind=sign_in&amp;until=2020-02-29|until=2020-02-29&amp;kind=sign_in/)

  const wallet = `/admin/wallets/${buyer.id}`
  const moved = async (asked: string) =>
    [...(await admin.get(`${wallet}?${asked}`)).body.matchAll(/href="\/admin\/journals\/\d+"/g)].length
  const all = await moved('')
  expect(all).toBeGreaterThan(0)
  expect(await moved('period=year')).toBe(all)
  expect(await moved('until=2020-01-01')).toBe(0)
  expect(await moved('from=2020-01-01&until=2099-12-31')).toBe(all)
})

describe('the state of the forum', () => {
  it('says how far behind we are, the last message, and its groups', async () => {
    expect((await admin.get('/admin/forum')).body).toContain(t.forum.off)
    const now = test.clock.now()
    const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
    const person = await makePerson(test, { username: 'member' })
    const member = { user_id: person.id, username: 'at_the_forum', score_due_at: now, failure: 'timeout' }
    await test.db
      .insertInto('forum_members')
      .values({ ...member, next_check_at: ago(90), hinted_at: ago(5), retry_at: now })
      .execute()
    await test.db
      .insertInto('forum_events')
      .values({ event_id: 'e1', event: 'user_updated', received_at: ago(7) })
      .execute()
    await test.db.insertInto('forum_groups').values({ id: 41n, name: 'gardeners' }).execute()
    await sql`insert into user_groups (user_id, name, from_forum, forum_group_id) values (${person.id}, 'gardeners', true, 41)`.execute(
      test.db,
    )
    const text = textOf((await admin.get('/admin/forum')).body)
    expect(text).toContain('user_updated')
    expect(text).toContain(`${t.forum.due} 1 ${t.forum.since}`)
    expect(text).toContain('@at_the_forum timeout')
    expect(text).toContain('41 gardeners 1')
  })
})

describe('a day', () => {
  it('is closed once after it ends, and stays as written', async () => {
    const { rows: expected } = await sql<Record<string, bigint>>`
      select (select sum(amount)::bigint from orders where paid_at is not null) as paid,
        (select sum(amount)::bigint from transfers) as transferred,
        (select sum(amount)::bigint from refunds) as given_back,
        (select sum(amount)::bigint from entries as e join ledger_accounts as a on a.id = e.account_id where a.kind = 'fee') as fees,
        (select count(*) from journal) as journals`.execute(test.db)
    const closeAt = (hours: number) => {
      const now = new Date(test.clock.now().getTime() + hours * 3_600_000)
      return closeDueDays({ db: test.db, databaseTime: async () => now })
    }
    await closeAt(0)
    expect(await lastDays(test.db, 10)).toEqual([])
    await Promise.all([closeAt(72), closeAt(72)])
    const days = await lastDays(test.db, 10)
    const [first] = days.toReversed()
    expect(first).toMatchObject({ ...expected[0], day: '2026-01-01' })
    expect(days.length).toBeGreaterThan(1)
    for (const { journals } of days.slice(0, -1)) expect(journals).toBe(0n)
    await closeAt(72)
    expect(await lastDays(test.db, 10)).toEqual(days)
    await expect(sql`update books_days set paid = 0`.execute(test.db)).rejects.toThrow(/append-only/)
    expect((await admin.get('/admin/books')).body).toContain('>1\u00A0Jan<')
    expect((await admin.get('/admin/books/fees')).body).toContain('/admin/journals/')
  })
})

describe('names that could be taken for each other', () => {
  it.each([
    ['Sticker Shop', 'sticker  shop', true],
    ['Sticker Shop', 'Ｓｔｉｃｋｅｒ－Ｓｈｏｐ', true],
    ['Sticker Shop', 'Stіckеr Ѕhοр!', true],
    ['Corner Café', 'C0MER CAFE', true],
    ['Pilot 10', 'Pi1ot IO', true],
    ['贴纸商店', '贴纸 商店', true],
    ['Sticker Shop', 'Sticker Shops', false],
    ['贴纸商店', '贴纸书店', false],
    ['★', '☆', false],
    ['!!', '??', false],
  ])('%s and %s: %s', async (one, other, same) => {
    const query = sql`select name_skeleton(${one}) = name_skeleton(${other}) as same`
    expect((await query.execute(test.db)).rows).toEqual([{ same }])
  })

  it('are shown to the reviewer of either, with who has them', async () => {
    const name = 'Ｇlow Works'
    const [shop, copy] = [await makeMerchant(test), await makeMerchant(test, { approved: false })]
    const { party, owner } = await makeOwnedApp(test)
    await setRows(test, 'payment_apps', { id: shop.id }, { name: 'Glow Works' })
    await setRows(test, 'payment_apps', { id: copy.id }, { name })
    await setRows(test, 'oauth_apps', { id: party.id }, { name: 'GL0W-WORKS' })
    const pages = {
      [`/admin/payment-applications/${shop.payment_id}`]: shop.owner.username,
      [`/admin/payment-applications/${copy.payment_id}`]: copy.owner.username,
      [`/admin/apps/${party.client_id}`]: owner.username,
    }
    const noticeOn = async (path: string) =>
      (await admin.get(path)).body
        .split(t.review.likeNamed)
        .slice(1)
        .map((after) => after.split('</ul>')[0])
        .join()
    for (const [path, username] of Object.entries(pages)) {
      const notice = await noticeOn(path)
      expect(notice).not.toContain(`href="${path}"`)
      expect(notice).not.toContain(`@${username}`)
      for (const [other, whose] of Object.entries(pages).filter(([each]) => each !== path)) {
        expect(notice).toContain(`href="${other}"`)
        expect(notice).toContain(`@${whose}`)
      }
    }
    // The queue shows it too, because reviewers make most decisions there.
    expect(await noticeOn('/admin/reviews')).toContain(`/admin/payment-applications/${shop.payment_id}`)
    expect(await noticeOn(`/admin/payment-applications/${merchant.payment_id}`)).toBe('')
  })
})
