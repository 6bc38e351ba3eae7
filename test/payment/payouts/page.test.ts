/** A merchant's payouts: a file is checked line by line, the owner pays it, and its page shows the results. spec/payouts 3.1–3.3. */
import { afterAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../../src/ledger/wallet.ts'
import { CSV_BYTES_MAX, type FileFault, readPayoutFile } from '../../../src/payment/payouts/csv.ts'
import { tellOfPayouts } from '../../../src/payment/payouts/notices.ts'
import { runPayouts } from '../../../src/payment/payouts/run.ts'
import { dayIn } from '../../../src/web/periods/days.ts'
import { expectSoundBooks } from '../../harness/books.ts'
import { changePerson, givePoints, makePerson, setFrozen } from '../../harness/cast.ts'
import { setSetting, useTestApp } from '../../harness/harness.ts'
import { textOf } from '../../harness/markup.ts'
import { joinTeam, makeMerchant } from '../../harness/merchant.ts'
import { messages } from '../../harness/messages.ts'
import { rowOf, rowsOf } from '../../harness/rows.ts'
import { upload } from '../../harness/uploads.ts'

const { merchantPayouts: t, merchantTransfers, alerts, pay } = messages.en

const test = await useTestApp()
const { deps, db, clock } = test
afterAll(() => expectSoundBooks(db))
const merchant = await makeMerchant(test)
await givePoints(test, merchant.owner, 1_000n)
const owner = await merchant.owner.signIn()
const manager = await joinTeam(test, merchant, 'manager')
const managing = await manager.signIn()
const [alice, bob] = [await makePerson(test), await makePerson(test)]
const list = `/payment/applications/${merchant.payment_id}/payouts`

const send = (text: string, fields: Record<string, string> = {}, by = owner) =>
  upload(test, by, {
    ...{ page: `${list}/new`, url: `${list}/new`, name: 'file', file: text },
    fields: { mode: 'each', reference: '', ...fields },
  })
const csv = (...lines: string[]) => ['username,amount,memo', ...lines].join('\n')

describe('a file', () => {
  const read = (text: string | Buffer, mode: 'each' | 'all' = 'each') =>
    readPayoutFile(Buffer.from(text), mode)
  const alices = { line_id: '2', username: 'alice', user_id: undefined, amount: 50n, memo: '' }

  it.each<[what: string, text: string, lines: object[]]>([
    ['with commas', 'username,amount\nalice,50', [alices]],
    ['with semicolons, CRLF and a byte order mark', '\uFEFFamount;UserName\r\n50;@alice\r\n', [alices]],
    [
      'with tabs and blank lines, which count,',
      '\nusername\tamount\n\nalice\t 50 \n\n',
      [{ ...alices, line_id: '4' }],
    ],
    [
      'with quoted cells and all columns',
      'line_id,username,user_id,amount,memo\na,"alice",7,50,"First, ""best"""\n,bob,,20,\n',
      [
        { ...alices, line_id: 'a', user_id: 7n, memo: 'First, "best"' },
        { line_id: '3', username: 'bob', user_id: undefined, amount: 20n, memo: '' },
      ],
    ],
    [
      'without a header, with tabs and empty cells,',
      'alice\t50\tfirst, or second\t\n@bob\t20\t\t\n',
      [
        { ...alices, line_id: '1', memo: 'first, or second' },
        { ...alices, line_id: '2', username: 'bob', amount: 20n },
      ],
    ],
    [
      'without a header, with commas in a memo,',
      'amount,50,"first; best"\nalice,50,well, done; Alice\n',
      [
        { ...alices, line_id: '1', username: 'amount', memo: 'first; best' },
        { ...alices, memo: 'well, done; Alice' },
      ],
    ],
    [
      'with commas or semicolons of Chinese text',
      'alice，50，谢谢；再见\n',
      [{ ...alices, line_id: '1', memo: '谢谢；再见' }],
    ],
    [
      'with memos of three digits, quoted or after a space,',
      'alice,50,"123"\nalice, 50, 123\nalice,1000,123\nalice,50,12\nalice,50,123 cats\n',
      ['123', '123', '123', '12', '123 cats'].map((memo, i) => ({
        ...{ ...alices, line_id: String(i + 1), memo },
        amount: i === 2 ? 1_000n : 50n,
      })),
    ],
    ['with semicolons and memos of three digits', 'alice;50;123', [{ ...alices, line_id: '1', memo: '123' }]],
    [
      'with a user_id of three digits after the amount, and other columns,',
      'username,amount,user_id,note\nalice,50,123,x\nalice,50,,\n',
      [
        { ...alices, user_id: 123n },
        { ...alices, line_id: '3' },
      ],
    ],
  ])('%s is read', (_, text, lines) => {
    expect(read(text)).toEqual(lines)
  })

  it.each<[what: string, text: string | Buffer, fault: FileFault, mode?: 'all']>([
    ['with another header', 'name,amount\nalice,50', { fault: 'no_header' }],
    ['that is empty', '', { fault: 'no_lines' }],
    ['without lines', 'username,amount\n\n', { fault: 'no_lines' }],
    ['that is no text', Buffer.from([0x75, 0xff]), { fault: 'not_text' }],
    ['above 256 KB', Buffer.alloc(CSV_BYTES_MAX + 1, 'a'), { fault: 'too_large' }],
    ['of 1,001 lines', `username,amount${'\nalice,1'.repeat(1_001)}`, { fault: 'too_many' }],
    [
      'of 501 lines for all',
      `username,amount${'\nalice,1'.repeat(501)}`,
      { fault: 'too_many_for_all' },
      'all',
    ],
    [
      'with faulty lines',
      'username,amount,user_id,memo,line_id\n\n,5,,,\nbob,0.5,,,\nbob,5,x,,\n"bob",5,,"a\nb",\n"bob,5\nbob,5,,,q\nbob,5,,,q\n',
      {
        fault: 'lines',
        lines: [
          { line: 3, column: 'username', value: '' },
          { line: 4, column: 'amount', value: '0.5' },
          { line: 5, column: 'user_id', value: 'x' },
          { line: 6, column: 'memo', value: 'a\nb' },
          { line: 8, column: '"', value: '' },
        ],
        members: ['bob', 'bob', 'bob'].map((username, i) => ({ line: i + 4, username, user_id: undefined })),
      },
    ],
    [
      'with a line_id twice',
      'username,amount,line_id\nbob,5,q\nbob,5,q\n',
      {
        fault: 'lines',
        lines: [{ line: 3, column: 'line_id', value: 'q', first: 2 }],
        members: [2, 3].map((line) => ({ line, username: 'bob', user_id: undefined })),
      },
    ],
    [
      'with names of columns that are unknown, and two faults in a line,',
      'name\tpoints\n\tx\n',
      {
        fault: 'lines',
        lines: [
          { line: 1, column: 'header', value: '' },
          { line: 2, column: 'username', value: '' },
          { line: 2, column: 'amount', value: 'x' },
        ],
        members: [],
      },
    ],
    [
      'with a word for the amount of its first line',
      'alice,abc\nbob,5\n',
      {
        fault: 'lines',
        lines: [{ line: 1, column: 'amount', value: 'abc' }],
        members: ['alice', 'bob'].map((username, i) => ({ line: i + 1, username, user_id: undefined })),
      },
    ],
    ...[
      ['alice,1,000', '1,000'],
      ['alice,1,000,Prize', '1,000'],
      ['alice,12,000,000', '12,000,000'],
      ['@alice, 1,000 ', '1,000'],
      ['alice，1，000', '1，000'],
    ].map(([text, value]): [string, string, FileFault] => [
      `with the amount cut by commas in “${text}”`,
      text!,
      {
        fault: 'lines',
        lines: [{ line: 1, column: 'thousands', value: value! }],
        members: [{ line: 1, username: 'alice', user_id: undefined }],
      },
    ]),
    [
      'with such amounts and too many values below a header',
      'username,amount,memo\nalice,1,000\nalice,50,one,two\nalice,50,one,,\n',
      {
        fault: 'lines',
        lines: [
          { line: 2, column: 'thousands', value: '1,000' },
          { line: 3, column: 'cells', value: 'two' },
        ],
        members: [2, 3, 4].map((line) => ({ line, username: 'alice', user_id: undefined })),
      },
    ],
    [
      'with an amount twice',
      'username,amount,Amount\nalice,5,6',
      { fault: 'lines', lines: [{ line: 1, column: 'twice', value: 'amount' }], members: [] },
    ],
    [
      'with a memo that changes the direction of text',
      'alice,5,a\u202eb',
      {
        fault: 'lines',
        lines: [{ line: 1, column: 'memo', value: 'a\u202eb' }],
        members: [{ line: 1, username: 'alice', user_id: undefined }],
      },
    ],
  ])('%s is refused', (_, text, fault, mode) => {
    expect(read(text as string, mode)).toEqual(fault)
  })
})

describe('a payout from a file', () => {
  it('is checked, paid once by the owner, and shown with its results', async () => {
    const empty = await owner.get(list)
    expect(empty.body).toContain(t.empty)
    const file = csv(
      `@${alice.username.toUpperCase()},50,Raffle: first`,
      'nobody-here,20,"=5 ""x"", 123"',
      `${bob.username},30,`,
    )
    const { headers, statusCode } = await send(file, { reference: 'raffle' })
    expect(statusCode).toBe(303)
    const page = String(headers.location)
    const check = await owner.get(page)
    const text = textOf(check.body)
    expect(text).toContain(
      `${t.toPay} ${t.linesPaid('2', '3', 3)} ${t.amount} 80 ${t.fees} 3 ${t.total} 83 ${t.have} 1,000 ${t.after} 917`,
    )
    expect(text).toContain(
      `${t.headings('1', 1).faulty} ${t.recipient} ${t.fileLine} ${pay.amount} ${t.why} N @nobody-here ${t.line} 3 · ${t.outcomes.mismatch} 20`,
    )
    expect(text).toContain(`${t.headings('2', 2).payable} ${t.recipient} ${t.memo} ${pay.amount}`)
    expect(text).toContain(`@${alice.username} Raffle: first 50`)
    expect(text).toContain(t.pay('2', 2, '83'))
    await runPayouts(deps)
    expect(await balanceOf(db, alice.id)).toBe(0n)

    // A repeat of the form does nothing.
    for (let i = 0; i < 2; i += 1) expect((await owner.submit(check, `${page}/pay`)).location).toBe(page)
    // While it is under way, the page says how far, and loads itself again without a script.
    const running = await owner.get(page)
    expect(running.headers.refresh).toBe('3')
    // The line that cannot be paid is named, and not counted.
    expect(textOf(running.body)).toContain(t.headings('1', 1).faulty)
    expect(textOf(running.body)).toContain(t.underWay('0', '2'))
    await runPayouts(deps)
    expect((await owner.get(page)).headers.refresh).toBeUndefined()
    const done = textOf((await owner.get(page)).body)
    expect(done).toContain(
      `${t.progress} ${t.linesPaid('2', '3', 3)} ${t.amount} 80 ${t.fees} 3 ${t.total} 83`,
    )
    // It has ended, but not all is paid.
    for (const text of [done, textOf((await owner.get(list)).body)])
      expect([text.includes(t.partlyPaid('2', '3')), text.includes(t.statuses.finished)]).toEqual([
        true,
        false,
      ])
    expect(done).toContain(t.headings('1', 1).unpaid)
    expect(done).toContain(t.outcomes.mismatch)
    expect(done).toContain(t.headings('2', 2).paid)
    // What was not paid can be paid by another payout.
    const href = /href="([^"]*\/new\?again=\d+)"/.exec((await owner.get(page)).body)![1]!
    expect((await owner.get(href)).body).toContain(
      '>username,amount,memo\nnobody-here,20,&quot;=5 &quot;&quot;x&quot;&quot;, 123&quot;</textarea>',
    )
    expect((await owner.get(`${list}/new?again=999999`)).body).toContain('</textarea>')
    const transfers = await rowsOf(test, 'transfers', { app_id: merchant.id }, ['transaction_id'])
    for (const { transaction_id } of transfers)
      expect((await owner.get(page)).body).toContain(`/transfers?q=${transaction_id}"`)
    expect(await balanceOf(db, alice.id)).toBe(50n)
    expect(textOf((await owner.get(list)).body)).toContain(t.linesPaid('2', '3', 3))
    const lines = await owner.get(`${page}/lines.csv`)
    expect(lines.body.split('\r\n').map((row) => row.split(',').slice(0, 7).join(','))).toEqual([
      '\uFEFFline_id,user_id,username,amount,fee,status,reason',
      `2,${alice.id},${alice.username.toUpperCase()},50,2,paid,`,
      '3,,nobody-here,20,1,refused,mismatch',
      `4,${bob.id},${bob.username},30,1,paid,`,
      '',
    ])
    expect(textOf((await (await alice.signIn()).get('/account')).body)).toContain('Raffle: first')
    const acts = await rowsOf(test, 'audit_log', { subject: merchant.payment_id }, ['action'])
    expect(acts.map(({ action }) => action).filter((action) => action.startsWith('payout.'))).toEqual([
      'payout.draft',
      'payout.pay',
    ])
    const again = (await send(file, { reference: 'raffle' })).body
    expect(textOf(again)).toContain(t.referenceUsed)
    expect(again).toMatch(new RegExp(`href="${page}">${t.openUsed('raffle')}`))
    expect(done).toContain(t.ended('2', 2, '80', '1', 1))
  })

  it('of a manager waits for the owner, who has signed in lately, for a day', async () => {
    const { headers } = await send(csv(`${bob.username},30,`), {}, managing)
    const page = String(headers.location)
    const seen = await managing.get(page)
    expect(seen.body).toContain(t.onlyOwner)
    expect(
      (await managing.post(`${page}/pay`, { form_token: seen.form(`${page}/cancel`).form_token! })).status,
    ).toBe(403)
    const check = await owner.get(page)
    clock.advance(11 * 60_000)
    expect((await owner.submit(check, `${page}/pay`)).status).toBe(409)
    expect((await rowOf(test, 'payouts', { id: BigInt(page.split('/').at(-1)!) })).status).toBe('draft')
    clock.advance(24 * 3_600_000)
    expect((await owner.get(page)).body).toContain(t.draftOver)
    const late = await merchant.owner.signIn()
    const form_token = (await late.get(page)).form(`${page}/cancel`).form_token!
    expect((await late.post(`${page}/pay`, { form_token })).status).toBe(409)
    expect((await rowOf(test, 'payouts', { id: BigInt(page.split('/').at(-1)!) })).status).toBe('draft')
  })

  it('that halts raises one alert, and is resumed by the owner and cancelled by a manager', async () => {
    const fresh = await merchant.owner.signIn()
    const have = await balanceOf(db, merchant.owner.id)
    await changePerson(test, merchant.owner, { trust_level: 1 })
    const { headers } = await send(
      csv(`${alice.username},500,`, `${bob.username},500,`),
      { reference: 'short' },
      fresh,
    )
    const page = String(headers.location)
    const check = await fresh.get(page)
    expect(textOf(check.body)).toMatch(new RegExp(t.short('\\d+').replaceAll(/[.]/g, '\\.')))
    await fresh.submit(check, `${page}/pay`)
    await runPayouts(deps)
    const halted = await fresh.get(page)
    expect(halted.body).toContain(t.reasons.insufficient)
    for (let i = 0; i < 2; i += 1) await tellOfPayouts(deps)
    const told = await rowsOf(test, 'alerts', { kind: 'payout_halted', app_id: merchant.id }, [
      'user_id',
      'facts',
    ])
    expect(new Set(told.map(({ user_id }) => user_id))).toEqual(new Set([merchant.owner.id, manager.id]))
    expect(textOf((await fresh.get('/account/alerts')).body)).toContain(
      alerts.mails.payout_halted(told[0]!.facts).subject,
    )

    await givePoints(test, merchant.owner, 100n)
    expect((await fresh.submit(halted, `${page}/resume`)).location).toBe(page)
    await runPayouts(deps)
    expect(await balanceOf(db, merchant.owner.id)).toBeLessThan(have)
    const again = await managing.get(page)
    expect((await managing.submit(again, `${page}/cancel`)).location).toBe(page)
    expect(textOf((await managing.get(page)).body)).toContain(t.reasons.merchant)
    expect((await fresh.submit(halted, `${page}/resume`)).location).toBe(page)
    expect((await fresh.get(page)).body).toContain(t.done.nothing)
  })

  it('begins with the balance, the bounds, the fee and what arrives', async () => {
    const { offer } = merchantTransfers
    const fresh = await merchant.owner.signIn()
    await setSetting(test, 'points_transfer_fee_rate_tl3', '0.035')
    await setSetting(test, 'points_transfer_min_amount_tl3', '5')
    await setSetting(test, 'points_transfer_max_amount_tl3', '1200')
    await changePerson(test, merchant.owner, { trust_level: 3 })
    const have = (await balanceOf(db, merchant.owner.id)).toLocaleString('en')
    const line = `${offer.have(have)} · ${offer.each('5', '1,200')} · ${offer.fee('3.5')} (${offer.example('100', '104')})`
    for (const place of [`${list}/new`, list.replace('payouts', 'transfers')])
      expect(textOf((await fresh.get(place)).body)).toContain(line)
    expect(textOf((await managing.get(`${list}/new`)).body)).toContain(offer.ownersHave(have))
    await setSetting(test, 'points_transfer_max_amount_tl3', '90')
    await setSetting(test, 'points_transfer_daily_limit_tl3', '500')
    await setSetting(test, 'points_transfer_fee_rate_tl3', '0')
    expect(textOf((await fresh.get(`${list}/new`)).body)).toMatch(
      new RegExp(`${offer.each('5', '90')} · ${offer.free} · ${offer.today('\\d+')}`),
    )
    // A line below the least is refused with the figure.
    const { headers } = await send(csv(`${bob.username},4,`), {}, fresh)
    expect(textOf((await fresh.get(String(headers.location))).body)).toContain(t.bounds('5').below_minimum)
    await changePerson(test, merchant.owner, { trust_level: 1 })
  })

  it('has no form while the wallet is frozen', async () => {
    const fresh = await merchant.owner.signIn()
    await setFrozen(test, merchant.owner)
    const page = await fresh.get(`${list}/new`)
    await setFrozen(test, merchant.owner, false)
    expect([page.body.includes(t.refusals.wallet_frozen), page.body.includes(t.upload)]).toEqual([
      true,
      false,
    ])
  })

  it('is refused with words while payouts are off, and leaves the navigation', async () => {
    const fresh = await merchant.owner.signIn()
    const draft = String((await send(csv(`${bob.username},30,`), {}, fresh)).headers.location)
    await setSetting(test, 'payouts', 'off')
    // No form takes a file, and the draft has no button that pays.
    const seen = async (place: string, act: string) => {
      const { body } = await fresh.get(place)
      return [body.includes(t.refusals.transfers_disabled), body.includes(act)]
    }
    expect(await seen(`${list}/new`, t.upload)).toEqual([true, false])
    expect(await seen(list, `${list}/new"`)).toEqual([true, false])
    expect(await seen(draft, `${draft}/pay"`)).toEqual([true, false])
    const answer = await upload(test, fresh, {
      ...{ page: draft, form: `${draft}/cancel`, url: `${list}/new`, name: 'file' },
      ...{ file: csv(`${bob.username},30,`), fields: { mode: 'each', reference: '' } },
    })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toContain(t.refusals.transfers_disabled)
    expect((await fresh.get(`/payment/applications/${merchant.payment_id}`)).body).not.toContain(
      `href="${list}"`,
    )
    await setSetting(test, 'payouts', 'on')
  })

  it('is refused with one reason for each line of the file, and asks for the file again', async () => {
    const fresh = await merchant.owner.signIn()
    const header = 'username,amount,user_id,memo,line_id'
    const long = 'a'.repeat(101)
    const cells = [
      ',5,,,',
      'bob,,,,',
      'bob,0,,,',
      'bob,5,x,,',
      `bob,5,,${long},`,
      'bob,5,,,q',
      'bob,5,,,q',
      '"bob,5',
    ]
    const faulty = await send([header, ...cells].join('\n'), {}, fresh)
    expect(faulty.statusCode).toBe(400)
    const text = textOf(faulty.body)
    for (const fault of [
      ...[t.lineMissing.username('2'), t.lineMissing.amount('3'), t.lineFaults('4', '0').amount],
      ...[t.lineFaults('5', 'x').user_id, t.lineFaults('6', '').memo, t.lineRepeated('8', 'q', '7')],
      ...[t.lineFaults('9', '')['"'], t.fileAgain],
    ])
      expect(text).toContain(fault)
  })

  it('without a reference is named after its day, and numbered on from the second', async () => {
    clock.advance(86_400_000)
    const day = dayIn('Asia/Shanghai', clock.now())
    const names = [`payout-${day}`, `payout-${day}-2`, `payout-${day}-3`]
    for (const name of names) {
      const { headers } = await send(csv(`${alice.username},1,`))
      const page = await owner.get(String(headers.location))
      expect(page.body).toContain(`<code>${name}</code>`)
      await owner.submit(page, `${String(headers.location)}/cancel`)
    }
  })

  it('names a recipient as its file does where the id is another member’s', async () => {
    const header = 'username,user_id,amount'
    const { headers } = await send([header, `${alice.username}x,${alice.id},7`].join('\n'))
    const text = textOf((await owner.get(String(headers.location))).body)
    expect(text).toContain(`@${alice.username}x`)
    expect(text).toContain(t.hasId(alice.username))
  })

  it('takes a reference with spaces, and refuses one with other signs', async () => {
    const fresh = await merchant.owner.signIn()
    const refused = await send(csv(`${bob.username},1,`), { reference: '抽奖' }, fresh)
    expect([refused.statusCode, textOf(refused.body)]).toEqual([
      400,
      expect.stringContaining(t.referenceWrong),
    ])
    const { headers } = await send(csv(`${bob.username},1,`), { reference: ' Autumn  raffle ' }, fresh)
    expect((await fresh.get(String(headers.location))).body).toContain('Autumn-raffle')
    expect((await fresh.get(`${list}/example.csv`)).body).toContain(`alice,50,${t.exampleMemos[0]}`)
  })

  it('names members whom several lines pay, and says why all or none pays none', async () => {
    const fresh = await merchant.owner.signIn()
    const file = csv(`${bob.username},1,`, `${bob.username},2,`, 'nobody-here,3,')
    const { headers } = await send(file, { mode: 'all' }, fresh)
    const page = await fresh.get(String(headers.location))
    expect(textOf(page.body)).toContain(t.twice(`@${bob.username}`))
    expect(textOf(page.body).split(`@${bob.username} ${t.twiceMark}`)).toHaveLength(3)
    expect(textOf(page.body)).toContain(t.allOrNothing)
    expect(page.body).not.toContain(`${String(headers.location)}/pay`)
    // Every line of such a member is marked, whether the sentence names the member or not.
    const members = await Promise.all(Array.from({ length: 6 }, () => makePerson(test)))
    const lines = members.flatMap(({ username }) => [`${username},1,`, `${username},2,`])
    const many = String((await send(csv(...lines), {}, fresh)).headers.location)
    const marked = new RegExp(`@\\S+ ${t.twiceMark}`, 'g')
    expect(textOf((await fresh.get(many)).body).match(marked)).toHaveLength(12)
  })

  it('is found by the team of its application alone', async () => {
    const { id } = await rowOf(test, 'payouts', { reference: 'raffle' })
    const stranger = await makeMerchant(test)
    const other = await stranger.owner.signIn()
    expect((await other.get(`${list}/${id}`)).status).toBe(404)
    const theirs = `/payment/applications/${stranger.payment_id}/payouts`
    for (const place of [`${id}`, `${id}/lines.csv`, 'x', '0'])
      expect((await other.get(`${theirs}/${place}`)).status).toBe(404)
  })
})

describe('pasted lines', () => {
  const paste = (lines: string, fields: Record<string, string> = {}) => send('', { lines, ...fields })

  it('need no header, and name every fault of every line at once', async () => {
    const fresh = await merchant.owner.signIn()
    const pasted = `${alice.username}\t5\tfirst\n@nobody-here\t5\n${bob.username}\tmany\tsecond\n${'x\ty\n'.repeat(30)}`
    const faulty = await send('', { lines: pasted }, fresh)
    expect(faulty.statusCode).toBe(400)
    const text = textOf(faulty.body)
    expect(text).toContain(
      `${t.lineFaults('2', 'nobody-here').member} ${t.lineFaults('3', 'many').amount} ${t.lineFaults('4', 'y').amount} ${t.lineFaults('4', 'x').member}`,
    )
    expect(text).not.toContain(t.lineFaults('1', alice.username).member)
    expect(text).toContain(t.moreFaults('12', 12))
    expect(faulty.body).toContain(`${bob.username}\tmany\tsecond`)
    const other = await send(`${csv('').replace('memo', 'user_id')}${alice.username},5,1\nbob,x,`, {}, fresh)
    expect(textOf(other.body)).toContain(t.lineFaults('2', `${alice.username}, 1`).member)

    const { headers } = await send('', { lines: `${alice.username}\t5\tfirst\nnobody-here\t7` }, fresh)
    const page = await fresh.get(String(headers.location))
    expect(textOf(page.body)).toContain(`@${alice.username} first 5`)
    expect(textOf(page.body)).toContain(`@nobody-here ${t.line} 2 · ${t.outcomes.mismatch} 7`)
    await fresh.submit(page, `${String(headers.location)}/cancel`)
  })

  it('are checked as a file is, and stay in the form with their faults', async () => {
    const { headers, statusCode } = await paste(`username\tamount\n${alice.username}\t5`)
    expect(statusCode).toBe(303)
    const page = String(headers.location)
    expect(textOf((await owner.get(page)).body)).toContain(t.headings('1', 1).payable)
    await owner.submit(await owner.get(page), `${page}/cancel`)
    const faulty = await paste('username,amount\nalice,many')
    expect(faulty.statusCode).toBe(400)
    expect(textOf(faulty.body)).toContain(t.lineFaults('2', 'many').amount)
    expect(faulty.body).toContain('alice,many</textarea>')
  })

  it('are refused beside a file, and without lines', async () => {
    const both = await send(csv('alice,5,'), { lines: csv('alice,5,') })
    expect([both.statusCode, both.body.includes(t.pasteOrFile)]).toEqual([400, true])
    const none = await paste('')
    expect([none.statusCode, none.body.includes(t.faults.no_lines)]).toEqual([400, true])
  })
})
