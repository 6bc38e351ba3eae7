/** The answers of machine endpoints to another method, and to an extra slash. */
import { describe, expect, it } from 'vitest'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { basic, makeParty, obtainTokens } from '../identity/relying-party.ts'

const test = await useTestApp()
const party = await makeParty(test)
const merchant = await makeMerchant(test)

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
const ask = (method: Method, url: string, headers: Record<string, string> = {}, payload?: string) =>
  test.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** The endpoints of OAuth, and what each allows. */
const OAUTH: [path: string, allow: string, wanted: string][] = [
  ['/oauth2/token', 'OPTIONS, POST', 'POST'],
  ['/oauth-provider/token', 'OPTIONS, POST', 'POST'],
  ['/oauth2/revoke', 'OPTIONS, POST', 'POST'],
  ['/oauth2/introspect', 'POST', 'POST'],
  ['/oauth2/device_authorization', 'POST', 'POST'],
  ['/oauth2/userinfo', 'GET, HEAD, OPTIONS, POST', 'GET or POST'],
  ['/oauth-provider/userinfo', 'GET, HEAD, OPTIONS, POST', 'GET or POST'],
  ['/oauth2/jwks', 'GET, HEAD, OPTIONS', 'GET'],
  ['/.well-known/openid-configuration', 'GET, HEAD, OPTIONS', 'GET'],
  ['/oauth-provider/.well-known/openid-configuration', 'GET, HEAD, OPTIONS', 'GET'],
  ['/.well-known/oauth-authorization-server', 'GET, HEAD, OPTIONS', 'GET'],
  ['/.well-known/oauth-protected-resource', 'GET, HEAD, OPTIONS', 'GET'],
  ['/api/apps', 'GET, HEAD, POST', 'GET or POST'],
  ['/oauth2/auth', 'GET, POST', 'GET or POST'],
  ['/oauth2/authorize', 'GET, POST', 'GET or POST'],
  ['/oauth-provider/authorize', 'GET, POST', 'GET or POST'],
  ['/oauth2/logout', 'GET, POST', 'GET or POST'],
]
const HMAC = [
  ...['pay/:id/process', 'query/:id', 'transfer/:id', 'orders/:id', 'transfers/:id', 'mandates/:id'],
  ...['offer', 'charge', 'query', 'revoke'].map((act) => `mandate/:id/${act}`),
]
const GATEWAY = [
  ...['mapi.php', 'api.php', 'pay/create', 'pay/query', 'pay/close', 'pay/refund', 'pay/refundquery'],
  ...['merchant/info', 'merchant/orders', 'transfer/submit', 'transfer/query', 'transfer/balance'],
]

describe('another method is answered with 405 and Allow', () => {
  it.each(OAUTH)('as OAuth answers: %s', async (path, allow, wanted) => {
    for (const method of METHODS) {
      const answer = await ask(method, path)
      if (allow.split(', ').includes(method)) {
        expect([method, answer.statusCode]).not.toEqual([method, 405])
        continue
      }
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, allow])
      if (method === 'HEAD') continue
      expect(answer.json()).toEqual({ error: 'invalid_request', error_description: `Use ${wanted}` })
    }
  })

  it.each(['/oauth2/auth', '/oauth2/logout'])('as a page for people: %s', async (path) => {
    const answer = await ask('PUT', path, { accept: 'text/html' })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST'])
    expect(answer.body).toContain('Use GET or POST')
  })

  it.each(HMAC)('as the HMAC API answers: %s', async (path) => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await ask(method, `/payment/${path.replace(':id', merchant.payment_id)}`)
      expect(answer.statusCode).toBe(405)
      expect(answer.headers.allow).toBe('POST')
      expect(answer.json()).toEqual({
        success: false,
        error: 'Use POST',
        message: 'Use POST',
        errors: [{ code: 1405, detail: 'Use POST' }],
        data: null,
      })
    }
  })

  it.each(GATEWAY)('as the gateway answers: %s', async (path) => {
    for (const base of ['/payment/api', '/payment/api/api']) {
      if (base === '/payment/api/api' && path.endsWith('.php')) continue
      const isV1 = path.endsWith('.php')
      const wanted = isV1 ? 'GET 或 POST' : 'POST'
      for (const method of isV1 ? (['PUT'] as const) : (['PUT', 'GET'] as const)) {
        const answer = await ask(method, `${base}/${path}`, { 'content-type': 'text/xml' }, '<a/>')
        expect(answer.statusCode).toBe(405)
        expect(answer.headers.allow).toBe(isV1 ? 'GET, HEAD, POST' : 'POST')
        expect(answer.json()).toEqual({ code: -5, msg: `请求方式不正确，请使用 ${wanted}` })
      }
    }
  })

  it('as a page for buyers, and in JSON by the forum’s webhook', async () => {
    const page = await ask('PUT', '/payment/api/submit.php')
    expect(page.statusCode).toBe(405)
    expect(page.headers.allow).toBe('GET, HEAD, POST')
    const hook = await ask('GET', '/forum/webhook')
    expect(hook.statusCode).toBe(405)
    expect(hook.headers.allow).toBe('POST')
    expect(hook.json()).toEqual({ error: 'method_not_allowed', message: 'Use POST' })
  })

  it('but not at the host’s root without a gateway', async () => {
    expect((await ask('PUT', '/mapi.php')).statusCode).toBe(404)
    await setSetting(test, 'gateway_at_root', 'on')
    expect((await ask('PUT', '/mapi.php')).statusCode).toBe(405)
    await setSetting(test, 'gateway_at_root', 'off')
  })

  it('and HEAD, preflights and unknown addresses stay as they were', async () => {
    expect((await ask('HEAD', '/oauth2/jwks')).statusCode).toBe(200)
    expect((await ask('HEAD', '/.well-known/openid-configuration')).statusCode).toBe(200)
    for (const path of ['/oauth2/token', '/oauth2/userinfo', '/oauth2/revoke', '/oauth2/jwks']) {
      const answer = await ask('OPTIONS', path, { origin: 'https://app.example' })
      expect([path, answer.statusCode]).toEqual([path, 204])
    }
    expect((await ask('PUT', '/oauth2/nothing')).statusCode).toBe(404)
    expect((await ask('PUT', '/sign-in')).statusCode).toBe(404)
  })
})

describe('a compressed body', () => {
  const compressed = (url: string) => ask('POST', url, { 'content-encoding': 'gzip' }, 'x')

  it('is 415 in the words of each area', async () => {
    const message = 'Send the body without Content-Encoding'
    const answers: [string, unknown][] = [
      ['/oauth2/token', { error: 'invalid_request', error_description: message }],
      ['/oauth2/userinfo', { error: 'invalid_request', error_description: message }],
      ['/api/apps', { error: 'invalid_request', error_description: message }],
      [
        `/payment/transfer/${merchant.payment_id}`,
        { success: false, errors: [{ code: 1005, detail: message }] },
      ],
      ['/payment/api/mapi.php', { code: -1, msg: '不支持 Content-Encoding，请发送未压缩的内容' }],
      ['/payment/api/pay/create', { code: -1, msg: '不支持 Content-Encoding，请发送未压缩的内容' }],
    ]
    for (const [url, body] of answers) {
      const answer = await compressed(url)
      expect([url, answer.statusCode, answer.headers['accept-encoding']]).toEqual([url, 415, 'identity'])
      expect(answer.json()).toMatchObject(body as object)
    }
    expect((await compressed('/sign-in')).statusCode).toBe(415)
  })

  it('is the body itself under the coding identity', async () => {
    const answer = await ask('POST', '/payment/api/mapi.php', { 'content-encoding': 'Identity' })
    expect([answer.statusCode, answer.json().code]).toEqual([200, -4])
  })
})

describe('a slash at the end, or doubled', () => {
  it('is not a different address for programs', async () => {
    const tokens = await obtainTokens(test, await (await makePerson(test)).signIn(), party)
    const bearer = { authorization: `Bearer ${tokens.access_token}` }
    expect((await ask('GET', '/oauth2/userinfo/', bearer)).statusCode).toBe(200)
    expect((await ask('GET', '/.well-known/openid-configuration/')).json().issuer).toBe(test.url)
    expect((await ask('GET', '/api/apps/', bearer)).statusCode).toBe(200)
    const credentials = {
      authorization: basic(party.client_id, party.client_secret),
      'content-type': 'application/x-www-form-urlencoded',
    }
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
    expect((await ask('POST', '/oauth2/token/', credentials, form.toString())).statusCode).toBe(200)

    for (const path of ['mapi.php', 'mapi.php/', '/mapi.php', 'api/pay/create/', 'pay//create'])
      expect((await ask('POST', `/payment/api/${path}`)).json().code).toBe(-4)
    for (const path of ['', '/', '/unknown', '/unknown/'])
      expect((await ask('POST', `/payment/api${path}`)).json()).toEqual({ code: -5, msg: '接口不存在' })
    const query = await ask('POST', `/payment/query/${merchant.payment_id}/`)
    expect(query.json().errors[0].code).toBe(1001)
  })
})

it.each([
  ['application/json', 'as application/json'],
  ['Text/Plain; charset=utf-8', 'as text/plain'],
  ['application/x-strange', 'in another format'],
])('the form endpoints tell a caller of %s to send a form', async (type, found) => {
  const authorization = basic(party.client_id, party.client_secret)
  for (const name of ['token', 'revoke', 'introspect', 'device_authorization']) {
    const headers = { authorization, 'content-type': type }
    const answer = await ask('POST', `/oauth2/${name}`, headers, '{"grant_type":"refresh_token"}')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'invalid_request',
      error_description: `Send the parameters form-encoded (application/x-www-form-urlencoded), not ${found}`,
    })
  }
})
