/** The specification and the repository name each other: every citation has its clause, and every clause its code and test. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../harness/server-process.ts'
import { citationsIn, clausesOfDecisions, clausesOfPage, SPEC_PAGES } from './citations.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const pages = new Map(SPEC_PAGES.map((page) => [page, read(`docs/spec/${page}.md`)]))
const ofSpec = [...pages].flatMap(([page, text]) => clausesOfPage(page, text))
const known = new Set([...ofSpec, ...clausesOfDecisions(read('docs/decisions.md'))])

const CODE = ['src/**/*.ts', 'migrations/**/*.sql', 'views/**/*.{eta,css,js}']
const TESTS = ['test/**/*.ts']
const OTHERS = [
  'bench/**/*.ts',
  'docs/**/*.md',
  'examples/**/*.js',
  'migrations/*.md',
  'SECURITY.md',
  '.env.example',
]
/** Files that show what a citation is, and an applied migration, which is never edited. */
const LEFT_OUT = [
  'test/docs/spec.test.ts',
  'test/docs/citations.ts',
  'docs/spec/README.md',
  'migrations/190-unconfirmed-apps.sql',
]

const citationsOf = (globs: string[], textOf = read) =>
  globSync(globs, { cwd: ROOT })
    .filter((file) => !LEFT_OUT.includes(file) && !file.includes('node_modules/'))
    .map((file) => ({ file, ...citationsIn(textOf(file), known) }))
/** The list of a room's clauses is no code that implements them. */
const withoutRoomLists = (file: string) => read(file).replace(/^\/\/ Clauses: .*\n/m, '')
const inCode = citationsOf(CODE)
const inTests = citationsOf(TESTS)

/** The clauses that none of these files cites. */
function uncited(files: { clauses: string[] }[]): string[] {
  const cited = new Set(files.flatMap(({ clauses }) => clauses))
  return ofSpec.filter((clause) => !cited.has(clause))
}

describe('the specification', () => {
  it('has its pages in the order of its README', () => {
    const listed = [...read('docs/spec/README.md').matchAll(/^\| \d+ \| \[([\w-]+)\]\(\1\.md\)/gm)]
    expect(listed.map(([, page]) => page)).toEqual(SPEC_PAGES)
    expect(globSync('docs/spec/*.md', { cwd: ROOT }).length).toBe(pages.size + 1)
  })

  it.each([...pages])('%s numbers each clause once, under its section', (_, text) => {
    const numbers = [...text.matchAll(/^#{2,3} (\d+)(?:\.(\d+))? \S/gm)].map(([, section, clause = '0']) => [
      Number(section),
      Number(clause),
    ])
    expect(numbers.length).toBeGreaterThan(3)
    let [inSection, last] = [0, 0]
    for (const [section, clause] of numbers) {
      const isNext = clause === 0 ? section! > inSection : section === inSection && clause! > last
      expect(isNext, `${section}.${clause} follows ${inSection}.${last}`).toBe(true)
      ;[inSection, last] = [section!, clause!]
    }
    // A heading of another form would be no clause.
    expect(text.match(/^#{3,} /gm)?.length).toBe(numbers.filter(([, clause]) => clause !== 0).length)
  })

  it('is cited by its clauses only', () => {
    const faults = [...inCode, ...inTests, ...citationsOf(OTHERS)].flatMap(({ file, faults }) =>
      faults.map((fault) => `${file}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  it('has no clause that no code cites', () => {
    expect(uncited(citationsOf(CODE, withoutRoomLists))).toEqual([])
  })

  it('has no clause that no test cites', () => {
    expect(uncited(inTests)).toEqual([])
  })
})

describe('a citation', () => {
  const clauses = new Set([
    'spec/points 1.2',
    'spec/points 1.3',
    'spec/points 1.4',
    'spec/points 2.1',
    'decisions 3.2',
  ])
  const cited = (text: string) => citationsIn(text, clauses)

  it.each([
    ['/** Rounds down: spec/points 1.2. */', ['spec/points 1.2']],
    ['-- spec/points 1.2, 1.4 and 2.1', ['spec/points 1.2', 'spec/points 1.4', 'spec/points 2.1']],
    ['// spec/points 1.2–1.4', ['spec/points 1.2', 'spec/points 1.4', 'spec/points 1.3']],
    [' * docs/decisions.md 3.2, and\n * spec/points\n * 2.1', ['decisions 3.2', 'spec/points 2.1']],
    ['the decisions of docs/spec/points.md and docs/en/mandates.md', []],
  ])('is found: %j', (text, found) => {
    expect(cited(text)).toEqual({ clauses: found, faults: [] })
  })

  it.each([
    ['spec/points 1.9', 'spec/points 1.9: no such clause'],
    ['spec/coins 1.2', 'spec/coins 1.2: no such clause'],
    ['spec/points 1.2 to 1.9', 'spec/points 1.9: no such clause'],
    ['decisions 3.9', 'decisions 3.9: no such clause'],
    ['spec/points 1.2–2.1', 'spec/points 1.2–2.1: a range stays in one section'],
    ['(spec/points)', 'spec/points: name a clause, N.M'],
    ['spec/points 2', 'spec/points: name a clause, N.M'],
    ['gateway.md 2.2', 'gateway.md 2.2: cite spec/PAGE N.M instead'],
    ['(decisions.md 5.7)', 'decisions.md 5.7: cite spec/PAGE N.M instead'],
    ['interface.md, Authentication', 'interface.md, Authentication: cite spec/PAGE N.M instead'],
    ['identity-2 §8', 'identity-2 §8: cite spec/PAGE N.M instead'],
  ])('of what is not here is refused: %s', (text, fault) => {
    expect(cited(text).faults.join()).toContain(fault.split(': ')[1])
    expect(cited(text).faults.length).toBeGreaterThan(0)
  })
})
