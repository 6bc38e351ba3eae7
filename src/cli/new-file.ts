/** Files that commands write: under their name only when they are whole, and never over another. */
import { rmSync } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { AppError } from '../platform/errors.ts'

/** What ends a command in the middle, by a key or by the system. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Writes a new file that nobody else may read, beside its name as `….part` until it is whole and on the disk. The part is
 * removed when that fails or is interrupted; one that a killed command has left gives way. Throws conflict when there is
 * a file of this name, and what `write` throws.
 */
export async function writeNewFile<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  if (await exists(path)) throw taken(path)
  const part = `${path}.part`
  await rm(part, { force: true })
  const file = await open(part, 'wx', 0o600)
  const forget = removeOnSignal(part)
  try {
    const result = await write(file)
    await file.sync()
    await giveName(file, part, path)
    return result
  } catch (error) {
    if (await isStillAt(file, part)) await rm(part)
    throw error
  } finally {
    forget()
    await file.close()
  }
}

/** Claims the name first: one that was taken meanwhile is not written over, also where files have one name only. */
async function giveName(file: FileHandle, part: string, path: string): Promise<void> {
  if (!(await isStillAt(file, part))) throw new AppError('conflict', `Another command has begun ${path} anew`)
  const claim = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? taken(path) : error
  })
  await claim.close()
  await rename(part, path)
}

function taken(path: string): AppError {
  return new AppError('conflict', `${path} exists already, and is not written over`)
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** Whether the file is the one of this name: another command may have removed it and begun its own. */
async function isStillAt(file: FileHandle, path: string): Promise<boolean> {
  const [ours, there] = await Promise.all([file.stat(), lstat(path).catch(() => undefined)])
  return there?.ino === ours.ino && there.dev === ours.dev
}

/** The process ends by the signal all the same. Answers how to leave it alone again. */
function removeOnSignal(part: string): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(part, { force: true })
    forget()
    process.kill(process.pid, signal)
  }
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return forget
}
