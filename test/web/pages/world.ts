/**
 * A site with content on every page: members, their applications, and orders in every state. All tests of pages share
 * it.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { banMember } from '../../../src/accounts/members.ts'
import { issueLink, type LinkPurpose } from '../../../src/accounts/security/account-links.ts'
import { turnOnSecondFactor } from '../../../src/accounts/security/second-factor.ts'
import { newTotpSecret, stepAt, totpCode } from '../../../src/accounts/security/totp.ts'
import { GRANT_TYPES, registerApp } from '../../../src/identity/apps/apps.ts'
import { closeDueDays } from '../../../src/ledger/proofs.ts'
import { createAccessKey } from '../../../src/payment/access-keys/keys.ts'
import { applyForPaymentApp } from '../../../src/payment/apps/apps.ts'
import { offerApplication } from '../../../src/payment/apps/handover.ts'
import { acceptInvitation, inviteMember } from '../../../src/payment/apps/team.ts'
import { setEventsUrl } from '../../../src/payment/events/events.ts'
import { createLink } from '../../../src/payment/links/acts.ts'
import { reportLink } from '../../../src/payment/links/reports.ts'
import { revokeOwn } from '../../../src/payment/mandates/acts.ts'
import { makeChargeMandate } from '../../../src/payment/mandates/charge.ts'
import { linkSignInApp } from '../../../src/payment/mandates/right.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { askRefund } from '../../../src/payment/orders/refund-requests.ts'
import { refundOrder } from '../../../src/payment/orders/refunds.ts'
import { createDraft, payDraft } from '../../../src/payment/payouts/drafts.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import { changePerson, makePerson, type Person } from '../../harness/cast.ts'
import { freePort } from '../../harness/free-port.ts'
import { gatewayText, md5, send } from '../../harness/gateway-shop.ts'
import { setSetting, startTestApp, type TestApp } from '../../harness/harness.ts'
import { buyAt, details, makeLink, ownerOf } from '../../harness/links.ts'
import { chargeOf, giveRight, makeMandate, offer, switchMandates } from '../../harness/mandates.ts'
import { type Merchant, makeMerchant } from '../../harness/merchant.ts'
import { makeGatewayOrders } from '../../harness/notify-receiver.ts'
import { propose } from '../../harness/proposals.ts'
import { beginTip, makeTipper, setAge, switchTips, tip } from '../../harness/tips.ts'
import {
  authorize,
  exchange,
  makeParty,
  type Party,
  postForm,
  REDIRECT_URI,
  storeDocumentClient,
} from '../../identity/relying-party.ts'

/** The viewer of a page. `visitor` has not signed in; `stale` is the merchant with an old sign-in; `fromForum` signs in at the forum. */
export type Role = 'visitor' | 'buyer' | 'newcomer' | 'merchant' | 'stale' | 'careful' | 'fromForum' | 'admin'

type OAuthApp = { client_id: string }

export type World = {
  test: TestApp
  /** A site without a forum, where visitors may register. */
  open: TestApp
  people: Record<Exclude<Role, 'visitor' | 'stale'>, Person>
  cookies: Record<Exclude<Role, 'visitor'>, Map<string, string>>
  merchant: Merchant
  /** A banned member. */
  barred: Person
  /** Payment applications that wait for review, and that are suspended. */
  pending: { payment_id: string }
  suspendedSeller: Merchant
  /** The test application of the merchant. */
  testApp: Merchant
  oauth: { open: OAuthApp; closed: OAuthApp; suspended: OAuthApp; waiting: OAuthApp }
  /** Returns the code of a new device that waits for a member. */
  userCode(): Promise<string>
  /** Transaction IDs, by the state of the order. */
  orders: Record<OrderFate, string>
  /** The ids of mandates, by what they are to the payer. */
  mandates: Record<
    'upTo' | 'fixed' | 'dear' | 'replacing' | 'accepted' | 'charged' | 'revoked' | 'lapsed',
    string
  >
  /** The OAuth application that the merchant's payment application names, so that a sign-in may ask for mandates. */
  linked: Party
  /** The transaction ID of a transfer. */
  transfer: string
  /** The ids of payouts: one that has ended with a refused line, and a draft. */
  payouts: Record<'ended' | 'draft', bigint>
  links: Record<LinkPurpose, string>
  /** The slugs of payment links: with codes and a stock, with a free price, no longer on sale, and a draft. */
  selling: Record<'sale' | 'free' | 'over' | 'draft', string>
  /** The name of the shop of new orders. */
  walkShop: string
  /** A new order, and the address of its pay page. */
  order(
    amount: string,
  ): Promise<{ path: string; transaction_id: string; pay(payer: Person): Promise<unknown> }>
  /** Lets an order expire. */
  expire(transaction_id: string): Promise<unknown>
  close(): Promise<void>
}

type OrderFate =
  | 'unpaid'
  | 'test'
  | 'testPaid'
  | 'trade'
  | 'tradePaid'
  | 'dear'
  | 'paid'
  | 'untold'
  | 'refunded'
  | 'paidByOther'
  | 'expired'
  | 'closed'
  | 'unusable'
  | 'changed'
  | 'delivered'
  | 'tip'
  | 'tipPaid'

const DAY_MS = 86_400_000

/** @param prepare runs on the empty database. */
export async function makeWorld(prepare: (test: TestApp) => Promise<void> = async () => {}): Promise<World> {
  const open = await makeOpenSite()
  const port = await freePort()
  const test = await startTestApp({
    // With a name, so that pages offer passkeys.
    PUBLIC_URL: `http://localhost:${port}`,
    PORT: String(port),
    DISCOURSE_URL: 'https://forum.example.org',
    DISCOURSE_SECRET: 'a-secret-of-the-forum',
    SMTP_URL: 'smtp://127.0.0.1:9',
    SMTP_FROM: 'no-reply@example.org',
  })
  await prepare(test)
  await test.app.listen({ port, host: '127.0.0.1' })
  const merchant = await makeMerchant(test)
  const suspendedSeller = await makeMerchant(test)
  const changedSeller = await makeMerchant(test)
  // No test changes the keys of this application.
  const steady = await makeMerchant(test)
  const people = await makePeople(test, merchant.owner)
  const testApp = await makeMerchant(test, { twinOf: merchant })
  const { selling, delivered } = await makeSelling(test, merchant, people.buyer)
  const placed = await makeOrders(test, { people, merchant, suspendedSeller, changedSeller, testApp })
  const orders = { ...placed, delivered }
  await makeTeam(test, { people, merchant, suspendedSeller })
  await makeProposals(test, { people, orders })
  // The clock of the day after.
  await closeDueDays({
    db: test.db,
    databaseTime: async () => new Date(test.clock.now().getTime() + 2 * DAY_MS),
  })
  await makeRefused(test, merchant)
  await makeAccessKeys(test, merchant)
  return {
    test,
    open,
    people,
    merchant,
    suspendedSeller,
    mandates: await makeMandates(test, { people, merchant }),
    linked: await makeLinked(test, merchant),
    transfer: await firstTransfer(test),
    payouts: await makePayouts(test, { merchant, people }),
    barred: await makeBarred(test, people),
    testApp,
    pending: await makePending(test, people),
    oauth: await makeOAuthApps(test, people),
    userCode: makeUserCode(
      test,
      await makeParty(test, { name: 'Living Room', grant_types: [...GRANT_TYPES] }),
    ),
    cookies: await signEverybodyIn(test, people),
    links: await makeLinks(test, people.careful),
    orders: { ...orders, ...(await makeTips(test, people)) },
    selling,
    walkShop: `Shop of ${steady.owner.username}`,
    order: async (amount) => {
      const { body } = await steady.process({ amount, description: 'Walk', order_id: randomUUID() })
      const transaction_id = String(body.transaction_id)
      const pay = ({ id: payer_id }: Person) =>
        makePayOrder(test.deps)({ transaction_id, payer_id, expected_amount: BigInt(amount) })
      return { path: String(body.payment_url), transaction_id, pay }
    },
    expire: (transaction_id) =>
      test.db
        .updateTable('orders')
        .set({ expires_at: test.clock.now() })
        .where('transaction_id', '=', transaction_id)
        .execute(),
    close: async () => {
      await Promise.all([test.close(), open.close()])
    },
  }
}

/** Two tips of the buyer to a member of the forum, of which one is paid. */
async function makeTips(test: TestApp, { buyer, newcomer }: World['people']) {
  await switchTips(test)
  const author = await makeTipper(test, { username: 'erin', name: 'Erin Example', points: 0n })
  await changePerson(test, author, { forum_id: 5150n, password_hash: null })
  for (const person of [buyer, newcomer]) await setAge(test, person, 30 * DAY_MS)
  const post = { post_path: '/t/ginger-cat-photos/12/3', amount: 50n }
  const paid = await tip(test.deps, buyer, author, post)
  return { tip: await beginTip(test.deps, buyer, author, post), tipPaid: paid.transaction_id }
}

async function makeOpenSite(): Promise<TestApp> {
  const port = await freePort()
  const open = await startTestApp({ PUBLIC_URL: `http://127.0.0.1:${port}`, PORT: String(port) })
  await open.db.insertInto('site_settings').values({ name: 'registration', value: 'open' }).execute()
  await open.app.listen({ port, host: '127.0.0.1' })
  return open
}

async function makePeople(test: TestApp, owner: Person): Promise<World['people']> {
  const email = 'alice.archer@example.org'
  const buyer = await makePerson(test, { name: 'Alice Archer', email, points: 50_000n })
  await test.db
    .insertInto('passkeys')
    .values(
      ['Phone', 'Key ring'].map((name, n) => ({
        user_id: buyer.id,
        credential_id: Buffer.from(name),
        public_key: Buffer.from([n]),
        sign_count: 0n,
        transports: ['internal'],
        rp_id: n === 0 ? 'localhost' : 'old.example.org',
        is_backup_eligible: n === 0,
        is_backed_up: n === 0,
        is_user_verified: true,
        name,
        created_at: test.clock.now(),
      })),
    )
    .execute()
  const newcomer = await makePerson(test, { username: 'newcomer', trust_level: 0, points: 50n })
  const careful = await makePerson(test, {
    username: 'careful',
    email: 'careful@example.org',
    groups: ['founders'],
  })
  const admin = await makePerson(test, {
    username: 'administrator',
    is_admin: true,
    trust_level: 4,
    points: 500n,
  })
  const fromForum = await makePerson(test, { username: 'erin', name: 'Erin Moore', points: 1_200n })
  return { buyer, newcomer, merchant: owner, careful, fromForum, admin }
}

/** The cookies of every member's browser. */
async function signEverybodyIn(test: TestApp, people: World['people']): Promise<World['cookies']> {
  const entries = await Promise.all(
    Object.entries(people).map(async ([role, person]) => [role, (await person.signIn()).cookies] as const),
  )
  const cookies = Object.fromEntries(entries) as World['cookies']
  cookies.stale = (await people.merchant.signIn()).cookies
  const [latest] = await sessionsOf(test, people.merchant)
  const auth_time = new Date(test.clock.now().getTime() - DAY_MS)
  await test.db.updateTable('sessions').set({ auth_time }).where('id', '=', latest!.id).execute()
  await protect(test, people.careful)
  // A member of the forum has no password here, so the session is older than that.
  await changePerson(test, people.fromForum, { forum_id: 42n, password_hash: null })
  await setSetting(test, 'forum_wallet', 'on')
  return cookies
}

function sessionsOf(test: TestApp, { id }: Person) {
  return test.db.selectFrom('sessions').where('user_id', '=', id).orderBy('id', 'desc').select('id').execute()
}

/** The present session stays, because it turned the second factor on. */
async function protect(test: TestApp, person: Person): Promise<void> {
  const [session] = await sessionsOf(test, person)
  const secret = newTotpSecret()
  const code = totpCode(secret, stepAt(test.clock.now()))
  const actor = { user_id: person.id, session_id: session!.id, ip: '203.0.113.7' }
  await turnOnSecondFactor(test.deps, actor, { secret, code })
}

type Sellers = Pick<World, 'people' | 'merchant' | 'suspendedSeller' | 'testApp'> & {
  changedSeller: Merchant
}

async function makeOrders(
  test: TestApp,
  { people, merchant, suspendedSeller, changedSeller, testApp }: Sellers,
): Promise<Omit<World['orders'], 'delivered' | 'tip' | 'tipPaid'>> {
  let count = 0
  const order = async (amount: string, description: string, seller = merchant) => {
    count += 1
    const order_id = `2026-${String(count).padStart(6, '0')}`
    const { body } = await seller.process({ amount, description, order_id })
    return { transaction_id: String(body.transaction_id), amount: BigInt(amount) }
  }
  /** An order of the gateway: its price is money, and a plugin often sends a long name. */
  const trade = async (money: string) => {
    count += 1
    const fields = {
      pid: merchant.pid.toString(),
      out_trade_no: `20260101${String(count).padStart(8, '0')}`,
      name: '会员 Membership, as on https://shop.example.org/every-extra-that-the-shop-knows-of-and-more-of-them',
      money,
      notify_url: 'https://shop.example.org/notify',
      return_url: 'https://shop.example.org/orders',
    }
    const signed = { ...fields, sign: md5(gatewayText(fields) + merchant.merchant_key) }
    const { payurl } = (await send(test, 'POST', '/payment/api/mapi.php', signed)).json()
    return { transaction_id: String(payurl).split('/').at(-1)! }
  }
  const payOrder = makePayOrder(test.deps)
  const paid = async (amount: string, description: string, { id: payer_id }: Person, seller = merchant) => {
    const { transaction_id, amount: expected_amount } = await order(amount, description, seller)
    await payOrder({ transaction_id, payer_id, expected_amount })
    return transaction_id
  }

  const expired = (await order('120', 'Sticker pack')).transaction_id
  test.clock.advance(DAY_MS)
  for (let i = 1; i <= 24; i += 1) await paid(String(i * 17), `Sticker pack, series ${i}`, people.buyer)
  await paid('300', 'A year of support', people.buyer, suspendedSeller)
  const to = { to_user_id: String(people.buyer.id), to_username: people.buyer.username }
  await merchant.transfer({ ...to, amount: '25', order_id: 'bonus-1' })
  const refunded = await paid('480', 'Poster, A2', people.buyer)
  await refundOrder(test.deps, {
    transaction_id: refunded,
    amount: 480n,
    with_fee: true,
    key: 'world',
    reason: 'Arrived torn',
    actor_id: people.admin.id,
    ip: '203.0.113.7',
  })
  const { transaction_id: tradePaid } = await trade('9.90')
  await payOrder({ transaction_id: tradePaid, payer_id: people.buyer.id, expected_amount: 990n })
  const closed = (await order('75', 'Postcard')).transaction_id
  await test.db.updateTable('orders').set({ status: 'closed' }).where('transaction_id', '=', closed).execute()
  const unusable = (await order('90', 'Mug', suspendedSeller)).transaction_id
  const changed = (await order('45', 'Bookmark', changedSeller)).transaction_id
  const renamed = test.db.updateTable('payment_apps').where('payment_id', '=', changedSeller.payment_id)
  await renamed.set({ name: 'Forum gift fund', updated_at: test.clock.now() }).execute()
  const seller = test.db.updateTable('payment_apps').where('payment_id', '=', suspendedSeller.payment_id)
  await seller.set({ status: 'suspended', review_reason: 'Sold what it did not have' }).execute()
  const notify_url = 'https://shop.example.org/notify'
  const [untold] = await makeGatewayOrders(test, merchant, { notify_url })
  await payOrder({ transaction_id: untold!, payer_id: people.buyer.id, expected_amount: 100n })
  await failToTell(test, untold!)
  const owner = { user_id: merchant.owner.id, ip: '203.0.113.7' }
  await setEventsUrl(test.deps, merchant.payment_id, 'https://shop.example.org/events', owner)
  const actor = { user_id: people.merchant.id, ip: '203.0.113.7' }
  const asked = { transaction_id: tradePaid, amount: 200n, reason: 'One of the extras is missing' }
  await askRefund(test.deps, merchant.payment_id, asked, actor)
  return {
    untold: untold!,
    expired,
    refunded,
    closed,
    unusable,
    changed,
    paidByOther: await paid('60', 'Pin', people.admin),
    paid: await paid('1200', 'Sticker pack, all series, with an album to keep them in', people.buyer),
    dear: (await order('40000', 'The whole shop')).transaction_id,
    trade: (await trade('9.90')).transaction_id,
    tradePaid,
    test: (await order('990', 'Sticker pack, for practice', testApp)).transaction_id,
    testPaid: await paid('480', 'Poster, for practice', people.buyer, testApp),
    unpaid: (await order('990', 'Sticker pack, glow in the dark')).transaction_id,
  }
}

/** The state after a shop answered badly, twice in the same way and once in another. */
async function failToTell(test: TestApp, transaction_id: string): Promise<void> {
  const next_attempt_at = new Date(test.clock.now().getTime() + 30 * 60_000)
  const { id: notification_id } = await test.db
    .updateTable('notifications')
    .from('orders')
    .whereRef('orders.id', '=', 'notifications.order_id')
    .where('orders.transaction_id', '=', transaction_id)
    .set({ attempts: 3, next_attempt_at, claims: 3 })
    .returning('notifications.id')
    .executeTakeFirstOrThrow()
  const attempts = [502, 502, null].map((response_status, i) => ({
    notification_id,
    claim: i + 1,
    started_at: test.clock.now(),
    duration_ms: 40,
    url: `https://shop.example/notify?${'long='.repeat(20)}&sign=0123456789abcdef`,
    response_status,
    ...(response_status === null
      ? { outcome: 'timeout' as const, detail: 'answer' }
      : { outcome: 'bad_status' as const, response_body: '<html><h1>502 Bad Gateway</h1></html>' }),
  }))
  await test.db.insertInto('notification_attempts').values(attempts).execute()
}

/** Two keys: of a program that reads, and one that pays from two addresses and expires soon. */
async function makeAccessKeys(test: TestApp, { payment_id, owner }: Merchant): Promise<void> {
  const actor = { user_id: owner.id, ip: '203.0.113.7' }
  const reading = { name: 'Orders in a spreadsheet', days: 90, allowed_addresses: [] }
  const paying = { ...reading, name: 'Raffle', days: 7, allowed_addresses: ['203.0.113.7', '2001:db8::/32'] }
  await createAccessKey(test.deps, payment_id, { ...reading, scopes: ['orders:read'] }, actor)
  await createAccessKey(test.deps, payment_id, { ...paying, scopes: ['orders:read', 'transfers'] }, actor)
}

/** The payer views the merchant's shop. Other members are invited, and one to own it. */
async function makePayouts(
  { deps }: TestApp,
  { merchant, people }: Pick<World, 'merchant' | 'people'>,
): Promise<World['payouts']> {
  const line = (line_id: string, username: string, amount: bigint) => ({
    ...{ line_id, username, amount, user_id: undefined, memo: 'Raffle' },
  })
  const lines = [
    ...[line('1', people.buyer.username, 40n), line('2', 'nobody-here', 20n)],
    line('3', people.careful.username, 10n),
  ]
  const actor = { user_id: merchant.owner.id, ip: '203.0.113.7' }
  const make = (reference: string) =>
    createDraft(deps, merchant.payment_id, { reference, mode: 'each', lines }, actor)
  const ended = await make('raffle-2026')
  await payDraft(deps, merchant.payment_id, ended, actor)
  await runPayouts(deps)
  return { ended, draft: await make('raffle-2027') }
}

async function makeTeam(
  test: TestApp,
  { people, merchant, suspendedSeller }: Pick<World, 'people' | 'merchant' | 'suspendedSeller'>,
): Promise<void> {
  const { payment_id } = merchant
  const owner = { user_id: merchant.owner.id, ip: '203.0.113.7' }
  const buyer = { user_id: people.buyer.id, ip: '203.0.113.8' }
  const { username } = people.careful
  await inviteMember(test.deps, payment_id, { username: people.buyer.username, role: 'viewer' }, owner)
  await acceptInvitation(test.deps, payment_id, buyer)
  const { owner: seller } = suspendedSeller
  await inviteMember(test.deps, payment_id, { username: seller.username, role: 'manager' }, owner)
  await acceptInvitation(test.deps, payment_id, { user_id: seller.id, ip: '203.0.113.9' })
  await inviteMember(test.deps, payment_id, { username, role: 'operator' }, owner)
  await offerApplication(test.deps, payment_id, username, owner)
}

/** A proposal that waits for the administrator of the pages, and one by that administrator. */
async function makeProposals(
  test: TestApp,
  { people, orders }: Pick<World, 'people'> & { orders: Omit<World['orders'], 'tip' | 'tipPaid'> },
): Promise<void> {
  const { id: colleague } = await makePerson(test, { username: 'colleague', is_admin: true })
  const ip = '203.0.113.7'
  const refund = { kind: 'refund', transaction_id: orders.paid, amount: 1_200n, with_fee: true } as const
  await propose(test.deps, { ...refund, reason: 'Never arrived', key: 'a' }, { actor_id: colleague, ip })
  const { id: user_id, username } = people.newcomer
  const lines = [{ line: 1, text: '', user_id, username, amount: 25n, fault: undefined }]
  const points = { kind: 'points', reason: 'Won the quiz', key: 'b' } as const
  await propose(test.deps, { ...points, lines }, { actor_id: people.admin.id, ip })
  const rule = { kind: 'setting', setting: 'second_approver', value: 'off' } as const
  await propose(test.deps, rule, { actor_id: colleague, ip })
}

async function makeMandates(
  test: TestApp,
  { people, merchant }: Pick<World, 'people' | 'merchant'>,
): Promise<World['mandates']> {
  await switchMandates(test)
  await giveRight(test, merchant)
  const fixed = { caps: { amount: 300n }, purpose: 'Membership of the reading club' }
  const accepted = await makeMandate(test, merchant, people.buyer, fixed)
  const charged = await makeMandate(test, merchant, people.buyer, { purpose: 'Stickers with one click' })
  const charge = makeChargeMandate(test.deps)
  for (const amount of [90n, 100n, 70n, 60n])
    await charge(chargeOf(merchant, charged, amount)).catch(() => undefined)
  const revoked = await makeMandate(test, merchant, people.buyer, fixed)
  await revokeOwn(test.deps, revoked, { user_id: people.buyer.id, ip: '203.0.113.7' })
  const lapsed = await offer(test, merchant, fixed)
  const expired = { offer_expires_at: test.clock.now() }
  await test.db.updateTable('mandates').set(expired).where('mandate_id', '=', lapsed).execute()
  return {
    accepted,
    charged,
    revoked,
    lapsed,
    upTo: await offer(test, merchant, { purpose: 'Stickers with one click' }),
    fixed: await offer(test, merchant, fixed),
    dear: await offer(test, merchant, { caps: { charge_max: 3_000n, period_max: 20_000n } }),
    replacing: await offer(test, merchant, { ...fixed, caps: { amount: 450n }, replaces: accepted }),
  }
}

/** The parameter with which a sign-in asks for a mandate. */
export const naming = (identifier: string) => ({
  authorization_details: JSON.stringify([{ type: 'points_mandate', identifier }]),
})

async function makeLinked(test: TestApp, { payment_id, owner }: Merchant): Promise<Party> {
  const app = {
    owner_id: owner.id,
    name: 'Shop of the Reading Club',
    description: '',
    redirect_uris: [REDIRECT_URI],
    allow_groups: [],
    deny_groups: [],
  }
  const registered = await registerApp(test.db, app)
  const actor = { user_id: owner.id, ip: '203.0.113.7' }
  await linkSignInApp(test.deps, payment_id, registered.client_id, actor)
  return { ...registered, redirect_uri: REDIRECT_URI, owner: owner.username }
}

async function firstTransfer({ db }: TestApp): Promise<string> {
  const { transaction_id } = await db
    .selectFrom('transfers')
    .select('transaction_id')
    .executeTakeFirstOrThrow()
  return transaction_id
}

async function makeBarred(test: TestApp, { admin }: World['people']): Promise<Person> {
  const barred = await makePerson(test, { username: 'barred', name: 'Mallory Marsh' })
  await barred.signIn()
  const act = { user_id: barred.id, actor_id: admin.id, reason: 'Sold the account', ip: '203.0.113.7' }
  await banMember(test.deps, act)
  return barred
}

async function makePending(test: TestApp, { buyer }: World['people']) {
  return applyForPaymentApp(test.deps, {
    applicant_id: buyer.id,
    name: '小店 · Tea & Books',
    description: 'Loose leaf tea, and books to read with it.',
    callback_url: 'https://tea.example.org/payment/callback',
  })
}

/** Requests that the merchant signed wrongly in different ways. */
async function makeRefused(test: TestApp, { payment_id, pid, token, merchant_key }: Merchant) {
  const fields = { pid: pid.toString(), out_trade_no: 'A-1', name: '会员 Membership', money: '9.90' }
  const mapi = (sign: string) => send(test, 'POST', '/payment/api/mapi.php', { ...fields, sign })
  await mapi('0'.repeat(32))
  await mapi(md5(`${gatewayText(fields)}&${merchant_key}`))
  const asked = { description: '会员 Membership', order_id: 'A-1', amount: '100' }
  const signature = createHmac('sha256', token)
    .update(`amount=100&description=${encodeURIComponent(asked.description)}&order_id=A-1`)
    .digest('hex')
  await send(test, 'POST', `/payment/pay/${payment_id}/process`, { ...asked, signature })
}

function makeUserCode(test: TestApp, television: Party): World['userCode'] {
  return async () => {
    const { client_id, client_secret } = television
    const { body } = await postForm(test, '/oauth2/device_authorization', { client_id, client_secret })
    return String(body.user_code)
  }
}

async function makeOAuthApps(
  test: TestApp,
  { merchant, buyer, admin }: World['people'],
): Promise<World['oauth']> {
  const register = async (name: string, rules: { deny_groups?: string[]; allow_groups?: string[] } = {}) => {
    const redirect_uris = [REDIRECT_URI, 'https://staging.app.example/a/rather/long/path/to/the/callback']
    const description = 'Books, every Thursday evening at the library'
    const app = {
      owner_id: merchant.id,
      name,
      description,
      redirect_uris,
      allow_groups: [],
      deny_groups: [],
      ...rules,
    }
    const party = {
      ...(await registerApp(test.db, app)),
      redirect_uri: REDIRECT_URI,
      owner: merchant.username,
    }
    return party as typeof party & { client_secret: string }
  }
  const used = await register('Reading Club')
  const client = await buyer.signIn()
  const { code } = await authorize(client, used)
  await exchange(test, used, code)
  const suspended = await register('Mail Harvest')
  const now = test.clock.now()
  const set = (app: OAuthApp, values: Record<string, unknown>) =>
    test.db.updateTable('oauth_apps').set(values).where('client_id', '=', app.client_id).execute()
  await set(suspended, { suspended_at: now, suspended_by: admin.id, suspended_reason: 'Asked for passwords' })
  const waiting = await register('Night Market')
  await set(waiting, { confirmed_at: null, registered_by_app_id: used.id })
  const homepage = 'https://books.example.org/'
  await set(used, { reviewed_at: now, reviewed_by: admin.id, homepage })
  const listed = await register('Map Room')
  await set(listed, { reviewed_at: now, reviewed_by: admin.id, homepage, is_listed: true })
  const open = await register('Chess Ladder')
  await set(open, { backchannel_logout_uri: 'https://app.example/signed-out' })
  return {
    open,
    closed: await register('Founders', { allow_groups: ['trust_level_4', 'founders'] }),
    suspended,
    waiting,
  }
}

/** Makes links that sell, and the order of a buyer that has delivered two codes. */
async function makeSelling(test: TestApp, merchant: Merchant, buyer: Person) {
  const codes = Array.from({ length: 8 }, (_, i) => `CATS-2026-${1000 + i}`)
  const description = 'Twelve ginger cats for your own printer, PNG and SVG.\n\nPrinting for friends is fine.'
  const title = 'Cat stickers, set 3 · print files'
  const thanks = 'Thank you! The code opens the download on three devices.'
  const sale = await makeLink(test, merchant, {
    ...{ title, description, thanks, codes, amount: 60n, quantity_max: 3, member_max: 5 },
    sells_until: new Date(test.clock.now().getTime() + 30 * DAY_MS),
  })
  const prices = { amount: null, amount_min: 5n, amount_max: 5_000n, suggestions: [10n, 50n, 200n] }
  const free = await makeLink(test, merchant, { title: 'A tip for the cats', messages: 'public', ...prices })
  const over = await makeLink(test, merchant, { title: 'Advent calendar', sells_until: test.clock.now() })
  const { transaction_id } = await buyAt(test.deps, sale, buyer, 2)
  const text = 'The stickers are drawn by somebody else.'
  await reportLink(test.deps, { slug: sale.slug, user_id: buyer.id, text })
  const lantern = details({ title: 'Paper lanterns', delivery: 'text', delivered: 'Fold along the lines.' })
  const draft = await createLink(test.deps, merchant.payment_id, lantern, ownerOf(merchant))
  const selling = { sale: sale.slug, free: free.slug, over: over.slug, draft }
  return { selling, delivered: transaction_id }
}

async function makeLinks(test: TestApp, { id: user_id }: Person): Promise<World['links']> {
  const expires_at = new Date(test.clock.now().getTime() + DAY_MS)
  const email = 'careful@example.org'
  const issue = (purpose: LinkPurpose) =>
    test.db.transaction().execute((tx) => issueLink(tx, { user_id, purpose, email, expires_at }))
  return {
    recover_password: await issue('recover_password'),
    confirm_email: await issue('confirm_email'),
    sign_in: await issue('sign_in'),
    not_me: await issue('not_me'),
  }
}

/** What a public application adds to its request. */
export const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }

/** A client that is known by its document, which is fresh. */
export async function knownByDocument({ test, people }: World) {
  await setSetting(test, 'client_id_metadata_documents', 'any')
  return storeDocumentClient(test, people.merchant, {
    origin: 'https://agent-of-a-rather-long-name.example',
    client_name: 'Reading Agent, which calls itself by a long name too',
  })
}

/** A program on the member's own device. */
export function onDevice({ test }: Pick<World, 'test'>, redirect_uri: string): Promise<Party> {
  return makeParty(test, {
    name: 'A program with quite a long name',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
  })
}
