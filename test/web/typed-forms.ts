/** Every form in which people type, one line each: who sends it from which page, and values that it takes. */
import { PASSKEYS } from '../../src/accounts/passkeys/passkeys.page.ts'
import { freezeOrder, freezeWallet } from '../../src/admin/points/freezes.ts'
import { pauseHost } from '../../src/payment/notifications/pausing.ts'
import { AppError } from '../../src/platform/errors.ts'
import type { Browser, Page } from '../harness/harness.ts'
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

const at = (path: string) => () => path
const shop =
  (place: string) =>
  ({ merchant }: World) =>
    `/payment/applications/${merchant.payment_id}/${place}`
const ownApp = ({ oauth }: World) => `/apps/${oauth.open.client_id}`
const member = ({ people }: World) => `/admin/members/${people.buyer.id}`

const actOf = ({ people }: World) => ({ reason: 'For a test', actor_id: people.admin.id, ip: '203.0.113.7' })

/** Passes over the conflict of an act that an earlier test has done. */
function isDone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'conflict') throw error
}

const reason = { reason: 'Sold the same ticket twice' }
const app = {
  name: 'Night Reading',
  redirect_uris: 'https://app.example.org/callback',
  description: 'Books after dark',
  homepage: 'https://app.example.org/',
  logo_url: 'https://app.example.org/logo.png',
  post_logout_redirect_uris: 'https://app.example.org/bye',
  allow_groups: 'trust_level_2',
  deny_groups: 'suspended',
  backchannel_logout_uri: 'https://app.example.org/signed-out',
  resource_uri: 'https://app.example.org/api',
}
const shopFacts = {
  name: 'Night Market',
  description: 'Lanterns',
  callback_url: 'https://market.example.org/paid',
}

export const FORMS: Record<string, TypedForm | TypedForm[]> = {
  '/sign-in': { as: 'visitor', page: at('/sign-in'), fields: { username: 'somebody', password: 'wrong' } },
  '/sign-in/second-factor': [
    { as: 'visitor', page: secondStep, fields: { code: '000000' } },
    { as: 'visitor', page: secondStep, fields: { recovery_code: 'aaaa-bbbb-cccc-dddd' } },
  ],
  '/register': {
    as: 'visitor',
    page: at('/register'),
    isOpen: true,
    fields: { username: 'newcomer', password: 'correct horse battery' },
  },
  '/account/profile': { as: 'buyer', page: at('/account/profile'), fields: { name: 'Alice Archer' } },
  '/account/password': {
    as: 'buyer',
    page: at('/account/password'),
    fields: { current_password: 'wrong', new_password: 'correct horse battery' },
  },
  '/account/email': { as: 'buyer', page: at('/account/email'), fields: { email: 'alice@example.org' } },
  '/account/recover': { as: 'visitor', page: at('/account/recover'), fields: { name: 'alice' } },
  '/account/recover/password': {
    as: 'visitor',
    page: ({ links }) => `/account/recover/password?token=${links.recover_password}`,
    fields: { new_password: 'correct horse battery' },
  },
  '/account/second-factor': { as: 'buyer', page: at('/account/second-factor'), fields: { code: '000000' } },
  [PASSKEYS]: { as: 'buyer', page: at(PASSKEYS), fields: { name: 'Phone' } },
  [`${PASSKEYS}/:id/name`]: { as: 'buyer', page: at(PASSKEYS), fields: { name: 'Phone' } },
  '/account/data/close': {
    as: 'newcomer',
    page: async (_world, client) => {
      const page = await client.get('/account/data')
      return client.submit(page, '/account/data/close', { give_up: '50' })
    },
    fields: { username: 'somebody-else' },
  },
  '/apps': { as: 'merchant', page: at('/apps'), fields: app },
  '/apps/:client_id': { as: 'merchant', page: ownApp, fields: app },
  '/apps/:client_id/preview': { as: 'merchant', page: ownApp, fields: app, button: '/preview' },
  '/apps/:client_id/delete': { as: 'merchant', page: ownApp, fields: { typed_name: 'Chess' } },
  '/apps/:client_id/secrets': { as: 'merchant', page: ownApp, fields: { client_secret: 'not-the-secret' } },
  '/device': { as: 'buyer', page: at('/device'), fields: { user_code: 'BBBB-CCCC' } },
  '/payment/mandate/:mandate_id|:payment_id': {
    as: 'buyer',
    page: ({ mandates }) => `/payment/mandate/${mandates.upTo}`,
    fields: { charge_max: '1000', period_max: '2000' },
  },
  '/oauth2/auth/mandate': {
    as: 'buyer',
    page: ({ linked, mandates }) => authorizationUrl(linked, naming(mandates.upTo)),
    fields: { charge_max: '1000', period_max: '2000' },
  },
  '/account/mandates/:mandate_id/terms': {
    as: 'buyer',
    page: ({ mandates }) => `/account/mandates/${mandates.charged}`,
    fields: { charge_max: '1000', period_max: '2000' },
  },
  '/payment/applications': { as: 'merchant', page: at('/payment/applications'), fields: shopFacts },
  '/payment/applications/:payment_id/edit': {
    as: 'merchant',
    page: shop('settings'),
    fields: {
      ...shopFacts,
      notify_url: 'https://market.example.org/notify',
      order_minutes: '15',
      homepage: 'https://market.example.org/',
      logo_url: 'https://market.example.org/logo.png',
      exchange_rate: '100',
      allowed_addresses: '203.0.113.0/24',
    },
  },
  '/payment/applications/:payment_id/low-balance': {
    as: 'merchant',
    page: shop('settings'),
    fields: { low_balance_points: '100' },
  },
  '/payment/applications/:payment_id/rotate': {
    as: 'merchant',
    page: shop('developers'),
    fields: { overlap_hours: '24' },
  },
  '/payment/applications/:payment_id/public-key': {
    as: 'merchant',
    page: shop('developers'),
    fields: { public_key: 'no key' },
  },
  '/payment/applications/:payment_id/events': {
    as: 'merchant',
    page: shop('events'),
    fields: { events_url: 'https://market.example.org/events' },
  },
  '/payment/applications/:payment_id/events/rotate': {
    as: 'merchant',
    page: shop('events'),
    fields: { overlap_hours: '24' },
  },
  '/payment/applications/:payment_id/team/invite': {
    as: 'merchant',
    page: shop('team'),
    fields: { username: 'somebody', role: 'manager' },
  },
  '/payment/applications/:payment_id/handover/offer': {
    as: 'merchant',
    page: shop('handover'),
    fields: { username: 'somebody' },
  },
  '/payment/applications/:payment_id/addresses': {
    as: 'merchant',
    page: shop('addresses'),
    fields: { url: 'https://market.example.org/' },
    takes: ['no address'],
  },
  '/payment/applications/:payment_id/mandates/ask': {
    as: 'buyer',
    page: ({ pending }) => `/payment/applications/${pending.payment_id}/mandates`,
    fields: { purpose: 'short' },
  },
  '/payment/applications/:payment_id/mandates/:mandate_id/revoke': {
    as: 'merchant',
    page: ({ merchant, mandates }) =>
      `/payment/applications/${merchant.payment_id}/mandates?q=${mandates.accepted}`,
    fields: { reason: 'The club has closed' },
  },
  '/payment/applications/:payment_id/transfers/quote': {
    as: 'merchant',
    page: shop('transfers'),
    fields: { to_username: 'somebody', amount: '5', order_id: 'bonus-2' },
  },
  '/payment/applications/:payment_id/orders/:transaction_id/refund-request': {
    as: 'merchant',
    page: ({ merchant, orders }) => `/payment/applications/${merchant.payment_id}/orders/${orders.paid}`,
    fields: { amount: '600', reason: 'One series is missing' },
  },
  '/payment/applications/:payment_id/signatures': {
    as: 'merchant',
    page: shop('signatures'),
    fields: { text: 'nothing that can be read' },
  },
  '/admin/adjustments': [
    {
      as: 'admin',
      page: ({ orders }) => `/admin/adjustments?id=${orders.paid}`,
      hidden: { kind: 'refund' },
      fields: { amount: '12', ...reason },
    },
    {
      as: 'admin',
      page: ({ transfer }) => `/admin/adjustments?id=${transfer}`,
      hidden: { kind: 'reversal' },
      fields: reason,
    },
    {
      as: 'admin',
      page: at('/admin/adjustments'),
      hidden: { kind: 'points' },
      fields: { lines: 'nobody,5', ...reason },
    },
  ],
  '/admin/refund-requests/:id/decline': {
    as: 'admin',
    page: at('/admin/refund-requests'),
    fields: { answer: 'The album is included' },
  },
  '/admin/proposals/:id/decline': { as: 'admin', page: at('/admin/proposals'), fields: reason },
  '/admin/orders/:transaction_id/freeze': {
    as: 'admin',
    page: ({ orders }) => `/admin/orders/${orders.unpaid}`,
    fields: reason,
  },
  '/admin/wallets/:id/freeze': {
    as: 'admin',
    page: ({ people }) => `/admin/wallets/${people.newcomer.id}`,
    fields: reason,
  },
  '/admin/orders/:transaction_id/unfreeze': {
    as: 'admin',
    page: async (world, client) => {
      await freezeOrder(world.test.deps, world.orders.dear, actOf(world)).catch(isDone)
      return client.get(`/admin/orders/${world.orders.dear}`)
    },
    fields: reason,
  },
  '/admin/wallets/:id/unfreeze': {
    as: 'admin',
    page: async (world, client) => {
      await freezeWallet(world.test.deps, world.people.careful.id, actOf(world)).catch(isDone)
      return client.get(`/admin/wallets/${world.people.careful.id}`)
    },
    fields: reason,
  },
  '/admin/payment-applications/:payment_id/freeze': {
    as: 'admin',
    page: ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
    fields: reason,
  },
  '/admin/payment-applications/:payment_id/unfreeze': {
    as: 'admin',
    page: ({ suspendedSeller }) => `/admin/payment-applications/${suspendedSeller.payment_id}`,
    fields: reason,
  },
  '/admin/reviews/:payment_id': { as: 'admin', page: at('/admin/reviews'), fields: reason },
  '/admin/payment-applications/:payment_id/review': {
    as: 'admin',
    page: ({ pending }) => `/admin/payment-applications/${pending.payment_id}`,
    fields: reason,
  },
  '/admin/refund-requests/accept': {
    as: 'admin',
    page: at('/admin/refund-requests'),
    fields: { amount: '12', ...reason },
  },
  '/admin/mandates/rights/:payment_id': {
    as: 'admin',
    page: ({ merchant }) => `/admin/mandates?q=${merchant.payment_id}`,
    fields: { daily_max: '1000000', ...reason },
  },
  '/admin/mandates/:mandate_id/end': {
    as: 'admin',
    page: ({ mandates }) => `/admin/mandates?q=${mandates.accepted}`,
    fields: reason,
  },
  '/admin/payment-applications/:payment_id/terms': {
    as: 'admin',
    page: ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
    fields: { fee_rate: '2.5', daily_payments_max: '1000', daily_transfers_max: '100', ...reason },
  },
  '/admin/apps/:client_id/suspend': {
    as: 'admin',
    page: ({ oauth }) => `/admin/apps/${oauth.open.client_id}`,
    fields: reason,
  },
  '/admin/apps/:client_id/reinstate': {
    as: 'admin',
    page: ({ oauth }) => `/admin/apps/${oauth.suspended.client_id}`,
    fields: reason,
  },
  '/admin/notifications/hosts/pause': { as: 'admin', page: at('/admin/notifications'), fields: reason },
  '/admin/notifications/hosts/resume': {
    as: 'admin',
    page: async (world, client) => {
      await pauseHost(world.test.deps, { host: 'idle.example.org', ...actOf(world) }).catch(isDone)
      return client.get('/admin/notifications')
    },
    fields: reason,
  },
  '/admin/settings': ['payments', 'transfers', 'limits', 'brand'].map((area) => ({
    as: 'admin' as const,
    page: at(`/admin/settings?area=${area}`),
    fields: {},
  })),
  '/admin/members/new': {
    as: 'admin',
    page: at('/admin/members'),
    fields: { username: 'guest-of-honour', trust_level: '2' },
  },
  '/admin/members/:user_id': [
    { as: 'admin', page: member, hidden: { act: 'suspend' }, fields: { days: '7', ...reason } },
    ...['ban', 'sign_out', 'anonymise'].map((act) => ({
      as: 'admin' as const,
      page: member,
      hidden: { act },
      fields: reason,
    })),
  ],
  '/admin/groups': {
    as: 'admin',
    page: at('/admin/groups'),
    fields: { name: 'gardeners', description: 'They garden' },
  },
  '/admin/groups/:name/add': {
    as: 'admin',
    page: at('/admin/groups/founders'),
    fields: { usernames: 'nobody-1' },
  },
  '/admin/groups/:name/delete': {
    as: 'admin',
    page: at('/admin/groups/founders'),
    fields: { typed_name: 'gardeners' },
  },
}

/** Forms in which people choose, or only press a button. */
export const BUTTONS = [
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
  '/payment/applications/:payment_id/end-overlap',
  '/payment/applications/:payment_id/mandates/link',
  '/payment/applications/:payment_id/test',
  '/payment/applications/:payment_id/team/role',
  '/payment/applications/:payment_id/team/remove',
  '/payment/applications/:payment_id/team/leave',
  '/payment/applications/:payment_id/transfers',
  '/payment/applications/:payment_id/reset-key',
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
