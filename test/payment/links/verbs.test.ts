/** What a link sells, to whom, and what its buyer gets: spec/links 1.1–1.4, 2.1–2.4, 3.1–3.4. */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../../src/database/connection.ts'
import {
  changeLink,
  createLink,
  deleteDraft,
  editLink,
  LINKS_MAX,
  type LinkDetails,
  stopLink,
} from '../../../src/payment/links/acts.ts'
import { addCodes, BYTES_MAX, LINES_MAX, readCodes, takeBackCodes } from '../../../src/payment/links/codes.ts'
import { deliveryOf } from '../../../src/payment/links/delivery.ts'
import { makePayOrder } from '../../../src/payment/orders/pay.ts'
import { anonymise } from '../../../src/privacy/anonymise.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, joinGroup, makePerson, setFrozen } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { buyAt, details, IP, makeLink, orderAt, ownerOf, type TestLink } from '../../harness/links.ts'
import { handOver, makeMerchant } from '../../harness/merchant.ts'
import { refund } from '../../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../../harness/rows.ts'

const test = await useTestApp()
const { deps, db } = test
await setSetting(test, 'limit_links_created', '0')
await setSetting(test, 'limit_link_orders', '0')
const merchant = await makeMerchant(test)
const { payment_id } = merchant
const owner = ownerOf(merchant)
const alice = await makePerson(test, { points: 100_000n })
const bob = await makePerson(test, { points: 100_000n })
const staff = await makePerson(test, { is_admin: true })
const pay = makePayOrder(deps)
afterAll(() => expectSoundBooks(db))

const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )
const payAs = (person: { id: bigint }, transaction_id: string, expected_amount = 10n) =>
  pay({ transaction_id, payer_id: person.id, expected_amount })
const edit = ({ slug }: TestLink, over: Partial<LinkDetails>) =>
  editLink(deps, payment_id, { slug, details: details(over) }, owner)
const change = ({ slug }: TestLink, to: Parameters<typeof changeLink>[2]['change']) =>
  changeLink(deps, payment_id, { slug, change: to }, owner)
const delivered = async (transaction_id: string) => {
  const { id } = await rowOf(test, 'orders', { transaction_id })
  return deliveryOf(db, deps.secrets, id)
}
const soldOf = async ({ slug }: TestLink) => {
  const { id } = await rowOf(test, 'links', { slug })
  const { rows } = await sql<{ sold: bigint }>`select units_sold(${id}) as sold`.execute(db)
  return Number(rows[0]!.sold)
}

describe('an order at a link', () => {
  it('has the price of the link, and a form that is sent twice orders once', async () => {
    const link = await makeLink(test, merchant, { quantity_max: 3 })
    const [first, again] = await Promise.all([
      orderAt(deps, link, alice, { units: 3, key: 'k' }),
      orderAt(deps, link, alice, { units: 3, key: 'k' }),
    ])
    expect(first).toBe(again)
    expect(await rowOf(test, 'orders', { transaction_id: first })).toMatchObject({
      ...{ door: 'link', amount: 30n, description: 'Cat stickers × 3', status: 'unpaid' },
      order_id: expect.stringMatching(/^lnk_[a-z0-9]{24}$/),
    })
    expect(await orderAt(deps, link, bob, { units: 3, key: 'k' })).not.toBe(first)
    expect(await payAs(alice, first, 30n)).toBe('paid')
    expect(await orderAt(deps, link, alice, { units: 3, key: 'k' })).toBe(first)
    expect(await soldOf(link)).toBe(3)
  })

  it.each<[refusal: string, over: Partial<LinkDetails>, order?: Parameters<typeof orderAt>[3]]>([
    ['not_yet', { sells_from: new Date(test.clock.now().getTime() + 60_000) }],
    ['over', { sells_until: test.clock.now() }],
    ['out_of_bounds', { quantity_max: 2 }, { units: 3 }],
    ['out_of_bounds', {}, { amount: 1n }],
    ['out_of_bounds', { amount: null, amount_min: 5n, amount_max: 9n }],
    ['out_of_bounds', { amount: null, amount_min: 5n, amount_max: 9n }, { amount: 4n }],
    ['out_of_bounds', { amount: null, amount_min: 5n, amount_max: 9n }, { amount: 10n }],
    ['not_allowed', { min_level: 3 }],
    ['not_allowed', { allow_groups: ['tea-club'] }],
    ['sold_out', { stock: 1, quantity_max: 2 }, { units: 2 }],
    ['sold_out', { delivery: 'codes' }],
    ['member_limit', { member_max: 1, quantity_max: 2 }, { units: 2 }],
  ])('is refused as %s: %o %o', async (refusal, over, order) => {
    const link = await makeLink(test, merchant, over)
    expect(await orderAt(deps, link, alice, order)).toBe(refusal)
  })

  it('is refused for an unknown link and a draft alike, and while the link is not on sale', async () => {
    const slug = await createLink(deps, payment_id, details(), owner)
    expect(await orderAt(deps, { slug, merchant }, alice)).toBe('not_found')
    expect(await orderAt(deps, { slug: 'aaaaaaaaaa', merchant }, alice)).toBe('not_found')
    const link = await makeLink(test, merchant)
    await setSetting(test, 'links', 'off')
    expect(await orderAt(deps, link, alice)).toBe('not_on_sale')
    await setSetting(test, 'links', 'on')
    await setSetting(test, 'payments_read_only', 'on')
    expect(await orderAt(deps, link, alice)).toBe('paused')
    await setSetting(test, 'payments_read_only', 'off')
    await setRows(test, 'payment_apps', { payment_id }, { status: 'suspended' })
    expect(await orderAt(deps, link, alice)).toBe('unusable')
    await setRows(test, 'payment_apps', { payment_id }, { status: 'approved' })
    await change(link, 'pause')
    expect(await orderAt(deps, link, alice)).toBe('not_on_sale')
  })

  it('waits at most three times unpaid for a member, and ends with the link', async () => {
    const sells_until = new Date(test.clock.now().getTime() + 60_000)
    const link = await makeLink(test, merchant, { sells_until })
    const placed = await Promise.all([1, 2, 3].map(() => orderAt(deps, link, alice)))
    expect(await orderAt(deps, link, alice)).toBe('too_many_open')
    expect(await rowOf(test, 'orders', { transaction_id: placed[0]! })).toMatchObject({
      expires_at: sells_until,
    })
    expect(await payAs(alice, placed[0]!)).toBe('paid')
    expect(await orderAt(deps, link, alice)).toMatch(/^txn_/)
  })
})

describe('a payment at a link', () => {
  it('is judged when it is paid, and charges nothing when refused', async () => {
    const link = await makeLink(test, merchant, { stock: 2, quantity_max: 2, member_max: 2 })
    await joinGroup(test, bob.id, 'Tea-Club')
    const [mine, his] = [await orderAt(deps, link, alice), await orderAt(deps, link, bob, { units: 2 })]
    expect(await payAs(bob, mine)).toBe('not_found')
    await change(link, 'pause')
    expect(await payAs(alice, mine)).toBe('not_on_sale')
    await change(link, 'resume')
    await setSetting(test, 'links', 'off')
    expect(await payAs(alice, mine)).toBe('not_on_sale')
    await setSetting(test, 'links', 'on')
    await edit(link, { stock: 2, quantity_max: 2, allow_groups: ['tea-club'] })
    expect(await payAs(alice, mine)).toBe('not_allowed')
    await edit(link, { stock: 2, quantity_max: 2, member_max: 1 })
    expect(await payAs(bob, his, 20n)).toBe('member_limit')
    // The frozen wallet comes first, and the missing points come after.
    await setFrozen(test, bob)
    expect(await payAs(bob, his, 20n)).toBe('wallet_frozen')
    await setFrozen(test, bob, false)
    await edit(link, { stock: 1, quantity_max: 2 })
    expect(await payAs(bob, his, 20n)).toBe('sold_out')
    const poor = await makePerson(test)
    const unpayable = await orderAt(deps, link, poor)
    expect(await payAs(poor, unpayable)).toBe('insufficient')
    expect(await payAs(alice, mine)).toBe('paid')
    expect(await payAs(poor, unpayable)).toBe('sold_out')
    expect(await payAs(alice, mine)).toBe('paid_before')
    expect(await soldOf(link)).toBe(1)
    expect(await rowsOf(test, 'link_orders', { sold_total: null, for_user_id: poor.id })).toHaveLength(1)
  })

  it('of several orders in one batch counts each before the next', async () => {
    const link = await makeLink(test, merchant, { stock: 2, codes: ['batch-1', 'batch-2', 'batch-3'] })
    const people = await Promise.all([1, 2, 3].map(() => makePerson(test, { points: 10n })))
    const orders = await Promise.all(people.map((person) => orderAt(deps, link, person)))
    const outcomes = await Promise.all(orders.map((order, i) => payAs(people[i]!, order)))
    expect(outcomes).toEqual(['paid', 'paid', 'sold_out'])
    expect(await Promise.all(orders.map(delivered))).toEqual([
      { kind: 'codes', values: ['batch-1'] },
      { kind: 'codes', values: ['batch-2'] },
      undefined,
    ])
  })

  it.each<[constraint: string | undefined, over: Parameters<typeof makeLink>[2]]>([
    ['link_orders_stock', { stock: 1 }],
    ['link_orders_member_max', { member_max: 1 }],
    // Without a code the payment runs again, as for a locked row.
    [undefined, { codes: ['only'] }],
  ])('cannot pass a limit even if nothing judges it: %s', async (constraint, over) => {
    const link = await makeLink(test, merchant, over)
    const transaction_id = await orderAt(deps, link, bob)
    await buyAt(deps, link, bob)
    const planted = db.transaction().execute(async (tx: Tx) => {
      await sql`
        create or replace function judge_units(p_link_id bigint, p_user_id bigint, p_units integer) returns text
          language sql as 'select null::text'`.execute(tx)
      const now = sql`${deps.clock()}::timestamptz`
      const asked = sql`row(${transaction_id}::text, ${bob.id}::bigint, 10::bigint, ${now})::asked_payment`
      await sql`select * from pay_orders(array[${asked}], 0)`.execute(tx)
    })
    await expect(planted).rejects.toMatchObject(constraint === undefined ? { code: '55P03' } : { constraint })
  })

  it('stores no sums without the delivery, and no other sale later', async () => {
    const link = await makeLink(test, merchant, { codes: ['c-1', 'c-2'] })
    const { transaction_id } = await buyAt(deps, link, alice)
    const open = await orderAt(deps, link, bob)
    const idOf = async (id: string) => (await rowOf(test, 'orders', { transaction_id: id })).id
    const [sold, unsold] = [await idOf(transaction_id), await idOf(open)]
    const refused = (statement: ReturnType<typeof sql>) =>
      statement.execute(db).then(
        () => 'stored',
        ({ constraint }) => constraint,
      )
    const expected = [
      [
        'link_orders_delivered',
        sql`update link_orders set sold_total = 2, member_total = 1, taken_total = 1, sold_at = now() where order_id = ${unsold}`,
      ],
      ['link_orders_unchanged', sql`update link_orders set sold_total = 9 where order_id = ${sold}`],
      ['link_orders_unchanged', sql`update link_orders set units = 2 where order_id = ${unsold}`],
      ['link_codes_stay', sql`update link_codes set order_id = null, unit = null, taken_at = null`],
      ['link_codes_stay', sql`delete from link_codes where order_id = ${sold}`],
      [
        'link_codes_unsold_withdrawn',
        sql`update link_codes set withdrawn_at = now() where order_id = ${sold}`,
      ],
      ['links_unchanged', sql`update links set delivery = 'none' where slug = ${link.slug}`],
      ['links_unchanged', sql`update links set slug = 'bbbbbbbbbb' where slug = ${link.slug}`],
    ] as const
    for (const [constraint, statement] of expected) expect(await refused(statement)).toBe(constraint)
  })

  it('delivers the version of its moment, for ever', async () => {
    const link = await makeLink(test, merchant, { delivery: 'text', delivered: 'Version 1' })
    const first = await buyAt(deps, link, alice)
    await edit(link, { delivery: 'text', delivered: 'Version 2' })
    const second = await buyAt(deps, link, alice)
    expect(await delivered(first.transaction_id)).toEqual({ kind: 'text', values: ['Version 1'] })
    expect(await delivered(second.transaction_id)).toEqual({ kind: 'text', values: ['Version 2'] })
    expect(await codeOf(edit(link, { delivery: 'none' }))).toBe('conflict')
    expect(await codeOf(edit(link, { delivery: 'text', delivered: 'Version 2' }))).toBe('done')
    const { id } = await rowOf(test, 'links', { slug: link.slug })
    const versions = await rowsOf(test, 'link_deliveries', { link_id: id })
    expect(versions).toHaveLength(2)
    expect(versions.some(({ value_encrypted }) => value_encrypted.includes('Version'))).toBe(false)
  })

  it('that is refunded gives back neither code nor stock', async () => {
    const link = await makeLink(test, merchant, { stock: 2, codes: ['r-1', 'r-2', 'r-3'] })
    const bought = await buyAt(deps, link, alice)
    await refund(test, bought, 10n)
    expect(await delivered(bought.transaction_id)).toEqual({ kind: 'codes', values: ['r-1'] })
    const next = await buyAt(deps, link, alice)
    expect(await delivered(next.transaction_id)).toEqual({ kind: 'codes', values: ['r-2'] })
    expect((await buyAt(deps, link, bob)).outcome).toBe('sold_out')
  })
})

describe('codes', () => {
  const add = ({ slug }: TestLink, file: string | Buffer) => addCodes(deps, payment_id, { slug, file }, owner)
  const takeBack = ({ slug }: TestLink, count?: number) =>
    takeBackCodes(deps, payment_id, { slug, count }, owner)

  it('are read one a line, without byte order mark and white space', () => {
    const file = Buffer.from('\ufeff  a \r\n\r\nb\n \n\u00e9\u4e2d c\r\n')
    expect(readCodes(file)).toEqual({
      codes: [
        { line: 1, code: 'a' },
        { line: 3, code: 'b' },
        { line: 5, code: '\u00e9\u4e2d c' },
      ],
      empty: 2,
    })
    expect(readCodes('x'.repeat(500))).toMatchObject({ empty: 0 })
    expect(readCodes(Array(LINES_MAX).fill('a').join('\n'))).toMatchObject({ empty: 0 })
  })

  it.each([
    ['line_too_long', `a\n${'x'.repeat(501)}`, 2],
    ['line_controls', 'a\nb\u0007c', 2],
    ['line_controls', 'a\tb', 1],
    [
      'too_many_lines',
      Array(LINES_MAX + 1)
        .fill('a')
        .join('\n'),
    ],
    ['too_large', 'a'.repeat(BYTES_MAX + 1)],
    ['not_text', Buffer.from([0xff, 0xfe, 0x61])],
    ['no_codes', ' \n\n'],
  ])('are refused as a whole: %s', async (fault, file, line?: number) => {
    expect(readCodes(file as string)).toEqual(line === undefined ? { fault } : { fault, line })
  })

  it('are added once, and put back after they were taken back', async () => {
    const link = await makeLink(test, merchant, { codes: ['one', 'two', 'three'] })
    expect(await add(link, 'two\nfour\n\nfour\nthree')).toEqual({
      ...{ added: 1, known: 3, known_lines: [1, 4, 5], empty: 1 },
    })
    const { transaction_id } = await buyAt(deps, link, alice)
    expect(await takeBack(link, 1)).toEqual(['two'])
    expect(await takeBack(link)).toEqual(['three', 'four'])
    expect(await takeBack(link)).toEqual([])
    expect((await buyAt(deps, link, alice)).outcome).toBe('sold_out')
    expect(await add(link, 'one\ntwo\nfour')).toMatchObject({ added: 2, known: 1, known_lines: [1] })
    expect(await delivered(transaction_id)).toEqual({ kind: 'codes', values: ['one'] })
    expect(await delivered((await buyAt(deps, link, bob)).transaction_id)).toMatchObject({ values: ['two'] })
    const { id } = await rowOf(test, 'links', { slug: link.slug })
    const rows = await rowsOf(test, 'link_codes', { link_id: id })
    expect(rows.some(({ value_encrypted }) => /one|two|four/.test(value_encrypted.toString('latin1')))).toBe(
      false,
    )
  })

  it('of a test link are a hundred at most', async () => {
    const tester = await makeMerchant(test, { isTest: true })
    const link = await makeLink(test, tester, { delivery: 'codes' })
    const list = (count: number) => Array.from({ length: count }, (_, i) => `t-${i}`).join('\n')
    const add = (file: string) =>
      addCodes(deps, tester.payment_id, { slug: link.slug, file }, ownerOf(tester))
    expect(await add(list(101))).toEqual({ fault: 'too_many_unsold', max: 100 })
    expect(await add(list(100))).toMatchObject({ added: 100 })
  })
})

describe('a link', () => {
  it('takes the ways of its states alone', async () => {
    const slug = await createLink(deps, payment_id, details(), owner)
    const link = { slug, merchant }
    expect(await codeOf(change(link, 'pause'))).toBe('conflict')
    expect(await codeOf(change(link, 'publish'))).toBe('done')
    expect(await codeOf(change(link, 'publish'))).toBe('done')
    expect(await codeOf(deleteDraft(deps, payment_id, link, owner))).toBe('conflict')
    expect(await codeOf(change(link, 'pause'))).toBe('done')
    const stop = (reason?: string) => stopLink(deps, { slug, reason }, { user_id: staff.id, ip: IP })
    expect(await codeOf(stop())).toBe('conflict')
    expect(await codeOf(stop('A copy of another shop'))).toBe('done')
    expect(await codeOf(change(link, 'resume'))).toBe('conflict')
    expect(await codeOf(stop())).toBe('done')
    expect(await rowOf(test, 'links', { slug })).toMatchObject({ state: 'paused', stopped_reason: null })
    expect(await codeOf(change(link, 'end'))).toBe('done')
    expect(await codeOf(change(link, 'resume'))).toBe('conflict')
    expect(await codeOf(edit(link, {}))).toBe('conflict')
    const draft = await createLink(deps, payment_id, details({ delivery: 'text', delivered: 'x' }), owner)
    await deleteDraft(deps, payment_id, { slug: draft }, owner)
    expect(await rowsOf(test, 'links', { slug: draft })).toEqual([])
  })

  it('is edited by managers alone, and published only where the site lets its owner', async () => {
    expect(await codeOf(createLink(deps, payment_id, details(), { user_id: alice.id, ip: IP }))).toBe(
      'not_found',
    )
    const slug = await createLink(deps, payment_id, details(), owner)
    const publish = () => codeOf(changeLink(deps, payment_id, { slug, change: 'publish' }, owner))
    await setSetting(test, 'links', 'off')
    expect(await publish()).toBe('conflict')
    await setSetting(test, 'links', 'on')
    await changePerson(test, merchant.owner, { trust_level: 0 })
    expect(await publish()).toBe('conflict')
    await changePerson(test, merchant.owner, { trust_level: 2 })
    const free = (amount_max: bigint) => details({ amount: null, amount_min: 1n, amount_max })
    expect(await codeOf(createLink(deps, payment_id, free(5_001n), owner))).toBe('invalid_form')
    expect(await codeOf(createLink(deps, payment_id, free(5_000n), owner))).toBe('done')
    expect(await publish()).toBe('done')
  })

  it('is one of at most two hundred', async () => {
    const other = await makeMerchant(test)
    const { id: app_id } = await rowOf(test, 'payment_apps', { payment_id: other.payment_id })
    await sql`
      insert into links (app_id, book, slug, title, description, thanks, amount, suggestions, quantity_max, min_level,
        allow_groups, delivery, shows_stock)
      select ${app_id}, 'live', 'full' || lpad(i::text, 6, '0'), 'x', '', '', 1, '{}', 1, 0, '{}', 'none', true
      from generate_series(1, ${LINKS_MAX}::int) as i`.execute(db)
    const create = () => codeOf(createLink(deps, other.payment_id, details(), ownerOf(other)))
    expect(await create()).toBe('conflict')
    await setRows(test, 'links', { slug: 'full000001' }, { state: 'ended' })
    expect(await create()).toBe('done')
  })

  it('pauses when its application changes hands, and ends with its owner’s account', async () => {
    const leaving = await makeMerchant(test)
    const link = await makeLink(test, leaving, { codes: ['h-1', 'h-2'] })
    const { transaction_id } = await buyAt(deps, link, alice)
    const heir = await makePerson(test)
    await handOver(test, leaving, heir)
    expect(await rowOf(test, 'links', { slug: link.slug })).toMatchObject({ state: 'paused' })
    await refund(test, { transaction_id }, 10n)
    const closing = { user_id: heir.id, actor_id: null, reason: 'test', ip: null, give_up: 0n }
    await anonymise(deps, closing)
    const { id, state } = await rowOf(test, 'links', { slug: link.slug })
    expect(state).toBe('ended')
    const codes = await rowsOf(test, 'link_codes', { link_id: id })
    expect(codes.map(({ order_id }) => order_id !== null)).toEqual([true])
    expect(await delivered(transaction_id)).toEqual({ kind: 'codes', values: ['h-1'] })
  })
})
