/**
 * The floors of the house. A file imports from its own room, from the rooms below it, and from the areas below its own;
 * imports of types count too. No files import each other in a circle.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

type Floors = { [name: string]: string[] }

const SRC = join(import.meta.dirname, '../src')
/** Each area, and each file at the root, with those that it stands on. It may import from all below them too. */
const AREAS: Floors = {
  platform: [],
  database: ['platform'],
  core: ['database'],
  ledger: ['core'],
  web: ['core'],
  accounts: ['ledger', 'web'],
  identity: ['accounts'],
  payment: ['accounts'],
  privacy: ['identity'],
  docs: ['identity', 'payment'],
  admin: ['identity', 'payment', 'privacy'],
  operations: ['identity', 'payment'],
  parts: ['docs'],
  worker: ['operations', 'parts'],
  texts: ['admin', 'docs'],
  app: ['texts', 'parts'],
  serve: ['app', 'worker'],
  demo: ['serve'],
  cli: ['serve'],
  server: ['demo'],
}
/** The rooms of an area in the same way. '' are the files at its root. */
const ROOMS: { [area: string]: Floors } = {
  database: { tables: [], embedded: [], '': ['tables', 'embedded'] },
  accounts: {
    people: [],
    session: ['people'],
    security: ['session'],
    'sign-in': ['security'],
    forum: ['security'],
    '': ['sign-in', 'forum'],
  },
  identity: { keys: [], apps: ['keys'], oauth: ['apps'], '': ['oauth'] },
  payment: {
    values: [],
    signing: ['values'],
    rights: ['values'],
    orders: ['rights'],
    alerts: ['rights'],
    apps: ['signing', 'alerts'],
    diagnosis: ['signing', 'rights'],
    gateway: ['diagnosis', 'orders'],
    hmac: ['diagnosis', 'orders'],
    events: ['apps', 'hmac'],
    notifications: ['events', 'gateway'],
    buyer: ['notifications'],
    seller: ['buyer'],
    '': ['seller'],
  },
  admin: {
    find: [],
    people: [],
    proposals: [],
    points: ['find', 'proposals'],
    apps: ['proposals'],
    site: ['proposals'],
    '': ['people', 'points', 'apps', 'site'],
  },
}

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

it('at most 12 files stand at the root, and at most 25 in a room', () => {
  const files = new Map<string, number>()
  for (const file of importsOf.keys()) files.set(dirname(file), (files.get(dirname(file)) ?? 0) + 1)
  expect(files.get('.')).toBeLessThanOrEqual(12)
  expect([...files].filter(([, count]) => count > 25)).toEqual([])
})

function mayImport(file: string, imported: string): boolean {
  const [from, to] = [placeOf(file), placeOf(imported)]
  if (from.area !== to.area) return isBelow(AREAS, from.area, to.area)
  const rooms = ROOMS[from.area]
  return from.room === to.room || rooms === undefined || isBelow(rooms, from.room, to.room)
}

function placeOf(file: string): { area: string; room: string } {
  const [area = '', room = '', ...rest] = file.replace(/\.ts$/, '').split('/')
  return { area, room: rest.length === 0 ? '' : room }
}

/** Throws for a name that no floor has: a new area or room is given its floor first. */
function isBelow(floors: Floors, upper: string, lower: string): boolean {
  const below = floors[upper]
  if (below === undefined) throw new Error(`${upper} has no floor`)
  return below.includes(lower) || below.some((name) => isBelow(floors, name, lower))
}
