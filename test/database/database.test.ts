/** Concurrent migrations of many processes, refused databases, and natural batching. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { makeBatcher } from '../../src/database/batcher.ts'
import { connectionSettings, openDatabase } from '../../src/database/connection.ts'
import { LockedRow } from '../../src/database/lock-waits.ts'
import {
  isMigrated,
  migrate,
  migrateWithin,
  migrationNames,
  pendingMigrations,
  requireMigrated,
} from '../../src/database/migrate.ts'
import { TEMPLATE } from '../harness/global-setup.ts'
import { createDatabase } from '../harness/harness.ts'
import { hasPgbouncer, startPgbouncer } from '../harness/pgbouncer.ts'
import { until } from '../harness/waiting.ts'

async function query(url: string, text: string) {
  const client = new pg.Client(connectionSettings(url))
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Runs `use` with a database without the long timeouts of tests: an empty one, or a migrated one. */
async function withDatabase(template: string, use: (url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await createDatabase(template, { isPatient: false })
  try {
    await use(url)
  } finally {
    await drop()
  }
}

const withEmptyDatabase = (use: (url: string) => Promise<void>) => withDatabase('template1', use)
const withMigrated = (use: (url: string) => Promise<void>) => withDatabase(TEMPLATE, use)

/** Makes a database of an earlier version: without these files and those after them, and with a member. */
async function withEarlier(first: string, use: (url: string) => Promise<void>): Promise<void> {
  await withEmptyDatabase(async (url) => {
    const names = await migrationNames()
    const client = new pg.Client(connectionSettings(url))
    await client.connect()
    await client.query('begin')
    await migrateWithin(
      client,
      names.filter((name) => name < first),
    )
    await client.query("commit; insert into users (username) values ('alice')")
    await client.end()
    await use(url)
  })
}

describe('migrations', () => {
  it('are applied once by five processes that start together', () =>
    withEmptyDatabase(async (url) => {
      const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
      const names = applied.flat()
      expect(names.length).toBeGreaterThanOrEqual(4)
      expect(new Set(names).size).toBe(names.length)
      expect(await migrate(url)).toEqual([])
    }))

  it('apply a functions text that the database lacks, and its plans', () =>
    withMigrated(async (url) => {
      const settings = () => query(url, "select proconfig from pg_proc where proname = 'pay_orders'")
      const before = await settings()
      expect(before[0].proconfig).toContain('enable_seqscan=off')
      await query(url, `delete from schema_functions where name = 'functions/payment/pay.sql'`)
      expect(await pendingMigrations(url)).toEqual(['functions/payment/pay.sql', 'functions/plans.sql'])
      expect(await migrate(url)).toEqual(['functions/payment/pay.sql', 'functions/plans.sql'])
      expect(await settings()).toEqual(before)
      await query(url, 'delete from schema_functions')
      expect((await migrate(url)).at(-1)).toBe('functions/plans.sql')
      expect(await settings()).toEqual(before)
    }))

  it('refuse a text of functions that they never had', () =>
    withMigrated(async (url) => {
      await query(url, `update schema_functions set checksum = 'x' where name = 'functions/payment/pay.sql'`)
      const refusal = /newer than this program, because it holds another text of functions\/payment\/pay\.sql/
      await expect(migrate(url)).rejects.toThrow(refusal)
      const db = openDatabase(url, { max: 1, onBroken: () => {} })
      await expect(requireMigrated(db)).rejects.toThrow(refusal)
      // The tables belong to this program, so the older version keeps serving beside the newer one.
      expect(await isMigrated(db)).toBe(true)
      await db.destroy()
    }))

  it('fill a large index while they hold no table of payments', () =>
    withEarlier('440', async (url) => {
      const writer = new pg.Client(connectionSettings(url))
      await writer.connect()
      await writer.query("begin; update users set name = 'Alice'")
      const migrated = migrate(url)
      // The index cannot be filled while a member is being changed.
      const waiting = "select pid from pg_locks where not granted and relation = 'users'::regclass"
      await until(async () => (await query(url, waiting)).length > 0)
      const held = await query(
        url,
        `select relation::regclass::text from pg_locks join pg_class on oid = relation
        where pid in (${waiting}) and granted and mode <> 'AccessShareLock' and relkind = 'r'`,
      )
      expect(held).toEqual([])
      await writer.query('commit')
      await writer.end()
      const [first, second, ...others] = await migrated
      expect([first, second, others[0]]).toEqual([
        '465-member-search.sql',
        '466-text-pieces.sql',
        expect.stringMatching(/^440/),
      ])
      const db = openDatabase(url, { max: 1, onBroken: () => {} })
      expect(await isMigrated(db)).toBe(true)
      await db.destroy()
    }))

  it('take a past text of a numbered file that their history names', () =>
    withMigrated(async (url) => {
      const past = '53e27c207e351dab222af08acc6d434f026d5cf5375a25493404d1e43871360e'
      await query(
        url,
        `update schema_migrations set checksum = '${past}' where name = '465-member-search.sql'`,
      )
      expect(await migrate(url)).toEqual([])
    }))

  it('leave a newer or an edited database alone', () =>
    withMigrated(async (url) => {
      await query(url, `insert into schema_migrations (name, checksum) values ('999-future.sql', 'x')`)
      await expect(migrate(url)).rejects.toThrow(/newer than this program/)
      await query(url, `delete from schema_migrations where name = '999-future.sql'`)
      await query(url, `update schema_migrations set checksum = 'x' where name = '010-accounts.sql'`)
      await expect(migrate(url)).rejects.toThrow(/010-accounts.sql was changed/)
    }))
})

it('a statement without a connection for five seconds fails, not done', () =>
  withEmptyDatabase(async (url) => {
    const db = openDatabase(url, { max: 1, onBroken: () => {} })
    await db.transaction().execute(async () => {
      const timers = vi.spyOn(globalThis, 'setTimeout')
      const refused = sql`create table made ()`.execute(db)
      refused.catch(() => {})
      const end = await until(() => timers.mock.calls.find(([, ms]) => ms === 5_000)?.[0])
      timers.mockRestore()
      end!()
      await expect(refused).rejects.toMatchObject({ code: 'overloaded', retry_after_seconds: 1 })
    })
    expect((await sql`select to_regclass('made') as made`.execute(db)).rows).toEqual([{ made: null }])
    await db.destroy()
  }))

describe('the timeouts of the role', () => {
  const show = (url: string) => query(url, "select current_setting('lock_timeout') as lock_timeout")

  it.skipIf(!hasPgbouncer)('are in force behind pgbouncer as soon as a start has migrated', () =>
    withEmptyDatabase(async (url) => {
      const pgbouncer = await startPgbouncer(url)
      try {
        await migrate(pgbouncer.url)
        expect(await show(pgbouncer.url)).toEqual([{ lock_timeout: '2500ms' }])
      } finally {
        await pgbouncer.stop()
      }
    }),
  )

  it('stay what an operator has set', () =>
    withMigrated(async (url) => {
      const name = new URL(url).pathname.slice(1)
      await query(url, `alter role current_user in database ${name} set lock_timeout = '9s'`)
      await migrate(url)
      await migrate(url)
      expect(await show(url)).toEqual([{ lock_timeout: '9s' }])
    }))
})

/** Runs `act` so many milliseconds later. */
async function passTime(ms: number, act: () => Promise<unknown>): Promise<void> {
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
  try {
    await act()
  } finally {
    later.mockRestore()
  }
}

/** The error of Postgres after a statement waited for a lock too long. */
function lockedOut(): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('canceling statement due to lock timeout', 0, 'error'), {
    code: '55P03',
  })
}

describe('a batcher', () => {
  /** A lane that holds its statements until the test releases them, so callers gather. */
  function lane(run: (items: number[]) => number[], { itemsMax = 10, queueMax = 100, lanes = 1 } = {}) {
    const batches: number[][] = []
    const gates: (() => void)[] = []
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      itemsMax,
      queueMax,
      lanes,
      run: async (items) => {
        batches.push(items)
        await new Promise<void>((resolve) => gates.push(resolve))
        return run(items)
      },
    })
    /** Lets waiting callers gather. */
    const gathered = async () => {
      for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    }
    const release = async () => {
      await gathered()
      gates.shift()?.()
      await gathered()
    }
    return { submit, batches, gathered, release }
  }

  it('sends a lone caller after one tick of the event loop', async () => {
    const { submit, batches, release } = lane((items) => items)
    const answer = submit(1)
    await nextTurn()
    expect(batches).toEqual([[1]])
    await release()
    expect(await answer).toBe(1)
  })

  it('gathers callers in order, up to the size of a batch', async () => {
    const { submit, batches, release } = lane((items) => items.map((n) => n * 2), { itemsMax: 3 })
    const answers = Promise.all([1, 2, 3, 4, 5].map(submit))
    await nextTurn()
    expect(batches).toEqual([[1, 2, 3]])
    await release()
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    await release()
    expect(await answers).toEqual([2, 4, 6, 8, 10])
  })

  it('gathers callers of later turns, and stops after eight turns', async () => {
    const { submit, batches, release } = lane((items) => items, { itemsMax: 100 })
    const answers = []
    let turn = nextTurn()
    for (let n = 0; n < 20; n += 1) {
      answers.push(submit(n))
      await turn
      turn = nextTurn()
    }
    expect(batches).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8]])
    await release()
    await release()
    expect(await Promise.all(answers)).toHaveLength(20)
  })

  it('keeps as many statements under way as it has lanes', async () => {
    const { submit, batches, release } = lane((items) => items, { itemsMax: 1, lanes: 2 })
    const answers = Promise.all([1, 2, 3].map(submit))
    await nextTurn()
    expect(batches).toEqual([[1], [2]])
    await release()
    expect(batches).toEqual([[1], [2], [3]])
    await release()
    await release()
    expect(await answers).toEqual([1, 2, 3])
  })

  it('repeats a failed batch by item: one bad item harms no other', async () => {
    const { submit, release } = lane((items) => {
      if (items.includes(3)) throw new Error('bad item')
      return items
    })
    const answers = Promise.allSettled([1, 2, 3, 4].map(submit))
    for (let i = 0; i < 8; i += 1) await release()
    expect((await answers).map((answer) => answer.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })

  /** A batcher whose item 3 needs a row that a frozen or a busy process locks. */
  function locked({ isFrozen }: { isFrozen: boolean }) {
    const state = { isLocked: true, tries: [] as [items: number[], patience_ms: number][] }
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      findFrozen: async (items) => items.map((item) => isFrozen && state.isLocked && item === 3),
      run: async (items, patience_ms) => {
        state.tries.push([items, patience_ms])
        await new Promise((resolve) => setImmediate(resolve))
        if (state.isLocked && items.includes(3)) throw lockedOut()
        return items
      },
    })
    return { submit, state, batches: () => state.tries.map(([items]) => items) }
  }

  it('lets others go on while a frozen process holds one item', async () => {
    const { submit, state, batches } = locked({ isFrozen: true })
    const held = submit(3)
    expect(await Promise.all([1, 2, 4].map(submit))).toEqual([1, 2, 4])
    expect(batches()).toEqual([
      [3, 1, 2, 4],
      [1, 2, 4],
    ])
    // From now on the batcher knows them in advance.
    const again = submit(3)
    expect(await Promise.all([5, 6].map(submit))).toEqual([5, 6])
    expect(batches().slice(2).flat()).toEqual([5, 6])
    state.isLocked = false
    expect(await Promise.all([held, again])).toEqual([3, 3])
  })

  it('gives a held item up after five seconds, and says that it may be retried', async () => {
    const { submit, batches } = locked({ isFrozen: true })
    const held = submit(3)
    held.catch(() => {})
    await until(() => batches().length > 0)
    await passTime(5_000, () =>
      expect(held).rejects.toMatchObject({ code: 'unavailable', retry_after_seconds: 2 }),
    )
  })

  it('waits longer for a busy whole, and then gives up', async () => {
    const { submit, state, batches } = locked({ isFrozen: false })
    const answers = Promise.allSettled([1, 3].map(submit))
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches()).toEqual([
      [1, 3],
      [1, 3],
    ])
    expect(state.tries[1]![1]).toBeGreaterThan(state.tries[0]![1])
  })

  /** A batcher whose items above 100 need a row that another transaction has locked. */
  function busy() {
    const state = { isLocked: true, tries: [] as [items: number[], how: string][] }
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      canSkip: true,
      run: async (items, _, skipping) => {
        state.tries.push([items, skipping === undefined ? 'waits' : (skipping.waitFor ?? 'skips')])
        await nextTurn()
        const needRow = items.some((item) => item > 100)
        if (state.isLocked && needRow && (skipping === undefined || skipping.waitFor !== null))
          throw lockedOut()
        return items.map((item) => (state.isLocked && item > 100 ? new LockedRow('row') : item))
      },
    })
    return { submit, state }
  }

  it('skips locked rows after a wait, so that one item delays no other', async () => {
    const { submit, state } = busy()
    const waits = submit(101)
    expect(await Promise.all([1, 2, 3].map(submit))).toEqual([1, 2, 3])
    expect(state.tries.slice(0, 2)).toEqual([
      [[101, 1, 2, 3], 'waits'],
      [[101, 1, 2, 3], 'skips'],
    ])
    state.isLocked = false
    expect(await waits).toBe(101)
    expect(state.tries.slice(2).map(([items]) => items)).toContainEqual([101])
  })

  it('queues items for their locked row, in one statement, without the others', async () => {
    const { submit, state } = busy()
    const waits = Promise.all([101, 102].map(submit))
    const isInLine = () => state.tries.some(([, how]) => how === 'row')
    await until(isInLine)
    expect(await submit(1)).toBe(1)
    state.isLocked = false
    expect(await waits).toEqual([101, 102])
    expect(state.tries.at(-1)).toEqual([[101, 102], 'row'])
  })

  it('gives a busy item up after five seconds, and says that it may be retried', async () => {
    const { submit, state } = busy()
    const waits = submit(101)
    waits.catch(() => {})
    await until(() => state.tries.some(([, how]) => how === 'row'))
    await passTime(5_000, () =>
      expect(waits).rejects.toMatchObject({ code: 'unavailable', retry_after_seconds: 2 }),
    )
  })

  it('waits less for each row, the more rows stay locked', async () => {
    const waits: number[] = []
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      canSkip: true,
      run: async (items, patience_ms, skipping) => {
        await nextTurn()
        if (skipping === undefined) throw lockedOut()
        if (skipping.waitFor !== null) waits.push(patience_ms)
        return items.map((item) => (skipping.waitFor === `row ${item}` ? item : new LockedRow(`row ${item}`)))
      },
    })
    const items = Array.from({ length: 40 }, (_, n) => n)
    expect(await Promise.all(items.map(submit))).toEqual(items)
    expect(Math.min(...waits)).toBeLessThan(250)
    expect(waits.at(-1)).toBe(250)
  })

  it('runs the items of a statement that waited too long one by one, apart', async () => {
    const batches: number[][] = []
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      canSkip: true,
      run: async (items) => {
        batches.push(items)
        await nextTurn()
        if (items.includes(3) && batches.length < 5) throw lockedOut()
        return items
      },
    })
    expect(await Promise.all([1, 2, 3].map(submit))).toEqual([1, 2, 3])
    expect(batches.slice(0, 2)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    expect(batches.slice(2).every(({ length }) => length === 1)).toBe(true)
  })

  it('lets an item wait that fails on its own for a lock, after another failed its batch', async () => {
    let alone = 0
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      canSkip: true,
      run: async (items) => {
        await nextTurn()
        if (items.includes(1)) throw new Error('bad item')
        alone += 1
        if (alone === 1) throw lockedOut()
        return items
      },
    })
    const [bad, good] = await Promise.allSettled([1, 2].map(submit))
    expect(bad!.status).toBe('rejected')
    expect(good).toEqual({ status: 'fulfilled', value: 2 })
  })

  it('refuses more waiting callers than it may hold, and goes on afterwards', async () => {
    const { submit, gathered, release } = lane((items) => items, { itemsMax: 2, queueMax: 2 })
    const under = submit(0)
    await gathered()
    const first = [under, ...[1, 2].map(submit)]
    await expect(submit(4)).rejects.toMatchObject({ code: 'overloaded', retry_after_seconds: 1 })
    for (let i = 0; i < 3; i += 1) await release()
    expect(await Promise.all(first)).toEqual([0, 1, 2])
    const later = submit(5)
    await release()
    expect(await later).toBe(5)
  })
})
