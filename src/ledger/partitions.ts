/**
 * The journal and its entries by month, for a ledger that has grown big: an operator asks for it once, and the worker
 * goes on with it.
 *
 * A journal's id begins with its month: those of January 2027 are 202701 and ten digits. So ids go on rising, the ids of a
 * month are known long before it, and a key of the id holds over all partitions. At the month's turn the worker moves the
 * sequence on, into a month whose partition is there; until it does, and if it never did, ids go on in the month before.
 * Entries stand in the partition of their journal. What was there before is the first partition, as it is.
 *
 * Rules that a partitioned table cannot hold itself stand elsewhere, and hold as before: that a reference is used once, in
 * `journal_references`; that an entry has its journal, in a foreign key from each partition to the journals' of its month;
 * that nothing is changed and everything balances, in triggers of the whole and of each partition by itself. A migration
 * that gives journal or entries a key without the id must look here.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, isLockedOut, type Tx } from '../database/connection.ts'
import { unhurried } from '../database/timeouts.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../errors.ts'

/** More than any month needs; the largest id of the year 9000 is still a whole number in JSON. */
const IDS_OF_A_MONTH = 10_000_000_000n
const MONTHS_AHEAD = 3
const REFERENCES_AT_ONCE = 20_000
/** Any constant of ours, as in migrations: whoever holds it works at the partitions. */
const PARTITION_LOCK = 7_305_128_843
/** Whoever holds it turns the ledger into partitions, from the first step to the last. */
const PARTITIONING_LOCK = 7_305_128_844
/** Below the second after which Postgres looks for a deadlock: so it is this that gives way, not what it waits for. */
const LOCK_WAIT_MS = 400
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = 1_000
/** After so long the worker should have moved on to the new month. */
const TURN_MINUTES = 15

/** `202701` */
type Month = number

type PartitionDeps = Pick<Deps, 'db' | 'clock'>

export type Partitioning = {
  /** False when they had been partitioned before. */
  isNew: boolean
  /** For so long nobody could pay, and nothing could be read. */
  locked_ms: number
  /** The oldest first. */
  partitions: string[]
}

/**
 * Partitions a live ledger, in steps of which each may be interrupted and begun again. Long ones run beside the service;
 * the change itself takes every table around the journal for milliseconds. Throws conflict when another does the same,
 * and when others hold these tables for a minute.
 */
export async function partitionLedger(
  { db, clock }: PartitionDeps,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Partitioning> {
  return alone(db, () => partition({ db, clock }, onProgress))
}

/**
 * Of two at once the second would do to the partitioned tables what is meant for the plain ones. The transaction holds a
 * lock of ours and nothing else, so it stands in nobody's way however long it lasts; a lock of the session would stay
 * behind on a connection of pgbouncer.
 */
async function alone<T>(db: Db, act: () => Promise<T>): Promise<T> {
  return unhurried(db, async (tx) => {
    const { rows } = await sql`select where pg_try_advisory_xact_lock(${PARTITIONING_LOCK})`.execute(tx)
    if (rows.length === 0)
      throw new AppError(
        'conflict',
        'Another one partitions the ledger at this moment: wait until it has ended',
      )
    return act()
  })
}

async function partition(
  { db, clock }: PartitionDeps,
  onProgress: (done: number, total: number) => void,
): Promise<Partitioning> {
  const isNew = !(await isPartitioned(db))
  let locked_ms = 0
  if (isNew) {
    await keepReferences(db, onProgress)
    const cut = await boundFirst(db, monthOf(clock()))
    locked_ms = await whenUnlocked(() => db.transaction().execute((tx) => turnIntoPartitions(tx, cut, clock)))
  }
  await validateReferences(db)
  await keepPartitions({ db, clock })
  return { isNew, locked_ms, partitions: await partitionsOf(db) }
}

/** Of a partitioned ledger: makes the partitions of the coming months, and moves on when a month has begun. */
export async function keepPartitions({ db, clock }: PartitionDeps): Promise<void> {
  if (!(await isPartitioned(db))) return
  const now = monthOf(clock())
  await db.transaction().execute(async (tx) => {
    if (!(await claim(tx))) return
    await giveUpSoon(tx)
    const last = (await partitionsOf(tx)).at(-1)!
    const months = monthsToMake(last, now)
    // In the order in which payments write to them, so that neither waits for the other: to attach locks them so one by one.
    if (months.length > 0)
      await sql
        .raw('lock table ledger_accounts, users, orders, refunds, transfers in share row exclusive mode')
        .execute(tx)
    for (const month of months) await addPartition(tx, month)
  })
  await db.transaction().execute(async (tx) => {
    if (!(await claim(tx)) || !(await partitionsOf(tx)).includes(nameOf('journal', now))) return
    // Only whoever holds the claim moves the sequence, and only forwards.
    await sql`
      select setval('journal_id_seq', ${firstIdOf(now)}::bigint, false)
      from journal_id_seq where last_value < ${firstIdOf(now)}::bigint`.execute(tx)
  })
}

/** What is amiss with the partitions, and how to mend it. Undefined when all is well, or nothing is partitioned. */
export async function findPartitionFault({ db, clock }: PartitionDeps): Promise<string | undefined> {
  const again = 'run tessera ledger partition again'
  if (!(await isPartitioned(db))) {
    const { rows } = await sql`select where to_regclass('journal_references') is not null`.execute(db)
    return rows.length === 0 ? undefined : `Partitioning the ledger was begun and not ended: ${again}`
  }
  const partitions = await partitionsOf(db)
  const isThere = (month: Month) => partitions.includes(nameOf('journal', month))
  if (!isThere(next(monthOf(clock()))))
    return 'The ledger has no partition for the next month: start the service, whose log says why it makes none'
  const settled = monthOf(new Date(clock().getTime() - TURN_MINUTES * 60_000))
  const { rows: late } = await sql`
    select from journal_id_seq where last_value < ${firstIdOf(settled)}::bigint`.execute(db)
  if (isThere(settled) && late.length > 0)
    return 'New journals go into the partition of a month that is over: start the service, whose log says why'
  const { rows: unproven } = await sql`
    select from pg_constraint where confrelid = 'journal'::regclass and conparentid = 0 and not convalidated`.execute(
    db,
  )
  return unproven.length === 0 ? undefined : `Partitioning the ledger was not ended: ${again}`
}

async function isPartitioned(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_class where oid = 'journal'::regclass and relkind = 'p'`.execute(db)
  return rows.length > 0
}

/** Of the journal, the oldest first. */
async function partitionsOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'journal'::regclass
    order by inhrelid <> 'journal_first'::regclass, 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** From now on every journal leaves its reference; then those of before are added, a bounded number at a time. */
async function keepReferences(db: Db, onProgress: (done: number, total: number) => void): Promise<void> {
  await whenUnlocked(() =>
    db.transaction().execute(async (tx) => {
      await giveUpSoon(tx)
      for (const statement of REFERENCES) await sql.raw(statement).execute(tx)
    }),
  )
  const { rows } = await unhurried(db, (tx) =>
    sql<{ last: bigint; total: bigint }>`
    select coalesce(max(id), 0) as last, count(*) as total from journal`.execute(tx),
  )
  const { last, total } = rows[0]!
  let done = 0
  for (let after = 0n; after < last; ) {
    const { rows: batch }: { rows: { last: bigint; count: bigint }[] } = await sql<{
      last: bigint
      count: bigint
    }>`
      with batch as (
        select id, kind, reference, book from journal where id > ${after} and id <= ${last}
        order by id limit ${REFERENCES_AT_ONCE}
      ),
      added as (insert into journal_references select kind, reference, book from batch on conflict do nothing)
      select max(id) as last, count(*) as count from batch`.execute(db)
    after = batch[0]!.last
    done += Number(batch[0]!.count)
    onProgress(done, Number(total))
  }
}

const REFERENCES = [
  // Nothing but the key: each journal has its row here, and its own columns tell the rest.
  `create table if not exists journal_references (
     kind text not null,
     reference text not null,
     book text not null,
     constraint journal_references_key primary key (kind, reference, book)
   )`,
  `create or replace trigger journal_references_append_only before update or delete or truncate on journal_references
     for each statement execute function refuse_change()`,
  `create or replace function leave_references() returns trigger language plpgsql as $$
   begin
     insert into journal_references select kind, reference, book from inserted;
     return null;
   end
   $$`,
  `create or replace trigger journal_leaves_references after insert on journal
     referencing new table as inserted for each statement execute function leave_references()`,
]

/**
 * Proves beside the service that all journals, and those of the rest of this month, come before the next. Answers the
 * month that begins there.
 */
async function boundFirst(db: Db, now: Month): Promise<Month> {
  const { rows } = await sql<{ last: bigint }>`select last_value as last from journal_id_seq`.execute(db)
  const reached = Number(rows[0]!.last / IDS_OF_A_MONTH)
  const cut = next(Math.max(now, reached))
  for (const [table, column] of [
    ['journal', 'id'],
    ['entries', 'journal_id'],
  ]) {
    await whenUnlocked(() =>
      db.transaction().execute(async (tx) => {
        await giveUpSoon(tx)
        await sql
          .raw(`
            alter table ${table} drop constraint if exists ${table}_first_ids,
              add constraint ${table}_first_ids check (${column} < ${firstIdOf(cut)}) not valid`)
          .execute(tx)
      }),
    )
    await unhurried(db, (tx) =>
      sql.raw(`alter table ${table} validate constraint ${table}_first_ids`).execute(tx),
    )
  }
  return cut
}

/** The change itself. Answers how long it held its locks. */
async function turnIntoPartitions(tx: Tx, cut: Month, clock: Deps['clock']): Promise<number> {
  await giveUpSoon(tx)
  const { rows: referring } = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and confrelid = 'journal'::regclass and conrelid <> 'entries'::regclass`.execute(tx)
  const others = new Set(['orders', 'users', 'ledger_accounts', ...referring.map(({ table }) => table)])
  const began = clock()
  // In the order in which payments and transfers come by. All at once in this mode: Postgres needs it of each later, and
  // who waits for a higher one while others wait for the lower waits in vain.
  await sql`set local statement_timeout = ${sql.lit(2 * LOCK_WAIT_MS)}`.execute(tx)
  await sql
    .raw(`lock table ${[...others, 'journal', 'entries'].join(', ')} in access exclusive mode`)
    .execute(tx)
  await sql`set local statement_timeout = 0`.execute(tx)

  for (const { table, name } of referring)
    await sql.raw(`alter table ${table} drop constraint ${name}`).execute(tx)
  const { rows } = await sql<{ following: bigint }>`
    select last_value + is_called::int as following from journal_id_seq`.execute(tx)
  const { rows: entryIds } = await sql<{ following: bigint }>`
    select last_value + is_called::int as following from entries_id_seq`.execute(tx)
  await turn(tx, { table: 'journal', column: 'id', cut, following: rows[0]!.following })
  await turn(tx, { table: 'entries', column: 'journal_id', cut, following: entryIds[0]!.following })
  // What refers to a journal refers to it wherever it stands. The rows there are were proven, and are proven anew after.
  for (const { table, name, definition } of referring)
    await sql.raw(`alter table ${table} add constraint ${name} ${definition} not valid`).execute(tx)
  await addPartition(tx, cut)
  return clock().getTime() - began.getTime()
}

type Turn = { table: 'journal' | 'entries'; column: string; cut: Month; following: bigint }

/** A table becomes the first partition of a new one, which takes its name, its keys and its triggers. */
async function turn(tx: Tx, { table, column, cut, following }: Turn): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(tx)
  const { rows: definitions } = await sql<{ name: string; kind: string; definition: string }>`
    select quote_ident(relname) as name, 'index' as kind, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = ${table}::regclass and not exists (select from pg_constraint where conindid = indexrelid and conrelid = indrelid)
    union all
    select quote_ident(conname), case when contype = 'f' then 'reference' else 'key' end, pg_get_constraintdef(c.oid)
    from pg_constraint as c
    where conrelid = ${table}::regclass and contype in ('p', 'u', 'f')
    union all
    select quote_ident(tgname), 'trigger', pg_get_triggerdef(oid) from pg_trigger
    where tgrelid = ${table}::regclass and not tgisinternal`.execute(tx)
  const first = `${table}_first`
  await run(`alter table ${table} rename to ${first}`)
  for (const { name, kind } of definitions)
    if (kind === 'index' || kind === 'key')
      await run(`alter index ${name} rename to ${name.replace(table, first)}`)
  await run(`alter table ${first} alter column id drop identity`)
  await run(`create table ${table} (
    like ${first} including defaults including constraints including storage including comments
  ) partition by range (${column})`)
  await run(
    `alter table ${table} drop constraint ${table}_first_ids,
      alter column id add generated always as identity (sequence name ${table}_id_seq start with ${following})`,
  )
  const isKept = ({ name, kind, definition }: (typeof definitions)[number]) =>
    kind === 'key' ? new RegExp(`\\(([^)]*, )?${column}[,)]`).test(definition) : name !== 'entries_journal'
  for (const each of definitions.filter(isKept)) {
    const isConstraint = each.kind === 'key' || each.kind === 'reference'
    await run(
      isConstraint ? `alter table ${table} add constraint ${each.name} ${each.definition}` : each.definition,
    )
  }
  await run(
    `alter table ${table} attach partition ${first} for values from (minvalue) to (${firstIdOf(cut)})`,
  )
  await run(`alter table ${first} drop constraint ${table}_first_ids`)
}

/** A partition of each table for a month, with all that the first one has. */
async function addPartition(tx: Tx, month: Month): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(tx)
  for (const table of ['journal', 'entries'] as const) {
    const partition = nameOf(table, month)
    await run(`create table ${partition} (
      like ${table} including defaults including constraints including storage including comments)`)
    // What stands at a partition alone: keys without the id, and the way to the journals of the same month.
    const { rows: own } = await sql<{ name: string; definition: string }>`
      select quote_ident(conname) as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where conrelid = ${`${table}_first`}::regclass and contype in ('p', 'u', 'f') and conparentid = 0`.execute(
      tx,
    )
    for (const { name, definition } of own) {
      const renamed = name.replace(`${table}_first`, partition)
      const here = definition.replace('journal_first', nameOf('journal', month))
      await run(`alter table ${partition} add constraint ${renamed} ${here}`)
    }
    // Triggers of statements, which are not inherited: whoever names the partition meets them too.
    const { rows: triggers } = await sql<{ definition: string }>`
      select pg_get_triggerdef(oid, true) as definition from pg_trigger
      where tgrelid = ${table}::regclass and not tgisinternal and tgtype & 1 = 0`.execute(tx)
    for (const { definition } of triggers) await run(definition.replace(` ON ${table} `, ` ON ${partition} `))
    await run(
      `alter table ${table} attach partition ${partition}
       for values from (${firstIdOf(month)}) to (${firstIdOf(next(month))})`,
    )
  }
}

/** Beside the service: what the change took over is proven once more. */
async function validateReferences(db: Db): Promise<void> {
  const { rows } = await sql<{ table: string; name: string }>`
    select conrelid::regclass::text as table, quote_ident(conname) as name from pg_constraint
    where contype = 'f' and confrelid = 'journal'::regclass and conparentid = 0 and not convalidated`.execute(
    db,
  )
  for (const { table, name } of rows)
    await unhurried(db, (tx) => sql.raw(`alter table ${table} validate constraint ${name}`).execute(tx))
}

/** From the month after the last partition to so many ahead. */
function monthsToMake(last: string, now: Month): Month[] {
  const [, year, month] = /^journal_(\d{4})_(\d\d)$/.exec(last)!
  let until = now
  for (let ahead = 0; ahead < MONTHS_AHEAD; ahead += 1) until = next(until)
  const months: Month[] = []
  for (let each = next(Number(`${year}${month}`)); each <= until; each = next(each)) months.push(each)
  return months
}

async function claim(tx: Tx): Promise<boolean> {
  const { rows } = await sql`select where pg_try_advisory_xact_lock(${PARTITION_LOCK})`.execute(tx)
  return rows.length > 0
}

async function giveUpSoon(tx: Tx): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(tx)
}

/** Tries again while others hold the locks, and lets them go on in between. */
async function whenUnlocked<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act()
    } catch (error) {
      if (!isLockedOut(error)) throw error
      if (tries === LOCK_TRIES)
        throw new AppError(
          'conflict',
          'Something holds the ledger for longer than a minute, such as a backup or a proof of the books: try again after it',
          { cause: error },
        )
    }
    await sleep(LOCK_PAUSE_MS)
  }
}

/** Months begin at midnight where the forum's people live, as days do. */
function monthOf(moment: Date): Month {
  const day = moment.toLocaleDateString('sv-SE', { timeZone: 'Asia/Shanghai' })
  return Number(day.slice(0, 4) + day.slice(5, 7))
}

function next(month: Month): Month {
  return month % 100 === 12 ? month + 89 : month + 1
}

function firstIdOf(month: Month): bigint {
  return BigInt(month) * IDS_OF_A_MONTH
}

function nameOf(table: 'journal' | 'entries', month: Month): string {
  return `${table}_${String(month).slice(0, 4)}_${String(month).slice(4)}`
}
