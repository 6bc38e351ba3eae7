/**
 * /account: the statement with its balances, its filters in the site's time zone, and its file.
 * spec/points 3.5.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { movedThisMonth, sheetOf, statementOf } from '../../src/ledger/wallet.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { messages } from '../harness/messages.ts'
import { rowsRead } from '../harness/rows-read.ts'

const SHANGHAI = 'Asia/Shanghai'
const test = await useTestApp()

/** Posts movements of a wallet, the oldest first. */
async function post({ id }: Person, movements: [amount: number, at: string, reason?: string][]) {
  for (const [index, [amount, at, reason = 'by hand']] of movements.entries())
    await sql`
      select post_journals(${amount > 0 ? 'grant' : 'adjustment'}, ${reason}, array_agg(row(
        'live', ${`t:${id}:${at}:${index}`}::text, null, ${at}::timestamptz, wallet.id, issuance.id, null, ${-amount}::bigint, 0
      )::posting))
      from ledger_accounts as wallet, ledger_accounts as issuance
      where wallet.book = 'live' and wallet.user_id = ${id} and issuance.book = 'live' and issuance.kind = 'issuance'`.execute(
      test.db,
    )
}

/** A member with an open wallet. */
async function member() {
  const person = await makePerson(test)
  await sql`select open_wallets(array[${person.id}]::bigint[], array['live'])`.execute(test.db)
  return person
}

const HISTORY: Parameters<typeof post>[1] = [
  [1_000, '2025-10-31T15:59:00Z', 'before midnight in Shanghai'],
  [200, '2025-10-31T16:00:00Z', 'midnight in Shanghai'],
  [-50, '2025-11-02T08:00:00Z', 'a loss'],
  [7, '2025-11-30T15:59:59Z', 'the last second'],
  [3, '2025-11-30T16:00:00Z', 'the next month'],
]
const rowsIn = (body: string) =>
  [...body.matchAll(/<tr role="row">\s*<td role="cell" class="picture">([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    textOf(row!.replace(/<span class="(hush|phone)">[\s\S]*?<\/span>/g, '')),
  )

describe('the statement', () => {
  it('offers what a member can find: kinds with movements, and a search of some', async () => {
    const alice = await member()
    const client = await alice.signIn()
    const kindsOf = (body: string) =>
      [...body.matchAll(/href="\/account\?kind=(\w+)"/g)].map(([, kind]) => kind)
    const unused = await client.get('/account')
    expect(unused.body).toContain(messages.en.account.empty)
    expect(unused.body).not.toMatch(/name="q"|statement\.csv|class="chips"/)
    await post(alice, HISTORY)
    expect(kindsOf((await client.get('/account')).body)).toEqual(['grant', 'adjustment'])
    const { body } = await client.get('/account?kind=refund')
    expect(body).toMatch(/kind=refund" aria-current="true"/)
    expect(body).toContain('name="q"')
    const sought = (await client.get('/account?q=midnight')).body
    expect(textOf(/<nav class="chips"[\s\S]*?<\/nav>/.exec(sought)![0])).toBe(
      `${messages.en.lists.all} 2 ${messages.en.account.filters.grant} 2`,
    )
  })

  it('shows the balance after each movement, also behind a filter and a page', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const balances = async (filter: Parameters<typeof statementOf>[2]) =>
      (await statementOf(test.db, alice.id, filter)).rows.map(({ amount, balance }) => [amount, balance])
    const all = await balances({})
    expect(all).toEqual([
      [3n, 1_160n],
      [7n, 1_157n],
      [-50n, 1_150n],
      [200n, 1_200n],
      [1_000n, 1_000n],
    ])
    expect(await balances({ kind: 'adjustment' })).toEqual([[-50n, 1_150n]])
    expect(await balances({ text: 'midnight' })).toEqual(all.slice(3))
    const { rows } = await statementOf(test.db, alice.id)
    expect(await balances({ before: rows[1]!.id })).toEqual(all.slice(2))
  })

  it('is limited to days of the site’s zone', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const client = await alice.signIn()
    const found = async (query: string) => rowsIn((await client.get(`/account?${query}`)).body)
    expect(await found('from=2025-11-01&until=2025-11-30')).toHaveLength(3)
    expect((await found('from=2025-11-01&until=2025-11-30')).at(-1)).toContain('midnight in Shanghai')
    expect(await found('until=2025-10-31')).toHaveLength(1)
    expect(await found('from=2025-12-01')).toHaveLength(1)
    expect(await found('from=nonsense&until=2025-13-99')).toHaveLength(5)
  })

  it('groups older rows by the months of the site’s zone', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const { body } = await (await alice.signIn()).get('/account')
    const headings = [...body.matchAll(/<tr role="row" class="phone day">([\s\S]*?)<\/tr>/g)]
    expect(headings.map(([, day]) => textOf(day!).replaceAll('\u00A0', ' '))).toEqual([
      'December 2025',
      'November 2025',
      'October 2025',
    ])
  })

  it('says what came in and went out, by the day and the month of the zone', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const moved = (now: string, zone: string) =>
      movedThisMonth(test.db, alice.id, { now: new Date(now), zone })
    expect(await moved('2025-11-30T15:59:59Z', SHANGHAI)).toEqual({
      dayIn: 10n,
      dayOut: 0n,
      monthIn: 210n,
      monthOut: 50n,
    })
    expect(await moved('2025-11-30T16:00:00Z', SHANGHAI)).toMatchObject({ dayIn: 3n, monthIn: 3n })
    expect(await moved('2025-11-30T16:00:00Z', 'UTC')).toMatchObject({ dayIn: 10n, monthIn: 10n })
  })

  it('reads a page’s rows however long the history is', async () => {
    const alice = await member()
    await sql`
      with made as (
        insert into journal (book, kind, reference, reason, posted_at)
        select 'live', 'grant', 'long:' || i, 'long', '2025-01-01T00:00:00Z'::timestamptz + i * interval '1 hour'
        from generate_series(1, 6000) as i order by i returning id
      )
      insert into entries (journal_id, book, account_id, amount)
      select made.id, 'live', account.id, case account.kind when 'wallet' then 1 else -1 end
      from made cross join ledger_accounts as account
      where account.book = 'live' and (account.kind = 'issuance' or account.user_id = ${alice.id}) order by made.id`.execute(
      test.db,
    )
    await sql`update ledger_accounts set balance = 6000 where user_id = ${alice.id} and book = 'live'`.execute(
      test.db,
    )
    await sql`analyze journal, entries, ledger_accounts`.execute(test.db)
    const readBy = (filter: Parameters<typeof statementOf>[2]) =>
      test.db.transaction().execute(async (tx) => {
        const before = await rowsRead(tx, 'entries')
        const page = await statementOf(tx, alice.id, filter)
        return { page, read: (await rowsRead(tx, 'entries')) - before }
      })
    const newest = await readBy({})
    expect(newest.read).toBeLessThan(100)
    expect(newest.page.rows[0]!.balance).toBe(6_000n)
    const later = await readBy({ before: newest.page.next })
    expect(later.page.rows[0]!.balance).toBe(5_975n)
    const days = await readBy({
      from: new Date('2025-09-01T00:00:00Z'),
      until: new Date('2025-09-02T00:00:00Z'),
    })
    expect(days.page.rows).toHaveLength(24)
    expect(days.page.next).toBeUndefined()
    expect(days.page.rows.at(-1)).toMatchObject({ balance: BigInt(243 * 24) })
    // The newer ones are added up for the balance; the halving looks at a few.
    expect(days.read).toBeLessThan(600)
  })
})

describe('the statement for paper', () => {
  const t = messages.en.paperStatement
  const sheetIn = async (person: Person, query: string) =>
    textOf((await (await person.signIn()).get(`/account/statement?${query}`)).body)

  it('lists the movements of a time between an opening and a closing balance', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const november = await sheetIn(alice, 'from=2025-11-01&until=2025-11-30')
    expect(november).toContain('1 – 30 November 2025')
    expect(november).toContain(
      `${t.opening} 1,000 ${t.moneyIn(2)} +207 ${t.moneyOut(1)} −50 ${t.closing} 1,157`,
    )
    expect(november).toMatch(
      /midnight in Shanghai .* \+200 1,200 .*a loss .* −50 1,150 .*the last second .* \+7 1,157 /,
    )
    expect(november).toContain(`+7 1,157 ${t.sums} +207 −50 ${t.closing} 30 Nov 1,157`)
    expect(november).not.toContain('before midnight')
    expect(november).toContain('/account/statement?from=2025-11-01&until=2025-11-30')
    expect(november).toContain(`${t.opening} 1 Nov 1,000`)
    expect(await sheetIn(alice, 'until=2025-10-31')).toContain(`${t.opening} 0 `)
  })

  it('repeats a number of member, days and sheet on each printed page', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const client = await alice.signIn()
    const numbersIn = async (query: string) => {
      const { body } = await client.get(`/account/statement?${query}`)
      const [, foot] = /<html lang="en" data-foot="([^"]*)"/.exec(body)!
      const [, number] = /<header>[\s\S]*?<code>([^<]*)<\/code>/.exec(body)!
      return [number, foot]
    }
    const [number, foot] = await numbersIn('from=2025-11-01&until=2025-11-30')
    expect(number).toBe(`${alice.id}-20251101-20251130`)
    expect(foot!.replaceAll('\u00A0', ' ')).toMatch(
      new RegExp(` · ${t.title} ${number} · 1 – 30 November 2025$`),
    )
    expect((await numbersIn('until=2025-11-30&book=test'))[0]).toBe(`${alice.id}-20251130-T`)
    expect((await numbersIn('until=2025-11-30&before=7'))[0]).toBe(`${alice.id}-20251130-7`)
  })

  it('names days that do not exist, and shows no other period', async () => {
    const client = await (await member()).signIn()
    for (const [query, fault] of [
      ['from=2026-11-31&until=2025-01-31', messages.en.periods.noDay('2026-11-31')],
      ['until=tomorrow', messages.en.periods.noDay('tomorrow')],
      ['from=2025-12-01&until=2025-11-01', messages.en.periods.wrongOrder],
    ] as const) {
      const page = await client.get(`/account/statement?${query}`)
      expect(page.status).toBe(400)
      expect(page.body).toContain(fault)
      expect(page.body).not.toContain('class="panel paper"')
    }
  })

  it('has the same balance twice where nothing moved', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    for (const [query, balance, closing] of [
      ['from=2025-12-02&until=2025-12-31', '1,160', t.closing],
      ['from=2020-01-01&until=2020-12-31', '0', t.closing],
      // This month, of the clock of the tests, which goes on.
      ['', '1,160', t.soFar],
    ] as const)
      expect(await sheetIn(alice, query)).toContain(
        `${t.opening} ${balance} ${t.moneyIn(0)} 0 ${t.moneyOut(0)} 0 ${closing} ${balance}`,
      )
  })

  it('carries the balance from sheet to sheet', async () => {
    const alice = await member()
    await post(alice, HISTORY)
    const wallet = { user_id: alice.id, book: 'live' } as const
    const time = { from: new Date('2025-10-31T16:00:00Z') }
    const newest = await sheetOf(test.db, wallet, time, 2)
    expect(newest).toMatchObject({ opening: 1_150n, closing: 1_160n })
    expect(newest.lines.map(({ amount }) => amount)).toEqual([7n, 3n])
    const { earlier, ...first } = await sheetOf(test.db, wallet, { ...time, before: newest.earlier }, 2)
    expect(first).toMatchObject({ opening: 1_000n, closing: 1_150n })
    expect(earlier).toBeUndefined()
    expect(await sheetIn(alice, `from=2025-11-01&before=${newest.earlier}`)).toContain(t.carriedForward)
  })

  it('stays a light page when it is full', async () => {
    const alice = await member()
    await post(
      alice,
      Array.from({ length: 70 }, (_, i): [number, string, string] => [
        1_000_000 + i,
        new Date(Date.UTC(2025, 10, 2) + i * 60_000).toISOString(),
        'A reason of an ordinary length, number one',
      ]),
    )
    const { body } = await (await alice.signIn()).get('/account/statement?from=2025-11-01&until=2025-11-30')
    expect(body.split('ordinary length')).toHaveLength(61)
    // Each page of paper ends and begins with its balance.
    expect(body.split(`>${t.carriedForward}<`)).toHaveLength(4)
    expect(body.split(`>${t.broughtForward}<`)).toHaveLength(6)
    expect(Buffer.byteLength(body)).toBeLessThan(40 * 1024)
    expect(body).toContain(t.earlier)
  })
})

describe('the file', () => {
  it('has the movements of the filter, the newest first, and no formula', async () => {
    const alice = await member()
    await post(alice, [...HISTORY, [1, '2025-12-05T00:00:00Z', '=cmd()']])
    const client = await alice.signIn()
    const answer = await client.get('/account/statement.csv?from=2025-11-30')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="statement-[\d-]+\.csv"$/)
    expect(answer.body.split('\r\n')).toEqual([
      '\uFEFFtime,kind,text,application,from,to,reason,transaction_id,amount,balance',
      "2025-12-05T00:00:00.000Z,Reward,'=cmd(),,,,'=cmd(),,1,1161",
      '2025-11-30T16:00:00.000Z,Reward,the next month,,,,the next month,,3,1160',
      '2025-11-30T15:59:59.000Z,Reward,the last second,,,,the last second,,7,1157',
      '',
    ])
    const others = await (await makePerson(test)).signIn()
    expect((await others.get('/account/statement.csv')).body.trim().split('\r\n')).toHaveLength(1)
  })
})
