/** A data folder as a first start leaves it, made once for the run and copied wherever its making is not the point. */
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Copies it with its owner, who on Windows is nobody else. */
export async function copyCluster(source: string, dataDir: string): Promise<void> {
  if (process.platform === 'win32') await cp(source, dataDir, { recursive: true })
  else await promisify(execFile)('cp', ['-a', `${source}/.`, dataDir])
}
