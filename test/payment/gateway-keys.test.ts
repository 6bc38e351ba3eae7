/** The keys of the gateway: which are in force, how they are replaced, and what may be pasted as one. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { currentKey } from '../../src/payment/keys.ts'
import { resetMerchantKey } from '../../src/payment/ownership.ts'
import { anotherProcess, startTestApp, type TestApp } from '../harness.ts'
import { type Merchant, makeMerchant } from '../merchant.ts'

let test: TestApp
let other: TestApp
let merchant: Merchant
beforeAll(async () => {
  test = await startTestApp()
  other = await anotherProcess(test)
  merchant = await makeMerchant(test)
})
afterAll(async () => {
  await merchant.close()
  await other.close()
  await test.close()
})

const publicHalf = (key: KeyObject) =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64')

/** The application as a process sees it, which must know it. */
async function found({ deps }: TestApp, pid = merchant.pid.toString()) {
  const app = await deps.gatewayKeys.findApp({ pid })
  if (app === undefined) throw new Error(`There is no application ${pid}`)
  return app
}

describe('the application of a request', () => {
  it('is found by pid, by Payment ID and by its row, with its keys', async () => {
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
    '0',
    '01001',
    '+1001',
    '1e3',
    ' 1001',
    '9'.repeat(19),
    '１００１',
    'pay_x',
    `pay_${'a'.repeat(20)}`,
  ])('is not found by %j', async (pid) =>
    expect(await test.deps.gatewayKeys.findApp({ pid })).toBeUndefined(),
  )

  it('has its KEY replaced for every process at once', async () => {
    const before = (await found(other)).merchant_key
    await resetMerchantKey(test.deps, merchant.payment_id, { owner_id: merchant.owner.id, ip: '127.0.0.1' })
    const after = await currentKey(test.deps, merchant.id, 'merchant_key')
    expect(after).not.toBe(before)
    expect((await found(test)).merchant_key).toBe(after)
    expect((await found(other)).merchant_key).toBe(after)
  })
})

describe('the platform pair', () => {
  it('is made with the application, the same for every process, and its own', async () => {
    const second = await makeMerchant(test)
    const ours = await test.deps.gatewayKeys.platformKey(await found(test))
    expect(ours.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048, publicExponent: 65_537n })
    expect(publicHalf(await other.deps.gatewayKeys.platformKey(await found(other)))).toBe(publicHalf(ours))
    const theirs = await test.deps.gatewayKeys.platformKey(await found(test, second.payment_id))
    expect(publicHalf(theirs)).not.toBe(publicHalf(ours))
    await second.close()
  })

  it('is encrypted where it is stored', async () => {
    const row = await test.db
      .selectFrom('payment_app_keys')
      .where('app_id', '=', merchant.id)
      .where('kind', '=', 'platform_private_key')
      .select('value_encrypted')
      .executeTakeFirstOrThrow()
    const der = Buffer.from(await currentKey(test.deps, merchant.id, 'platform_private_key'), 'base64')
    expect(row.value_encrypted.includes(der)).toBe(false)
    expect(row.value_encrypted.includes(der.toString('base64'))).toBe(false)
  })

  it('of an application older than such pairs is made once, however many ask', async () => {
    const old = await makeMerchant(test)
    await test.db
      .deleteFrom('payment_app_keys')
      .where('app_id', '=', old.id)
      .where('kind', '=', 'platform_private_key')
      .execute()
    const processes = [test, other, test, other, test, other]
    const keys = await Promise.all(
      processes.map(async (each) => each.deps.gatewayKeys.platformKey(await found(each, old.payment_id))),
    )
    expect(new Set(keys.map(publicHalf)).size).toBe(1)
    expect(publicHalf(await test.deps.gatewayKeys.platformKey(await found(test, old.payment_id)))).toBe(
      publicHalf(keys[0]!),
    )
    await old.close()
  })
})
