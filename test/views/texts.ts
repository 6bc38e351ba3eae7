/**
 * Finds the texts that each file reads. tsc checks a copy of the sources and the templates against tables that hold groups and no
 * texts, so each reading of a text is an error that names the group and the text.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { texts } from '../../src/texts.ts'
import type { Text } from '../../src/web/languages.ts'
import { mayImport } from '../floors.ts'
import type { Fault } from './check.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A text, or a function that makes one. */
export type Leaf = Text | ((...facts: never[]) => unknown)

const isLeaf = (value: object): value is Leaf => typeof value === 'function' || 'en' in value
const isGroup = (value: object) => !isLeaf(value) && !Array.isArray(value)

/** The texts in a value, each with the names that lead to it. */
export function leavesOf(value: object, name = ''): [Leaf, string][] {
  if (isLeaf(value)) return [[value, name]]
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, name === '' ? key : `${name}.${key}`),
  )
}

/** The groups by the numbers in the names of their interfaces. */
const groups: object[] = []
const nameOf = (group: object) =>
  `Texts__${groups.includes(group) ? groups.indexOf(group) : groups.push(group) - 1}`

/** Declares the interface of a group: its groups, and a member that names it where its members are spread or listed. */
function declarationOf(group: object): string {
  const inner = Object.entries(group).filter(([, value]) => isGroup(value))
  const members = inner.map(([key, value]) => `${JSON.stringify(key)}: ${nameOf(value)}`)
  return `interface ${nameOf(group)} { ${[`${nameOf(group)}: ${nameOf(group)}`, ...members].join('; ')} }`
}

/** Copies the sources. Imports of texts get tables without texts; type-only imports keep the real ones. */
export async function copyWithoutTexts(SRC: string): Promise<void> {
  rmSync(SRC, { recursive: true, force: true })
  cpSync(join(ROOT, 'src'), SRC, { recursive: true })
  for (const file of globSync('*/texts.ts', { cwd: SRC })) rmSync(join(SRC, file))
  const merged = `declare module './web/languages.ts' { interface Messages extends ${nameOf(texts)} {} }`
  for (const file of globSync('**/*.texts.ts', { cwd: SRC })) {
    const tables = Object.entries<object>(await import(join(ROOT, 'src', file)))
    const made = tables.map(([key, table]) => `export declare const ${key}: ${nameOf(table)}\n`)
    writeFileSync(join(SRC, file.replace(/texts\.ts$/, 'hollow.ts')), made.join(''))
  }
  // Each declaration adds the groups within to the list.
  const declarations: string[] = []
  for (const group of groups) declarations.push(declarationOf(group))
  writeFileSync(
    join(SRC, 'texts.ts'),
    `declare global {\n${declarations.join('\n')}\n}\n${merged}\nexport {}\n`,
  )
  for (const file of globSync('**/*.ts', { cwd: SRC })) {
    const source = readFileSync(join(SRC, file), 'utf8')
    const hollow = source.replace(/^(import \{.+\} from '.+\.)texts\.ts'$/gm, "$1hollow.ts'")
    const isReader = hollow !== source || /\b([lL]ocale|Messages)\b/.test(source)
    writeFileSync(join(SRC, file), isReader ? hollow : source.replace(/^(#!.*\n)?/, '$1// @ts-nocheck\n'))
  }
}

/** The literals of a union; undefined for any other type. */
function literalsIn(type: string): string[] | undefined {
  return /^("[^"]+"( \| )?)+$/.test(type) ? type.match(/[^"| ]+/g)! : undefined
}

/** The texts that an error names. A computed index reads each text that it may lead to. */
function readingsIn(message: string): Leaf[] {
  const index = /expression of type '(.*?)' can't be used to index/.exec(message)?.[1]
  const property = /[Pp]roperty '(\w+)'/.exec(message)?.[1]
  const names = index === undefined ? property && [property] : literalsIn(index)
  return [...message.matchAll(/\bTexts__(\d+)\b/g)].flatMap(([, number]) => {
    const group = Object.entries(groups[Number(number)]!)
    return group.flatMap(([key, value]) =>
      names === undefined || names.includes(key) ? leavesOf(value).map(([leaf]) => leaf) : [],
    )
  })
}

/** The texts that each file reads, by the file's path in the repository. */
type Read = Map<string, Set<Leaf>>

function textsRead(faults: Fault[]): Read {
  const read: Read = new Map()
  for (const { file, message } of faults)
    read.set(file, new Set([...(read.get(file) ?? []), ...readingsIn(message)]))
  return read
}

/** Returns the texts that nothing reads, and the files that read a text of a room above their own. */
export async function faultsOfTexts(faults: Fault[]): Promise<string[]> {
  const read = textsRead(faults)
  const all = new Set([...read.values()].flatMap((leaves) => [...leaves]))
  const unread = leavesOf(texts).filter(([leaf]) => !all.has(leaf))
  const homes = new Map<Leaf, string>()
  for (const file of globSync('**/*.texts.ts', { cwd: join(ROOT, 'src') }))
    for (const [leaf] of leavesOf(await import(join(ROOT, 'src', file)))) homes.set(leaf, file)
  const upward = [...read].flatMap(([file, leaves]) =>
    [...leaves].flatMap((leaf) => {
      const [place, home] = [currentLink(file), homes.get(leaf)!]
      return areaOf(place) === areaOf(home) || mayImport(place, home)
        ? []
        : [`${file} reads a text of ${home}`]
    }),
  )
  return [...unread.map(([, name]) => `nothing reads the text ${name}`), ...new Set(upward)]
}

/** The place of a file in src: a view belongs to the room of its page, and a shared part to web. */
function currentLink(file: string): string {
  const place = file.replace(/^(src|views)\//, '')
  return file.endsWith('.eta') && /^parts\/|^[^/]+$/.test(place) ? `web/${place}` : place
}

const areaOf = (file: string) => file.split('/')[0]
