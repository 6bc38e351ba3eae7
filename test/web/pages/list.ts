/** Every page, one line each. A view in views/ that no line names fails the tests of pages. */
import type { Page } from 'playwright-core'
import { GUIDES, guidePath } from '../../../src/docs/guides/guides.ts'
import { WEBHOOKS } from '../../../src/docs/operations/webhooks.ts'
import { OPERATIONS, operationId } from '../../../src/docs/reference/openapi.ts'
import { setSetting } from '../../harness/harness.ts'
import { authorizationUrl, type Party, REDIRECT_URI } from '../../identity/relying-party.ts'
import { comingTo, type Step } from './ways.ts'
import { knownByDocument, naming, onDevice, PKCE, type Role, type World } from './world.ts'

export type ListedPage = {
  /** Its view. A second word distinguishes it from other pages of the same view. */
  name: string
  as: Role
  /** On the site of most pages, or with its origin. */
  path: (world: World) => string | Promise<string>
  /** The steps that lead from that address to the page. */
  steps?: (world: World) => Step[] | Promise<Step[]>
  /** What else leads to it and takes a browser. */
  act?: (page: Page, world: World) => Promise<unknown>
  /** Whether everything on it is unfolded before it is looked at. */
  isUnfolded?: boolean
}

type Way = Pick<ListedPage, 'steps' | 'act' | 'isUnfolded'>

/** Makes lines of the list for this viewer: a view, an address, and the steps or another way from there to the page. */
const seenBy =
  (as: Role) =>
  (name: string, path: string | ListedPage['path'], way: Step[] | Way = {}): ListedPage => {
    const rest = Array.isArray(way) ? { steps: () => way } : way
    return { name, as, path: typeof path === 'string' ? () => path : path, ...rest }
  }
const [visitor, buyer, newcomer, merchant] = [
  seenBy('visitor'),
  seenBy('buyer'),
  seenBy('newcomer'),
  seenBy('merchant'),
]
const [stale, careful, admin] = [seenBy('stale'), seenBy('careful'), seenBy('admin')]
const fromForum = seenBy('fromForum')

const pay = (fate: keyof World['orders']) => (world: World) => `/payment/pay/${world.orders[fate]}`
const mandate = (state: keyof World['mandates']) => (world: World) =>
  `/payment/mandate/${world.mandates[state]}`
/** A sign-in that asks for a mandate, too. */
const joint = (state: keyof World['mandates']) => (world: World) =>
  authorizationUrl(world.linked, naming(world.mandates[state]))
const paymentApp = ({ merchant }: World) => `/payment/applications/${merchant.payment_id}`
/** A page of the merchant's application. */
const shop = (place: string) => (world: World) => `${paymentApp(world)}/${place}`
const soldOrder = (fate: keyof World['orders']) => (world: World) =>
  `${paymentApp(world)}/orders/${world.orders[fate]}`
const ownApp = (place: string) => (world: World) => `/apps/${world.oauth.open.client_id}${place}`
const pending = (place: string) => (world: World) =>
  `/payment/applications/${world.pending.payment_id}${place}`
const consent = (app: keyof World['oauth']) => (world: World) =>
  authorizationUrl({ ...world.oauth[app], redirect_uri: REDIRECT_URI } as Parameters<
    typeof authorizationUrl
  >[0])

export const PAGES: ListedPage[] = [
  visitor('home/welcome', '/'),
  buyer('home/home', '/'),
  careful('home/home new', '/'),
  buyer('home/home waiting', pay('unpaid'), [{ open: '/' }]),
  visitor('error', '/nowhere'),
  ...GUIDES.map((name) => merchant(`docs/guide ${name}`, guidePath(name))),
  visitor('docs/guide visitor', '/docs'),
  newcomer('docs/guide newcomer', '/docs/merchant'),
  visitor('docs/search', '/docs/search?q=order'),
  visitor('docs/search empty', '/docs/search?q=nothing+of+this+kind'),
  visitor('docs/missing', '/docs/webhook-signature'),
  visitor('docs/area identity', '/docs/identity'),
  visitor('docs/area payment', '/docs/payment'),
  visitor('docs/area v1', '/docs/v1'),
  visitor('docs/area v2', '/docs/v2'),
  ...OPERATIONS.map((operation) => {
    const id = operationId(operation)
    return visitor(`docs/operation ${id}`, `/docs/${operation.area}/${id}`)
  }),
  visitor('docs/notifications', '/docs/notifications'),
  ...WEBHOOKS.map(({ name }) => visitor(`docs/notification ${name}`, `/docs/notifications/${name}`)),
  visitor('docs/codes', '/docs/codes'),
  visitor('docs/rules', '/docs/rules'),
  visitor('accounts/sign-in/sign-in', '/sign-in'),
  visitor('accounts/sign-in/register', ({ open }) => `${open.url}/register`),
  newcomer('accounts/sign-in/keep-access', '/account/keep-access?return_to=/apps'),
  careful('accounts/sign-in/keep-access sent', '/account/keep-access?return_to=/apps'),
  buyer('accounts/sign-in/sign-in again', '/sign-in?reason=again'),
  visitor('accounts/sign-in/sign-in wrong', '/sign-in', [
    { to: '/sign-in', typed: { username: 'nobody', password: 'wrong' } },
  ]),
  visitor('accounts/sign-in/second-step', '/sign-in', {
    steps: ({ people: { careful } }) => [
      { to: '/sign-in', typed: { username: careful.username, password: careful.password } },
    ],
  }),
  stale('accounts/session/sign-in-again', shop('developers'), [{ to: '/rotate' }]),
  visitor('accounts/forum/refused', '/sign-in/forum/callback?sso=x&sig=y'),
  buyer('accounts/wallet', '/account'),
  buyer('accounts/wallet found', '/account?q=poster&kind=refund'),
  buyer('accounts/wallet days', '/account?from=2020-01-01&until=2030-01-01'),
  buyer('accounts/statement', '/account/statement?period=year'),
  buyer('payment/buyer/payments', '/account/payments'),
  careful('payment/buyer/payments empty', '/account/payments?q=nothing'),
  buyer('accounts/profile', '/account/profile'),
  careful('accounts/profile saved', '/account/profile', [
    { to: '/account/profile', typed: { name: 'Grace' } },
  ]),
  fromForum('accounts/profile forum', '/account/profile'),
  fromForum('accounts/profile hidden', '/account/profile', [{ to: '/account/profile/forum-wallet' }]),
  careful('accounts/wallet empty', '/account'),
  merchant('privacy/own-data', '/account/data'),
  newcomer('privacy/own-data points', '/account/data'),
  newcomer('privacy/close-account', '/account/data', [
    { to: '/account/data/close', typed: { give_up: '50' } },
  ]),
  buyer('accounts/session/sessions', '/account/sessions'),
  buyer('identity/authorised-apps', '/account/applications'),
  buyer('accounts/security/password', '/account/password'),
  buyer('accounts/security/email-address', '/account/email'),
  careful(
    'accounts/security/confirm-email',
    ({ links }) => `/account/email/confirm?token=${links.confirm_email}`,
  ),
  visitor('accounts/security/recover', '/account/recover'),
  visitor(
    'accounts/security/recover-password',
    ({ links }) => `/account/recover/password?token=${links.recover_password}`,
  ),
  visitor('accounts/security/message', '/account/recover/password?token=dead'),
  visitor('confirm not-me', ({ links }) => `/account/not-me?token=${links.not_me}`),
  visitor('accounts/sign-in/link', ({ links }) => `/sign-in/link?token=${links.sign_in}`),
  newcomer('accounts/passkeys/passkeys', '/account/passkeys'),
  buyer('accounts/passkeys/passkeys some', '/account/passkeys'),
  buyer('accounts/security/second-factor-set-up', '/account/second-factor'),
  careful('accounts/security/second-factor', '/account/second-factor'),
  careful('accounts/security/recovery-codes', '/account/second-factor', [
    { to: '/recovery-codes' },
    { to: '/recovery-codes' },
  ]),
  merchant('confirm sign-out', '/account/sessions', [
    { to: '/account/sessions/end', button: { session: 'others' } },
  ]),
  buyer('confirm revoking', '/account/applications', [{ to: '/revoke' }]),
  merchant('confirm ending a secret', ownApp('/secrets'), [{ to: '/end' }]),
  buyer('payment/buyer/pay', pay('unpaid')),
  buyer('payment/buyer/pay trade', pay('trade')),
  buyer('payment/buyer/pay changed', pay('changed')),
  newcomer('payment/buyer/pay test', pay('test')),
  buyer('payment/buyer/pay-state test', pay('testPaid')),
  newcomer('payment/buyer/pay short', pay('dear')),
  buyer('payment/buyer/pay-state paid', pay('paid')),
  buyer('payment/buyer/pay-state trade', pay('tradePaid')),
  buyer('payment/buyer/pay-state untold', pay('untold')),
  buyer('payment/buyer/pay-state refunded', pay('refunded')),
  buyer('payment/buyer/pay-state paid by other', pay('paidByOther')),
  buyer('payment/buyer/pay-state expired', pay('expired')),
  buyer('payment/buyer/pay-state closed', pay('closed')),
  buyer('payment/buyer/pay-state unusable', pay('unusable')),
  buyer('payment/buyer/pay-state link', pay('delivered')),
  buyer('payment/buyer/pay tip', pay('tip')),
  buyer('payment/buyer/pay-state tip', pay('tipPaid')),
  buyer('payment/tips/tip', '/tip?to_id=5150&post=/t/ginger-cat-photos/12/3'),
  newcomer('payment/tips/tip level', '/tip?to_id=5150'),
  buyer('payment/tips/no-tip', '/tip?to_id=1'),
  buyer('payment/links/link', ({ selling }) => `/l/${selling.sale}`),
  careful('payment/links/link reporting', ({ selling }) => `/l/${selling.free}?report=1`),
  visitor('payment/links/link visitor', ({ selling }) => `/l/${selling.free}`),
  merchant('payment/links/link preview', ({ selling }) => `/l/${selling.draft}`),
  merchant('payment/links/links', shop('links')),
  buyer('payment/links/links empty', pending('/links')),
  merchant('payment/links/new', shop('links/new')),
  merchant('payment/links/edit', (world) => shop(`links/${world.selling.sale}`)(world), { isUnfolded: true }),
  merchant('payment/links/edit draft', (world) => shop(`links/${world.selling.draft}`)(world)),
  merchant('payment/links/codes', (world) => shop(`links/${world.selling.sale}/codes`)(world)),
  merchant('payment/links/codes full', (world) => shop(`links/${world.selling.sale}/codes/full`)(world)),
  merchant('payment/links/sales', (world) => shop(`links/${world.selling.sale}/sales`)(world)),
  merchant('payment/links/sales empty', (world) => shop(`links/${world.selling.free}/sales`)(world)),
  merchant('payment/links/messages', (world) => shop(`links/${world.selling.free}/messages`)(world)),
  merchant('payment/links/share', (world) => shop(`links/${world.selling.sale}/share`)(world)),
  merchant('payment/links/share draft', (world) => shop(`links/${world.selling.draft}/share`)(world)),
  merchant('confirm link end', (world) => shop(`links/${world.selling.sale}`)(world), [{ to: '/end' }]),
  buyer('payment/links/link over', ({ selling }) => `/l/${selling.over}`),
  buyer('payment/buyer/pay-state unknown', '/payment/pay/txn_000000000000000000000000'),
  visitor('accounts/sign-in/sign-in mandate', mandate('upTo')),
  buyer('payment/mandates/offer', mandate('upTo')),
  buyer('payment/mandates/offer unfolded', mandate('upTo'), { isUnfolded: true }),
  buyer('payment/mandates/offer fixed', mandate('fixed')),
  buyer('payment/mandates/offer lowered', mandate('dear')),
  buyer('payment/mandates/offer replacing', mandate('replacing')),
  stale('payment/mandates/offer stale', mandate('fixed')),
  buyer('payment/mandates/offer-state accepted', mandate('accepted')),
  careful('payment/mandates/offer-state taken', mandate('accepted')),
  newcomer('payment/mandates/offer-state limit', mandate('fixed')),
  buyer('payment/mandates/offer-state lapsed', mandate('lapsed')),
  buyer('payment/mandates/offer-state unknown', '/payment/mandate/mdt_000000000000000000000000'),
  buyer('payment/mandates/own-mandates', '/account/mandates'),
  careful('payment/mandates/own-mandates empty', '/account/mandates'),
  buyer('payment/mandates/own-mandate', ({ mandates }) => `/account/mandates/${mandates.charged}`, {
    isUnfolded: true,
  }),
  buyer('payment/mandates/own-mandate revoked', ({ mandates }) => `/account/mandates/${mandates.revoked}`),
  visitor('payment/gateway/refused', '/payment/api/submit.php?pid=1001&money=9.90'),
  buyer('identity/oauth/consent', consent('open')),
  buyer('identity/oauth/refused', consent('closed')),
  buyer('identity/oauth/suspended', consent('suspended')),
  buyer('identity/oauth/form-post', '/', {
    act: async (page, { oauth }) => {
      // Its file would send the form to the application at once.
      const nothing = { contentType: 'text/javascript', body: '' }
      await page.route('**/submit*.js', (route) => route.fulfill(nothing), { times: 1 })
      const party = { ...oauth.open, redirect_uri: REDIRECT_URI } as Parameters<typeof authorizationUrl>[0]
      await page.goto(
        new URL(authorizationUrl(party, { response_mode: 'form_post', prompt: 'none' }), page.url()).href,
      )
    },
  }),
  buyer('identity/oauth/unconfirmed', '/', {
    act: async (page, world) => {
      await setSetting(world.test, 'apps_by_any_token', 'draft')
      await page.goto(new URL(consent('waiting')(world), page.url()).href)
      await setSetting(world.test, 'apps_by_any_token', 'open')
    },
  }),
  careful('identity/oauth/consent unconfirmed', consent('waiting')),
  buyer('identity/oauth/consent document', async (world) =>
    authorizationUrl((await knownByDocument(world)) as Party, PKCE),
  ),
  buyer('identity/oauth/consent program', async (world) =>
    authorizationUrl(await onDevice(world, 'com.an-example-of-a-long-name.program:/callback'), PKCE),
  ),
  buyer('identity/oauth/consent mandate', joint('upTo')),
  buyer('identity/oauth/consent mandate fixed', joint('fixed')),
  buyer('identity/oauth/consent mandate unfolded', joint('upTo'), { isUnfolded: true }),
  buyer('identity/oauth/consent mandate lowered', joint('dear')),
  buyer('identity/oauth/consent mandate replacing', joint('replacing')),
  newcomer('identity/oauth/consent mandate limit', joint('fixed')),
  stale('identity/oauth/consent mandate stale', joint('upTo')),
  buyer('home/launch', '/launch'),
  newcomer('home/launch nothing', '/launch?q=nowhere'),
  buyer('identity/devices/device', '/device'),
  newcomer('identity/devices/device wrong', '/device?user_code=BCDF-GHJK', [{ to: '/device' }]),
  buyer('identity/devices/confirm', '/device', {
    steps: async (world) => [{ to: '/device', typed: { user_code: await world.userCode() } }],
  }),
  buyer('identity/oauth/error', '/oauth2/auth?client_id=nobody'),
  merchant('identity/oauth/error own', ({ oauth }) =>
    authorizationUrl({ ...oauth.open, redirect_uri: 'https://elsewhere.example/cb' } as Party),
  ),
  buyer('identity/oauth/sign-out', '/oauth2/logout'),
  visitor('identity/oauth/signed-out', '/oauth2/logout/done'),
  merchant('identity/apps/apps', '/apps'),
  merchant('identity/apps/own-app', ownApp('')),
  merchant('identity/apps/own-access', ownApp('/access')),
  merchant('identity/apps/own-secrets', ownApp('/secrets')),
  merchant('identity/apps/own-history', ownApp('/history')),
  merchant('identity/apps/own-settings', ownApp('/settings'), { isUnfolded: true }),
  merchant('identity/apps/own-test', ownApp('/test')),
  merchant('identity/apps/own-test tried', ownApp('/test'), [
    { to: '/test' },
    { to: '/oauth2/consent', button: { decision: 'allow' } },
  ]),
  admin('identity/apps/new-secret reset', ({ oauth }) => `/admin/apps/${oauth.closed.client_id}`, [
    { to: '/reset-secret', isConfirmed: true },
  ]),
  admin('identity/apps/new-secret', '/apps', [
    { to: '/apps', typed: { name: 'Notebook', redirect_uris: REDIRECT_URI } },
  ]),
  merchant('payment/apps/apps', '/payment/applications'),
  merchant('payment/links/own', '/payment/links'),
  buyer('payment/links/own none', '/payment/links'),
  merchant('payment/merchant/overview', paymentApp),
  buyer('payment/merchant/overview viewer', paymentApp),
  buyer('payment/merchant/overview pending', pending('')),
  merchant('payment/apps/settings', shop('settings')),
  merchant(
    'shops/faces',
    (world) => `/apps/${world.linked.client_id}/link?other=${world.merchant.payment_id}`,
  ),
  merchant('payment/apps/developers', shop('developers'), { isUnfolded: true }),
  merchant('payment/apps/developers key', shop('developers?show=key')),
  merchant('payment/merchant/orders', shop('orders')),
  merchant('payment/merchant/orders found', shop('orders?q=sticker&status=paid&min=100&from=2020-01-01')),
  merchant('payment/merchant/order refunded', soldOrder('refunded')),
  merchant('payment/merchant/order untold', soldOrder('untold')),
  merchant('payment/merchant/order trade', soldOrder('trade')),
  merchant('payment/merchant/orders-export', shop('orders/export?status=paid')),
  merchant('payment/merchant/addresses', shop('addresses')),
  merchant('payment/merchant/addresses tried', shop('addresses'), [
    { to: '/addresses', typed: { url: 'http://127.0.0.1:9/notify' } },
  ]),
  merchant('payment/merchant/mandates', shop('mandates'), { isUnfolded: true }),
  buyer('payment/merchant/mandates viewer', shop('mandates')),
  buyer('payment/merchant/mandates asking', pending('/mandates')),
  merchant('payment/merchant/transfers', shop('transfers')),
  merchant('payment/merchant/transfer-confirm', shop('transfers'), {
    steps: ({ people }) => [
      { to: '/transfers/quote', typed: { to_username: people.buyer.username, amount: '40' } },
    ],
  }),
  merchant('payment/payouts/payouts', shop('payouts')),
  merchant('payment/payouts/new', shop('payouts/new')),
  merchant('payment/payouts/payout', (world) => shop(`payouts/${world.payouts.ended}`)(world)),
  merchant('payment/payouts/payout draft', (world) => shop(`payouts/${world.payouts.draft}`)(world)),
  buyer('payment/payouts/payouts empty', pending('/payouts')),
  merchant('payment/notifications/notifications', shop('notifications')),
  merchant('payment/diagnosis/signatures', shop('signatures')),
  merchant('payment/diagnosis/signatures wrong', shop('signatures'), [
    { to: '/signatures', typed: { text: 'amount=10.0&order_id=a b&signature=0123' } },
  ]),
  stale('payment/diagnosis/signatures refused', shop('signatures'), {
    act: async (page) => {
      const refused = page.locator('#refused li').filter({ hasText: '/process' })
      await comingTo(page, () => refused.locator('a').first().click())
    },
  }),
  merchant('payment/diagnosis/signatures unreadable', shop('signatures'), [
    { to: '/signatures', typed: { text: 'hello' } },
  ]),
  merchant('payment/apps/go-live', ({ testApp }) => `/payment/applications/${testApp.payment_id}/go-live`),
  merchant('payment/merchant/overview test', ({ testApp }) => `/payment/applications/${testApp.payment_id}`),
  buyer('payment/merchant/orders empty', pending('/orders')),
  newcomer('payment/merchant/overview made', '/payment/applications', [
    {
      to: '/payment/applications',
      typed: { name: 'Tea', callback_url: 'https://tea.example.org/paid' },
      button: { book: 'test' },
    },
  ]),
  merchant('payment/events/events', shop('events')),
  merchant('payment/events/events refused', shop('events'), [
    { to: '/events', typed: { events_url: 'ftp://shop.example.org' } },
  ]),
  merchant('payment/apps/new-secret events', shop('events'), [{ to: '/rotate', isConfirmed: true }]),
  merchant('payment/merchant/access-keys', shop('access-keys')),
  merchant('payment/merchant/access-keys refused', shop('access-keys'), [
    {
      to: '/access-keys',
      typed: { name: 'Raffle script', allowed_addresses: '203.0.113.0/33' },
    },
  ]),
  merchant('payment/apps/new-secret access', shop('access-keys'), {
    steps: () => [{ to: '/access-keys', typed: { name: 'Raffle script', transfers: 'on' } }],
    isUnfolded: true,
  }),
  merchant('confirm access key', shop('access-keys'), [{ to: '/access-keys/revoke' }]),
  careful('payment/alerts/alerts', '/account/alerts'),
  newcomer('payment/alerts/alerts empty', '/account/alerts'),
  merchant('payment/merchant/statistics', shop('statistics')),
  buyer('payment/merchant/statistics own range', shop('statistics?from=2025-02-01&until=2026-12-31')),
  merchant('payment/apps/team', shop('team'), { isUnfolded: true }),
  buyer('payment/apps/developers viewer', shop('developers')),
  buyer('payment/apps/settings viewer', shop('settings')),
  buyer('payment/apps/team viewer', shop('team')),
  merchant('payment/apps/handover', shop('handover')),
  careful('payment/apps/handover offered', shop('handover')),
  careful('payment/apps/apps invited', '/payment/applications'),
  admin('payment/apps/new-secret', '/payment/applications', [
    {
      to: '/payment/applications',
      typed: {
        name: 'Tea',
        callback_url: 'https://tea.example.org/paid',
      },
    },
  ]),
  merchant('confirm token', shop('developers'), [{ to: '/rotate' }]),
  merchant('confirm asking for a refund', soldOrder('paid'), [
    { to: '/refund-request', typed: { amount: '600', reason: 'One series is missing' } },
  ]),
  merchant('payment/apps/new-secret token', shop('developers'), [{ to: '/rotate', isConfirmed: true }]),
  merchant(
    'payment/apps/new-secret pair',
    ({ testApp }) => `/payment/applications/${testApp.payment_id}/developers`,
    [{ to: '/key-pair', isConfirmed: true }],
  ),
  merchant(
    'payment/apps/new-secret key',
    ({ testApp }) => `/payment/applications/${testApp.payment_id}/developers`,
    [{ to: '/reset-key', isConfirmed: true }],
  ),
  admin('admin/apps/links', '/admin/links', { isUnfolded: true }),
  admin('admin/apps/links nothing', '/admin/links?q=nothing'),
  admin('admin/apps/mandates', '/admin/mandates', { isUnfolded: true }),
  admin('admin/apps/mandates found', ({ mandates }) => `/admin/mandates?q=${mandates.accepted}`, {
    isUnfolded: true,
  }),
  admin('admin/apps/mandates nothing', '/admin/mandates?q=nothing'),
  admin('admin/dashboard/first-steps', '/admin'),
  admin('admin/dashboard/dashboard', '/admin/overview'),
  admin('admin/apps/reviews', '/admin/reviews'),
  admin('admin/apps/reviews decided', '/admin/reviews?show=decided'),
  admin('admin/apps/payment-app', ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`),
  admin('admin/find/find', ({ people }) => `/admin/find?q=${people.buyer.id}`),
  admin('admin/find/find empty', '/admin/find?q=nothing'),
  admin('admin/points/order', ({ orders }) => `/admin/orders/${orders.refunded}`),
  admin('admin/points/order paid', ({ orders }) => `/admin/orders/${orders.untold}`),
  admin('admin/points/transfer', ({ transfer }) => `/admin/transfers/${transfer}`),
  admin('admin/points/journal', '/admin/journals/3'),
  admin('admin/points/wallet', ({ people }) => `/admin/wallets/${people.buyer.id}`),
  admin('admin/points/fees', '/admin/books/fees'),
  admin('admin/points/abuse', '/admin/abuse'),
  admin('admin/people/forum', '/admin/forum'),
  admin('admin/proposals/proposals', '/admin/proposals?show=all'),
  admin('confirm freeze', ({ people }) => `/admin/wallets/${people.newcomer.id}`, [
    { to: '/freeze', typed: { reason: 'Sold the same ticket twice' } },
  ]),
  admin('admin/points/books', '/admin/books', [{ to: '/admin/books' }]),
  admin('admin/apps/notifications', '/admin/notifications'),
  admin('admin/people/members', '/admin/members'),
  admin('admin/people/member-created', '/admin/members', [
    { to: '/admin/members/new', typed: { username: `guest-${Date.now()}` } },
  ]),
  admin('admin/people/groups', '/admin/groups'),
  admin('admin/people/groups wrong', '/admin/groups', [
    { to: '/admin/groups', typed: { name: 'admins', description: '' } },
  ]),
  admin('admin/people/group', '/admin/groups/founders'),
  admin('admin/people/group wrong', '/admin/groups/founders', [
    { to: '/add', typed: { usernames: 'nobody-1\nnobody-2' } },
  ]),
  admin('admin/people/member', ({ people }) => `/admin/members/${people.careful.id}`),
  admin('admin/people/member barred', ({ barred }) => `/admin/members/${barred.id}`),
  admin('confirm member', ({ people }) => `/admin/members/${people.buyer.id}`, {
    steps: ({ people }) => [
      {
        to: `/admin/members/${people.buyer.id}`,
        holding: { act: 'suspend' },
        typed: { days: '30', reason: 'Sold the account' },
      },
    ],
  }),
  admin('admin/apps/apps', '/admin/apps'),
  admin('admin/apps/app', ({ oauth }) => `/admin/apps/${oauth.open.client_id}`),
  admin('admin/site/audit', '/admin/audit'),
  admin('admin/site/refusals', '/admin/audit/refusals'),
  buyer('accounts/wallet test', '/account?book=test'),
  admin('admin/site/versions', '/admin/versions'),
  admin('admin/site/settings', '/admin/settings?area=brand'),
  admin('admin/site/settings-found', '/admin/settings/find?q=fee'),
  admin('admin/site/settings payments', '/admin/settings?area=payments'),
  admin('admin/site/settings wrong', '/admin/settings?area=payments', [
    { to: '/admin/settings', typed: { order_expiry_minutes: 'soon' } },
  ]),
  admin('admin/site/settings limits', '/admin/settings?area=limits'),
  admin('admin/site/settings transfers', '/admin/settings?area=transfers'),
  admin('admin/site/settings mandates', '/admin/settings?area=mandates'),
  admin('admin/points/adjustments', ({ orders }) => `/admin/adjustments?id=${orders.paid}`),
  admin('admin/points/refund-requests', '/admin/refund-requests'),
  admin('confirm refund', ({ orders }) => `/admin/adjustments?id=${orders.paid}`, [
    { to: '/admin/adjustments', typed: { amount: '12', reason: 'Half of it' } },
  ]),
]

/** The pages that each test file checks, by the first folders of their views. */
export const GROUPS = {
  docs: ['docs'],
  members: ['accounts', 'confirm', 'error', 'home', 'identity', 'privacy'],
  payment: ['payment', 'shops'],
  admin: ['admin'],
}
export type PageGroup = keyof typeof GROUPS

export const pagesOf = (group: PageGroup): ListedPage[] =>
  PAGES.filter(({ name }) => GROUPS[group].includes(name.split(/[ /]/)[0]!))
