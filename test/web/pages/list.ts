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

const at = (path: string) => () => path
const pay = (fate: keyof World['orders']) => (world: World) => `/payment/pay/${world.orders[fate]}`
const mandate = (state: keyof World['mandates']) => (world: World) =>
  `/payment/mandate/${world.mandates[state]}`
/** A sign-in that asks for a mandate, too. */
const joint = (state: keyof World['mandates']) => (world: World) =>
  authorizationUrl(world.linked, naming(world.mandates[state]))
const paymentApp = ({ merchant }: World) => `/payment/applications/${merchant.payment_id}`
/** A page of the merchant's application. */
const shop = (place: string) => (world: World) => `${paymentApp(world)}/${place}`
const consent = (app: keyof World['oauth']) => (world: World) =>
  authorizationUrl({ ...world.oauth[app], redirect_uri: REDIRECT_URI } as Parameters<
    typeof authorizationUrl
  >[0])

export const PAGES: ListedPage[] = [
  { name: 'home/welcome', as: 'visitor', path: at('/') },
  { name: 'home/home', as: 'buyer', path: at('/') },
  { name: 'home/home new', as: 'careful', path: at('/') },
  {
    name: 'home/home waiting',
    as: 'buyer',
    path: pay('unpaid'),
    steps: () => [{ open: '/' }],
  },
  { name: 'error', as: 'visitor', path: at('/nowhere') },
  ...GUIDES.map(
    (name): ListedPage => ({ name: `docs/guide ${name}`, as: 'merchant', path: at(guidePath(name)) }),
  ),
  { name: 'docs/guide visitor', as: 'visitor', path: at('/docs') },
  { name: 'docs/guide newcomer', as: 'newcomer', path: at('/docs/merchant') },
  { name: 'docs/search', as: 'visitor', path: at('/docs/search?q=order') },
  { name: 'docs/search empty', as: 'visitor', path: at('/docs/search?q=nothing+of+this+kind') },
  { name: 'docs/area identity', as: 'visitor', path: at('/docs/identity') },
  { name: 'docs/area payment', as: 'visitor', path: at('/docs/payment') },
  { name: 'docs/area v1', as: 'visitor', path: at('/docs/v1') },
  { name: 'docs/area v2', as: 'visitor', path: at('/docs/v2') },
  ...OPERATIONS.map((operation): ListedPage => {
    const id = operationId(operation)
    return { name: `docs/operation ${id}`, as: 'visitor', path: at(`/docs/${operation.area}/${id}`) }
  }),
  { name: 'docs/notifications', as: 'visitor', path: at('/docs/notifications') },
  ...WEBHOOKS.map(
    ({ name }): ListedPage => ({
      name: `docs/notification ${name}`,
      as: 'visitor',
      path: at(`/docs/notifications/${name}`),
    }),
  ),
  { name: 'docs/codes', as: 'visitor', path: at('/docs/codes') },
  { name: 'docs/rules', as: 'visitor', path: at('/docs/rules') },
  { name: 'accounts/sign-in/sign-in', as: 'visitor', path: at('/sign-in') },
  { name: 'accounts/sign-in/register', as: 'visitor', path: ({ open }) => `${open.url}/register` },
  { name: 'accounts/sign-in/sign-in again', as: 'buyer', path: at('/sign-in?reason=again') },
  {
    name: 'accounts/sign-in/sign-in wrong',
    as: 'visitor',
    path: at('/sign-in'),
    steps: () => [{ to: '/sign-in', typed: { username: 'nobody', password: 'wrong' } }],
  },
  {
    name: 'accounts/sign-in/second-step',
    as: 'visitor',
    path: at('/sign-in'),
    steps: ({ people: { careful } }) => [
      { to: '/sign-in', typed: { username: careful.username, password: careful.password } },
    ],
  },
  {
    name: 'accounts/session/sign-in-again',
    as: 'stale',
    path: shop('developers'),
    steps: () => [{ to: '/rotate' }],
  },
  { name: 'accounts/forum/refused', as: 'visitor', path: at('/sign-in/forum/callback?sso=x&sig=y') },
  { name: 'accounts/wallet', as: 'buyer', path: at('/account') },
  { name: 'accounts/wallet found', as: 'buyer', path: at('/account?q=poster&kind=refund') },
  { name: 'accounts/wallet days', as: 'buyer', path: at('/account?from=2020-01-01&until=2030-01-01') },
  { name: 'payment/buyer/payments', as: 'buyer', path: at('/account/payments') },
  { name: 'payment/buyer/payments empty', as: 'careful', path: at('/account/payments?q=nothing') },
  { name: 'accounts/profile', as: 'buyer', path: at('/account/profile') },
  {
    name: 'accounts/profile saved',
    as: 'careful',
    path: at('/account/profile'),
    steps: () => [{ to: '/account/profile', typed: { name: 'Grace' } }],
  },
  { name: 'accounts/wallet empty', as: 'careful', path: at('/account') },
  { name: 'privacy/own-data', as: 'merchant', path: at('/account/data') },
  { name: 'privacy/own-data points', as: 'newcomer', path: at('/account/data') },
  {
    name: 'privacy/close-account',
    as: 'newcomer',
    path: at('/account/data'),
    steps: () => [{ to: '/account/data/close', typed: { give_up: '50' } }],
  },
  { name: 'accounts/session/sessions', as: 'buyer', path: at('/account/sessions') },
  { name: 'identity/authorised-apps', as: 'buyer', path: at('/account/applications') },
  { name: 'accounts/security/password', as: 'buyer', path: at('/account/password') },
  { name: 'accounts/security/email-address', as: 'buyer', path: at('/account/email') },
  {
    name: 'accounts/security/confirm-email',
    as: 'careful',
    path: ({ links }) => `/account/email/confirm?token=${links.confirm_email}`,
  },
  { name: 'accounts/security/recover', as: 'visitor', path: at('/account/recover') },
  {
    name: 'accounts/security/recover-password',
    as: 'visitor',
    path: ({ links }) => `/account/recover/password?token=${links.recover_password}`,
  },
  { name: 'accounts/security/message', as: 'visitor', path: at('/account/recover/password?token=dead') },
  {
    name: 'accounts/sign-in/link',
    as: 'visitor',
    path: ({ links }) => `/sign-in/link?token=${links.sign_in}`,
  },
  { name: 'accounts/passkeys/passkeys', as: 'newcomer', path: at('/account/passkeys') },
  { name: 'accounts/passkeys/passkeys some', as: 'buyer', path: at('/account/passkeys') },
  { name: 'accounts/security/second-factor-set-up', as: 'buyer', path: at('/account/second-factor') },
  { name: 'accounts/security/second-factor', as: 'careful', path: at('/account/second-factor') },
  {
    name: 'accounts/security/recovery-codes',
    as: 'careful',
    path: at('/account/second-factor'),
    steps: () => [{ to: '/recovery-codes' }, { to: '/recovery-codes' }],
  },
  {
    name: 'confirm sign-out',
    as: 'merchant',
    path: at('/account/sessions'),
    steps: () => [{ to: '/account/sessions/end', button: { session: 'others' } }],
  },
  {
    name: 'confirm revoking',
    as: 'buyer',
    path: at('/account/applications'),
    steps: () => [{ to: '/revoke' }],
  },
  {
    name: 'confirm ending a secret',
    as: 'merchant',
    path: ({ oauth }) => `/apps/${oauth.open.client_id}`,
    steps: () => [{ to: '/end' }],
  },
  { name: 'payment/buyer/pay', as: 'buyer', path: pay('unpaid') },
  { name: 'payment/buyer/pay trade', as: 'buyer', path: pay('trade') },
  { name: 'payment/buyer/pay changed', as: 'buyer', path: pay('changed') },
  { name: 'payment/buyer/pay test', as: 'newcomer', path: pay('test') },
  { name: 'payment/buyer/pay-state test', as: 'buyer', path: pay('testPaid') },
  { name: 'payment/buyer/pay short', as: 'newcomer', path: pay('dear') },
  { name: 'payment/buyer/pay-state paid', as: 'buyer', path: pay('paid') },
  { name: 'payment/buyer/pay-state trade', as: 'buyer', path: pay('tradePaid') },
  { name: 'payment/buyer/pay-state untold', as: 'buyer', path: pay('untold') },
  { name: 'payment/buyer/pay-state refunded', as: 'buyer', path: pay('refunded') },
  { name: 'payment/buyer/pay-state paid by other', as: 'buyer', path: pay('paidByOther') },
  { name: 'payment/buyer/pay-state expired', as: 'buyer', path: pay('expired') },
  { name: 'payment/buyer/pay-state closed', as: 'buyer', path: pay('closed') },
  { name: 'payment/buyer/pay-state unusable', as: 'buyer', path: pay('unusable') },
  {
    name: 'payment/buyer/pay-state unknown',
    as: 'buyer',
    path: at('/payment/pay/txn_000000000000000000000000'),
  },
  { name: 'accounts/sign-in/sign-in mandate', as: 'visitor', path: mandate('upTo') },
  { name: 'payment/mandates/offer', as: 'buyer', path: mandate('upTo') },
  { name: 'payment/mandates/offer unfolded', as: 'buyer', path: mandate('upTo'), isUnfolded: true },
  { name: 'payment/mandates/offer fixed', as: 'buyer', path: mandate('fixed') },
  { name: 'payment/mandates/offer lowered', as: 'buyer', path: mandate('dear') },
  { name: 'payment/mandates/offer replacing', as: 'buyer', path: mandate('replacing') },
  { name: 'payment/mandates/offer stale', as: 'stale', path: mandate('fixed') },
  { name: 'payment/mandates/offer-state accepted', as: 'buyer', path: mandate('accepted') },
  { name: 'payment/mandates/offer-state taken', as: 'careful', path: mandate('accepted') },
  { name: 'payment/mandates/offer-state limit', as: 'newcomer', path: mandate('fixed') },
  { name: 'payment/mandates/offer-state lapsed', as: 'buyer', path: mandate('lapsed') },
  {
    name: 'payment/mandates/offer-state unknown',
    as: 'buyer',
    path: at('/payment/mandate/mdt_000000000000000000000000'),
  },
  { name: 'payment/mandates/own-mandates', as: 'buyer', path: at('/account/mandates') },
  { name: 'payment/mandates/own-mandates empty', as: 'careful', path: at('/account/mandates') },
  {
    name: 'payment/mandates/own-mandate',
    as: 'buyer',
    path: ({ mandates }) => `/account/mandates/${mandates.charged}`,
    isUnfolded: true,
  },
  {
    name: 'payment/mandates/own-mandate revoked',
    as: 'buyer',
    path: ({ mandates }) => `/account/mandates/${mandates.revoked}`,
  },
  { name: 'payment/gateway/refused', as: 'visitor', path: at('/payment/api/submit.php?pid=1001&money=9.90') },
  { name: 'identity/oauth/consent', as: 'buyer', path: consent('open') },
  { name: 'identity/oauth/refused', as: 'buyer', path: consent('closed') },
  { name: 'identity/oauth/suspended', as: 'buyer', path: consent('suspended') },
  {
    name: 'identity/oauth/form-post',
    as: 'buyer',
    path: at('/'),
    act: async (page, { oauth }) => {
      // Its file would send the form to the application at once.
      const nothing = { contentType: 'text/javascript', body: '' }
      await page.route('**/submit*.js', (route) => route.fulfill(nothing), { times: 1 })
      const party = { ...oauth.open, redirect_uri: REDIRECT_URI } as Parameters<typeof authorizationUrl>[0]
      await page.goto(
        new URL(authorizationUrl(party, { response_mode: 'form_post', prompt: 'none' }), page.url()).href,
      )
    },
  },
  {
    name: 'identity/oauth/unconfirmed',
    as: 'buyer',
    path: at('/'),
    act: async (page, world) => {
      await setSetting(world.test, 'apps_by_any_token', 'draft')
      await page.goto(new URL(consent('waiting')(world), page.url()).href)
      await setSetting(world.test, 'apps_by_any_token', 'open')
    },
  },
  { name: 'identity/oauth/consent unconfirmed', as: 'careful', path: consent('waiting') },
  {
    name: 'identity/oauth/consent document',
    as: 'buyer',
    path: async (world) => authorizationUrl((await knownByDocument(world)) as Party, PKCE),
  },
  {
    name: 'identity/oauth/consent program',
    as: 'buyer',
    path: async (world) =>
      authorizationUrl(await onDevice(world, 'com.an-example-of-a-long-name.program:/callback'), PKCE),
  },
  { name: 'identity/oauth/consent mandate', as: 'buyer', path: joint('upTo') },
  { name: 'identity/oauth/consent mandate fixed', as: 'buyer', path: joint('fixed') },
  { name: 'identity/oauth/consent mandate unfolded', as: 'buyer', path: joint('upTo'), isUnfolded: true },
  { name: 'identity/oauth/consent mandate lowered', as: 'buyer', path: joint('dear') },
  { name: 'identity/oauth/consent mandate replacing', as: 'buyer', path: joint('replacing') },
  { name: 'identity/oauth/consent mandate limit', as: 'newcomer', path: joint('fixed') },
  { name: 'identity/oauth/consent mandate stale', as: 'stale', path: joint('upTo') },
  { name: 'identity/launch', as: 'buyer', path: at('/launch') },
  { name: 'identity/launch nothing', as: 'newcomer', path: at('/launch') },
  { name: 'identity/devices/device', as: 'buyer', path: at('/device') },
  {
    name: 'identity/devices/device wrong',
    as: 'newcomer',
    path: at('/device?user_code=BCDF-GHJK'),
    steps: () => [{ to: '/device' }],
  },
  {
    name: 'identity/devices/confirm',
    as: 'buyer',
    path: at('/device'),
    steps: async (world) => [{ to: '/device', typed: { user_code: await world.userCode() } }],
  },
  { name: 'identity/oauth/error', as: 'buyer', path: at('/oauth2/auth?client_id=nobody') },
  { name: 'identity/oauth/sign-out', as: 'buyer', path: at('/oauth2/logout') },
  { name: 'identity/oauth/signed-out', as: 'visitor', path: at('/oauth2/logout/done') },
  { name: 'identity/apps/apps', as: 'merchant', path: at('/apps') },
  { name: 'identity/apps/own-app', as: 'merchant', path: ({ oauth }) => `/apps/${oauth.open.client_id}` },
  {
    name: 'identity/apps/new-secret reset',
    as: 'admin',
    path: ({ oauth }) => `/admin/apps/${oauth.closed.client_id}`,
    steps: () => [{ to: '/reset-secret', isConfirmed: true }],
  },
  {
    name: 'identity/apps/new-secret',
    as: 'admin',
    path: at('/apps'),
    steps: () => [{ to: '/apps', typed: { name: 'Notebook', redirect_uris: REDIRECT_URI } }],
  },
  { name: 'payment/apps/apps', as: 'merchant', path: at('/payment/applications') },
  { name: 'payment/merchant/overview', as: 'merchant', path: paymentApp },
  { name: 'payment/merchant/overview viewer', as: 'buyer', path: paymentApp },
  {
    name: 'payment/merchant/overview pending',
    as: 'buyer',
    path: ({ pending }) => `/payment/applications/${pending.payment_id}`,
  },
  { name: 'payment/apps/settings', as: 'merchant', path: shop('settings') },
  { name: 'payment/apps/developers', as: 'merchant', path: shop('developers'), isUnfolded: true },
  { name: 'payment/apps/developers key', as: 'merchant', path: shop('developers?show=key') },
  { name: 'payment/merchant/orders', as: 'merchant', path: (world) => `${paymentApp(world)}/orders` },
  {
    name: 'payment/merchant/orders found',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders?q=sticker&status=paid&min=100&from=2020-01-01`,
  },
  {
    name: 'payment/merchant/order refunded',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.refunded}`,
  },
  {
    name: 'payment/merchant/order untold',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.untold}`,
  },
  {
    name: 'payment/merchant/order trade',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.trade}`,
  },
  {
    name: 'payment/merchant/orders-export',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/export?status=paid`,
  },
  { name: 'payment/merchant/addresses', as: 'merchant', path: (world) => `${paymentApp(world)}/addresses` },
  {
    name: 'payment/merchant/addresses tried',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/addresses`,
    steps: () => [{ to: '/addresses', typed: { url: 'http://127.0.0.1:9/notify' } }],
  },
  { name: 'payment/merchant/mandates', as: 'merchant', path: shop('mandates'), isUnfolded: true },
  { name: 'payment/merchant/mandates viewer', as: 'buyer', path: shop('mandates') },
  {
    name: 'payment/merchant/mandates asking',
    as: 'buyer',
    path: ({ pending }) => `/payment/applications/${pending.payment_id}/mandates`,
  },
  { name: 'payment/merchant/transfers', as: 'merchant', path: (world) => `${paymentApp(world)}/transfers` },
  {
    name: 'payment/merchant/transfer-confirm',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/transfers`,
    steps: ({ people }) => [
      { to: '/transfers/quote', typed: { to_username: people.buyer.username, amount: '40' } },
    ],
  },
  {
    name: 'payment/notifications/notifications',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/notifications`,
  },
  {
    name: 'payment/diagnosis/signatures',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/signatures`,
  },
  {
    name: 'payment/diagnosis/signatures wrong',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/signatures`,
    steps: () => [{ to: '/signatures', typed: { text: 'amount=10.0&order_id=a b&signature=0123' } }],
  },
  {
    name: 'payment/diagnosis/signatures refused',
    as: 'stale',
    path: (world) => `${paymentApp(world)}/signatures`,
    act: async (page) => {
      const refused = page.locator('#refused li').filter({ hasText: '/process' })
      await comingTo(page, () => refused.locator('a').first().click())
    },
  },
  {
    name: 'payment/diagnosis/signatures unreadable',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/signatures`,
    steps: () => [{ to: '/signatures', typed: { text: 'hello' } }],
  },
  {
    name: 'payment/merchant/overview test',
    as: 'merchant',
    path: ({ testApp }) => `/payment/applications/${testApp.payment_id}`,
  },
  {
    name: 'payment/merchant/orders empty',
    as: 'buyer',
    path: ({ pending }) => `/payment/applications/${pending.payment_id}/orders`,
  },
  {
    name: 'payment/apps/new-secret test',
    as: 'newcomer',
    path: at('/payment/applications'),
    steps: () => [
      {
        to: '/payment/applications',
        typed: { name: 'Tea', callback_url: 'https://tea.example.org/paid' },
        button: { book: 'test' },
      },
    ],
  },
  { name: 'payment/events/events', as: 'merchant', path: (world) => `${paymentApp(world)}/events` },
  {
    name: 'payment/events/events refused',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/events`,
    steps: () => [{ to: '/events', typed: { events_url: 'ftp://shop.example.org' } }],
  },
  {
    name: 'payment/apps/new-secret events',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/events`,
    steps: () => [{ to: '/rotate', isConfirmed: true }],
  },
  { name: 'payment/alerts/alerts', as: 'careful', path: at('/account/alerts') },
  { name: 'payment/alerts/alerts empty', as: 'newcomer', path: at('/account/alerts') },
  { name: 'payment/merchant/statistics', as: 'merchant', path: (world) => `${paymentApp(world)}/statistics` },
  {
    name: 'payment/merchant/statistics own range',
    as: 'buyer',
    path: shop('statistics?from=2025-02-01&until=2026-12-31'),
  },
  {
    name: 'payment/apps/team',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/team`,
    isUnfolded: true,
  },
  { name: 'payment/apps/developers viewer', as: 'buyer', path: shop('developers') },
  { name: 'payment/apps/settings viewer', as: 'buyer', path: shop('settings') },
  { name: 'payment/apps/team viewer', as: 'buyer', path: (world) => `${paymentApp(world)}/team` },
  { name: 'payment/apps/handover', as: 'merchant', path: (world) => `${paymentApp(world)}/handover` },
  { name: 'payment/apps/handover offered', as: 'careful', path: (world) => `${paymentApp(world)}/handover` },
  { name: 'payment/apps/apps invited', as: 'careful', path: at('/payment/applications') },
  {
    name: 'payment/apps/new-secret',
    as: 'admin',
    path: at('/payment/applications'),
    steps: () => [
      {
        to: '/payment/applications',
        typed: {
          name: 'Tea',
          callback_url: 'https://tea.example.org/paid',
        },
      },
    ],
  },
  {
    name: 'confirm token',
    as: 'merchant',
    path: shop('developers'),
    steps: () => [{ to: '/rotate' }],
  },
  {
    name: 'confirm asking for a refund',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.paid}`,
    steps: () => [{ to: '/refund-request', typed: { amount: '600', reason: 'One series is missing' } }],
  },
  {
    name: 'payment/apps/new-secret token',
    as: 'merchant',
    path: shop('developers'),
    steps: () => [{ to: '/rotate', isConfirmed: true }],
  },
  {
    name: 'payment/apps/new-secret pair',
    as: 'merchant',
    path: ({ testApp }) => `/payment/applications/${testApp.payment_id}/developers`,
    steps: () => [{ to: '/key-pair', isConfirmed: true }],
  },
  {
    name: 'payment/apps/new-secret key',
    as: 'merchant',
    path: ({ testApp }) => `/payment/applications/${testApp.payment_id}/developers`,
    steps: () => [{ to: '/reset-key', isConfirmed: true }],
  },
  { name: 'admin/apps/mandates', as: 'admin', path: at('/admin/mandates'), isUnfolded: true },
  {
    name: 'admin/apps/mandates found',
    as: 'admin',
    path: ({ mandates }) => `/admin/mandates?q=${mandates.accepted}`,
    isUnfolded: true,
  },
  { name: 'admin/apps/mandates nothing', as: 'admin', path: at('/admin/mandates?q=nothing') },
  { name: 'admin/dashboard/dashboard', as: 'admin', path: at('/admin') },
  { name: 'admin/apps/reviews', as: 'admin', path: at('/admin/reviews') },
  { name: 'admin/apps/reviews decided', as: 'admin', path: at('/admin/reviews?show=decided') },
  {
    name: 'admin/apps/payment-app',
    as: 'admin',
    path: ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
  },
  { name: 'admin/find/find', as: 'admin', path: ({ people }) => `/admin/find?q=${people.buyer.id}` },
  { name: 'admin/find/find empty', as: 'admin', path: at('/admin/find?q=nothing') },
  { name: 'admin/points/order', as: 'admin', path: ({ orders }) => `/admin/orders/${orders.refunded}` },
  { name: 'admin/points/order paid', as: 'admin', path: ({ orders }) => `/admin/orders/${orders.untold}` },
  { name: 'admin/points/transfer', as: 'admin', path: ({ transfer }) => `/admin/transfers/${transfer}` },
  { name: 'admin/points/journal', as: 'admin', path: at('/admin/journals/3') },
  { name: 'admin/points/wallet', as: 'admin', path: ({ people }) => `/admin/wallets/${people.buyer.id}` },
  { name: 'admin/points/fees', as: 'admin', path: at('/admin/books/fees') },
  { name: 'admin/points/abuse', as: 'admin', path: at('/admin/abuse') },
  { name: 'admin/people/forum', as: 'admin', path: at('/admin/forum') },
  { name: 'admin/proposals/proposals', as: 'admin', path: at('/admin/proposals?show=all') },
  {
    name: 'confirm freeze',
    as: 'admin',
    path: ({ people }) => `/admin/wallets/${people.newcomer.id}`,
    steps: () => [{ to: '/freeze', typed: { reason: 'Sold the same ticket twice' } }],
  },
  {
    name: 'admin/points/books',
    as: 'admin',
    path: at('/admin/books'),
    steps: () => [{ to: '/admin/books' }],
  },
  { name: 'admin/apps/notifications', as: 'admin', path: at('/admin/notifications') },
  { name: 'admin/people/members', as: 'admin', path: at('/admin/members') },
  {
    name: 'admin/people/member-created',
    as: 'admin',
    path: at('/admin/members'),
    steps: () => [{ to: '/admin/members/new', typed: { username: `guest-${Date.now()}` } }],
  },
  { name: 'admin/people/groups', as: 'admin', path: at('/admin/groups') },
  {
    name: 'admin/people/groups wrong',
    as: 'admin',
    path: at('/admin/groups'),
    steps: () => [{ to: '/admin/groups', typed: { name: 'admins', description: '' } }],
  },
  { name: 'admin/people/group', as: 'admin', path: at('/admin/groups/founders') },
  {
    name: 'admin/people/group wrong',
    as: 'admin',
    path: at('/admin/groups/founders'),
    steps: () => [{ to: '/add', typed: { usernames: 'nobody-1\nnobody-2' } }],
  },
  { name: 'admin/people/member', as: 'admin', path: ({ people }) => `/admin/members/${people.careful.id}` },
  { name: 'admin/people/member barred', as: 'admin', path: ({ barred }) => `/admin/members/${barred.id}` },
  {
    name: 'confirm member',
    as: 'admin',
    path: ({ people }) => `/admin/members/${people.buyer.id}`,
    steps: ({ people }) => [
      {
        to: `/admin/members/${people.buyer.id}`,
        holding: { act: 'suspend' },
        typed: { days: '30', reason: 'Sold the account' },
      },
    ],
  },
  { name: 'admin/apps/apps', as: 'admin', path: at('/admin/apps') },
  { name: 'admin/apps/app', as: 'admin', path: ({ oauth }) => `/admin/apps/${oauth.open.client_id}` },
  { name: 'admin/site/audit', as: 'admin', path: at('/admin/audit') },
  { name: 'admin/site/refusals', as: 'admin', path: at('/admin/audit/refusals') },
  { name: 'accounts/wallet test', as: 'buyer', path: at('/account?book=test') },
  { name: 'admin/site/settings', as: 'admin', path: at('/admin/settings?area=brand') },
  { name: 'admin/site/settings-found', as: 'admin', path: at('/admin/settings/find?q=fee') },
  { name: 'admin/site/settings payments', as: 'admin', path: at('/admin/settings?area=payments') },
  {
    name: 'admin/site/settings wrong',
    as: 'admin',
    path: at('/admin/settings?area=payments'),
    steps: () => [{ to: '/admin/settings', typed: { order_expiry_minutes: 'soon' } }],
  },
  { name: 'admin/site/settings limits', as: 'admin', path: at('/admin/settings?area=limits') },
  { name: 'admin/site/settings transfers', as: 'admin', path: at('/admin/settings?area=transfers') },
  { name: 'admin/site/settings mandates', as: 'admin', path: at('/admin/settings?area=mandates') },
  {
    name: 'admin/points/adjustments',
    as: 'admin',
    path: ({ orders }) => `/admin/adjustments?id=${orders.paid}`,
  },
  { name: 'admin/points/refund-requests', as: 'admin', path: at('/admin/refund-requests') },
  {
    name: 'confirm refund',
    as: 'admin',
    path: ({ orders }) => `/admin/adjustments?id=${orders.paid}`,
    steps: () => [{ to: '/admin/adjustments', typed: { amount: '12', reason: 'Half of it' } }],
  },
]

/** The pages that each test file checks, by the first folders of their views. */
export const GROUPS = {
  docs: ['docs'],
  members: ['accounts', 'confirm', 'error', 'home', 'identity', 'privacy'],
  payment: ['payment'],
  admin: ['admin'],
}
export type PageGroup = keyof typeof GROUPS

export const pagesOf = (group: PageGroup): ListedPage[] =>
  PAGES.filter(({ name }) => GROUPS[group].includes(name.split(/[ /]/)[0]!))
