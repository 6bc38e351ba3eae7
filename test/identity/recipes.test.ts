/** The recipes in both languages: which versions they name, and that each has a test that runs it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { guideIn } from '../../src/docs/guides/guides.ts'
import { recipesIn } from './recipes/recipes.ts'

const FOLDER = join(import.meta.dirname, 'recipes')
const english = recipesIn('en')

it('the recipes of both languages have the same versions, code and settings', () => {
  const facts = (language: 'en' | 'zh-CN') =>
    recipesIn(language).map(({ name, versions, code, text }) => ({
      name,
      versions,
      code,
      settings: [...text.matchAll(/`[^`\n]+`/g)].map(([setting]) => setting).sort(),
    }))
  expect(facts('zh-CN')).toEqual(facts('en'))
  expect(english.length).toBeGreaterThan(10)
})

it('every recipe names a version, and a test compares it with the one that it runs', () => {
  const tests = [
    join(import.meta.dirname, 'real-clients.test.ts'),
    ...readdirSync(FOLDER)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(FOLDER, name)),
  ].map((path) => readFileSync(path, 'utf8'))
  for (const { name, versions } of english) {
    expect(versions, name).not.toEqual([])
    const proofs = tests.filter((text) => text.includes(`recipe('${name}')`) || text.includes(`'${name}'`))
    expect(
      proofs.some((text) => text.includes('versions')),
      name,
    ).toBe(true)
  }
})

it('the headings of the guides are the recipes, and no other client seems to be tried', () => {
  for (const language of ['en', 'zh-CN'] as const) {
    const headings = guideIn(language, 'sign-in-clients').headings.filter(({ level }) => level === 3)
    expect(headings.map(({ text }) => text)).toEqual(recipesIn(language).map(({ name }) => name))
  }
})
