/**
 * The example shop of the gateway, and the code on an application's card that merchants copy, against the real
 * application over HTTP.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openV1, sign as signV1 } from '../../examples/gateway-shop/v1.js'
import { openV2 } from '../../examples/gateway-shop/v2.js'
import { gatewayCard } from '../../src/payment/apps/gateway-card.ts'
import { makeMerchantPair } from '../../src/payment/apps/key-changes.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { type Browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { unescaped } from '../harness/markup.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'

const SHOP = join(import.meta.dirname, '../../examples/gateway-shop/shop.js')
const VERSIONS = ['v1', 'v2'] as const
type Version = (typeof VERSIONS)[number]

let test: TestApp
let merchant: Merchant
let card: Awaited<ReturnType<typeof gatewayCard>>
let privateKey: string
let buyer: Browser
let count = 0

beforeAll(async () => {
  const PORT = String(await freePort())
  test = await startTestApp({ PORT, NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
  // The shop uses the clock of the machine.
  test.clock.advance(Date.now() - test.clock.now().getTime())
  await test.app.listen({ host: '127.0.0.1', port: Number(PORT) })
  merchant = await makeMerchant(test)
  const actor = { user_id: merchant.owner.id, ip: '127.0.0.1' }
  privateKey = (await makeMerchantPair(test.deps, merchant.payment_id, actor)).private_base64
  card = await gatewayCard(test.deps, merchant.id)
  buyer = await (await makePerson(test, { points: 100_000n })).signIn()
})
afterAll(async () => {
  await test.close()
})

const gatewayAt = (version: Version, address: string) => {
  const pid = merchant.pid.toString()
  if (version === 'v1') return openV1({ address, pid, key: merchant.merchant_key })
  return openV2({ address, pid, privateKey, platformKey: card.platform.bare })
}
const gatewayOf = (version: Version) => gatewayAt(version, version === 'v1' ? card.v1Address : card.v2Address)

const newOrder = (fields: Record<string, string> = {}) => ({
  out_trade_no: `mug-${++count}`,
  name: 'Mug & spoon 杯子',
  money: '9.90',
  type: 'alipay',
  notify_url: 'https://mugs.example/notify',
  return_url: 'https://mugs.example/return?page=1',
  ...fields,
})

/** Pays, and returns the address that the payer is sent to. */
async function pay(url: string): Promise<URL> {
  const path = new URL(url).pathname
  const paid = await buyer.submit(await buyer.get(path), path)
  return new URL(paid.location!)
}

/** Queries that an attacker without keys can make from a genuine one. */
function forgeries(genuine: URLSearchParams, victim: string): [what: string, query: URLSearchParams][] {
  const altered = (what: string, alter: (query: URLSearchParams) => void): [string, URLSearchParams] => {
    const query = new URLSearchParams(genuine)
    alter(query)
    return [what, query]
  }
  return [
    altered('of another order', (query) => query.set('out_trade_no', victim)),
    altered('of another price', (query) => query.set('money', '0.01')),
    altered('of another merchant', (query) => query.set('pid', '9999')),
    altered('of a trade that did not succeed', (query) => query.set('trade_status', 'TRADE_CLOSED')),
    altered('with another parameter', (query) => query.append('extra', '1')),
    altered('with a name given twice', (query) => query.append('out_trade_no', victim)),
    altered('without a signature', (query) => query.delete('sign')),
    altered('with an empty signature', (query) => query.set('sign', '')),
    altered('with a signature of its length', (query) =>
      query.set('sign', '0'.repeat(query.get('sign')!.length)),
    ),
    altered('signed without a key', (query) => query.set('sign', signV1(Object.fromEntries(query), ''))),
  ]
}

describe.each(VERSIONS)('the code of the shop, %s', (version) => {
  it('opens a payment, is told of it, and asks about it', async () => {
    const gateway = gatewayOf(version)
    const order = newOrder()
    const url = await gateway.create(order)
    expect(url).toMatch(`${test.url}/payment/pay/txn_`)
    expect(await gateway.query(order.out_trade_no)).toBeUndefined()
    const returned = await pay(url)
    expect(returned.href.startsWith('https://mugs.example/return?page=1&')).toBe(true)
    // The parameter of the shop's own address is not one of the gateway.
    returned.searchParams.delete('page')
    const expected = { out_trade_no: order.out_trade_no, money: '9.90', name: order.name, type: 'alipay' }
    const record = gateway.verify(returned.searchParams)
    expect(record).toMatchObject(expected)
    expect(await gateway.query(order.out_trade_no)).toMatchObject({ ...expected, trade_no: record!.trade_no })
    for (const [what, query] of forgeries(returned.searchParams, 'mug-0'))
      expect(gateway.verify(query), what).toBeUndefined()
  })

  it('opens the same payment by a form that a browser posts', async () => {
    const gateway = gatewayOf(version)
    const order = newOrder()
    const { action, fields } = gateway.form(order)
    const body = new URLSearchParams(fields as Record<string, string>)
    const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(await gateway.create(order))
  })

  it('says why an order was refused', async () => {
    const gateway = gatewayOf(version)
    await expect(gateway.create(newOrder({ money: '0' }))).rejects.toThrow(/refused/)
    await expect(gateway.query('mug-unknown')).rejects.toThrow(/refused/)
  })

  // Some plugins have one field for the address, or add a slash to it.
  it.each(['/payment/', '/payment/api/', '/payment//', '/payment/api//'])(
    'works at the address …%s',
    async (path) => {
      const gateway = gatewayAt(version, `${test.url}${path}`)
      const order = newOrder()
      const { action, fields } = gateway.form(order)
      const body = new URLSearchParams(fields as Record<string, string>)
      const posted = await fetch(action, { method: 'POST', body, redirect: 'manual' })
      expect(posted.headers.get('location')).toBe(await gateway.create(order))
      expect(await gateway.query(order.out_trade_no)).toBeUndefined()
    },
  )
})

describe('a V2 message', () => {
  it('is not believed when it is old, or signed for another application', async () => {
    const gateway = gatewayOf('v2')
    const stranger = await makeMerchant(test)
    const others = await gatewayCard(test.deps, stranger.id)
    const pid = merchant.pid.toString()
    const elsewhere = openV2({ address: card.v2Address, pid, privateKey, platformKey: others.platform.bare })
    const { searchParams } = await pay(
      await gateway.create(newOrder({ return_url: 'https://mugs.example/return' })),
    )
    expect(gateway.verify(searchParams)).toBeDefined()
    expect(elsewhere.verify(searchParams)).toBeUndefined()
    await expect(elsewhere.create(newOrder())).rejects.toThrow(/not signed/)
    for (const timestamp of ['', 'now', `${Math.floor(Date.now() / 1000) - 301}`, '1e9']) {
      searchParams.set('timestamp', timestamp)
      expect(gateway.verify(searchParams)).toBeUndefined()
    }
  })
})

describe('the shop', () => {
  let url: string
  let stop: () => Promise<void>

  beforeAll(async () => {
    const SHOP_PORT = String(await freePort())
    const env = {
      V1_ADDRESS: card.v1Address,
      V2_ADDRESS: card.v2Address,
      PID: merchant.pid.toString(),
      MERCHANT_KEY: merchant.merchant_key,
      MERCHANT_PRIVATE_KEY: privateKey,
      PLATFORM_PUBLIC_KEY: card.platform.bare,
      SHOP_PORT,
    }
    const child = spawn(process.execPath, [SHOP], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(child, 'message')
    url = `http://127.0.0.1:${SHOP_PORT}`
    stop = async () => {
      child.kill()
      await once(child, 'exit')
    }
  })
  afterAll(() => stop())

  const get = async (path: string) => {
    const response = await fetch(`${url}${path}`, { redirect: 'manual' })
    return {
      status: response.status,
      body: await response.text(),
      location: response.headers.get('location'),
    }
  }
  /** Places an order through the shop's own form. */
  async function order(version: Version): Promise<{ id: string; payment: string }> {
    const body = new URLSearchParams({ version, way: 'api' })
    const placed = await fetch(`${url}/orders`, { method: 'POST', body, redirect: 'manual' })
    const id = /\/orders\/(mug_\w+)/.exec((await get('/')).body)![1]!
    return { id, payment: placed.headers.get('location')! }
  }

  it.each(VERSIONS)(
    'believes a genuine notification of %s every time, and no forged one',
    async (version) => {
      const [{ id, payment }, victim] = [await order(version), await order(version)]
      const genuine = (await pay(payment)).searchParams
      for (const [what, query] of forgeries(genuine, victim.id)) {
        expect(await get(`/notify?${query}`), what).toMatchObject({ status: 400, body: 'fail' })
        expect((await get(`/return?${query}`)).status, what).toBe(400)
      }
      expect((await get(`/orders/${victim.id}`)).body).toContain('Not paid yet')
      for (const _ of [1, 2])
        expect(await get(`/notify?${genuine}`)).toMatchObject({ status: 200, body: 'success' })
      expect(await get(`/return?${genuine}`)).toMatchObject({ status: 303, location: `/orders/${id}` })
      const page = (await get(`/orders/${id}`)).body
      expect(page).toContain('<h1>Paid</h1>')
      expect(page.match(/notified the shop|returned from the payment|asked the gateway/g)).toEqual([
        'notified the shop',
        'returned from the payment',
      ])
    },
  )

  it('does not let the KEY of V1 pay an order of V2', async () => {
    const { id } = await order('v2')
    const parameters = {
      pid: merchant.pid.toString(),
      out_trade_no: id,
      trade_no: '1',
      money: '9.90',
      trade_status: 'TRADE_SUCCESS',
    }
    const forged = { ...parameters, sign: signV1(parameters, merchant.merchant_key), sign_type: 'MD5' }
    expect(await get(`/notify?${new URLSearchParams(forged)}`)).toMatchObject({ status: 400, body: 'fail' })
    expect((await get(`/orders/${id}`)).body).toContain('Not paid yet')
  })

  it.each(VERSIONS)('asks when nobody has told it, %s', async (version) => {
    const { id, payment } = await order(version)
    expect((await get(`/orders/${id}`)).body).toContain('Not paid yet')
    await pay(payment)
    const page = (await get(`/orders/${id}`)).body
    expect(page).toContain('<h1>Paid</h1>')
    expect(page).toContain('The shop asked the gateway.')
  })

  it('speaks Chinese to those who prefer it, and shows the price in points', async () => {
    for (const [language, lang, points] of [
      ['en', 'en', '= 990 points'],
      ['zh-CN', 'zh-CN', '= 990 积分'],
    ] as const) {
      const response = await fetch(url, { headers: { 'accept-language': language } })
      const body = await response.text()
      expect(body).toContain(`<html lang="${lang}">`)
      expect(body).toContain(`9.90 <small>${points}</small>`)
    }
  })

  it('answers what it does not know', async () => {
    expect(await get('/notify')).toMatchObject({ status: 400, body: 'fail' })
    expect((await get('/return?out_trade_no=mug_none')).status).toBe(400)
    expect((await get('/orders/mug_none')).status).toBe(404)
    expect((await get('/nowhere')).status).toBe(404)
  })
})

describe('the code on the card', () => {
  it.each(VERSIONS)('of %s runs as shown: creates, and believes only what is genuine', async (version) => {
    const owner = await merchant.owner.signIn()
    const folder = await mkdtemp(join(tmpdir(), 'tessera-sample-'))
    try {
      const answers = []
      for (const language of ['en', 'zh-CN']) {
        const page = await owner.get(`/payment/applications/${merchant.payment_id}/developers`, {
          'accept-language': language,
        })
        const file = join(folder, `${language}.mjs`)
        await writeFile(file, sampleOf(page.body, version))
        const created = await run(file)
        expect(created).toMatch(`${test.url}/payment/pay/txn_`)
        const { searchParams } = await pay(created)
        const queries = [searchParams, ...forgeries(searchParams, 'mug-0').map(([, query]) => query)]
        const verdicts = join(folder, `${language}-verdicts.mjs`)
        await writeFile(
          verdicts,
          `import { isPaid } from ${JSON.stringify(file)}
for (const query of ${JSON.stringify(queries.map(String))}) console.log(isPaid(new URLSearchParams(query), '9.90'))`,
        )
        answers.push((await run(verdicts)).split('\n').slice(1))
      }
      const expected = ['true', ...forgeries(new URLSearchParams('sign=0'), '').map(() => 'false')]
      expect(answers).toEqual([expected, expected])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

/** The text of the sample as a reader copies it. */
function sampleOf(html: string, version: Version): string {
  return unescaped(new RegExp(`<pre[^>]* id="sample-${version}"[^>]*>([^<]*)</pre>`).exec(html)![1]!)
}

async function run(file: string): Promise<string> {
  const env = { MERCHANT_KEY: merchant.merchant_key, MERCHANT_PRIVATE_KEY: privateKey }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  return stdout.trim()
}
