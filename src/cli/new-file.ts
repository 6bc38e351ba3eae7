/** Writes the files of commands. A file gets its name when it is complete, and never replaces another file. */
import { rmSync } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { AppError } from '../platform/errors.ts'

/** Signals that interrupt a command. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Writes a new file that only its owner may read. It is named `….part` until it is complete and on the disk. A failure
 * or an interrupt removes the part; a part of a killed command is replaced. Throws conflict when a file of this name
 * exists, and the errors of `write`.
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

/** Creates an empty file of the name first, so a file that another process made meanwhile is not replaced. */
async function giveName(file: FileHandle, part: string, path: string): Promise<void> {
  if (!(await isStillAt(file, part)))
    throw new AppError('conflict', `Another command has started to write ${path}`)
  const claim = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? taken(path) : error
  })
  await claim.close()
  await rename(part, path)
}

function taken(path: string): AppError {
  return new AppError('conflict', `${path} exists already, and is not replaced`)
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** Whether the path still names this file. Another command may have removed it and started its own. */
async function isStillAt(file: FileHandle, path: string): Promise<boolean> {
  const [ours, there] = await Promise.all([file.stat(), lstat(path).catch(() => undefined)])
  return there?.ino === ours.ino && there.dev === ours.dev
}

/** Removes the part on a signal, and then lets the signal end the process. Returns a function that stops this. */
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
