/** Fills a disk that a test made. */
import { open } from 'node:fs/promises'

/** Writes to the file until its disk is full. It begins with large pieces and ends with small ones, so nothing is left. */
export async function fillDisk(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (const bytes of [1_048_576, 4_096]) await writeUntilFull(handle, Buffer.alloc(bytes))
  } finally {
    await handle.close()
  }
}

async function writeUntilFull(handle: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<void> {
  try {
    for (;;) await handle.write(piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
