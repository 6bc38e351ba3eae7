/** Every page there is: one line each. A view in views/ that no line names fails the tests of pages. */
import type { Page } from 'playwright-core'
import { OPERATIONS, operationId } from '../../src/docs/openapi.ts'
import { WEBHOOKS } from '../../src/docs/webhooks.ts'
import type { Person } from '../cast.ts'
import { authorizationUrl, REDIRECT_URI } from '../identity/relying-party.ts'
import type { Role, World } from './world.ts'

export type ListedPage = {
  /** The view that it is made of; a second word tells it from others of the same view. */
  name: string
  as: Role
  /** On the site that most pages are of, or with its origin. */
  path: (world: World) => string
  /** What is done at that address to come to the page. */
  act?: (page: Page, world: World) => Promise<unknown>
}

type Fields = Record<string, string>

/** Fills in the form and sends it, by its button of this value if it has several. */
function sending(form: string, fields: Fields = {}, button = 'button'): (page: Page) => Promise<unknown> {
  return async (page) => {
    const found = page.locator(form).first()
    for (const [name, value] of Object.entries(fields)) await found.locator(`[name="${name}"]`).fill(value)
    // Forms may stand folded away.
    await found
      .locator(button)
      .first()
      .evaluate((element) => (element as HTMLElement).click())
    await page.waitForLoadState()
  }
}

const signingIn = ({ username, password }: Person) =>
  sending('form[action="/sign-in"]', { username, password })
const at = (path: string) => () => path
const pay = (fate: keyof World['orders']) => (world: World) => `/payment/pay/${world.orders[fate]}`
const paymentApp = ({ merchant }: World) => `/payment/applications/${merchant.payment_id}`
const consent = (app: keyof World['oauth']) => (world: World) =>
  authorizationUrl({ ...world.oauth[app], redirect_uri: REDIRECT_URI } as Parameters<
    typeof authorizationUrl
  >[0])

/** Opens everything that is folded away. */
const unfolding = (page: Page) =>
  page.locator('main details').evaluateAll((found) => {
    for (const one of found) (one as HTMLDetailsElement).open = true
  })

export const PAGES: ListedPage[] = [
  { name: 'home visitor', as: 'visitor', path: at('/') },
  { name: 'home', as: 'buyer', path: at('/') },
  { name: 'home admin', as: 'admin', path: at('/') },
  { name: 'error', as: 'visitor', path: at('/nowhere') },
  { name: 'docs', as: 'visitor', path: at('/docs') },
  { name: 'docs-area identity', as: 'visitor', path: at('/docs/identity') },
  { name: 'docs-area payment', as: 'visitor', path: at('/docs/payment') },
  { name: 'docs-area v1', as: 'visitor', path: at('/docs/v1') },
  { name: 'docs-area v2', as: 'visitor', path: at('/docs/v2') },
  ...OPERATIONS.map((operation): ListedPage => {
    const id = operationId(operation)
    return { name: `docs-operation ${id}`, as: 'visitor', path: at(`/docs/${operation.area}/${id}`) }
  }),
  { name: 'docs-notifications', as: 'visitor', path: at('/docs/notifications') },
  ...WEBHOOKS.map(
    ({ name }): ListedPage => ({
      name: `docs-notification ${name}`,
      as: 'visitor',
      path: at(`/docs/notifications/${name}`),
    }),
  ),
  { name: 'docs-codes', as: 'visitor', path: at('/docs/codes') },
  { name: 'docs-rules', as: 'visitor', path: at('/docs/rules') },
  { name: 'sign-in', as: 'visitor', path: at('/sign-in') },
  { name: 'register', as: 'visitor', path: ({ open }) => `${open.url}/register` },
  { name: 'sign-in again', as: 'buyer', path: at('/sign-in?reason=again') },
  {
    name: 'sign-in wrong',
    as: 'visitor',
    path: at('/sign-in'),
    act: sending('form[action="/sign-in"]', { username: 'nobody', password: 'wrong' }),
  },
  {
    name: 'second-step',
    as: 'visitor',
    path: at('/sign-in'),
    act: (page, { people }) => signingIn(people.careful)(page),
  },
  { name: 'sign-in-again', as: 'stale', path: paymentApp, act: sending('form[action$="/rotate"]') },
  { name: 'forum-refused', as: 'visitor', path: at('/sign-in/forum/callback?sso=x&sig=y') },
  { name: 'account', as: 'buyer', path: at('/account') },
  { name: 'account found', as: 'buyer', path: at('/account?q=poster&kind=refund') },
  { name: 'payments', as: 'buyer', path: at('/account/payments') },
  { name: 'payments empty', as: 'careful', path: at('/account/payments?q=nothing') },
  { name: 'profile', as: 'buyer', path: at('/account/profile') },
  { name: 'profile saved', as: 'careful', path: at('/account/profile?saved=1') },
  { name: 'account empty', as: 'careful', path: at('/account') },
  { name: 'own-data', as: 'merchant', path: at('/account/data') },
  { name: 'own-data points', as: 'newcomer', path: at('/account/data') },
  {
    name: 'close-account',
    as: 'newcomer',
    path: at('/account/data'),
    act: async (page) => {
      await page.locator('[name="give_up"]').check()
      await sending('form[action="/account/data/close"]')(page)
    },
  },
  { name: 'sessions', as: 'buyer', path: at('/account/sessions') },
  { name: 'authorised-apps', as: 'buyer', path: at('/account/applications') },
  { name: 'password', as: 'buyer', path: at('/account/password') },
  { name: 'email', as: 'buyer', path: at('/account/email') },
  {
    name: 'confirm-email',
    as: 'careful',
    path: ({ links }) => `/account/email/confirm?token=${links.confirm_email}`,
  },
  { name: 'recover', as: 'visitor', path: at('/account/recover') },
  {
    name: 'recover-password',
    as: 'visitor',
    path: ({ links }) => `/account/recover/password?token=${links.recover_password}`,
  },
  { name: 'account-message', as: 'visitor', path: at('/account/recover/password?token=dead') },
  { name: 'sign-in-link', as: 'visitor', path: ({ links }) => `/sign-in/link?token=${links.sign_in}` },
  { name: 'second-factor-set-up', as: 'buyer', path: at('/account/second-factor') },
  { name: 'second-factor', as: 'careful', path: at('/account/second-factor') },
  {
    name: 'recovery-codes',
    as: 'careful',
    path: at('/account/second-factor'),
    act: sending('form[action$="/recovery-codes"]'),
  },
  { name: 'pay', as: 'buyer', path: pay('unpaid') },
  { name: 'pay trade', as: 'buyer', path: pay('trade') },
  { name: 'pay changed', as: 'buyer', path: pay('changed') },
  { name: 'pay test', as: 'newcomer', path: pay('test') },
  { name: 'pay-state test', as: 'buyer', path: pay('testPaid') },
  { name: 'pay short', as: 'newcomer', path: pay('dear') },
  { name: 'pay-state paid', as: 'buyer', path: pay('paid') },
  { name: 'pay-state trade', as: 'buyer', path: pay('tradePaid') },
  { name: 'pay-state untold', as: 'buyer', path: pay('untold') },
  { name: 'pay-state refunded', as: 'buyer', path: pay('refunded') },
  { name: 'pay-state paid by other', as: 'buyer', path: pay('paidByOther') },
  { name: 'pay-state expired', as: 'buyer', path: pay('expired') },
  { name: 'pay-state closed', as: 'buyer', path: pay('closed') },
  { name: 'pay-state unusable', as: 'buyer', path: pay('unusable') },
  { name: 'pay-state unknown', as: 'buyer', path: at('/payment/pay/txn_000000000000000000000000') },
  { name: 'gateway-refused', as: 'visitor', path: at('/payment/api/submit.php?pid=1001&money=9.90') },
  { name: 'consent', as: 'buyer', path: consent('open') },
  { name: 'refused', as: 'buyer', path: consent('closed') },
  { name: 'app-suspended', as: 'buyer', path: consent('suspended') },
  { name: 'identity-error', as: 'buyer', path: at('/oauth2/auth?client_id=nobody') },
  { name: 'sign-out', as: 'buyer', path: at('/oauth2/logout') },
  { name: 'signed-out', as: 'visitor', path: at('/oauth2/logout/done') },
  { name: 'apps', as: 'merchant', path: at('/apps') },
  { name: 'app', as: 'merchant', path: ({ oauth }) => `/apps/${oauth.open.client_id}` },
  {
    name: 'app-secret',
    as: 'admin',
    path: ({ oauth }) => `/admin/apps/${oauth.closed.client_id}`,
    act: sending('form[action$="/reset-secret"]'),
  },
  {
    name: 'app-created',
    as: 'admin',
    path: at('/apps'),
    act: sending('form[action="/apps"]', { name: 'Notebook', redirect_uris: REDIRECT_URI }),
  },
  { name: 'payment-apps', as: 'merchant', path: at('/payment/applications') },
  { name: 'payment-app', as: 'merchant', path: paymentApp },
  { name: 'seller-orders', as: 'merchant', path: (world) => `${paymentApp(world)}/orders` },
  {
    name: 'seller-orders found',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders?q=sticker&status=paid&min=100&from=2020-01-01`,
  },
  {
    name: 'seller-order refunded',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.refunded}`,
  },
  {
    name: 'seller-order untold',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.untold}`,
  },
  {
    name: 'seller-order trade',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/${world.orders.trade}`,
  },
  {
    name: 'seller-orders-export',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/orders/export?status=paid`,
  },
  { name: 'seller-addresses', as: 'merchant', path: (world) => `${paymentApp(world)}/addresses` },
  {
    name: 'seller-addresses tried',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/addresses`,
    act: sending('form.filters[action$="/addresses"]', { url: 'http://127.0.0.1:9/notify' }),
  },
  { name: 'seller-transfers', as: 'merchant', path: (world) => `${paymentApp(world)}/transfers` },
  {
    name: 'seller-transfer-confirm',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/transfers`,
    act: async (page, { people }) => {
      await page.locator('main details > summary').first().click()
      await sending('form[action$="/transfers/quote"]', { to_username: people.buyer.username, amount: '40' })(
        page,
      )
    },
  },
  { name: 'notifications', as: 'merchant', path: (world) => `${paymentApp(world)}/notifications` },
  { name: 'signatures', as: 'merchant', path: (world) => `${paymentApp(world)}/signatures` },
  {
    name: 'signatures wrong',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/signatures`,
    act: sending('form[action$="/signatures"]', { text: 'amount=10.0&order_id=a b&signature=0123' }),
  },
  {
    name: 'signatures refused',
    as: 'stale',
    path: (world) => `${paymentApp(world)}/signatures`,
    act: async (page) => {
      await page.locator('#refused li').filter({ hasText: '/process' }).locator('a').first().click()
      await page.waitForLoadState()
    },
  },
  {
    name: 'signatures unreadable',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/signatures`,
    act: sending('form[action$="/signatures"]', { text: 'hello' }),
  },
  {
    name: 'payment-app test',
    as: 'merchant',
    path: ({ testApp }) => `/payment/applications/${testApp.payment_id}`,
  },
  {
    name: 'payment-app-created test',
    as: 'newcomer',
    path: at('/payment/applications'),
    act: sending(
      'form[action="/payment/applications"]',
      { name: 'Tea', callback_url: 'https://tea.example.org/paid' },
      'button[value="test"]',
    ),
  },
  { name: 'events', as: 'merchant', path: (world) => `${paymentApp(world)}/events` },
  {
    name: 'events refused',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/events`,
    act: sending('form[action$="/events"]', { events_url: 'ftp://shop.example.org' }),
  },
  {
    name: 'event-secret',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/events`,
    act: sending('form[action$="/rotate"]'),
  },
  { name: 'alerts', as: 'careful', path: at('/account/alerts') },
  { name: 'alerts empty', as: 'newcomer', path: at('/account/alerts') },
  { name: 'statistics', as: 'merchant', path: (world) => `${paymentApp(world)}/statistics` },
  { name: 'statistics week', as: 'buyer', path: (world) => `${paymentApp(world)}/statistics?by=week` },
  {
    name: 'payment-app-team',
    as: 'merchant',
    path: (world) => `${paymentApp(world)}/team`,
    act: unfolding,
  },
  { name: 'payment-app viewer', as: 'buyer', path: paymentApp },
  { name: 'payment-app-team viewer', as: 'buyer', path: (world) => `${paymentApp(world)}/team` },
  { name: 'payment-app-handover', as: 'merchant', path: (world) => `${paymentApp(world)}/handover` },
  { name: 'payment-app-handover offered', as: 'careful', path: (world) => `${paymentApp(world)}/handover` },
  { name: 'payment-apps invited', as: 'careful', path: at('/payment/applications') },
  {
    name: 'payment-app-created',
    as: 'admin',
    path: at('/payment/applications'),
    act: sending('form[action="/payment/applications"]', {
      name: 'Tea',
      callback_url: 'https://tea.example.org/paid',
    }),
  },
  { name: 'payment-app-rotated', as: 'merchant', path: paymentApp, act: sending('form[action$="/rotate"]') },
  {
    name: 'payment-app-key-pair',
    as: 'merchant',
    path: paymentApp,
    act: sending('form[action$="/key-pair"]'),
  },
  { name: 'admin', as: 'admin', path: at('/admin') },
  {
    name: 'admin-payment-app',
    as: 'admin',
    path: ({ merchant }) => `/admin/payment-applications/${merchant.payment_id}`,
  },
  { name: 'admin-find', as: 'admin', path: ({ people }) => `/admin/find?q=${people.buyer.id}` },
  { name: 'admin-find empty', as: 'admin', path: at('/admin/find?q=nothing') },
  { name: 'admin-order', as: 'admin', path: ({ orders }) => `/admin/orders/${orders.refunded}` },
  { name: 'admin-order paid', as: 'admin', path: ({ orders }) => `/admin/orders/${orders.untold}` },
  { name: 'admin-transfer', as: 'admin', path: ({ transfer }) => `/admin/transfers/${transfer}` },
  { name: 'admin-journal', as: 'admin', path: at('/admin/journals/3') },
  { name: 'admin-purse', as: 'admin', path: ({ people }) => `/admin/purses/${people.buyer.id}` },
  { name: 'admin-fees', as: 'admin', path: at('/admin/books/fees') },
  { name: 'admin-abuse', as: 'admin', path: at('/admin/abuse') },
  { name: 'admin-forum', as: 'admin', path: at('/admin/forum') },
  { name: 'admin-proposals', as: 'admin', path: at('/admin/proposals?show=all') },
  {
    name: 'admin-freeze',
    as: 'admin',
    path: ({ people }) => `/admin/purses/${people.newcomer.id}`,
    act: sending('form[action$="/freeze"]', { reason: 'Sold the same ticket twice' }),
  },
  { name: 'books', as: 'admin', path: at('/admin/books'), act: sending('form[action="/admin/books"]') },
  { name: 'admin-notifications', as: 'admin', path: at('/admin/notifications') },
  { name: 'admin-members', as: 'admin', path: at('/admin/members') },
  {
    name: 'admin-member-created',
    as: 'admin',
    path: at('/admin/members'),
    act: async (page) => {
      await page.locator('summary:has(+ form[action="/admin/members/new"])').click()
      await sending('form[action="/admin/members/new"]', { username: `guest-${Date.now()}` })(page)
    },
  },
  { name: 'admin-member', as: 'admin', path: ({ people }) => `/admin/members/${people.careful.id}` },
  { name: 'admin-member barred', as: 'admin', path: ({ barred }) => `/admin/members/${barred.id}` },
  {
    name: 'admin-member-confirm',
    as: 'admin',
    path: ({ people }) => `/admin/members/${people.buyer.id}`,
    act: sending('form:has([value="suspend"])', { days: '30', reason: 'Sold the account' }),
  },
  { name: 'admin-apps', as: 'admin', path: at('/admin/apps') },
  { name: 'admin-app', as: 'admin', path: ({ oauth }) => `/admin/apps/${oauth.open.client_id}` },
  { name: 'audit', as: 'admin', path: at('/admin/audit') },
  { name: 'settings', as: 'admin', path: at('/admin/settings') },
  { name: 'account test', as: 'buyer', path: at('/account?book=test') },
  { name: 'settings site', as: 'admin', path: at('/admin/settings?area=site') },
  { name: 'settings transfers', as: 'admin', path: at('/admin/settings?area=transfers') },
  { name: 'corrections', as: 'admin', path: ({ orders }) => `/admin/corrections?id=${orders.paid}` },
  { name: 'refund-requests', as: 'admin', path: at('/admin/refund-requests') },
  {
    name: 'corrections-confirm',
    as: 'admin',
    path: ({ orders }) => `/admin/corrections?id=${orders.paid}`,
    act: sending('form[method="post"][action="/admin/corrections"]', { amount: '12', reason: 'Half of it' }),
  },
]
