/** Expects that heavy reads wait for each other, so that a crowd never holds all connections. */
import { sql } from 'kysely'
import { expect } from 'vitest'
import { poolUse } from '../../src/database/connection.ts'
import { anotherProcess, type TestApp } from './harness.ts'
import { until } from './waiting.ts'

/**
 * Lets twenty ask at once while the orders are locked: four wait with one connection, and the others are refused. `enter`
 * returns the act of one of them, whose answer is a status. `besides` is what goes on meanwhile.
 */
export async function expectFairQueue(
  test: TestApp,
  enter: (process: TestApp) => Promise<{ ask(i: number): Promise<number>; besides?(): Promise<void> }>,
): Promise<void> {
  const process = await anotherProcess(test)
  const { ask, besides } = await enter(process)
  const statuses: number[] = []
  const crowd = await test.db.transaction().execute(async (tx) => {
    await sql`lock table orders in access exclusive mode`.execute(tx)
    const asking = Array.from({ length: 20 }, async (_, i) => statuses.push(await ask(i)))
    // Of the four statements, the first waits for the table, and the others for a connection.
    await until(() => statuses.length === 16)
    await until(() => poolUse(process.db).open - poolUse(process.db).idle === 1)
    expect(poolUse(process.db).waiting).toBe(0)
    await besides?.()
    return { asking }
  })
  await Promise.all(crowd.asking)
  expect(statuses.toSorted()).toEqual([...new Array(4).fill(200), ...new Array(16).fill(503)])
  await process.close()
}
