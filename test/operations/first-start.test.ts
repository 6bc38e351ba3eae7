/** The APP_SECRET of a first start: it is on the disk before it is used, and refused when it was cut short. */
import { existsSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { openSecrets } from '../../src/operations/first-start.ts'
import { ConfigError, loadConfig } from '../../src/platform/config.ts'
import { createDatabase } from '../harness/harness.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Db
let folder: string
beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url, { max: 1, onBroken: () => {} })
  folder = await mkdtemp(join(tmpdir(), 'tessera-first-'))
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
  await rm(folder, { recursive: true })
})

it('a new secret is flushed before its name and use', async () => {
  const DATA_DIR = join(folder, 'one', 'two')
  const path = join(DATA_DIR, 'app-secret')
  const probe = await open(folder)
  const proto = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const flushed: string[] = []
  const sync = proto.sync
  const spy = vi.spyOn(proto, 'sync').mockImplementation(async function (this: FileHandle) {
    const what = (await this.stat()).isDirectory() ? 'folder' : 'file'
    flushed.push(`${what}, ${existsSync(path) ? 'named' : 'unnamed'}`)
    return sync.call(this)
  })
  try {
    await openSecrets(loadConfig({ DATA_DIR }), db)
  } finally {
    spy.mockRestore()
  }
  // DATA_DIR, the new folder around it, and the folder that existed.
  expect(flushed).toEqual(['file, unnamed', 'folder, named', 'folder, named', 'folder, named'])
  expect(await readFile(path, 'utf8')).toMatch(/^[A-Za-z0-9]{64}$/)
})

it('an empty or short kept secret is refused, and left alone', async () => {
  const path = join(folder, 'app-secret')
  const config = loadConfig({ DATA_DIR: folder })
  for (const text of ['', '\n', 'x'.repeat(31)]) {
    await writeFile(path, text)
    const refused = openSecrets(config, db)
    await expect(refused).rejects.toThrow(ConfigError)
    await expect(refused).rejects.toThrow(`${path} must have at least 32 characters`)
    expect(await readFile(path, 'utf8')).toBe(text)
  }
  await writeFile(path, `${'x'.repeat(32)}\n`)
  await openSecrets(config, db)
})
