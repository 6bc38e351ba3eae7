/**
 * Compares the texts with the files that read them. A missing text would show as "undefined" on a page, and an unused
 * text would be translated in vain.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { texts } from '../../src/texts.ts'
import type { Text } from '../../src/web/languages.ts'
import { mayImport } from '../floors.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A step that the view computes, which may be any text at that place. */
const ANY = '*'

type Path = string[]

const INDEX = String.raw`\[(?:[^[\]]|\[[^\]]*\])*\]`
const STEPS = String.raw`(?:\??\.[A-Za-z_]\w*|${INDEX})*`
/** A name at the start of an expression (also after `...`), and the steps after it. */
const CHAIN = new RegExp(String.raw`(?<![\w$'"-]|(?<!\.\.)\.)([A-Za-z_]\w*)(${STEPS})`, 'g')
const STEP = new RegExp(String.raw`\.([A-Za-z_]\w*)|${INDEX}`, 'g')
const NAMED = new RegExp(String.raw`(?:const|;) (\w+) = (\w+)(${STEPS})(?=[\n;,]| %>)`, 'g')
const TAKEN_APART = /const \{([^{}]*)\} = (\w+)((?:\.\w+)*)\n/g
const IMPORTED = /^import \{ (.+) \} from '(.+\.texts\.ts)'$/gm

function stepsOf(text: string): Path {
  return [...text.matchAll(STEP)].map(([step, name]) => name ?? /^\['(\w+)'\]$/.exec(step)?.[1] ?? ANY)
}

/** A text, or a function that makes one. */
type Leaf = Text | ((...facts: never[]) => unknown)

const isText = (value: object): value is Text => typeof (value as Text).en === 'string'
const isLeaf = (value: object): value is Leaf => typeof value === 'function' || isText(value)

/**
 * The places that the steps lead to from a table of texts. A computed step leads to several places, a wrong one to
 * none.
 */
function placesAt(table: object, path: Path): object[] {
  let places = [table]
  for (const step of path) {
    places = places.flatMap((place) => {
      // A text contains no further texts.
      if (isLeaf(place)) return [place]
      return Object.entries(place).flatMap(([name, value]) => (step === ANY || name === step ? [value] : []))
    })
  }
  return places
}

function leavesOf(value: object, name = ''): [Leaf, string][] {
  if (isLeaf(value)) return [[value, name]]
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, name === '' ? key : `${name}.${key}`),
  )
}

/** Rewrites the ways by which sources reach the texts to the form of views. */
function asInViews(source: string): string {
  return source
    .replace(/(?:\w+\.)*locale\.t\b/g, 't')
    .replace(/\{([^{}]*)\}: Messages\b/g, 'const {$1} = t\n')
    .replace(/^import .*\n/gm, '')
}

type Names = Map<string, { table: object; path: Path }>

/** The tables of texts that a source imports, by their local names. */
async function importedIn(file: string): Promise<Names> {
  const names: Names = new Map()
  for (const [, list = '', path = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
    const tables = await import(join(dirname(file), path))
    for (const each of list.split(',')) {
      const [from = '', to = from] = each.trim().split(' as ')
      names.set(to, { table: tables[from], path: [] })
    }
  }
  return names
}

/** Every text that a file reads, and every chain of steps that leads to no text. */
async function readIn(file: string): Promise<{ read: Leaf[]; missing: string[] }> {
  const source = readFileSync(file, 'utf8')
  const isView = file.endsWith('.eta')
  let text = isView ? source.replace(/\bit\.t\b/g, 't') : asInViews(source)
  const names: Names = isView ? new Map() : await importedIn(file)
  names.set('t', { table: texts, path: [] })
  // Destructuring a table does not read its texts, so these statements are removed once their names are known.
  text = text.replace(TAKEN_APART, (whole, members: string, root: string, steps: string) => {
    const base = names.get(root)
    if (base === undefined) return whole
    for (const member of members.split(',')) {
      const [from = '', to = from] = member.split(':').map((word) => word.trim())
      if (from !== '') names.set(to, { table: base.table, path: [...base.path, ...stepsOf(steps), from] })
    }
    return '\n'
  })
  text = text.replace(NAMED, (whole, name: string, root: string, steps: string) => {
    const base = names.get(root)
    if (base === undefined) return whole
    names.set(name, { table: base.table, path: [...base.path, ...stepsOf(steps)] })
    return '\n'
  })
  const chains = [...text.matchAll(CHAIN)].flatMap(([chain, root = '', steps = '']) => {
    const base = names.get(root)
    return base === undefined || chain === 't'
      ? []
      : [{ chain, places: placesAt(base.table, [...base.path, ...stepsOf(steps)]) }]
  })
  return {
    read: chains.flatMap(({ places }) => places.flatMap((place) => leavesOf(place).map(([leaf]) => leaf))),
    missing: chains.filter(({ places }) => places.length === 0).map(({ chain }) => `${file}: ${chain}`),
  }
}

const views = globSync(join(ROOT, 'views/**/*.eta'))
const sources = globSync(join(ROOT, 'src/**/*.ts')).filter(
  (file) =>
    !file.endsWith('texts.ts') && /\blocale\b|\bMessages\b|\.texts\.ts'/.test(readFileSync(file, 'utf8')),
)

/** The file of each text, as a path below src. */
const homes = new Map<Leaf, string>()
for (const file of globSync('**/*.texts.ts', { cwd: join(ROOT, 'src') }))
  for (const [leaf] of leavesOf(await import(join(ROOT, 'src', file)))) homes.set(leaf, file)

/** The place of a file in src: a view belongs to the room of its page, and the frame of all pages to web. */
function placeOf(file: string): string {
  if (!file.endsWith('.eta')) return relative(join(ROOT, 'src'), file)
  const view = relative(join(ROOT, 'views'), file)
  return /^parts\/|^[^/]+$/.test(view) ? `web/${view}` : view
}

// The sources are typed, so a missing text in them does not compile.
it('every text that a view reads is in the catalogue', async () => {
  expect(views.length).toBeGreaterThan(20)
  const missing = await Promise.all(views.map(async (file) => (await readIn(file)).missing))
  expect(missing.flat()).toEqual([])
})

it('every text of the catalogue is read', async () => {
  const found = await Promise.all([...views, ...sources].map(async (file) => (await readIn(file)).read))
  const read = new Set(found.flat())
  expect(leavesOf(texts).flatMap(([leaf, name]) => (read.has(leaf) ? [] : [name]))).toEqual([])
})

it('the catalogue holds the texts of every room', () => {
  expect(new Set(homes.values()).size).toBeGreaterThan(50)
  const held = new Set(leavesOf(texts).map(([leaf]) => leaf))
  expect([...homes].flatMap(([leaf, file]) => (held.has(leaf) ? [] : [file]))).toEqual([])
})

const areaOf = (file: string) => file.split('/')[0]

it('a file reads only texts of its own area and those below', async () => {
  const upward = await Promise.all(
    [...views, ...sources].map(async (file) => {
      const { read } = await readIn(file)
      const place = placeOf(file)
      return read.flatMap((leaf) =>
        areaOf(place) === areaOf(homes.get(leaf)!) || mayImport(place, homes.get(leaf)!)
          ? []
          : [`${file}: ${homes.get(leaf)}`],
      )
    }),
  )
  expect([...new Set(upward.flat())]).toEqual([])
})

// A text that lacks a language does not compile.
it('no text is empty', () => {
  const empty = leavesOf(texts).filter(([leaf]) => typeof leaf === 'object' && !(leaf.en && leaf.zh))
  expect(empty).toEqual([])
})
