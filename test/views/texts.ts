/**
 * Finds the texts that each file reads. tsc checks the sources and the templates against tables that hold groups and no
 * texts, so each reading of a text is an error that names the group and the text.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { texts } from '../../src/texts.ts'
import type { Text } from '../../src/web/languages.ts'
import { checkTypes } from './check.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCRATCH = join(ROOT, 'node_modules/.cache/texts')
const SRC = join(SCRATCH, 'src')

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
async function copySources(): Promise<void> {
  rmSync(SCRATCH, { recursive: true, force: true })
  cpSync(join(ROOT, 'src'), SRC, { recursive: true })
  writeFileSync(join(SCRATCH, 'package.json'), '{ "type": "module" }')
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
export async function textsRead(): Promise<Map<string, Set<Leaf>>> {
  await copySources()
  const faults = checkTypes({
    views: join(ROOT, 'views'),
    src: SRC,
    sources: [SRC],
    scratch: join(SCRATCH, 'views'),
    compilerOptions: { noErrorTruncation: true },
  })
  const read = new Map<string, Set<Leaf>>()
  for (const { file, message } of faults) {
    const path = file.startsWith('views') ? file : relative(SCRATCH, join(ROOT, file))
    read.set(path, new Set([...(read.get(path) ?? []), ...readingsIn(message)]))
  }
  return read
}
