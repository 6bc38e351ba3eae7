/** The requests of a recording, in a fixed order: pages as visitor and members, the HMAC API, the gateway, OAuth. */
import { createHash, createHmac, createPrivateKey, sign } from 'node:crypto'
import type { Demo } from '../../src/demo/world.ts'
import { type Browser, browserAt, type Page } from '../../test/harness/browser.ts'
import { unescaped } from '../../test/harness/markup.ts'

export type Reply = Pick<Page, 'status' | 'headers' | 'body'>

/** Records the reply under this name and returns it. */
export type Ask = (name: string, reply: Promise<Reply>) => Promise<Reply>

type Fields = Record<string, string>

const LANGUAGES = ['en', 'zh-CN']
/** The number of pages that are followed from link to link, for one member and language. */
const CRAWLED_MAX = 70
const PUBLIC = [
  '/',
  '/sign-in',
  '/register',
  '/docs',
  '/docs/openapi.json',
  '/.well-known/openid-configuration',
  '/oauth2/jwks',
  '/oauth2/logout',
  '/healthz',
  '/readyz',
  '/nowhere',
  '/account',
  '/admin',
  '/admin/reviews',
  '/apps',
  '/payment/applications',
  '/payment/pay/txn_nothing',
  '/api/apps',
  '/oauth2/userinfo',
  '/oauth2/token',
  '/oauth2/auth',
  '/oauth2/auth?client_id=nobody&response_type=code',
  '/favicon.ico',
  '/payment/api/submit.php',
  '/payment/api/mapi.php',
  '/payment/api/api.php',
]

let browsers = 0

/** A browser in one language. Each has its own loopback address, because the limit for pages counts by address. */
function makeBrowser(base: string, language: string): Browser {
  browsers += 1
  const headers = { accept: 'text/html', 'accept-language': language }
  return browserAt(base, { headers, localAddress: `127.0.9.${browsers}` })
}

/** Sends the page's form with this action, or the fields alone if the page does not have it. */
async function submit(browser: Browser, path: string, action: string, fields: Fields): Promise<Page> {
  const page = await browser.get(path)
  const hasForm = page.body.includes(`action="${action}"`)
  return hasForm ? browser.submit(page, action, fields) : browser.post(action, fields)
}

/** Sends all requests to a freshly started demo. */
export async function askAll(demo: Demo, ask: Ask): Promise<void> {
  const visitor = makeBrowser(demo.base_url, 'en')
  await askPublic(demo, ask)
  await askHmac(demo, visitor, ask)
  await askGateway(demo, visitor, ask)
  const buyer = await signIn(demo, 'alice', 'en', ask)
  await askPaying(demo, buyer, visitor, ask)
  await askOauth(demo, buyer, visitor, ask)
  for (const language of LANGUAGES)
    for (const person of ['alice', 'bob', 'dora', 'admin'])
      await crawl(person, language, await signIn(demo, person, language, ask), ask)
}

async function askPublic(demo: Demo, ask: Ask): Promise<void> {
  for (const language of LANGUAGES) {
    const browser = makeBrowser(demo.base_url, language)
    for (const path of PUBLIC) {
      await ask(`visitor ${language} GET ${path}`, browser.get(path))
      await ask(`program ${language} POST ${path}`, browser.post(path, 'a=b', { accept: 'application/json' }))
    }
    const wrong = { username: 'alice', password: 'wrong' }
    await ask(`visitor ${language} signs in wrongly`, submit(browser, '/sign-in', '/sign-in', wrong))
    await ask(`visitor ${language} sends no form token`, browser.post('/sign-in', 'username=x'))
  }
}

async function askHmac({ payment_app, people }: Demo, visitor: Browser, ask: Ask): Promise<void> {
  const { payment_id, secret_key } = payment_app
  const alice = people.find(({ username }) => username === 'alice')!
  const recipient = { to_user_id: String(alice.id), to_username: 'alice' }
  const signed = (fields: Fields): Fields => {
    const text = Object.keys(fields)
      .sort()
      .map((name) => `${name}=${fields[name]}`)
      .join('&')
    return { ...fields, signature: createHmac('sha256', secret_key).update(text).digest('hex') }
  }
  const post = (name: string, path: string, fields: Fields) =>
    ask(`hmac ${name}`, visitor.post(path, fields, { accept: '*/*' }))
  const sell = `/payment/pay/${payment_id}/process`
  const order = { amount: '12', description: 'Tea', order_id: 'r-1' }
  const initiations: [string, Fields][] = [
    ['new order', order],
    ['same order again', order],
    ['same order, other amount', { ...order, amount: '13' }],
    ['unicode description', { amount: '1', description: '茶叶 & =', order_id: 'r-2' }],
    ['further parameter', { ...order, order_id: 'r-3', extra: '1' }],
    ...['0', '-1', '1.5', 'x', '', '9007199254740992'].map((amount): [string, Fields] => [
      `amount ${amount}`,
      { ...order, order_id: 'r-4', amount },
    ]),
    ['no amount', { description: 'Tea', order_id: 'r-5' }],
    ['no description', { amount: '1', order_id: 'r-5' }],
    ['no order_id', { amount: '1', description: 'Tea' }],
    ['order_id with a space', { ...order, order_id: 'r 6' }],
    ['old timestamp', { ...order, order_id: 'r-7', timestamp: '1600000000' }],
    ['timestamp that is none', { ...order, order_id: 'r-7', timestamp: 'now' }],
  ]
  for (const [name, fields] of initiations) await post(`initiate: ${name}`, sell, signed(fields))
  await post('initiate: unsigned', sell, order)
  await post('initiate: wrong signature', sell, { ...order, signature: '0'.repeat(64) })
  await post('initiate: unknown application', '/payment/pay/pay_00000000000000000000/process', signed(order))
  const transfers: [string, Fields][] = [
    ['new', { ...recipient, amount: '5', order_id: 't-1' }],
    ['again', { ...recipient, amount: '5', order_id: 't-1' }],
    ['other amount', { ...recipient, amount: '6', order_id: 't-1' }],
    ['recipient mismatch', { ...recipient, to_username: 'carol', amount: '5', order_id: 't-2' }],
    ['no such recipient', { to_user_id: '999999', to_username: 'x', amount: '5', order_id: 't-3' }],
    ['too much', { ...recipient, amount: '9000', order_id: 't-4' }],
    ['too much for the wallet', { ...recipient, amount: '4999', order_id: 't-5' }],
    ['nothing', { ...recipient, amount: '0', order_id: 't-6' }],
    ['no order_id', { ...recipient, amount: '1' }],
    ['points in place of amount', { ...recipient, points: '2', order_id: 't-7' }],
  ]
  for (const [name, fields] of transfers)
    await post(`transfer: ${name}`, `/payment/transfer/${payment_id}`, signed(fields))
  const queries: Fields[] = [
    { order_id: 'r-1' },
    { order_id: 't-1' },
    { order_id: 'unknown' },
    { transaction_id: 'txn_unknown' },
    {},
  ]
  for (const fields of queries)
    await post(`query: ${JSON.stringify(fields)}`, `/payment/query/${payment_id}`, signed(fields))
  const lists: Fields[] = [
    {},
    { limit: '1' },
    { limit: '0' },
    { status: 'paid' },
    { status: 'x' },
    { cursor: 'x' },
  ]
  for (const path of ['orders', 'transfers'])
    for (const fields of lists)
      await post(`${path}: ${JSON.stringify(fields)}`, `/payment/${path}/${payment_id}`, signed(fields))
  const json = { 'content-type': 'application/json', accept: '*/*' }
  const asJson = JSON.stringify(signed({ ...order, order_id: 'r-8' }))
  await ask('hmac initiate: JSON', visitor.post(sell, asJson, json))
  await ask('hmac initiate: broken JSON', visitor.post(sell, '{', json))
  await ask('hmac initiate: nested JSON', visitor.post(sell, '{"amount":{"a":1}}', json))
  await ask('hmac initiate: by GET', visitor.get(sell, { accept: '*/*' }))
  await ask('hmac initiate: twice', visitor.post(sell, 'amount=1&amount=2', { accept: '*/*' }))
}

async function askGateway({ gateway_app }: Demo, visitor: Browser, ask: Ask): Promise<void> {
  const { pid, merchant_key, merchant_private_key } = gateway_app
  const der = Buffer.from(merchant_private_key, 'base64')
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const textOf = (fields: Fields) =>
    Object.keys(fields)
      .filter((name) => fields[name] !== '')
      .sort()
      .map((name) => `${name}=${fields[name]}`)
      .join('&')
  const md5 = (fields: Fields): Fields => ({
    ...fields,
    sign: createHash('md5')
      .update(textOf(fields) + merchant_key)
      .digest('hex'),
    sign_type: 'MD5',
  })
  const rsa = (fields: Fields): Fields => {
    const stamped = { ...fields, timestamp: String(Math.floor(Date.now() / 1000)) }
    const signature = sign('sha256', Buffer.from(textOf(stamped)), key).toString('base64')
    return { ...stamped, sign: signature, sign_type: 'RSA' }
  }
  const post = (name: string, path: string, fields: Fields, accept = '*/*') =>
    ask(`gateway ${name}`, visitor.post(path, fields, { accept }))
  const trade = {
    pid: String(pid),
    type: 'alipay',
    out_trade_no: 'g-1',
    notify_url: 'http://127.0.0.1:9009/notify',
    return_url: 'http://127.0.0.1:9/return',
    name: 'Mug',
    money: '0.05',
  }
  const creates: [string, Fields][] = [
    ['new', trade],
    ['again', trade],
    ['other money', { ...trade, money: '0.06' }],
    ['no type', { ...trade, out_trade_no: 'g-2', type: '' }],
    ['with param', { ...trade, out_trade_no: 'g-3', param: 'a' }],
    ...['0', '0.001', '-1', 'x', '1e3', '99999999.99'].map((money): [string, Fields] => [
      `money ${money}`,
      { ...trade, out_trade_no: 'g-4', money },
    ]),
    ['no name', { ...trade, out_trade_no: 'g-5', name: '' }],
    ['no notify_url', { ...trade, out_trade_no: 'g-5', notify_url: '' }],
    ['notify_url that is none', { ...trade, out_trade_no: 'g-5', notify_url: 'ftp://x' }],
    ['unknown pid', { ...trade, pid: '1' }],
    ['no pid', { ...trade, pid: '' }],
  ]
  for (const [name, fields] of creates) {
    await post(`v1 mapi: ${name}`, '/payment/api/mapi.php', md5(fields))
    await post(`v1 submit: ${name}`, '/payment/api/submit.php', md5(fields), 'text/html')
    await post(`v2 create: ${name}`, '/payment/api/pay/create', rsa({ ...fields, method: 'web' }))
    await post(`v2 submit: ${name}`, '/payment/api/pay/submit', rsa(fields), 'text/html')
  }
  await post('v1 mapi: wrong sign', '/payment/api/mapi.php', { ...trade, sign: 'a'.repeat(32) })
  await post('v2 create: wrong sign', '/payment/api/pay/create', { ...rsa(trade), sign: 'AAAA' })
  await post('v2 create: old timestamp', '/payment/api/pay/create', {
    ...rsa(trade),
    timestamp: '1600000000',
  })
  const own = { pid: String(pid), key: merchant_key }
  const acts: [string, Fields][] = [
    ['query', own],
    ['query', { ...own, key: 'wrong' }],
    ['settle', own],
    ['order', { ...own, out_trade_no: 'g-1' }],
    ['order', { ...own, out_trade_no: 'unknown' }],
    ['order', own],
    ['orders', own],
    ['orders', { ...own, limit: '1', page: '2' }],
    ['orders', { ...own, limit: 'x' }],
    ['refund', { ...own, out_trade_no: 'g-1', money: '1' }],
    ['nothing', own],
  ]
  for (const [act, fields] of acts) {
    const query = new URLSearchParams({ act, ...fields }).toString()
    const name = Object.keys(fields)
      .filter((each) => each !== 'pid')
      .join(' ')
    await ask(
      `gateway v1 api ${act} ${name}`,
      visitor.get(`/payment/api/api.php?${query}`, { accept: '*/*' }),
    )
  }
  const inquiries: [string, Fields][] = [
    ['pay/query', { pid: String(pid), out_trade_no: 'g-1' }],
    ['pay/query', { pid: String(pid), out_trade_no: 'unknown' }],
    ['pay/query', { pid: String(pid) }],
    ['pay/refund', { pid: String(pid), out_trade_no: 'g-1', money: '1' }],
    ['pay/refundquery', { pid: String(pid), out_refund_no: '1' }],
    ['pay/close', { pid: String(pid), out_trade_no: 'g-3' }],
    ['merchant/info', { pid: String(pid) }],
    ['merchant/orders', { pid: String(pid), offset: '0', limit: '5' }],
    ['transfer/submit', { pid: String(pid) }],
    ['transfer/query', { pid: String(pid) }],
    ['transfer/balance', { pid: String(pid) }],
  ]
  for (const [path, fields] of inquiries)
    await post(`v2 ${path} ${Object.keys(fields).join(' ')}`, `/payment/api/${path}`, rsa(fields))
}

async function signIn(demo: Demo, username: string, language: string, ask: Ask): Promise<Browser> {
  const browser = makeBrowser(demo.base_url, language)
  const { password } = demo.people.find((person) => person.username === username)!
  await ask(
    `${username} ${language} signs in`,
    submit(browser, '/sign-in', '/sign-in', { username, password }),
  )
  return browser
}

async function askPaying({ payment_app }: Demo, buyer: Browser, visitor: Browser, ask: Ask): Promise<void> {
  const fields: Fields = { amount: '120', description: 'Sticker pack', order_id: 'p-1' }
  const text = `amount=120&description=Sticker pack&order_id=p-1`
  fields.signature = createHmac('sha256', payment_app.secret_key).update(text).digest('hex')
  const path = `/payment/pay/${payment_app.payment_id}/process`
  const body = new URLSearchParams(fields).toString()
  const made = await ask('initiate what is paid', visitor.post(path, body, { accept: '*/*' }))
  const { pathname } = new URL((JSON.parse(made.body) as { payment_url: string }).payment_url)
  await ask('visitor sees the order', visitor.get(pathname))
  await ask('buyer sees the order', buyer.get(pathname))
  await ask('state before', buyer.get(`${pathname}/state`))
  await ask('QR code', buyer.get(`${pathname}/qr.svg`))
  await ask('buyer pays', submit(buyer, pathname, pathname, {}))
  await ask('buyer pays again', submit(buyer, pathname, pathname, {}))
  await ask('receipt', buyer.get(pathname))
  await ask('state after', buyer.get(`${pathname}/state`))
  await ask('return to the shop', buyer.get(`${pathname}/return`))
  await ask('initiate what was paid', visitor.post(path, body, { accept: '*/*' }))
}

async function askOauth({ oauth_app }: Demo, buyer: Browser, visitor: Browser, ask: Ask): Promise<void> {
  const { client_id, client_secret, redirect_uris } = oauth_app
  const basic = (secret: string) => ({
    accept: '*/*',
    authorization: `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`,
  })
  const asked = (fields: Fields) =>
    `/oauth2/auth?${new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri: redirect_uris[0]!,
      scope: 'openid profile',
      state: 'x y',
      ...fields,
    })}`
  const wrong: Fields[] = [
    { response_type: 'token' },
    { redirect_uri: 'https://elsewhere.example/' },
    { client_id: 'nobody' },
    { scope: 'nonsense' },
    { prompt: 'none' },
    { prompt: 'nonsense' },
    { max_age: 'x' },
    { code_challenge: 'x' },
    { request: 'x' },
  ]
  for (const fields of wrong) {
    await ask(`oauth authorize ${JSON.stringify(fields)}`, buyer.get(asked(fields)))
    await ask(`oauth authorize, visitor ${JSON.stringify(fields)}`, visitor.get(asked(fields)))
  }
  await ask('oauth consent page', buyer.get(asked({})))
  const allowed = await ask('oauth allow', submit(buyer, asked({}), '/oauth2/consent', { decision: 'allow' }))
  await ask('oauth authorize after consent', buyer.get(asked({})))
  const code = new URL(allowed.headers.location ?? 'http://none/').searchParams.get('code') ?? ''
  const token = (name: string, fields: Fields, headers: Fields) =>
    ask(`oauth token: ${name}`, visitor.post('/oauth2/token', fields, headers))
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirect_uris[0]! }
  await token('wrong secret', grant, basic('wrong'))
  await token('no client', grant, { accept: '*/*' })
  await token('no grant type', { code }, basic(client_secret))
  await token('unknown grant type', { grant_type: 'password' }, basic(client_secret))
  await token('other redirect_uri', { ...grant, redirect_uri: 'https://x.example/' }, basic(client_secret))
  const made = await token('code', grant, basic(client_secret))
  const { access_token, refresh_token } = JSON.parse(made.body) as Fields
  const bearer = { accept: '*/*', authorization: `Bearer ${access_token}` }
  await ask('oauth userinfo', visitor.get('/oauth2/userinfo', bearer))
  await ask('oauth userinfo by POST', visitor.post('/oauth2/userinfo', '', bearer))
  await ask(
    'oauth userinfo, wrong token',
    visitor.get('/oauth2/userinfo', { ...bearer, authorization: 'Bearer x' }),
  )
  await ask('oauth apps', visitor.get('/api/apps', bearer))
  const apps = [
    {
      name: 'Mine',
      description: '',
      redirect_uris: ['https://a.example/cb'],
      allow_groups: [],
      deny_groups: [],
    },
    { name: '', redirect_uris: ['http://a.example/cb#x'] },
    {},
  ]
  for (const app of apps)
    await ask(
      `oauth register ${JSON.stringify(app)}`,
      visitor.post('/api/apps', JSON.stringify(app), {
        ...bearer,
        'content-type': 'application/json',
      }),
    )
  const refresh = { grant_type: 'refresh_token', refresh_token: refresh_token ?? '' }
  await token('refresh', refresh, basic(client_secret))
  await ask(
    'oauth introspect',
    visitor.post('/oauth2/introspect', `token=${access_token}`, basic(client_secret)),
  )
  await token('replayed code', grant, basic(client_secret))
  await token('unknown refresh token', { ...refresh, refresh_token: 'x' }, basic(client_secret))
  await ask('oauth revoke', visitor.post('/oauth2/revoke', 'token=x', basic(client_secret)))
}

/** Follows the links of one member's pages, in the order of the pages. */
async function crawl(person: string, language: string, browser: Browser, ask: Ask): Promise<void> {
  const found = ['/', '/account', '/apps', '/payment/applications', '/docs', '/admin']
  for (let at = 0; at < found.length && at < CRAWLED_MAX; at += 1) {
    const path = found[at]!
    const { body, headers } = await ask(`${person} ${language} GET ${path}`, browser.get(path))
    if (!headers['content-type']?.startsWith('text/html')) continue
    for (const [, href] of body.matchAll(/<a [^>]*href="(\/[^"#]*)"/g)) {
      const link = unescaped(href!)
      if (!found.includes(link)) found.push(link)
    }
  }
}
