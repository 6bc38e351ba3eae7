/** Payouts by a program: created once, read, cancelled and resumed, with every fault named. spec/payouts 4.1–4.3. */
import { afterAll, describe, expect, it } from 'vitest'
import { createAccessKey } from '../../../src/payment/access-keys/keys.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import {
  DryRunAnswer,
  PayoutAnswer,
  PayoutLinesPage,
  PayoutPage,
} from '../../../src/payment/rest/payout-shapes.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, givePoints, makePerson } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { rowsOf } from '../../harness/rows.ts'

const test = await useTestApp()
const { deps, db } = test
afterAll(() => expectSoundBooks(db))
const merchant = await makeMerchant(test)
await givePoints(test, merchant.owner, 100n)
const [alice, bob] = [await makePerson(test), await makePerson(test)]
const actor = { user_id: merchant.owner.id, ip: '203.0.113.7' }
const asked = { name: 'Raffle', days: 90, allowed_addresses: [] }

async function tokenFor(scopes: ('payouts' | 'orders:read')[]): Promise<string> {
  const key = await createAccessKey(deps, merchant.payment_id, { ...asked, scopes }, actor)
  if (typeof key === 'string') throw new Error(key)
  const answer = await test.app.inject({
    method: 'POST',
    url: '/payment/token',
    payload: { grant_type: 'client_credentials', ...key },
  })
  return answer.json().access_token
}
const token = await tokenFor(['payouts'])

async function call(method: 'GET' | 'POST', path: string, payload?: object, bearer = token) {
  const answer = await test.app.inject({
    ...{ method, url: `/api/payment${path}` },
    headers: { authorization: `Bearer ${bearer}` },
    ...(payload && { payload }),
  })
  return { status: answer.statusCode, body: answer.json() }
}
const line = (
  line_id: string,
  { id, username }: { id: bigint; username: string },
  amount: number | string,
) => ({
  ...{ line_id, to_user_id: Number(id), to_username: username, amount },
})

describe('a payout by a program', () => {
  const body = {
    reference: 'raffle/7',
    lines: [
      line('1', alice, 50),
      line('2', { id: alice.id, username: bob.username }, '20'),
      line('3', bob, 30),
    ],
  }
  const path = `/payouts/${encodeURIComponent(body.reference)}`

  it('is judged without storing, created once, paid and read', async () => {
    await changePerson(test, bob, { is_banned: true })
    const dry = await call('POST', '/payouts', { ...body, dry_run: true })
    expect(DryRunAnswer.parse(dry.body)).toMatchObject({
      ...{ count: 3, pending: 2, refused: 1, need: 83, have: 100, left_today: null },
      lines: [{ code: null, warning: null }, { code: 1014, status: 'refused' }, { warning: 'suspended' }],
    })
    expect(await rowsOf(test, 'payouts')).toEqual([])

    const made = await Promise.all([call('POST', '/payouts', body), call('POST', '/payouts', body)])
    for (const { status, body: answer } of made)
      expect([status, PayoutAnswer.parse(answer)]).toMatchObject([
        200,
        { status: 'waiting', count: 3, pending: 3, amount: 100, fee: 4, total: 104, paid_total: 0 },
      ])
    await runPayouts(deps)
    expect((await call('GET', path)).body).toMatchObject({
      status: 'finished',
      paid: 2,
      refused: 1,
      paid_total: 83,
    })
    expect((await call('POST', '/payouts', body)).body).toMatchObject({ status: 'finished' })
    const other = await call('POST', '/payouts', { ...body, mode: 'all' })
    expect([other.status, other.body.errors[0].code]).toEqual([400, 1005])

    const first = PayoutLinesPage.parse((await call('GET', `${path}/lines?limit=2`)).body)
    const second = PayoutLinesPage.parse(
      (await call('GET', `${path}/lines?limit=2&cursor=${first.next_cursor}`)).body,
    )
    expect(
      [...first.data, ...second.data].map(({ line_id, status, code, fee }) => [line_id, status, code, fee]),
    ).toEqual([
      ['1', 'paid', null, 2],
      ['2', 'refused', 1014, 1],
      ['3', 'paid', null, 1],
    ])
    expect(second.next_cursor).toBeNull()
    const refused = (await call('GET', `${path}/lines?status=refused`)).body
    expect(refused.data).toMatchObject([{ line_id: '2', message: 'Receiver id and username do not match' }])
  })

  it('names each of its faults, up to 512 KiB', async () => {
    const faulty = await call('POST', '/payouts', {
      reference: 'f',
      lines: [{ line_id: 'a', to_user_id: 1, amount: 0 }],
    })
    expect([faulty.status, faulty.body.errors]).toEqual([
      400,
      [
        { code: 1004, detail: 'Missing parameter: lines[0].to_username' },
        { code: 1005, detail: expect.stringMatching(/^Invalid lines\[0\]\.amount: /) },
      ],
    ])
    expect(faulty.body.message).toBe('Missing parameter: lines[0].to_username')
    const memo = '好'.repeat(100)
    const long = Array.from({ length: 1_000 }, (_, i) => ({ ...line(`l${i}`, alice, 1), memo }))
    expect((await call('POST', '/payouts', { reference: 'long', dry_run: true, lines: long })).status).toBe(
      200,
    )
    const above = { reference: 'x'.repeat(520_000), lines: [] }
    expect((await call('POST', '/payouts', above)).status).toBe(400)
    expect((await call('POST', '/payouts', [])).body.errors[0].code).toBe(1005)
  })

  it('that halts goes on when it is resumed, and ends when it is cancelled', async () => {
    const short = { reference: 'short', lines: [line('1', alice, 10), line('2', alice, 5_000)] }
    await call('POST', '/payouts', short)
    await runPayouts(deps)
    expect((await call('GET', '/payouts/short')).body).toMatchObject({
      status: 'halted',
      reason: 'insufficient',
      paid: 1,
    })
    expect((await call('POST', '/payouts/short/resume')).body).toMatchObject({
      status: 'waiting',
      reason: null,
    })
    await runPayouts(deps)
    expect((await call('POST', '/payouts/short/cancel')).body).toMatchObject({
      status: 'cancelled',
      reason: 'merchant',
      cancelled: 1,
    })
    expect((await call('POST', '/payouts/short/resume')).body).toMatchObject({ status: 'cancelled' })
    const page = PayoutPage.parse((await call('GET', '/payouts?limit=1')).body)
    expect([page.data[0]!.reference, page.next_cursor]).toEqual(['short', 'short'])
    const rest = PayoutPage.parse((await call('GET', '/payouts?cursor=short')).body)
    expect(rest.data.map(({ reference }) => reference)).toEqual(['raffle/7'])
    expect((await call('GET', '/payouts?cursor=none')).body.errors[0].code).toBe(1005)
  })

  it('needs the scope payouts, which the owner alone gives, and is of its application', async () => {
    const reading = await tokenFor(['orders:read'])
    expect((await call('GET', '/payouts', undefined, reading)).body.errors[0].code).toBe(1027)
    const unknown = await call('GET', '/payouts/none')
    expect([unknown.status, unknown.body.errors[0].code]).toEqual([400, 1028])
    const manager = await joinTeam(test, merchant, 'manager')
    const key = createAccessKey(
      deps,
      merchant.payment_id,
      { ...asked, scopes: ['payouts'] },
      { ...actor, user_id: manager.id },
    )
    await expect(key).rejects.toThrow(/Only the owner/)
  })

  it('is refused while payouts are off or the application is suspended', async () => {
    const more = { reference: 'more', lines: [line('1', alice, 1)] }
    await setSetting(test, 'payouts', 'off')
    expect((await call('POST', '/payouts', more)).body.errors[0].code).toBe(1015)
    expect((await call('POST', '/payouts', { ...body })).body).toMatchObject({ status: 'finished' })
    await setSetting(test, 'payouts', 'on')
    await changePerson(test, merchant.owner, { is_banned: true })
    expect((await call('POST', '/payouts', more)).body.errors[0].code).toBe(1009)
    expect((await call('GET', path)).body).toMatchObject({ status: 'finished' })
  })
})
