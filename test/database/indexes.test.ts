/** Every index has a reader or keeps a rule, which its comment names: migrations/functions/indexes.sql. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { useTestApp } from '../harness/harness.ts'
import { ROOT } from '../harness/server-process.ts'

type Index = {
  name: string
  table: string
  /** The first column. Null for an expression. */
  column: string | null
  is_unique: boolean
  comment: string | null
  /** The foreign keys of the table that begin with the column. */
  keys: string[]
}

const test = await useTestApp()

/** Every index of a table, without the primary keys. */
const { rows: indexes } = await sql<Index>`
  select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as "table", i.indisunique as is_unique,
    a.attname::text as column, obj_description(i.indexrelid, 'pg_class') as comment,
    array(
      select conname::text from pg_constraint where contype = 'f' and conrelid = i.indrelid and conkey[1] = i.indkey[0]
    ) as keys
  from pg_index as i join pg_class as c on c.oid = i.indrelid
  left join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] and a.attnum > 0
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not i.indisprimary
  order by 1`.execute(test.db)

/** The text of each function of the database. */
const functions = new Map(
  readdirSync(join(ROOT, 'migrations/functions'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) => {
      const text = readFileSync(join(ROOT, 'migrations/functions', name), 'utf8')
      return text.split(/^(?=create or replace function )/m).map((part) => {
        const [, created = ''] = /^create or replace function (\w+)/.exec(part) ?? []
        return [created, part] as const
      })
    }),
)

/** What is wrong with the comment of an index. Undefined when its reader, its key or its rule is there. */
function faultOf({ table, column, is_unique, comment, keys }: Index): string | undefined {
  const [, reader, purpose] = /^([^:]+): (.+)$/.exec(comment ?? '') ?? []
  if (reader === undefined || purpose === undefined) return 'names no reader'
  if (reader === 'unique') return is_unique ? undefined : 'is not unique'
  const [, key] = /^foreign key (\w+)$/.exec(reader) ?? []
  if (key !== undefined) return keys.includes(key) ? undefined : `does not serve ${key}`
  const path = join(ROOT, reader)
  const text = functions.get(reader) ?? (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  if (text === undefined) return `is read by ${reader}, which does not exist`
  const isRead = [table, ...(column === null ? [] : [column])].every((word) =>
    new RegExp(`\\b${word}\\b`).test(text),
  )
  return isRead ? undefined : `is not read by ${reader}`
}

it('every index names its reader, the foreign key that it serves, or its rule', () => {
  expect(indexes.length).toBeGreaterThan(100)
  expect(
    indexes
      .flatMap((index) => [faultOf(index)].map((fault) => fault && `${index.name} ${fault}`))
      .filter(Boolean),
  ).toEqual([])
})
