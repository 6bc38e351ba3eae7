/**
 * The content of messages to merchants: notify and return parameters against vectors, addresses, money.
 * spec/gateway 4.2.
 */
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tradeParameters, withParameters } from '../../src/payment/gateway/messages.ts'
import { shanghaiTime } from '../../src/payment/gateway/trade.ts'
import { isMoney, isSameMoney, moneyOf, pointsOf } from '../../src/payment/wire-fields/money.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/gateway')
const read = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const vectors: { id: string; params: Record<string, string>; sign: string }[] = JSON.parse(
  read('gateway.json'),
)
const vector = (id: string) => {
  const { params, sign } = vectors.find((each) => each.id === id)!
  return { ...params, sign }
}
const v1 = { protocol: 'v1', merchant_key: 'Wq7kT2vN8pXz4LrB6sYd1HcF9mJg3RtE' } as const
const v2 = { protocol: 'v2', platform_key: createPrivateKey(read('platform-private-key.pem')) } as const
const NOW = new Date(1_767_225_600_000)

/** The trade of the vectors. */
const trade = {
  pid_sent: '1001',
  trade_no: '2026010108000012345',
  order_id: 'ORDER-20260101-0001',
  transaction_id: 'txn_01J0000000000000000000000',
  type: 'alipay',
  description: 'VIP membership',
  money: '9.90',
  param: 'uid=42',
  created_at: new Date('2026-01-01T00:00:00Z'),
  paid_at: new Date('2026-01-01T00:01:30Z'),
  buyer: 'alice',
}

describe('the parameters of notify and return', () => {
  it('are those of the vectors, V1 with and without extras, and V2', async () => {
    expect(await tradeParameters(trade, v1, NOW)).toEqual(vector('T8'))
    const bare = { ...trade, type: null, param: null, description: '会员', money: '10' }
    expect(await tradeParameters(bare, v1, NOW)).toEqual(vector('T9'))
    expect(await tradeParameters(trade, v2, NOW)).toEqual(vector('T17'))
  })

  it('never hold an empty value or 0, which verifiers dispute', async () => {
    for (const signer of [v1, v2]) {
      const values = Object.values(await tradeParameters({ ...trade, type: '0', param: '' }, signer, NOW))
      expect(values).not.toContain('0')
      expect(values).not.toContain('')
    }
  })

  it('leave out a buyer whose name reads like further fields', async () => {
    const buyer = 'x&endtime=1&money=999&out_trade_no=VICTIM&param='
    expect(await tradeParameters({ ...trade, buyer }, v2, NOW)).not.toHaveProperty('buyer')
    expect(await tradeParameters({ ...trade, buyer: 'A&B' }, v2, NOW)).toMatchObject({ buyer: 'A&B' })
  })
})

describe('the address they are appended to', () => {
  const added = { pid: '1001', name: 'a b+c&d=e/会' }
  const query = 'pid=1001&name=a%20b%2Bc%26d%3De%2F%E4%BC%9A'

  it.each([
    ['https://shop.example/notify', `https://shop.example/notify?${query}`],
    ['https://shop.example', `https://shop.example?${query}`],
    ['https://shop.example/n?', `https://shop.example/n?${query}`],
    ['https://shop.example/n?a=1&b=%E4+z', `https://shop.example/n?a=1&b=%E4+z&${query}`],
    ['https://shop.example/n?a=1&', `https://shop.example/n?a=1&${query}`],
    // Parameters of the same name are replaced in any spelling, and only in the query.
    ['https://shop.example/n?pid=7&a=1&name=x&pid', `https://shop.example/n?a=1&${query}`],
    ['https://shop.example/n?%70id=7&pid2=1&xpid=pid', `https://shop.example/n?pid2=1&xpid=pid&${query}`],
    ['https://shop.example/n?constructor=1&?pid=2', `https://shop.example/n?constructor=1&?pid=2&${query}`],
    // The query comes before the fragment.
    ['https://shop.example/#/order/1', `https://shop.example/?${query}#/order/1`],
    ['https://shop.example/?s=1#/order?pid=5', `https://shop.example/?s=1&${query}#/order?pid=5`],
    // Characters that a header cannot carry.
    [
      'https://商店.example/返回?x=会#员',
      `https://%E5%95%86%E5%BA%97.example/%E8%BF%94%E5%9B%9E?x=%E4%BC%9A&${query}#%E5%91%98`,
    ],
  ])('%s', (address, expected) => {
    const url = withParameters(address, added)
    expect(url).toBe(expected)
    expect(url).toMatch(/^[!-~]+$/)
    const read = new URL(url).searchParams
    expect(read.getAll('pid')).toEqual(['1001'])
    expect(read.getAll('name')).toEqual([added.name])
  })
})

describe('money', () => {
  it.each([
    ['9.9', '100', 990n],
    ['0.01', '100', 1n],
    ['0.01', '50', 1n],
    ['0.01', '49.999999', 0n],
    ['1', '0.5', 1n],
    ['1', '0.499999', 0n],
    ['2.50', '1', 3n],
    ['1.15', '100', 115n],
    ['007', '1', 7n],
    ['9.900', '100', 990n],
    ['0.10000000', '100', 10n],
    ['29.700000000000003', '100', 2_970n],
    ['0.10500', '100', 11n],
    ['0.10499999999999999999', '100', 10n],
    ['.5', '100', 50n],
    ['1.', '100', 100n],
    ['.00499999999999999999', '100', 0n],
    ['99999999.99999999999999999999', '999999.999999', 99_999_999_999_900n],
  ])('%s at a rate of %s is %s points', (money, rate, points) => {
    expect(pointsOf(money, rate)).toBe(points)
  })

  it.each([
    [0n, '100', '0.00'],
    [1n, '100.000000', '0.01'],
    [990n, '100', '9.90'],
    [999n, '1000', '0.99'],
    [1n, '3', '0.33'],
    [1n, '1000', '0.00'],
    [9_007_199_254_740_991n, '0.000001', '9007199254740991000000.00'],
  ])('%s points at a rate of %s are %s', (points, rate, money) => {
    expect(moneyOf(points, rate)).toBe(money)
  })

  it('rounds to the nearest point, and back down, for all amounts', () => {
    const rates = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => (n / 1e6).toFixed(6))
    const amounts = fc.integer({ min: 0, max: 10 ** 10 - 1 }).map((cents) => {
      const text = String(cents).padStart(3, '0')
      return `${text.slice(0, -2)}.${text.slice(-2)}`
    })
    const millionths = (text: string) => BigInt(text.replace('.', ''))
    fc.assert(
      fc.property(amounts, rates, (money, rate) => {
        expect(isMoney(money)).toBe(true)
        const exact = millionths(money) * millionths(rate) // of 10^-8 points
        const points = pointsOf(money, rate)
        expect(2n * (points * 10n ** 8n - exact)).toBeLessThanOrEqual(10n ** 8n)
        expect(2n * (points * 10n ** 8n - exact)).toBeGreaterThan(-(10n ** 8n))
        const back = millionths(moneyOf(points, rate)) * millionths(rate)
        expect(back).toBeLessThanOrEqual(points * 10n ** 8n)
        expect(back + millionths(rate)).toBeGreaterThan(points * 10n ** 8n)
      }),
    )
  })

  it('is ASCII digits with at most 20 decimals, compared as numbers', () => {
    const right = `0 9.9 00012345 12345678.90 9.900 .5 5. 12345678.${'1'.repeat(20)}`.split(' ')
    for (const text of right) expect(isMoney(text)).toBe(true)
    const wrong = `. 1..5 1.${'0'.repeat(21)} .${'1'.repeat(21)} -1 +1 1e3 123456789 １２ 1,5 0x1 NaN`.split(
      ' ',
    )
    for (const text of [...wrong, '', ' 1', '1\n']) expect(isMoney(text)).toBe(false)
    expect(isSameMoney('9.9', '9.90')).toBe(true)
    expect(isSameMoney('010', '10.00')).toBe(true)
    expect(isSameMoney('9.900', '9.9')).toBe(true)
    expect(isSameMoney('.5', '0.50')).toBe(true)
    expect(isSameMoney('1.', '1')).toBe(true)
    expect(isSameMoney('9.9', '9.09')).toBe(false)
    expect(isSameMoney('9.9', '9.90000000000000000001')).toBe(false)
  })
})

describe('values', () => {
  it('that are times stand in Asia/Shanghai', () => {
    expect(shanghaiTime(new Date('2025-12-31T16:00:00.999Z'))).toBe('2026-01-01 00:00:00')
    expect(shanghaiTime(new Date('2026-06-30T15:59:59Z'))).toBe('2026-06-30 23:59:59')
  })
})
