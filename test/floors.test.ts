/**
 * The floors of the house. A file imports from its own room, from the rooms below it, and from the areas below its own;
 * imports of types count too. No files import each other in a circle.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { circlesOf, describeCircle } from './circles.ts'
import { refusalOf } from './floors.ts'

const SRC = join(import.meta.dirname, '../src')

const importsOf = new Map(
  globSync('**/*.ts', { cwd: SRC }).map((file) => {
    const source = readFileSync(join(SRC, file), 'utf8')
    const paths = [...source.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].map(([, path]) => path!)
    return [file, paths.map((path) => relative(SRC, join(SRC, dirname(file), path)))]
  }),
)

it('a file imports only from its own floor and those below', () => {
  const upward = [...importsOf].flatMap(([file, imports]) =>
    imports.flatMap((imported) => refusalOf(file, imported) ?? []),
  )
  expect(upward).toEqual([])
})

it('a refusal names the files and the remedy', () => {
  expect(refusalOf('payment/orders/pay.ts', 'payment/orders/place.ts')).toBeUndefined()
  expect(refusalOf('payment/gateway/v1.ts', 'payment/orders/pay.ts')).toBeUndefined()
  expect(refusalOf('ledger/post.ts', 'web/lists.ts')).toBe(
    'ledger/post.ts imports web/lists.ts, but web is not below ledger. Move what both need into platform, database, core, or let a file above both pass it as an argument.',
  )
  expect(refusalOf('core/limits.ts', 'ledger/post.ts')).toMatch(/Move what both need into core, platform, /)
  expect(refusalOf('platform/log.ts', 'egress/guard.ts')).toMatch(
    / is not below platform\. Move .* into platform, or/,
  )
  expect(refusalOf('identity/keys/keys.ts', 'identity/plugin.ts')).toMatch(
    /the root of identity is not below keys/,
  )
  expect(refusalOf('core/limits.ts', 'attic/chest.ts')).toMatch(
    /attic has no floor\. Give it a line in AREAS of test/,
  )
  expect(refusalOf('identity/attic/chest.ts', 'identity/keys/keys.ts')).toMatch(
    /attic has .* a line in ROOMS of test/,
  )
})

it('no files import each other in a circle', () => {
  expect(circlesOf(importsOf).map(describeCircle)).toEqual([])
})

it('one wrong import is reported once, however many circles it closes', () => {
  const imports = new Map([
    ['pay', ['place', 'wallet']],
    ['place', ['values', 'log']],
    ['wallet', ['values']],
    // The wrong one.
    ['values', ['log', 'pay']],
    ['log', []],
  ])
  const circles = circlesOf(imports)
  expect(circles).toEqual([['values', 'pay', 'place']])
  expect(describeCircle(circles[0]!)).toMatch(
    /^values imports pay, which imports place, which imports values\. End it at the first import: /,
  )
  expect(circlesOf(new Map([...imports, ['log', ['log']]]))).toEqual([['log'], ['values', 'pay', 'place']])
})

/** Files that only mount or list what others decide. */
const LISTS = /(^|\/)(plugin|texts|app|merchant|main|serve)\.ts$/

it('a reader of a file has at most 22 others to open', () => {
  const many = [...importsOf].filter(([file, imports]) => !LISTS.test(file) && new Set(imports).size > 22)
  expect(many.map(([file]) => file)).toEqual([])
  expect([...importsOf.keys()].filter((file) => !file.includes('/')).length).toBeLessThanOrEqual(12)
})
