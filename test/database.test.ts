/** Migrations from many processes at once, and what they refuse; natural batching. */
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { makeBatcher } from '../src/database/batcher.ts'
import { connectionSettings, openDatabase } from '../src/database/connection.ts'
import { migrate } from '../src/database/migrate.ts'
import { databaseUrl } from './global-setup.ts'

async function query(url: string, text: string) {
  const client = new pg.Client(connectionSettings(url))
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function withEmptyDatabase(use: (url: string) => Promise<void>): Promise<void> {
  const adminUrl = inject('adminUrl')
  const name = `empty_${Math.random().toString(36).slice(2)}`
  await query(adminUrl, `create database ${name}`)
  try {
    await use(databaseUrl(adminUrl, name))
  } finally {
    await query(adminUrl, `drop database ${name} with (force)`)
  }
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

  it('leave a newer or an edited database alone', () =>
    withEmptyDatabase(async (url) => {
      await migrate(url)
      await query(url, `insert into schema_migrations (name, checksum) values ('9999_future.sql', 'x')`)
      await expect(migrate(url)).rejects.toThrow(/newer than this program/)
      await query(url, `delete from schema_migrations where name = '9999_future.sql'`)
      await query(url, `update schema_migrations set checksum = 'x' where name = '0001_accounts.sql'`)
      await expect(migrate(url)).rejects.toThrow(/0001_accounts.sql was changed/)
    }))
})

it('a statement that gets no connection in time is told to come back, and not done', () =>
  withEmptyDatabase(async (url) => {
    const db = openDatabase(url, { max: 1, onBroken: () => {} })
    await db.transaction().execute(async () => {
      const refused = sql`create table made ()`.execute(db)
      await expect(refused).rejects.toMatchObject({ code: 'overloaded', retry_after_seconds: 1 })
    })
    expect((await sql`select to_regclass('made') as made`.execute(db)).rows).toEqual([{ made: null }])
    await db.destroy()
  }))

/** What Postgres answers to a statement that has waited for a lock as long as it may. */
function lockedOut(): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('canceling statement due to lock timeout', 0, 'error'), {
    code: '55P03',
  })
}

describe('a batcher', () => {
  /** A lane whose statements are held open until released, so that callers gather. */
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
    const release = async () => {
      gates.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { submit, batches, release }
  }

  it('sends a lone caller at once, and gathers those who arrive meanwhile, in order', async () => {
    const { submit, batches, release } = lane((items) => items.map((n) => n * 2), { itemsMax: 3 })
    const answers = Promise.all([1, 2, 3, 4, 5, 6].map(submit))
    expect(batches).toEqual([[1]])
    await release()
    expect(batches).toEqual([[1], [2, 3, 4]])
    await release()
    await release()
    expect(batches).toEqual([[1], [2, 3, 4], [5, 6]])
    expect(await answers).toEqual([2, 4, 6, 8, 10, 12])
  })

  it('keeps as many statements under way as it has lanes', async () => {
    const { submit, batches, release } = lane((items) => items, { itemsMax: 1, lanes: 2 })
    const answers = Promise.all([1, 2, 3].map(submit))
    expect(batches).toEqual([[1], [2]])
    await release()
    expect(batches).toEqual([[1], [2], [3]])
    await release()
    await release()
    expect(await answers).toEqual([1, 2, 3])
  })

  it('runs a failed batch again item by item, so one bad item harms nobody', async () => {
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

  it('lets everybody else go on while one item is locked out, which waits apart', async () => {
    let isLocked = true
    const batches: number[][] = []
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      run: async (items) => {
        batches.push(items)
        await new Promise((resolve) => setImmediate(resolve))
        if (isLocked && items.includes(3)) throw lockedOut()
        return items
      },
    })
    const first = submit(0)
    const locked = submit(3)
    expect(await Promise.all([first, ...[1, 2, 4].map(submit)])).toEqual([0, 1, 2, 4])
    expect(batches.slice(0, 2)).toEqual([[0], [3, 1, 2, 4]])
    // The lane is free for the next.
    expect(await Promise.all([5, 6].map(submit))).toEqual([5, 6])
    expect(batches).toContainEqual([5])
    isLocked = false
    expect(await locked).toBe(3)
  })

  it('gives an item up that stays locked out, and says what the database said', {
    timeout: 60_000,
  }, async () => {
    const submit = makeBatcher<number, number>({
      name: 'numbers',
      run: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        throw lockedOut()
      },
    })
    await expect(submit(1)).rejects.toMatchObject({ code: '55P03' })
  })

  it('refuses more waiting callers than it may hold, and goes on afterwards', async () => {
    const { submit, release } = lane((items) => items, { itemsMax: 2, queueMax: 2 })
    const first = [1, 2, 3].map(submit)
    await expect(submit(4)).rejects.toMatchObject({ code: 'overloaded', retry_after_seconds: 1 })
    for (let i = 0; i < 3; i += 1) await release()
    expect(await Promise.all(first)).toEqual([1, 2, 3])
    const later = submit(5)
    await release()
    expect(await later).toBe(5)
  })
})
