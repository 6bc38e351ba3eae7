/** The world of a model's histories: a database of its own, and a clock that they move. */
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { createDatabase, START } from './harness.ts'

type ModelWorld = { deps: Core; now(): number; advance(ms: number): void; close(): Promise<void> }

export async function openModelWorld(): Promise<ModelWorld> {
  const database = await createDatabase()
  const db = openDatabase(database.url, { max: 4, onBroken: () => {} })
  let now = START.getTime()
  const deps = {
    db,
    clock: () => new Date(now),
    databaseTime: async () => new Date(now),
    secrets: makeSecrets('a secret of the model, which guards nothing at all'),
    settings: openSettings(db),
  } as Core
  return {
    deps,
    now: () => now,
    advance(ms) {
      now += ms
    },
    async close() {
      await db.destroy()
      await database.drop()
    },
  }
}
