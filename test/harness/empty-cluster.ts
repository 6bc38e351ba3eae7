/** Copies a data folder of a first start, which the run makes once, for tests that are not about the first start. */
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Copies it with its owner. On Windows the owner does not differ. */
export async function copyCluster(source: string, dataDir: string): Promise<void> {
  if (process.platform === 'win32') await cp(source, dataDir, { recursive: true })
  else await promisify(execFile)('cp', ['-a', `${source}/.`, dataDir])
}
