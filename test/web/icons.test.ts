/** Every icon that pages may name is in the file, and the file has no other. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ICONS } from '../../src/web/icons.ts'

test('the names of icons are those of the file', async () => {
  const file = await readFile(join(import.meta.dirname, '../../views/assets/icons.svg'), 'utf8')
  const ids = [...file.matchAll(/<symbol id="([a-z]+)"/g)].map(([, id]) => id)
  expect(ids.filter((id) => id !== 'mosaic').sort()).toEqual([...ICONS].sort())
})
