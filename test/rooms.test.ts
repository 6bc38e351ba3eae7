/** Each room of src begins with a README of a few lines, in its first file, and what that names is there. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './harness/server-process.ts'

const LINES_MAX = 6
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const filesOf = new Map(
  [...Map.groupBy(globSync('src/*/**/*.ts', { cwd: ROOT }).sort(), dirname)].map(([room, files]) => [
    room,
    files.sort(),
  ]),
)
/** The names after `Verbs:` and the like. Undefined without such a line. */
const named = (readme: string, label: string) =>
  new RegExp(`^${label}: (.+)\\.$`, 'm').exec(readme)?.[1]?.split(', ')
/** The comment at the top of a file, without its slashes. */
const readmeOf = (file: string) => (/^(?:\/\/.*\n)*/.exec(read(file))?.[0] ?? '').replaceAll(/^\/\/ ?/gm, '')

const migrations =
  globSync('migrations/*.sql', { cwd: ROOT }).map(read).join('\n') + read('src/database/migrate.ts')
const tables = [
  ...migrations.matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+)/g),
  ...migrations.matchAll(/alter table \w+ rename to (\w+)/g),
].map(([, name]) => name!)

describe.each([...filesOf])('%s', (_, [first, ...others]) => {
  const readme = readmeOf(first!)

  it('says in its first file what it is for', () => {
    expect(readme, first).toMatch(/^This room: .+\.\n/)
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX)
    expect(others.filter((file) => readmeOf(file).includes('This room:'))).toEqual([])
  })

  it('names its own verbs, and tables that exist', () => {
    const source = [first!, ...others].map(read).join('\n')
    const isThere = (verb: string) =>
      new RegExp(`^(?:export )?(?:async )?function ${verb}\\b`, 'm').test(source)
    const verbs = named(readme, 'Verbs')
    // A room of types alone has none.
    if (/^export (async )?function /m.test(source)) expect(verbs?.length).toBeGreaterThan(0)
    expect(verbs?.filter((verb) => !isThere(verb)) ?? []).toEqual([])
    expect(named(readme, 'Tables')?.filter((table) => !tables.includes(table)) ?? []).toEqual([])
  })
})
