/** Signatures against values computed outside this program, and against a second RSA implementation. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import forge from 'node-forge'
import { describe, expect, it } from 'vitest'
import { gatewayString, signMd5, signRsa, verifyMd5, verifyRsa } from '../../src/payment/signing/gateway.ts'
import {
  secretKeyOf,
  sign,
  signedCallbackUrl,
  stringToSign,
  tokenKeys,
  verifySignature,
} from '../../src/payment/signing/hmac.ts'

const TOKEN = 'tk_0123456789abcdef0123456789abcdef'
const KEY = '6dc4d230311e817a17eab6487733d2e737277a7359d62fc9f99baa08c1b5a2dd'

/** spec/payment-api 3.3. */
const GOLDEN: [parameters: Record<string, string>, text: string, signature: string][] = [
  [
    { order_id: 'order_20251008_001', amount: '100', description: '购买VIP会员' },
    'amount=100&description=购买VIP会员&order_id=order_20251008_001',
    '7824a438e151cd41049afa9db6ebe20c71a591c9b9dcb096a2282d96f24c9986',
  ],
  [
    { to_user_id: '42', to_username: 'alice', amount: '50', order_id: 'wd_1' },
    'amount=50&order_id=wd_1&to_user_id=42&to_username=alice',
    'ed83c58123d56f81db74f024de7e4c143695fb531b7beeb3fee84f231f92820a',
  ],
  [
    { transaction_id: 'txn_abc' },
    'transaction_id=txn_abc',
    'c7ff43ed18c1762e0d1947df81eb78e8da69e2d9581adf4cc74ae47e709a1521',
  ],
  [
    {
      transaction_id: 'txn_abc',
      external_reference: 'order_20251008_001',
      amount: '100',
      platform_fee: '5',
      merchant_points: '95',
      status: 'completed',
      paid_at: '2025-10-08T12:00:00Z',
    },
    'amount=100&external_reference=order_20251008_001&merchant_points=95&paid_at=2025-10-08T12:00:00Z&platform_fee=5&status=completed&transaction_id=txn_abc',
    'ff54ca0bda619f07a54e4fcae75536a4df89be6d5fff60982e70f7257ac7c6a4',
  ],
]

describe('HMAC API', () => {
  it('derives the Secret Key from the token as hex SHA-256', () => {
    expect(secretKeyOf(TOKEN)).toBe(KEY)
  })

  it.each(GOLDEN)('signs golden vector %#', (parameters, text, signature) => {
    expect(stringToSign(parameters)).toBe(text)
    expect(sign(KEY, text)).toBe(signature)
    const verdict = (sent: string, token = TOKEN) =>
      verifySignature({ ...parameters, signature: sent }, [tokenKeys(token)])
    for (const right of [signature, signature.toUpperCase()])
      expect(verdict(right)).toEqual({ isValid: true, key: 0 })
    const flipped = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    expect(verdict(flipped)).toMatchObject({ isValid: false, signed_string: text })
    expect(verdict(signature, 'tk_another')).toMatchObject({ isValid: false })
  })

  it('guesses at mistakes in short requests only', () => {
    const hintFor = (length: number) => {
      const parameters = { amount: '1', description: 'x'.repeat(length) }
      const verdict = verifySignature(
        { ...parameters, signature: sign(KEY, `${stringToSign(parameters)}&`) },
        [tokenKeys(TOKEN)],
      )
      return verdict.isValid ? undefined : verdict.hint
    }
    expect(hintFor(4_000)).toBe('The string must not end with &.')
    expect(hintFor(4_100)).toMatch(/^No usual mistake/)
  })

  it('sorts names by their UTF-8 bytes, not by UTF-16', () => {
    expect(stringToSign({ '\u{1f600}': '4', '\uff21': '3', é: '2', Z: '0', a: '1' })).toBe(
      'Z=0&a=1&é=2&\uff21=3&\u{1f600}=4',
    )
  })

  it('builds the callback of the golden vector with everything percent-encoded', () => {
    const [fields, , signature] = GOLDEN[3]!
    const url = new URL(signedCallbackUrl('https://shop.example/paid', fields as never, TOKEN))
    expect(Object.fromEntries(url.searchParams)).toEqual({ ...fields, signature })
    expect(url.search).toContain('paid_at=2025-10-08T12%3A00%3A00Z')
    expect([...url.searchParams.keys()]).toHaveLength(8)
  })

  const request = { amount: '100', description: 'a b&c=d/中', order_id: 'o-1' }
  const text = stringToSign(request)
  const hintFor = (signature: string, extra: Record<string, string> = {}) => {
    const verdict = verifySignature({ ...request, ...extra, signature }, [tokenKeys(TOKEN)])
    return verdict.isValid ? undefined : verdict.hint
  }

  it('accepts the Secret Key’s hash as key, and an overlap’s keys', () => {
    expect(hintFor(sign(secretKeyOf(KEY), text))).toBeUndefined()
    const signature = sign(KEY, text)
    expect(verifySignature({ ...request, signature }, [tokenKeys('tk_new'), tokenKeys(TOKEN)])).toEqual({
      isValid: true,
      key: 1,
    })
  })

  it('accepts a signature made without the empty values that were sent', () => {
    expect(hintFor(sign(KEY, text), { note: '' })).toBeUndefined()
    expect(hintFor(sign(KEY, stringToSign({ ...request, note: '' })), { note: '' })).toBeUndefined()
  })

  it('guesses no mistakes for more parameters than a client sends', () => {
    const many = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`p${i}`, 'x']))
    const unsorted = sign(KEY, `${stringToSign(many)}&`)
    expect(verifySignature({ ...many, signature: unsorted }, [tokenKeys(TOKEN)])).toMatchObject({
      hint: expect.stringMatching(/No usual/),
    })
  })
})

type Vector = {
  id: string
  ver: 'V1' | 'V2'
  signer: string
  params: Record<string, string | number>
  canonical: string
  sign: string
}
const FIXTURES = join(import.meta.dirname, '../fixtures/gateway')
const read = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const vectors: Vector[] = JSON.parse(read('gateway.json'))
const MERCHANT_KEY = 'Wq7kT2vN8pXz4LrB6sYd1HcF9mJg3RtE'

const ownerOf = (vector: Vector) => (vector.signer.startsWith('merchant') ? 'merchant' : 'platform')
const withSign = (vector: Vector) => ({ ...vector.params, sign: vector.sign }) as Record<string, string>

describe('gateway V1', () => {
  // T5b is the trimmed reading of T5a's request: accepted, but never sent by us.
  const strict = vectors.filter((vector) => vector.ver === 'V1' && vector.id !== 'T5b')

  it.each(strict)('signs and verifies $id', (vector) => {
    expect(gatewayString(vector.params)).toBe(vector.canonical)
    expect(signMd5(vector.canonical, MERCHANT_KEY)).toBe(vector.sign)
  })

  it.each(vectors.filter((vector) => vector.ver === 'V1'))(
    'accepts $id in any case and refuses it altered',
    (vector) => {
      const parameters = withSign(vector)
      expect(verifyMd5(parameters, MERCHANT_KEY)).toBe(vector.canonical)
      expect(verifyMd5({ ...parameters, sign: vector.sign.toUpperCase() }, MERCHANT_KEY)).toBe(
        vector.canonical,
      )
      expect(verifyMd5({ ...parameters, pid: '1002' }, MERCHANT_KEY)).toBeUndefined()
      expect(verifyMd5({ ...parameters, extra: 'x' }, MERCHANT_KEY)).toBeUndefined()
      expect(verifyMd5(parameters, `${MERCHANT_KEY}x`)).toBeUndefined()
      expect(verifyMd5({ ...parameters, sign: signMd5(vector.canonical, '') }, '')).toBeUndefined()
    },
  )
})

describe('gateway V2', () => {
  const v2 = vectors.filter((vector) => vector.ver === 'V2')

  it.each(v2)('signs and verifies $id, as does node-forge', async (vector) => {
    const privatePem = read(`${ownerOf(vector)}-private-key.pem`)
    const publicPem = read(`${ownerOf(vector)}-public-key.pem`)
    expect(gatewayString(vector.params)).toBe(vector.canonical)
    expect(await signRsa(vector.canonical, createPrivateKey(privatePem))).toBe(vector.sign)

    const digest = forge.md.sha256.create().update(vector.canonical, 'utf8')
    const byForge = forge.util.encode64(forge.pki.privateKeyFromPem(privatePem).sign(digest))
    expect(byForge).toBe(vector.sign)

    const publicKey = createPublicKey(publicPem)
    const parameters = withSign(vector)
    expect(verifyRsa(parameters, publicKey)).toBe(vector.canonical)
    expect(verifyRsa({ ...parameters, sign: vector.sign.replaceAll('+', ' ') }, publicKey)).toBe(
      vector.canonical,
    )
    for (const lineBreak of ['\n', '\r\n']) {
      const sign = vector.sign.replace(/.{76}/g, `$&${lineBreak}`) + lineBreak
      expect(verifyRsa({ ...parameters, sign }, publicKey)).toBe(vector.canonical)
    }
    expect(verifyRsa({ ...parameters, timestamp: '1767225601' }, publicKey)).toBeUndefined()
    expect(verifyRsa({ ...parameters, sign: 'AAAA' }, publicKey)).toBeUndefined()
    const other = ownerOf(vector) === 'merchant' ? 'platform' : 'merchant'
    expect(verifyRsa(parameters, createPublicKey(read(`${other}-public-key.pem`)))).toBeUndefined()
  })
})
