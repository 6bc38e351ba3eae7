/**
 * A merchant of the gateway in tests: signature code that shares nothing with src/, and ways to send requests. node-
 * forge verifies the platform's signatures. Its own signing takes a tenth of a second, so only tests that need a
 * second implementation sign with it.
 */
import { createHash, createPrivateKey, createPublicKey, createSign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import forge from 'node-forge'
import { makeMerchantPair, setPublicKey } from '../../src/payment/apps/key-changes.ts'
import { readPublicKey } from '../../src/payment/signing/public-key.ts'
import type { TestApp } from './harness.ts'
import { type Merchant, makeMerchant } from './merchant.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/gateway')
let count = 0
const fixture = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
export type Fields = Record<string, string>
export type Reply = { code: number; msg: string; [name: string]: unknown }

/** The text to sign: the non-empty raw values except `sign` and `sign_type`, sorted by name. */
export function gatewayText(fields: Readonly<Record<string, unknown>>): string {
  return Object.keys(fields)
    .filter((name) => name !== 'sign' && name !== 'sign_type')
    .filter((name) => ['string', 'number'].includes(typeof fields[name]) && fields[name] !== '')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
}

/** A timestamp of V2: the seconds of the clock, and some more. */
export const secondsAt = ({ clock }: Pick<TestApp, 'clock'>, more = 0) =>
  String(Math.floor(clock.now().getTime() / 1000) + more)

export const md5 = (text: string) => createHash('md5').update(text).digest('hex')

export type Shop = Merchant & {
  pidText: string
  privatePem: string
  /** The public half, as PEM, of the platform's key for this application. */
  platformPem: string
  signMd5(fields: Fields): Fields
  signRsa(fields: Fields): Fields
  /** A create as a shop sends it, with a number of its own. */
  trade(over?: Fields): Fields
  /** Sends a create to the path of this version, signed as it signs. */
  create(version: 'v1' | 'v2', fields?: Fields): Promise<Reply>
  /** Whether the platform signed this answer or message of V2 for this application. */
  isGenuine(reply: Readonly<Record<string, unknown>>): boolean
}

/**
 * Creates a merchant with an approved application, or one in test mode. Its RSA key is that of the vectors, or a new
 * one.
 */
export async function makeShop(test: TestApp, { newKey = false, isTest = false } = {}): Promise<Shop> {
  const merchant = await makeMerchant(test, { isTest })
  const { payment_id } = merchant
  const actor = { user_id: merchant.owner.id, ip: '127.0.0.1' }
  const { gatewayKeys } = test.deps
  const app = (await gatewayKeys.findApp({ app_id: merchant.id }))!
  const platform = createPublicKey(await gatewayKeys.platformKey(app))
  const platformPem = platform.export({ type: 'spki', format: 'pem' }).toString()
  const platformKey = forge.pki.publicKeyFromPem(platformPem)
  let privatePem = fixture('merchant-private-key.pem')
  if (newKey) {
    const { private_base64 } = await makeMerchantPair(test.deps, payment_id, actor)
    privatePem = `-----BEGIN PRIVATE KEY-----\n${private_base64}\n-----END PRIVATE KEY-----\n`
  } else {
    const key = readPublicKey(fixture('merchant-public-key.pem'), '')
    if (typeof key === 'string') throw new Error(`The key of the vectors is refused: ${key}`)
    await setPublicKey(test.deps, payment_id, key, actor)
  }
  const privateKey = createPrivateKey(privatePem)
  const signMd5 = (fields: Fields) => ({
    ...fields,
    sign: md5(gatewayText(fields) + merchant.merchant_key),
    sign_type: 'MD5',
  })
  const signRsa = (fields: Fields) => ({
    ...fields,
    sign: createSign('sha256').update(gatewayText(fields)).sign(privateKey, 'base64'),
    sign_type: 'RSA',
  })
  const trade = (over: Fields = {}): Fields => ({
    ...{ pid: merchant.pid.toString(), type: 'alipay', out_trade_no: `G-${++count}`, name: 'VIP membership' },
    ...{ notify_url: 'https://shop.example/notify', return_url: 'https://shop.example/return' },
    ...{ money: '9.90', timestamp: secondsAt(test), ...over },
  })
  const digestOf = (text: string) => forge.md.sha256.create().update(text, 'utf8')
  return {
    ...merchant,
    privatePem,
    pidText: merchant.pid.toString(),
    platformPem,
    signMd5,
    signRsa,
    trade,
    create: async (version, fields = trade()) =>
      (version === 'v1'
        ? await send(test, 'POST', '/payment/api/mapi.php', signMd5(fields))
        : await send(test, 'POST', '/payment/api/pay/create', signRsa(fields))
      ).json(),
    isGenuine: (reply) => {
      const digest = digestOf(gatewayText(reply)).digest().getBytes()
      try {
        return platformKey.verify(digest, forge.util.decode64(String(reply.sign)))
      } catch {
        // Forge throws for a signature by another key.
        return false
      }
    },
  }
}

/** Sends fields as a query or as a form body. Sends text unchanged. `accept` is the Accept header. */
export function send(
  test: TestApp,
  method: 'GET' | 'POST',
  path: string,
  fields: Fields | string,
  accept = '*/*',
) {
  const text = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
  if (method === 'GET') return test.app.inject({ method, url: `${path}?${text}`, headers: { accept } })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept }
  return test.app.inject({ method, url: path, headers, payload: text })
}
