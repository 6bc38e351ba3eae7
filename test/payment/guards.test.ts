/** What guards the pages of merchants, and the forms of members and payers, at every address that the application has. */
import { beforeAll, expect, it } from 'vitest'
import { inviteMember } from '../../src/payment/apps/team.ts'
import { makePerson } from '../harness/cast.ts'
import { type Browser, browser, useTestApp } from '../harness/harness.ts'
import { joinTeam, type Merchant, makeMerchant, settingsForm } from '../harness/merchant.ts'
import { routesOf } from '../harness/routes.ts'
import { withoutWriting } from '../identity/relying-party.ts'

/** The statuses for owner, manager, operator and viewer, and the addresses that answer so. Unknown ids are 404. */
const RIGHTS: [statuses: string, addresses: string][] = [
  ['200 200 200 200', 'GET , GET /settings, GET /team, GET /developers, GET /notifications, GET /mandates'],
  ['200 200 200 200', 'GET /orders, GET /orders/export, GET /orders/export.csv, GET /transfers'],
  ['200 200 200 200', 'GET /statistics, GET /statistics/products.csv, GET /payouts'],
  // A deleted draft leads to the list.
  ['303 303 303 303', 'GET /new-secret, GET /links/1'],
  ['200 200 200 200', 'GET /links'],
  ['200 200 403 403', 'GET /links/new'],
  [
    '404 404 404 404',
    'GET /links/1/sales, GET /links/1/codes, GET /links/1/share, GET /links/1/qr.png, GET /links/1/messages',
  ],
  ['404 404 403 403', 'GET /links/1/codes/full, GET /links/1/codes/sold.csv'],
  ['404 404 403 403', 'POST /links/1/codes, POST /links/1/codes/take-back'],
  ['400 400 403 403', 'POST /links/new'],
  ['404 404 403 403', 'POST /links/1, POST /links/1/publish, POST /links/1/pause, POST /links/1/resume'],
  ['404 404 404 403', 'POST /links/1/messages/1/hide, POST /links/1/messages/1/show'],
  ['404 404 403 403', 'POST /links/1/end, POST /links/1/delete, POST /links/1/picture'],
  [
    '404 404 404 404',
    'GET /orders/1, GET /payouts/1, GET /payouts/1/lines.csv, POST /invitation/accept, POST /invitation/decline, POST /handover/accept',
  ],
  ['200 200 200 403', 'GET /signatures, GET /addresses, POST /signatures, POST /addresses'],
  ['200 200 200 403', 'POST /developers/return'],
  ['303 303 303 403', 'POST /notifications/redeliver-failed'],
  ['404 404 404 403', 'POST /notifications/1/redeliver, POST /mandates/1/revoke'],
  ['404 404 404 403', 'POST /orders/1/refund-request, POST /orders/1/refund-request/withdraw'],
  ['200 200 403 403', 'GET /events, GET /access-keys, GET /payouts/new, GET /payouts/example.csv'],
  ['303 303 403 403', 'POST /edit, POST /versions, POST /rotate, POST /reset-key, POST /key-pair'],
  ['303 303 403 403', 'POST /events, POST /mandates/link'],
  ['400 400 403 403', 'POST /public-key, POST /access-keys, POST /access-keys/revoke'],
  // The owner's act leaves nothing to do.
  ['303 409 403 403', 'POST /end-overlap, POST /mandates/ask'],
  ['409 409 403 403', 'POST /events/rotate'],
  ['200 403 403 403', 'GET /handover'],
  ['303 403 403 403', 'POST /low-balance'],
  ['400 403 403 403', 'POST /team/invite, POST /handover/offer, POST /transfers, POST /transfers/quote'],
  ['404 403 403 403', 'POST /team/role, POST /team/remove, POST /handover/decline'],
  ['409 403 403 403', 'POST /handover/withdraw'],
  // Only the owner of the live application may have a test application beside it.
  ['303 404 404 404', 'POST /test'],
  // Of a live application.
  ['404 403 403 403', 'GET /go-live, POST /go-live'],
  ['404 403 403 403', 'GET /link, GET /unlink, POST /link, POST /unlink'],
  ['400 400 403 403', 'POST /logo, POST /payouts/new'],
  ['404 404 403 403', 'POST /payouts/1/cancel'],
  ['404 403 403 403', 'POST /payouts/1/pay, POST /payouts/1/resume'],
  // Of a live application, whose trades would move points.
  ['409 409 409 403', 'POST /test-order, POST /test-trade'],
  // The last, because the others leave.
  ['409 303 303 303', 'POST /team/leave'],
]

/** These need a recent sign-in: /edit, because it changes where payers return. */
const NEED_A_FRESH_SIGN_IN = [
  ...['/rotate', '/reset-key', '/key-pair', '/public-key', '/versions', '/end-overlap', '/events'],
  ...['/access-keys'],
  ...['/edit', '/events/rotate', '/team/invite', '/team/role', '/handover/offer', '/handover/accept'],
  ...['/links/1/codes/take-back', '/payouts/1/pay'],
]

/** Without these fields, a form is not read. */
const FIELDS: Record<string, Record<string, string>> = {
  '/edit': settingsForm(),
  '/events': { events_url: '' },
  '/events/rotate': { overlap_hours: '1' },
  '/rotate': { overlap_hours: '1' },
  '/low-balance': { low_balance_points: '5' },
  '/versions': { v1: 'on', v2: 'on' },
  '/public-key': { public_key: 'none' },
  '/addresses': { url: 'nonsense' },
  '/signatures': { text: 'a=1' },
  '/team/invite': { username: 'nobody', role: 'viewer' },
  '/team/role': { username: 'nobody', role: 'viewer' },
  '/team/remove': { username: 'nobody' },
  '/handover/offer': { username: 'nobody' },
  '/notifications/redeliver-failed': { hours: '1' },
  '/unlink': { gives_back: 'no' },
  '/go-live': { callback_url: 'https://shop.example/back' },
  '/test-order': { amount: '5', description: 'Tea' },
  '/test-trade': { notify_url: 'https://shop.example/n', return_url: 'https://shop.example/r' },
  '/mandates/ask': { purpose: 'Subscriptions of a test' },
  '/mandates/link': { client_id: '' },
  '/mandates/1/revoke': { reason: 'x' },
  '/orders/1/refund-request': { amount: '5', reason: 'x' },
}

const test = await useTestApp()
const shop = await makeMerchant(test)
const pageOf = ({ payment_id }: Merchant) => `/payment/applications/${payment_id}`
const ADDRESSES = RIGHTS.flatMap(([, addresses]) => addresses.split(', '))

const tokenOf = async (client: Browser) => (await client.get('/account')).form('/sign-out')
async function visit(client: Browser, address: string, page = pageOf(shop)) {
  const [method, path] = address.split(' ') as [string, string]
  if (method === 'GET') return client.get(page + path)
  return client.post(page + path, { ...(await tokenOf(client)), confirmed: 'yes', ...FIELDS[path] })
}
/** The forms and pages under an address, with 1 for every id. */
const routesUnder = (area: RegExp, methods: ('GET' | 'POST')[]) =>
  routesOf(test.app)
    .filter(({ path }) => area.test(path))
    .flatMap((route) =>
      methods
        .filter((method) => route.methods.includes(method))
        .map((method) => `${method} ${route.path.replace(/(\|?:\w+)+/g, '1')}`),
    )

let outsiders: Browser[]
beforeAll(async () => {
  const [stranger, invited] = [await makePerson(test), await makePerson(test)]
  const asked = { username: invited.username, role: 'manager' } as const
  await inviteMember(test.deps, shop.payment_id, asked, { user_id: shop.owner.id, ip: '127.0.0.1' })
  outsiders = [await stranger.signIn(), await invited.signIn()]
})

it('the rights of every address are known', () => {
  const area = /^\/payment\/applications\/:payment_id(\/|$)/
  const found = routesUnder(area, ['GET', 'POST']).map((route) =>
    route.replace('/payment/applications/1', ''),
  )
  expect(ADDRESSES.toSorted()).toEqual(found.toSorted())
})

it('others find no such application, also the invited', async () => {
  const isForInvited = (address: string) => address.includes('/invitation/')
  await withoutWriting(test, async () => {
    for (const address of ADDRESSES.filter((each) => !isForInvited(each)))
      for (const client of outsiders)
        expect([address, (await visit(client, address)).status]).toEqual([address, 404])
    for (const address of ADDRESSES.filter((each) => each.startsWith('GET')))
      expect((await visit(browser(test), address)).location).toMatch(/^\/sign-in/)
  })
})

it('no form is taken without its token', async () => {
  const owner = await shop.owner.signIn()
  const areas = /^\/payment\/(applications|pay\/:|mandate\/:)|^\/account\/(mandates|alerts)/
  const byPrograms = /\/(process|offer|charge|query|mandate\/1\/revoke)$/
  const forms = routesUnder(areas, ['POST']).filter((form) => !byPrograms.test(form))
  expect(forms.length).toBeGreaterThan(40)
  await withoutWriting(test, async () => {
    for (const form of forms)
      expect([form, (await owner.post(form.split(' ')[1]!, {})).status]).toEqual([form, 403])
  })
})

it('keys, addresses of events, roles and offers need a fresh sign-in', async () => {
  const seller = await makeMerchant(test)
  const owner = await seller.owner.signIn()
  test.clock.advance(10 * 60_000 + 1)
  const asking: string[] = []
  for (const address of ADDRESSES.filter((each) => each.startsWith('POST') && !each.endsWith('/signatures')))
    if ((await visit(owner, address, pageOf(seller))).body.includes('/sign-in?return_to='))
      asking.push(address.split(' ')[1]!)
  expect(asking.toSorted()).toEqual(NEED_A_FRESH_SIGN_IN.toSorted())
})

it('each role may do what it may, and no more', async () => {
  const owner = await shop.owner.signIn()
  const people = [owner]
  for (const role of ['manager', 'operator', 'viewer'] as const)
    people.push(await (await joinTeam(test, shop, role)).signIn())
  for (const [statuses, addresses] of RIGHTS)
    for (const address of addresses.split(', ')) {
      const found: number[] = []
      for (const client of people) found.push((await visit(client, address)).status)
      expect([address, found.join(' ')]).toEqual([address, statuses])
    }
})
