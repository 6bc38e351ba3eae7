/** Each bug can still be planted: a change of the sources that moves its place would leave the run without its proof. */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { APP_SECRET } from '../../test/faults/world.ts'
import { createDatabase } from '../../test/harness/harness.ts'
import { ROOT } from '../../test/harness/server-process.ts'
import { hasLeft } from '../../test/harness/thoroughness.ts'
import { PLANTS, plantIn } from './plants.ts'

// Each applies all migrations of a copy, which the suite leaves to a part of continuous integration.
it.runIf(hasLeft('STARTS')).each(PLANTS)('$name', async (plant) => {
  const copy = await plantIn(plant)
  for (const { file, to } of plant.edits) {
    expect(await readFile(join(copy, file), 'utf8')).toContain(to)
    expect(await readFile(join(ROOT, file), 'utf8')).not.toContain(to)
  }
  const database = await createDatabase('template0')
  try {
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url, APP_SECRET }
    await promisify(execFile)(process.execPath, ['src/cli/tessera.js', 'migrate'], { cwd: copy, env })
  } finally {
    await database.drop()
    await rm(copy, { recursive: true })
  }
})
