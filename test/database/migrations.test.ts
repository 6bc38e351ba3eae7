/** The files of migrations/: the place of each function, and the statements that no file may contain. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../harness/server-process.ts'

const DIR = join(ROOT, 'migrations')
const texts = new Map(
  readdirSync(DIR, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .map((name) => [name, readFileSync(join(DIR, name), 'utf8')] as const),
)
const numbered = [...texts.keys()].filter((name) => !name.includes('/'))
const inFunctions = [...texts.keys()].filter((name) => name.startsWith('functions/'))
const code = (name: string) => texts.get(name)!.replace(/--.*$/gm, '')
const matches = (name: string, pattern: RegExp) =>
  [...code(name).matchAll(pattern)].map(([, found]) => found!)

/** The file of each function. */
const files = new Map<string, string>()
/** The body of each function. */
const bodies = new Map<string, string>()
for (const name of texts.keys())
  for (const [, created, rest] of code(name).matchAll(
    /^create (?:or replace )?function (\w+)\(([\s\S]*?)(?=^create |(?![\s\S]))/gm,
  )) {
    if (files.has(created!)) throw new Error(`${created} is created in ${files.get(created!)} and in ${name}`)
    files.set(created!, name)
    bodies.set(created!, rest!)
  }

it('every function is created in exactly one file', () => {
  const all = [...texts.keys()].flatMap((name) =>
    matches(name, /\bcreate\s+(?:or\s+replace\s+)?function\s+(\w+)/gi),
  )
  expect(all.length).toBeGreaterThan(50)
  expect(all.filter((name, place) => all.indexOf(name) !== place)).toEqual([])
  expect(all.filter((name) => !files.has(name))).toEqual([])
})

it('no file changes the text of a function in another file', () => {
  for (const name of texts.keys()) {
    expect(code(name), name).not.toMatch(/pg_get_functiondef|prosrc/i)
    if (name !== 'functions/plans.sql')
      expect(code(name), name).not.toMatch(/alter function|set enable_|set plan_/i)
  }
})

it('a trigger stands in the file of its function', () => {
  for (const name of texts.keys())
    for (const called of matches(name, /create (?:or replace )?trigger[\s\S]*?execute function (\w+)/g))
      expect([called, files.get(called)]).toEqual([called, name])
})

it('numbered files sort by their number and call no function of functions/', () => {
  const later = inFunctions.flatMap((name) => matches(name, /^create or replace function (\w+)/gm))
  for (const name of numbered) {
    expect(name).toMatch(/^\d{3}-[a-z0-9-]+\.sql$/)
    const calls = code(name).replace(/drop function if exists [^;]+;/g, '')
    expect(later.filter((called) => new RegExp(`\\b${called}\\s*\\(`).test(calls))).toEqual([])
  }
})

it('a file that runs apart only fills an index', () => {
  const apart = numbered.filter((name) => texts.get(name)!.startsWith('-- apart: '))
  expect(apart.length).toBeGreaterThan(0)
  for (const name of apart)
    expect(code(name), name).not.toMatch(/\b(?:alter|create|drop) (?:table|trigger|type)\b/)
})

it('functions/history has a line for every text of functions', () => {
  const history = readFileSync(join(DIR, 'functions/history'), 'utf8').split('\n')
  const lines = inFunctions.map(
    (name) => `${createHash('sha256').update(texts.get(name)!).digest('hex')}  ${name}`,
  )
  // A missing line is added at the end. No line is ever removed.
  expect(lines.filter((line) => !history.includes(line))).toEqual([])
})

const MONEY = inFunctions.filter((name) => /^functions\/(ledger|payment)\//.test(name))
const FUNCTION_LINES_MAX = 120
/** Lists that must keep one order are hard to follow. A step passes rows of one type instead. */
const ARRAYS_MAX = 31

it('no function is longer than 120 lines', () => {
  const lengths = [...texts].flatMap(([name, text]) =>
    [
      ...text.matchAll(
        /^create (?:or replace )?function (\w+)\([\s\S]*?(?:\$\$;$|^return [^;]*;$|^end\n\$\$)/gm,
      ),
    ].map(([whole, created]) => ({ name, created, lines: whole.split('\n').length })),
  )
  expect(lengths.length).toBeGreaterThan(100)
  expect(lengths.filter(({ lines }) => lines > FUNCTION_LINES_MAX)).toEqual([])
})

it('the functions of money declare at most 31 arrays', () => {
  const arrays = MONEY.flatMap((name) => matches(name, /^ {2}([vc]_\w+ (?:constant )?\w+\[\])/gm))
  expect(arrays.length).toBeGreaterThan(20)
  expect(arrays.length, arrays.join('\n')).toBeLessThanOrEqual(ARRAYS_MAX)
})

// Its own, the ledger's, that of events, and what a link and a tip are judged by.
it('pay_orders and everything it calls are in at most five files', () => {
  const called = new Set(['pay_orders'])
  for (const name of called)
    for (const other of files.keys())
      if (new RegExp(`\\b${other}\\s*\\(`).test(bodies.get(name)!)) called.add(other)
  const opened = new Set([...called].map((name) => files.get(name)))
  expect([...called]).toEqual(
    expect.arrayContaining(['lock_wallets', 'post_journals', 'count_for_day', 'is_banned_or_suspended']),
  )
  expect([...opened].length, [...opened].join(', ')).toBeLessThanOrEqual(5)
})

/** Constructs that a Postgres-compatible distributed engine may lack. */
const CONSTRUCTS = [
  ...[
    'referencing new table',
    'referencing old table',
    'xmin',
    'xid8',
    'pg_current_xact_id',
    'pg_snapshot_xmin',
  ],
  ...['pg_snapshot_xmax', 'txid_current', 'ctid', 'tableoid', 'unlogged', 'temporary', 'nulls not distinct'],
  ...[
    'brin',
    'gin',
    'gist',
    'spgist',
    'exclude using',
    'deferrable',
    'initially deferred',
    'constraint trigger',
  ],
  ...[
    'pg_advisory_lock',
    'pg_advisory_xact_lock',
    'pg_try_advisory_xact_lock',
    'skip locked',
    'listen',
    'fillfactor',
  ],
  ...[
    'partition by range',
    'partition by list',
    'create extension',
    'create rule',
    'materialized view',
    'tablesample',
  ],
  ...[
    'enable_seqscan',
    'dblink',
    'postgres_fdw',
    'lock table',
    'set session',
    'repeatable read',
    'serializable',
  ],
]

it('docs/scaling.md names every construct that a distributed engine may lack', () => {
  const document = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8')
  const table = document.slice(document.indexOf('### What in the SQL would have to change'))
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('texts.ts') && !name.startsWith('docs/'))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
  const statements = source.flatMap((text) => text.match(/`[^`]*`|'[^'\n]*'/g) ?? [])
  const all = [...texts.keys()].map(code).concat(statements).join('\n')
  const isIn = (text: string, construct: string) => new RegExp(`\\b${construct}\\b`).test(text)
  expect(CONSTRUCTS.filter((construct) => isIn(all, construct) && !isIn(table, construct))).toEqual([])
})

it('triggers refuse or fill in a column of their own row', () => {
  const called = [...texts.keys()].flatMap((name) =>
    matches(name, /create or replace trigger[\s\S]*?execute function (\w+)/g),
  )
  expect(called.length).toBeGreaterThan(30)
  for (const name of new Set(called))
    expect(bodies.get(name), name).not.toMatch(
      /\b(insert into|delete from|update [a-z_]+ (as [a-z]+ )?set)\b/,
    )
})
