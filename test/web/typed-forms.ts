/** Every form in which people type, one line each: who sends it from which page, and values that it takes. */
import { PASSKEYS } from '../../src/accounts/passkeys/passkeys.page.ts'
import { freezeOrder, freezeWallet } from '../../src/admin/points/freezes.ts'
import { pauseHost } from '../../src/payment/notifications/pausing.ts'
import { AppError } from '../../src/platform/errors.ts'
import type { Browser, Page } from '../harness/harness.ts'
import { rowOf } from '../harness/rows.ts'
import { authorizationUrl } from '../identity/relying-party.ts'
import { clientFor } from './pages/ways.ts'
import { naming, type Role, type World } from './pages/world.ts'

export type TypedForm = {
  as: Role
  /** The page of the form, or the steps that lead to it. */
  page: (world: World, client: Browser) => string | Promise<Page>
  /** Values of its fields. A form that would take them is told from others by the field at fault. */
  fields: Record<string, string>
  /** Hidden fields that tell the form from others of the same address. */
  hidden?: Record<string, string>
  /** The end of the address to which another button of the same form sends it. */
  button?: string
  /** What it answers like any value. */
  takes?: string[]
  /** Whether it is on the site where visitors may register. */
  isOpen?: boolean
}

type Rest = Omit<TypedForm, 'as' | 'page' | 'fields'>

/** Makes lines of the list for this sender: the page of a form, its values, and what else there is to say. */
const sentBy =
  (as: Role) =>
  (page: string | TypedForm['page'], fields: Record<string, string>, rest: Rest = {}): TypedForm => ({
    ...{ as, page: typeof page === 'string' ? () => page : page, fields },
    ...rest,
  })
const [visitor, buyer, merchant] = [sentBy('visitor'), sentBy('buyer'), sentBy('merchant')]
const [newcomer, admin] = [sentBy('newcomer'), sentBy('admin')]

const shop =
  (place: string) =>
  ({ merchant }: World) =>
    `/payment/applications/${merchant.payment_id}/${place}`
const codesOfSale = ({ merchant, selling }: World) =>
  `/payment/applications/${merchant.payment_id}/links/${selling.sale}/codes`
const ownApp =
  (place: string) =>
  ({ oauth }: World) =>
    `/apps/${oauth.open.client_id}/${place}`
const member = ({ people }: World) => `/admin/members/${people.buyer.id}`

const actOf = ({ people }: World) => ({ reason: 'For a test', actor_id: people.admin.id, ip: '203.0.113.7' })

/** Passes over the conflict of an act that an earlier test has done. */
function isDone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'conflict') throw error
}

const caps = { charge_max: '1000', period_max: '2000' }
const reason = { reason: 'Sold the same ticket twice' }
const logo_url = 'https://app.example.org/logo.png'
const groups = { allow_groups: 'trust_level_2', deny_groups: 'suspended' }
const settings = {
  name: 'Night Reading',
  redirect_uris: 'https://app.example.org/callback',
  description: 'Books after dark',
  homepage: 'https://app.example.org/',
  post_logout_redirect_uris: 'https://app.example.org/bye',
  backchannel_logout_uri: 'https://app.example.org/signed-out',
  resource_uri: 'https://app.example.org/api',
}
/** Amounts of both prices, so that a fault in either is found. */
const linkFields = {
  title: 'Paper lanterns',
  amount: '5',
  quantity_max: '2',
  amount_min: '1',
  amount_max: '9',
  min_level: '0',
  low_stock: '5',
  sale_alerts: 'daily',
}
const shopFacts = {
  name: 'Night Market',
  description: 'Lanterns',
  callback_url: 'https://market.example.org/paid',
}

export const FORMS: Record<string, TypedForm | TypedForm[]> = {
  '/sign-in': visitor('/sign-in', { username: 'somebody', password: 'wrong' }),
  '/sign-in/second-factor': [
    visitor(secondStep, { code: '000000' }),
    visitor(secondStep, { recovery_code: 'aaaa-bbbb-cccc-dddd' }),
  ],
  '/register': visitor(
    '/register',
    { username: 'newcomer', password: 'correct horse battery' },
    { isOpen: true },
  ),
  '/account/profile': buyer('/account/profile', { name: 'Alice Archer' }),
  '/account/password': buyer('/account/password', {
    current_password: 'wrong',
    new_password: 'correct horse battery',
  }),
  '/account/email': buyer('/account/email', { email: 'alice@example.org' }),
  '/account/keep-access/email': buyer('/account/keep-access', { email: 'alice@example.org' }),
  '/account/recover': visitor('/account/recover', { name: 'alice' }),
  '/account/recover/password': visitor(
    ({ links }) => `/account/recover/password?token=${links.recover_password}`,
    { new_password: 'correct horse battery' },
  ),
  '/account/second-factor': buyer('/account/second-factor', { code: '000000' }),
  [PASSKEYS]: buyer(PASSKEYS, { name: 'Phone' }),
  [`${PASSKEYS}/:id/name`]: buyer(PASSKEYS, { name: 'Phone' }),
  '/account/data/close': newcomer(
    async (_world, client) => {
      const page = await client.get('/account/data')
      return client.submit(page, '/account/data/close', { give_up: '50' })
    },
    { username: 'somebody-else' },
  ),
  '/apps': merchant('/apps', settings),
  '/apps/:client_id/settings': merchant(ownApp('settings'), settings),
  '/apps/:client_id/logo/address': merchant(ownApp('settings'), { logo_url }),
  '/apps/:client_id/access': merchant(ownApp('access'), groups),
  '/apps/:client_id/access/preview': merchant(ownApp('access'), groups, { button: '/preview' }),
  '/apps/:client_id/delete': merchant(ownApp('settings'), { typed_name: 'Chess' }),
  '/apps/:client_id/secrets': merchant(ownApp('secrets'), { client_secret: 'not-the-secret' }),
  '/device': buyer('/device', { user_code: 'BBBB-CCCC' }),
  '/l/:slug': buyer(({ selling }) => `/l/${selling.free}`, { amount: '50' }),
  '/tip': buyer('/tip?to_id=5150&post=/t/ginger-cat-photos/12/3', { amount: '20' }),
  '/payment/mandate/:mandate_id|:payment_id': buyer(
    ({ mandates }) => `/payment/mandate/${mandates.upTo}`,
    caps,
  ),
  '/oauth2/auth/mandate': buyer(
    ({ linked, mandates }) => authorizationUrl(linked, naming(mandates.upTo)),
    caps,
  ),
  '/account/mandates/:mandate_id/terms': buyer(
    ({ mandates }) => `/account/mandates/${mandates.charged}`,
    caps,
  ),
  '/payment/applications': merchant('/payment/applications', shopFacts),
  // Without its file, which test/payment/payouts/page.test.ts sends.
  '/payment/applications/:payment_id/payouts/new': merchant(shop('payouts/new'), {
    ...{ reference: 'raffle', lines: 'username,amount\nbuyer,5' },
  }),
  '/payment/applications/:payment_id/edit': merchant(shop('settings'), {
    ...shopFacts,
    notify_url: 'https://market.example.org/notify',
    order_minutes: '15',
    homepage: 'https://market.example.org/',
    logo_url: 'https://market.example.org/logo.png',
    exchange_rate: '100',
    allowed_addresses: '203.0.113.0/24',
  }),
  '/payment/applications/:payment_id/low-balance': merchant(shop('settings'), {
    low_balance_points: '100',
  }),
  '/payment/applications/:payment_id/rotate': merchant(shop('developers'), { overlap_hours: '24' }),
  '/payment/applications/:payment_id/public-key': merchant(shop('developers'), {
    public_key: 'no key',
  }),
  '/payment/applications/:payment_id/test-order': merchant(
    ({ testApp }) => `/payment/applications/${testApp.payment_id}`,
    { description: 'Tea', amount: '10' },
  ),
  '/payment/applications/:payment_id/go-live': merchant(
    ({ testApp }) => `/payment/applications/${testApp.payment_id}/go-live`,
    { callback_url: 'https://market.example.org/paid' },
  ),
  '/payment/applications/:payment_id/test-trade': merchant(
    ({ testApp }) => `/payment/applications/${testApp.payment_id}/developers`,
    { notify_url: 'https://market.example.org/notify', return_url: 'https://market.example.org/paid' },
  ),
  '/payment/applications/:payment_id/events': merchant(shop('events'), {
    events_url: 'https://market.example.org/events',
  }),
  '/payment/applications/:payment_id/events/rotate': merchant(shop('events'), {
    overlap_hours: '24',
  }),
  '/payment/applications/:payment_id/access-keys': merchant(shop('access-keys'), {
    name: 'Raffle script',
    days: '30',
    allowed_addresses: '203.0.113.0/24',
  }),
  '/payment/applications/:payment_id/team/invite': merchant(shop('team'), {
    username: 'somebody',
    role: 'manager',
  }),
  '/payment/applications/:payment_id/handover/offer': merchant(shop('handover'), {
    username: 'somebody',
  }),
  '/payment/applications/:payment_id/addresses': merchant(
    shop('addresses'),
    { url: 'https://market.example.org/' },
    { takes: ['no address'] },
  ),
  '/payment/applications/:payment_id/links/new': merchant(shop('links/new'), linkFields),
  '/payment/applications/:payment_id/links/:slug': merchant(
    ({ merchant, selling }) => `/payment/applications/${merchant.payment_id}/links/${selling.draft}`,
    linkFields,
  ),
  '/payment/applications/:payment_id/links/:slug/codes': merchant(codesOfSale, { codes: 'LANTERN-1' }),
  '/payment/applications/:payment_id/links/:slug/codes/take-back': merchant(codesOfSale, { count: '1' }),
  '/payment/applications/:payment_id/mandates/ask': buyer(
    ({ pending }) => `/payment/applications/${pending.payment_id}/mandates`,
    { purpose: 'short' },
  ),
  '/payment/applications/:payment_id/mandates/:mandate_id/revoke': merchant(
    ({ merchant, mandates }) =>
      `/payment/applications/${merchant.payment_id}/mandates?q=${mandates.accepted}`,
    { reason: 'The club has closed' },
  ),
  '/payment/applications/:payment_id/transfers/quote': merchant(shop('transfers'), {
    to_username: 'somebody',
    amount: '5',
    order_id: 'bonus-2',
  }),
  '/payment/applications/:payment_id/orders/:transaction_id/refund-request': merchant(
    ({ merchant, orders }) => `/payment/applications/${merchant.payment_id}/orders/${orders.paid}`,
    { amount: '600', reason: 'One series is missing' },
  ),
  '/payment/applications/:payment_id/signatures': merchant(shop('signatures'), {
    text: 'nothing that can be read',
  }),
  '/admin/adjustments': [
    admin(
      ({ orders }) => `/admin/adjustments?id=${orders.paid}`,
      { amount: '12', ...reason },
      { hidden: { kind: 'refund' } },
    ),
    admin(({ transfer }) => `/admin/adjustments?id=${transfer}`, reason, {
      hidden: { kind: 'reversal' },
    }),
    admin('/admin/adjustments', { lines: 'nobody,5', ...reason }, { hidden: { kind: 'points' } }),
    admin(
      '/admin/adjustments',
      { username: 'nobody', amount: '5', ...reason },
      { hidden: { kind: 'member' } },
    ),
  ],
  '/admin/refund-requests/:id/decline': admin('/admin/refund-requests', {
    answer: 'The album is included',
  }),
  '/admin/proposals/:id/decline': admin('/admin/proposals', reason),
  '/admin/orders/:transaction_id/freeze': admin(({ orders }) => `/admin/orders/${orders.unpaid}`, reason),
  '/admin/wallets/:id/freeze': admin(({ people }) => `/admin/wallets/${people.newcomer.id}`, reason),
  '/admin/orders/:transaction_id/unfreeze': admin(async (world, client) => {
    await freezeOrder(world.test.deps, world.orders.dear, actOf(world)).catch(isDone)
    return client.get(`/admin/orders/${world.orders.dear}`)
  }, reason),
  '/admin/wallets/:id/unfreeze': admin(async (world, client) => {
    await freezeWallet(world.test.deps, world.people.careful.id, actOf(world)).catch(isDone)
    return client.get(`/admin/wallets/${world.people.careful.id}`)
  }, reason),
  '/admin/payment-applications/:payment_id/freeze': admin(
    ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
    reason,
  ),
  '/admin/payment-applications/:payment_id/unfreeze': admin(
    ({ suspendedSeller }) => `/admin/payment-applications/${suspendedSeller.payment_id}`,
    reason,
  ),
  '/admin/reviews/:payment_id': admin('/admin/reviews', reason),
  '/admin/payment-applications/:payment_id/review': admin(
    ({ pending }) => `/admin/payment-applications/${pending.payment_id}`,
    reason,
  ),
  '/admin/refund-requests/accept': admin('/admin/refund-requests', { amount: '12', ...reason }),
  '/admin/abuse/looked': admin('/admin/abuse', { note: 'They trade prints' }),
  '/admin/links/:slug/stop': admin(({ selling }) => `/admin/links?q=${selling.free}`, {
    reason: 'A picture of somebody else',
  }),
  '/l/:slug/report': newcomer(
    async ({ test, selling }, client) => {
      // A member reports a link once.
      const { id } = await rowOf(test, 'links', { slug: selling.free })
      await test.db.deleteFrom('link_reports').where('link_id', '=', id).execute()
      return client.get(`/l/${selling.free}?report=1`)
    },
    { report: 'The picture is somebody else’s' },
  ),
  '/admin/mandates/rights/:payment_id': admin(({ merchant }) => `/admin/mandates?q=${merchant.payment_id}`, {
    daily_max: '1000000',
    ...reason,
  }),
  '/admin/mandates/:mandate_id/end': admin(
    ({ mandates }) => `/admin/mandates?q=${mandates.accepted}`,
    reason,
  ),
  '/admin/payment-applications/:payment_id/terms': admin(
    ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
    { fee_rate: '2.5', daily_payments_max: '1000', daily_transfers_max: '100', ...reason },
  ),
  '/admin/apps/:client_id/suspend': admin(({ oauth }) => `/admin/apps/${oauth.open.client_id}`, reason),
  '/admin/apps/:client_id/reinstate': admin(
    ({ oauth }) => `/admin/apps/${oauth.suspended.client_id}`,
    reason,
  ),
  '/admin/notifications/hosts/pause': admin('/admin/notifications', reason),
  '/admin/notifications/hosts/resume': admin(async (world, client) => {
    await pauseHost(world.test.deps, { host: 'idle.example.org', ...actOf(world) }).catch(isDone)
    return client.get('/admin/notifications')
  }, reason),
  '/admin/settings': ['payments', 'transfers', 'limits', 'brand'].map((area) =>
    admin(`/admin/settings?area=${area}`, {}),
  ),
  '/admin/first-steps/mail': admin('/admin', { email: 'root@example.org' }),
  '/admin/members/new': admin('/admin/members', { username: 'guest-of-honour', trust_level: '2' }),
  '/admin/members/:user_id': [
    admin(member, { days: '7', ...reason }, { hidden: { act: 'suspend' } }),
    ...['ban', 'sign_out', 'anonymise'].map((act) => admin(member, reason, { hidden: { act } })),
  ],
  '/admin/groups': admin('/admin/groups', { name: 'gardeners', description: 'They garden' }),
  '/admin/groups/:name/add': admin('/admin/groups/founders', { usernames: 'nobody-1' }),
  '/admin/groups/:name/delete': admin('/admin/groups/founders', { typed_name: 'gardeners' }),
}

/** Forms in which people choose, or only press a button. */
export const BUTTONS = [
  '/account/keep-access/passkey',
  '/account/not-me',
  '/account/profile/forum-wallet',
  '/account/profile/receipts',
  '/account/profile/tips',
  '/admin/forum/tips',
  '/account/passkeys/:id/remove',
  '/account/second-factor/passkeys',
  '/account/second-factor/recovery-codes',
  '/account/second-factor/off',
  '/account/sessions/end',
  '/account/email/confirm',
  '/account/applications/sign-ins/:id/end',
  '/account/applications/:client_id/revoke',
  '/account/alerts/read',
  '/account/mandates/:mandate_id/pause',
  '/account/mandates/:mandate_id/resume',
  '/account/mandates/:mandate_id/revoke',
  '/account/mandates/:mandate_id/notice',
  '/account/mandates/:mandate_id/next-period',
  '/account/data/export',
  '/apps/:client_id/confirm',
  '/apps/:client_id/test',
  '/apps/:client_id/logo',
  '/apps/:client_id/link',
  '/apps/:client_id/unlink',
  '/apps/:client_id/secrets/:fingerprint/end',
  '/admin/payment-applications/:payment_id/check',
  '/admin/proposals/:id/approve',
  '/admin/settings/logo',
  '/admin/groups/:name/remove',
  '/admin/apps/:client_id/review',
  '/admin/apps/:client_id/reset-secret',
  '/admin/notifications/redeliver-failed',
  '/admin/notifications/:transaction_id/redeliver',
  '/admin/books',
  '/admin/first-steps/finish',
  // Shown where the forum's API is known; test/admin/first-steps types into it.
  '/admin/first-steps/forum',
  '/language',
  '/sign-in/passkey',
  '/sign-in/again',
  '/sign-in/link',
  '/sign-out',
  '/device/decision',
  '/docs/applications',
  '/payment/mandate/:mandate_id|:payment_id/refuse',
  '/payment/pay/:transaction_id|:payment_id',
  '/payment/pay/:transaction_id|:payment_id/test',
  '/payment/pay/:transaction_id|:payment_id/tell',
  '/payment/pay/:transaction_id|:payment_id/leave',
  '/payment/applications/:payment_id/developers/return',
  '/payment/applications/:payment_id/end-overlap',
  '/admin/links/:slug/allow',
  '/admin/links/:slug/dismiss',
  '/admin/abuse/reopen',
  ...['publish', 'pause', 'resume', 'end', 'delete', 'picture'].map(
    (act) => `/payment/applications/:payment_id/links/:slug/${act}`,
  ),
  ...['show', 'hide'].map(
    (act) => `/payment/applications/:payment_id/links/:slug/messages/:transaction_id/${act}`,
  ),
  '/payment/pay/:transaction_id|:payment_id/message',
  '/payment/applications/:payment_id/mandates/link',
  '/payment/applications/:payment_id/test',
  '/payment/applications/:payment_id/team/role',
  '/payment/applications/:payment_id/access-keys/revoke',
  '/payment/applications/:payment_id/team/remove',
  '/payment/applications/:payment_id/team/leave',
  '/payment/applications/:payment_id/transfers',
  '/payment/applications/:payment_id/reset-key',
  '/payment/applications/:payment_id/logo',
  '/payment/applications/:payment_id/payouts/:id/cancel',
  '/payment/applications/:payment_id/payouts/:id/pay',
  '/payment/applications/:payment_id/payouts/:id/resume',
  '/payment/applications/:payment_id/link',
  '/payment/applications/:payment_id/unlink',
  '/payment/applications/:payment_id/key-pair',
  '/payment/applications/:payment_id/versions',
  '/payment/applications/:payment_id/orders/:transaction_id/refund-request/withdraw',
  '/payment/applications/:payment_id/invitation/accept',
  '/payment/applications/:payment_id/invitation/decline',
  '/payment/applications/:payment_id/handover/withdraw',
  '/payment/applications/:payment_id/handover/accept',
  '/payment/applications/:payment_id/handover/decline',
  '/payment/applications/:payment_id/notifications/redeliver-failed',
  '/payment/applications/:payment_id/notifications/:transaction_id/redeliver',
]

async function secondStep({ people }: World, client: Browser): Promise<Page> {
  const { username, password } = people.careful
  const page = await client.get('/sign-in')
  const { location } = await client.submit(page, '/sign-in', { username, password })
  return client.get(location!)
}

/** Opens the page of a form. */
export async function openForm(world: World, form: TypedForm): Promise<{ client: Browser; page: Page }> {
  const client = clientFor(world, form)
  const opened = form.page(world, client)
  return { client, page: typeof opened === 'string' ? await client.get(opened) : await opened }
}
