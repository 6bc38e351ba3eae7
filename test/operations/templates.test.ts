/** The entries for 1Panel, Coolify and Dokploy set variables that exist, and all that a start in production needs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/platform/config.ts'
import { environment } from '../../src/platform/environment.ts'
import { ROOT } from '../harness/server-process.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
const FOLDER = 'docs/operations/templates'
const PANEL = `${FOLDER}/1panel/tessera/${version}`
/** What the first start needs beside the configuration. */
const FIRST_START = ['ADMIN_PASSWORD', 'PGPASSWORD']
/** Variables that 1Panel sets by itself. */
const OF_1PANEL = ['CONTAINER_NAME']

const given = (file: string, pattern: RegExp) => [...read(file).matchAll(pattern)].map(([, name]) => name!)

const TEMPLATES = [
  {
    name: '1Panel',
    file: `${PANEL}/docker-compose.yml`,
    known: () => [...OF_1PANEL, ...given(`${PANEL}/data.yml`, /envKey: (\w+)/g)],
  },
  {
    name: 'Coolify',
    file: `${FOLDER}/coolify/tessera.yaml`,
    // Coolify makes each SERVICE_…, and asks for the others, which may be empty.
    known: () => given(`${FOLDER}/coolify/tessera.yaml`, /\$\{(SERVICE_\w+|\w+(?=:-\}))/g),
  },
  {
    name: 'Dokploy',
    file: `${FOLDER}/dokploy/docker-compose.yml`,
    known: () => given(`${FOLDER}/dokploy/template.toml`, /^([A-Z_]+) = /gm),
  },
]

type Environment = Record<string, string>

/** The environment of each service, with the variables in it as written. Both forms of YAML, a map and a list. */
function services(text: string): Record<string, Environment> {
  const [, part = ''] = /^services:\n((?: .*\n|\n)+)/m.exec(text) ?? []
  const blocks = part.split(/^ {2}(?=\w)/m).slice(1)
  return Object.fromEntries(
    blocks.map((block) => {
      const [, variables = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(block) ?? []
      const lines = [...variables.matchAll(/^ {6}(?:- )?(\w+)(?:: |=)(.*)$/gm)]
      return [
        block.slice(0, block.indexOf(':')),
        Object.fromEntries(lines.map(([, name, value]) => [name, value])),
      ]
    }),
  )
}

const OURS = services(read('docker-compose.yml'))
const EXPLAINED = new Set([...read('.env.example').matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name!))

describe.each(TEMPLATES)('the template for $name', ({ file, known }) => {
  const text = read(file)
  const { tessera, backup, postgres } = services(text)
  /** The value as a site of its own would get it. */
  const filledIn = (value: string) =>
    value.replace(/\$\{(\w+)(:-)?\}/g, (_, name: string, isOptional?: string) =>
      isOptional
        ? ''
        : /URL/.test(name)
          ? 'https://id.example.org'
          : `a-value-of-${name}-that-is-long-enough`,
    )
  const site = Object.fromEntries(Object.entries(tessera!).map(([name, value]) => [name, filledIn(value)]))

  it('sets only variables that exist, each from a source that does', () => {
    const unknown = Object.keys(tessera!).filter(
      (name) => !(name in environment.shape) && name !== 'PGPASSWORD',
    )
    expect(unknown).toEqual([])
    for (const [name, each] of Object.entries({ backup, postgres }))
      expect(Object.keys(each ?? {}).filter((key) => !(key in OURS[name]!))).toEqual([])
    const used = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
    expect(used.filter((name) => !known().includes(name))).toEqual([])
    const asked = known().filter((name) => !/^(?:PANEL_|SERVICE_|CONTAINER_)/.test(name))
    expect(asked.filter((name) => !EXPLAINED.has(name))).toEqual([])
  })

  it('asks for nothing that no service reads', () => {
    // 1Panel makes the database by its type.
    const unread = known().filter((name) => name !== 'PANEL_DB_TYPE' && !text.includes(`\${${name}`))
    expect(unread).toEqual([])
  })

  it('starts in production, and no needed variable can be left out', () => {
    // Dokploy's optional ones are empty in template.toml.
    const empty = given(`${FOLDER}/dokploy/template.toml`, /^([A-Z_]+) = ""/gm)
    const start = Object.fromEntries(Object.entries(site).filter(([name]) => !empty.includes(name)))
    expect(loadConfig(start).production).toBe(true)
    for (const name of ['PUBLIC_URL', 'TRUST_PROXY', 'DATABASE_URL', 'APP_SECRET', ...FIRST_START])
      expect(start[name]).toBeTruthy()
    const needed = ['DATABASE_URL', 'APP_SECRET']
    for (const name of needed) expect(() => loadConfig({ ...start, [name]: undefined })).toThrow(name)
    if (backup)
      for (const name of ['PGHOST', 'PGUSER', 'PGDATABASE', 'PGPASSWORD', 'APP_SECRET'])
        expect(backup[name]).toBeTruthy()
  })

  it('names the image of this version', () => {
    const images = [...text.matchAll(/image: ghcr\.io\/OWNER\/tessera\S*:(\S+)/g)].map(([, tag]) => tag)
    expect(images.length).toBeGreaterThan(0)
    expect(new Set(images)).toEqual(new Set([version]))
  })
})

it('the entry of Dokploy has the version of this program', () => {
  expect(JSON.parse(read(`${FOLDER}/dokploy/meta.json`)).version).toBe(version)
})
