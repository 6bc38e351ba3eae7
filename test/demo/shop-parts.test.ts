/**
 * The example shop's own code, which merchants copy: its signatures, its checks of an ID token, and its web server.
 */
import { spawn } from 'node:child_process'
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { verifyEvent } from '../../examples/shop/events.js'
import { openMandates } from '../../examples/shop/mandates.js'
import { orders } from '../../examples/shop/orders.js'
import { reasonOf } from '../../examples/shop/pages.js'
import { openPayments, Refused, sign } from '../../examples/shop/payment.js'
import { openSignIn } from '../../examples/shop/sign-in.js'
import { textsFor } from '../../examples/shop/texts.js'
import { freePort } from '../harness/free-port.ts'

const SHOP = join(import.meta.dirname, '../../examples/shop/shop.js')

describe('signatures', () => {
  // Computed outside this program. The key is the SHA-256 of this token.
  const token = 'tk_0123456789abcdef0123456789abcdef'
  const key = '6dc4d230311e817a17eab6487733d2e737277a7359d62fc9f99baa08c1b5a2dd'
  const payments = openPayments({ url: 'http://127.0.0.1:1', paymentId: 'pay_x', token })

  test.each([
    [
      { order_id: 'order_20251008_001', description: '购买VIP会员', amount: '100' },
      '7824a438e151cd41049afa9db6ebe20c71a591c9b9dcb096a2282d96f24c9986',
    ],
    [
      { to_user_id: '42', to_username: 'alice', amount: '50', order_id: 'wd_1', signature: 'left out' },
      'ed83c58123d56f81db74f024de7e4c143695fb531b7beeb3fee84f231f92820a',
    ],
  ])('are what everybody computes for %o', (parameters, expected) => {
    expect(sign(parameters, key)).toBe(expected)
  })

  test('of a callback are made with the SHA-256 of the token', () => {
    const signature = createHmac('sha256', key).update('amount=1&status=completed').digest('hex')
    const query = new URLSearchParams({ status: 'completed', amount: '1', signature })
    expect(payments.verifyCallback(query)).toEqual({ status: 'completed', amount: '1', signature })
    query.append('amount', '1')
    expect(payments.verifyCallback(query)).toBeUndefined()
    expect(payments.verifyCallback(new URLSearchParams('amount=1'))).toBeUndefined()
  })
})

test('an event is what the secret has signed, lately', () => {
  const [secret, body, now] = [
    `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    '{"type":"order.paid"}',
    new Date(),
  ]
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const digest = createHmac('sha256', Buffer.alloc(32, 7))
    .update(`evt_1.${timestamp}.${body}`)
    .digest('base64')
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} v1,${digest}`,
  }
  expect(verifyEvent(secret, headers, body, now)).toEqual({ type: 'order.paid' })
  expect(verifyEvent(secret, headers, `${body} `, now)).toBeUndefined()
  expect(verifyEvent(secret, { ...headers, 'webhook-id': 'evt_2' }, body, now)).toBeUndefined()
  expect(verifyEvent(secret, headers, body, new Date(now.getTime() + 301_000))).toBeUndefined()
  expect(verifyEvent(secret, {}, body, now)).toBeUndefined()
})

describe('a sign-in', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const state = 'state'
  const attempt = { state, nonce: 'nonce', verifier: 'verifier' }

  type Forgery = {
    claims?: Record<string, unknown>
    header?: Record<string, unknown>
    key?: typeof privateKey
    profile?: Record<string, unknown>
  }

  /** A provider whose answers the test sets, and a shop that trusts it. */
  async function openAgainst({ claims = {}, header = {}, key = privateKey, profile = {} }: Forgery = {}) {
    const requests: { authorization: string | undefined; body: string }[] = []
    const server = createServer(async (request, response) => {
      if (request.url === '/oauth2/token')
        requests.push({ authorization: request.headers.authorization, body: await textOf(request) })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answers[request.url ?? '']))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const exp = Math.floor(Date.now() / 1000) + 60
    const body = { iss: url, aud: 'shop', nonce: 'nonce', sub: '7', exp, ...claims }
    const answers: Record<string, unknown> = {
      '/oauth2/token': {
        access_token: 'access',
        id_token: idToken({ alg: 'RS256', kid: 'k1', ...header }, body, key),
      },
      '/oauth2/jwks': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }] },
      '/oauth2/userinfo': { sub: '7', username: 'alice', ...profile },
    }
    const redirectUri = 'http://127.0.0.1/login/callback'
    return { requests, signIn: openSignIn({ url, clientId: 'shop', clientSecret: 's3cret', redirectUri }) }
  }

  test('begins with fresh state, nonce and challenge each time', async () => {
    const { signIn } = await openAgainst()
    const [one, two] = [signIn.begin(), signIn.begin()]
    const query = new URL(one.location).searchParams
    expect(query.get('state')).toBe(one.attempt.state)
    expect(query.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(query.get(name)).not.toBe(new URL(two.location).searchParams.get(name))
    expect(one.location).not.toContain(one.attempt.verifier)
  })

  test('ends with who the visitor is', async () => {
    const { signIn, requests } = await openAgainst()
    const signedIn = await signIn.finish(new URLSearchParams({ state, code: 'c0de' }), attempt)
    expect(signedIn).toEqual({ member: { sub: '7', username: 'alice' }, mandates: [] })
    expect(requests).toHaveLength(1)
    expect(requests[0]!.authorization).toBe(`Basic ${Buffer.from('shop:s3cret').toString('base64')}`)
    expect(Object.fromEntries(new URLSearchParams(requests[0]!.body))).toMatchObject({
      grant_type: 'authorization_code',
      code: 'c0de',
      code_verifier: 'verifier',
    })
  })

  test('names an offer, and no terms', async () => {
    const { signIn } = await openAgainst()
    const { location, attempt } = signIn.begin('mdt_1')
    const details = new URL(location).searchParams.get('authorization_details')
    expect(JSON.parse(details!)).toEqual([{ type: 'points_mandate', identifier: 'mdt_1' }])
    expect(attempt.mandate_id).toBe('mdt_1')
    expect(new URL(signIn.begin().location).searchParams.has('authorization_details')).toBe(false)
  })

  test('needs the state of this browser, before anything else', async () => {
    const { signIn, requests } = await openAgainst()
    for (const kept of [undefined, { ...attempt, state: 'of another browser' }])
      await expect(signIn.finish(new URLSearchParams({ state, code: 'c0de' }), kept)).rejects.toMatchObject({
        isDenied: false,
      })
    expect(requests).toEqual([])
  })

  test.each<[string, Forgery]>([
    ['of another issuer', { claims: { iss: 'http://127.0.0.1:9' } }],
    ['for another shop', { claims: { aud: 'another' } }],
    ['for several shops', { claims: { aud: ['shop', 'another'] } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['that has expired', { claims: { exp: 1_700_000_000 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['signed by a stranger', { key: stranger.privateKey }],
    ['of an unknown key', { header: { kid: 'k2' } }],
    ['that chooses no signature', { header: { alg: 'none' } }],
    ['of somebody else than the profile', { profile: { sub: '8' } }],
  ])('refuses an ID token %s', async (_name, forgery) => {
    const { signIn } = await openAgainst(forgery)
    await expect(signIn.finish(new URLSearchParams({ state, code: 'c0de' }), attempt)).rejects.toMatchObject({
      isDenied: false,
    })
  })

  test('tells a denial from a failure', async () => {
    const { signIn } = await openAgainst()
    const denied = new URLSearchParams({ state, error: 'access_denied' })
    await expect(signIn.finish(denied, attempt)).rejects.toMatchObject({ isDenied: true })
    const failed = new URLSearchParams({ state, error: 'invalid_scope' })
    await expect(signIn.finish(failed, attempt)).rejects.toMatchObject({ isDenied: false })
  })
})

function idToken(
  header: object,
  claims: object,
  key: Parameters<ReturnType<typeof createSign>['sign']>[0],
): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key).toString('base64url')}`
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

describe('the sticker club', () => {
  const t = textsFor('en')
  const due = { status: 'active', reason: null, user_id: 7, next_charge_on: '2026-03-01' } as const
  const paid = { ...due, next_charge_on: '2026-04-01' }

  /** A club with one member, against answers of Tessera that the test sets. */
  async function openClub() {
    const answers = {
      state: due as object,
      charge: async () => ({ status: 'completed', amount: '60' }) as object,
    }
    const charged: string[] = []
    const payments = {
      offer: async () => ({ mandate_id: 'mdt_1', mandate_url: 'http://127.0.0.1:1/' }),
      mandate: async () => answers.state,
      charge: async (_mandate_id: string, { id }: { id: string }) => {
        charged.push(id)
        return answers.charge()
      },
    }
    const club = openMandates(payments as unknown as ReturnType<typeof openPayments>)
    const mandate = await club.offer('club', t, undefined)
    await club.refresh(mandate)
    const renew = (time: string) => club.renew(t, new Date(time))
    return { answers, charged, renew, first: `${mandate.reference}_1` }
  }

  test('charges a month on its first day in Shanghai, once', async () => {
    const { answers, charged, renew, first } = await openClub()
    await renew('2026-02-28T15:59:59Z')
    expect(charged).toEqual([])
    answers.state = paid
    await renew('2026-02-28T16:00:00Z')
    await renew('2026-03-01T16:00:00Z')
    expect(charged).toEqual([first])
    expect(orders.get(first)).toMatchObject({ buyer: '7', amount: 60 })
  })

  test('repeats a charge with the same order_id after a lost answer', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const { answers, charged, renew, first } = await openClub()
    const { charge } = answers
    answers.charge = async () => Promise.reject(new Error('The connection broke'))
    await renew('2026-03-01T00:00:00Z')
    Object.assign(answers, { charge, state: paid })
    await renew('2026-03-01T01:00:00Z')
    expect(charged).toEqual([first, first])
    expect(log).toHaveBeenCalledOnce()
  })

  test('charges no more once the member has revoked', async () => {
    const { answers, charged, renew, first } = await openClub()
    answers.charge = async () => Promise.reject(new Refused('The mandate is not active', 1022, {}))
    answers.state = { ...due, status: 'ended', reason: 'member' }
    await renew('2026-03-01T00:00:00Z')
    await renew('2026-03-02T00:00:00Z')
    expect(charged).toEqual([first])
    expect(orders.has(first)).toBe(false)
  })
})

test.each(['en', 'zh-CN'])('the shop explains each refusal in plain words (%s)', (language) => {
  const t = textsFor(language)
  const limit = { limit: 300, spent: 240, left: 60, resets_at: '2026-03-07T16:00:00Z' }
  const explain = (code: number, data = {}) =>
    reasonOf(t, new Refused('Text of the API', code, data), { amount: 120 })
  expect(explain(1010, { need: 120 })).toContain(t.points(120))
  expect(explain(1022, { reason: 'member' })).toBe(t.refused.inactive.member)
  expect(explain(1022, { reason: 'finished' })).toBe(t.refused.inactive.other)
  expect(explain(1023, { limit: 100, exactly: false })).toContain(t.points(100))
  expect(explain(1024, limit)).toContain('2026-03-08')
  expect(explain(1024, { ...limit, left: 0 })).not.toBe(explain(1024, limit))
  const plain = [1009, 1013, 1017, 1019, 1020, 1029].map((code) => explain(code))
  for (const text of plain) expect(text).not.toContain('API')
  expect(explain(1005)).toContain('Text of the API')
})

test.each([
  ['en', { SITE_NAME_EN: 'Spark Forum' }, 'Sign in with Spark Forum', 'Spark Forum answered: no.'],
  ['en', {}, 'Sign in with Tessera', 'Tessera answered: no.'],
  ['zh-CN', { SITE_NAME_ZH: '星火论坛' }, '使用星火论坛登录', '星火论坛的答复：no。'],
  ['zh-CN', { SITE_NAME_ZH: 'Spark 论坛' }, '使用 Spark 论坛登录', 'Spark 论坛的答复：no。'],
  ['zh-CN', {}, '使用 Tessera 登录', 'Tessera 的答复：no。'],
])('the shop calls the site by its name (%s, %j)', (language, names, signIn, answered) => {
  const t = textsFor(language, names)
  expect(t.product.signIn).toBe(signIn)
  expect(t.refused.other('no')).toBe(answered)
})

describe('the shop by itself', () => {
  const t = textsFor('en')
  const credentials = { CLIENT_ID: 'shop', CLIENT_SECRET: 's', PAYMENT_ID: 'pay_x', PAYMENT_TOKEN: 'tk_x' }

  /** Starts the shop alone, without a running Tessera. */
  async function open() {
    const port = await freePort()
    const env = { TESSERA_URL: 'http://127.0.0.1:9', SHOP_PORT: String(port), ...credentials }
    const child = spawn(process.execPath, [SHOP], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return { url: `http://127.0.0.1:${port}`, line }
  }

  test('prints where it is and serves while Tessera is not up', async () => {
    const { url, line } = await open()
    expect(line).toMatch(new RegExp(` ${url}$`))
    const page = await fetch(url)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain(t.product.signIn)
    expect(page.headers.get('set-cookie')).toMatch(
      /^shop_session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect((await fetch(`${url}/shop.css`)).headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404)
    expect((await fetch(`${url}/orders/order_1`)).status).toBe(404)
    expect((await fetch(`${url}/payment/callback?status=completed`)).status).toBe(400)
    expect((await fetch(`${url}/login/callback?state=x&code=y`)).status).toBe(400)
    // A path that looks like another site is still a path.
    expect((await fetch(`${url}//evil.example/`)).status).toBe(404)
  })

  test('says that Tessera does not answer', async () => {
    const { url } = await open()
    const login = await fetch(`${url}/login`, { redirect: 'manual' })
    const state = new URL(login.headers.get('location')!).searchParams.get('state')
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!
    const answer = await fetch(`${url}/login/callback?state=${state}&code=y`, { headers: { cookie } })
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain(t.messages.broken.title)
  })

  test('takes forms only from its own pages', async () => {
    const { url } = await open()
    for (const path of ['/buy', '/mandates/club', '/sign-out']) {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        body: new URLSearchParams({ form_token: 'x' }),
      })
      expect(answer.status).toBe(403)
    }
  })

  test('names the setting that is missing', async () => {
    const child = spawn(process.execPath, [SHOP], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
    const [[line], [code]] = await Promise.all([
      once(createInterface({ input: child.stderr }), 'line'),
      once(child, 'exit'),
    ])
    expect(line).toContain('TESSERA_URL')
    expect(code).toBe(1)
  })
})
