/** Each bug can still be planted: a change of the sources that moves its place would leave the run without its proof. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../test/harness/server-process.ts'
import { PLANTS, plantIn } from './plants.ts'

it.each(PLANTS)('$name', async (plant) => {
  const copy = await plantIn(plant)
  for (const { file, to } of plant.edits) {
    expect(await readFile(join(copy, file), 'utf8')).toContain(to)
    expect(await readFile(join(ROOT, file), 'utf8')).not.toContain(to)
  }
  await rm(copy, { recursive: true })
})
