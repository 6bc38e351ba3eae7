/** Readings that a cache asks for many times, and what is answered while the database is frozen. */
import { expect, it } from 'vitest'
import { orLatest } from '../../src/database/latest.ts'

it('a reading that has ended is returned at once', async () => {
  const reading = Promise.resolve('new')
  expect(await orLatest(reading, 'old')).toBe('new')
  expect(orLatest(reading, 'old')).toBe('new')
})

it('a refused reading gives the latest one, each time', async () => {
  const reading = Promise.reject(new Error('refused'))
  expect(await orLatest(reading, 'old')).toBe('old')
  expect(await orLatest(reading, 'older')).toBe('older')
})

it('a reading that never ends gives the latest one', async () => {
  expect(await orLatest(new Promise<string>(() => {}), 'old')).toBe('old')
})
