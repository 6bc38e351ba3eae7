/**
 * Watches how many rows the statements of an application read. Postgres sends the plan of each statement, of those inside functions
 * too, with the rows that it read. Rows do not depend on how fast or busy a machine is.
 */
import { sql } from 'kysely'
import pg from 'pg'
import { vi } from 'vitest'
import { anotherProcess, type TestApp } from './harness.ts'

/** A statement that was run, and what it read of each table or index. */
export type Plan = { statement: string; reads: { rows: number; by: string }[] }

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

const READS = new Set([
  'Seq Scan',
  'Sample Scan',
  'Index Scan',
  'Index Only Scan',
  'Bitmap Heap Scan',
  'Tid Scan',
])

/**
 * Opens a process over the database of `test` whose statements are watched. `take` returns the plans since the last call.
 * @param planning settings of Postgres for these statements.
 */
export async function watchPlans(
  test: TestApp,
  planning: Record<string, string>,
): Promise<{ test: TestApp; take(): Plan[]; close(): Promise<void> }> {
  const { rows } = await sql<{ name: string }>`select quote_ident(current_database()) as name`.execute(
    test.db,
  )
  const set = (name: string, value: string) =>
    sql`alter database ${sql.raw(rows[0]!.name)} set ${sql.raw(name)} = ${sql.lit(value)}`.execute(test.db)
  await set('session_preload_libraries', 'auto_explain')
  // The settings of a library exist once it is loaded.
  await sql`load 'auto_explain'`.execute(test.db)
  await set('auto_explain.log_min_duration', '0')
  await set('auto_explain.log_analyze', 'on')
  await set('auto_explain.log_timing', 'off')
  await set('auto_explain.log_nested_statements', 'on')
  await set('auto_explain.log_format', 'json')
  await set('auto_explain.log_level', 'notice')
  for (const [name, value] of Object.entries(planning)) await set(name, value)

  let plans: Plan[] = []
  const watched = new WeakSet<pg.Client>()
  const { query } = pg.Client.prototype
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    if (!watched.has(this)) {
      watched.add(this)
      this.on('notice', ({ message }) => {
        const plan = message === undefined ? undefined : planOf(message)
        if (plan !== undefined) plans.push(plan)
      })
    }
    return Reflect.apply(query, this, given as Parameters<typeof query>)
  } as typeof query)
  const other = await anotherProcess(test)
  return {
    test: other,
    take() {
      const taken = plans
      plans = []
      return taken
    },
    async close() {
      spy.mockRestore()
      await other.close()
    },
  }
}

function planOf(message: string): Plan | undefined {
  const [, text] = /^duration: [\d.]+ ms {2}plan:\s*(\{.*\})$/s.exec(message) ?? []
  if (text === undefined) return undefined
  const { 'Query Text': statement, Plan: root } = JSON.parse(text) as { 'Query Text': string; Plan: Node }
  return { statement, reads: [...readsOf(root)] }
}

/** The rows that each node of a plan read from a table, those that it left out too. */
function* readsOf(node: Node): Generator<Plan['reads'][number]> {
  const { 'Actual Rows': kept = 0, 'Actual Loops': loops = 0 } = node
  const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const by = `${node['Node Type']} of ${node['Index Name'] ?? node['Relation Name']}`
  if (READS.has(node['Node Type'])) yield { rows: Math.round((kept + left) * loops), by }
  for (const child of node.Plans ?? []) yield* readsOf(child)
}
