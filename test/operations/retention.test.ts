/**
 * Ages: which rows are deleted when, which never, and that each statement deletes a bounded number.
 * spec/points 3.6.
 */
import { readFile } from 'node:fs/promises'
import { type RawBuilder, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { BATCH, deleteBatch, deleteExpiredRows, RETENTION, SWEPT } from '../../src/operations/retention.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeLink } from '../harness/links.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { setRows } from '../harness/rows.ts'

const test = await useTestApp()

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const countOf = async (table: string) => {
  // The service writes its own counts once a second. Only those of the test count here.
  const own = table === 'limit_counters' ? sql`where key like 'at %'` : sql``
  const { rows } = await sql<{
    n: number
  }>`select count(*)::integer as n from ${sql.table(table)} ${own}`.execute(test.db)
  return rows[0]!.n
}

describe('every table', () => {
  it('of the schema has its retention, and the guides state each', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(test.db)
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(RETENTION).sort())
    for (const file of ['README.md', 'README.zh-CN.md']) {
      const guide = await readFile(new URL(`../../docs/operations/${file}`, import.meta.url), 'utf8')
      for (const { table, days } of SWEPT)
        expect(guide, file).toMatch(new RegExp(`^\\|.*\`${table}\`.*\\| ${days} `, 'm'))
    }
  })

  it.each(SWEPT)('$table is deleted from by an index, and never sorted', async (rule) => {
    const plan = await test.db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx)
      await sql`set local enable_sort = off`.execute(tx)
      const { sql: text, parameters } = deleteBatch(rule, test.clock.now()).compile(tx)
      const values = parameters.map((value) => (value instanceof Date ? value.toISOString() : String(value)))
      const inlined = text.replace(/\$(\d+)/g, (_, number) => `'${values[Number(number) - 1]}'`)
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${sql.raw(inlined)}`.execute(tx)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    expect(plan).toContain('Index')
    expect(plan).toContain('Tid Scan')
    expect(plan).not.toMatch(/Seq Scan|Sort|Hash|Bitmap/)
  })

  it('that is a record is protected from deletion by the database', async () => {
    await makeMerchant(test)
    await makePerson(test, { points: 5n })
    for (const [table, keeping] of Object.entries(RETENTION)) {
      if (keeping !== 'record') continue
      const deletion = sql`delete from ${sql.table(table)}`.execute(test.db)
      await expect(deletion, table).rejects.toThrow(/append-only|never deleted|foreign key/)
    }
  })
})

/** A row of each table, or of its rule by this column, with this moment, for an application and its owner. */
function rowsAt(at: Date, app_id: bigint, user_id: bigint): Record<string, RawBuilder<unknown>> {
  const day = at.toISOString().slice(0, 10)
  const key = `at ${at.toISOString()}`
  const hash = sql`sha256(${key}::bytea)`
  const family = sql`select id from grants where expires_at = ${at}`
  return {
    limit_counters: sql`(scope, key, ends_at, count) values ('pages', ${key}, ${at}, 1)`,
    kept_forms: sql`(id, form, expires_at) values (${hash}, 'x', ${at})`,
    grants: sql`(app_id, user_id, scopes, auth_time, amr, expires_at)
      select (select min(id) from oauth_apps), ${user_id}, '{}', ${at}, '{}', ${at}`,
    access_tokens: sql`(token_hash, grant_id, scopes, expires_at) select ${hash}, (${family}), '{}', ${at}`,
    access_key_tokens: sql`(token_hash, key_id, scopes, expires_at) select ${hash}, min(id), '{}', ${at} from access_keys`,
    refresh_tokens: sql`(token_hash, grant_id, expires_at) select ${hash}, (${family}), ${at}`,
    authorization_codes: sql`(code_hash, app_id, user_id, redirect_uri, redirect_uri_sent, scopes, auth_time, amr, expires_at)
      select ${hash}, (select min(id) from oauth_apps), ${user_id}, 'https://x.example', true, '{}', ${at}, '{}', ${at}`,
    device_codes: sql`(device_code_hash, user_code_tag, app_id, scopes, ip, expires_at, created_at)
      select ${hash}, ${key}, (select min(id) from oauth_apps), '{}', '127.0.0.1', ${at}, ${at}`,
    sessions: sql`(token_hash, sid, user_id, auth_time, amr, ip, agent, expires_at)
      values (${hash}, left(md5(${key}::text), 22), ${user_id}, ${at}, '{}', '', '', ${at})`,
    pending_sign_ins: sql`(token_hash, user_id, amr, return_to, expires_at) values (${hash}, ${user_id}, '{}', '/', ${at})`,
    spent_challenges: sql`(challenge_hash, spent_at) values (${hash}, ${at})`,
    sign_in_attempts: sql`(account, address, attempted_at) values (${key}, 'x', ${at})`,
    account_links: sql`(token_hash, user_id, purpose, email, expires_at)
      values (${hash}, ${user_id}, 'sign_in', '', ${at})`,
    recovery_requests: sql`(name, language, ip, requested_at) values ('x', 'en', 'x', ${at})`,
    forum_nonces: sql`(nonce_hash, browser_hash, return_to, expires_at) values (${hash}, ${hash}, '/', ${at})`,
    forum_event_hours: sql`(hour) values (${at})`,
    forum_suspension_passes: sql`(started_at, finished_at) values (${at}, ${at})`,
    forum_events: sql`(event_id, event, received_at) values (${key}, 'ping', ${at})`,
    payment_app_days: sql`(app_id, book, act, day, points) values (${app_id}, 'live', 'payments', ${day}, 1)`,
    tip_days: sql`(user_id, day, given_points) values (${user_id}, ${day}, 1)`,
    tip_pairs: sql`(low_id, high_id, day, tips)
      select min(id), max(id), ${day}, 1 from users`,
    outgoing_mails: sql`(recipient, kind, subject, sent_at) values ('x', 'x', 'x', ${at})`,
    logout_deliveries: sql`(app_id, user_id, is_bulk, attempted_at, outcome, ended_at)
      select (select min(id) from oauth_apps), ${user_id}, false, ${at}, 'delivered', ${at}`,
    payouts: sql`(app_id, book, reference, mode, status, owner_id, fingerprint, created_at, updated_at)
      values (${app_id}, 'live', ${key}, 'each', 'draft', ${user_id}, ${hash}, ${at}, ${at})`,
    mandates: sql`(mandate_id, app_id, book, reference, kind, purpose, period, asked_charge_max, asked_period_max, with_token,
        charge_max, period_max, offer_expires_at, notice)
      values (left('mdt_' || md5(${key}), 28), ${app_id}, 'live', ${key}, 'up_to', 'x', 'day', 1, 1, false, 1, 1, ${at}, 'daily')`,
    mandate_refusals: sql`(mandate_id, period, outcome, times, last_amount, last_order_id, first_at, last_at)
      select min(id), ${day}, 'inactive', 1, 1, 'x', ${at}, ${at} from mandates where accepted_at is not null`,
    refused_requests: sql`(app_id, door, path, address, network, code, message, fields_encrypted, at)
      values (${app_id}, 'hmac', '/', 'x', 'x', 'x', 'x', '', ${at})`,
    security_events: sql`(kind, address, network, at) values ('form_refused', 'x', 'x', ${at})`,
    payment_app_keys: sql`(app_id, kind, value_encrypted, valid_from, valid_to)
      values (${app_id}, 'token', '', ${at}::timestamptz - interval '1 day', ${at})`,
    app_secrets: sql`(app_id, secret_hash, expires_at) select (select min(id) from oauth_apps), ${hash}, ${at}`,
    notification_attempts: sql`(notification_id, claim, started_at, outcome)
      select max(id), extract(epoch from ${at}::timestamptz)::integer, ${at}, 'timeout' from notifications`,
    alerts: sql`(user_id, app_id, kind, cause, facts, raised_at)
      values (${user_id}, ${app_id}, 'reviewed', ${key}, '{}', ${at})`,
    looked_findings: sql`(finding, size, note, looked_by, looked_at) values (${`byAddress:${at.getTime()}`}, 3, '', ${user_id}, ${at})`,
    link_reports: sql`(link_id, user_id, text, created_at)
      select id, ${user_id}, 'A report of it', ${at} from links
      where not exists (select from link_reports where link_id = links.id) limit 1`,
    oauth_apps: sql`(client_id, owner_id, name, redirect_uris, confirmed_at, created_at)
      values (${key}, ${user_id}, 'x', '{https://x.example}', null, ${at})`,
    'oauth_apps fetched_at': sql`(
        client_id, document_url, document, fetched_at, fresh_until, name, redirect_uris, allow_groups, deny_groups,
        token_endpoint_auth_method
      )
      select address, address, '{}', ${at}, ${at}, 'x', '{https://x.example}', '{}', '{}', 'none'
      from (select 'https://x.example/' || ${at.getTime()}::text as address) as made`,
    app_logos: sql`(name, picture, created_at) values (md5(${key}), 'x', ${at})`,
    order_views: sql`(user_id, order_id, viewed_at)
      select ${user_id}, id, ${at} from orders where not exists (select from order_views where order_id = orders.id) limit 1`,
  }
}

describe('a round', () => {
  it('deletes of each table what is past its age, and nothing younger', async () => {
    const merchant = await makeMerchant(test)
    const { id: app_id, owner } = merchant
    for (const order_id of ['one', 'two']) {
      const order = await merchant.process({ amount: '5', description: 'x', order_id })
      expect(order.status).toBe(200)
    }
    await Promise.all([makeLink(test, merchant), makeLink(test, merchant)])
    await sql`insert into oauth_apps (client_id, owner_id, name, redirect_uris) values ('swept', ${owner.id}, 'x', '{https://x.example}')`.execute(
      test.db,
    )
    await sql`insert into notifications (order_id, status, next_attempt_at)
      select max(id), 'delivered', null from orders`.execute(test.db)
    // The mandate of the refused charges.
    await sql`insert into mandates (mandate_id, app_id, book, reference, kind, purpose, period, asked_charge_max, asked_period_max,
        with_token, charge_max, period_max, offer_expires_at, notice, status, user_id, payee_id, accepted_at, agreed_on, starts_on,
        ends_on)
      values ('mdt_000000000000000000000000', ${app_id}, 'live', 'kept', 'up_to', 'x', 'day', 1, 1, false, 1, 1, now(), 'daily',
        'active', ${owner.id}, ${owner.id}, now(), '2026-01-01', '2026-01-01', '2026-01-02')`.execute(test.db)
    await sql`insert into access_keys (app_id, book, public_id, secret_hash, name, scopes, created_by, created_at, expires_at)
      values (${app_id}, 'live', 'ak_00000000000000000000', sha256('x'), 'x', '{transfers}', ${owner.id}, now(), now() + interval '1 day')`.execute(
      test.db,
    )
    await deleteExpiredRows(test.deps)
    const before = await counts()
    for (const { table, days, since } of SWEPT)
      for (const extra_ms of [-25 * HOUR_MS, DAY_MS]) {
        const at = new Date(test.clock.now().getTime() - days * DAY_MS - extra_ms)
        const row = rowsAt(at, app_id, owner.id)
        // The family of the tokens.
        if (table === 'access_tokens') await sql`insert into grants ${row.grants!}`.execute(test.db)
        if (table !== 'grants')
          await sql`insert into ${sql.table(table)} ${row[`${table} ${since}`] ?? row[table]!}`.execute(
            test.db,
          )
      }
    await deleteExpiredRows(test.deps)
    const after = await counts()
    for (const [table, rules] of Map.groupBy(SWEPT, ({ table }) => table))
      expect([table, after[table]! - before[table]!]).toEqual([table, rules.length])
  })

  it('deletes a token that signed an order, and keeps the order', async () => {
    const merchant = await makeMerchant(test)
    expect((await merchant.process({ amount: '5', description: 'x', order_id: 'three' })).status).toBe(200)
    const order = test.db.selectFrom('orders').where('app_id', '=', merchant.id).select('token_id')
    const { token_id } = await order.executeTakeFirstOrThrow()
    expect(token_id).not.toBeNull()
    const token = test.db.selectFrom('payment_app_keys').where('id', '=', token_id!).select('id')
    await setRows(
      test,
      'payment_app_keys',
      { id: token_id! },
      { valid_to: new Date(test.clock.now().getTime() - 91 * DAY_MS) },
    )
    await deleteExpiredRows(test.deps)
    expect(await token.execute()).toEqual([])
    expect(await order.execute()).toEqual([{ token_id }])
  })

  it('takes a backlog in batches, and stops between two of them', async () => {
    const BACKLOG = 25_000
    const old = new Date(test.clock.now().getTime() - 3 * DAY_MS)
    await sql`insert into sign_in_attempts (account, address, attempted_at)
      select 'backlog', 'x', ${old} from generate_series(1, ${BACKLOG}::integer)`.execute(test.db)
    const left = async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::integer as n from sign_in_attempts where account = 'backlog'`.execute(test.db)
      return rows[0]!.n
    }
    // One pass over all tables, and three more batches of the unfinished one.
    let asked = 0
    await deleteExpiredRows(test.deps, () => asked++ >= SWEPT.length + 3)
    expect(await left()).toBe(BACKLOG - 4 * BATCH)
    await Promise.all([deleteExpiredRows(test.deps), deleteExpiredRows(test.deps)])
    await deleteExpiredRows(test.deps)
    expect(await left()).toBe(0)
  })
})

async function counts(): Promise<Record<string, number>> {
  const pairs = await Promise.all(SWEPT.map(async ({ table }) => [table, await countOf(table)] as const))
  return Object.fromEntries(pairs)
}
