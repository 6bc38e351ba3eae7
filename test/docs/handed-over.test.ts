/** What README.md, CONTRIBUTING.md and CHANGELOG.md say about the repository is there. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../harness/server-process.ts'

/** The whole top level, without what .gitignore names. A new entry needs a reason that README.md tells. */
const TOP_LEVEL = [
  ...['.ci', '.dockerignore', '.editorconfig', '.env.example', '.github', '.gitignore', '.nvmrc'],
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'Dockerfile', 'README.md', 'SECURITY.md', 'bench', 'biome.json'],
  ...[
    'docker-compose.yml',
    'docs',
    'examples',
    'migrations',
    'package-lock.json',
    'package.json',
    'src',
    'test',
  ],
  ...['tsconfig.json', 'views'],
]
const PATH =
  /^(?:\.ci|src|test|docs|migrations|views|bench|examples)\/[\w./-]*[\w/]$|^[\w.-]+\.(?:md|yml|json)$|^\.env\.example$/

/** A path is of the top level, or a link beside the file. */
const isThere = (path: string, file: string) =>
  existsSync(join(ROOT, path)) || existsSync(join(ROOT, dirname(file), path))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const manifest = JSON.parse(read('package.json'))

it('the top level holds nothing else', () => {
  const ignored = read('.gitignore')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''))
  expect(
    readdirSync(ROOT)
      .filter((name) => name !== '.git' && !ignored.includes(name))
      .sort(),
  ).toEqual([...TOP_LEVEL].sort())
})

describe.each(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'test/README.md'])('%s', (file) => {
  const text = read(file)

  it('names files that exist', () => {
    const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, path]) => path!)
    const linked = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!)
    const paths = [...quoted.filter((path) => PATH.test(path)), ...linked]
    expect(paths.length).toBeGreaterThan(3)
    const made = ['sbom.json']
    expect(
      paths.filter((path) => !made.includes(path) && !path.includes('NAME') && !isThere(path, file)),
    ).toEqual([])
  })

  it('names scripts that exist', () => {
    const scripts = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!)
    expect(scripts.filter((script) => manifest.scripts[script] === undefined)).toEqual([])
  })
})

it('CONTRIBUTING.md fits on one page', () => {
  expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThanOrEqual(80)
})

it('.nvmrc names the Node that package.json demands and brings along', () => {
  const major = read('.nvmrc').trim()
  expect(manifest.engines.node).toMatch(new RegExp(`^>=${major}\\.`))
  for (const [name, version] of Object.entries(manifest.optionalDependencies))
    if (name.startsWith('node-')) expect(version, name).toMatch(new RegExp(`^${major}\\.`))
})

it('a forge builds the images of a tag for both processors', () => {
  const workflow = read('.github/workflows/image.yml')
  expect(workflow).toMatch(/^ +tags: \["v\*"\]$/m)
  expect(workflow).toContain('platforms: linux/amd64,linux/arm64\n')
  const targets = [...workflow.matchAll(/\{ target: (\w+)/g)].map(([, target]) => target)
  const stages = [...read('Dockerfile').matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, stage]) => stage)
  expect(targets).toEqual(['app', 'backup', 'trial'])
  expect(targets.filter((target) => !stages.includes(target))).toEqual([])
})

it('a forge tests by .ci/run and nothing else', () => {
  const workflows = globSync('.github/workflows/*', { cwd: ROOT }).sort()
  expect(workflows).toEqual(['.github/workflows/ci.yml', '.github/workflows/image.yml'])
  const runs = [...read(workflows[0]!).matchAll(/^\s*- run: (.*)$/gm)].map(([, command]) => command)
  expect(runs).toEqual(['.ci/run'])
})
