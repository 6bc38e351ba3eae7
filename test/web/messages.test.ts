/**
 * Checks the catalogue of texts. `npm run check` finds texts that nothing reads, and readings upward.
 * spec/pages 2.1.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { texts } from '../../src/texts.ts'
import { leavesOf } from '../views/texts.ts'

const SRC = join(import.meta.dirname, '../../src')

it('the catalogue holds the texts of every room', async () => {
  const files = globSync('**/*.texts.ts', { cwd: SRC })
  expect(files.length).toBeGreaterThan(50)
  const held = new Set(leavesOf(texts).map(([leaf]) => leaf))
  const absent = []
  for (const file of files)
    if (leavesOf(await import(join(SRC, file))).some(([leaf]) => !held.has(leaf))) absent.push(file)
  expect(absent).toEqual([])
})

// A text that lacks a language does not compile.
it('no text is empty', () => {
  const empty = leavesOf(texts).filter(([leaf]) => typeof leaf === 'object' && !(leaf.en && leaf.zh))
  expect(empty).toEqual([])
})
