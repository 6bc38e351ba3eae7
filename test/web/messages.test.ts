/** Checks which files read each text. The types already refuse a text that does not exist. */
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { texts } from '../../src/texts.ts'
import { mayImport } from '../floors.ts'
import { type Leaf, leavesOf, textsRead } from '../views/texts.ts'

const SRC = join(import.meta.dirname, '../../src')

/** The file of each text, as a path below src. */
const homes = new Map<Leaf, string>()
let read: Map<string, Set<Leaf>>

beforeAll(async () => {
  for (const file of globSync('**/*.texts.ts', { cwd: SRC }))
    for (const [leaf] of leavesOf(await import(join(SRC, file)))) homes.set(leaf, file)
  read = await textsRead()
}, 180_000)

/** The place of a file in src: a view belongs to the room of its page, and a shared part to web. */
function placeOf(file: string): string {
  const place = relative(file.endsWith('.eta') ? 'views' : 'src', file)
  return file.endsWith('.eta') && /^parts\/|^[^/]+$/.test(place) ? `web/${place}` : place
}

it('every text of the catalogue is read', () => {
  expect(read.size).toBeGreaterThan(100)
  const all = new Set([...read.values()].flatMap((leaves) => [...leaves]))
  expect(leavesOf(texts).flatMap(([leaf, name]) => (all.has(leaf) ? [] : [name]))).toEqual([])
})

it('the catalogue holds the texts of every room', () => {
  expect(new Set(homes.values()).size).toBeGreaterThan(50)
  const held = new Set(leavesOf(texts).map(([leaf]) => leaf))
  expect([...homes].flatMap(([leaf, file]) => (held.has(leaf) ? [] : [file]))).toEqual([])
})

const areaOf = (file: string) => file.split('/')[0]

it('a file reads only texts of its own area and those below', () => {
  const upward = [...read].flatMap(([file, leaves]) =>
    [...leaves].flatMap((leaf) => {
      const [place, home] = [placeOf(file), homes.get(leaf)!]
      return areaOf(place) === areaOf(home) || mayImport(place, home) ? [] : [`${file}: ${home}`]
    }),
  )
  expect([...new Set(upward)]).toEqual([])
})

// A text that lacks a language does not compile.
it('no text is empty', () => {
  const empty = leavesOf(texts).filter(([leaf]) => typeof leaf === 'object' && !(leaf.en && leaf.zh))
  expect(empty).toEqual([])
})
