/**
 * The chain of seals: one process at a time seals in order, behind every transaction that could still fill a gap. The
 * proof finds and names changes by a person with the whole database.
 */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createUser } from '../../src/accounts/people/users.ts'
import { type Db, openDatabase, type Tx } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import {
  type ChainEnd,
  type ChainFault,
  nextHash,
  readContents,
  verifyChain,
} from '../../src/ledger/chain.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { makeSealer } from '../../src/ledger/seal.ts'
import { makeSecrets, type Secrets } from '../../src/platform/secrets.ts'
import { START, startServer } from '../harness/global-setup.ts'
import { longTimeouts } from '../harness/role-timeouts.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { until } from '../harness/waiting.ts'

const secrets = makeSecrets('a secret of the tests, which guards nothing at all')

let database: { url: string; drop: () => Promise<void> }
let db: Db
let user_id: bigint
let count = 0

beforeAll(async () => {
  // The test has a server of its own, because sealing waits for every transaction of a server.
  const folder = await makeScratchFolder()
  const server = await startServer(inject('emptyCluster'), join(folder, 'server'))
  database = {
    url: server.url,
    async drop() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
  // Transactions of the tests wait for other acts.
  const owner = await session()
  for (const statement of longTimeouts('tessera')) await owner.query(statement)
  await owner.end()
  await migrate(server.url)
  db = openDatabase(database.url, { max: 8, onBroken: () => {} })
  user_id = await createUser(db, { username: 'alice', password_hash: 'x' })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

const give = (amount = 10n) =>
  grantPoints(db, {
    user_id,
    amount,
    reference: `seal:${++count}`,
    reason: 'test',
    actor_id: null,
    now: START,
  })
const idOf = async (reference: string) =>
  (await db.selectFrom('journal').where('reference', '=', reference).select('id').executeTakeFirstOrThrow())
    .id
const journalIds = async () =>
  (await db.selectFrom('journal').orderBy('id').select('id').execute()).map(({ id }) => id)
const sealedIds = async () =>
  (await db.selectFrom('journal_seals').orderBy('journal_id').select('journal_id').execute()).map(
    ({ journal_id }) => journal_id,
  )
/** A journal without entries, which takes no locks that others wait for. */
const post = (reference: string) =>
  `select (post_journals('adjustment', 'test', array[row('live', '${reference}', null, now(), null, null, null, 0, 0)::posting]))[1] as id`

async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

describe('sealing', () => {
  const seal = () => makeSealer({ db, secrets })()

  it('seals every committed journal once, in order, and answers the end', async () => {
    expect(await seal()).toBeUndefined()
    for (let i = 0; i < 3; i += 1) await give()
    const end = await seal()
    expect(await sealedIds()).toEqual(await journalIds())
    expect(end?.journal_id).toBe((await journalIds()).at(-1))
    expect(await seal()).toBeUndefined()
    expect(await verifyChain(db, secrets)).toMatchObject({ seals: 3n, unsealed: 0n, end })
  })

  it('waits for an old transaction with a lower id, then seals', async () => {
    const old = await session()
    await old.query('begin')
    await old.query(post('held'))
    await give()
    const before = await sealedIds()
    await seal()
    await seal()
    expect(await sealedIds()).toEqual(before)
    expect(await verifyChain(db, secrets)).toMatchObject({ unsealed: 1n })
    await old.query('commit')
    await old.end()
    await seal()
    const ids = await journalIds()
    expect(await sealedIds()).toEqual(ids)
    expect((await idOf('held')) < ids.at(-1)!).toBe(true)
  })

  it('waits also for a bare id, and passes one rolled back', async () => {
    // Between its identity value and its row, this transaction does nothing that gives it a number.
    await sql`create function hold() returns trigger language plpgsql as $$ begin
      if new.reference = 'interrupted' then perform pg_advisory_xact_lock(1); end if; return new; end $$`.execute(
      db,
    )
    await sql`create trigger hold before insert on journal for each row execute function hold()`.execute(db)
    const [holder, interrupted, undone] = await Promise.all([session(), session(), session()])
    await holder.query('select pg_advisory_lock(1)')
    const inserting = interrupted.query(post('interrupted'))
    const isWaiting = async () =>
      (await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(db)).rows.length >
      0
    await until(isWaiting)
    await undone.query('begin')
    await undone.query(post('undone'))
    await undone.query('rollback')
    await give()
    const before = await sealedIds()
    for (let round = 0; round < 3; round += 1) await seal()
    expect(await sealedIds()).toEqual(before)

    await holder.query('select pg_advisory_unlock(1)')
    await inserting
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
    await sql`drop trigger hold on journal`.execute(db)
    await Promise.all([holder, interrupted, undone].map((client) => client.end()))
  })

  it('is done once by several processes, while journals go on being posted', async () => {
    const sealers = Array.from({ length: 4 }, () => makeSealer({ db, secrets }))
    const posting = Array.from({ length: 60 }, () => give())
    for (let round = 0; round < 5; round += 1) await Promise.all(sealers.map((sealer) => sealer()))
    await Promise.all(posting)
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
    expect(await faults()).toEqual({})
  })

  it('takes as many as a batch holds, to the journal', async () => {
    await seal()
    await sql`select post_journals('adjustment', 'test', array_agg(row('live', 'full:' || n, null, now(), null, null, null, 0, 0)::posting order by n))
      from generate_series(1, 500) as n`.execute(db)
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
    await give()
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
  })

  it('takes all batches of a round in one commit', async () => {
    await sql`select post_journals('adjustment', 'test', array_agg(row('live', 'round:' || n, null, now(), null, null, null, 0, 0)::posting order by n))
      from generate_series(1, 600) as n`.execute(db)
    const before = await sealedIds()
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
    const { rows } = await sql<{ commits: bigint }>`
      select count(distinct xmin::text) as commits from journal_seals where journal_id > ${before.at(-1)}`.execute(
      db,
    )
    expect(rows).toEqual([{ commits: 1n }])
  })

  it('leaves journals that arrive meanwhile to the next round', async () => {
    await give()
    const seen = await journalIds()
    const execute = async (act: (tx: Tx) => Promise<unknown>) => {
      const outcome = await db.transaction().execute(act)
      await give()
      return outcome
    }
    const busy = new Proxy(db, {
      get(target, name) {
        if (name === 'transaction') return () => ({ execute })
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    await makeSealer({ db: busy, secrets })()
    expect(await sealedIds()).toEqual(seen)
  })

  it('takes many in batches, stops between them when asked, and continues', async () => {
    await sql`select post_journals('adjustment', 'test', array_agg(row('live', 'many:' || n, null, now(), null, null, null, 0, 0)::posting order by n))
      from generate_series(1, 1200) as n`.execute(db)
    const journals = await journalIds()
    const before = (await sealedIds()).length
    let asked = 0
    await makeSealer({ db, secrets })(() => ++asked > 3)
    const part = (await sealedIds()).length
    expect(part).toBeGreaterThan(before)
    expect(part).toBeLessThan(journals.length)
    await seal()
    expect(await sealedIds()).toEqual(journals)
    expect(await verifyChain(db, secrets)).toMatchObject({ seals: BigInt(journals.length), unsealed: 0n })
  })

  it('begins to look anew in a database that came from another server', async () => {
    await give()
    // Transaction numbers that this server will not reach for long.
    await sql`update journal_sealing set seen_to = sealed_to + 1, seen_before = '999999999999'`.execute(db)
    await seal()
    expect(await sealedIds()).toEqual(await journalIds())
  })

  it('stops when the chain no longer holds what this process has sealed', async () => {
    const sealer = makeSealer({ db, secrets })
    await give()
    const end = await sealer()
    await sql`alter table journal_seals disable trigger user`.execute(db)
    const cut = await db
      .deleteFrom('journal_seals')
      .where('journal_id', '=', end!.journal_id!)
      .returningAll()
      .executeTakeFirstOrThrow()
    await give()
    await expect(sealer()).rejects.toThrow(`no longer holds what was sealed for journal ${end!.journal_id}`)
    const { created_at: _, ...seal } = cut
    await db.insertInto('journal_seals').values(seal).execute()
    await sql`alter table journal_seals enable trigger user`.execute(db)
    await sealer()
    expect(await sealedIds()).toEqual(await journalIds())
  })
})

/** The faults that the proof finds, by kind. */
async function faults(within: Db = db, key: Secrets | 'no key' = secrets) {
  const { faults } = await verifyChain(within, key === 'no key' ? undefined : key)
  return Object.fromEntries(
    Object.entries(faults).flatMap(([fault, { count, first }]) => (count > 0n ? [[fault, first]] : [])),
  ) as Partial<Record<ChainFault, bigint[]>>
}

class RolledBack extends Error {}

/** Changes the database with every trigger off, checks it, and rolls the change back. */
async function tampering<T>(
  change: string[] | ((tx: Tx) => Promise<unknown>),
  look: (tx: Tx) => Promise<T>,
): Promise<T> {
  let seen: T | undefined
  const done = db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    if (typeof change === 'function') await change(tx)
    else for (const statement of change) await sql.raw(statement).execute(tx)
    seen = await look(tx)
    throw new RolledBack()
  })
  await expect(done).rejects.toThrow(RolledBack)
  return seen as T
}
const afterTampering = (statements: string[]) => tampering(statements, (tx) => faults(tx))

describe('the walk along the chain', () => {
  let ids: bigint[]
  /** A sealed journal with entries, and its neighbours. */
  let victim: bigint
  let before: bigint
  let after: bigint
  let gap: bigint

  beforeAll(async () => {
    await give()
    await give()
    const undone = await session()
    await undone.query('begin')
    gap = BigInt((await undone.query(post('gap'))).rows[0].id)
    await undone.query('rollback')
    await undone.end()
    await give()
    await makeSealer({ db, secrets })()
    ids = await journalIds()
    ;[before, victim, after] = ids.slice(-3) as [bigint, bigint, bigint]
    expect([victim < gap, gap < after]).toEqual([true, true])
  })

  it('agrees with hashes computed by other means', async () => {
    let previous: [id: string | null, hash: Buffer] = [null, Buffer.alloc(32)]
    const stamp = (moment: string) => `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
    const rows = await sql<Record<string, string> & { hash: Buffer; lines: string[][] | null }>`
      select j.id::text, j.book, j.kind, j.reference, j.actor_id::text, j.reason, s.hash,
        ${sql.raw(stamp('j.posted_at'))} as posted, ${sql.raw(stamp('j.created_at'))} as created,
        (select json_agg(json_build_array(e.id::text, e.book, e.amount::text, a.id::text, a.book, a.kind, a.user_id::text) order by e.id)
          from entries e join ledger_accounts a on a.id = e.account_id where e.journal_id = j.id) as lines
      from journal j join journal_seals s on s.journal_id = j.id order by j.id`.execute(db)
    for (const { id, book, kind, reference, actor_id, reason, posted, created, lines, hash } of rows.rows) {
      const link = [previous[0], id, book, kind, reference, actor_id, reason, posted, created, lines]
      const expected = createHash('sha256').update(previous[1]).update(JSON.stringify(link)).digest()
      expect(expected.equals(hash)).toBe(true)
      previous = [id!, hash]
    }
  })

  it('finds nothing wrong, with the key and without', async () => {
    expect(await faults()).toEqual({})
    expect(await faults(db, 'no key')).toEqual({})
  })

  it.each([
    [
      'an amount moved elsewhere',
      (id: bigint) => `update entries set amount = amount * 2 where journal_id = ${id}`,
    ],
    ['another reason', (id: bigint) => `update journal set reason = 'other' where id = ${id}`],
    [
      'another moment',
      (id: bigint) => `update journal set posted_at = posted_at + interval '1 microsecond' where id = ${id}`,
    ],
    [
      'another actor',
      (id: bigint) => `update journal set actor_id = (select max(id) from users) where id = ${id}`,
    ],
    [
      'entries added',
      (id: bigint) =>
        `insert into entries (journal_id, account_id, book, amount) select ${id}, min(id), 'live', v from ledger_accounts, (values (5), (-5)) as x(v) group by v`,
    ],
    ['entries taken away', (id: bigint) => `delete from entries where journal_id = ${id}`],
    [
      'a hash overwritten',
      (id: bigint) => `update journal_seals set hash = sha256('x') where journal_id = ${id}`,
    ],
  ])('names the journal that was edited: %s', async (_name, tamper) => {
    const found = await afterTampering([tamper(victim)])
    expect(found?.edited?.[0]).toBe(victim)
  })

  it('names every journal of an account that was given to somebody else', async () => {
    const statement = `update ledger_accounts set user_id = (select max(id) from users) + 1 where user_id = ${user_id}`
    const found = await afterTampering([statement])
    expect(found?.edited).toContain(ids[0])
    expect(found?.edited).toHaveLength(20)
  })

  it('names the journal that was deleted, with its seal or without', async () => {
    const gone = [
      `delete from entries where journal_id = ${victim}`,
      `delete from journal where id = ${victim}`,
    ]
    expect(await afterTampering(gone)).toEqual({ deleted: [victim] })
    const seal = `delete from journal_seals where journal_id = ${victim}`
    expect(await afterTampering([...gone, seal])).toEqual({ deleted: [victim] })
    expect(await afterTampering([seal])).toEqual({ inserted: [victim] })
  })

  it('names the inserted journal, and the end cut off', async () => {
    const insert = `insert into journal (id, book, kind, reference, reason, posted_at) overriding system value
      values (${gap}, 'live', 'adjustment', 'backdated', 'x', now())`
    expect(await afterTampering([insert])).toEqual({ inserted: [gap] })
    const seal = `insert into journal_seals (journal_id, previous_id, hash, mac, key_id)
      select ${gap}, ${victim}, sha256('x'), mac, key_id from journal_seals where journal_id = ${victim}`
    const found = await afterTampering([insert, seal])
    expect(found).toMatchObject({ inserted: [gap], forged: [gap] })
    const cut = `delete from journal_seals where journal_id >= ${victim}`
    expect(await afterTampering([cut])).toEqual({ inserted: [victim, after] })
  })

  it('names a second journal of one id, also at the edge of a batch', async () => {
    const edge = ids[499]!
    const twin = `insert into journal (id, book, kind, reference, reason, posted_at) overriding system value
      select id, 'test', kind, reference, 'x', posted_at from journal where id = ${edge}`
    const found = await afterTampering([twin])
    expect(found?.inserted).toEqual([edge])
  })

  it('ends with the error of its caller, and leaves the connection free', async () => {
    const stopped = db.transaction().execute((tx) =>
      verifyChain(tx, secrets, {
        onProgress: () => {
          throw new RolledBack()
        },
      }),
    )
    await expect(stopped).rejects.toThrow(RolledBack)
    expect(await faults()).toEqual({})
  })

  it('names the first journal of a recomputed chain, given the key', async () => {
    // The whole program in other hands, which have no APP_SECRET or another one.
    const recompute = (other?: Secrets) => async (tx: Tx) => {
      await sql`update journal set reason = 'other' where id = ${victim}`.execute(tx)
      let end: ChainEnd = await tx
        .selectFrom('journal_seals')
        .where('journal_id', '=', before)
        .select(['journal_id', 'hash'])
        .executeTakeFirstOrThrow()
      for (const { id, content } of await readContents(tx, { after: before, to: after, limit: 10 })) {
        end = { journal_id: id, hash: nextHash(end, content) }
        const forgery = { hash: end.hash, ...other?.seal('journal', end.hash) }
        await tx.updateTable('journal_seals').set(forgery).where('journal_id', '=', id).execute()
      }
    }
    expect(await tampering(recompute(), (tx) => faults(tx, 'no key'))).toEqual({})
    expect(await tampering(recompute(), (tx) => faults(tx))).toEqual({ forged: [victim, after] })
    const other = makeSecrets('another secret of the tests, which guards nothing')
    expect(await tampering(recompute(other), (tx) => faults(tx))).toEqual({ foreign: [victim, after] })
    expect((await faults(db, other)).foreign?.[0]).toBe(ids[0])
  })
})
