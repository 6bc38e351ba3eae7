/** The counts beside the filters of lists: exact while a list is short, and of bounded cost however long it is. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { countMembers } from '../../src/accounts/members.ts'
import { NEWEST_MAX } from '../../src/admin/dashboard/figures.ts'
import { countProposals } from '../../src/admin/proposals/proposals.ts'
import { countRefusals } from '../../src/admin/site/audit.page.ts'
import type { Db } from '../../src/database/connection.ts'
import { COUNTED_MAX, countNewest } from '../../src/database/counts.ts'
import { countApps } from '../../src/identity/apps/acts.ts'
import { countKinds } from '../../src/ledger/wallet.ts'
import { countReviews } from '../../src/payment/apps/review.ts'
import { countFates, type OrderFilter } from '../../src/payment/merchant/orders.ts'
import { countNotifications } from '../../src/payment/notifications/redelivery.ts'
import { countRefundRequests } from '../../src/payment/orders/refund-requests.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { rowsRead } from '../harness/rows-read.ts'

const ROWS = 20_000
/** The orders of the small shop stand between those of the busy one. */
const SMALL_SHARE = 5_000
/** Rare rows stand at the end, where a scan of the table would find them last. */
const LAST = 1_500
/** Each shop was approved by an administrator of its own. */
const ADMINS = 2

const test = await useTestApp()
const busy = await makeMerchant(test)
const small = await makeMerchant(test)
const holder = await makePerson(test, { points: 1n })
const { db, clock } = test
const now = clock.now()
await sql`
  insert into orders (app_id, door, order_id, transaction_id, description, amount, status, expires_at, created_at)
  select case when i % ${SMALL_SHARE} = 0 then ${small.id}::bigint else ${busy.id}::bigint end, 'hmac', 'counted-' || i,
    'txn_' || lpad(i::text, 24, 'c'), 'Straw', 5, case when i % 2 = 0 then 'closed' else 'expired' end, ${now}, ${now}
  from generate_series(1, ${ROWS}) as i`.execute(db)
await sql`
  insert into notifications (order_id, status, next_attempt_at)
  select id, case when id > (select max(id) from orders) - ${LAST} then 'failed' else 'delivered' end, null
  from orders where order_id like 'counted-%' order by id`.execute(db)
await sql`
  insert into users (username, password_hash, is_banned)
  select 'counted' || i, 'x', i > ${ROWS - LAST} from generate_series(1, ${ROWS}) as i`.execute(db)
await sql`
  insert into security_events (kind, address, network, at)
  select case when i = 1 then 'code_replayed' else 'sign_in_failed' end, '', '', ${now}
  from generate_series(1, ${ROWS}) as i`.execute(db)
await sql`
  with made as (
    insert into journal (book, kind, reference, reason, posted_at)
    select 'live', 'grant', 'counted:' || i, 'counted', ${now} from generate_series(1, 6000) as i order by i returning id
  )
  insert into entries (journal_id, book, account_id, amount)
  select made.id, 'live', account.id, case account.kind when 'wallet' then 1 else -1 end
  from made cross join ledger_accounts as account
  where account.book = 'live' and (account.kind = 'issuance' or account.user_id = ${holder.id}) order by made.id`.execute(
  db,
)
await sql`update ledger_accounts set balance = 6001 where user_id = ${holder.id} and book = 'live'`.execute(
  db,
)
await sql`analyze`.execute(db)

/** Runs a count, and returns it with the rows that it read of these tables. */
async function reading<T>(
  tables: string[],
  count: (db: Db) => Promise<T>,
): Promise<{ counts: T; read: number }> {
  return test.db.transaction().execute(async (tx) => {
    const readSoFar = async () => {
      let sum = 0
      for (const table of tables) sum += await rowsRead(tx, table)
      return sum
    }
    const before = await readSoFar()
    const counts = await count(tx)
    return { counts, read: (await readSoFar()) - before }
  })
}

const exactly = (rows: number) => ({ rows, isMore: false })
const atLeast = (rows: number) => ({ rows, isMore: true })

describe('the counts of a list', () => {
  it('are exact for a short list, and zero where nothing is', async () => {
    const { counts, read } = await reading(['orders'], (db) => countFates(db, small.id, {}, test.clock.now()))
    expect(counts).toEqual({
      all: exactly(4),
      open: exactly(0),
      paid: exactly(0),
      partlyRefunded: exactly(0),
      refunded: exactly(0),
      expired: exactly(0),
      closed: exactly(4),
    })
    expect(read).toBeLessThan(20)
    expect(await countNotifications(test.db, small.payment_id)).toMatchObject({
      all: exactly(4),
      failed: exactly(1),
    })
  })

  it('say “at least” for a long one, and nothing where older rows may be', async () => {
    const { counts, read } = await reading(['orders'], (db) => countFates(db, busy.id, {}, test.clock.now()))
    expect(counts.all).toEqual(atLeast(COUNTED_MAX))
    expect(counts.closed!.rows + counts.expired!.rows).toBe(COUNTED_MAX)
    expect(counts).not.toHaveProperty('open')
    expect(read).toBeLessThanOrEqual(COUNTED_MAX + 50)
  })

  it('leave out what the other filters leave out', async () => {
    const now = test.clock.now()
    expect((await countFates(test.db, small.id, { min: 6n }, now)).all).toEqual(exactly(0))
    expect((await countFates(test.db, small.id, { max: 5n, fate: 'open' }, now)).closed).toEqual(exactly(4))
  })

  it('read as many orders as a search looks through', async () => {
    const search = (filter: OrderFilter) =>
      reading(['orders'], (db) => countFates(db, busy.id, filter, test.clock.now()))
    const byAmount = await search({ min: 6n })
    expect(byAmount.counts).toMatchObject({ all: exactly(0), closed: exactly(0) })
    expect(byAmount.read).toBeLessThanOrEqual(NEWEST_MAX + 50)
    const byWords = await search({ text: 'straw' })
    expect(byWords.counts).toMatchObject({ all: atLeast(10_000), closed: { isMore: true } })
    expect(byWords.read).toBeLessThanOrEqual(NEWEST_MAX + 50)
    const few = await countFates(test.db, small.id, { text: 'straw' }, test.clock.now())
    expect(few).toMatchObject({ all: exactly(4), closed: exactly(4), paid: exactly(0) })
  })

  it('read the newest movements of a wallet', async () => {
    const { counts, read } = await reading(['entries', 'journal'], (db) =>
      countKinds(db, { user_id: holder.id, book: 'live' }, {}, ['grant', 'payment'] as const),
    )
    expect(counts).toEqual({ all: atLeast(COUNTED_MAX), grant: atLeast(COUNTED_MAX) })
    expect(read).toBeLessThanOrEqual(2 * COUNTED_MAX + 50)
    const search = (text: string) =>
      reading(['entries', 'journal', 'orders', 'transfers', 'payment_apps'], (db) =>
        countKinds(db, { user_id: holder.id, book: 'live' }, { text }, ['grant', 'payment'] as const),
      )
    const found = await search('counted:59')
    expect(found.counts).toEqual({ all: atLeast(100), grant: atLeast(100) })
    expect(found.read).toBeLessThanOrEqual(NEWEST_MAX)
    const other = await makePerson(test)
    expect(await countKinds(test.db, { user_id: other.id, book: 'live' }, {}, ['grant'] as const)).toEqual({
      all: exactly(0),
      grant: exactly(0),
    })
  })

  it('read an application’s newest notifications, and the failed ones of all by their index', async () => {
    const ofApp = await reading(['notifications'], (db) => countNotifications(db, busy.payment_id))
    expect(ofApp.counts).toEqual({ all: atLeast(COUNTED_MAX), failed: atLeast(COUNTED_MAX) })
    expect(ofApp.read).toBeLessThanOrEqual(COUNTED_MAX + 50)
    const ofAll = await reading(['notifications'], (db) => countNotifications(db, undefined))
    expect(ofAll.counts).toEqual({ all: atLeast(COUNTED_MAX), due: exactly(0), failed: atLeast(COUNTED_MAX) })
    expect(ofAll.read).toBeLessThanOrEqual(2 * COUNTED_MAX + 50)
  })

  it('read members, applications and queues by an index of each status', async () => {
    const now = test.clock.now()
    const members = await reading(['users'], (db) => countMembers(db, now))
    expect(members.counts).toEqual({
      all: atLeast(COUNTED_MAX),
      barred: atLeast(COUNTED_MAX),
      service: { rows: 0, isMore: false },
      admins: exactly(ADMINS),
    })
    expect(members.read).toBeLessThanOrEqual(2 * COUNTED_MAX + 50)
    const refusals = await reading(['security_events'], (db) =>
      countRefusals(db, ['code_replayed', 'sign_in_failed', 'form_refused']),
    )
    expect(refusals.counts).toEqual({
      all: atLeast(COUNTED_MAX),
      code_replayed: exactly(1),
      sign_in_failed: atLeast(COUNTED_MAX),
      form_refused: exactly(0),
    })
    expect(refusals.read).toBeLessThanOrEqual(2 * COUNTED_MAX + 50)
    expect(await countApps(test.db)).toEqual({
      all: exactly(0),
      suspended: exactly(0),
      unreviewed: exactly(0),
      unconfirmed: exactly(0),
      unregistered: exactly(0),
    })
    expect(await countReviews(test.db)).toEqual({ waiting: exactly(0), decided: exactly(2) })
    expect(await countRefundRequests(test.db)).toEqual({ open: exactly(0), decided: exactly(0) })
    expect(await countProposals(test.db)).toEqual({ all: exactly(0), open: exactly(0) })
  })

  it('know that a list of exactly the bound may go on', async () => {
    const rows = (count: number) =>
      sql`select 'a' as filter from generate_series(1, ${count}::integer) as row`
    expect(await countNewest(test.db, ['a'], rows(COUNTED_MAX - 1))).toMatchObject({
      a: exactly(COUNTED_MAX - 1),
    })
    expect(await countNewest(test.db, ['a'], rows(COUNTED_MAX))).toMatchObject({ a: atLeast(COUNTED_MAX) })
  })
})
