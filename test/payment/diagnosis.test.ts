/**
 * The signature debugger: it names every usual mistake, on its page and in the list of refused requests. Code that
 * shares nothing with src/ makes the mistakes. Only the owner sees anything. spec/payment-api 6.1.
 */
import {
  constants,
  createHash,
  createHmac,
  createPrivateKey,
  createSign,
  generateKeyPairSync,
  privateEncrypt,
  sign as signBytes,
} from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { SettingName } from '../../src/core/setting-values.ts'
import { mandateOperations } from '../../src/docs/operations/mandates.ts'
import { MADE_UP_MANDATE } from '../../src/docs/operations/samples.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { resetMerchantKey, rotateToken } from '../../src/payment/apps/key-changes.ts'
import { switchVersions } from '../../src/payment/apps/own-app.ts'
import { acceptInvitation, inviteMember } from '../../src/payment/apps/team.ts'
import { openJudging } from '../../src/payment/diagnosis/judging.ts'
import type { Mistake, MistakeCode } from '../../src/payment/diagnosis/mistakes.ts'
import { readOwnKeys } from '../../src/payment/diagnosis/own-keys.ts'
import { readPasted } from '../../src/payment/diagnosis/pasted.ts'
import { gatewayRules, hmacRules } from '../../src/payment/diagnosis/schemes.ts'
import { explain, type Scheme } from '../../src/payment/diagnosis/search.ts'
import { judge } from '../../src/payment/diagnosis/verdict.ts'
import { Callback, MandateCallback } from '../../src/payment/signing/hmac.ts'
import { currentKey, keyFingerprint } from '../../src/payment/signing/keys.ts'
import { signIn } from '../harness/cast.ts'
import { type Fields, makeShop, type Shop, secondsAt, send } from '../harness/gateway-shop.ts'
import { anotherProcess, type Page, setSetting, useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { joinTeam } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { COUNTED_APART, inOneProcess } from '../harness/one-process.ts'
import { rowsOf } from '../harness/rows.ts'

const { en } = messages
const RATE = { exchange_rate: '1' }
const itCounts = it.skipIf(inOneProcess(COUNTED_APART))

let count = 0
const seen = new Set<MistakeCode>()

const test = await useTestApp()
/** The shop with keys that have ended, which some requests still use. */
const old = await makeShop(test)
const owner = await old.owner.signIn()
const actor = { user_id: old.owner.id, ip: '127.0.0.1' }
const renewed = await rotateToken(test.deps, old.payment_id, 0, actor)
await resetMerchantKey(test.deps, old.payment_id, actor)
const merchant_key = await currentKey(test.deps, old.id, 'merchant_key')
const shop: Shop = { ...old, ...renewed, merchant_key }
test.clock.advance(60_000)

const readKeys = async () =>
  (await readOwnKeys(test.deps, (await test.deps.gatewayKeys.findApp({ app_id: shop.id }))!, shop.owner.id))
    .keysAt
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string | Buffer) =>
  createHmac('sha256', key).update(text).digest('hex')
const seconds = (offset = 0) => secondsAt(test, offset)
/** `k=v&…` by name, without the signature and, for the gateway, without empty values. */
const joined = (fields: Fields, keepsEmpty = false) =>
  Object.keys(fields)
    .filter((name) => !['sign', 'sign_type', 'signature'].includes(name))
    .filter((name) => keepsEmpty || fields[name] !== '')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
const each = (fields: Fields, write: (value: string) => string): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, write(value)]))

const byRsa = (text: string | Buffer, algorithm = 'sha256', key: string = shop.privatePem) =>
  createSign(algorithm).update(text).sign(key, 'base64')

type Door = 'hmac' | 'v1' | 'v2'
type Seal = (text: string, fields: Fields) => string
/** The codes that the debugger must report, the door, the fields, and a wrong way to sign them. */
type Case = [codes: string, door: Door, over: () => Fields, seal: Seal]

const none = () => ({})
/** The right arithmetic, for wrong strings. */
const H = (text: string | Buffer) => hmac(shop.secret_key, text)
const M = (text: string | Buffer) => md5(Buffer.concat([utf8(text), utf8(shop.merchant_key)]))
const R = (text: string | Buffer) => byRsa(text)
const RIGHT = { hmac: H, v1: M, v2: R }
const utf8 = (text: string | Buffer) => Buffer.from(text as string)
const asSent = (fields: Fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
const encoded = (fields: Fields) => joined(each(fields, encodeURIComponent))
const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
/** Signs all fields but these. */
const lacking =
  (take: (text: string) => string, ...names: string[]): Seal =>
  (_, fields) =>
    take(joined(without(fields, ...names)))
/** 会员 A in GBK, as bytes that another program made. */
const GBK_NAME = Buffer.from('bbe1d4b12041', 'hex')

/** Mistakes with the string or the parameters that clients of every door make. */
const ON_STRINGS = (['hmac', 'v1', 'v2'] as const).flatMap((door): Case[] => {
  const sealed = RIGHT[door]
  const amount = door === 'hmac' ? 'amount' : 'money'
  return [
    ['url_encoded', door, none, (_, fields) => sealed(encoded(fields))],
    ['url_encoded', door, none, (_, fields) => sealed(encoded(fields).replaceAll('%20', '+'))],
    ['not_signed', door, none, lacking(sealed, amount)],
    ['unsorted', door, none, (_, fields) => sealed(asSent(fields))],
    [door === 'v1' ? 'key_ampersand' : 'trailing_ampersand', door, none, (text) => sealed(`${text}&`)],
    ['html_escaped', door, none, (text) => sealed(text.replace('&=', '&amp;='))],
    ['json_signed', door, none, (_, fields) => sealed(JSON.stringify(fields))],
  ]
})

const CASES: Case[] = [
  ...ON_STRINGS,
  ['raw_token', 'hmac', none, (text) => hmac(shop.token, text)],
  ['decoded_hex_key', 'hmac', none, (text) => hmac(Buffer.from(shop.secret_key, 'hex'), text)],
  ['key_hashed_again', 'hmac', none, (text) => hmac(sha256(sha256(shop.secret_key)), text)],
  ['hashed_twice', 'hmac', none, (text) => H(sha256(text))],
  ['hashed_twice', 'hmac', none, (text) => sha256(H(text))],
  ['not_hmac', 'hmac', none, (text) => sha256(text + shop.secret_key)],
  ['swapped', 'hmac', none, (text) => hmac(text, shop.secret_key)],
  ['key_named', 'hmac', none, (text) => H(`${text}&key=${shop.secret_key}`)],
  ['signed_extra', 'hmac', none, (_, fields) => H(joined({ ...fields, payment_id: shop.payment_id }))],
  ['empty_kept', 'hmac', none, (_, fields) => H(joined({ ...fields, timestamp: '' }, true))],
  ['amount_form,decimal_form', 'hmac', () => ({ amount: '10.0' }), (text) => H(text.replace('10.0', '10'))],
  ['amount_form', 'hmac', () => ({ amount: '10.0' }), H],
  ['stale_clock', 'hmac', () => ({ timestamp: seconds(-420) }), H],
  ['time_zone', 'hmac', () => ({ timestamp: seconds(8 * 3_600) }), H],
  ['timestamp_form', 'hmac', () => ({ timestamp: `${seconds()}000` }), H],
  ['ended_key', 'hmac', none, (text) => hmac(sha256(old.token), text)],
  ['other_key', 'hmac', none, (text) => hmac(shop.merchant_key, text)],
  ['no_signature', 'hmac', none, () => ''],
  ['signature_form', 'hmac', none, (text) => Buffer.from(H(text), 'hex').toString('base64')],
  ['unexplained', 'hmac', none, () => hmac('somebody else', 'something else')],

  ['key_named', 'v1', none, (text) => md5(`${text}&key=${shop.merchant_key}`)],
  ['hashed_twice', 'v1', none, (text) => md5(M(text))],
  ['hashed_twice', 'v1', none, (text) => md5(M(text).toUpperCase())],
  ['empty_kept', 'v1', () => ({ param: '' }), (_, fields) => M(joined(fields, true))],
  ['zero_dropped', 'v1', () => ({ param: '0' }), lacking(M, 'param')],
  ['not_signed', 'v1', () => ({ sitename: 'Shop', device: 'pc' }), lacking(M, 'sitename', 'device')],
  ['signed_extra', 'v1', none, (text) => M(`${text}&sign_type=MD5`)],
  ['decimal_form', 'v1', () => ({ money: '10.0' }), (text) => M(text.replace('10.0', '10'))],
  ['other_key', 'v1', none, (text) => md5(text + shop.secret_key)],
  ['ended_key', 'v1', none, (text) => md5(text + old.merchant_key)],
  ['sign_type', 'v1', () => ({ sign_type: 'rsa', timestamp: seconds() }), R],

  ['empty_kept', 'v2', () => ({ param: '' }), (_, fields) => R(joined(fields, true))],
  ['key_appended', 'v2', none, (text) => R(text + shop.merchant_key)],
  ['hashed_twice', 'v2', none, (text) => R(sha256(text))],
  ['algorithm', 'v2', none, (text) => byRsa(text, 'sha1')],
  ['rsa_pss', 'v2', none, byPss],
  ['rsa_raw', 'v2', none, (text) => privateEncrypt(shop.privatePem, utf8(sha256(text))).toString('base64')],
  ['wrong_public_key', 'v2', none, (text) => byRsa(text, 'sha256', strangersKey())],
  ['rsa_key_unreadable', 'v2', none, byKeyUnderWrongHeading],
  ['sign_type', 'v2', none, M],
  ['signature_form', 'v2', none, (text) => Buffer.from(R(text), 'base64').toString('base64url')],
  ['stale_clock', 'v2', () => ({ timestamp: seconds(420) }), R],
  ['timestamp_missing', 'v2', () => ({ timestamp: '' }), R],
]

/** Rarer mistakes. */
const MORE: Case[] = [
  ['sent_unencoded', 'hmac', () => ({ description: 'a b/c' }), (text) => H(text.replace('a b', 'a+b'))],
  [
    'sent_encoded_twice',
    'v1',
    () => ({ name: 'a%20b%26c' }),
    (text) => M(text.replace('a%20b%26c', 'a b&c')),
  ],
  ['json_escaped', 'v2', none, (text) => R(text.replaceAll('/', '\\/'))],
  ['json_escaped', 'v1', none, (text) => M(text.replace('会员', '\\u4f1a\\u5458'))],
  ['backslashes_lost', 'hmac', () => ({ description: 'a\\b' }), (text) => H(text.replace('\\', ''))],
  [
    'unsorted',
    'hmac',
    none,
    (_, { amount, description, order_id }) =>
      H(`order_id=${order_id}&amount=${amount}&description=${description}`),
  ],
  [
    'unseen_lost,unseen',
    'hmac',
    () => ({ description: 'tea\u200b\u202e' }),
    (text) => H(text.replace('\u200b\u202e', '')),
  ],
  ['trimmed', 'hmac', () => ({ description: ' tea ' }), (text) => H(text.replace(' tea ', 'tea'))],
  ['unicode_form', 'hmac', () => ({ description: 'Café' }), (text) => H(text.normalize('NFD'))],
  ['quoted', 'v1', none, (_, fields) => M(joined(each(fields, (value) => `"${value}"`)))],
  ['null_as_text', 'v1', () => ({ param: '' }), (_, fields) => M(joined({ ...fields, param: 'null' }))],
  [
    'no_separator',
    'hmac',
    none,
    (_, { amount, description, order_id }) =>
      H(`amount=${amount}description=${description}order_id=${order_id}`),
  ],
  [
    'values_only',
    'hmac',
    none,
    (_, { amount, description, order_id }) => H(`${amount}${description}${order_id}`),
  ],
  ['case_changed', 'v1', none, (text) => M(text.toLowerCase())],
  ['upper_case_key', 'hmac', none, (text) => hmac(shop.secret_key.toUpperCase(), text)],
  ['base64_key', 'hmac', none, (text) => hmac(Buffer.from(shop.secret_key, 'hex').toString('base64'), text)],
  ['key_whitespace', 'hmac', none, (text) => hmac(`${shop.secret_key}\n`, text)],
  ['no_key', 'v1', none, (text) => md5(text)],
  ['key_in_front', 'v1', none, (text) => md5(shop.merchant_key + text)],
  ['algorithm', 'hmac', none, (text) => createHmac('sha1', shop.secret_key).update(text).digest('hex')],
  ['signature_form', 'v1', none, (text) => M(text).slice(8, 24)],
  ['signature_form', 'v2', none, (text) => encodeURIComponent(R(text))],
]

function byPss(text: string): string {
  const key = { key: shop.privatePem, padding: constants.RSA_PKCS1_PSS_PADDING }
  return signBytes('sha256', utf8(text), key).toString('base64')
}

function strangersKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** PHP reads no key from PKCS#1 under the heading of PKCS#8, so it makes no signature. */
function byKeyUnderWrongHeading(text: string): string {
  const body = createPrivateKey(shop.privatePem).export({ type: 'pkcs1', format: 'der' }).toString('base64')
  try {
    return byRsa(text, 'sha256', `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`)
  } catch {
    return ''
  }
}

/** A request as the shop sends it, in an order that is not alphabetical. */
function request(door: Door, over: Fields, seal: Seal): Fields {
  count += 1
  const { sign_type = door === 'v2' ? 'RSA' : 'MD5', ...rest } = over
  const name = '会员 A&=/1'
  const fields: Fields =
    door === 'hmac'
      ? { order_id: `D-${count}`, description: name, amount: '100', ...rest }
      : {
          pid: shop.pidText,
          out_trade_no: `T-${count}`,
          notify_url: 'https://shop.example/notify?a=1',
          name,
          money: '9.90',
          ...(door === 'v2' ? { timestamp: seconds() } : {}),
          ...rest,
        }
  const signature = seal(joined(fields), fields)
  return door === 'hmac' ? { ...fields, signature } : { ...fields, sign: signature, sign_type }
}

const ADDRESS = {
  hmac: () => `/payment/pay/${shop.payment_id}/process`,
  v1: () => '/payment/api/mapi.php',
  v2: () => '/payment/api/pay/create',
}
const path = (seller = shop) => `/payment/applications/${seller.payment_id}/signatures`
const queryOf = (fields: Fields) => new URLSearchParams(fields).toString()

async function paste(text: string, client = owner) {
  const { form_token = '' } = (await client.get('/account/profile')).form('/sign-out')
  return client.post(path(), { form_token, text })
}
/** The list of refused requests, newest first. */
const listed = (html: string) => html.split('id="refused"')[1]!.split('<li class="row">').slice(1).map(textOf)

/** The whole list, page by page. */
async function wholeList(language = 'en'): Promise<string[]> {
  const rows: string[] = []
  for (let at: string | undefined = path(); at !== undefined; ) {
    const { body }: Page = await owner.get(at, { 'accept-language': language })
    rows.push(...listed(body))
    at = /href="([^"]*\?before=\d+)"/.exec(body)?.[1]
  }
  return rows
}

async function judged(fields: Fields, door: Door) {
  const keysAt = await readKeys()
  const now = test.clock.now()
  const asked = { fields: Object.entries(fields), door: door === 'hmac' ? door : ('gateway' as const) }
  const verdict = judge(asked, {
    keys: keysAt(now),
    accepts: { v1: true, v2: true },
    ...RATE,
    allowedCidrs: [],
    now,
  })
  const mistakes = [...verdict.mistakes, ...verdict.notes]
  for (const { code } of mistakes) seen.add(code)
  return { ...verdict, said: mistakes }
}
const wordsOf = (catalogue: typeof en.signatures, mistakes: Mistake[]) =>
  mistakes.map(({ code, what }) => catalogue.mistakes[code](what ?? ''))

const latest = async () => (await rowsOf(test, 'refused_requests', { app_id: shop.id })).at(-1)!.id
const countKept = async (seller = shop) =>
  (await rowsOf(test, 'refused_requests', { app_id: seller.id })).length

describe('each usual mistake', () => {
  it.each(['hmac', 'v1', 'v2'] as const)(
    'at %s is refused and named exactly, pasted or kept, bilingually',
    async (door) => {
      const cases = CASES.filter((each) => each[1] === door)
      const told: Mistake[][] = []
      for (const [codes, , over, seal] of cases) {
        const fields = request(door, over(), seal)
        const verdict = await judged(fields, door)
        expect([
          codes,
          verdict.said
            .map(({ code }) => code)
            .sort()
            .join(),
        ]).toEqual([codes, codes])
        const answer = (await send(test, 'POST', ADDRESS[door](), fields)).json()
        expect([codes, door === 'hmac' ? answer.success : answer.code < 0]).toEqual([codes, door !== 'hmac'])
        told.push(verdict.said)
        const pasted = textOf((await paste(queryOf(fields))).body)
        const words =
          codes === 'no_signature' ? [en.signatures.unsigned] : wordsOf(en.signatures, verdict.said)
        for (const each of words) expect(pasted).toContain(each)
        test.clock.advance(1_000)
      }
      for (const [language, catalogue] of [
        ['en', en.signatures],
        ['zh-CN', messages['zh-CN'].signatures],
      ] as const) {
        const rows = await wholeList(language)
        for (const [i, mistakes] of told.toReversed().entries())
          for (const words of wordsOf(catalogue, mistakes)) expect(rows[i]).toContain(words)
      }
      test.clock.advance(60_000)
    },
  )

  it('of the rarer ones has its name too', async () => {
    for (const [codes, door, over, seal] of MORE) {
      const { said: mistakes } = await judged(request(door, over(), seal), door)
      expect([codes, mistakes.map(({ code }) => code).join()]).toEqual([codes, codes])
    }
  })

  it('that is accepted all the same is named as one', async () => {
    const upper = await judged(
      request('v1', {}, (text) => M(text).toUpperCase()),
      'v1',
    )
    expect(upper).toMatchObject({ isRight: true, notes: [{ code: 'upper_case_hash' }] })
    const twice = await judged(
      request('hmac', {}, (text) => hmac(sha256(shop.secret_key), text)),
      'hmac',
    )
    expect(twice).toMatchObject({ isRight: true, notes: [{ code: 'key_hashed_twice' }] })
    for (const door of ['hmac', 'v1', 'v2'] as const) {
      const right = await judged(request(door, {}, RIGHT[door]), door)
      expect(right).toMatchObject({ isRight: true, mistakes: [], notes: [] })
      expect(right.received.text).toBe(right.expected.text)
    }
  })

  it('is none in our own signatures, which use another key', async () => {
    const reply = (await send(test, 'POST', ADDRESS.v2(), request('v2', {}, R))).json()
    const fields = Object.fromEntries(Object.entries(reply).map(([name, value]) => [name, String(value)]))
    expect(await judged(fields, 'v2')).toMatchObject({ isRight: true, notes: [{ code: 'signed_by_us' }] })
  })

  it('with the plain KEY of api.php is named, and the KEY forgotten', async () => {
    const stranger = 'Wq7kT2vN8pXz4LrB6sYd1HcF9mJg3RtE'
    const keys: [key: string, code: string][] = [
      [old.merchant_key, 'ended_key'],
      [shop.merchant_key.toLowerCase(), 'upper_case_key'],
      [shop.secret_key, 'other_key'],
      [stranger, 'wrong_key'],
    ]
    for (const [key, code] of keys) {
      const fields = { act: 'query', pid: shop.pidText, key }
      expect((await send(test, 'POST', '/payment/api/api.php', fields)).json()).toMatchObject({ code: -3 })
      expect((await judged(fields, 'v1')).said.map((mistake) => mistake.code)).toEqual([code])
    }
    const page = await owner.get(path())
    const rows = listed(page.body)
    for (const [i, [key, code]] of keys.toReversed().entries()) {
      const words = en.signatures.mistakes[code as MistakeCode]('').split(/ended on|: the/)[0]!
      expect(rows[i]).toContain(words)
      expect(page.body).not.toContain(key)
    }
  })
})

describe('a request about mandates', () => {
  const requests = mandateOperations.map(({ path, about, request: { schema, example } = {} as never }) => ({
    name: about.en,
    address: () => path.replace('{payment_id}', shop.payment_id),
    schema,
    fields: Object.fromEntries(
      Object.entries(
        example({ mandates: { charged: MADE_UP_MANDATE, revoked: MADE_UP_MANDATE } } as never),
      ).map(([name, value]): [string, string] => [name, String(value)]),
    ),
  }))
  const signed = (fields: Fields, seal: Seal): Fields => ({
    ...fields,
    signature: seal(joined(fields, true), fields),
  })

  it.each(requests)('is known by the debugger: $name', async ({ address, schema, fields }) => {
    const { known } = hmacRules((await readKeys())(test.clock.now()), [])
    expect(Object.keys(schema.shape).filter((name) => name !== 'signature' && !known.includes(name))).toEqual(
      [],
    )
    expect(await judged(signed(fields, H), 'hmac')).toMatchObject({ isRight: true, mistakes: [], notes: [] })
    const [first] = Object.keys(fields)
    const wrong: [code: MistakeCode, what: string | undefined, seal: Seal][] = [
      ['raw_token', undefined, (text) => hmac(shop.token, text)],
      ['not_signed', first, (_, sent) => H(joined(without(sent, first!), true))],
      ['empty_kept', 'timestamp', (_, sent) => H(joined({ ...sent, timestamp: '' }, true))],
      ['signed_extra', 'payment_id', (_, sent) => H(joined({ ...sent, payment_id: shop.payment_id }, true))],
    ]
    for (const [code, what, seal] of wrong) {
      const sent = signed(fields, seal)
      const { said: mistakes } = await judged(sent, 'hmac')
      expect(mistakes).toMatchObject([{ code, ...(what && { what }) }])
      const words = wordsOf(en.signatures, mistakes)[0]!
      const pasted = `POST ${address()} HTTP/1.1\r\nHost: site.example\r\n\r\n${queryOf(sent)}`
      expect(textOf((await paste(pasted)).body)).toContain(words)
      expect((await send(test, 'POST', address(), sent)).statusCode).toBe(401)
      expect(listed((await owner.get(path())).body)[0]).toContain(words)
    }
    const theirs = `curl https://site.example${address().replace(shop.payment_id, `pay_${'0'.repeat(20)}`)}`
    const strange = textOf((await paste(`${theirs} -d '${queryOf(signed(fields, H))}'`)).body)
    expect(strange).toContain(en.signatures.mistakes.other_application(`pay_${'0'.repeat(20)}`))
    test.clock.advance(60_000)
  })

  it('signs optional terms of an offer that it does not send', async () => {
    const { fields } = requests.find(({ fields }) => 'purpose' in fields)!
    const seal: Seal = (_, sent) => H(joined({ ...sent, ends_on: '' }, true))
    expect((await judged(signed(fields, seal), 'hmac')).said).toEqual([
      { code: 'empty_kept', what: 'ends_on' },
    ])
    const capped = { ...fields, period_max: '300.0' }
    const short: Seal = (text) => H(text.replace('300.0', '300'))
    const codes = (await judged(signed(capped, short), 'hmac')).said.map(({ code }) => code)
    expect(codes.sort()).toEqual(['amount_form', 'decimal_form'])
  })

  it('is a callback, whose signature is checked alike', async () => {
    const callback = {
      decided_at: '2026-01-02T03:05:00Z',
      mandate_id: MADE_UP_MANDATE,
      mandate_status: 'active',
    }
    const fields: Fields = { ...callback, reference: 'club-1001' }
    const link = (seal: Seal) => `https://shop.example/paid?${queryOf(signed(fields, seal))}`
    expect(textOf((await paste(link(H))).body)).toContain(en.signatures.right)
    const forged = textOf((await paste(link(H).replace('=active', '=declined'))).body)
    expect(forged).toContain(en.signatures.wrong)
    const encodes: Seal = (_, sent) => H(encoded(sent))
    expect((await judged(signed(fields, encodes), 'hmac')).mistakes).toEqual([{ code: 'url_encoded' }])
    const { known } = hmacRules((await readKeys())(test.clock.now()), [])
    const names = [...Object.keys(MandateCallback.shape), ...Object.keys(Callback.shape)]
    expect(names.filter((name) => name !== 'signature' && !known.includes(name))).toEqual([])
  })
})

describe('the key that was used', () => {
  it('is named as it is, beside the one to use', async () => {
    const now = test.clock.now()
    const keys = (await readKeys())(now)
    const fields = { amount: '5', order_id: 'a' }
    const usedFor = (key: string) => {
      const signature = hmac(key, joined(fields, true))
      const request = { fields: Object.entries({ ...fields, signature }), door: 'hmac' as const }
      return judge(request as never, {
        keys,
        accepts: { v1: true, v2: true },
        ...RATE,
        allowedCidrs: [],
        now,
      })
    }
    const byToken = usedFor(shop.token)
    expect(byToken.expected.key).toEqual({ kind: 'secret_key', fingerprint: keyFingerprint(shop.secret_key) })
    expect(byToken.received.key).toEqual({ kind: 'token', fingerprint: keyFingerprint(shop.token) })
    expect(usedFor(shop.merchant_key).received.key).toEqual({
      kind: 'merchant_key',
      fingerprint: keyFingerprint(shop.merchant_key),
    })
    expect(usedFor(shop.secret_key.toUpperCase()).received.key).toEqual({
      kind: 'secret_key',
      fingerprint: keyFingerprint(shop.secret_key),
      isChanged: true,
    })
    // The Payment ID is no key, so it has no fingerprint.
    expect(usedFor(shop.payment_id).received.key).toBeUndefined()
    const pasted = {
      text: new URLSearchParams({ ...fields, signature: hmac(shop.token, joined(fields, true)) }).toString(),
    }
    const { body } = await owner.submit(await owner.get(path()), path(), pasted)
    const { keyExpected, keyUsed, keys: kinds } = en.signatures
    expect(textOf(body)).toContain(
      `${keyExpected} ${kinds.secret_key} ${keyFingerprint(shop.secret_key)} ${keyUsed} ${kinds.token} ${keyFingerprint(shop.token)}`,
    )
  })
})

describe('a key of another application', () => {
  const signed = (door: Door, key: Shop) => {
    const seals = {
      hmac: (text: string) => hmac(key.secret_key, text),
      v1: (text: string) => md5(text + key.merchant_key),
      v2: (text: string) => byRsa(text, 'sha256', key.privatePem),
    }
    return queryOf(request(door, {}, seals[door]))
  }

  /** A shop that the reader may debug too, as a member of its team. */
  async function shopOfReader(): Promise<Shop> {
    const other = await makeShop(test, { newKey: true })
    const by = { user_id: other.owner.id, ip: '127.0.0.1' }
    await inviteMember(test.deps, other.payment_id, { username: shop.owner.username, role: 'manager' }, by)
    await acceptInvitation(test.deps, other.payment_id, actor)
    return other
  }

  it.each(['hmac', 'v1', 'v2'] as const)(
    'of the reader is named, of somebody else never: %s',
    async (door) => {
      seen.add('foreign_key')
      const [mine, theirs] = [await shopOfReader(), await makeShop(test, { newKey: true })]
      const told = en.signatures.mistakes.foreign_key(mine.payment_id)
      expect(textOf((await paste(signed(door, mine))).body)).toContain(told)
      const byRawToken = { ...mine, secret_key: mine.token }
      if (door === 'hmac') expect(textOf((await paste(signed(door, byRawToken))).body)).toContain(told)
      expect(textOf((await paste(signed(door, theirs))).body)).not.toContain(theirs.payment_id)
    },
  )

  it('of the reader is named where the plain KEY stands', async () => {
    const mine = await shopOfReader()
    const { body } = await paste(`act=query&pid=${shop.pid}&key=${mine.merchant_key}`)
    expect(textOf(body)).toContain(en.signatures.mistakes.foreign_key(mine.payment_id))
  })

  it('of the reader is masked in a kept request', async () => {
    const mine = await shopOfReader()
    for (const description of [mine.token, mine.secret_key, mine.merchant_key]) {
      const sent = request('hmac', { description }, () => 'ab')
      await send(test, 'POST', `/payment/pay/${shop.payment_id}/process`, sent)
      const { body } = await owner.get(`${path()}?refused=${await latest()}`)
      expect([body.includes('•••'), body.includes(description)]).toEqual([true, false])
      test.clock.advance(60_000)
    }
  })
})

describe('what it costs', () => {
  /** A mistake that is found fast, for a test with many requests. */
  const byToken = () => request('hmac', {}, (text) => hmac(shop.token, text))
  const receiver = async () => {
    const now = test.clock.now()
    return { keys: (await readKeys())(now), accepts: { v1: true, v2: true }, ...RATE, allowedCidrs: [], now }
  }

  it('is bounded for the largest request', async () => {
    const { keys } = await receiver()
    const many = (count: number, length: number): Fields =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, `${'v é+%'.repeat(length)}${i}`]))
    const spent = (fields: Fields, rules: ReturnType<typeof hmacRules>) => {
      let [bytes, tries] = [0, 0]
      const seal = {
        take(text: Buffer) {
          bytes += text.length
          tries += 1
          return Buffer.alloc(1)
        },
      }
      const mistake = { code: 'algorithm' as const }
      const keys = Array.from({ length: 60 }, () => ({ take: undefined, mistake }))
      const seals = Array.from({ length: 20 }, () => ({ ...seal, mistake }))
      const scheme: Scheme<undefined> = { keys: [{ take: undefined }, ...keys], seals: [seal, ...seals] }
      expect(explain(Object.entries(fields), rules, scheme, Buffer.alloc(32))).toBeUndefined()
      return { bytes, tries }
    }
    for (const fields of [many(6, 1_300), many(98, 80), many(1, 1_000), byToken()])
      for (const rules of [hmacRules(keys, Object.entries(fields)), gatewayRules(keys, 'MD5')]) {
        const { bytes, tries } = spent(fields, rules)
        expect(bytes).toBeLessThan(20_000_000)
        expect(tries).toBeLessThan(1_500)
        expect(tries).toBeGreaterThan(100)
      }
    // A JSON body may have thousands of parameters.
    const names = many(9_000, 0)
    expect(spent(names, hmacRules(keys, Object.entries(names))).tries).toBeLessThan(1_500)
  })

  it('runs one at a time, with pauses, and no crowd fills it', async () => {
    const judging = openJudging()
    const asked = { fields: Object.entries(byToken()), door: 'hmac' as const }
    const by = await receiver()
    let turns = 0
    let turning: NodeJS.Immediate
    const turn = () => {
      turns += 1
      turning = setImmediate(turn)
    }
    turn()
    const turnsAt: number[] = []
    const judge = async (user_id: bigint) => {
      const { mistakes } = await judging.verdictOn(user_id, asked, by)
      turnsAt.push(turns)
      return mistakes
    }
    const crowd = await Promise.allSettled(Array.from({ length: 40 }, () => judge(1n)).concat(judge(2n)))
    clearImmediate(turning!)
    expect(crowd.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect(crowd.at(-1)).toEqual({ status: 'fulfilled', value: [{ code: 'raw_token' }] })
    expect(crowd[4]).toMatchObject({ status: 'rejected', reason: { code: 'overloaded' } })
    for (const [i, at] of turnsAt.slice(1).entries()) expect(at).toBeGreaterThan(turnsAt[i]!)
    const many = Array.from({ length: 30 }, (_, i) => judge(BigInt(i)))
    const ends = await Promise.allSettled(many)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    // The place is free again, so the next one is served.
    expect(await judge(1n)).toEqual([{ code: 'raw_token' }])
  })

  it('is paid once for a kept request, however often it is viewed', async () => {
    const judging = openJudging()
    const { keys, ...rest } = await receiver()
    let looks = 0
    const by = {
      ...rest,
      get keys() {
        looks += 1
        return keys
      },
    }
    const asked = { fields: Object.entries(byToken()), door: 'hmac' as const }
    await judging.shortVerdictOn(1n, 'one', asked, by)
    const once = looks
    expect(once).toBeGreaterThan(0)
    const again = Array.from({ length: 40 }, () => judging.shortVerdictOn(1n, 'one', asked, by))
    for (const verdict of await Promise.all(again))
      expect(verdict).toEqual({ isRight: false, mistakes: [{ code: 'raw_token' }], notes: [] })
    expect(looks).toBe(once)
    await judging.shortVerdictOn(1n, 'another', asked, by)
    expect(looks).toBe(2 * once)
  })
})

describe('a paste', () => {
  it('is read in whatever form people have it', () => {
    const url = 'https://site.example/payment/api/submit.php?pid=1001&name=a%20b%26c&money=9.90&sign=ab'
    const fields = [
      ['pid', '1001'],
      ['name', 'a b&c'],
      ['money', '9.90'],
      ['sign', 'ab'],
    ]
    const forms = [
      url,
      url.slice(20),
      'pid=1001&name=a+b%26c&money=9.90&sign=ab',
      `POST /payment/api/mapi.php HTTP/1.1\r\nHost: site.example\r\n\r\npid=1001&name=a+b%26c&money=9.90&sign=ab`,
      `curl -X POST https://site.example/payment/api/mapi.php -d 'pid=1001&name=a+b%26c' -d money=9.90 -F "sign=ab"`,
      `curl https://site.example/x --data '{"pid": 1001, "name": "a b&c", "money": "9.90", "sign": "ab"}'`,
      'pid=1001&name=a%20b%26c\nmoney: 9.90\nsign: ab',
      '{"pid": 1001, "name": "a b&c", "money": 9.90, "sign": "ab"}',
      `array('pid' => 1001, "name" => 'a b&c', 'money' => '9.90', 'sign' => 'ab')`,
      `['pid' => 1001,\n 'name' => 'a b&c',\n 'money' => '9.90',\n 'sign' => 'ab']`,
      'Array\n(\n    [pid] => 1001\n    [name] => a b&c\n    [money] => 9.90\n    [sign] => ab\n)',
      `{'pid': '1001', 'name': 'a b&c', 'money': '9.90', 'sign': 'ab'}`,
      'pid=1001\nname=a b&c\nmoney=9.90\nsign=ab\n',
      'pid: 1001\nname: a b&c\nmoney: 9.90\nsign: ab',
      'pid=1001&name=a%20b%26c\n&money=9.90\n&sign=ab',
    ]
    for (const form of forms) expect([form, readPasted(form)?.fields]).toEqual([form, fields])
    expect(readPasted(`https://x/payment/pay/${shop.payment_id}/process?a=1`)?.payment_id).toBe(
      shop.payment_id,
    )
    expect(readPasted('{"a": [1], "b": {"c": 2}, "d": 10.0}')).toMatchObject({
      nested: ['a', 'b'],
      fields: [['d', '10.0']],
    })
    for (const nothing of ['', ' ', 'hello', '{}', '?', `${'a=1&'.repeat(101)}`])
      expect(readPasted(nothing)).toBeUndefined()
  })

  it('is read in time that grows with its length only', () => {
    // A search of quadratic cost would never end at this length.
    const many = 1_000_000
    expect(readPasted(`a=b${'\n'.repeat(many)}c=d`)?.fields).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    const long = `${' '.repeat(many)}e`
    expect(readPasted(`a=b ; \nc=${long}`)?.fields).toEqual([
      ['a', 'b '],
      ['c', long.slice(1)],
    ])
  })

  it('names other faults: no UTF-8, repeated names, another application', async () => {
    const say = (text: string, code: MistakeCode, what: string) => {
      seen.add(code)
      expect(text).toContain(en.signatures.mistakes[code](what))
    }
    const gbk = `pid=9999&name=${GBK_NAME.toString('hex').replace(/../g, '%$&')}&pid=9999`
    const page = textOf((await paste(`${gbk}&sign=${'0'.repeat(32)}`)).body)
    say(page, 'not_utf8', '')
    say(page, 'doubled', 'pid')
    say(page, 'other_application', '9999')
    say(textOf((await paste('{"a": [1], "signature": "x"}')).body), 'nested', 'a')
    const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
    await switchVersions(test.deps, shop.payment_id, { v1: false, v2: true }, actor)
    say(textOf((await paste(queryOf(request('v1', {}, M)))).body), 'version_off', 'v1')
    await switchVersions(test.deps, shop.payment_id, { v1: true, v2: true }, actor)
  })

  it.each([
    ['out_trade_no_form', { out_trade_no: 'order 5' }, 'order 5'],
    ['out_trade_no_form', { out_trade_no: '0' }, '0'],
    ['name_form', { name: '0' }, '0'],
    ['url_form', { notify_url: 'shop.example/n' }, 'notify_url'],
    ['url_form', { return_url: 'https://user@shop.example/r' }, 'return_url'],
    ['url_never_called', { notify_url: 'https://shop.example:25/n' }, 'shop.example:25'],
    ['amount_too_small', { money: '0.001' }, '0.001'],
    ['field_form', { type: 'a b' }, 'type'],
    ['field_form', { param: 'x'.repeat(501) }, 'param'],
  ] as const)(
    'names a field that is refused although the signature is right: %s %o',
    async (code, over, what) => {
      seen.add(code)
      for (const door of ['v1', 'v2'] as const) {
        const page = textOf((await paste(queryOf(request(door, over, RIGHT[door])))).body)
        expect(page).toContain(en.signatures.mistakes[code](what))
      }
    },
  )

  it('names what the door refuses although the signature is right', async () => {
    const notesOn = async (door: Door, fields: Fields) => (await judged(fields, door)).notes
    for (const order_id of ['a b', 'x'.repeat(129)])
      expect(await notesOn('hmac', request('hmac', { order_id }, H))).toEqual([
        { code: 'field_form', what: 'order_id' },
      ])
    const asked: [path: string, fields: Fields, notes: Mistake[]][] = [
      ['pay/ID/process', { order_id: 'a', amount: '5' }, [{ code: 'field_missing', what: 'description' }]],
      [
        'transfer/ID',
        { to_user_id: '7', amount: '5' },
        [{ code: 'field_missing', what: 'to_username, order_id' }],
      ],
      [
        'transfer/ID',
        { to_user_id: 'x', to_username: 'a', points: '5', order_id: 'a' },
        [{ code: 'field_form', what: 'to_user_id' }],
      ],
      ['orders/ID', { limit: '900' }, [{ code: 'field_form', what: 'limit' }]],
    ]
    for (const [to, given, notes] of asked) {
      const fields = { ...given, signature: H(joined(given)) }
      const url = `/payment/${to.replace('ID', shop.payment_id)}`
      const { error } = (await send(test, 'POST', url, fields)).json()
      for (const { what } of notes) expect(error).toContain(what)
      expect(await notesOn('hmac', fields)).toEqual(notes)
    }
    const { name, sign, ...rest } = request('v1', {}, M)
    expect(await notesOn('v1', { ...rest, sign: M(joined(rest)) })).toEqual([
      { code: 'field_missing', what: 'name' },
    ])
  })

  it('of another application is wrong, though this KEY has signed it', async () => {
    const asked = request('v1', { pid: '9999' }, M)
    expect(await judged(asked, 'v1')).toMatchObject({
      isRight: false,
      mistakes: [{ code: 'other_application', what: '9999' }],
    })
    expect(textOf((await paste(queryOf(asked))).body)).toContain(en.signatures.wrong)
  })

  it('with a blank field in an inquiry is right, as the gateway reads it', async () => {
    const opened = (await send(test, 'POST', '/payment/api/mapi.php', request('v1', {}, M))).json()
    const asked = { act: 'order', pid: shop.pidText, trade_no: opened.trade_no, out_trade_no: '', money: '' }
    const fields = { ...asked, sign: M(joined(asked)), sign_type: 'MD5' }
    expect((await send(test, 'GET', '/payment/api/api.php', fields)).json()).toMatchObject({ code: 1 })
    const page = textOf((await paste(queryOf(fields))).body)
    expect([page.includes(en.signatures.right), page.includes(en.signatures.also)]).toEqual([true, false])
  })

  it('with &amp; is read as it was meant, and a request that was sent so is explained', async () => {
    seen.add('amp_pasted')
    const { amp_pasted } = en.signatures.mistakes
    const sent = request('v1', {}, M)
    const escaped = queryOf(sent).replaceAll('&', '&amp;')
    for (const text of [escaped, `https://site.example/payment/api/submit.php?${escaped}`]) {
      const read = readPasted(text)!
      expect([Object.fromEntries(read.fields), read.isUnescaped]).toEqual([sent, true])
    }
    expect(textOf((await paste(escaped)).body)).toContain(amp_pasted(''))
    await test.app.inject(`/payment/api/mapi.php?${escaped}`)
    const names = Object.keys(sent)
      .slice(1)
      .map((name) => `amp;${name}`)
    const { body } = await owner.get(`${path()}?refused=${await latest()}`)
    expect(textOf(body)).toContain(amp_pasted(names.join(', ')))
    const toHmac = {
      method: 'POST',
      url: ADDRESS.hmac(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: queryOf(request('hmac', {}, H)).replaceAll('&', '&amp;'),
    } as const
    const { data } = (await test.app.inject(toHmac)).json()
    expect(data.hint).toMatch(/^The parameters are joined with &amp;/)
  })

  it('that cannot be read is called so, and may hold anything', async () => {
    for (const text of ['hello', '<script>alert(1)</script>', '\u202e', 'x'.repeat(7_000)]) {
      const page = await paste(text)
      expect(page.status).toBe(400)
      expect(page.body).toContain('aria-invalid="true"')
      expect(page.body).not.toContain('<script>alert')
    }
    const halfLetter = await paste('{"description": "\\ud83d", "signature": "00"}')
    expect(halfLetter.status).toBe(200)
    const evil = await paste('a=<script>alert(1)</script>&__proto__=1&constructor=2&signature=zz')
    expect(evil.status).toBe(200)
    expect(evil.body).not.toContain('<script>alert')
  })
})

describe('what is told', () => {
  it('shows the whole expected signature after a fresh sign-in, never keys', async () => {
    const fields = request('hmac', {}, (text) => hmac(shop.token, text))
    const expected = H(joined(fields))
    const client = await signIn(test, shop.owner.username, shop.owner.password)
    const fresh = await paste(queryOf(fields), client)
    expect(fresh.body).toContain(expected)
    expect(fresh.body).toContain(keyFingerprint(shop.secret_key))
    // The received one is marked from its first wrong character.
    const received = String(fields.signature)
    const same = [...received].findIndex((sign, i) => sign !== expected[i])
    expect(fresh.body).toContain(`>${received.slice(0, same)}<mark>${received.slice(same)}</mark></pre>`)
    test.clock.advance(11 * 60_000)
    const later = await paste(queryOf(fields), client)
    expect(later.body).toContain(`${expected.slice(0, 8)}…`)
    expect(later.body).not.toContain(expected.slice(0, 9))
    expect(later.body).toContain(en.security.signInAgain.submit)
    // Only the merchant's own key can make a V2 signature.
    expect((await paste(queryOf(request('v2', {}, (text) => R(`${text}&`))), client)).body).toContain(
      en.signatures.digestExpected,
    )
    // The page does not show keys that a caller sent as values.
    const { token, secret_key, merchant_key } = shop
    const stranger = 'another-shops-secret'
    const theirs = { amount: '0', description: `d ${stranger}`, api_secret: stranger }
    await send(test, 'POST', ADDRESS.hmac(), request('hmac', theirs, H))
    const told = (await client.get(`${path()}?refused=${await latest()}`)).body
    expect(told).toContain(en.signatures.rightButRefused)
    expect(told).not.toContain(stranger)
    for (const secret of [token, secret_key, merchant_key]) {
      await shop.process({ ...fields, description: `my key is ${secret}` })
      const page = await client.get(`${path()}?refused=${await latest()}`)
      expect(page.body).toContain('my key is •••')
      expect(page.body).not.toContain(secret)
    }
  })

  it('holds whole signatures for key readers only, of their own application', async () => {
    const roles = [
      ['manager', 200, true],
      ['operator', 200, false],
      ['viewer', 403, false],
    ] as const
    // A reader could still send the right signature of a refused request.
    const fields = request('hmac', { amount: '0' }, H)
    await send(test, 'POST', ADDRESS.hmac(), fields)
    const kept = await latest()
    for (const [role, status, isWhole] of roles) {
      const client = await (await joinTeam(test, shop, role)).signIn()
      const page = await client.get(`${path()}?refused=${kept}`)
      expect([role, page.status]).toEqual([role, status])
      expect([role, page.body.includes(fields.signature!)]).toEqual([role, isWhole])
    }
    const other = await makeShop(test)
    const theirs = await other.owner.signIn()
    expect((await theirs.get(`${path(other)}?refused=${kept}`)).status).toBe(404)
    expect((await owner.get(`${path()}?refused=${kept}`)).status).toBe(200)
    expect((await theirs.get(path(other))).body).toContain(en.signatures.refusedNothing)
  })
})

describe('refused requests', () => {
  const forged = (seller: Shop, from: string, app = test.app) =>
    app.inject({
      method: 'POST',
      url: `/payment/query/${seller.payment_id}`,
      remoteAddress: from,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `transaction_id=txn_${++count}&signature=${'0'.repeat(64)}`,
    })

  it('keeps the last fifty, and forgers displace no others', async () => {
    const seller = await makeShop(test)
    const second = await anotherProcess(test)
    for (let i = 0; i < 30; i += 1) await forged(seller, '192.0.2.1')
    test.clock.advance(60_000)
    const apps = [test.app, second.app]
    await Promise.all(Array.from({ length: 60 }, (_, i) => forged(seller, '198.51.100.1', apps[i % 2])))
    const { rows } = await sql<{ network: string; n: bigint }>`
      select network, count(*) as n from refused_requests where app_id = ${seller.id} group by network order by 1
    `.execute(test.db)
    expect(rows).toEqual([
      { network: '192.0.2.1', n: 25n },
      { network: '198.51.100.1', n: 25n },
    ])
    await second.close()
    test.clock.advance(60_000)
    for (let i = 0; i < 55; i += 1) await forged(seller, '192.0.2.1')
    expect(await countKept(seller)).toBe(50)
    test.clock.advance(31 * 86_400_000)
    await deleteExpiredRows(test.deps)
    expect(await countKept(seller)).toBe(0)
  })

  itCounts('are kept at a bounded rate, unless accepted or too many', async () => {
    const seller = await makeShop(test)
    const set = (name: SettingName, value: string) => setSetting(test, name, value)
    await set('limit_refused_requests', '3')
    for (let i = 0; i < 6; i += 1) await forged(seller, '192.0.2.1')
    expect(await countKept(seller)).toBe(3)
    test.clock.advance(60_000)
    expect((await seller.process({ amount: '1', description: 'x', order_id: 'o' })).status).toBe(200)
    expect(await countKept(seller)).toBe(3)
    await set('limit_api_requests', '1')
    test.clock.advance(60_000)
    for (const status of [401, 429, 429]) expect((await forged(seller, '192.0.2.1')).statusCode).toBe(status)
    expect(await countKept(seller)).toBe(4)
    await set('limit_api_requests', '6000')
    await set('limit_refused_requests', '60')
  })

  it('are kept also with unread parameters: doubled, nested, or none', async () => {
    const malformed: [payload: string, type: string, words: string][] = [
      [
        'amount=1&amount=2&signature=0',
        'application/x-www-form-urlencoded',
        en.signatures.mistakes.doubled('amount'),
      ],
      ['{"amount":{"a":1},"signature":"0"}', 'application/json', 'must be text or an integer'],
      ['"text"', 'application/json', 'must be form parameters'],
    ]
    for (const [payload, type] of malformed) {
      const headers = { 'content-type': type }
      const answer = await test.app.inject({ method: 'POST', url: ADDRESS.hmac(), headers, payload })
      expect(answer.statusCode).toBe(400)
    }
    const client = await signIn(test, shop.owner.username, shop.owner.password)
    const rows = listed((await client.get(path())).body)
    for (const [i, [, , words]] of malformed.toReversed().entries()) expect(rows[i]).toContain(words)
  })

  it('are cut between characters', async () => {
    const client = await signIn(test, shop.owner.username, shop.owner.password)
    for (const before of ['', 'x']) {
      const over = { order_id: `${before}${'o'.repeat(500)}`, description: '😀'.repeat(2_000) }
      await send(
        test,
        'POST',
        ADDRESS.hmac(),
        request('hmac', over, () => 'ab'),
      )
      const { body } = await client.get(`${path()}?refused=${await latest()}`)
      expect(body).toContain('😀…')
    }
  })

  it('are refused all the same when they cannot be kept', async () => {
    await sql`alter table refused_requests rename to refused_gone`.execute(test.db)
    expect((await forged(shop, '192.0.2.9')).statusCode).toBe(401)
    await sql`alter table refused_gone rename to refused_requests`.execute(test.db)
  })
})

it('leaves no mistake of the catalogue unmade', () => {
  expect(Object.keys(en.signatures.mistakes).filter((code) => !seen.has(code as MistakeCode))).toEqual([])
})
