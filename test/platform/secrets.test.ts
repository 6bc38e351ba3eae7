/** Random texts, which are drawn from bytes that many of them share. */
import { expect, it } from 'vitest'
import { ALNUM, LOWER_ALNUM, randomText } from '../../src/platform/secrets.ts'

const COUNT = 2_000

it('random texts never repeat and use the whole alphabet, however many are drawn', () => {
  const texts = Array.from({ length: COUNT }, () => randomText(24, LOWER_ALNUM))
  expect(new Set(texts).size).toBe(COUNT)
  expect(texts.every((text) => /^[a-z0-9]{24}$/.test(text))).toBe(true)
  expect(new Set(texts.join('')).size).toBe(LOWER_ALNUM.length)
  // Longer than the bytes that are drawn at once.
  expect(new Set(randomText(10_000, ALNUM)).size).toBe(ALNUM.length)
})
