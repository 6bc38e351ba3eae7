/** The keys of the gateway: the keys in force, their replacement, and the accepted forms of a pasted key. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import forge from 'node-forge'
import { afterAll, describe, expect, it } from 'vitest'
import { resetMerchantKey } from '../../src/payment/apps/key-changes.ts'
import { currentKey, openKey } from '../../src/payment/signing/keys.ts'
import { readPublicKey } from '../../src/payment/signing/public-key.ts'
import { certificateOf } from '../harness/certificate.ts'
import { sendSurely } from '../harness/confirming.ts'
import { anotherProcess, type Browser, type Page, type TestApp, useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const test = await useTestApp()
const other = await anotherProcess(test)
const merchant = await makeMerchant(test)
afterAll(() => other.close())

const publicHalf = (key: KeyObject) =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/gateway', name), 'utf8')

/** The application as a process sees it. The process must know it. */
async function found({ deps }: TestApp, pid = merchant.pid.toString()) {
  const app = await deps.gatewayKeys.findApp({ pid })
  if (app === undefined) throw new Error(`There is no application ${pid}`)
  return app
}

describe('the application of a request', () => {
  it('is found by pid, Payment ID and row, with its keys', async () => {
    const { gatewayKeys } = test.deps
    const app = await found(test)
    expect(app).toMatchObject({
      id: merchant.id,
      pid: merchant.pid,
      payment_id: merchant.payment_id,
      applicant_id: merchant.owner.id,
      status: 'approved',
      allowed_addresses: [],
      merchant_key: merchant.merchant_key,
      accepts: { v1: true, v2: false },
    })
    expect(await gatewayKeys.findApp({ pid: merchant.payment_id })).toEqual(app)
    expect(await gatewayKeys.findApp({ app_id: merchant.id })).toEqual(app)
  })

  it.each([
    '',
    ' 1001',
    ...`0 01001 +1001 1e3 １００１ pay_x pay_${'a'.repeat(20)} ${'9'.repeat(19)}`.split(' '),
  ])('is not found by %j', async (pid) =>
    expect(await test.deps.gatewayKeys.findApp({ pid })).toBeUndefined(),
  )

  it('has its KEY replaced for every process at once', async () => {
    const before = (await found(other)).merchant_key
    await resetMerchantKey(test.deps, merchant.payment_id, { user_id: merchant.owner.id, ip: '127.0.0.1' })
    const after = await currentKey(test.deps, merchant.id, 'merchant_key')
    expect(after).not.toBe(before)
    expect((await found(test)).merchant_key).toBe(after)
    expect((await found(other)).merchant_key).toBe(after)
  })
})

describe('the platform pair', () => {
  it('is made when it is first needed, alike for every process, and unique', async () => {
    const second = await makeMerchant(test)
    const ours = await test.deps.gatewayKeys.platformKey(await found(test))
    expect(ours.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65_537n })
    expect(publicHalf(await other.deps.gatewayKeys.platformKey(await found(other)))).toBe(publicHalf(ours))
    const theirs = await test.deps.gatewayKeys.platformKey(await found(test, second.payment_id))
    expect(publicHalf(theirs)).not.toBe(publicHalf(ours))
  })

  it('is encrypted where it is stored', async () => {
    const row = await rowOf(test, 'payment_app_keys', { app_id: merchant.id, kind: 'platform_private_key' })
    const der = Buffer.from(await currentKey(test.deps, merchant.id, 'platform_private_key'), 'base64')
    expect(row.value_encrypted.includes(der)).toBe(false)
    expect(row.value_encrypted.includes(der.toString('base64'))).toBe(false)
  })

  it('is made once, however many ask', async () => {
    const young = await makeMerchant(test)
    const processes = [test, other, test, other, test, other]
    const keys = await Promise.all(
      processes.map(async (each) => each.deps.gatewayKeys.platformKey(await found(each, young.payment_id))),
    )
    expect(new Set(keys.map(publicHalf)).size).toBe(1)
    expect(publicHalf(await test.deps.gatewayKeys.platformKey(await found(test, young.payment_id)))).toBe(
      publicHalf(keys[0]!),
    )
  })
})

/** The same key in every usual form. */
function formsOf(pem: string): [form: string, text: string][] {
  const key = createPublicKey(pem)
  const der = (type: 'spki' | 'pkcs1') => key.export({ type, format: 'der' }).toString('base64')
  const pkcs1 = forge.pki.publicKeyToRSAPublicKeyPem(forge.pki.publicKeyFromPem(pem))
  const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')
  const forms: [string, string][] = [
    ['PEM SPKI', pem],
    ['PEM PKCS#1', pkcs1],
    ['bare SPKI', der('spki')],
    ['bare PKCS#1', der('pkcs1')],
    ['bare SPKI, wrapped', wrapped(der('spki'), 64)],
    ['bare PKCS#1, wrapped at 76', wrapped(der('pkcs1'), 76)],
    ['bare SPKI without padding', der('spki').replace(/=+$/, '')],
    // The SDKs of this protocol wrap any key like this.
    [
      'PKCS#1 under the label of SPKI',
      `-----BEGIN PUBLIC KEY-----\n${der('pkcs1')}\n-----END PUBLIC KEY-----`,
    ],
    [
      'SPKI under the label of PKCS#1',
      `-----BEGIN RSA PUBLIC KEY-----\n${der('spki')}\n-----END RSA PUBLIC KEY-----`,
    ],
    ['PEM on one line', pem.replaceAll('\n', ' ')],
    ['PEM out of a configuration file', pem.replaceAll('\n', '\\n')],
    ['PEM in quotes', `"${pem.replaceAll('\n', '\\n')}"`],
    ['bare SPKI in single quotes', `'${der('spki')}'`],
  ]
  return forms.flatMap(([form, text]) => [
    [form, text] as [string, string],
    [`${form}, with CRLF`, text.replaceAll('\n', '\r\n')],
    [`${form}, with stray spaces`, `\ufeff \t${text.replaceAll('\n', ' \n\t ')}\n\n `],
  ])
}

describe('a pasted public key', () => {
  const pem = fixture('merchant-public-key.pem')
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64')
  const platform = createPublicKey(fixture('platform-public-key.pem'))
    .export({ type: 'spki', format: 'der' })
    .toString('base64')

  it.each(formsOf(pem))('is accepted as %s', (_, text) => {
    expect(readPublicKey(text, platform)).toEqual({
      spki_base64: spki,
      bits: 2048,
      fingerprint: createHash('sha256').update(Buffer.from(spki, 'base64')).digest('hex'),
    })
  })

  const privatePem = fixture('merchant-private-key.pem')
  const privateKey = createPrivateKey(privatePem)
  const bare = (type: 'pkcs1' | 'pkcs8') => privateKey.export({ type, format: 'der' }).toString('base64')
  const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' } as const
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey
  const ofType = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const bareEc = ec.privateKey.export({ type: 'sec1', format: 'der' }).toString('base64')
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 })
  const encryptedPem = privateKey.export({ type: 'pkcs8', format: 'pem', ...encrypted }) as string
  const encryptedBare = privateKey.export({ type: 'pkcs8', format: 'der', ...encrypted }).toString('base64')
  const { cert } = certificateOf('shop.example')

  it.each<[string, string, string]>([
    ['private_key', 'the private PEM', privatePem],
    ['private_key', 'its PKCS#1 PEM', privateKey.export({ type: 'pkcs1', format: 'pem' }) as string],
    ['private_key', 'its bare PKCS#8', bare('pkcs8')],
    ['private_key', 'its bare PKCS#1', bare('pkcs1')],
    ['private_key', 'an encrypted PEM', encryptedPem],
    ['private_key', 'an encrypted bare PKCS#8', encryptedBare],
    ['private_key', 'a private key under a public label', pem.replace(/\n[^-]+\n/, `\n${bare('pkcs8')}\n`)],
    ['private_key', 'both halves', `${pem}${privatePem}`],
    ['private_key', 'an EC private key', bareEc],
    ['unreadable', 'a private key behind the end of the public one', joined(spki, bare('pkcs8'))],
    ['certificate', 'a certificate', cert],
    ['certificate', 'a bare certificate', cert.replace(/-----[^-]+-----|\s/g, '')],
    ['ssh_key', 'a key of ssh', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ alice@example.org'],
    ['several', 'two public keys', `${pem}${pem}`],
    ['not_rsa', 'an EC key', ofType(ec.publicKey)],
    ['not_rsa', 'an Ed25519 key', ofType(generateKeyPairSync('ed25519').publicKey)],
    ['not_rsa', 'a key for RSA-PSS only', ofType(pss.publicKey)],
    ['too_short', 'a key of 1024 bits', ofType(rsa(1024))],
    ['too_short', 'a key of 2047 bits', ofType(rsa(2047))],
    ['too_long', 'a key of 8200 bits', madeOf(8_200, 65_537n)],
    ['weak_exponent', 'a key with the exponent 1', madeOf(2_048, 1n)],
    ['weak_exponent', 'a key with a long exponent', madeOf(2_048, (1n << 200n) + 1n)],
    ['platform_key', 'our own key', fixture('platform-public-key.pem')],
    ['platform_key', 'our own key, bare', platform],
    ['empty', 'nothing', ' \r\n\t'],
    ['unreadable', 'a Merchant KEY', 'Wq7kT2vN8pXz4LrB6sYd1HcF9mJg3RtE'],
    ['unreadable', 'words', 'my public key'],
    ['empty', 'quotes around nothing', '" "'],
    ['private_key', 'a bare private key in quotes', `"${bare('pkcs8')}"`],
    ['unreadable', 'a key behind one quote', `"${spki}`],
    ['unreadable', 'half a key', spki.slice(0, 200)],
    ['unreadable', 'a key without its end', pem.slice(0, 300)],
    ['unreadable', 'a key with words before it', `My key: ${pem}`],
    ['unreadable', 'hexadecimal', Buffer.from(spki, 'base64').toString('hex')],
    ['unreadable', 'an empty sequence', Buffer.from([0x30, 0]).toString('base64')],
    ['unreadable', 'a length of four bytes', Buffer.from([0x30, 0x84, 0, 0, 0, 0]).toString('base64')],
  ])('is refused as %s: %s', (fault, _, text) => {
    expect(readPublicKey(text, platform)).toBe(fault)
    expect(readPublicKey(text.replaceAll('\n', '\r\n'), platform)).toBe(fault)
  })
})

function joined(...parts: string[]): string {
  return Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString('base64')
}

/** A public key of these numbers, without a private half. */
function madeOf(bits: number, exponent: bigint): string {
  const url = (n: bigint) =>
    Buffer.from(
      n.toString(16).padStart(n.toString(16).length + (n.toString(16).length % 2), '0'),
      'hex',
    ).toString('base64url')
  const jwk = { kty: 'RSA', n: url((1n << BigInt(bits - 1)) + 12_345n), e: url(exponent) }
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string
}

const cardOf = ({ payment_id }: Merchant) => `/payment/applications/${payment_id}/developers`
/** The address of a form on the card. */
const actOf = ({ payment_id }: Merchant, act: string) => `/payment/applications/${payment_id}/${act}`
/** Sends a form of the card, and then the form of the page that asks first. */
const confirm = async (owner: Browser, shop: Merchant, act: string, fields: Record<string, string> = {}) =>
  (await sendSurely(owner, await owner.get(cardOf(shop)), actOf(shop, act), fields)).answer
/** The text of an element of the page, as a reader selects it. */
const shownIn = (page: Page, id: string) => {
  const html = new RegExp(`<(\\w+)[^>]* id="${id}"[^>]*>([^<]*)</\\1>`).exec(page.body)?.[2]
  if (html === undefined) throw new Error(`The page has no element ${id}`)
  return html
}
const audits = async ({ payment_id }: Merchant) =>
  (await rowsOf(test, 'audit_log', { subject: payment_id })).toReversed()

const withShop = async (run: (shop: Merchant, owner: Browser) => Promise<void>) => {
  const shop = await makeMerchant(test)
  await run(shop, await shop.owner.signIn())
}

describe('the card of an application', () => {
  it('shows a plugin’s settings as text to select and copy', () =>
    withShop(async (shop, owner) => {
      const card = await owner.get(`${cardOf(shop)}?show=key`)
      const platform = await test.deps.gatewayKeys.platformKey(await found(test, shop.payment_id))
      const values = {
        v1: `${test.url}/payment/api/`,
        v2: `${test.url}/payment/`,
        submit: `${test.url}/payment/api/submit.php`,
        pid: shop.pid.toString(),
        key: shop.merchant_key,
        'platform-key': publicHalf(platform),
        'platform-pem': (createPublicKey(platform).export({ type: 'spki', format: 'pem' }) as string).trim(),
      }
      for (const [name, value] of Object.entries(values)) {
        expect(shownIn(card, `gateway-${name}`)).toBe(value)
        expect(card.body).toContain(`data-copy="${value}"`)
      }
      const masked = (await owner.get(cardOf(shop))).body
      expect(masked).not.toContain(shop.merchant_key)
      expect(masked).toContain(`••••${shop.merchant_key.slice(-4)}`)
      expect(card.body).toContain(messages.en.merchantGateway.noKeyYet)
      expect((await owner.get(cardOf(shop), { 'accept-language': 'zh-CN' })).body).toContain(
        messages['zh-CN'].merchantGateway.platformKey,
      )
    }))

  it('takes a public key for every process at once, and replaces it', () =>
    withShop(async (shop, owner) => {
      const paste = async (public_key: string) =>
        owner.submit(await owner.get(cardOf(shop)), actOf(shop, 'public-key'), { public_key })
      const inForce = async (process: TestApp) => {
        const app = await found(process, shop.payment_id)
        const key = await process.deps.gatewayKeys.merchantPublicKey(app)
        return key?.export({ type: 'spki', format: 'pem' })
      }
      expect(await inForce(other)).toBeUndefined()
      const first = fixture('merchant-public-key.pem')
      expect(await paste(first)).toMatchObject({ status: 303, location: cardOf(shop) })
      expect(await inForce(other)).toBe(first)
      expect((await found(other, shop.payment_id)).accepts).toEqual({ v1: true, v2: true })

      const second = fixture('platform-public-key.pem')
      // A key in use is replaced only after a question.
      expect((await paste(second)).status).toBe(200)
      expect(await inForce(other)).toBe(first)
      expect((await confirm(owner, shop, 'public-key', { public_key: second })).status).toBe(303)
      expect(await inForce(test)).toBe(second)
      expect(await inForce(other)).toBe(second)
      const fingerprint = readPublicKey(second, '')
      const [latest] = await audits(shop)
      expect(latest).toMatchObject({
        action: 'payment_app.set_public_key',
        actor_id: shop.owner.id,
        detail: { bits: 2048, fingerprint: (fingerprint as { fingerprint: string }).fingerprint },
      })
      expect((await owner.get(cardOf(shop))).body).toContain(latest!.detail.fingerprint)
    }))

  it('names what was pasted instead, does not repeat it, changes nothing', () =>
    withShop(async (shop, owner) => {
      const page = await owner.get(cardOf(shop))
      const before = [await found(test, shop.payment_id), await audits(shop)]
      const privatePem = fixture('merchant-private-key.pem')
      const { faults } = messages.en.merchantGateway
      const refusals = [
        [privatePem, faults.private_key],
        [shownIn(page, 'gateway-platform-key'), faults.platform_key],
        ['', faults.empty],
      ] as const
      for (const [public_key, text] of refusals) {
        const answer = await owner.submit(page, actOf(shop, 'public-key'), { public_key })
        expect(answer.status).toBe(400)
        expect(answer.body).toContain(text)
        expect(answer.body).not.toContain(privatePem.slice(40, 80))
      }
      expect((await owner.post(actOf(shop, 'public-key'), page.form(actOf(shop, 'public-key')))).status).toBe(
        400,
      )
      expect([await found(test, shop.payment_id), await audits(shop)]).toEqual(before)
    }))

  it('shows a pair’s private half once, and fits both forms', () =>
    withShop(async (shop, owner) => {
      const { location } = await owner.submit(await owner.get(cardOf(shop)), actOf(shop, 'key-pair'))
      const made = await owner.get(location!)
      expect(made.status).toBe(200)
      expect(made.headers['cache-control']).toBe('no-store')
      const bare = /data-copy="([A-Za-z0-9+/=]{1000,})"/.exec(made.body)![1]!
      const key = createPrivateKey({ key: Buffer.from(bare, 'base64'), format: 'der', type: 'pkcs8' })
      expect(createPrivateKey(/data-copy="(-----BEGIN [^"]+)"/.exec(made.body)![1]!).equals(key)).toBe(true)
      const kept = await test.deps.gatewayKeys.merchantPublicKey(await found(test, shop.payment_id))
      expect(kept?.equals(createPublicKey(key))).toBe(true)
      expect((await owner.get(cardOf(shop))).body).not.toContain(bare.slice(0, 80))
      const asked = await owner.submit(await owner.get(cardOf(shop)), actOf(shop, 'key-pair'))
      expect(asked.body).toContain(messages.en.developers.ask.publicKeyNote)
      expect((await audits(shop))[0]).toMatchObject({
        action: 'payment_app.make_key_pair',
        detail: { fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) },
      })
      const values = await rowsOf(test, 'payment_app_keys', { app_id: shop.id })
      for (const { kind, value_encrypted } of values)
        expect(openKey(test.deps.secrets, shop.id, kind, value_encrypted)).not.toBe(bare)
    }))

  it('switches each version off and on', () =>
    withShop(async (shop, owner) => {
      const accepts = async () => (await found(other, shop.payment_id)).accepts
      const choose = async (fields: Record<string, string>) =>
        owner.submit(await owner.get(cardOf(shop)), actOf(shop, 'versions'), fields)
      await owner.submit(await owner.get(cardOf(shop)), actOf(shop, 'key-pair'))
      expect(await accepts()).toEqual({ v1: true, v2: true })
      expect((await choose({ v2: 'on' })).status).toBe(200)
      expect(await accepts()).toEqual({ v1: true, v2: true })
      expect((await confirm(owner, shop, 'versions', { v2: 'on' })).status).toBe(303)
      expect(await accepts()).toEqual({ v1: false, v2: true })
      await confirm(owner, shop, 'versions', { v1: 'on' })
      expect(await accepts()).toEqual({ v1: true, v2: false })
      expect((await audits(shop))[0]).toMatchObject({
        action: 'payment_app.switch_versions',
        detail: { v1: true, v2: false },
      })
      const card = (await owner.get(cardOf(shop))).body
      expect(card).toContain('name="v1" checked')
      expect(card).not.toContain('name="v2" checked')
    }))
})
