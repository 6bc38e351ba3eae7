/** Finding out that a port is taken before anything is started for it. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** EADDRINUSE in a sentence for whoever started the service. */
export class PortTakenError extends Error {
  readonly code = 'EADDRINUSE'
}

/**
 * Throws PortTakenError when another process listens there. One may still begin to in the moment after; then
 * listening itself fails with the same code, only later and in the system's words.
 * @param variable is the one to set.
 */
export async function refuseTakenPort(variable: string, host: string, port: number): Promise<void> {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new PortTakenError(`Port ${port} is taken by another program: set ${variable} to a free one.`, {
      cause: error,
    })
  }
  probe.close()
  await once(probe, 'close')
}
