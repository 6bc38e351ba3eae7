/**
 * The floors of the house. A file imports from its own room, from the rooms below it, and from the areas below its own;
 * imports of types count too. No files import each other in a circle.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { mayImport } from './floors.ts'

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
    imports.filter((imported) => !mayImport(file, imported)).map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual([])
})

it('no files import each other in a circle', () => {
  const finished = new Set<string>()
  const walk = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' -> ')]
    if (finished.has(file)) return []
    const circles = (importsOf.get(file) ?? []).flatMap((imported) => walk(imported, [...path, file]))
    finished.add(file)
    return circles
  }
  expect([...importsOf.keys()].flatMap((file) => walk(file, []))).toEqual([])
})

it('at most 12 files at the root, 25 in a room', () => {
  const files = new Map<string, number>()
  for (const file of importsOf.keys()) files.set(dirname(file), (files.get(dirname(file)) ?? 0) + 1)
  expect(files.get('.')).toBeLessThanOrEqual(12)
  expect([...files].filter(([, count]) => count > 25)).toEqual([])
})
