/** Starts the Postgres of a bench: the embedded one with its defaults and fsync on. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbedded } from '../src/database/embedded/embedded.ts'

/** @param kept a data folder that stays. Without it, a temporary folder is removed at the end. */
export async function startPostgres(kept?: string): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  if (kept !== undefined) await mkdir(kept, { recursive: true })
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'tessera-bench-')))
  // A bench run as root starts Postgres as another user, who must be able to enter the folder.
  await chmod(dataDir, 0o755)
  const { url, stop } = await startEmbedded({ dataDir })
  return {
    url,
    async stop() {
      await stop()
      if (kept === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}
