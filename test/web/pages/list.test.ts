/** The list of pages covers every view, and each page is in the file of one group. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GROUPS, PAGES, type PageGroup, pagesOf } from './list.ts'

const VIEWS = join(import.meta.dirname, '../../../views')

test('every view is a listed page or a part of one', async () => {
  const files = (await readdir(VIEWS, { recursive: true })).filter(
    (file) => file.endsWith('.eta') && file !== 'layout.eta',
  )
  const texts = await Promise.all(files.map((file) => readFile(join(VIEWS, file), 'utf8')))
  const pages = files.filter((_file, i) => texts[i]!.includes("layout('/layout'"))
  const listed = new Set(PAGES.map(({ name }) => `${name.split(' ')[0]}.eta`))
  expect(pages.filter((file) => !listed.has(file))).toEqual([])
  expect([...listed].filter((file) => !pages.includes(file))).toEqual([])
  expect(new Set(PAGES.map(({ name }) => name)).size).toBe(PAGES.length)
})

test('every page is in one group, and every group has its file', async () => {
  const groups = Object.keys(GROUPS) as PageGroup[]
  expect(
    groups
      .flatMap(pagesOf)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(PAGES.map(({ name }) => name).sort())
  const files = await readdir(import.meta.dirname)
  expect(groups.filter((group) => !files.includes(`${group}.test.ts`))).toEqual([])
})
