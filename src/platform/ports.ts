/** Finding out that a port cannot be had before anything is started for it. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A place where nothing can listen, in a sentence for whoever started the service. */
export class ListenError extends Error {
  /** @param variable is the one of the port; that of the host has the same beginning, or is HOST. */
  constructor(variable: string, host: string, port: number, cause: NodeJS.ErrnoException) {
    super(sentence(variable, host, port, cause), { cause })
  }
}

/**
 * Throws ListenError when another process listens there, or none of ours may. One may still begin to in the moment after;
 * then listening itself fails for the same reason, only later.
 * @param variable is the one to set.
 */
export async function refuseTakenPort(variable: string, host: string, port: number): Promise<void> {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, 'listening')
  } catch (error) {
    throw new ListenError(variable, host, port, error as NodeJS.ErrnoException)
  }
  probe.close()
  await once(probe, 'close')
}

function sentence(
  variable: string,
  host: string,
  port: number,
  { code, message }: NodeJS.ErrnoException,
): string {
  if (code === 'EADDRINUSE') return `Port ${port} is taken by another program: set ${variable} to a free one.`
  if (code === 'EACCES' || code === 'EPERM')
    return `Port ${port} may not be listened on by this user: set ${variable} to one from 1024 on.`
  const hostVariable = variable === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST'
  return `${hostVariable}=${host} is no address that can be listened on (${message}): set it to one of this machine, such as 127.0.0.1, or 0.0.0.0 for all.`
}
