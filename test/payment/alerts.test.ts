/** Alerts to members about payment applications: on their page of alerts and by mail, each cause once. spec/payment-api 6.3. */
import { afterAll, expect, it } from 'vitest'
import { sendDueMail } from '../../src/accounts/people/email.ts'
import type { Core } from '../../src/core/core.ts'
import { createAccessKey } from '../../src/payment/access-keys/keys.ts'
import { raiseDueAlerts } from '../../src/payment/apps/due-alerts.ts'
import { offerApplication, withdrawOffer } from '../../src/payment/apps/handover.ts'
import { inviteMember, removeMember } from '../../src/payment/apps/team.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { givePoints, makePerson, type Person } from '../harness/cast.ts'
import { anotherProcess, type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { decideReview, joinTeam, makeMerchant, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { rowsOf, setRows } from '../harness/rows.ts'
import { startSmtpServer } from '../harness/smtp-server.ts'

const HOUR_MS = 3_600_000

const smtp = await startSmtpServer()
const test = await useTestApp({ SMTP_URL: smtp.url, SMTP_FROM: 'no-reply@tessera.test' })
const other = await anotherProcess(test)
afterAll(async () => {
  await other.close()
  await smtp.close()
})

async function confirmEmail({ id, username }: Person) {
  const email = `${username}@example.org`
  await setRows(test, 'users', { id }, { email, email_verified: true })
  return email
}
/** Creates a shop whose owner has mail, and a manager and a viewer without mail. */
async function makeShop() {
  const shop = await makeMerchant(test)
  const email = await confirmEmail(shop.owner)
  const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
  const [manager, viewer] = [await joinTeam(test, shop, 'manager'), await joinTeam(test, shop, 'viewer')]
  await test.db.deleteFrom('alerts').where('app_id', '=', shop.id).execute()
  return { shop, email, actor, manager, viewer, page: `/payment/applications/${shop.payment_id}` }
}
/** Several concurrent rounds in two processes. */
const rounds = () => Promise.all([test, other, test, other].map(({ deps }) => raiseDueAlerts(deps)))
const alertsOf = (app_id: bigint) => rowsOf(test, 'alerts', { app_id })
const kindsFor = async (app_id: bigint, { id }: Person) =>
  (await alertsOf(app_id)).filter(({ user_id }) => user_id === id).map(({ kind }) => kind)
async function mailed(address: string) {
  await sendDueMail(test.deps)
  return smtp.take(address)
}
const act = async (client: Browser, path: string, fields: Record<string, string> = {}) =>
  client.post(path, { ...(await client.get('/account')).form('/sign-out'), ...fields })

it('a review alerts its owner, with the reviewer’s words', async () => {
  const seller = await makeMerchant(test, { approved: false })
  const email = await confirmEmail(seller.owner)
  const admin = await (await makePerson(test, { is_admin: true })).signIn()
  await decideReview(admin, seller, { decision: 'reject', reason: 'Say <b>more</b>' })
  expect(await kindsFor(seller.id, seller.owner)).toEqual(['reviewed'])
  const [mail] = await mailed(email)
  expect(mail!.subject).toBe(`[Tessera] Shop of ${seller.owner.username}: rejected`)
  expect(mail!.text).toContain('Message: Say <b>more</b>')
  expect(mail!.html).toContain('Message: Say &lt;b&gt;more&lt;/b&gt;')
  expect(mail!.text).toContain(`/payment/applications/${seller.payment_id}`)

  const owner = await seller.owner.signIn()
  const page = await owner.get('/account/alerts')
  expect(page.body).toContain('Say &lt;b&gt;more&lt;/b&gt;')
  expect(page.body).toContain('Alerts (1)')
  const stranger = await (await makePerson(test)).signIn()
  expect((await stranger.get('/account/alerts')).body).not.toContain('Say ')
  const boldOn = ({ body }: { body: string }) =>
    body.split('<ul class="panel')[1]!.split('<strong>').length - 1
  expect(boldOn(page)).toBe(1)
  await owner.submit(page, '/account/alerts/read')
  const read = await owner.get('/account/alerts')
  expect(read.body).not.toContain('Alerts (1)')
  expect(boldOn(read)).toBe(0)
  const entries = () => rowsOf(test, 'audit_log', { action: 'alerts.read' })
  expect(await entries()).toHaveLength(1)
  expect((await act(owner, '/account/alerts/read', { up_to: 'x' })).status).toBe(303)
  expect(await entries()).toHaveLength(1)
})

it('what was raised while the page was read stays unread', async () => {
  const seller = await makeMerchant(test)
  const owner = await seller.owner.signIn()
  const page = await owner.get('/account/alerts')
  const admin = await (await makePerson(test, { is_admin: true })).signIn()
  const review = `/admin/payment-applications/${seller.payment_id}/review`
  const suspension = { decision: 'suspend', reason: 'Complaints', confirmed: 'yes' }
  await act(admin, review, suspension)
  await owner.submit(page, '/account/alerts/read')
  expect((await alertsOf(seller.id)).map(({ read_at }) => read_at !== null)).toEqual([true, false])
})

it('failing notifications alert once a day, and those who may help', async () => {
  const { shop, email, manager, viewer } = await makeShop()
  const buyer = await makePerson(test, { points: 1_000n })
  const notify_url = 'https://shop.example.org/notify'
  const orders = await makeGatewayOrders(test, shop, { notify_url, count: 3 })
  for (const transaction_id of orders)
    await makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: 100n })
  const fail = (attempts: number) =>
    setRows(test, 'notifications', { app_id: shop.id }, { attempts, updated_at: test.clock.now() })
  await fail(2)
  await rounds()
  expect(await alertsOf(shop.id)).toEqual([])
  await fail(3)
  await rounds()
  await rounds()
  for (const person of [shop.owner, manager])
    expect(await kindsFor(shop.id, person)).toEqual(['notifications_failing'])
  expect(await kindsFor(shop.id, viewer)).toEqual([])
  const mails = await mailed(email)
  expect(mails.map(({ subject }) => subject)).toEqual([
    `[Tessera] Shop of ${shop.owner.username}: notifications fail`,
  ])
  expect(mails[0]!.text).toContain('3 notifications')

  // The next day, only new failures cause an alert.
  test.clock.advance(24 * HOUR_MS)
  await rounds()
  expect(await kindsFor(shop.id, shop.owner)).toHaveLength(1)
  await fail(4)
  await rounds()
  expect(await kindsFor(shop.id, shop.owner)).toHaveLength(2)
})

it('a replaced key raises one alert before its overlap ends', async () => {
  const { shop, email, page, manager, viewer } = await makeShop()
  const owner = await shop.owner.signIn()
  await act(owner, `${page}/rotate`, { overlap_hours: '24', confirmed: 'yes' })
  await rounds()
  expect(await alertsOf(shop.id)).toEqual([])
  test.clock.advance(18 * HOUR_MS)
  await rounds()
  await rounds()
  expect(await kindsFor(shop.id, shop.owner)).toEqual(['key_expiring'])
  expect(await kindsFor(shop.id, manager)).toEqual(['key_expiring'])
  expect(await kindsFor(shop.id, viewer)).toEqual([])
  expect((await mailed(email))[0]!.text).toMatch(/works until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  test.clock.advance(7 * HOUR_MS)
  await rounds()
  expect(await alertsOf(shop.id)).toHaveLength(2)
})

it('a low balance alerts the owner alone, once for each fall', async () => {
  const { shop, page, manager } = await makeShop()
  const owner = await shop.owner.signIn()
  const set = (client: Browser, low_balance_points: string) =>
    act(client, `${page}/low-balance`, { low_balance_points })
  await rounds()
  expect(await alertsOf(shop.id)).toEqual([])
  for (const bad of ['0', '-1', '1.5', 'x', '9007199254740992'])
    expect((await set(owner, bad)).status).toBe(400)
  expect((await set(owner, '50')).status).toBe(303)
  expect((await owner.get(`${page}/settings`)).body).toContain('name="low_balance_points" value="50"')

  await rounds()
  await rounds()
  expect(await alertsOf(shop.id)).toMatchObject([
    { user_id: shop.owner.id, kind: 'balance_low', facts: { points: '50' } },
  ])
  await givePoints(test, shop.owner, 50n)
  await rounds()
  test.clock.advance(1_000)
  const sent = { ...recipientFields(manager), amount: '10', order_id: 'low' }
  expect((await shop.transfer(sent)).status).toBe(200)
  await rounds()
  expect(await kindsFor(shop.id, shop.owner)).toEqual(['balance_low', 'balance_low'])
  expect((await set(owner, '')).status).toBe(303)
  await rounds()
  expect(await alertsOf(shop.id)).toHaveLength(2)
})

it('raises one alert before an access key expires', async () => {
  const { shop, email, actor, page, manager, viewer } = await makeShop()
  const key = { name: 'Raffle script', scopes: ['orders:read' as const], days: 1, allowed_addresses: [] }
  await createAccessKey(test.deps, shop.payment_id, key, actor)
  await rounds()
  expect(await alertsOf(shop.id)).toEqual([])
  test.clock.advance(18 * HOUR_MS)
  await rounds()
  await rounds()
  for (const person of [shop.owner, manager])
    expect(await kindsFor(shop.id, person)).toEqual(['key_expiring'])
  expect(await kindsFor(shop.id, viewer)).toEqual([])
  const [mail] = await mailed(email)
  expect(mail!.text).toContain('Raffle script')
  expect(mail!.text).toContain(`${page}/access-keys`)
})

it('a repeated invitation or offer alerts once a day, within hourly limits', async () => {
  const { shop, actor } = await makeShop()
  const stranger = await makePerson(test, { username: 'stranger' })
  const email = await confirmEmail(stranger)
  const { username } = stranger
  const inviteAgain = async (deps: Core) => {
    await inviteMember(deps, shop.payment_id, { username, role: 'viewer' }, actor)
    await removeMember(deps, shop.payment_id, { username, keys: [] }, actor)
  }
  const offerAgain = async (deps: Core) => {
    await offerApplication(deps, shop.payment_id, username, actor)
    await withdrawOffer(deps, shop.payment_id, actor)
  }
  for (const { deps } of [test, other, test, other]) {
    await inviteAgain(deps)
    await offerAgain(deps)
  }
  expect(await kindsFor(shop.id, stranger)).toEqual(['invited', 'offered'])
  expect(await mailed(email)).toHaveLength(2)
  test.clock.advance(24 * HOUR_MS)
  await inviteAgain(test.deps)
  expect(await kindsFor(shop.id, stranger)).toEqual(['invited', 'offered', 'invited'])

  await setSetting(test, 'limit_invitations', '3')
  const invite = { username, role: 'viewer' } as const
  await offerAgain(test.deps)
  await inviteAgain(test.deps)
  const page = `/payment/applications/${shop.payment_id}/team`
  const owner = await shop.owner.signIn()
  expect((await act(owner, `${page}/invite`, invite)).status).toBe(429)
  await expect(offerAgain(test.deps)).rejects.toMatchObject({ code: 'too_many_attempts' })
  expect((await owner.get(page)).body).not.toContain(username)
  await setSetting(test, 'limit_invitations', '30')
})

it('the invited, the offered, and both sides of a handover are alerted', async () => {
  const { shop, email, page } = await makeShop()
  const heir = await makePerson(test, { username: 'heir' })
  const heirs = await confirmEmail(heir)
  const [owner, next] = [await shop.owner.signIn(), await heir.signIn()]
  await act(owner, `${page}/low-balance`, { low_balance_points: '50' })
  await act(owner, `${page}/team/invite`, { username: heir.username, role: 'viewer' })
  await act(owner, `${page}/handover/offer`, { username: heir.username, confirmed: 'yes' })
  expect((await next.get('/account/alerts')).body).toContain(`href="${page}/handover"`)
  await act(next, `${page}/handover/accept`)
  expect(await kindsFor(shop.id, heir)).toEqual(['invited', 'offered', 'received'])
  expect(await kindsFor(shop.id, shop.owner)).toEqual(['given_away'])
  expect(await mailed(heirs)).toHaveLength(3)
  expect((await mailed(email)).map(({ subject }) => subject)).toEqual([
    `[Tessera] Shop of ${shop.owner.username} has a new owner`,
  ])
  // The threshold was about the former owner's wallet.
  await rounds()
  expect(await kindsFor(shop.id, heir)).toHaveLength(3)
})

it('equal sign-ins in new browsers on one day are one row', async () => {
  const alice = await makePerson(test)
  const client = await alice.signIn()
  for (const _ of [1, 2, 3]) await alice.signIn()
  expect(await rowsOf(test, 'alerts', { user_id: alice.id }, ['kind'])).toHaveLength(3)
  const t = messages.en.alerts
  const page = await client.get('/account/alerts')
  expect(page.body.split('<button class="small" name="session"').length - 1).toBe(1)
  expect(page.body).toContain(t.times(3))
  expect(page.body).toContain(t.fromAddress('127.0.0.1'))
  expect(page.body).toContain(`<a href="/account/email">${t.noMail}</a>`)
  test.clock.advance(24 * HOUR_MS)
  await alice.signIn()
  await confirmEmail(alice)
  const next = await client.get('/account/alerts')
  expect(next.body.split('<button class="small" name="session"').length - 1).toBe(2)
  expect(next.body).not.toContain(t.noMail)
})

it('the charges of a mandate on one day are one row, with their sum', async () => {
  const [alice, { id: app_id }] = [await makePerson(test), await makeMerchant(test)]
  const shared = { app: 'Night Library', mandate: 'mnd_1', purpose: 'A seat' }
  const charge = (points: string) => ({
    ...{ user_id: alice.id, app_id, kind: 'mandate_charged' as const, cause: points },
    facts: JSON.stringify({ ...shared, points, transaction: `txn_${points}` }),
    raised_at: test.clock.now(),
  })
  const client = await alice.signIn()
  await test.db
    .insertInto('alerts')
    .values([charge('15'), charge('2000')])
    .execute()
  const t = messages.en.alerts
  const both = (await client.get('/account/alerts')).body
  expect(both).toContain(t.mails.mandate_charged({ app: 'Night Library', points: '2,015' }).subject)
  expect(both).toContain('href="/account/mandates/mnd_1"')
  expect(both).toContain(t.times(2))
  test.clock.advance(24 * HOUR_MS)
  await test.db.insertInto('alerts').values(charge('3')).execute()
  const next = (await client.get('/account/alerts')).body
  expect(next).toContain('href="/payment/pay/txn_3"')
  expect(next).toContain(t.times(2))
})
