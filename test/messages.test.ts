/**
 * The catalogues against those who read them. Views are not typed, so a text that no catalogue has would show as
 * "undefined" on a page; and a text that nobody reads any more would be translated for ever.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { en } from '../src/web/messages/en.ts'
import { zhCN } from '../src/web/messages/zh-cn.ts'

const ROOT = join(import.meta.dirname, '..')
/** A step that is worked out while the page is made: any of the texts there. */
const ANY = '*'

type Path = string[]

const INDEX = String.raw`\[(?:[^[\]]|\[[^\]]*\])*\]`
const STEPS = String.raw`(?:\??\.[A-Za-z_]\w*|${INDEX})*`
/** A name, not in the middle of something (but after `...`), with the steps taken from there. */
const CHAIN = new RegExp(String.raw`(?<![\w$'"-]|(?<!\.\.)\.)([A-Za-z_]\w*)(${STEPS})`, 'g')
const STEP = new RegExp(String.raw`\.([A-Za-z_]\w*)|${INDEX}`, 'g')
const NAMED = new RegExp(String.raw`(?:const|;) (\w+) = (\w+)(${STEPS})(?=[\n;,]| %>)`, 'g')
const TAKEN_APART = /const \{([^{}]*)\} = (\w+)((?:\.\w+)*)\n/g

function stepsOf(text: string): Path {
  return [...text.matchAll(STEP)].map(([step, name]) => name ?? /^\['(\w+)'\]$/.exec(step)?.[1] ?? ANY)
}

/** Where the steps lead in the English catalogue; a step that is worked out leads to several places, a wrong one to none. */
function placesAt(path: Path): { path: Path; value: unknown }[] {
  let places: { path: Path; value: unknown }[] = [{ path: [], value: en }]
  for (const step of path) {
    places = places.flatMap((place) => {
      // Beyond a text there are only its own members.
      if (typeof place.value !== 'object' || place.value === null) return [place]
      const within = Object.entries(place.value).filter(([name]) => step === ANY || name === step)
      return within.map(([name, value]) => ({ path: [...place.path, name], value }))
    })
  }
  return places
}

function leavesOf({ path, value }: { path: Path; value: unknown }): string[] {
  if (typeof value !== 'object' || value === null) return [path.join('.')]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf({ path: [...path, name], value: inner }))
}

/** The ways by which sources come to the catalogue, written as views write them. */
function asInViews(source: string): string {
  return source
    .replace(/\bcontent: \(t\) => t\b/g, 't.security.mails')
    .replace(/(?:\w+\.)*locale\.t\b|\bchooseLocale\([^)]*\)\.t\b|(?<!\/)\ben\b(?=\.)/g, 't')
    .replace(/\{([^{}]*)\}: Messages\b/g, 'const {$1} = t\n')
}

/** Every text that a file reads, and every chain of steps that leads nowhere. */
function readIn(file: string): { read: string[]; missing: string[] } {
  const source = readFileSync(file, 'utf8')
  let text = file.endsWith('.eta') ? source : asInViews(source)
  const names = new Map<string, Path>([['t', []]])
  // To name a part is not to read it: these go once they are understood.
  text = text.replace(TAKEN_APART, (whole, members: string, root: string, steps: string) => {
    const base = names.get(root)
    if (base === undefined) return whole
    for (const member of members.split(',')) {
      const [from = '', to = from] = member.split(':').map((word) => word.trim())
      if (from !== '') names.set(to, [...base, ...stepsOf(steps), from])
    }
    return '\n'
  })
  text = text.replace(NAMED, (whole, name: string, root: string, steps: string) => {
    const base = names.get(root)
    if (base === undefined) return whole
    names.set(name, [...base, ...stepsOf(steps)])
    return '\n'
  })
  const chains = [...text.matchAll(CHAIN)].flatMap(([chain, root = '', steps = '']) => {
    const base = names.get(root)
    return base === undefined || chain === 't'
      ? []
      : [{ chain, places: placesAt([...base, ...stepsOf(steps)]) }]
  })
  return {
    read: chains.flatMap(({ places }) => places.flatMap(leavesOf)),
    missing: chains.filter(({ places }) => places.length === 0).map(({ chain }) => `${file}: ${chain}`),
  }
}

const views = globSync(join(ROOT, 'views/**/*.eta'))
const sources = globSync(join(ROOT, 'src/**/*.ts')).filter(
  (file) =>
    !file.includes('/messages/') && /\blocale\b|\bMessages\b|messages\/en/.test(readFileSync(file, 'utf8')),
)

// The sources are typed: what they miss does not compile.
it('every text that a view reads is in the catalogue', () => {
  expect(views.length).toBeGreaterThan(20)
  expect(views.flatMap((file) => readIn(file).missing)).toEqual([])
})

it('every text of the catalogue is read', () => {
  const read = new Set([...views, ...sources].flatMap((file) => readIn(file).read))
  expect(leavesOf({ path: [], value: en }).filter((path) => !read.has(path))).toEqual([])
})

it('both languages have the same texts, none of them empty', () => {
  const paths = (catalogue: unknown) => leavesOf({ path: [], value: catalogue })
  expect(paths(zhCN)).toEqual(paths(en))
  const texts = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [value]
  expect(texts([en, zhCN]).filter((text) => text === '')).toEqual([])
})
