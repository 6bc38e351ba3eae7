/** The version of package.json in the files that repeat it, and in the notes that a release needs. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isNewer, ownReleases } from '../../src/platform/changelog.ts'
import { VERSION } from '../../src/platform/version.ts'
import { ROOT } from '../harness/server-process.ts'

const read = (file: string) => readFile(join(ROOT, file), 'utf8')

it('package.json, its lock and the label of the image name one version', async () => {
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+$/)
  for (const file of ['package.json', 'package-lock.json'])
    expect(JSON.parse(await read(file)).version, file).toBe(VERSION)
  const label = /^LABEL org\.opencontainers\.image\.version="(.+)"$/m.exec(await read('Dockerfile'))
  expect(label?.[1]).toBe(VERSION)
})

it('the changelog begins with the version', async () => {
  const versions = [...(await read('CHANGELOG.md')).matchAll(/^## (\d\S*)/gm)].map(([, version]) => version)
  expect(versions[0]).toBe(VERSION)
  expect(ownReleases().map(({ version }) => version)).toEqual(versions)
})

it('versions are in the order of Semantic Versioning 11', () => {
  const ordered = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2']
  ordered.push('1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '2.0.0', '2.1.0', '2.1.1', '2.1.10', '10.0.0')
  for (const [i, one] of ordered.entries())
    for (const [j, other] of ordered.entries()) expect(isNewer(one, other), `${one} ${other}`).toBe(i > j)
})

it.each(['README.md', 'README.zh-CN.md'])(
  'docs/operations/%s says how to upgrade to the version',
  async (file) => {
    expect(await read(`docs/operations/${file}`)).toContain(`\n### ${VERSION}\n`)
  },
)
