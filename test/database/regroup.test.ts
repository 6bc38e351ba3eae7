/** The callers of a slow commit meet again in the next one. Events drive the time of these tests. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { makeBatcher } from '../../src/database/batcher.ts'

/** A batcher whose clock and timer the test moves, and whose commits end when the test says so. */
function slowDisk({ itemsMax = 64 } = {}) {
  let now = 0
  let timer: (() => void) | undefined
  let commit = () => {}
  const batches: number[][] = []
  const submit = makeBatcher<number, number>({
    name: 'numbers',
    itemsMax,
    regroups: true,
    timing: {
      now: () => now,
      after(ms, act) {
        timer = () => {
          now += ms
          timer = undefined
          act()
        }
        return () => {
          timer = undefined
        }
      },
    },
    run: async (items) => {
      batches.push(items)
      await new Promise<void>((resolve) => {
        commit = resolve
      })
      return items
    },
  })
  const settle = async () => {
    for (let turn = 0; turn < 4; turn += 1) await nextTurn()
  }
  return {
    batches,
    waits: () => timer !== undefined,
    /** Callers ask, and the batcher does with them what it can. */
    async ask(...items: number[]) {
      for (const item of items) void submit(item)
      await settle()
    },
    /** The commit under way ends after so many milliseconds. */
    async commitAfter(ms: number) {
      now += ms
      commit()
      await settle()
    },
    async passWait() {
      timer!()
      await settle()
    },
  }
}

/** Two callers have been answered, and another one waits. */
async function answeredTwo(commit_ms: number, options?: { itemsMax: number }) {
  const disk = slowDisk(options)
  await disk.ask(1, 2)
  await disk.ask(3)
  await disk.commitAfter(commit_ms)
  return disk
}

describe('a batch after a slow commit', () => {
  it('takes the callers of that commit as soon as they ask again', async () => {
    const { ask, batches, waits } = await answeredTwo(20)
    await ask(4)
    expect(batches).toEqual([[1, 2]])
    await ask(5)
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
    expect(waits()).toBe(false)
  })

  it('goes on without them when half of its time has passed', async () => {
    const { passWait, batches } = await answeredTwo(20)
    expect(batches).toEqual([[1, 2]])
    await passWait()
    expect(batches).toEqual([[1, 2], [3]])
  })

  it('waits for them too when one of them asks first', async () => {
    const disk = slowDisk()
    await disk.ask(1, 2)
    await disk.commitAfter(20)
    await disk.ask(3)
    expect(disk.batches).toEqual([[1, 2]])
    await disk.ask(4)
    expect(disk.batches).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('takes no more of them than it has room for', async () => {
    const { ask, batches } = await answeredTwo(20, { itemsMax: 2 })
    await ask(4)
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('does not wait when others have filled it', async () => {
    const disk = slowDisk({ itemsMax: 2 })
    await disk.ask(1, 2)
    await disk.ask(3, 4)
    await disk.commitAfter(20)
    expect(disk.batches).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('skips the wait for longer and longer while they stay away', async () => {
    const disk = await answeredTwo(20)
    const waited: number[] = []
    for (let n = 0; n < 12; n += 1) {
      if (disk.waits()) {
        waited.push(n)
        await disk.passWait()
      }
      await disk.ask(10 + n)
      await disk.commitAfter(20)
    }
    expect(waited).toEqual([0, 2, 6])
  })
})

describe('a batch', () => {
  it('does not wait after a fast commit', async () => {
    const { batches } = await answeredTwo(1)
    expect(batches).toEqual([[1, 2], [3]])
  })

  it('does not wait for a lone caller', async () => {
    const disk = slowDisk()
    for (const caller of [1, 2, 3]) {
      await disk.ask(caller)
      await disk.commitAfter(20)
    }
    expect(disk.batches).toEqual([[1], [2], [3]])
  })
})
