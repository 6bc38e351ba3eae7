/** Checks that a port is free before the service starts anything else. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The service cannot listen at an address. The message is a sentence for the operator. */
export class ListenError extends Error {
  /** @param variable names the environment variable of the port: PORT, METRICS_PORT, … */
  constructor(variable: string, host: string, port: number, cause: NodeJS.ErrnoException) {
    super(sentence(variable, host, port, cause), { cause })
  }
}

/**
 * Throws ListenError when another process listens at the address, or this one may not. Another process can still take
 * the port after this check; then the service fails later, when it listens.
 * @param variable names the environment variable of the port.
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

/**
 * Throws ListenError when another program listens at the port of `::1`, where a browser that opens `localhost` may look first.
 * A machine without IPv6 has no such address.
 */
export async function refuseTakenLocalhost(variable: string, port: number): Promise<void> {
  await refuseTakenPort(variable, '::1', port).catch((error: ListenError) => {
    if ((error.cause as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error
  })
}

function sentence(
  variable: string,
  host: string,
  port: number,
  { code, message }: NodeJS.ErrnoException,
): string {
  if (code === 'EADDRINUSE') return `Port ${port} is taken by another program: set ${variable} to a free one.`
  if (code === 'EACCES' || code === 'EPERM')
    return `This user may not listen on port ${port}: set ${variable} to 1024 or higher.`
  const hostVariable = variable === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST'
  return `${hostVariable}=${host} is not an address that Tessera can listen on (${message}): set it to an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all.`
}
